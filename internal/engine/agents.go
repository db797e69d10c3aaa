package engine

import (
	"slices"
	"strings"
	"sync"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/internal/journal"
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
	counted  bool // the history was asked for its highest sequence
	sequence int
	failed   []*agent.PromptError
}

// NumberPrompt gives the next prompt of a place its ordinal there and its sequence in
// the run, both from 0. The ordinal counts within one coroutine, whose prompts have an
// order, and is the same on replay. The sequence goes on where the history ends; a
// prompt the history answers has one already (agents 5.1).
func (c *Call) NumberPrompt(place string) (ordinal, sequence int) {
	s := c.scope.strand
	if s.prompts == nil {
		s.prompts = make(map[string]int)
	}
	ordinal = s.prompts[place]
	s.prompts[place]++
	if s.co.Replaying() {
		return ordinal, 0
	}
	p := &c.run.prompts
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.counted {
		p.counted, p.sequence = true, nextSequence(c.run.Journal.Events())
	}
	sequence = p.sequence
	p.sequence++
	return ordinal, sequence
}

// nextSequence is the first sequence no recorded prompt has.
func nextSequence(events []journal.Event) int {
	next := 0
	for _, e := range events {
		if record := promptRecord(e); record != nil {
			next = max(next, record.Sequence+1)
		}
	}
	return next
}

// promptRecord is what a recorded event says of a prompt, or nil.
func promptRecord(e journal.Event) *agent.Record {
	if typ, _ := e.Description.String("type"); typ != "agent_prompt" {
		return nil
	}
	record, err := agent.ParseRecord(e.Result.Value)
	if err != nil {
		return nil
	}
	return record
}

// resume does for a coroutine whose end was taken from the history what its effects
// do beside their values: what its commands had shown is shown, and its prompts that
// failed and did not stop it are collected.
func (r *run) resume(co *journal.Coroutine) error {
	for _, e := range co.History() {
		if err := r.reshow(e); err != nil {
			return err
		}
		if record := promptRecord(e); record != nil && !record.Raised {
			name, _ := e.Description.String("name")
			place := strings.TrimPrefix(name[:strings.LastIndexByte(name, '#')+1], "prompt:")
			if failed := record.PromptError(strings.TrimSuffix(place, "#"), nil); failed != nil {
				r.prompts.collect(failed)
			}
		}
	}
	return nil
}

// CollectPrompt keeps a prompt that failed while the document goes on: a run that
// otherwise succeeds ends with it (agents 4.5).
func (c *Call) CollectPrompt(e *agent.PromptError) { c.run.prompts.collect(e) }

func (p *prompts) collect(e *agent.PromptError) {
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
