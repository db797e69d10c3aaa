// Package component holds the elements every document can use: files and
// directories, one HTTP read, JSON in and out, a fence around arbitrary text, a
// deliberate stop and a question to a person.
//
// What enters is a call (package engine): an element whose props have been
// validated, its content not yet expanded, and the providers its run was given.
// What leaves is text, a JSON value, or an error whose message names the element
// and says what to do about it.
//
//	<Glob include={["notes/*.md"]} as="notes" />
//	<Each in={notes} let="note"><File path={note} /></Each>
//
// The invariant: an element refuses before it acts. What can be judged without
// the content is judged before the content expands, and what can be judged
// without a provider before the provider is asked; a refused element has changed
// nothing, asked nobody and rendered nothing.
//
// The room refuses to know the machine: it opens no file and no connection, and a
// provider that is missing is an infrastructure error, never a reason to help
// itself. It does not know how content expands, where a history is kept or what a
// terminal looks like. What a failure does to the document around it is the
// engine's decision; a component says only whether its own failures are soft.
//
// Components are static data. Building the list costs nothing; a schema is
// compiled when its component is first used.
package component

import (
	"context"
	"errors"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/internal/engine"
)

// origin is the name of this room in records and listings.
const origin = "xmd.core"

// Defaults returns the components of this room, which files of a repository may
// override, in order of their names. The list belongs to the caller.
func Defaults() []engine.Component {
	return []engine.Component{
		agentElement(), agentProvider(),
		policyElement("ApproveAll", agent.ApproveAll, "Approves what agents ask for in its content, as far as the invocation does.", approveAllDoc),
		policyElement("AskPermission", agent.AskAlways, "Asks a person about everything agents ask for in its content.", askPermissionDoc),
		codeBlock(), dir(), elicit(), fail(), fetch(), file(), fileDelete(),
		glob(), jsonText(), parse(), prompt(), safeParse(), session(), tempDir(),
	}
}

// Planning returns the components a plan program is written in, and no others.
func Planning() []engine.Component {
	return []engine.Component{codeBlock(), elicit(), fail(), jsonText(), prompt(), session()}
}

// withdrawn is the outcome of an attempt that settled nothing: a later execution
// may make it again.
type withdrawn struct{ cause error }

func (w *withdrawn) Error() string { return w.cause.Error() }
func (w *withdrawn) Unwrap() error { return w.cause }

// perform is Effect for a live function that may withdraw: the cause of a
// *withdrawn error is returned and nothing is recorded.
func perform(ctx context.Context, c *engine.Call, e engine.Effect, live func(context.Context) (any, error)) (any, error) {
	ctx, withdraw := context.WithCancelCause(ctx)
	defer withdraw(nil)
	return c.Effect(ctx, e, func(ctx context.Context) (any, error) {
		v, err := live(ctx)
		var w *withdrawn
		if errors.As(err, &w) {
			withdraw(w.cause)
		}
		return v, err
	})
}
