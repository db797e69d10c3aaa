// Package selector picks one node out of Markdown text.
//
// A text and a query enter; the text of the first node the query matches, in
// document order, leaves. The text is read as CommonMark into a tree of the node
// types that mdast names (root, paragraph, heading, text, emphasis, strong,
// inlineCode, code, break, link, image, list, listItem, blockquote,
// thematicBreak, html, definition, linkReference, imageReference), and the query
// is a CSS selector over that tree: `code[lang=json]`, `heading[depth=2] + list`,
// `listItem:has(inlineCode)`. (language 6.4)
//
// The room has one invariant: matching costs at most the length of the query
// times the number of nodes, whatever the query says. Every part of a query is
// evaluated once, for all nodes together (match.go), so there is no search that
// could go back. Reading the text is goldmark's work, whose cost can be quadratic
// on text written to make it so; callers hand over text they trust.
//
// The package does not know where the text came from, what will be done with the
// selection, or what a document, a binding or an element is. It does not know the
// extensions of GFM: a table is a paragraph, and no list item is checked.
//
// The query language, beside types, `*`, `,` and the combinators descendant, `>`,
// `+` and `~`:
//
//	[a]  [a=v]  [a^=v]  [a$=v]  [a*=v]  [a~=v]  [a|=v]
//	:first-child  :last-child  :only-child  :nth-child()  :nth-last-child()
//	:first-of-type  :last-of-type  :only-of-type  :nth-of-type()  :nth-last-of-type()
//	:not()  :is()  :matches()  :has()  :empty  :root  :scope
//
// An attribute is a field of the node: type, depth, lang, meta, value, url,
// title, alt, ordered, start, spread, label, identifier, referenceType. A field
// that is null in mdast does not exist. Values may be quoted or not, numbers
// included, and are compared as text. As in mdast an image has an alt and no
// children, and a reference is a linkReference or an imageReference, never a link
// or an image. The root is nobody's child, so that no child or type position
// matches it. :empty holds for a node that has neither children nor a value.
//
// The files follow the data: parse.go reads a query into steps and tests, tree.go
// reads a text into nodes, match.go brings the two together.
package selector

import (
	"fmt"
	"slices"
)

const (
	// MaxQuery is the longest query First reads, in bytes.
	MaxQuery = 4 << 10
	// MaxText is the largest text First reads, in bytes.
	MaxText = 16 << 20
	// MaxNesting is how deep :not, :is, :matches and :has may stand in each other.
	MaxNesting = 16
)

// First parses text as CommonMark and returns the text of the first node the
// query matches, in document order; ok is false when none does. A literal node
// (code, inlineCode, html, text) gives its value, without the line ending before
// a closing fence; any other node gives the values below it joined by nothing,
// the alternative text of images included. (language 6.4)
//
// The error is a *SyntaxError when the query is malformed, which is found out
// before the text is looked at, or says that text exceeds MaxText. First keeps
// nothing between calls and may be called concurrently.
func First(text, query string) (found string, ok bool, err error) {
	sel, err := parse(query)
	if err != nil {
		return "", false, err
	}
	if len(text) > MaxText {
		return "", false, fmt.Errorf("the text to select from has %d bytes; at most %d are read", len(text), MaxText)
	}
	t := read(text)
	n := slices.Index(sel.match(t), true)
	if n < 0 {
		return "", false, nil
	}
	return t.text(n), true, nil
}

// SyntaxError says what is wrong in a query, and where.
type SyntaxError struct {
	Offset int    // bytes of the query before the fault
	Reason string // what is wrong and what to write instead
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s (at byte %d of the selector)", e.Reason, e.Offset)
}
