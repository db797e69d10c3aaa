package agent

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/internal/value"
)

// maxMessage bounds each text of a recorded failure, in bytes.
const maxMessage = 16 << 10

// A Record is what the history of an execution keeps of one prompt (agents 5.2).
type Record struct {
	Sequence       int    // among the prompts of the execution, from 0
	Agent          string // as the turn announced it, else the resolved name
	SessionKey     string // empty: the prompt never had a session
	AgentSessionID string // the peer's own identity; empty: it asserted none
	Status         Status
	StopReason     string // empty: the peer gave none
	Text           string // the reply, or the part of it that arrived
	Failure        Failure
	Permissions    []Audit // in arrival order
	Raised         bool    // the failure stopped the document where it happened
}

// Finish notes how the turn ended: with a terminal, else with the error its Run
// returned, else, when both are nil, with nothing at all. A failure without detail
// is described by the status or the stop reason.
func (r *Record) Finish(end *Terminal, err error) {
	r.Status, r.StopReason, r.Failure = Failed, "", Failure{}
	switch {
	case end != nil:
		r.Status, r.StopReason = end.Status, end.StopReason
		err = end.Err
	case err == nil:
		r.Failure.Message = "agent prompt stream closed without a terminal event"
		return
	}
	if r.Status == Completed {
		return
	}
	if r.Status != Cancelled {
		r.Status = Failed
	}
	r.Failure = r.describe(err)
}

