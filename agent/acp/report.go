package acp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/agent"
)

// How a clause of the ceiling is kept.
const (
	Enforced   = "enforced"
	BestEffort = "best-effort"
	Detected   = "detection" // seen afterwards, not prevented
	Absent     = "absent"
)

// A Clause is one clause of the ceiling, C1 to C12, how it is kept here, and what that
// means for this agent, as a sentence for a reviewer.
type Clause struct{ ID, Class, Text string }

// A Report says what was installed for one agent (agents 15.5), from the values it
// was installed with.
type Report struct {
	Agent          string
	CommandDigest  string
	Profile        string // adapter profile; empty: none
	Verified       bool   // the profile is measured to leave the model no tool
	AdapterName    string // as the adapter says; empty before it was asked
	AdapterVersion string
	Measured       []string // versions the profile was measured with
	VersionKnown   bool     // the profile was measured with that version
	Directory      string   // "disposable" or "named"
	Capabilities   []string
	MCPServers     int
	Tools          []string
	Mode           string // the mode the session is in; empty: the adapter has none, or there is no session
	Containment    int
	ABI            int
	Environment    []string // names
	Clauses        []Clause
}

func (g *ceiling) report(c agent.Command, p Profile, l Launch) {
	level, abi := g.contain.Level()
	r := Report{
		Agent: c.Agent, CommandDigest: c.Digest(), Profile: p.Name, Verified: p.Verified(c), Directory: "disposable",
		Capabilities: []string{}, Tools: []string{}, Containment: level, ABI: abi, Environment: names(l.Env),
	}
	if g.directory.keep {
		r.Directory = "named"
	}
	r.Measured = append([]string{}, p.Known...)
	r.Clauses = r.clauses(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.reports[c.Agent]; !known {
		g.reports[c.Agent] = r
	}
}

// clauses says how each clause is kept (agents 15.1). Where nothing prevents what a
// clause is about, its class says so, whatever else is done for it.
func (r Report) clauses(p Profile) []Clause {
	held := r.Containment >= 2
	either := func(yes, no string) string {
		if held {
			return yes
		}
		return no
	}
	tools := "It is asked to offer its model no tool, and nobody has measured that it obeys."
	if r.Verified {
		tools = "Its adapter was measured to leave its model no tool"
		if len(r.Measured) > 0 {
			tools += ", in version " + strings.Join(r.Measured, " and ")
		}
		tools += "; another version, or a dishonest one, need not."
	}
	mode, modeClass := "No session mode is known for it.", Absent
	if p.Mode != "" {
		mode, modeClass = fmt.Sprintf("It is put into its session mode %q; a turn in which it leaves that mode fails.", p.Mode), BestEffort
	}
	return []Clause{
		{"C1", either(Enforced, Detected), "Its working directory is empty and nobody else's, which is checked before the first and after every turn; " +
			either("the kernel keeps it from writing there.", "nothing keeps it from writing there meanwhile.")},
		{"C2", Enforced, "No other directory is named to it."},
		{"C3", Enforced, "No MCP server is given to it; that it starts none of its own is up to it, and its private home configures none."},
		{"C4", Enforced, "Its requests to read or write a file and to use a terminal are refused, and the turn fails."},
		{"C5", BestEffort, tools},
		{"C6", modeClass, mode},
		{"C7", Enforced, "Every permission it asks for is denied and the turn fails; no option, document or person is asked."},
		{"C8", Detected, "A turn in which it reports to use a tool fails; by then the tool may have run."},
		{"C9", Enforced, "Its environment is made from nothing and its home is private and holds no configuration of yours."},
		{"C10", either(Enforced, Absent), r.kernel()},
		{"C11", BestEffort, "It is told how to answer, apart from any message; an adapter may ignore that."},
		{"C12", Enforced, "No option, configuration, document or plugin changes any of this."},
	}
}

// kernel says what the kernel does, and what it does not.
func (r Report) kernel() string {
	switch {
	case r.Containment == 0:
		return "The kernel contains nothing here: the agent may reach whatever you may."
	case r.Containment == 1:
		return "The kernel keeps it from new privileges and bounds its resources, and contains nothing else: it may reach whatever you may."
	}
	text := "The kernel refuses it every file but those of the system, of its own program and of its private home"
	switch {
	case r.ABI >= 6:
		text += ", every TCP connection but to port 443 and the port of its provider, and every signal to others"
	case r.ABI >= 4:
		text += ", and every TCP connection but to port 443 and the port of its provider"
	default:
		text += "; its network is free"
	}
	if r.ABI >= 4 {
		text += "; UDP is free"
	}
	if r.Containment >= 3 {
		return text + ". Everything it starts ends with it."
	}
	return text + ". A process that it starts and that leaves its group is not ended with it."
}

// met adds what the adapter says of itself. Without a ceiling it does nothing.
func (g *ceiling) met(k *link) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	info := k.info.AgentInfo
	r := g.reports[k.agent]
	r.AdapterName, r.AdapterVersion = printable(info.Name, 100), printable(info.Version, 100)
	r.VersionKnown = slices.Contains(r.Measured, info.Version)
	g.reports[k.agent] = r
}

// established adds what a session showed.
func (g *ceiling) established(v *conversation, opened sessionResult) {
	g.met(v.link)
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.reports[v.agent]
	r.Environment = names(v.link.launch.Env)
	if current, _ := opened.mode(); current != "" {
		r.Mode = v.profile.Mode
		if r.Mode == "" {
			r.Mode = printable(current, 100)
		}
	}
	g.reports[v.agent] = r
}
