package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/executable-markdown/xmd/agent"
)

// CeilingOptions make a constrained provider. None of them widens it.
type CeilingOptions struct {
	Agents   *agent.Registry
	LookPath agent.LookPath
	// DefaultAgent answers for the empty name, and is the agent the ceiling is first
	// checked with.
	DefaultAgent string
	// Names lists agents to suggest when one cannot be held; each is checked first.
	Names []string
	// Adapters is the absolute directory in which the package of a built-in agent that
	// is not installed is kept, once that agent is asked for; empty: none is fetched.
	Adapters string
	// Directories holds the agent's empty working directory, and Homes its private
	// home. Both were opened by an absolute path.
	Directories, Homes *os.Root
	// Sessions keeps the record of a named conversation; nil: it cannot be continued.
	Sessions *Store
	// Session is the logical name of the conversation; Named says that a person gave
	// it, so that its directory and records are kept to be continued.
	Session string
	Named   bool
	// Instructions is the host's text on how to answer.
	Instructions string
	// Env is the invoker's environment, of which little is passed on.
	Env []string
	// Containment is the kernel's part; nil: none.
	Containment Containment
	// Caller is the invoker's working directory. It, and what it lies in, is never opened
	// as a part of an agent's installation.
	Caller string
	// Version is the version of this program, told to peers.
	Version string
	// Stderr gets what agents write to standard error as well; nil: nobody does.
	Stderr io.Writer
	// Secrets are values that no diagnostic shows, and UserHomes directories it shortens.
	Secrets, UserHomes []string
	Timeouts           Timeouts
	// Hurry ends when nothing is to be waited for any longer. Nil: never.
	Hurry context.Context
	// Now is the clock of the records; nil: the system's.
	Now func() time.Time
}

// A Constrained provider holds agents to the ceiling (agents 15). It is an
// [agent.Provider] and ignores the policies and directories it is given.
type Constrained struct{ *core }

// NewConstrained establishes a ceiling: first that the default agent can be held to
// it, then the directory. The error is an [agent.Error]: ErrCeiling with the clause,
// ErrCeilingInterference, or what made the agent unavailable. After an error nothing
// is left behind; after none, Close gives the directory back.
func NewConstrained(o CeilingOptions) (*Constrained, error) {
	c := o.core()
	if _, err := c.command(""); err != nil {
		return nil, err
	}
	var err error
	if c.ceiling.directory, err = claim(o.Directories, o.Session, o.Named); err != nil {
		return nil, err
	}
	return &Constrained{c}, nil
}

// Check says whether NewConstrained would find that the default agent can be held. It
// needs neither Directories nor Homes, so that a host can ask before it has any
// (agents 15.3).
func (o CeilingOptions) Check() error {
	_, err := o.core().command("")
	return err
}

// Holds reports whether a command can be held to the ceiling under a containment, nil
// for none: by its profile, as measured, or by the kernel.
func Holds(c agent.Command, k Containment) bool {
	if profileOf(c.Adapter).Verified(c) {
		return true
	}
	if k == nil {
		return false
	}
	level, _ := k.Level()
	return level >= 2
}

func (o CeilingOptions) core() *core {
	if o.Containment == nil {
		o.Containment = Uncontained{}
	}
	resolve := func(name string) (agent.Command, error) {
		if o.Adapters == "" {
			return o.Agents.ResolveInstalled(name, o.LookPath)
		}
		return o.Agents.Resolve(name, o.LookPath)
	}
	g := &ceiling{
		resolve: resolve, candidates: o.Names, homes: o.Homes, instructions: o.Instructions, look: o.LookPath,
		workshop: workshop{o.Adapters, o.LookPath, o.Env}, prepared: map[string][]string{},
		contain: o.Containment, reports: map[string]Report{}, caller: o.Caller,
	}
	return newCore(&core{
		resolve: resolve, defaultAgent: o.DefaultAgent, store: o.Sessions, env: o.Env, secrets: o.Secrets, homes: o.UserHomes,
		version: o.Version, stderr: o.Stderr, limits: o.Timeouts, now: o.Now, contain: o.Containment, ceiling: g, rush: o.Hurry,
	})
}

// Ceiling reports what was installed for each agent, by name. It holds no private
// path and no value of a variable.
func (c *Constrained) Ceiling() []Report {
	g := c.ceiling
	g.mu.Lock()
	defer g.mu.Unlock()
	reports := make([]Report, 0, len(g.reports))
	for _, name := range slices.Sorted(maps.Keys(g.reports)) {
		reports = append(reports, g.reports[name])
	}
	return reports
}

// ceiling is the part of the core an ordinary provider does not have. Methods that
// may be called without one say so.
type ceiling struct {
	resolve      func(string) (agent.Command, error)
	candidates   []string
	homes        *os.Root
	directory    *directory
	instructions string
	look         agent.LookPath
	workshop     workshop
	contain      Containment
	caller       string

	mu       sync.Mutex
	prepared map[string][]string // what begins the vector, by package
	reports  map[string]Report
}

func (g *ceiling) holds(c agent.Command) bool { return Holds(c, g.contain) }

