// Package plan writes a document with an Agent and lets a person approve it.
//
// What enters is a request, a description of the elements the document may use, and
// the parts its host was made of: who plans, who asks the person, who judges a draft.
// What leaves is the exact source a person approved, or the reason why there is none.
//
// The policy is not here. What is said to the Agent, how often a draft is repaired,
// what a person may choose and how it ends is written in prompt-plan.md, a document
// like any other, shipped in this package and run by the engine under a source
// identity of its own. This package makes the place it runs in: a conversation held
// to the ceiling, no file, no process and no network, and one element that judges a
// draft without running it.
//
// The invariant: a draft is a string. It is bound, judged, shown and returned; nothing
// of it is expanded, evaluated or imported before a person approved those bytes and
// everything that planned them has ended.
//
// The room does not know a command line, an environment or an agent protocol, and
// does not run what was approved.
package plan

import (
	"context"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/internal/value"
)

// An Assessment is what is known of one draft without running it.
type Assessment struct {
	// Diagnostics is what its author has to mend (prompt 8.3); nil: it is valid.
	Diagnostics *value.Object
	// Props are the properties resolved for a valid draft, and for no other source.
	Props *value.Object
}

// Valid reports whether nothing is definitely wrong with the draft.
func (a Assessment) Valid() bool { return a.Diagnostics == nil }

// A CallerError is what a person's own command line or environment got wrong about
// the properties of a draft. No draft can mend it, so it ends the planning.
type CallerError struct{ Message string }

func (e *CallerError) Error() string { return e.Message }

// A Runtime is an agent held to the ceiling for one conversation.
type Runtime struct {
	Provider agent.Provider
	// Close ends everything that was started and gives the directory back. Its
	// error outranks whatever was planned.
	Close func(context.Context) error
}
