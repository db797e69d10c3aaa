package program

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
	id      string            // the peer's name for the conversation
	notice  func([]byte) bool // whether the _meta of a chunk marks it as no output; may be nil
	policy  agent.Policy

	ctx  context.Context // decisions are taken in it
	stop context.CancelFunc

	updates  *mailbox[event]
	kinds    agent.ToolKinds
	arrivals *agent.Arrivals

	mu      sync.Mutex
	pending []func(*agent.Audit)
	told    func(agent.Audit)
}

// An event is what an update comes to: a sign that the prompt was accepted, and
// output text, which may be empty.
type event struct {
	accepts bool
	text    string
}

func newExchange(ctx context.Context, s *agent.Session, id string, notice func([]byte) bool, o agent.PromptOptions) *exchange {
	x := &exchange{session: s, id: id, notice: notice, policy: o.Policy, updates: newMailbox[event](), told: o.Permission}
	x.arrivals = agent.NewArrivals(x.tell)
	x.ctx, x.stop = context.WithCancel(ctx)
	return x
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
	if kind := u.Update.Kind; (kind == "tool_call" || kind == "tool_call_update") && u.Update.ToolKind != nil {
		x.kinds.Report(u.Update.ToolCallID, *u.Update.ToolKind)
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
