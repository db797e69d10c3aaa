package acp

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/executable-markdown/xmd/agent"
)

// An exchange is one prompt at a peer, from the moment it is sent to its end: what
// the peer says and asks meanwhile belongs to it.
type exchange struct {
	session *agent.Session
	id      string // the peer's name for the conversation
	agent   string
	strict  bool              // held to the ceiling
	pinned  string            // the mode it must stay in; empty: any
	notice  func([]byte) bool // whether the _meta of a chunk marks it as no output; may be nil
	policy  agent.Policy

	ctx  context.Context // decisions are taken in it
	stop context.CancelFunc

	updates  *mailbox[event]
	kinds    agent.ToolKinds
	arrivals *agent.Arrivals

	condemned chan struct{} // closed with the first breach of the ceiling

	mu      sync.Mutex
	breach  agent.Code
	pending []func(*agent.Audit)
	told    func(agent.Audit)
}

// An event is what an update comes to: a sign that the prompt was accepted, and
// output text, which may be empty.
type event struct {
	accepts bool
	text    string
}

func newExchange(ctx context.Context, v *conversation, o agent.PromptOptions) *exchange {
	x := &exchange{
		session: v.session, id: v.id, agent: v.agent, notice: v.profile.Notice, policy: o.Policy,
		updates: newMailbox[event](), condemned: make(chan struct{}), told: o.Permission,
	}
	if v.core.ceiling != nil {
		x.strict, x.pinned = true, v.profile.Mode
	}
	x.arrivals = agent.NewArrivals(x.tell)
	x.ctx, x.stop = context.WithCancel(ctx)
	return x
}

// condemn makes the exchange fail with a breach; the first one counts.
func (x *exchange) condemn(breach agent.Code) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.breach == "" {
		x.breach = breach
		close(x.condemned)
	}
}

// verdict is the breach as an error; nil when there was none.
func (x *exchange) verdict() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.breach == "" {
		return nil
	}
	return &agent.Error{Code: x.breach, Agent: x.agent, Session: x.session.Key}
}

// tell hands an audit on while the exchange lasts.
func (x *exchange) tell(a agent.Audit) {
	x.mu.Lock()
	told := x.told
	x.mu.Unlock()
	if told != nil {
		told(a)
	}
}

// end gives up every undecided request. Nothing is told afterwards.
func (x *exchange) end() {
	x.stop()
	x.mu.Lock()
	pending := x.pending
	x.pending = nil
	x.mu.Unlock()
	for _, settle := range pending {
		settle(nil)
	}
	x.mu.Lock()
	x.told = nil
	x.mu.Unlock()
}

// update takes one session/update. An unknown one is ignored.
func (x *exchange) update(params json.RawMessage) {
	var u sessionUpdate
	if json.Unmarshal(params, &u) != nil || u.SessionID != x.id {
		return
	}
	switch u.Update.Kind {
	case "tool_call", "tool_call_update":
		if u.Update.ToolKind != nil {
			x.kinds.Report(u.Update.ToolCallID, *u.Update.ToolKind)
		}
		if x.strict && (u.Update.Status == "in_progress" || u.Update.Status == "completed") {
			x.condemn(agent.ErrToolActivity)
		}
	case "current_mode_update":
		if x.pinned != "" && u.Update.Mode != x.pinned {
			x.condemn(agent.ErrModeChanged)
		}
	}
	e := event{accepts: u.accepts()}
	if text, ok := u.text(); ok && (x.notice == nil || !x.notice(u.Update.Meta)) {
		e.text = text
	}
	if e.accepts {
		x.updates.put(e)
	}
}

// permission takes a permission request and returns what decides it. The two are
// apart so that requests take their places in the order they arrive.
func (x *exchange) permission(params json.RawMessage) func(context.Context) agent.PermissionOutcome {
	session, r, ok := request(params)
	r.Session = x.session
	r.Tool = x.kinds.Complete(r.Tool)
	if x.strict {
		x.condemn(agent.ErrToolPermissionRefused)
		outcome := agent.Deny(r)
		if ok {
			audit := agent.NewAudit(r, outcome, true)
			x.arrivals.Arrive()(&audit)
		}
		return func(context.Context) agent.PermissionOutcome { return outcome }
	}
	if !ok || session != x.id || x.ctx.Err() != nil {
		return func(context.Context) agent.PermissionOutcome { return agent.PermissionOutcome{} }
	}
	settle := x.arrivals.Arrive()
	x.mu.Lock()
	x.pending = append(x.pending, settle)
	x.mu.Unlock()
	return func(ctx context.Context) agent.PermissionOutcome { return x.decide(ctx, r, settle) }
}

// decide asks the policy of the turn. The end of the turn, or of the request, is
// answered at once, whatever the policy does.
func (x *exchange) decide(ctx context.Context, r agent.PermissionRequest, settle func(*agent.Audit)) agent.PermissionOutcome {
	decided := make(chan agent.PermissionOutcome, 1)
	go func() {
		defer close(decided)
		if outcome, err := agent.Settle(x.ctx, x.policy, r); err == nil {
			decided <- outcome
		}
	}()
	select {
	case outcome, ok := <-decided:
		if ok {
			audit := agent.NewAudit(r, outcome, false)
			settle(&audit)
			return outcome
		}
	case <-x.ctx.Done():
	case <-ctx.Done():
	}
	settle(nil)
	return agent.PermissionOutcome{}
}
