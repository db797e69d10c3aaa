package wasm

// A Program is an admitted fragment, resolved: every element is decided, every
// expression parsed, every name known to be in scope. It is what Compile writes
// down, and it holds text only: identities by name, values as JSON.
//
// A Program is plain data. It is not changed after it was built.
type Program struct {
	Digest   string    // "sha256:" and hex, of the source
	Elements []Element // in source order, structural ones included
	Body     []Node
}

// A Form says how an element was written.
type Form uint8

const (
	SelfClosing Form = iota // <X />
	Paired                  // <X>…</X>
)

// An Element is one row of the element table: where an element stands and, when
// it is a capability, which one it was decided to be.
type Element struct {
	Name     string
	Identity string // origin/key@revision; empty for a structural element
	Form     Form
	As       bool // as is written
	Parent   int  // index of the enclosing element, -1 at the top
	Offset   int  // of its <, in bytes of the source
}

// A Node is one piece of a body: *Text, *Show, *Invoke, *Let, *If, *Switch, *Each,
// *Loop, *Break, *Answers or *All. Element members are indexes into
// Program.Elements.
type Node interface{ node() }

// Text renders itself.
type Text struct{ Value string }

// Show is a reference in text, as authored with its braces: {a.b}.
type Show struct{ Source string }

// Invoke is an element of a capability. Body is the content of a paired one.
type Invoke struct {
	Element int
	Props   []Prop // in authored order
	As      string // empty: not bound
	Body    []Node
}

// A Prop is one prop, or one member of an object.
type Prop struct {
	Name  string
	Value Expr
}

// Let binds Value, or what Body renders when Value is nil.
type Let struct {
	Element int
	As      string
	Value   Expr
	Body    []Node
}

// If takes one of two branches. ElseElement is -1 without an Else.
type If struct {
	Element     int
	Condition   Expr
	Then        []Node
	ElseElement int
	Else        []Node
}

// Switch takes the first case whose value equals the selector, else the default.
// DefaultElement is -1 without a default.
type Switch struct {
	Element        int
	Value          Expr
	Cases          []Case
	DefaultElement int
	Default        []Node
}

// A Case is one arm of a Switch.
type Case struct {
	Element int
	Value   Expr
	Body    []Node
}

// Each expands Body once an item of In.
type Each struct {
	Element int
	In      Expr
	Let     string
	As      string // empty: not captured
	Body    []Node
}

// Loop expands Body up to Max times.
type Loop struct {
	Element int
	Name    string // empty: unnamed
	Max     Expr
	Body    []Node
}

// Break ends the innermost Loop around it.
type Break struct{ Element int }

// Answers answers the questions asked in Body.
type Answers struct {
	Element  int
	Delegate Expr // nil: false
	Answers  []Answer
	Body     []Node
}

// An Answer is one matcher: Template when HasTemplate, else what Children render
// when there are any, else it matches every question.
type Answer struct {
	Element     int
	HasTemplate bool
	Template    string
	Children    []Node
	Value       Expr
}

// All runs its spawns at the same time.
type All struct {
	Element int
	Spawns  []Spawn
}

// A Spawn is one concurrent child of an All.
type Spawn struct {
	Element int
	Body    []Node
}

func (*Text) node()    {}
func (*Show) node()    {}
func (*Invoke) node()  {}
func (*Let) node()     {}
func (*If) node()      {}
func (*Switch) node()  {}
func (*Each) node()    {}
func (*Loop) node()    {}
func (*Break) node()   {}
func (*Answers) node() {}
func (*All) node()     {}

// An Expr is an expression of the closed subset: *Literal, *Array, *ObjectLiteral,
// *Name, *Chain, *Unary, *Binary, *Logical or *Conditional.
type Expr interface{ expr() }

// Literal is a constant: a scalar, or an array or object of constants only. JSON
// is its compact JSON text; a lone surrogate in a string is written \udxxx, and an
// object's members are in the order ECMAScript gives them, without duplicates.
type Literal struct{ JSON string }

// Array is an array literal with an element that is no constant.
type Array struct{ Elements []Expr }

// ObjectLiteral is an object literal with a member that is no constant; members in
// authored order, a repeated name more than once.
type ObjectLiteral struct{ Members []Prop }

// Name reads a binding.
type Name struct{ Name string }

// Chain reads members one after the other. Where an optional step meets null or
// undefined, the whole rest of the chain is skipped and the chain is undefined.
type Chain struct {
	Base  Expr
	Steps []Step
}

// A Step is .Property, or [Index] when Index is not nil.
type Step struct {
	Property string
	Index    Expr
	Optional bool
}

// A UnaryOp is the number an operator has in xmd:value.unary.
type UnaryOp uint8

const (
	Not    UnaryOp = iota // !
	Negate                // -
)

// A BinaryOp is the number an operator has in xmd:value.binary.
type BinaryOp uint8

const (
	StrictEqual    BinaryOp = iota // ===
	StrictNotEqual                 // !==
	Less                           // <
	LessEqual                      // <=
	Greater                        // >
	GreaterEqual                   // >=
	Add                            // +
	Subtract                       // -
	Multiply                       // *
	Divide                         // /
	Remainder                      // %
)

// A LogicalOp is an operator that may not evaluate its right side.
type LogicalOp uint8

const (
	And      LogicalOp = iota // &&
	Or                        // ||
	Coalesce                  // ??
)

// Unary applies an operator to one operand.
type Unary struct {
	Op UnaryOp
	X  Expr
}

// Binary applies an operator to two operands. A template literal is a chain of Add
// from the left, its first string first even when empty.
type Binary struct {
	Op   BinaryOp
	X, Y Expr
}

// Logical evaluates Y only when X does not decide.
type Logical struct {
	Op   LogicalOp
	X, Y Expr
}

// Conditional is test ? then : else.
type Conditional struct{ Test, Then, Else Expr }

func (*Literal) expr()       {}
func (*Array) expr()         {}
func (*ObjectLiteral) expr() {}
func (*Name) expr()          {}
func (*Chain) expr()         {}
func (*Unary) expr()         {}
func (*Binary) expr()        {}
func (*Logical) expr()       {}
func (*Conditional) expr()   {}
