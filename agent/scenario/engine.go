package scenario

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxQuoted is how many bytes of a prompt or an expectation are repeated.
const maxQuoted = 4 << 10

// A Machine does what the steps write, read and spawn ask for. Any error counts as
// denied. A path is as the scenario wrote it, relative to the directory of the peer.
type Machine interface {
	Write(path, content string) error
	Read(path string) error
	// Spawn runs a program to its end; it fails when the program does not start or does
	// not end well.
	Spawn(ctx context.Context, argv []string) error
}

// An engine plays a scenario for whoever stands in front of it.
type engine struct {
	scenario *Scenario
	state    State
	machine  Machine
	report   *reporter
}

// A conversation is a session that exists. One turn at a time uses it.
type conversation struct {
	session  string // whose script it follows
	slot     string // where its position is kept
	id       string
	stages   []stage
	consumed int
	captures bindings
	mode     string
}

// left is how many stages were not consumed.
func (c *conversation) left() int { return len(c.stages) - c.consumed }

// slotOf names the place of a position in a State.
func slotOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return ".position-" + hex.EncodeToString(sum[:8]) + ".json"
}

// open begins a conversation. Its identity counts the ones before it in the same
// place.
func (e *engine) open(session, slot string) (*conversation, *rpcError) {
	stages, err := e.scenario.script(session)
	if err != nil {
		return nil, &rpcError{Code: -32602, Message: err.Error()}
	}
	count, prefix := 1, "fixture-"+session+"-"
	before, err := readPosition(e.state, slot)
	switch {
	case err == nil:
		if n, err := strconv.Atoi(strings.TrimPrefix(before.SessionID, prefix)); err == nil {
			count = n + 1
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, &rpcError{Code: -32603, Message: "the position cannot be read: " + err.Error()}
	}
	c := &conversation{session: session, slot: slot, id: prefix + strconv.Itoa(count), stages: stages, captures: bindings{}}
	if e.scenario.sessionID != nil {
		c.id = *e.scenario.sessionID
	}
	e.enterMode(c)
	return c, e.save(c)
}

// reattach continues a conversation from its kept position. One of another scenario,
// session or identity is refused (agents 22.4).
func (e *engine) reattach(session, slot, id string) (*conversation, *rpcError) {
	stages, err := e.scenario.script(session)
	if err != nil {
		return nil, &rpcError{Code: -32602, Message: err.Error()}
	}
	p, err := readPosition(e.state, slot)
	refused := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		refused = "there is no such session"
	case err != nil:
		refused = "the position cannot be read: " + err.Error()
	case p.ScenarioSHA256 != e.scenario.digest:
		refused = "the session was made with another scenario"
	case p.Session != session || p.SessionID != id:
		refused = "there is no such session"
	case p.Stage < 0 || p.Stage > len(stages):
		refused = "the position is not one of the script"
	}
	if refused != "" {
		return nil, &rpcError{Code: -32602, Message: refused}
	}
	c := &conversation{session: session, slot: slot, id: id, stages: stages, consumed: p.Stage, captures: p.Captures}
	if c.captures == nil {
		c.captures = bindings{}
	}
	e.enterMode(c)
	return c, nil
}

func (e *engine) enterMode(c *conversation) {
	if e.scenario.modes != nil {
		c.mode = e.scenario.modes.current
	}
}

func (e *engine) save(c *conversation) *rpcError {
	err := e.state.Save(c.slot, marshal(position{e.scenario.digest, c.session, c.consumed, c.captures, c.id}))
	if err != nil {
		return &rpcError{Code: -32603, Message: "the position cannot be kept: " + err.Error()}
	}
	return nil
}

// A client is what a turn talks to. An error means that it is gone.
type client interface {
	update(u update) error
	// permission asks all requests at once and returns the replies in their order.
	permission(asks []ask) ([]reply, error)
	// request returns the error the client answered, or nil for a result.
	request(method string, params json.RawMessage) (*rpcError, error)
	noise(n noise) error
	ignoreTerm()
}

