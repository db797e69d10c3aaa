// Package document reads Executable Markdown source into nodes with positions.
package document

import (
	"fmt"

	"github.com/executable-markdown/xmd/internal/value"
)

// A Position is a place in a source. Source and Generated exclude each other; a
// position with neither belongs to text no file holds. Offset counts UTF-8 bytes
// from 0 in the original source, frontmatter included; Line counts from 1; Column
// counts UTF-16 code units from 1.
type Position struct {
	Source    string
	Generated string
	Offset    int
	Line      int
	Column    int
}

// IsZero reports whether p names no place.
func (p Position) IsZero() bool { return p.Line == 0 }

// String is "source:line:column", without the source where there is none.
func (p Position) String() string {
	if p.IsZero() {
		return ""
	}
	name := p.Source
	if name == "" {
		name = p.Generated
	}
	if name == "" {
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("%s:%d:%d", name, p.Line, p.Column)
}

// A Node is one segment of a body: *Text, *Element or *Block.
type Node interface{ node() }

// Text is source text that renders itself. Comment marks an HTML comment, which
// is rendered but never interpolated.
type Text struct {
	Value   string
	Offset  int // in the original source
	Comment bool
}

// An Element is an authored tag with its content.
type Element struct {
	Name        string
	Attrs       []Attr // authored order, spreads dropped
	Children    []Node
	SelfClosing bool
	Pos         Position
	End         int // offset just after the element, in the original source
}

// An AttrForm is the way an attribute's value was written.
type AttrForm uint8

const (
	Bare   AttrForm = iota // name
	Quoted                 // name="…" or name='…'
	Braced                 // name={…}
)

// An Attr is one attribute. Text holds the raw characters between quotes, or the
// trimmed source between braces; it is empty for a bare one.
type Attr struct {
	Name string
	Form AttrForm
	Text string
	Pos  Position // of the name
}

// A Block is an executable fence.
type Block struct {
	Language  string
	Modifiers []Modifier
	Binding   string // the name of as="name", when it is well formed
	Malformed string // why the binding annotation is not, or empty
	Info      string // the whole info string
	Content   string
	Pos       Position // of the first character of the opening-fence line
	End       int      // offset just after the block
}

// A Modifier is one word of an info string after the language: name,
// name=params or name[params].
type Modifier struct {
	Name      string
	Params    string
	HasParams bool
	Word      string // as written
}

func (*Text) node()    {}
func (*Element) node() {}
func (*Block) node()   {}

// A Document is one parsed source.
type Document struct {
	Name        string        // the identity the run gave it, as in Position.Source
	Source      string        // the whole source, without a byte-order mark
	BodyOffset  int           // where the body starts in Source
	Frontmatter *value.Object // nil when there is none
	Nodes       []Node
}

// An Error is a problem of a whole source: its encoding, size or frontmatter.
type Error struct {
	Code    string // source-invalid, frontmatter-invalid, target-invalid
	Message string
	Pos     Position // zero where no place is known
}

func (e *Error) Error() string { return e.Message }

// Parse reads a source. The scan of the body never fails: what is no element and
// no executable fence is text (language.md 1.1.4). Errors are *Error.
func Parse(name string, source []byte) (*Document, error) { panic("stub") }

// StaticValue reads an attribute without evaluating anything (language.md
// 1.5.2). construct tells whether the element's name is a structural construct.
// ok is false for an expression.
func (a Attr) StaticValue(construct bool) (v any, ok bool) { panic("stub") }

// A Target is one addressable heading.
type Target struct {
	Path        string // canonical: Build/Fast%20path
	Heading     string // its visible text
	Description string
}

// Targets lists the addressable headings in source order (language.md 8).
func (d *Document) Targets() []Target { panic("stub") }

// Select returns the one target the selector matches. Errors are *Error with the
// code target-invalid, whose message lists the matched or available references.
func (d *Document) Select(selector string) (Target, error) { panic("stub") }

// Project returns the document reduced to one target: same frontmatter and
// positions, the nodes of the retained ranges only (language.md 8.6).
func (d *Document) Project(t Target) *Document { panic("stub") }

// SplitReference reads a command's document reference: PATH or PATH#SELECTOR,
// PATH percent-decoded (language.md 8.1.1).
func SplitReference(ref string) (path, selector string, targeted bool, err error) { panic("stub") }
