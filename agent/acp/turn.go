package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/agent"
)

// A turn is a prompt nobody took yet; every Run takes it anew.
type turn struct {
	core    *core
	text    string
	options agent.PromptOptions
}

// Run takes the turn; see [agent.Turn].
func (t turn) Run(ctx context.Context, sink func(agent.Event) error) (string, error) {
	if s := t.options.Session.Placed; s != nil && s.Owner != t.core {
		return "", agent.Foreign(s.Key)
	}
	inner, leave, err := t.core.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	command, err := t.core.available(inner, t.options.Agent)
	if err != nil {
		return "", err
	}
	var v *conversation
	if s := t.options.Session.Placed; s != nil {
		v, err = t.core.placed(s, command)
	} else {
		v, err = t.core.conversation(command, t.options.Session.Name, t.options.Cwd)
	}
	if err != nil {
		return "", err
	}
	if err := v.slot.acquire(inner); err != nil {
		return "", err
	}
	defer v.slot.release()
	if err := v.attach(inner); err != nil {
		return "", err
	}
	return (&delivery{conversation: v, sink: sink}).run(inner, t.text, t.options)
}

// A delivery is the progress of one turn at an attached conversation.
type delivery struct {
	*conversation
	sink    func(agent.Event) error
	text    strings.Builder
	begun   bool  // Started was told
	stopped error // why the host ended the turn; nil: it did not
	silent  bool  // nobody listens any longer: no event may be told
}

func (d *delivery) run(ctx context.Context, text string, o agent.PromptOptions) (string, error) {
	x := newExchange(ctx, d.conversation, o)
	defer x.end()
	d.link.begin(x)
	defer d.link.begin(nil)

	asking, forget := context.WithCancel(context.WithoutCancel(ctx))
	defer forget()
	answered := send[promptResult](asking, d.link.peer, methodPrompt, promptParams{d.id, []textBlock{{"text", text}}})
	if d.accepted {
		d.begin()
	}

	var expired <-chan time.Time
	if o.Timeout > 0 {
		t := time.NewTimer(o.Timeout)
		defer t.Stop()
		expired = t.C
	}
	var grace <-chan struct{}
	endGrace := func() {}
	condemned, over, rush := x.condemned, ctx.Done(), d.core.rush.Done()
	stop := func(why error, silent bool) {
		if d.stopped != nil {
			return
		}
		d.stopped, d.silent = why, silent
		rush = d.core.rush.Done() // it may have been heard before there was anything to end
		x.stop()
		cancelling, end := context.WithTimeout(asking, d.core.limits.Cancel)
		grace, endGrace = cancelling.Done(), end
		go d.link.cancel(cancelling, d.id)
	}

	var r reply[promptResult]
	unanswered := false
	for waiting := true; waiting; {
		select {
		case <-x.updates.ready:
			d.deliver(x.updates.take(), stop)
		case <-condemned:
			condemned = nil
			stop(x.verdict(), false)
		case <-expired:
			stop(&agent.Error{Code: agent.ErrPromptTimeout, Agent: d.agent, Session: d.session.Key,
				Message: fmt.Sprintf("agent prompt timed out after %s", o.Timeout)}, false)
		case <-over:
			over = nil
			stop(context.Cause(ctx), true)
		case r = <-answered:
			waiting = false
		case <-grace:
			waiting, unanswered = false, true
		case <-rush:
			rush = nil
			if d.stopped != nil {
				waiting, unanswered = false, true
			}
		}
	}
	endGrace()
	d.deliver(x.updates.take(), stop)
	if breach := x.verdict(); breach != nil && d.stopped == nil {
		d.stopped = breach
	}
	x.end()
	return d.finish(r, unanswered, forget)
}

// begin tells that the turn runs in a conversation that exists.
func (d *delivery) begin() {
	d.begun = true
	if !d.silent {
		if err := d.sink(agent.Started{Agent: d.agent, Session: d.session}); err != nil {
			d.stopped, d.silent = err, true
		}
	}
}

// deliver tells what the peer said. Until the prompt is accepted there is nobody to
// tell; acceptance comes with the first thing that is said.
func (d *delivery) deliver(events []event, stop func(error, bool)) {
	for _, e := range events {
		if !d.accepted {
			if err := d.accept(); err != nil {
				stop(err, true)
				return
			}
		}
		if !d.begun {
			d.begin()
		}
		if e.text == "" || d.stopped != nil {
			continue
		}
		d.text.WriteString(e.text)
		if err := d.sink(agent.TextDelta{Text: e.text}); err != nil {
			stop(err, true)
		}
	}
}

// finish ends the turn with what came of the prompt. A decision of the host outranks
// what the peer reports.
func (d *delivery) finish(r reply[promptResult], unanswered bool, forget func()) (string, error) {
	lost := r.err != nil && (errors.Is(r.err, errGone) || errors.Is(r.err, errLineTooLong))
	failure := d.link.failed(r.err, d.session.Key, agent.ErrStopReason)
	if r.err == nil && !unanswered && !d.accepted {
		if err := d.accept(); err != nil {
			failure = err
		}
	}
	if d.stopped != nil {
		failure = d.stopped
	}
	var teardown error
	if unanswered {
		forget() // the library tells the peer that nobody waits for the answer
	}
	if !d.accepted {
		return "", single(errors.Join(failure, d.abandon()))
	}
	if unanswered || lost {
		teardown = d.detach()
	}
	if d.core.ceiling != nil && d.stopped == nil {
		if err := d.core.ceiling.directory.interference(); err != nil {
			failure = err
		}
	}
	if !d.begun {
		d.begin()
		if d.silent {
			failure = d.stopped
		}
	}
	if d.silent {
		return d.text.String(), single(errors.Join(failure, teardown))
	}
	end := agent.Terminal{Status: agent.Completed, StopReason: r.value.StopReason, Err: single(errors.Join(failure, teardown))}
	if r.err == nil && !unanswered && end.StopReason == "" {
		end.StopReason = "end_turn"
	}
	switch {
	case end.Err != nil:
		end.Status = agent.Failed
	case end.StopReason == "cancelled":
		end.Status = agent.Cancelled
	case end.StopReason != "end_turn":
		end.Status = agent.Failed
		end.StopReason = printable(end.StopReason, 100)
		end.Err = &agent.Error{Code: agent.ErrStopReason, Agent: d.agent, Session: d.session.Key,
			Message: fmt.Sprintf("agent prompt failed with stop reason %q", end.StopReason)}
	}
	return d.text.String(), d.sink(end)
}
