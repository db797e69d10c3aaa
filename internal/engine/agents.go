package engine

import (
	"slices"
	"sync"

	"github.com/executable-markdown/xmd/agent"
)

// An AgentProvider makes the provider a document names, for the content of one
// element. The caller closes it.
type AgentProvider func(defaultAgent string, mode agent.Mode) (agent.Provider, error)

// Region is what agent elements work with here.
func (c *Call) Region() agent.Region { return c.scope.region }

// InRegion makes r what agent elements of the content work with.
func InRegion(r agent.Region) Setting { return func(sc *scope) { sc.region = r } }

// AgentProvider returns the maker of the providers a document may name so.
func (c *Call) AgentProvider(name string) (AgentProvider, bool) {
	p, ok := c.run.AgentProviders[name]
	return p, ok
}

// Replaying reports whether the next effect is answered by the history.
func (c *Call) Replaying() bool { return c.scope.strand.co.Replaying() }

// prompts numbers the prompts of a run and keeps those that failed without stopping
// it. It is safe for concurrent use.
type prompts struct {
	mu       sync.Mutex
	ordinals map[string]int // how many prompts a place has had
	sequence int
	failed   []*agent.PromptError
}

// NumberPrompt gives the next prompt of a place its ordinal there and its sequence in
// the run, both from 0. A replay gives the same ones (agents 5.1).
func (c *Call) NumberPrompt(place string) (ordinal, sequence int) {
	p := &c.run.prompts
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ordinals == nil {
		p.ordinals = make(map[string]int)
	}
	ordinal, sequence = p.ordinals[place], p.sequence
	p.ordinals[place]++
	p.sequence++
	return ordinal, sequence
}

// CollectPrompt keeps a prompt that failed while the document goes on: a run that
// otherwise succeeds ends with it (agents 4.5).
func (c *Call) CollectPrompt(e *agent.PromptError) {
	p := &c.run.prompts
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = append(p.failed, e)
}

// failure joins what was collected; nil when nothing was.
func (p *prompts) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return agent.JoinPrompts(slices.Clone(p.failed))
}
