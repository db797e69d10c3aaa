package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/executable-markdown/xmd/agent"
)

// maxClientLine is the size in bytes of the longest line the real client reads.
const maxClientLine = 10 << 20

// A prompted turn is cold: it is a description until it runs.
type promptedTurn struct {
	provider *Provider
	text     string
	options  agent.PromptOptions
}

// Prompt implements agent.Provider.
func (p *Provider) Prompt(text string, o agent.PromptOptions) agent.Turn {
	return &promptedTurn{p, text, o}
}

// Run implements agent.Turn.
func (t *promptedTurn) Run(ctx context.Context, sink func(agent.Event) error) (string, error) {
	p := t.provider
	if err := p.enter(); err != nil {
		return "", err
	}
	defer p.turns.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.ctx, func() { cancel(context.Cause(p.ctx)) })()

	name, err := p.Agent(ctx, t.options.Agent)
	if err != nil {
		return "", err
	}
	var l *place
	if s := t.options.Session.Placed; s != nil {
		l, err = p.placed(s, name)
	} else {
		l, err = p.place(name, t.options.Cwd, t.options.Session.Name)
	}
	if err != nil {
		return "", err
	}
	if err := p.acquire(ctx, l); err != nil {
		return "", err
	}
	defer l.release()
	if err := p.materialise(ctx, l); err != nil {
		return "", err
	}
	x := &exchange{provider: p, place: l, options: t.options, sink: sink}
	return x.take(ctx, t.text)
}

// enter counts a turn in, unless the provider is closed.
func (p *Provider) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	p.turns.Add(1)
	return nil
}

// An exchange is a turn as its client sees it.
type exchange struct {
	provider *Provider
	place    *place
	options  agent.PromptOptions
	sink     func(agent.Event) error

	ctx     context.Context // ends with the turn: cancelled, timed out or over
	cancel  context.CancelFunc
	kinds   agent.ToolKinds
	started bool  // Started was published
	broken  error // of the sink; nothing is published any more
	text    strings.Builder
}

// take runs the turn in a conversation that exists and publishes what it says.
func (x *exchange) take(outside context.Context, prompt string) (string, error) {
	p, l := x.provider, x.place
	ctx, stop := outside, context.CancelFunc(func() {})
	if d := x.options.Timeout; d > 0 {
		ctx, stop = context.WithTimeoutCause(outside, d, &agent.Error{
			Code: agent.ErrPromptTimeout, Agent: l.agent, Session: l.session.Key, Message: fmt.Sprintf("agent prompt timed out after %v", d)})
	}
	defer stop()
	x.ctx, x.cancel = context.WithCancel(ctx)
	defer x.cancel()
	// The peer outlives a cancellation by the grace it has to answer it.
	peer, gone := context.WithCancel(context.Background())
	defer gone()
	told := make(chan struct{})
	calm := context.AfterFunc(x.ctx, func() {
		p.engine.report.write("cancel")
		close(told)
		grace := time.NewTimer(p.grace)
		defer grace.Stop()
		select {
		case <-grace.C:
			gone()
		case <-peer.Done():
		}
	})
	p.engine.report.write("prompt", "session", l.name)
	if l.established {
		x.start()
	}
	l.last = l.talk
	end := p.engine.take(peer, l.talk, prompt, x.ctx.Done(), x)
	if !calm() {
		<-told
	}
	return x.finish(outside, ctx, end)
}

// finish settles what becomes of the session, and how the turn is told to have ended:
// the end of the caller's context first, then the time, then the peer.
func (x *exchange) finish(outside, timed context.Context, end ending) (string, error) {
	l := x.place
	terminal := x.terminal(end)
	answered := end.err == nil && end.fault == noFault
	if answered && end.fail == nil && !x.started {
		x.start()
	}
	if !answered || !x.started { // the peer is no more, or nothing was established
		l.talk = nil
	}
	if !x.started {
		l.session.ID = ""
	}
	switch {
	case outside.Err() != nil:
		return x.text.String(), context.Cause(outside)
	case x.broken != nil:
		return x.text.String(), x.broken
	case timed.Err() != nil:
		terminal = agent.Terminal{Status: agent.Failed, Err: context.Cause(timed)}
	}
	if !x.started {
		return "", terminal.Err
	}
	return x.text.String(), x.sink(terminal)
}

