package subset

import (
	"unicode/utf8"

	"github.com/executable-markdown/xmd/wasm"
)

// A parser reads one expression by recursive descent. It recurses only after
// enter or enterLiteral, apart from the few levels of operator precedence.
type parser struct {
	text  string
	pos   int
	flat  bool // constants only
	depth int

	level    int // nesting of the expression at pos
	literals int // nesting of arrays and objects at pos
	parts    int // operators and members so far
}

// An operand is what one rule read: a constant, or something to compute.
type operand struct {
	expr  wasm.Expr // nil: a constant
	value any       // the constant: nil, bool, float64, string, []any or *value.Object
	bare  bool      // a number literal as written, so that a minus belongs to it
	joins joint     // what it was made with, outside parentheses
}

// A joint names operators that may not meet others without parentheses.
type joint uint8

const (
	noJoint   joint = iota
	andOr           // && or ||
	coalesces       // ??
	compares        // < <= > >=
)

func (o operand) constant() bool { return o.expr == nil }

// node returns the operand for the tree. It writes a constant out and is called
// once an operand, which keeps the work linear.
func (o operand) node() wasm.Expr {
	if o.expr != nil {
		return o.expr
	}
	return &wasm.Literal{JSON: string(appendConstant(nil, o.value))}
}

func constant(v any) operand          { return operand{value: v} }
func computed(e wasm.Expr) operand    { return operand{expr: e} }
func refused() (operand, error)       { return operand{}, ErrRefused }
func failed(e error) (operand, error) { return operand{}, e }

// enter descends one level of expression; leave comes back.
func (p *parser) enter() error {
	if p.level >= p.depth {
		return ErrLimit
	}
	p.level++
	return nil
}

func (p *parser) leave() { p.level-- }

// count counts one operator or member.
func (p *parser) count() error {
	if p.parts++; p.parts > MaxParts {
		return ErrLimit
	}
	return nil
}

// space skips ECMAScript white space and line ends.
func (p *parser) space() {
	for p.pos < len(p.text) {
		c, size := utf8.DecodeRuneInString(p.text[p.pos:])
		if !isSpace(c) {
			return
		}
		p.pos += size
	}
}

func isSpace(c rune) bool {
	switch c {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
		return true
	}
	return 0x2000 <= c && c <= 0x200a
}

// peek skips white space and returns the punctuator that follows, or "".
func (p *parser) peek() string {
	p.space()
	return punctuator(p.text[p.pos:])
}

// accept consumes the punctuator want when it is the next one.
func (p *parser) accept(want string) bool {
	if p.peek() != want {
		return false
	}
	p.pos += len(want)
	return true
}

// first returns the byte at pos, 0 at the end.
func (p *parser) first() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// punctuator returns the longest ECMAScript punctuator s begins with, or "". It
// knows all of them and the openings of comments, so that a-- b or a /* b is never
// read as two shorter ones.
func punctuator(s string) string {
	if s == "" || isLetter(s[0]) || isDigit(s[0]) {
		return ""
	}
	switch s[0] {
	case '(', ')', '[', ']', '{', '}', ',', ';', ':', '~': // begin nothing longer
		return s[:1]
	}
	for n := min(4, len(s)); n > 0; n-- {
		switch s[:n] {
		case "?.":
			if len(s) > 2 && isDigit(s[2]) {
				continue // a?.5:b is a conditional
			}
			return s[:n]
		case ">>>=",
			"...", "===", "!==", ">>>", "<<=", ">>=", "**=", "&&=", "||=", "??=",
			"=>", "==", "!=", "<=", ">=", "&&", "||", "??", "++", "--", "+=", "-=", "*=",
			"/=", "%=", "&=", "|=", "^=", "<<", ">>", "**", "//", "/*",
			".", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", "?", "=":
			return s[:n]
		}
	}
	return ""
}

