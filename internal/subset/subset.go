// Package subset reads the small language a generated fragment may compute in.
//
// A fragment is text nobody with authority wrote. Where it stands in place of a
// value it may write a constant or, in the closed dialect, an expression over
// names the fragment itself bound: members, a handful of operators, conditionals,
// templates, arrays and objects (fragments 4). What enters is the text between the
// braces of a prop, or a run of authored text; what leaves is a wasm.Expr the
// compiler writes down, the names it reads, or the pieces of the text. Whether a
// name is in scope is the caller's question.
//
// The one invariant: what Expression accepts is an ECMAScript expression and means
// here what it means there, so the evaluators can agree (F10). Everything else is
// refused by being unknown: the grammar lists what it takes, and a call, a
// function, an assignment or a comment has no rule that could read it.
//
// The parser is bounded (F8). It looks at a nesting limit before it descends, its
// time and memory are linear in the text, and no input makes it panic. It says only
// that a text is refused or over a limit, never what the text holds (F5).
//
// The room refuses to know what values are at run time, which props an element
// has, and the JavaScript interpreter of ordinary documents: generated text never
// reaches that one. Every function is safe for concurrent use.
package subset

import (
	"errors"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// MaxParts bounds one expression: its operators, its member reads, the
// substitutions of its templates and those members of its arrays and objects that
// are no constants, all together.
const MaxParts = 256

// The two ways a text is not accepted. Neither says anything of the text (F5).
var (
	// ErrRefused: something outside the grammar.
	ErrRefused = errors.New("the expression is outside the subset; write constants, names bound in the fragment, their members and the listed operators")
	// ErrLimit: nested too deep, or more than MaxParts.
	ErrLimit = errors.New("the expression is over a limit; bind its parts to names first")
)

// Expression reads the whole of text as one expression of the closed subset
// (fragments 4), white space around it allowed. With flat set only a constant is
// accepted, and the result is a *wasm.Literal.
//
// depth bounds how deep the expression nests (parentheses, unary operators,
// conditionals, indexes and substitutions) and, counted apart, how deep its arrays
// and objects do; a depth above value.MaxDepth counts as that. The tree that
// leaves is therefore at most 2*depth + 2*MaxParts + 1 nodes high.
//
// The error is ErrRefused or ErrLimit, whichever the text comes to first.
func Expression(text string, flat bool, depth int) (wasm.Expr, error) {
	if !utf8.ValidString(text) {
		return nil, ErrRefused
	}
	p := &parser{text: text, flat: flat, depth: min(depth, value.MaxDepth)}
	x, err := p.expression()
	if err != nil {
		return nil, err
	}
	if p.space(); p.pos < len(text) {
		return nil, ErrRefused
	}
	return x.node(), nil
}
