package scenario

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A step is one thing a stage does. It returns nil to go on, or how the turn ends.
type step interface{ run(t *turn) *ending }

// An ending is how a turn ends. A turn that is answered has a stop reason or an error;
// one that is not has neither, and says what became of the peer.
type ending struct {
	stop   *string
	fail   *rpcError
	fault  fault
	status int   // of a crash
	err    error // the client is gone
}

type fault int

const (
	noFault fault = iota
	crashed
	outputClosed
	neverAnswers
)

// An rpcError is an error as JSON-RPC writes one.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// An update is a session/update notification.
type update struct {
	Kind       string          `json:"sessionUpdate"`
	Content    *textBlock      `json:"content,omitempty"`
	Entries    []planEntry     `json:"entries,omitempty"`
	Used       *int            `json:"used,omitempty"`
	Size       *int            `json:"size,omitempty"`
	ModeID     string          `json:"currentModeId,omitempty"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	Title      string          `json:"title,omitempty"`
	ToolKind   string          `json:"kind,omitempty"`
	Status     string          `json:"status,omitempty"`
	RawInput   json.RawMessage `json:"rawInput,omitempty"`
	Meta       json.RawMessage `json:"_meta,omitempty"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type planEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

// The kinds of updates.
const (
	messageChunk = "agent_message_chunk"
	thoughtChunk = "agent_thought_chunk"
	userChunk    = "user_message_chunk"
	planUpdate   = "plan"
	usageUpdate  = "usage_update"
	modeUpdate   = "current_mode_update"
	toolCallNew  = "tool_call"
	toolCallNext = "tool_call_update"
)

// noticeMeta marks a chunk that is no output (agents 16.3).
const noticeMeta = `{"claudeCode":{"kind":"informational"}}`

func chunk(kind, text string) update {
	return update{Kind: kind, Content: &textBlock{"text", text}}
}

// say is output text: chunks with references.
type say struct{ chunks []template }

func (s say) run(t *turn) *ending {
	for _, c := range s.chunks {
		if e := t.update(chunk(messageChunk, c.render(t.at.captures))); e != nil {
			return e
		}
	}
	return nil
}

// tell sends one update that a scenario fixes.
type tell struct{ update update }

func (s tell) run(t *turn) *ending {
	if s.update.Kind == modeUpdate {
		t.at.mode = s.update.ModeID
	}
	return t.update(s.update)
}

// permit asks for permissions, all at once.
type permit struct{ asks []ask }

// An ask is one permission request and what is expected of its answer.
type ask struct {
	call    update // toolCallId, title, kind, status and rawInput of it
	options []option
	expect  *string // an option, "" for cancelled; nil: any answer
	on      map[string][]step
}

type option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// A reply answers an ask: an option, or "" for cancelled.
type reply struct {
	option string
	fail   *rpcError // the client refused the request as such
}

func (r reply) String() string {
	switch {
	case r.fail != nil:
		return fmt.Sprintf("error %d", r.fail.Code)
	case r.option == "":
		return "cancelled"
	}
	return "selected " + r.option
}

func (s permit) run(t *turn) *ending {
	replies, err := t.client.permission(s.asks)
	if err != nil {
		return &ending{err: err}
	}
	for i, r := range replies {
		a := s.asks[i]
		t.note("permission", "toolCall", a.call.ToolCallID, "outcome", r.String())
		if a.expect != nil && (r.fail != nil || r.option != *a.expect) {
			return t.unexpected("permission", reply{option: *a.expect}.String(), r.String())
		}
	}
	for i, r := range replies {
		branch, has := s.asks[i].on[r.option]
		if !has || r.fail != nil {
			continue
		}
		if e := t.steps(branch); e != nil {
			return e
		}
	}
	return nil
}

// call sends any request to the client.
type call struct {
	method string
	params json.RawMessage
	expect *int // the code of an error, 0 for any; nil: any answer
}

func (s call) run(t *turn) *ending {
	fail, err := t.client.request(s.method, s.params)
	if err != nil {
		return &ending{err: err}
	}
	outcome := "result"
	if fail != nil {
		outcome = fmt.Sprintf("error %d", fail.Code)
	}
	t.note("step", "step", "request", "method", s.method, "outcome", outcome)
	switch {
	case s.expect == nil, fail != nil && (*s.expect == 0 || *s.expect == fail.Code):
		return nil
	case *s.expect == 0:
		return t.unexpected("request", "an error", outcome)
	}
	return t.unexpected("request", fmt.Sprintf("error %d", *s.expect), outcome)
}

type delay time.Duration

func (s delay) run(t *turn) *ending {
	timer := time.NewTimer(time.Duration(s))
	defer timer.Stop()
	return wait(t, timer.C)
}

// waitCancel waits to be cancelled, and goes on: the steps behind it are what a peer
// still does after a cancellation.
type waitCancel struct{}

func (waitCancel) run(t *turn) *ending {
	select {
	case <-t.cancelled:
		t.expecting = true
		return nil
	case <-t.ctx.Done():
		return &ending{fault: neverAnswers}
	}
}

type waitRelease string

func (s waitRelease) run(t *turn) *ending {
	ctx, stop := t.interruptible()
	defer stop()
	err := t.engine.state.Await(ctx, string(s))
	if e := t.interrupted(); e != nil {
		return e
	}
	if err != nil {
		return &ending{fail: &rpcError{Code: -32603, Message: "waitRelease: " + err.Error()}}
	}
	return nil
}

// answer ends the turn.
type answer struct{ ending ending }

func (s answer) run(*turn) *ending {
	e := s.ending
	return &e
}

// hang never answers, cancelled or not.
type hang struct{}

func (hang) run(t *turn) *ending {
	<-t.ctx.Done()
	return &ending{fault: neverAnswers}
}

// deafen makes the rest of the turn ignore a cancellation, or the process a request
// to end.
type deafen struct{ term bool }

func (s deafen) run(t *turn) *ending {
	if s.term {
		t.client.ignoreTerm()
	} else {
		t.deaf = true
	}
	return nil
}

// noise is something a well-behaved peer does not write.
type noise struct {
	kind  noiseKind
	text  string
	bytes int
}

type noiseKind int

const (
	stderrText noiseKind = iota
	rawLine
	garbage
	bigLine
)

func (s noise) run(t *turn) *ending {
	if err := t.client.noise(s); err != nil {
		return &ending{err: err}
	}
	return nil
}

// line is what the noise puts on the output of a peer, without the end of the line.
func (s noise) line() string {
	switch s.kind {
	case rawLine:
		return s.text
	case garbage:
		const junk = "\x00\xff{]\x1b[31m\"\\"
		return strings.Repeat(junk, s.bytes/len(junk)+1)[:s.bytes]
	}
	return strings.Repeat("x", s.bytes)
}

// effect reaches the machine.
type effect struct {
	kind    string // write, read or spawn
	path    string
	content string
	argv    []string
	expect  string // ok, denied, or empty for either
}

func (s effect) run(t *turn) *ending {
	var err error
	switch s.kind {
	case "write":
		err = t.engine.machine.Write(s.path, s.content)
	case "read":
		err = t.engine.machine.Read(s.path)
	default:
		err = t.engine.machine.Spawn(t.ctx, s.argv)
	}
	outcome := "ok"
	if err != nil {
		outcome = "denied"
	}
	t.note("step", "step", s.kind, "outcome", outcome)
	if s.expect != "" && s.expect != outcome {
		return t.unexpected(s.kind, s.expect, outcome)
	}
	return nil
}
