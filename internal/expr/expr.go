// Package expr evaluates the JavaScript expressions of a trusted document.
package expr

import (
	"context"
)

// A Runtime evaluates the expressions of one run. The interpreter starts with the
// first evaluation. A Runtime is safe for concurrent use; evaluations take turns.
type Runtime struct{}

func New() *Runtime { panic("stub") }

// A Ref is one value held by reference within one run. It starts as plain JSON
// (package value) or as the result of an evaluation; two names bound to one Ref,
// or to results that are the same JavaScript object, are identical.
type Ref struct{}

// Ref wraps a JSON value.
func (rt *Runtime) Ref(v any) *Ref { panic("stub") }

// A Lookup finds the binding an expression names.
type Lookup func(name string) (*Ref, bool)

// Eval evaluates one expression. Errors are *Error.
func (rt *Runtime) Eval(ctx context.Context, source string, names Lookup) (*Ref, error) {
	panic("stub")
}

// Call calls a function by reference. Errors are *Error.
func (rt *Runtime) Call(ctx context.Context, fn *Ref, args ...*Ref) (*Ref, error) { panic("stub") }

// Check reports whether source is a well-formed expression.
func Check(source string) error { panic("stub") }

// An Error is a failed evaluation: Syntax tells a malformed expression from one
// that threw.
type Error struct {
	Syntax bool
	Reason string
	Cause  error
}

func (e *Error) Error() string { return e.Reason }

// JSON projects the value to JSON (language.md 4.4.1): undefined at the root is
// value.Undefined with a nil error; a value without JSON text is a *KindError.
func (r *Ref) JSON() (any, error) { panic("stub") }

// Strict crosses to JSON rejecting what JSON cannot say (language.md 4.4.3).
func (r *Ref) Strict() (any, error) { panic("stub") }

// A KindError says what kind of value could not cross to JSON, and where.
type KindError struct {
	Path string // $.a[0]
	Kind string // "a function", "a big integer", "a cycle", ...
}

func (e *KindError) Error() string { return e.Path + " is " + e.Kind }

func (r *Ref) Truthy() bool             { panic("stub") }
func (r *Ref) StrictEqual(o *Ref) bool  { panic("stub") }
func (r *Ref) IsUndefined() bool        { panic("stub") }
func (r *Ref) Bool() (b, ok bool)       { panic("stub") }
func (r *Ref) Str() (s string, ok bool) { panic("stub") }
func (r *Ref) Kind() string             { panic("stub") }

// Text is the string conversion of language.md 3.5, form B.
func (r *Ref) Text() string { panic("stub") }

// Member resolves a dotted path of own members (language.md 3.4.2). ok is false
// when the reference stays verbatim.
func (r *Ref) Member(path []string) (text string, ok bool) { panic("stub") }

// Property resolves a dotted path the way form A does (language.md 3.3): missing,
// undefined and null are empty, a top-level array is joined with ", ".
func (r *Ref) Property(path []string) string { panic("stub") }

// Snapshot returns a Ref for a concurrent child: plain data is copied, anything
// else is shared.
func (r *Ref) Snapshot() *Ref { panic("stub") }

// A BlockResult is what a js eval block left.
type BlockResult struct {
	Output  string   // the text given to output(), else the returned value as text
	Exports []Export // top-level declarations, in source order
}

type Export struct {
	Name  string
	Value *Ref
}

// RunBlock evaluates a js eval block (language.md 1.12). Errors are *Error.
func (rt *Runtime) RunBlock(ctx context.Context, source string, names Lookup) (BlockResult, error) {
	panic("stub")
}

// ReservedName reports whether name cannot be declared in strict module code
// (language.md 5.7.2).
func ReservedName(name string) bool { panic("stub") }

// BindingName explains why name is no binding name, or returns "".
func BindingName(name string) string { panic("stub") }
