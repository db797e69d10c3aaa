// Package document reads Executable Markdown source.
//
// A source enters as bytes and leaves as a Document: the frontmatter as a JSON
// object, and the body as a list of nodes. A node is text, an element (an
// upper-case tag with its attributes and content) or an executable fence, and
// every element and fence knows its place in the original file. The package also
// answers questions that need nothing but the source: which headings are
// addressable as targets, and what the document looks like reduced to one.
//
// The room has one invariant: the source ranges of the nodes are in order, do
// not overlap, and together are exactly the body. Nothing is normalised, so what
// is text in a document can be written out byte for byte.
//
// The body cannot be wrong: what is no complete element and no executable fence
// is text (language 1.1.4). Only a whole source can be refused, for its
// encoding, its frontmatter or a bound (MaxSource, MaxDepth, MaxFrontmatter,
// MaxFrontmatterDepth, MaxTargets, MaxTargetPath). Sources are hostile input: every
// reader here takes time and memory in proportion to what it reads, and none
// follows the nesting of elements by recursion.
//
// A text nobody with authority wrote is read by ReadFragment instead. It shares
// the readers of tags, fences, comments and code spans, so that what it accepts is
// what Parse finds, but it refuses whatever is not markup for every reader alike.
//
// The package does not know what an element name means, which modifiers exist,
// what an expression evaluates to or where a source came from.
//
// How a body is read, in three steps: scan.go lists tags, comments and fences in
// one pass; tree.go pairs the tags from the end backwards and builds the nodes;
// position.go turns offsets into lines and columns on the way. values.go holds
// the one index that keeps attribute reading linear. Targets are found by a
// second reader (blocks.go, inline.go), only when somebody asks for them.
// fragment.go is the strict scan, fragment_tag.go its tags, and fragment_hidden.go
// what code and comments may hide.
package document

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/internal/value"
)

const (
	// MaxSource is the largest source Parse reads, in bytes.
	MaxSource = 64 << 20
	// MaxDepth is the deepest nesting of elements in a body.
	MaxDepth = 10_000
)

// The codes of an Error.
const (
	codeSource      = "source-invalid"
	codeFrontmatter = "frontmatter-invalid"
	codeTarget      = "target-invalid"
)

// A Node is one segment of a body: *Text, *Element or *Block.
type Node interface{ node() }

// Text is source text that renders itself. Comment marks an HTML comment, which
// is rendered but never interpolated. Two texts without Comment are neighbours
// only where a projection left something out between them.
type Text struct {
	Value   string
	Offset  int // in the original source
	Comment bool
}

// An Element is an authored tag with its content.
type Element struct {
	Name        string
	Attrs       []Attr // authored order; spreads are dropped, except in a fragment
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
	Spread                 // {...…}, in a fragment only
)

// An Attr is one attribute. Text holds the raw characters between quotes, or the
// trimmed source between braces; it is empty for a bare one. A spread has no name.
type Attr struct {
	Name string
	Form AttrForm
	Text string
	Pos  Position // of the name, or of the brace of a spread
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
	End       int      // offset just after the block, its last line end included
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

// A Document is one parsed source. It is not changed after Parse returned it and
// may be used by several goroutines.
type Document struct {
	Name        string        // the identity the run gave it, as in Position.Source
	Source      string        // the whole source, without a byte-order mark
	BodyOffset  int           // where the body starts in Source
	Frontmatter *value.Object // nil when there is none
	Nodes       []Node

	body  []Node // the nodes of the whole body; a projection keeps them for its outline
	inert []span // comments and fences of the whole body, in order
}

// A span is a range of byte offsets, the end excluded.
type span struct{ start, end int }

// An Error is a problem of a whole source: its encoding, size or frontmatter, or
// a target selected in it.
type Error struct {
	Code    string // source-invalid, frontmatter-invalid, target-invalid
	Message string
	Pos     Position // zero where no place is known
}

func (e *Error) Error() string { return e.Message }

// Parse reads a source. name becomes the Source of every position. A leading
// byte-order mark is dropped first, and offsets count from after it (language
// 1.1.1). The scan of the body never fails: what is no element and no executable
// fence is text (language 1.1.4).
//
// Errors are *Error: source-invalid for bytes that are not UTF-8 (at the first of
// them), for more than MaxSource bytes and for elements nested deeper than
// MaxDepth; frontmatter-invalid for frontmatter that is no JSON object, is written
// with more than plain YAML or JSON, or passes MaxFrontmatter or
// MaxFrontmatterDepth (language 2.1, 2.2).
func Parse(name string, source []byte) (*Document, error) {
	if len(source) > MaxSource {
		return nil, &Error{Code: codeSource, Message: fmt.Sprintf(
			"the source has %d bytes and the limit is %d; split it into several documents", len(source), MaxSource)}
	}
	d := &Document{Name: name, Source: strings.TrimPrefix(string(source), "\ufeff")}
	if !utf8.ValidString(d.Source) {
		pos := d.position(firstInvalid(d.Source))
		return nil, &Error{Code: codeSource, Pos: pos, Message: fmt.Sprintf(
			"the source is not UTF-8 text at %d:%d; save it as UTF-8", pos.Line, pos.Column)}
	}
	if err := d.readFrontmatter(); err != nil {
		return nil, err
	}
	s := newScanner(d.Source, d.BodyOffset, len(d.Source))
	s.scan()
	b := builder{scanner: s, places: tracker{name: name, src: d.Source, line: 1, column: 1}}
	nodes, tooDeep := b.build()
	if tooDeep >= 0 {
		return nil, &Error{Code: codeSource, Pos: d.position(tooDeep), Message: fmt.Sprintf(
			"elements are nested deeper than %d levels", MaxDepth)}
	}
	d.Nodes, d.body, d.inert = nodes, nodes, s.inert
	return d, nil
}

// firstInvalid returns the offset of the first byte of s that is not part of a
// character.
func firstInvalid(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return len(s)
}
