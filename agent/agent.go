// Package agent is what a document knows of an Agent: a name, a conversation, and one
// prompt that ends in a reply. It holds the types every provider and every element
// share, and the rules that do not depend on how an Agent is reached.
//
//	region := agent.Region{Provider: p, DefaultAgent: "claude", Mode: agent.ApproveReads}
//	turn := region.Provider.Prompt("Review this.", agent.PromptOptions{
//		Agent:  region.AgentName(""),
//		Policy: region.Answers(),
//	})
//	text, err := turn.Run(ctx, func(e agent.Event) error { return nil })
//
// What enters: the bytes of the person's agents.yaml ([ReadConfig]), the names an
// invocation gives ([DefaultAgent]), a way to find programs ([LookPath]), the
// permission requests of a peer, and records of earlier executions. What leaves: the
// argument vector behind a name ([Registry.Resolve]), an answer to every request
// ([Settle]), the record of a finished prompt ([Record]), and failures with a code
// and a remedy ([Error], [PromptError]).
//
// The one invariant: a question of a peer never ends in more than the invocation
// granted. The verdict is the lower one of the invocation's mode and of what the
// document asks for; every fault on the way, be it an error, a panic or an option
// nobody offered, ends in an answer that allows nothing.
//
// Who keeps what: providers live in the rooms below this one and turn names into
// conversations; the elements of a document live where components live; the command
// line reads flags, files and the environment and hands their values in.
//
// The package refuses to know what a reply says. It starts no process, opens no file,
// reads no environment and speaks no protocol.
package agent

import (
	"context"
	"encoding/json"
	"time"
)

// A Status is how a turn ended.
type Status string

const (
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// A Session is one conversation, and the capability to continue it: a provider
// accepts only the pointers it issued.
type Session struct {
	Key   string // provider-neutral session key
	Cwd   string // absolute directory the conversation lives in
	ID    string // the peer's own identity once asserted; empty before
	Owner any    // the provider that issued it; providers compare it
	Agent string // the agent command it was made with, digested
}

// An Event is part of a turn: exactly one Started, any number of TextDelta, exactly
// one Terminal.
type Event interface{ event() }

// Started says that the conversation exists and the turn runs in it.
type Started struct {
	Agent   string
	Session *Session
}

// A TextDelta is output text.
type TextDelta struct{ Text string }

// A Terminal is the end of a turn.
type Terminal struct {
	Status     Status
	StopReason string // empty when the peer gave none
	Err        error  // why it did not complete
}

func (Started) event()   {}
func (TextDelta) event() {}
func (Terminal) event()  {}

// A SessionRef says which conversation a turn belongs to: none (the unnamed default
// of agent and directory), one by name, or one that was placed.
type SessionRef struct {
	Name   string
	Placed *Session
}

// PromptOptions settle one turn.
type PromptOptions struct {
	Agent      string // empty: the provider's default
	Session    SessionRef
	Cwd        string        // absolute contextual directory
	Timeout    time.Duration // 0: none
	Policy     Policy        // answers permission requests of the turn; nil: Deny
	Permission func(Audit)   // is told every decided request, in arrival order; may be nil
}

// A Placement is one <Session> element's claim to a conversation.
type Placement struct {
	Agent    string // resolved name
	Name     string // authored; empty: unnamed
	Identity string // the expansion identity of the element
	Cwd      string // absolute contextual directory
}

// A Provider answers agent operations for a region of a document. It is safe for
// concurrent use.
type Provider interface {
	// Agent resolves a name (empty: the default) and makes sure that the agent is
	// available.
	Agent(ctx context.Context, name string) (string, error)
	// Session places a conversation, or validates one that is established. A placement
	// nobody has prompted in is inert.
	Session(ctx context.Context, p Placement) (*Session, error)
	// Prompt describes one turn. It does nothing.
	Prompt(text string, o PromptOptions) Turn
	// Close ends everything the provider started, and returns every failure of doing so.
	Close(ctx context.Context) error
}

// A Turn is one turn to be taken.
type Turn interface {
	// Run takes the turn, calls sink in order from one goroutine, and returns the close
	// value: the concatenated output text, partial when the turn did not complete. The
	// error is set for what failed before Started, for an error of sink and for the end
	// of ctx; everything else is a Terminal.
	Run(ctx context.Context, sink func(Event) error) (text string, err error)
}

// An OptionKind is what choosing a permission option means.
type OptionKind string

const (
	AllowOnce    OptionKind = "allow_once"
	AllowAlways  OptionKind = "allow_always"
	RejectOnce   OptionKind = "reject_once"
	RejectAlways OptionKind = "reject_always"
)

// A PermissionOption is one answer a peer offers.
type PermissionOption struct {
	ID, Name string
	Kind     OptionKind
}

// A ToolCall is what a permission is asked for.
type ToolCall struct {
	ID, Title, Kind string // Title and Kind are empty when the peer gave none
	RawInput        json.RawMessage
}

// A PermissionRequest is a peer's question whether it may use a tool.
type PermissionRequest struct {
	Session *Session
	Tool    ToolCall
	Options []PermissionOption // of the four kinds only
}

// A PermissionOutcome is the chosen option; the zero value is cancelled.
type PermissionOutcome struct{ OptionID string }

// A Policy decides permission requests. It may be called concurrently.
type Policy interface {
	Decide(ctx context.Context, r PermissionRequest) (PermissionOutcome, error)
}

// An Audit is one decided request as a record keeps it.
type Audit struct {
	Tool    ToolCall // without RawInput
	Options []PermissionOption
	Outcome PermissionOutcome
	Sparse  bool // a strict denial: titles and option names are left out
}
