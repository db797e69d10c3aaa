// Package differential compares the readings of a generated fragment (fragments 1,
// F10).
//
// A fragment is read more than once: preflight and the compiler make a module of it,
// which several WebAssembly engines evaluate, and the engine of ordinary documents
// could run the same text with nothing but the captured entries as its components.
// All of them must come to the same output, the same effects in the same order, the
// same observations and the same kind of failure.
//
// What enters is a source, invented from a number ([Generate]) or given. A [Bench]
// holds one profile of scripted operations: what an operation returns is a function
// of its identity and its input, so that two readings that differ differ by
// themselves. [Bench.Sandbox] gives the outcome of a source in an engine of
// WebAssembly, [Bench.Ordinary] the one in an ordinary document in error mode throw.
// What leaves is an [Outcome] each, and [Same] and [Means] say where two part.
//
// The one invariant: outcomes are compared by what was rendered, done and seen, never
// by the text of an error, which every reading words for itself.
//
// Where the readings are known to differ, because the interpreter of ordinary
// documents departs from the standard or the design says so, [Incomparable] names the
// reason and such a source is left out; the list is short and each entry says why.
//
// The room exists for tests: of this room, of the engine of wasmtime, and of whoever
// changes a reading. It refuses to know why a reading is as it is.
package differential

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

// A Case is one fragment to compare.
type Case struct {
	Seed    uint64
	Dialect capability.Dialect
	Source  string
}

// An Evaluator evaluates modules: a *sandbox.Runtime, or another engine with the same
// imports.
type Evaluator interface {
	Run(ctx context.Context, m *wasm.Module, g *capability.Grant, h sandbox.Hooks) (sandbox.Result, error)
}

// The kinds of failure. An exhausted limit is the word limit, a space and its name;
// anything else is a fault of a reading and says which.
const (
	None      = ""
	Operation = "operation"
	Failed    = "fail"
	Limit     = "limit "
	Panic     = "panic" // in the interpreter of ordinary documents
)

// An Outcome is what a source came to in one reading.
type Outcome struct {
	Refused      string              // the class; then nothing else is set
	Failure      string              // the kind; then there is no output and no observation
	Output       string              // what was rendered
	Effects      map[string][]string // operations and rounds of loops in order, by coroutine
	Observations []string            // in order of the document
	Imports      []string            // of the module
	Failures     map[string]bool     // kinds of failure of all concurrent children, each run to its end
	Steps        int                 // fuel used; engines of WebAssembly only
	Values       int                 // bytes of values made; engines of WebAssembly only
}

// A Verdict is what a comparison of all readings came to. Where they agree in
// everything, only the outcome is set; otherwise one of the other members says why not.
type Verdict struct {
	Refused    string  // the class
	Limited    bool    // a limit was used up: ordinary documents have none, and only the engines were compared
	Excused    string  // an ordinary document differs, and it is known why
	Difference string  // a fault
	Outcome    Outcome // in the first engine
}

// Compare reads a source in every engine and as an ordinary document.
func (b *Bench) Compare(ctx context.Context, d capability.Dialect, source string, engines ...Evaluator) Verdict {
	f, err := b.Read(d, source)
	if err != nil {
		return Verdict{Difference: "it is admitted and does not compile: " + err.Error()}
	}
	if f.Refused != "" {
		return Verdict{Refused: f.Refused}
	}
	v := Verdict{Outcome: b.Sandbox(ctx, f, engines[0])}
	for i, e := range engines[1:] {
		if v.Difference = Same(v.Outcome, b.Sandbox(ctx, f, e)); v.Difference != "" {
			v.Difference = fmt.Sprintf("engines 0 and %d differ: %s", i+1, v.Difference)
			return v
		}
	}
	if v.Limited = v.Outcome.Limited(); v.Limited {
		return v
	}
	ordinary, err := b.Ordinary(ctx, d, source)
	v.Difference = Means(v.Outcome, ordinary)
	if err != nil {
		v.Difference = "the ordinary document: " + err.Error()
	}
	if v.Difference != "" {
		v.Excused = Incomparable(source, f.Program)
		if ordinary.Failure == Panic {
			v.Excused = `the interpreter of ordinary documents panics, as it does for "abc"["-"]`
		}
		if v.Excused != "" {
			v.Difference = ""
		}
	}
	return v
}

