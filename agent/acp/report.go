package acp

import (
	"slices"
	"strconv"

	"github.com/executable-markdown/xmd/agent"
)

// How a clause of the ceiling is kept.
const (
	Enforced   = "enforced"
	BestEffort = "best-effort"
	Detected   = "detection" // seen afterwards, not prevented
	Absent     = "absent"
)

// A Clause is one clause of the ceiling, C1 to C12, and how it is kept here.
type Clause struct{ ID, Class string }

// A Report says what was installed for one agent (agents 15.5), from the values it
// was installed with.
type Report struct {
	Agent          string
	CommandDigest  string
	Profile        string // adapter profile; empty: none
	AdapterName    string // as the adapter says; empty before a session
	AdapterVersion string
	VersionKnown   bool   // the profile was measured with that version
	Directory      string // "disposable" or "named"
	Capabilities   []string
	MCPServers     int
	Tools          []string
	Mode           string // the mode the session is in; empty: the adapter has none
	Containment    int
	ABI            int
	Environment    []string // names
	Clauses        []Clause
}

func (g *ceiling) report(c agent.Command, p Profile, l Launch) {
	level, abi := g.contain.Level()
	tools, kernel := BestEffort, Absent
	if level > 0 {
		kernel = Enforced
	}
	directory := "disposable"
	if g.directory.keep {
		directory = "named"
	}
	r := Report{
		Agent: c.Agent, CommandDigest: c.Digest(), Profile: p.Name, Directory: directory, Capabilities: []string{}, Tools: []string{},
		Containment: level, ABI: abi, Environment: names(l.Env),
	}
	for i, class := range []string{Enforced, Enforced, Enforced, Enforced, tools, BestEffort, Enforced, Detected, Enforced, kernel, BestEffort, Enforced} {
		r.Clauses = append(r.Clauses, Clause{"C" + strconv.Itoa(i+1), class})
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.reports[c.Agent]; !known {
		g.reports[c.Agent] = r
	}
}

// established adds what a session showed.
func (g *ceiling) established(v *conversation, opened sessionResult) {
	info := v.link.info.AgentInfo
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.reports[v.agent]
	r.AdapterName, r.AdapterVersion = printable(info.Name, 100), printable(info.Version, 100)
	r.VersionKnown = slices.Contains(v.profile.Known, info.Version)
	r.Environment = names(v.link.launch.Env)
	if current, _ := opened.mode(); current != "" {
		r.Mode = v.profile.Mode
		if r.Mode == "" {
			r.Mode = printable(current, 100)
		}
	}
	g.reports[v.agent] = r
}