// terminal says how the peer ended the turn.
func (x *exchange) terminal(end ending) agent.Terminal {
	failed := agent.Terminal{Status: agent.Failed}
	switch l := x.place; {
	case end.err != nil:
		failed.Err = end.err
	case end.fault != noFault:
		failed.Err = l.error(agent.ErrPeerGone, "")
	case end.fail != nil:
		failed.Err = l.failed(end.fail)
	case *end.stop == "", *end.stop == "end_turn":
		return agent.Terminal{Status: agent.Completed, StopReason: "end_turn"}
	case *end.stop == "cancelled":
		return agent.Terminal{Status: agent.Cancelled, StopReason: "cancelled"}
	default:
		failed.StopReason = *end.stop
	}
	return failed
}

// start publishes that the conversation exists.
func (x *exchange) start() {
	l := x.place
	x.started = true
	if !l.established {
		l.established = true
		if err := x.provider.accept(l); err != nil {
			x.stop(err)
			return
		}
	}
	x.publish(agent.Started{Agent: l.agent, Session: l.session})
}

// publish gives an event to the sink. Its failure cancels the turn.
func (x *exchange) publish(e agent.Event) {
	if x.broken != nil {
		return
	}
	if err := x.sink(e); err != nil {
		x.stop(err)
		return
	}
	if d, is := e.(agent.TextDelta); is {
		x.text.WriteString(d.Text)
	}
}

func (x *exchange) stop(err error) {
	x.broken = err
	x.cancel()
}

// update implements client.
func (x *exchange) update(u update) error {
	switch u.Kind {
	case toolCallNew, toolCallNext:
		x.kinds.Report(u.ToolCallID, u.ToolKind)
	case modeUpdate, usageUpdate:
		return nil // they accept nothing
	}
	if !x.started {
		x.start()
	}
	if u.Kind == messageChunk && u.Meta == nil && u.Content != nil && u.Content.Type == "text" && u.Content.Text != "" {
		x.publish(agent.TextDelta{Text: u.Content.Text})
	}
	return nil
}

// permission implements client. Decisions are told in the order the requests arrived;
// the end of the turn answers what is undecided.
func (x *exchange) permission(asks []ask) ([]reply, error) {
	arrivals := agent.NewArrivals(func(a agent.Audit) {
		if x.options.Permission != nil {
			x.options.Permission(a)
		}
	})
	replies := make([]reply, len(asks))
	var all sync.WaitGroup
	for i, a := range asks {
		r := agent.PermissionRequest{
			Session: x.place.session,
			Tool:    x.kinds.Complete(agent.ToolCall{ID: a.call.ToolCallID, Title: a.call.Title, Kind: a.call.ToolKind, RawInput: a.call.RawInput}),
		}
		for _, o := range a.options {
			r.Options = append(r.Options, agent.PermissionOption{ID: o.ID, Name: o.Name, Kind: agent.OptionKind(o.Kind)})
		}
		settle := arrivals.Arrive()
		all.Go(func() { replies[i] = x.decide(r, settle) })
	}
	all.Wait()
	return replies, nil
}

func (x *exchange) decide(r agent.PermissionRequest, settle func(*agent.Audit)) reply {
	decided := make(chan agent.PermissionOutcome, 1)
	go func() {
		defer close(decided)
		if outcome, err := agent.Settle(x.ctx, x.options.Policy, r); err == nil {
			decided <- outcome
		}
	}()
	select {
	case outcome, ok := <-decided:
		if ok {
			audit := agent.NewAudit(r, outcome, false)
			settle(&audit)
			return reply{option: outcome.OptionID}
		}
	case <-x.ctx.Done():
	}
	settle(nil)
	return reply{}
}

// request implements client: there is no method a client answers.
func (x *exchange) request(string, json.RawMessage) (*rpcError, error) {
	return &rpcError{Code: -32601, Message: "method not found"}, nil
}

// noise implements client.
func (x *exchange) noise(n noise) error {
	var line struct {
		Method string
		Params sessionUpdate
	}
	switch {
	case n.kind == bigLine && n.bytes > maxClientLine:
		return x.place.error(agent.ErrProtocol, "")
	case n.kind == rawLine && json.Unmarshal([]byte(n.text), &line) == nil &&
		line.Method == "session/update" && line.Params.SessionID == x.place.talk.id:
		return x.update(line.Params.Update)
	}
	return nil
}

// ignoreTerm implements client; there is no process to end.
func (x *exchange) ignoreTerm() {}
