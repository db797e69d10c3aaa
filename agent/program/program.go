// Package program reaches agents that are programs and speak the Agent Client Protocol.
//
// What enters is the name of an agent, a placement and a message; what leaves are the
// events of one turn (package agent). In between stands one process a conversation:
// started in the conversation's directory, spoken to over its standard channels in
// JSON-RPC, and ended with everything it started.
//
//	p := program.New(program.Options{Agents: registry, LookPath: look, Env: env, DefaultAgent: "claude"})
//	defer p.Close(ctx)
//	reply, err := p.Prompt("Name a colour.", agent.PromptOptions{Cwd: dir}).Run(ctx, sink)
//
// The invariant: nothing starts before a turn needs it, and nothing is left when the
// provider is closed. The client side offers an agent no file, no terminal and no MCP
// server, and says so in the message that opens the connection (agents 13).
//
// The room does not know documents, histories or options. The constrained provider of
// planning and of workflows is not part of it yet.
package program

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/executable-markdown/xmd/agent"
)

// Options are what a provider is made of.
type Options struct {
	Agents   *agent.Registry
	LookPath agent.LookPath
	// Env is the environment agents start with, as NAME=value.
	Env          []string
	DefaultAgent string // empty: what BuiltIn finds
	// BuiltIn finds an agent when nobody named one; it is asked once, where one is
	// needed, and returns an empty name when there is none. Nil: there is none.
	BuiltIn func() string
	Version string // of this program, told to agents
	// Sessions keeps named conversations between runs. Nil: each ends with its run.
	Sessions *Store
	// Stderr gets what agents write to their standard error. Nil: it is only kept for
	// diagnostics.
	Stderr io.Writer
	// Secrets are values that no diagnostic shows, and Homes directories it shortens.
	Secrets, Homes []string
}

// The bounds of agents 12.5 that no agent has to say.
const (
	cancelGrace = 5 * time.Second
	closeGrace  = 2 * time.Second
)

// A Provider is an agent.Provider for ordinary documents: agents start where the
// document works and may do what the invoking person may, and what they ask permission
// for is answered by the policy of the turn. It is safe for concurrent use.
type Provider struct {
	Options

	ctx context.Context // ends with Close
	end context.CancelCauseFunc
	run sync.WaitGroup // turns under way

	mu        sync.Mutex
	closed    bool
	commands  map[string]agent.Command // resolved
	available map[string]bool
	places    map[string]*place
}

var errClosed = errors.New("the agent provider was closed")

// New returns a provider. It starts nothing.
func New(o Options) *Provider {
	p := &Provider{Options: o, commands: make(map[string]agent.Command), available: make(map[string]bool), places: make(map[string]*place)}
	p.ctx, p.end = context.WithCancelCause(context.Background())
	return p
}

// Agent implements agent.Provider. An agent is available when its program starts and
// answers the first message; that is remembered, a failure is not (agents 10.1).
func (p *Provider) Agent(ctx context.Context, name string) (string, error) {
	name, _, err := p.command(ctx, name)
	return name, err
}

func (p *Provider) command(ctx context.Context, name string) (string, agent.Command, error) {
	name, command, err := p.resolve(name)
	if err != nil {
		return "", command, err
	}
	p.mu.Lock()
	known := p.available[name]
	p.mu.Unlock()
	if known {
		return name, command, nil
	}
	c, err := p.connect(ctx, command, "", "")
	if err != nil {
		return "", command, err
	}
	if err := c.end(ctx); err != nil {
		return "", command, err
	}
	p.mu.Lock()
	p.available[name] = true
	p.mu.Unlock()
	return name, command, nil
}

// resolve finds the program of an agent. It starts nothing.
func (p *Provider) resolve(name string) (string, agent.Command, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return "", agent.Command{}, errClosed
	}
	if name == "" && p.DefaultAgent == "" && p.BuiltIn != nil {
		p.DefaultAgent, p.BuiltIn = p.BuiltIn(), nil
	}
	if name == "" {
		name = p.DefaultAgent
	}
	if name == "" {
		return "", agent.Command{}, &agent.Error{Code: agent.ErrNoDefaultAgent}
	}
	command, known := p.commands[name]
	if !known {
		var err error
		if command, err = p.Agents.Resolve(name, p.LookPath); err != nil {
			return "", command, err
		}
		p.commands[name] = command
	}
	return name, command, nil
}

// Session implements agent.Provider. It starts nothing.
func (p *Provider) Session(_ context.Context, at agent.Placement) (*agent.Session, error) {
	s, err := p.place(at.Agent, at.Name, at.Cwd)
	if err != nil {
		return nil, err
	}
	return s.session, nil
}

// Prompt implements agent.Provider.
func (p *Provider) Prompt(text string, o agent.PromptOptions) agent.Turn {
	return &turn{provider: p, text: text, options: o}
}

// Close implements agent.Provider: turns are cancelled and awaited, then every process
// is ended, and each failure of that is returned.
func (p *Provider) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.end(errClosed)
	p.run.Wait()
	p.mu.Lock()
	places := p.places
	p.places = nil
	p.mu.Unlock()
	var failures []error
	var mu sync.Mutex
	var ended sync.WaitGroup
	for _, s := range places {
		ended.Go(func() {
			if err := s.release(ctx); err != nil {
				mu.Lock()
				failures = append(failures, err)
				mu.Unlock()
			}
		})
	}
	ended.Wait()
	if len(failures) == 1 {
		return failures[0]
	}
	return errors.Join(failures...)
}
