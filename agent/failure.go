package agent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Code says what kind of failure an [Error] is. It is itself an error, so that
// errors.Is(err, agent.ErrPeerGone) asks for it.
type Code string

// The codes (agents 24).
const (
	ErrNoProvider      Code = "no-provider"
	ErrUnknownProvider Code = "unknown-provider"
	ErrNoDefaultAgent  Code = "no-default-agent"

	ErrUnavailable  Code = "unavailable" // Reason is one of the Reason constants
	ErrAuthRequired Code = "auth-required"

	ErrSessionForeign  Code = "session-foreign"
	ErrSessionMismatch Code = "session-mismatch"
	ErrSessionBusy     Code = "session-busy"

	ErrSessionNotResumable Code = "session-not-resumable"
	ErrSessionUnresumable  Code = "session-unresumable"
	ErrSessionMissing      Code = "session-missing"
	ErrSessionConflict     Code = "session-conflict"
	ErrSessionIncompatible Code = "session-incompatible"
	ErrSessionAmbiguous    Code = "session-ambiguous"
	ErrSessionDamaged      Code = "session-damaged"

	ErrCeiling             Code = "ceiling" // Reason is the clause
	ErrCeilingInterference Code = "ceiling-interference"

	ErrToolPermissionRefused Code = "tool-permission-refused"
	ErrToolActivity          Code = "tool-activity"
	ErrCapabilityUsed        Code = "capability-used"
	ErrModeChanged           Code = "mode-changed"

	ErrPromptTimeout Code = "prompt-timeout"
	ErrPeerGone      Code = "peer-gone"
	ErrProtocol      Code = "protocol"
	ErrStopReason    Code = "stop-reason"
	ErrProcessLeak   Code = "process-leak"
	ErrTeardown      Code = "teardown"
)

// Why an agent is unavailable (agents 10.1).
const (
	ReasonNotFound      = "not-found"
	ReasonSpawnFailed   = "spawn-failed"
	ReasonExited        = "exited"
	ReasonTimeout       = "timeout"
	ReasonProtocol      = "protocol"
	ReasonVersion       = "version"
	ReasonPrepareFailed = "prepare-failed"
	ReasonCeiling       = "ceiling"
)

// Error is the sentence for a failure that says no more than its code.
func (c Code) Error() string {
	switch c {
	case ErrNoProvider:
		return "no agent provider is installed here; put the element inside an <AgentProvider>"
	case ErrUnknownProvider:
		return "unknown agent provider"
	case ErrNoDefaultAgent:
		return "no agent was named and there is no default one; give --default-agent NAME, set DEFAULT_AGENT_NAME, " +
			"or write defaultAgent in agents.yaml or on <AgentProvider>"
	case ErrUnavailable:
		return "the agent is unavailable"
	case ErrAuthRequired:
		return "the agent asks for a login; log in with that agent's own tool and run again"
	case ErrSessionForeign:
		return "unknown or stale agent session"
	case ErrSessionMismatch:
		return "the agent does not match the session"
	case ErrSessionBusy:
		return "another process holds this agent session; use a <Session> of another name"
	case ErrSessionNotResumable:
		return "the agent can neither resume nor load a session; start a <Session> of another name"
	case ErrSessionUnresumable:
		return "the agent could not take the session up again; start a <Session> of another name"
	case ErrSessionMissing:
		return "the run has an agent session of which the provider kept no record; start a new run"
	case ErrSessionConflict:
		return "the run and the provider name different agent sessions; start a new run"
	case ErrSessionIncompatible:
		return "the agent session was made under other terms; start a new run"
	case ErrSessionAmbiguous:
		return "several agent sessions claim the same place; start a new run"
	case ErrSessionDamaged:
		return "the record of the agent session is damaged; start a new run"
	case ErrCeiling:
		return "the agent cannot be held to the ceiling; choose another with --default-agent"
	case ErrCeilingInterference:
		return "the agent's directory was changed while the agent had it; look at it, remove what was left there, and run again"
	case ErrToolPermissionRefused:
		return "the agent asked for permission to use a native tool, which this host grants to no agent; " +
			"the request was denied and the turn it belongs to failed"
	case ErrToolActivity:
		return "the agent used a native tool, which this host grants to no agent; the turn it belongs to failed"
	case ErrCapabilityUsed:
		return "the agent used a client capability it was told does not exist; the turn it belongs to failed"
	case ErrModeChanged:
		return "the agent left the session mode it was pinned to; the turn it belongs to failed"
	case ErrPromptTimeout:
		return "agent prompt timed out"
	case ErrPeerGone:
		return "the agent ended before it answered; run again, and look at the agent's own log if it ends again"
	case ErrProtocol:
		return "the agent broke the protocol; update the agent, or choose another"
	case ErrStopReason:
		return "the agent stopped before it was done"
	case ErrProcessLeak:
		return "a process of the agent is still running after it was told to end; end it by hand"
	case ErrTeardown:
		return "the agent could not be shut down cleanly"
	}
	return "agent failure " + string(c)
}

