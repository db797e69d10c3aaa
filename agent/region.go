package agent

import "time"

// A Region is what the elements of one part of a document work with (agents 3.3). It
// is a value: an element changes a copy and hands it to its content, so leaving the
// content restores what was before. The zero Region has no provider and denies every
// permission request.
type Region struct {
	Provider      Provider // nil: none is installed
	DefaultAgent  string   // empty: none is settled
	PinnedAgent   string   // of the enclosing Agent element; empty: none
	PinnedSession *Session // of the enclosing Session element; nil: none
	Timeout       time.Duration
	Mode          Mode  // what the invocation granted
	Policy        Mode  // of the innermost element that states one; empty: none
	Asker         Asker // who is asked; nil: nobody can be
	FailPrompts   bool  // a failed prompt stops the document
}

// Installed returns the provider, or ErrNoProvider when there is none.
func (r Region) Installed() (Provider, error) {
	if r.Provider == nil {
		return nil, &Error{Code: ErrNoProvider}
	}
	return r.Provider, nil
}

// Provided is the region inside a provider's element: its provider and default agent,
// and no agent or session of another one (agents 4.1). What decides permissions and
// what a failed prompt does stay as they are outside.
func (r Region) Provided(p Provider, defaultAgent string, timeout time.Duration) Region {
	r.Provider, r.DefaultAgent, r.Timeout = p, defaultAgent, timeout
	r.PinnedAgent, r.PinnedSession = "", nil
	return r
}

// AgentName is the agent an element works with: the one it names, else the pinned
// one, else the default. It is empty when nothing names any.
func (r Region) AgentName(named string) string {
	switch {
	case named != "":
		return named
	case r.PinnedAgent != "":
		return r.PinnedAgent
	}
	return r.DefaultAgent
}

// Answers returns the policy of the region.
func (r Region) Answers() Policy { return Answers(r.Mode, r.Policy, r.Asker) }
