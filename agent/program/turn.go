package program

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/executable-markdown/xmd/agent"
)

// A turn is one prompt that may be sent.
type turn struct {
	provider *Provider
	text     string
	options  agent.PromptOptions
}

// errTurnTimeout is the cause of a turn that took longer than its limit.
var errTurnTimeout = errors.New("the limit of the turn")

// Run implements agent.Turn.
func (t *turn) Run(ctx context.Context, sink func(agent.Event) error) (string, error) {
	p := t.provider
	at, err := t.place()
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return "", errClosed
	}
	p.run.Add(1)
	p.mu.Unlock()
	defer p.run.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.ctx, func() { cancel(errClosed) })()
	if err := at.queue.acquire(ctx); err != nil {
		return "", err
	}
	defer at.queue.release()
	if t.options.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, t.options.Timeout, errTurnTimeout)
		defer stop()
	}
	if err := at.materialise(ctx, p); err != nil {
		if context.Cause(ctx) == errTurnTimeout {
			err = t.late(at)
		}
		return "", errors.Join(err, at.hangUp(ctx))
	}
	return at.exchange(ctx, t, sink)
}

// place settles which conversation the turn belongs to.
func (t *turn) place() (*place, error) {
	p := t.provider
	s := t.options.Session.Placed
	if s == nil {
		return p.place(t.options.Agent, t.options.Session.Name, t.options.Cwd)
	}
	at, ok := p.placed(s)
	if !ok {
		return nil, agent.Foreign(s.Key)
	}
	name, command, err := p.resolve(t.options.Agent)
	if err != nil {
		return nil, err
	}
	if command.Digest() != s.Agent {
		return nil, agent.Mismatched(name, s.Key, at.agent)
	}
	return at, nil
}

func (t *turn) late(at *place) error {
	return &agent.Error{Code: agent.ErrPromptTimeout, Agent: at.agent, Session: at.session.Key,
		Message: fmt.Sprintf("agent prompt timed out after %s", t.options.Timeout)}
}

// materialise makes sure that a process serves the conversation (agents 12.3).
func (s *place) materialise(ctx context.Context, p *Provider) error {
	if s.talk != nil {
		select {
		case <-s.talk.peer.conn.Done():
			_ = s.hangUp(ctx) // it is gone; how it went is no matter of this turn
		default:
			return nil
		}
	}
	if s.name != "" && s.record == nil && p.Sessions != nil {
		held, err := p.Sessions.take(s.session.Key, s.command.Digest(), s.session.Cwd, s.name)
		if err != nil {
			return &agent.Error{Code: agent.ErrSessionBusy, Agent: s.agent, Session: s.session.Key, Err: err}
		}
		s.record, s.id = held, held.id
	}
	talk, err := p.connect(ctx, s.command, s.session.Cwd, s.name)
	if err != nil {
		return err
	}
	s.talk = talk
	return talk.open(ctx, s.session.Cwd, s.id, s.command.Timeouts.Session)
}

// exchange sends the message and follows the turn to its end.
func (s *place) exchange(ctx context.Context, t *turn, sink func(agent.Event) error) (string, error) {
	talk := s.talk
	x := newExchange(context.WithoutCancel(ctx), s.session, talk.id, notices(s.command.Adapter), t.options)
	defer x.end()
	talk.peer.begin(x)
	defer talk.peer.begin(nil)
	request, drop := context.WithCancel(context.WithoutCancel(ctx))
	defer drop()
	answered := send[promptResult](request, talk.peer, methodPrompt,
		promptParams{talk.id, []textBlock{{"text", t.text}}})
	f := follower{place: s, sink: sink}
	for {
		select {
		case <-x.updates.ready:
			if err := f.take(x.updates.take()); err != nil {
				s.abandon(ctx, x, answered)
				return f.text.String(), err
			}
		case r := <-answered:
			if err := f.take(x.updates.take()); err != nil {
				return f.text.String(), err
			}
			if r.err != nil && !f.started {
				return "", errors.Join(s.failure(r.err), s.hangUp(ctx))
			}
			return f.finish(s.terminal(ctx, r))
		case <-ctx.Done():
			s.abandon(ctx, x, answered)
			if err := f.take(x.updates.take()); err != nil {
				return f.text.String(), err
			}
			if cause := context.Cause(ctx); cause != errTurnTimeout {
				return f.text.String(), cause
			}
			if !f.started {
				return "", t.late(s)
			}
			return f.finish(agent.Terminal{Status: agent.Failed, Err: t.late(s)})
		}
	}
}