// Exit is the exit status of a command that fails with the code: 4 for damaged
// history, 3 for a refusal, 1 for the rest. A command line that itself names an
// unknown provider or no agent exits with 2; only the command knows that.
func (c Code) Exit() int {
	switch c {
	case ErrSessionDamaged:
		return 4
	case ErrCeiling, ErrCeilingInterference, ErrSessionNotResumable, ErrSessionUnresumable, ErrSessionMissing,
		ErrSessionConflict, ErrSessionIncompatible, ErrSessionAmbiguous:
		return 3
	}
	return 1
}

// An Error is a failure of this room. Its text never carries a reply, a title of a
// tool, raw input, a credential or a private path; whoever makes one sees to it.
type Error struct {
	Code    Code
	Agent   string // name; empty when none was resolved
	Session string // session key; empty when the failure is of no session
	Reason  string // unavailable: a Reason constant; ceiling: the clause; else empty
	Message string // what is wrong and what to do; empty: what the code says
	Err     error  // what caused it; may be nil
}

// Error is the message. An unavailable agent is named with the reason.
func (e *Error) Error() string {
	text := e.Message
	if e.Code == ErrUnavailable {
		if text == "" {
			text = "check its installation, or choose another agent"
		}
		return fmt.Sprintf("agent %q is unavailable [%s]: %s", e.Agent, e.Reason, text)
	}
	if text == "" {
		text = e.Code.Error()
	}
	return text
}

// Is reports whether target is the code of e.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Name is the name a record keeps with the message, for the failures that have one.
func (e *Error) Name() string {
	switch e.Code {
	case ErrPromptTimeout:
		return "AgentPromptTimeout"
	case ErrToolPermissionRefused:
		return "AgentToolPermissionRefused"
	case ErrToolActivity:
		return "AgentToolActivityObserved"
	}
	return ""
}

// Unavailable is the failure of an agent that cannot be used, for one of the Reason
// constants. The text says what was seen and what to do; cause may be nil.
func Unavailable(agent, reason, text string, cause error) *Error {
	return &Error{Code: ErrUnavailable, Agent: agent, Reason: reason, Message: text, Err: cause}
}

// UnknownProvider is the failure of a provider name that is not registered.
func UnknownProvider(name string) *Error {
	return &Error{Code: ErrUnknownProvider, Message: fmt.Sprintf("Unknown agent provider %q", name)}
}

// Foreign is the failure of a session its provider did not issue (agents 3.1).
func Foreign(key string) *Error {
	return &Error{Code: ErrSessionForeign, Session: key, Message: fmt.Sprintf("unknown or stale agent session %q", key)}
}

// Mismatched is the failure of a session that was made with another agent.
func Mismatched(agent, key, made string) *Error {
	return &Error{Code: ErrSessionMismatch, Agent: agent, Session: key,
		Message: fmt.Sprintf("agent %q does not match session %q (agent %q)", agent, key, made)}
}

// A Failure is why a prompt did not complete, as a record keeps it.
type Failure struct {
	Message string
	Name    string // empty: none
	Cause   string // empty: none
}

// A PromptError is one failed prompt (agents 4.5). It is made from what a record
// keeps, so a live failure and its replay read alike. It never holds the reply.
type PromptError struct {
	Sequence   int    // of the prompt in its execution, from 0
	Place      string // of the element, such as notes.md:3:1; empty: not known
	Agent      string
	SessionKey string // empty: the prompt never had one
	Status     Status // Failed or Cancelled
	StopReason string // empty: the peer gave none
	Failure    Failure
	Err        error // the live failure; nil when the prompt was replayed
}

// Error says where, of which agent, and why.
func (e *PromptError) Error() string {
	text := "agent " + strconv.Quote(e.Agent) + ": " + e.Failure.Message
	if e.Place != "" {
		text = e.Place + ": " + text
	}
	return text
}

// Unwrap returns the live failure.
func (e *PromptError) Unwrap() error { return e.Err }

// A PromptsError is what an execution ends with when it finished and some of its
// prompts did not. The prompts are in sequence order.
type PromptsError struct{ Prompts []*PromptError }

// JoinPrompts makes one error of the prompts that failed, in sequence order whatever
// order they failed in; it is nil when none did. The list is not changed.
func JoinPrompts(failed []*PromptError) error {
	if len(failed) == 0 {
		return nil
	}
	ordered := slices.Clone(failed)
	slices.SortStableFunc(ordered, func(a, b *PromptError) int { return a.Sequence - b.Sequence })
	return &PromptsError{ordered}
}

// Error counts the prompts and says why each failed.
func (e *PromptsError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d agent prompt(s) failed", len(e.Prompts))
	for i, p := range e.Prompts {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		b.WriteString(p.Error())
	}
	return b.String()
}

// Unwrap returns the prompts.
func (e *PromptsError) Unwrap() []error {
	list := make([]error, len(e.Prompts))
	for i, p := range e.Prompts {
		list[i] = p
	}
	return list
}
