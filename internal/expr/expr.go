// Package expr evaluates the JavaScript expressions of a trusted document.
//
// A document computes in two places: an expression in braces, which is one
// JavaScript expression over the bindings in sight, and a js eval block, which is
// a function body whose top-level declarations become bindings. Both enter here as
// source text and a Lookup; what leaves is a Ref, a value held by reference, so
// that an array pushed to in one expression shows its new element in the next.
//
// A Ref is JSON for as long as nobody computes with it. The first evaluation that
// needs it turns it into a JavaScript value, once, and from then on the JavaScript
// value is the value. The interpreter itself starts with the first evaluation: a
// document of plain text never pays for it.
//
// The one invariant: a program reaches the values it was given and pure functions
// over them, and nothing else. There is no clock, no randomness, no I/O, no code
// from strings and no global object; names are bindings, then the built-ins of
// builtins.go, then an error.
//
// Every evaluation is bounded (see the constants below) and can be cancelled. The
// bounds protect a run from its author's mistakes. They are no sandbox for hostile
// code: a native function that expands its input (replaceAll, join of long
// elements) is not interrupted before it returns. Programs that strangers or models
// write never come here.
//
// The room knows no document, element or effect, and does not interpolate.
package expr

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"
)

// The bounds of one expression or block. Reaching one is an *Error that names it.
const (
	MaxSource   = 1 << 20          // bytes of source text
	MaxOpen     = 256              // brackets open at one place
	MaxBrackets = 1 << 16          // opening brackets in one source
	MaxArrows   = 256              // arrow functions inside one another
	MaxTree     = 4096             // levels of the syntax tree
	MaxCalls    = 2000             // calls inside one another
	MaxTime     = 10 * time.Second // of one evaluation
	MaxText     = 1 << 24          // UTF-16 units of a text that is made or returned
	MaxLength   = 1 << 20          // elements of an array that is made or walked
	MaxMemory   = 1 << 30          // bytes the heap may grow by during one evaluation
	MaxJSON     = 1 << 25          // bytes, roughly, of a value crossing to JSON
)

// maxPrograms bounds the compiled programs a Runtime keeps.
const maxPrograms = 4096

// A Runtime evaluates the expressions of one run. The interpreter starts with the
// first evaluation. A Runtime is safe for concurrent use; evaluations take turns.
type Runtime struct {
	mu       sync.Mutex // guards everything below and the changing part of every Ref
	js       *interpreter
	programs map[string]*program
	limit    time.Duration // MaxTime
	memory   uint64        // MaxMemory

	stopped chan struct{} // closed by Stop
	stop    sync.Once
}

// New returns a Runtime. It costs nothing until something is evaluated.
func New() *Runtime {
	return &Runtime{limit: MaxTime, memory: MaxMemory, stopped: make(chan struct{})}
}

// Stop ends the evaluation that is under way, conversions of a Ref included, and
// makes every later one fail. It may be called from any goroutine and more than
// once.
func (rt *Runtime) Stop() { rt.stop.Do(func() { close(rt.stopped) }) }

// errStopped is why evaluations fail after Stop.
var errStopped = errors.New("the run has ended")

func (rt *Runtime) isStopped() bool {
	select {
	case <-rt.stopped:
		return true
	default:
		return false
	}
}

// A Lookup finds the binding an expression names. It is called on the goroutine of
// the evaluation, before the evaluation starts, once for every name that occurs.
type Lookup func(name string) (*Ref, bool)

// An Error is a failed evaluation: Syntax tells a malformed expression from one
// that threw, was stopped or reached a bound. Reason is the text of what was
// thrown, class and message ("ReferenceError: x is not defined"). Cause is the
// error of the context when that stopped the evaluation.
type Error struct {
	Syntax bool
	Reason string
	Cause  error
}

func (e *Error) Error() string { return e.Reason }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

func syntaxError(reason string) *Error {
	return &Error{Syntax: true, Reason: "SyntaxError: " + reason}
}

// Eval evaluates one expression (language 4.1). The names it mentions and names
// knows are the parameters of the evaluation: assigning to one changes nothing
// outside, mutating an object it holds does. Errors are *Error.
func (rt *Runtime) Eval(ctx context.Context, source string, names Lookup) (*Ref, error) {
	return rt.run(ctx, source, names, (*program).evaluate)
}

// run prepares the program for source and hands it to do with its arguments.
func (rt *Runtime) run(ctx context.Context, source string, names Lookup, do func(*program, *Runtime, []goja.Value) (goja.Value, error)) (*Ref, error) {
	p, err := rt.program(source)
	if err != nil {
		return nil, err
	}
	bound, refs := bind(p.names, names)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	var result *Ref
	err = rt.guard(ctx, func() error {
		if err := p.compile(rt, bound); err != nil {
			return err
		}
		args, err := rt.values(refs)
		if err != nil {
			return err
		}
		v, err := do(p, rt, args)
		if err != nil {
			return err
		}
		result, err = rt.result(v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// bind keeps the names that lookup knows, with their values.
func bind(mentioned []string, lookup Lookup) (bound []string, refs []*Ref) {
	if lookup == nil {
		return nil, nil
	}
	for _, name := range mentioned {
		if r, ok := lookup(name); ok {
			bound = append(bound, name)
			refs = append(refs, r)
		}
	}
	return bound, refs
}

// Check reports whether source is a well-formed expression. Errors are *Error with
// Syntax set. It does not start an interpreter.
func Check(source string) error {
	tree, err := parseExpression(source)
	if err != nil {
		return err
	}
	_, err = tree.function(nil)
	return err
}

// errorOf turns whatever an evaluation left behind into an *Error.
func (js *interpreter) errorOf(err error) error {
	var failed *Error
	var kind *KindError
	var thrown *goja.Exception
	var deep *goja.StackOverflowError
	switch {
	case errors.As(err, &failed):
		return failed
	case errors.As(err, &kind):
		return kind
	case errors.As(err, &deep):
		return &Error{Reason: "RangeError: too much recursion; at most " + number(MaxCalls) + " calls may be open"}
	case errors.As(err, &thrown):
		return &Error{Reason: js.thrownText(thrown.Value())}
	}
	return &Error{Reason: "Error: " + err.Error(), Cause: err}
}

// thrownText is the text of a thrown value; one that has none is named by its kind.
func (js *interpreter) thrownText(v goja.Value) (text string) {
	text = "an object without text was thrown"
	if v == nil {
		return text
	}
	js.attempt(func() { text = textOf(v) })
	if strings.HasPrefix(text, "TypeError: Could not convert &{") { // a Go value shines through
		return "TypeError: Cannot convert object to primitive value"
	}
	return text
}