// abandon cancels the turn at the peer: undecided permission requests are answered
// first, then the peer has a grace to end the turn by itself; one that does not is
// ended (agents 12.5).
func (s *place) abandon(ctx context.Context, x *exchange, answered <-chan reply[promptResult]) {
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelGrace)
	defer stop()
	x.end()
	s.talk.peer.cancel(grace, s.talk.id)
	select {
	case r := <-answered:
		if r.err == nil {
			return
		}
	case <-s.talk.peer.conn.Done():
	case <-grace.Done():
	}
	_ = s.hangUp(ctx) // the turn ends with its own reason
}

// terminal is how an answered prompt ended (agents 12.4). A peer that is gone is
// ended for good.
func (s *place) terminal(ctx context.Context, r reply[promptResult]) agent.Terminal {
	if r.err != nil {
		failed := agent.Terminal{Status: agent.Failed, Err: s.failure(r.err)}
		var answered *sdk.RequestError
		if !errors.As(r.err, &answered) {
			_ = s.hangUp(ctx)
		}
		return failed
	}
	switch reason := r.value.StopReason; reason {
	case "", "end_turn":
		return agent.Terminal{Status: agent.Completed, StopReason: "end_turn"}
	case "cancelled":
		return agent.Terminal{Status: agent.Cancelled, StopReason: reason}
	default:
		return agent.Terminal{Status: agent.Failed, StopReason: printable(reason, 200)}
	}
}

func (s *place) failure(err error) error {
	var answered *sdk.RequestError
	switch {
	case errors.As(err, &answered) && answered.Code == codeAuth:
		return s.talk.loginNeeded()
	case errors.As(err, &answered):
		return &agent.Error{Code: agent.ErrStopReason, Agent: s.agent, Session: s.session.Key, Message: rpcText(answered), Err: err}
	}
	return s.talk.gone(err)
}

// A follower hands the events of a turn on, from its acceptance.
type follower struct {
	place   *place
	sink    func(agent.Event) error
	started bool
	text    strings.Builder
}

func (f *follower) take(events []event) error {
	for _, e := range events {
		if err := f.start(); err != nil {
			return err
		}
		if e.text == "" {
			continue
		}
		f.text.WriteString(e.text)
		if err := f.sink(agent.TextDelta{Text: e.text}); err != nil {
			return err
		}
	}
	return nil
}

// start publishes that the prompt was accepted, once: from here on the conversation
// exists, and a named one is kept (agents 12.3).
func (f *follower) start() error {
	if f.started {
		return nil
	}
	s := f.place
	if s.id == "" {
		s.id = s.talk.id
		if err := s.record.accept(s.id); err != nil {
			return fmt.Errorf("the conversation cannot be kept: %w", err)
		}
	}
	f.started = true
	s.session.ID = s.id
	return f.sink(agent.Started{Agent: s.agent, Session: s.session})
}

func (f *follower) finish(end agent.Terminal) (string, error) {
	if err := f.start(); err != nil {
		return f.text.String(), err
	}
	return f.text.String(), f.sink(end)
}

// notices is what marks a chunk of an adapter as no output (agents 16.3).
func notices(adapter string) func(meta []byte) bool {
	if adapter != "claude" && adapter != agent.FixtureAdapter {
		return nil
	}
	return marked
}