// admits refuses a command the ceiling cannot hold.
func (g *ceiling) admits(c agent.Command) error {
	switch {
	case len(c.Argv) == 0 || !filepath.IsAbs(c.Argv[0]):
		return agent.Unavailable(c.Agent, agent.ReasonNotFound, "its program has no absolute path; give its command in agents.yaml", nil)
	case g.holds(c):
		return nil
	}
	var able []string
	for _, name := range g.candidates {
		if other, err := g.resolve(name); err == nil && g.holds(other) {
			able = append(able, name)
		}
	}
	return &agent.Error{Code: agent.ErrCeiling, Agent: c.Agent, Reason: "C5", Message: fmt.Sprintf(
		"agent %q cannot be held to the planning ceiling on this machine: its tools cannot be suppressed and the kernel offers no containment; "+
			"choose another with --default-agent (%s)", c.Agent, quoted(able))}
}

// refused makes a failure of opening a session a refusal of the ceiling, except the
// ones a person mends elsewhere: an agent that does not start, a login. Without a
// ceiling it is left as it is.
func (g *ceiling) refused(name string, err error) error {
	var failure *agent.Error
	if g == nil || !errors.As(err, &failure) || failure.Code == agent.ErrAuthRequired || failure.Code == agent.ErrCeiling ||
		failure.Code == agent.ErrUnavailable && (failure.Reason == agent.ReasonNotFound || failure.Reason == agent.ReasonSpawnFailed) {
		return err
	}
	return &agent.Error{Code: agent.ErrCeiling, Agent: name, Reason: "session", Err: err,
		Message: fmt.Sprintf("agent %q could not be started under the ceiling: %s", name, failure.Error())}
}

// launch completes a launch with a private home of the leaf name.
func (g *ceiling) launch(c *core, command agent.Command, l Launch, leaf string) (Launch, func() error, error) {
	p := profileOf(command.Adapter)
	userHome := environ(c.env)["HOME"]
	h, err := settle(g.homes, leaf, p, userHome)
	if err != nil {
		return l, nil, err
	}
	if command.Package != "" {
		l.Argv = g.vector(command)
	}
	from := installed(l.Argv, g.look, homesOf(userHome, append(slices.Clone(c.homes), g.caller)))
	l.Paths = Paths{Home: h.path, Cwd: filepath.Join(h.path, "tmp"), Runtime: from.paths, Read: h.linked}
	if p.Reach != nil {
		read, write := p.Reach(l.Argv)
		l.Paths.Read, l.Paths.Write = append(l.Paths.Read, read...), write
	}
	if p.Arguments != nil {
		l.Argv = append(slices.Clone(l.Argv), p.Arguments(h.path)...)
	}
	l.Env = constrainedEnv(c.env, command, p, h.path, from.dirs)
	g.report(command, p, l)
	return l, h.remove, nil
}

// probeHome names the private home of a probe. The directory of the conversation is held by
// one command at a time, so no other command makes or removes a home of this name
// (agents 15.2).
func (g *ceiling) probeHome(command agent.Command) string {
	if g == nil {
		return "" // an ordinary agent has no private home
	}
	return "probe-" + digest(g.directory.leaf + command.Digest())[:32]
}

// homesOf lists the directories of people, with and without links in their paths.
func homesOf(user string, more []string) []string {
	var homes []string
	for _, home := range append([]string{user}, more...) {
		if !filepath.IsAbs(home) {
			continue
		}
		homes = append(homes, filepath.Clean(home))
		if real, err := filepath.EvalSymlinks(home); err == nil {
			homes = append(homes, real)
		}
	}
	return homes
}

// pin puts the session into the mode of its profile (agents 15.3).
func (v *conversation) pin(ctx context.Context, opened sessionResult) error {
	current, choices := opened.mode()
	mode := v.profile.Mode
	if mode == "" || current == mode || current == "" && len(choices) == 0 {
		return nil
	}
	refused := &agent.Error{Code: agent.ErrCeiling, Agent: v.agent, Session: v.session.Key, Reason: "C6",
		Message: fmt.Sprintf("agent %q cannot be held to session mode %q; choose another with --default-agent", v.agent, mode)}
	if !slices.Contains(choices, mode) {
		return refused
	}
	ctx, cancel := context.WithTimeoutCause(ctx, v.command.Timeouts.Session, errSlow)
	defer cancel()
	if _, err := call[struct{}](ctx, v.link.peer, methodSetMode, setModeParams{v.id, mode}); err != nil {
		refused.Err = v.link.failed(err, v.session.Key, agent.ErrProtocol)
		return refused
	}
	return nil
}

// fingerprint identifies the terms a session is created under (agents 20.3).
func (g *ceiling) fingerprint(p Profile) string {
	terms, err := json.Marshal(struct {
		Version      int                `json:"version"`
		Permission   string             `json:"permission"`
		MCPServers   []string           `json:"mcpServers"`
		Directories  []string           `json:"additionalDirectories"`
		Capabilities clientCapabilities `json:"clientCapabilities"`
		Meta         *meta              `json:"meta"`
		Profile      string             `json:"adapterProfile"`
		Revision     int                `json:"profileRevision"`
		Mode         string             `json:"pinnedMode"`
		Instructions string             `json:"instructions"`
	}{1, string(agent.DenyAll), []string{}, []string{}, clientCapabilities{}, newMeta(""), p.Name, p.Revision, p.Mode, g.instructions})
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return digest(string(terms))
}
