package plan

import (
	"context"
	"sync"

	"github.com/executable-markdown/xmd/agent"
)

// A held provider is the provider of a runtime that is established when something
// live first asks for an agent: a history that answers everything starts nothing.
// Conversations placed before are placed then, so that a refusal is one of the
// ceiling and not of a turn (agents 6).
type held struct {
	establish func(context.Context) (Runtime, error)

	mu      sync.Mutex
	runtime *Runtime // nil: not established
	owed    []debt
	placed  map[*agent.Session]*agent.Session // by what was handed out
}

// A debt is a conversation that was placed while nothing was live.
type debt struct {
	session   *agent.Session
	placement agent.Placement
}

// provider establishes the runtime, or returns the one there is.
func (h *held) provider(ctx context.Context) (agent.Provider, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.runtime == nil {
		runtime, err := h.establish(ctx)
		if err != nil {
			return nil, err
		}
		h.runtime = &runtime
	}
	for len(h.owed) > 0 {
		if err := h.pay(ctx, h.owed[0]); err != nil {
			return nil, err
		}
		h.owed = h.owed[1:]
	}
	return h.runtime.Provider, nil
}

func (h *held) pay(ctx context.Context, d debt) error {
	name, err := h.runtime.Provider.Agent(ctx, d.placement.Agent)
	if err != nil {
		return err
	}
	d.placement.Agent = name
	session, err := h.runtime.Provider.Session(ctx, d.placement)
	if err != nil {
		return err
	}
	if h.placed == nil {
		h.placed = make(map[*agent.Session]*agent.Session)
	}
	h.placed[d.session] = session
	return nil
}

// Agent implements agent.Provider.
func (h *held) Agent(ctx context.Context, name string) (string, error) {
	p, err := h.provider(ctx)
	if err != nil {
		return "", err
	}
	return p.Agent(ctx, name)
}

// Session implements agent.Provider.
func (h *held) Session(ctx context.Context, p agent.Placement) (*agent.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.runtime != nil {
		return h.runtime.Provider.Session(ctx, p)
	}
	session := &agent.Session{Owner: h}
	h.owed = append(h.owed, debt{session, p})
	return session, nil
}

// Prompt implements agent.Provider.
func (h *held) Prompt(text string, o agent.PromptOptions) agent.Turn { return heldTurn{h, text, o} }

type heldTurn struct {
	held    *held
	text    string
	options agent.PromptOptions
}

// Run implements agent.Turn.
func (t heldTurn) Run(ctx context.Context, sink func(agent.Event) error) (string, error) {
	p, err := t.held.provider(ctx)
	if err != nil {
		return "", err
	}
	t.held.mu.Lock()
	if session := t.held.placed[t.options.Session.Placed]; session != nil {
		t.options.Session.Placed = session
	}
	t.held.mu.Unlock()
	return p.Prompt(t.text, t.options).Run(ctx, sink)
}

// Close implements agent.Provider: it ends the runtime and gives its directory back.
func (h *held) Close(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.runtime == nil {
		return nil
	}
	return h.runtime.Close(ctx)
}
