// Package termdown turns Markdown into text for a terminal.
//
// A piece of Markdown (CommonMark with GFM tables, strikethrough and task lists)
// and the properties of the terminal enter; text with line feeds and, where
// wanted, colour leaves. The markers of Markdown become layout and style: prose is
// wrapped, lists and quotes are indented, tables are aligned, code stays as it is.
// (language 11.5)
//
// The room has two invariants. Nothing of the content is lost: what has no place
// in the layout (the address of a link, the language of a fence, a reference
// definition, HTML, a comment) is shown as text, and a printed error, which is a
// comment, is shown in red. And the content never drives the terminal: whatever is
// a control, bidirectional or invisible character in it, or no character at all,
// leaves escaped, such as `\x1b` and `\u202e`; the only control sequences in the
// result are those of this package, and without colour there are none.
//
// The package does not know what a terminal is, whether output goes to one, what a
// document or a printed error is beyond the shape of its comment, or which part of
// a longer text it is shown. A piece in the middle of one keeps the white space at
// its ends, so that rendered pieces can be written one after the other.
//
// goldmark reads the Markdown, and the parsers of gfm_table.go and gfm_inline.go
// what GFM adds to it: goldmark has its own, but a program that links them pays for
// them whenever it starts. On some texts its cost, and that of a layout, grows
// with the square of the length; those are recognised beforehand (cost.go) and
// shown as they are written.
//
// The files follow the text: blocks.go walks the blocks, inline.go turns what is
// in a block into cells, table.go aligns them, cells.go breaks them into lines and
// writes the lines, visible.go escapes.
package termdown

import (
	"strings"
	"sync"

	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// MaxMarkdown is the largest text Render lays out, in bytes; a larger one is
// escaped and otherwise shown as it is written.
const MaxMarkdown = 1 << 20

// Options are the properties of the terminal.
type Options struct {
	// Width is the number of columns; prose is not wrapped when it is 0 or less.
	// Code and deeply indented text may be wider.
	Width int
	// Color allows control sequences for style and colour.
	Color bool
	// Hyperlinks makes links clickable, where Color allows control sequences. The
	// address is shown all the same: a link cannot hide where it leads.
	Hyperlinks bool
}

// Render returns markdown as text for a terminal. The white space at both ends
// is kept, so that a text without a final line feed is rendered without one. Any
// text is Markdown, so that there is no error. Render keeps nothing between calls
// and may be called concurrently.
func Render(markdown string, o Options) string {
	markdown = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(markdown)
	before, body, after := split(markdown)
	r := renderer{source: []byte(body), o: o}
	if len(body) > MaxMarkdown || costly(body) {
		r.verbatim(body)
	} else {
		r.blocks(reader().Parse(text.NewReader(r.source)))
	}
	return before + r.out.String() + after
}

// split takes the white space off both ends of s, except for an indentation that
// makes code.
func split(s string) (before, body, after string) {
	body = strings.TrimRight(s, " \t\n")
	after = s[len(body):]
	start := len(body) - len(strings.TrimLeft(body, " \t\n"))
	if indent := body[:start]; strings.Contains(indent, "\n") {
		start = strings.LastIndexByte(indent, '\n') + 1
	} else if len(indent) > 3 || strings.Contains(indent, "\t") {
		start = 0
	}
	return body[:start], body[start:], after
}

// reader is built when first needed, so that it costs nothing at start-up. A
// parser keeps no state between texts.
var reader = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(checkBoxes{}, 0), // before links
			util.Prioritized(strikethroughs{}, 500),
		),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		parser.WithParagraphTransformers(util.Prioritized(tables{}, 200)), // after reference definitions
	)
})