// expression reads a conditional or anything that binds tighter; a constant only
// in the flat dialect.
func (p *parser) expression() (operand, error) {
	if p.flat {
		return p.flatConstant()
	}
	test, err := p.binary(1)
	if err != nil || !p.accept("?") {
		return test, err
	}
	if err := p.count(); err != nil {
		return failed(err)
	}
	if err := p.enter(); err != nil {
		return failed(err)
	}
	defer p.leave()
	then, err := p.expression()
	if err != nil {
		return failed(err)
	}
	if !p.accept(":") {
		return refused()
	}
	otherwise, err := p.expression()
	if err != nil {
		return failed(err)
	}
	return computed(&wasm.Conditional{Test: test.node(), Then: then.node(), Else: otherwise.node()}), nil
}

// flatConstant reads a literal, or a number with a minus.
func (p *parser) flatConstant() (operand, error) {
	if !p.accept("-") {
		return p.primary()
	}
	if !p.atNumber() {
		return refused()
	}
	f, err := p.number()
	return constant(-f), err
}

// An infix is a binary operator: how tight it binds, what it makes and which
// operands it refuses.
//
// ?? and && or || do not mix in ECMAScript either. A chain of comparisons, as in
// a < b < c, is refused because the readers disagree about it (F10): ECMAScript
// groups it from the left, the interpreter of ordinary documents from the right.
type infix struct {
	level          int
	logical        bool
	binary         wasm.BinaryOp
	logic          wasm.LogicalOp
	made, excluded joint
}

func infixOf(punctuator string) (op infix, ok bool) {
	switch punctuator {
	case "??":
		return infix{level: 1, logical: true, logic: wasm.Coalesce, made: coalesces, excluded: andOr}, true
	case "||":
		return infix{level: 1, logical: true, logic: wasm.Or, made: andOr, excluded: coalesces}, true
	case "&&":
		return infix{level: 2, logical: true, logic: wasm.And, made: andOr, excluded: coalesces}, true
	case "===":
		return infix{level: 3, binary: wasm.StrictEqual}, true
	case "!==":
		return infix{level: 3, binary: wasm.StrictNotEqual}, true
	case "<":
		return comparison(wasm.Less), true
	case "<=":
		return comparison(wasm.LessEqual), true
	case ">":
		return comparison(wasm.Greater), true
	case ">=":
		return comparison(wasm.GreaterEqual), true
	case "+":
		return infix{level: 5, binary: wasm.Add}, true
	case "-":
		return infix{level: 5, binary: wasm.Subtract}, true
	case "*":
		return infix{level: 6, binary: wasm.Multiply}, true
	case "/":
		return infix{level: 6, binary: wasm.Divide}, true
	case "%":
		return infix{level: 6, binary: wasm.Remainder}, true
	}
	return infix{}, false
}

func comparison(op wasm.BinaryOp) infix {
	return infix{level: 4, binary: op, made: compares, excluded: compares}
}

// binary reads operators that bind at least as tight as level. All of them group
// from the left, so a chain is a loop; the recursion is as deep as there are
// levels.
func (p *parser) binary(level int) (operand, error) {
	left, err := p.unary()
	if err != nil {
		return failed(err)
	}
	for {
		punctuator := p.peek()
		op, ok := infixOf(punctuator)
		if !ok || op.level < level {
			return left, nil
		}
		p.pos += len(punctuator)
		if err := p.count(); err != nil {
			return failed(err)
		}
		right, err := p.binary(op.level + 1)
		if err != nil {
			return failed(err)
		}
		if left, err = op.apply(left, right); err != nil {
			return failed(err)
		}
	}
}

func (op infix) apply(x, y operand) (operand, error) {
	if op.excluded != noJoint && (x.joins == op.excluded || y.joins == op.excluded) {
		return refused()
	}
	made := operand{joins: op.made}
	if op.logical {
		made.expr = &wasm.Logical{Op: op.logic, X: x.node(), Y: y.node()}
	} else {
		made.expr = &wasm.Binary{Op: op.binary, X: x.node(), Y: y.node()}
	}
	return made, nil
}