// A turn is one prompt being answered.
type turn struct {
	ctx       context.Context // ends with the client
	cancelled <-chan struct{}
	engine    *engine
	at        *conversation
	client    client
	number    int  // of the stage, from 1
	deaf      bool // it ignores being cancelled
	expecting bool // it waited to be cancelled, and was
}

// take answers a prompt. The position is kept before the answer is known to anybody.
func (e *engine) take(ctx context.Context, c *conversation, prompt string, cancelled <-chan struct{}, to client) ending {
	if c.left() == 0 {
		actual := cut(prompt)
		e.report.write("exhausted", "session", c.session, "stage", c.consumed, "actual", actual)
		return ending{fail: &rpcError{CodeExhausted, "scenario exhausted", marshal(map[string]any{"stages": c.consumed, "actual": actual})}}
	}
	s := c.stages[c.consumed]
	t := &turn{ctx: ctx, cancelled: cancelled, engine: e, at: c, client: to, number: c.consumed + 1}
	captured, fits := s.match.match(prompt, c.captures)
	if !fits {
		expected, actual := cut(s.match.expectation(c.captures)), cut(prompt)
		t.note("mismatch", "expected", expected, "actual", actual)
		return ending{fail: &rpcError{CodeMismatch, "scenario mismatch at stage " + strconv.Itoa(t.number),
			marshal(map[string]any{"stage": t.number, "expected": expected, "actual": actual})}}
	}
	c.consumed++
	if s.as != "" {
		c.captures[s.as] = captured
		t.note("match", "captures", captured)
	} else {
		t.note("match")
	}
	end := t.steps(s.do)
	if end == nil {
		end = &ending{stop: t.stopReason(s)}
	}
	if end.fault == noFault && end.err == nil {
		if err := e.save(c); err != nil {
			return ending{fail: err}
		}
	}
	return *end
}

func (t *turn) stopReason(s stage) *string {
	reason := "end_turn"
	switch {
	case s.stop != nil:
		return s.stop
	case t.expecting:
		reason = "cancelled"
	}
	return &reason
}

// steps does one step after the other until one ends the turn.
func (t *turn) steps(list []step) *ending {
	for _, s := range list {
		if e := t.interrupted(); e != nil {
			return e
		}
		if e := s.run(t); e != nil {
			return e
		}
	}
	return t.interrupted()
}

// interrupted tells how the turn ends when it was cancelled and listens, or when the
// client is gone.
func (t *turn) interrupted() *ending {
	select {
	case <-t.ctx.Done():
		return &ending{fault: neverAnswers}
	case <-t.interruption():
		reason := "cancelled"
		return &ending{stop: &reason}
	default:
		return nil
	}
}

// interruption is closed when the turn is to end early; it may be nil.
func (t *turn) interruption() <-chan struct{} {
	if t.deaf || t.expecting {
		return nil
	}
	return t.cancelled
}

// interruptible is the context of something that waits.
func (t *turn) interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(t.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-t.interruption():
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel()
		<-done
	}
}

// wait waits for a channel.
func wait[T any](t *turn, c <-chan T) *ending {
	select {
	case <-c:
		return nil
	case <-t.interruption():
	case <-t.ctx.Done():
	}
	return t.interrupted()
}

func (t *turn) update(u update) *ending {
	if e := t.interrupted(); e != nil {
		return e
	}
	if err := t.client.update(u); err != nil {
		return &ending{err: err}
	}
	return nil
}

// note reports something of this turn.
func (t *turn) note(event string, members ...any) {
	t.engine.report.write(event, append([]any{"session", t.at.session, "stage", t.number}, members...)...)
}

// unexpected reports a step that came out otherwise, and ends the turn.
func (t *turn) unexpected(step, expected, actual string) *ending {
	t.note("step", "step", step, "expected", expected, "actual", actual)
	return &ending{fail: &rpcError{Code: CodeExpectation,
		Message: fmt.Sprintf("scenario expectation failed at stage %d: expected of %s %s, got %s", t.number, step, expected, actual)}}
}

// cut shortens a text that is repeated, at the boundary of a character.
func cut(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	end := maxQuoted
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
