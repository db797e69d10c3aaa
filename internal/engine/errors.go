package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/schema"
)

// An Error is a problem of a document: what is wrong, where, and in which
// element. It becomes printed text or the outcome of the run.
type Error struct {
	Code      string // stable, from Codes; empty where none applies
	Component string // the element's name
	Message   string
	Pos       document.Position // of the element or block; zero where unknown
	ShowPos   bool              // the message ends with the position
	Authored  bool              // the message is the author's own; printed, it names its element and place
	Source    string            // what a failed command wrote, for the record
	Issues    []schema.Issue
	Cause     error
}

// Error returns the message, with the position where the rule asks for it.
func (e *Error) Error() string {
	if e.ShowPos && !e.Pos.IsZero() {
		return e.Message + " (" + e.Pos.String() + ")"
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Cause }

// CodeRefused is the code of a generated text that was refused, and RefusedName its
// kind in a record.
const (
	CodeRefused = "generated-refused"
	RefusedName = "RefusedError"
)

// Name is the kind of the error in a record.
func (e *Error) Name() string {
	switch {
	case e.Authored:
		return "AuthoredError"
	case e.Code == CodeRefused:
		return RefusedName
	case errors.As(e.Cause, new(*checkedFailure)):
		return "CommandError"
	}
	return "DocumentError"
}

// problem makes an error about an element.
func problem(el *document.Element, format string, args ...any) *Error {
	return &Error{Component: el.Name, Message: fmt.Sprintf(format, args...), Pos: el.Pos}
}

// at is problem with the position in the message.
func at(el *document.Element, format string, args ...any) *Error {
	e := problem(el, format, args...)
	e.ShowPos = true
	return e
}

// PositionOf is where an error says it is: at the innermost cause that knows a
// place.
func PositionOf(err error) document.Position {
	var e *Error
	var d *document.Error
	switch {
	case errors.As(err, &e):
		if pos := PositionOf(e.Cause); !pos.IsZero() {
			return pos
		}
		return e.Pos
	case errors.As(err, &d):
		return d.Pos
	}
	return document.Position{}
}

// errOtherRoot is the answer to a history that belongs to something else.
var errOtherRoot = errors.New("this history was recorded for another document, target or text; run the document it belongs to, or record a new one")

// malformed is the answer to a recorded result of the wrong shape.
func malformed(typ, name, what string) error {
	return &journal.StaleInputError{Effect: journal.Identity{Type: typ, Name: name}, Cause: errors.New(what)}
}

// A mode decides what becomes of an error raised at a place (language 10.3).
type mode uint8

const (
	modeOutput mode = iota // the region fails
	modePrint              // the error is printed in place
	modeThrow              // the body fails and nothing prints it
)

// A failure is an error on its way out, with the mode that decided it.
type failure struct {
	err     error
	mode    mode
	partial string      // rendered before the content that failed stopped
	ret     *returnSlot // set when the error is a value body's own (language 6.3)
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// A ContentError is content whose errors were printed: the request for its text
// fails and carries them.
type ContentError struct {
	Errors []*Error
	texts  []string
}

func (e *ContentError) Error() string {
	lines := make([]string, len(e.Errors))
	for i, p := range e.Errors {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// An Infrastructure error is a provider that is missing or broke its contract. No
// document prints one.
type Infrastructure struct{ Err error }

func (e *Infrastructure) Error() string { return e.Err.Error() }
func (e *Infrastructure) Unwrap() error { return e.Err }

// Explain adds a component's sentence to a failure of its content, keeping the
// decision its region made. Printed errors become the component's own failure.
func Explain(err error, sentence string) error {
	message := sentence + ": " + err.Error()
	var f *failure
	if errors.As(err, &f) {
		e := &Error{Message: message, Cause: f.err}
		if inner, ok := asError(f.err); ok {
			e.Pos, e.Component = inner.Pos, inner.Component
		}
		return &failure{err: e, mode: f.mode}
	}
	return &Error{Message: message, Cause: err}
}

// fatal reports whether err stops the execution from outside the document.
func fatal(ctx context.Context, err error) bool {
	var infra *Infrastructure
	return journal.IsDurability(err) || errors.As(err, &infra) || ctx.Err() != nil
}

// unprintable reports whether no printing boundary applies to err.
func unprintable(ctx context.Context, err error) bool {
	var f *failure
	return fatal(ctx, err) || errors.As(err, &f) && f.mode == modeThrow
}

func asError(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// raise gives an error to the place it was made at: the mode there decides
// whether it is printed or travels on.
func (r *run) raise(sc *scope, out *buffer, err error) error {
	if sc.mode == modePrint {
		out.print(err)
		return nil
	}
	return &failure{err: err, mode: sc.mode}
}

// A ledger remembers the first command that failed without anyone allowed to
// recover it (language 10.6).
type ledger struct {
	mu  sync.Mutex
	err error
}

func (l *ledger) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
}

func (l *ledger) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