// unary reads ! and - before an operand. A minus directly on a number literal is
// part of the constant.
func (p *parser) unary() (operand, error) {
	op := wasm.Not
	if !p.accept("!") {
		if !p.accept("-") {
			return p.chain()
		}
		op = wasm.Negate
		if p.atNumber() { // the last of a run of operators: no level of its own
			x, err := p.chain()
			if f, ok := x.value.(float64); ok && x.bare {
				return constant(-f), err
			}
			return p.applied(op, x, err)
		}
	}
	if err := p.enter(); err != nil {
		return failed(err)
	}
	defer p.leave()
	x, err := p.unary()
	return p.applied(op, x, err)
}

func (p *parser) applied(op wasm.UnaryOp, x operand, err error) (operand, error) {
	if err != nil {
		return failed(err)
	}
	if err := p.count(); err != nil {
		return failed(err)
	}
	return computed(&wasm.Unary{Op: op, X: x.node()}), nil
}

// chain reads an operand and the members read from it.
func (p *parser) chain() (operand, error) {
	base, err := p.primary()
	if err != nil {
		return failed(err)
	}
	var steps []wasm.Step
	for {
		step, ok, err := p.step()
		if err != nil {
			return failed(err)
		}
		if !ok {
			break
		}
		steps = append(steps, step)
	}
	if steps == nil {
		return base, nil
	}
	return computed(&wasm.Chain{Base: base.node(), Steps: steps}), nil
}

// step reads .name, [index], ?.name or ?.[index]; ok is false where none begins.
func (p *parser) step() (s wasm.Step, ok bool, err error) {
	token := p.peek()
	switch token {
	case ".", "[":
	case "?.":
		s.Optional = true
	default:
		return s, false, nil
	}
	if err := p.count(); err != nil {
		return s, false, err
	}
	if token != "[" {
		p.pos += len(token)
	}
	if token == "[" || s.Optional && p.peek() == "[" {
		s.Index, err = p.index()
		return s, true, err
	}
	p.space()
	if s.Property = p.word(); s.Property == "" || hiddenMember(s.Property) {
		err = ErrRefused
	}
	return s, true, err
}

func (p *parser) index() (wasm.Expr, error) {
	p.pos++
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	x, err := p.expression()
	if err != nil {
		return nil, err
	}
	if name, ok := x.value.(string); ok && hiddenMember(name) {
		return nil, ErrRefused
	}
	if !p.accept("]") {
		return nil, ErrRefused
	}
	return x.node(), nil
}

// hiddenMember reports whether a member may not be read by that name: it leads to
// the prototypes of an ordinary evaluator.
func hiddenMember(name string) bool {
	return name == "__proto__" || name == "prototype" || name == "constructor"
}

// primary reads a literal, a name or an expression in parentheses.
func (p *parser) primary() (operand, error) {
	p.space()
	switch c := p.first(); {
	case c == '"' || c == '\'':
		s, err := p.quoted()
		return constant(s), err
	case c == '`':
		return p.template()
	case c == '[':
		return p.array()
	case c == '{':
		return p.object()
	case c == '(':
		return p.parentheses()
	case p.atNumber():
		f, err := p.number()
		return operand{value: f, bare: true}, err
	}
	switch word := p.word(); {
	case word == "null":
		return constant(nil), nil
	case word == "true" || word == "false":
		return constant(word == "true"), nil
	case !p.flat && IsBindingName(word):
		return computed(&wasm.Name{Name: word}), nil
	}
	return refused()
}

func (p *parser) parentheses() (operand, error) {
	if p.flat {
		return refused()
	}
	p.pos++
	if err := p.enter(); err != nil {
		return failed(err)
	}
	defer p.leave()
	x, err := p.expression()
	if err != nil {
		return failed(err)
	}
	if !p.accept(")") {
		return refused()
	}
	return operand{expr: x.expr, value: x.value}, nil
}