// Same says where two engines of WebAssembly part; empty when they agree in
// everything, what they used included.
func Same(a, b Outcome) string {
	switch {
	case a.Refused != b.Refused:
		return fmt.Sprintf("refused: %q and %q", a.Refused, b.Refused)
	case a.Failure != b.Failure:
		return fmt.Sprintf("failure: %q and %q", a.Failure, b.Failure)
	case a.Output != b.Output:
		return fmt.Sprintf("output: %q and %q", a.Output, b.Output)
	case !maps.EqualFunc(a.Effects, b.Effects, slices.Equal):
		return fmt.Sprintf("effects: %q and %q", a.Effects, b.Effects)
	case !slices.Equal(a.Observations, b.Observations):
		return fmt.Sprintf("observations: %q and %q", a.Observations, b.Observations)
	case !maps.Equal(a.Failures, b.Failures):
		return fmt.Sprintf("failures: %v and %v", a.Failures, b.Failures)
	case a.Steps != b.Steps || a.Values != b.Values:
		return fmt.Sprintf("used: %d steps, %d bytes and %d steps, %d bytes", a.Steps, a.Values, b.Steps, b.Values)
	}
	return ""
}

// Means says where an ordinary document departs from a fragment that used up no
// limit, which ordinary documents do not have; empty when they agree. Where children
// run concurrently and one fails, which of several failures is the first, and how far
// the siblings came, is open (fragments 8): the fragment's children all ran to their
// end, and the document's did as much or less.
func Means(fragment, ordinary Outcome) string {
	open := len(fragment.Failures) > 0
	switch {
	case fragment.Failure != ordinary.Failure && !(open && fragment.Failures[ordinary.Failure]):
		return fmt.Sprintf("failure: %q and %q", fragment.Failure, ordinary.Failure)
	case fragment.Output != ordinary.Output:
		return fmt.Sprintf("output: %q and %q", fragment.Output, ordinary.Output)
	case !slices.Equal(fragment.Observations, ordinary.Observations):
		return fmt.Sprintf("observations: %q and %q", fragment.Observations, ordinary.Observations)
	case !open && !maps.EqualFunc(fragment.Effects, ordinary.Effects, slices.Equal), open && !begins(ordinary.Effects, fragment.Effects):
		return fmt.Sprintf("effects: %q and %q", fragment.Effects, ordinary.Effects)
	}
	return ""
}

// begins reports whether every list of some is the beginning of the one in whole.
func begins(some, whole map[string][]string) bool {
	for id, list := range some {
		if len(list) > len(whole[id]) || !slices.Equal(list, whole[id][:len(list)]) {
			return false
		}
	}
	return true
}

// kindOf is the kind of a failure of an evaluation.
func kindOf(err error) string {
	var limit *sandbox.LimitError
	var failed *sandbox.FailError
	var operation *sandbox.OperationError
	switch {
	case err == nil:
		return None
	case errors.As(err, &limit):
		return Limit + limit.Bound
	case errors.As(err, &failed):
		return Failed
	case errors.As(err, &operation):
		return Operation
	}
	return "fault: " + err.Error()
}

// Limited reports whether the outcome is an exhausted limit, of the fragment or of
// one of its children.
func (o Outcome) Limited() bool {
	limit := strings.HasPrefix(o.Failure, Limit)
	for kind := range o.Failures {
		limit = limit || strings.HasPrefix(kind, Limit)
	}
	return limit
}