// describe makes the recorded detail of a failure.
func (r *Record) describe(err error) Failure {
	switch {
	case err != nil:
	case r.StopReason != "":
		return Failure{Message: fmt.Sprintf("agent prompt failed with stop reason %q", cut(r.StopReason))}
	default:
		return Failure{Message: "agent prompt " + string(r.Status)}
	}
	f := Failure{Message: cut(err.Error())}
	if named, ok := errors.AsType[interface {
		error
		Name() string
	}](err); ok {
		f.Name = named.Name()
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Err != nil {
		f.Cause = cut(e.Err.Error())
	}
	return f
}

// cut bounds a text at a character, and makes it read the same before and after it
// was written as JSON.
func cut(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if len(text) <= maxMessage {
		return text
	}
	end := maxMessage
	for end > maxMessage-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// PromptError returns the failure of the prompt at a place of a document, or nil when
// it completed. Live is the error the turn ended with; nil when the record is a
// replayed one.
func (r *Record) PromptError(place string, live error) *PromptError {
	if r.Status == Completed {
		return nil
	}
	return &PromptError{
		Sequence: r.Sequence, Place: place, Agent: r.Agent, SessionKey: r.SessionKey,
		Status: r.Status, StopReason: r.StopReason, Failure: r.Failure, Err: live,
	}
}

// Value returns the record as the JSON a history keeps. Members that say nothing are
// left out, and what follows from the status is made to: a completed record holds no
// failure, and another one always says why. Invalid UTF-8 becomes U+FFFD when the
// value is written.
func (r *Record) Value() *value.Object {
	o := value.NewObject(10)
	o.Set("sequence", float64(r.Sequence))
	o.Set("agent", r.Agent)
	o.Set("sessionKey", r.SessionKey)
	setText(o, "agentSessionId", r.AgentSessionID)
	o.Set("status", string(r.Status))
	setText(o, "stopReason", r.StopReason)
	o.Set("text", r.Text)
	if r.Status != Completed {
		f := r.Failure
		if f.Message == "" {
			f = r.describe(nil)
		}
		detail := value.Of("message", f.Message)
		setText(detail, "name", f.Name)
		setText(detail, "cause", f.Cause)
		o.Set("error", detail)
	}
	if len(r.Permissions) > 0 {
		list := make([]any, len(r.Permissions))
		for i, a := range r.Permissions {
			list[i] = a.value()
		}
		o.Set("permissions", list)
	}
	if r.Raised && r.Status != Completed {
		o.Set("raised", true)
	}
	return o
}

func setText(o *value.Object, name, text string) {
	if text != "" {
		o.Set(name, text)
	}
}

// A RecordError is a record that cannot be trusted: the history that holds it is
// damaged or was written by something else. Nothing of the record is repeated.
type RecordError struct {
	Path   string // of the place, such as $.permissions[2].options
	Reason string
}

func (e *RecordError) Error() string {
	return "the recorded agent prompt cannot be trusted: " + e.Path + " " + e.Reason +
		"; start again with a history this program wrote"
}

// maxSequence is the largest integer that JSON numbers hold exactly.
const maxSequence = 1<<53 - 1

// ParseRecord reads a record strictly: exactly the members [Record.Value] writes for
// its status, of their types. The error is a *RecordError.
func ParseRecord(v any) (*Record, error) {
	o, err := closed(v, "$", "sequence", "agent", "sessionKey", "agentSessionId", "status", "stopReason",
		"text", "error", "permissions", "raised")
	if err != nil {
		return nil, err
	}
	r := &Record{}
	sequence, _ := o.Get("sequence")
	n, ok := sequence.(float64)
	if !ok || !value.IsInteger(n) || n < 0 || n > maxSequence {
		return nil, &RecordError{"$.sequence", "must be a whole number from 0"}
	}
	r.Sequence = int(n)
	var status string
	err = texts(o, "$", []field{
		{"agent", &r.Agent, anyText}, {"sessionKey", &r.SessionKey, anyText}, {"agentSessionId", &r.AgentSessionID, optional},
		{"status", &status, anyText}, {"stopReason", &r.StopReason, optional}, {"text", &r.Text, anyText},
	})
	if err != nil {
		return nil, err
	}
	r.Status = Status(status)
	if r.Status != Completed && r.Status != Failed && r.Status != Cancelled {
		return nil, &RecordError{"$.status", "must be completed, failed or cancelled"}
	}
	if err := r.parseFailure(o); err != nil {
		return nil, err
	}
	if permissions, present := o.Get("permissions"); present {
		if r.Permissions, err = parseAudits(permissions); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// parseFailure reads error and raised.
func (r *Record) parseFailure(o *value.Object) error {
	detail, present := o.Get("error")
	switch {
	case present && r.Status == Completed:
		return &RecordError{"$.error", "must be absent from a completed prompt"}
	case !present && r.Status != Completed:
		return &RecordError{"$.error", "must say why the prompt did not complete"}
	case present:
		f, err := closed(detail, "$.error", "message", "name", "cause")
		if err != nil {
			return err
		}
		err = texts(f, "$.error", []field{
			{"message", &r.Failure.Message, required}, {"name", &r.Failure.Name, optional}, {"cause", &r.Failure.Cause, optional},
		})
		if err != nil {
			return err
		}
	}
	if raised, present := o.Get("raised"); present {
		if raised != true {
			return &RecordError{"$.raised", "must be true or absent"}
		}
		r.Raised = r.Status != Completed
	}
	return nil
}

// closed returns an object that has no members but the given ones.
func closed(v any, path string, members ...string) (*value.Object, error) {
	o, ok := v.(*value.Object)
	if !ok || o == nil {
		return nil, &RecordError{path, "must be an object"}
	}
	found := 0
	for _, name := range members {
		if o.Has(name) {
			found++
		}
	}
	if found != o.Len() {
		return nil, &RecordError{path, "has a member that no prompt record has"}
	}
	return o, nil
}

// A presence says whether a text must be there and may be empty.
type presence int

const (
	anyText  presence = iota // there, perhaps empty
	required                 // there and not empty
	optional                 // not empty when there
)

// A field is a member of a record that holds text, and where to put it.
type field struct {
	name     string
	into     *string
	presence presence
}

func texts(o *value.Object, path string, members []field) error {
	for _, m := range members {
		v, present := o.Get(m.name)
		s, ok := v.(string)
		switch {
		case !present && m.presence == optional:
		case !present:
			return &RecordError{path + "." + m.name, "is missing"}
		case !ok:
			return &RecordError{path + "." + m.name, "must be text"}
		case s == "" && m.presence != anyText:
			return &RecordError{path + "." + m.name, "must not be empty"}
		default:
			*m.into = s
		}
	}
	return nil
}
