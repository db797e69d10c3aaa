package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/internal/value"
)

// FixtureAdapter is the adapter profile of the scripted agent, and of nothing else.
const FixtureAdapter = "fixture"

// fixtureCommand is the hidden command that is the scripted agent.
const fixtureCommand = "agent-fixture"

// How long an agent may take where its entry says nothing (agents 12.5).
const (
	initializeTimeout = 30 * time.Second
	fetchedTimeout    = 60 * time.Second // initialize of an agent that is fetched first
	sessionTimeout    = 60 * time.Second
)

// adapters lists the adapter profiles an entry may name.
func adapters() []string { return []string{"claude", "codex", "gemini", FixtureAdapter} }

// A LookPath finds a program the way the invoker's shell would and returns its
// absolute path. A program with a path separator is relative to the invoker's
// directory.
type LookPath func(program string) (string, error)

// A builtIn is an agent this binary knows (agents 10).
type builtIn struct {
	name     string
	programs []string // tried in order
	args     []string
	pinned   string // the package that holds the agent; empty: none is known
	adapter  string // empty: none
}

func builtIns() []builtIn {
	return []builtIn{
		{"claude", []string{"claude-code-acp", "claude-agent-acp"}, nil, "@zed-industries/claude-code-acp@0.16.2", "claude"},
		{"gemini", []string{"gemini"}, []string{"--acp"}, "@google/gemini-cli@0.61.0", "gemini"},
		{"codex", []string{"codex-acp"}, nil, "@zed-industries/codex-acp@0.16.0", "codex"},
		{"copilot", []string{"copilot"}, []string{"--acp", "--stdio"}, "", ""},
		{"cursor", []string{"cursor-agent"}, []string{"acp"}, "", ""},
		{"opencode", []string{"opencode"}, []string{"acp"}, "", ""},
		{"qwen", []string{"qwen"}, []string{"--acp"}, "", ""},
		{"kimi", []string{"kimi"}, []string{"acp"}, "", ""},
		{"devin", []string{"devin"}, []string{"acp"}, "", ""},
	}
}

// A Command is the program behind an agent's name.
type Command struct {
	Agent    string
	Argv     []string // Argv[0] is absolute
	Adapter  string   // adapter profile; empty: none
	Env      map[string]string
	PassEnv  []string
	Timeouts Timeouts // both greater than zero
	Package  string   // the pinned package that npx fetches; empty: the program is installed
}

// Identity is the agent command as part of what a session is: the whole vector as a
// JSON array, so that no two vectors read alike.
func (c Command) Identity() string {
	dst := []byte{'['}
	for i, arg := range c.Argv {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = value.AppendString(dst, arg)
	}
	return string(append(dst, ']'))
}

// Digest is the SHA-256 of the identity, as 64 hex digits.
func (c Command) Digest() string {
	sum := sha256.Sum256([]byte(c.Identity()))
	return hex.EncodeToString(sum[:])
}

// ForSession returns the command as it is started for a session of a logical name: a
// scripted agent is told which of its scripts to follow, every other command stays as
// it is. The identity of the agent is that of the command before.
func (c Command) ForSession(name string) Command {
	if c.Adapter == FixtureAdapter && name != "" {
		c.Argv = append(slices.Clone(c.Argv), "--session", name)
	}
	return c
}

// A Registry turns the names of agents into commands. It is not changed after it was
// made, and safe for concurrent use.
type Registry struct {
	// Config is the person's file; nil: none.
	Config *Config
	// Installed are the agents of the host itself, such as the scripted agent of a test.
	// They outrank everything else, and their vectors begin with an absolute path.
	Installed map[string]Entry
	// IsSelf reports whether an absolute path is this very executable. Nothing else may
	// have the fixture profile; nil: nothing is.
	IsSelf func(path string) bool
}

// Resolve returns the command of an agent for an ordinary provider (agents 10): what
// the host installed, else the person's file, else what this binary knows, where an
// agent that is not installed is fetched by npx, else a program of that name. The
// error is an *Error that is ErrUnavailable.
func (r *Registry) Resolve(name string, look LookPath) (Command, error) {
	return r.resolve(name, look, true)
}

// ResolveInstalled is Resolve for a provider that may never run npx: an agent that is
// not installed is not found.
func (r *Registry) ResolveInstalled(name string, look LookPath) (Command, error) {
	return r.resolve(name, look, false)
}

func (r *Registry) resolve(name string, look LookPath, fetch bool) (Command, error) {
	if e, ok := r.Installed[name]; ok {
		return r.entry(name, e, look)
	}
	if r.Config != nil {
		if e, ok := r.Config.Agents[name]; ok {
			return r.entry(name, e, look)
		}
	}
	if b, ok := lookup(name); ok {
		return b.resolve(look, fetch)
	}
	switch {
	case name == "test":
		return Command{}, Unavailable(name, ReasonNotFound, "the scripted agent exists only where a host installed it", nil)
	case !plainName(name):
		return Command{}, Unavailable(name, ReasonNotFound, "the name of an agent is no path; name it in agents.yaml and give its command there", nil)
	}
	path, err := absolute(name, look)
	if err != nil {
		return Command{}, Unavailable(name, ReasonNotFound, "no agent and no program has this name; install it, or give its command in agents.yaml", err)
	}
	return Command{Agent: name, Argv: []string{path}, Timeouts: Timeouts{initializeTimeout, sessionTimeout}}, nil
}

// Check refuses a configuration in which anything but this very executable, followed
// by agent-fixture, has the fixture profile. It is asked before anything is created.
func (r *Registry) Check(look LookPath) error {
	if r.Config == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.Config.Agents)) {
		e := r.Config.Agents[name]
		if e.Adapter != FixtureAdapter {
			continue
		}
		if path, err := absolute(e.Command[0], look); err != nil || !r.fixture(path, e) {
			return fmt.Errorf("agents.%s.adapter is fixture, which is for xmd agent-fixture alone; leave adapter out", name)
		}
	}
	return nil
}

// fixture reports whether an entry whose program is at path is the scripted agent.
func (r *Registry) fixture(path string, e Entry) bool {
	return fixtureArgs(e.Command) && r.IsSelf != nil && r.IsSelf(path)
}

func fixtureArgs(argv []string) bool { return len(argv) > 1 && argv[1] == fixtureCommand }

// entry makes a command of an entry somebody wrote.
func (r *Registry) entry(name string, e Entry, look LookPath) (Command, error) {
	if len(e.Command) == 0 {
		return Command{}, Unavailable(name, ReasonNotFound, "its entry has no command; write one", nil)
	}
	path, err := absolute(e.Command[0], look)
	if err != nil {
		return Command{}, Unavailable(name, ReasonNotFound, "the program of its entry is not found; install it, or correct the command", err)
	}
	if e.Adapter == FixtureAdapter && !r.fixture(path, e) {
		return Command{}, Unavailable(name, ReasonCeiling, "the adapter fixture is for xmd agent-fixture alone; leave adapter out", nil)
	}
	c := Command{
		Agent: name, Argv: append([]string{path}, e.Command[1:]...), Adapter: e.Adapter,
		Env: e.Env, PassEnv: e.PassEnv, Timeouts: e.Timeouts,
	}
	if c.Timeouts.Initialize == 0 {
		c.Timeouts.Initialize = initializeTimeout
	}
	if c.Timeouts.Session == 0 {
		c.Timeouts.Session = sessionTimeout
	}
	return c, nil
}

func lookup(name string) (builtIn, bool) {
	all := builtIns()
	i := slices.IndexFunc(all, func(b builtIn) bool { return b.name == name })
	if i < 0 {
		return builtIn{}, false
	}
	return all[i], true
}

func (b builtIn) resolve(look LookPath, fetch bool) (Command, error) {
	c := Command{Agent: b.name, Adapter: b.adapter, Timeouts: Timeouts{initializeTimeout, sessionTimeout}}
	for _, program := range b.programs {
		if path, err := absolute(program, look); err == nil {
			c.Argv = append([]string{path}, b.args...)
			return c, nil
		}
	}
	remedy := "install " + strings.Join(b.programs, " or ") + ", or give its command in agents.yaml"
	if b.pinned == "" || !fetch {
		return Command{}, Unavailable(b.name, ReasonNotFound, remedy, nil)
	}
	npx, err := absolute("npx", look)
	if err != nil {
		return Command{}, Unavailable(b.name, ReasonNotFound, remedy+"; npx, which could fetch it, is not found either", err)
	}
	c.Argv = append([]string{npx, "-y", b.pinned}, b.args...)
	c.Package, c.Timeouts.Initialize = b.pinned, fetchedTimeout
	return c, nil
}

// absolute finds a program; what is not absolute is as good as not found, because the
// agent starts in another directory than the invoker's.
func absolute(program string, look LookPath) (string, error) {
	path, err := look(program)
	if err == nil && !filepath.IsAbs(path) {
		err = fmt.Errorf("%q was found at a relative path", program)
	}
	return path, err
}

// Pinned returns the package that holds a built-in agent, with its version; empty when
// none is known.
func Pinned(name string) string {
	b, _ := lookup(name)
	return b.pinned
}

// BuiltIn returns the first of claude, gemini and codex that is installed and usable,
// as the default of an invocation in which nobody named an agent; empty when none is.
// Usable is asked with the resolved command and may be nil, which takes any.
func (r *Registry) BuiltIn(look LookPath, usable func(Command) bool) string {
	for _, b := range builtIns()[:3] {
		if c, err := r.ResolveInstalled(b.name, look); err == nil && (usable == nil || usable(c)) {
			return b.name
		}
	}
	return ""
}

// plainName reports whether a name may be that of an agent: letters, digits and a few
// marks, none of which makes a path or an option of it.
func plainName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !isLetter(c) && !isDigit(c) && (i == 0 || !strings.ContainsRune("._+-", rune(c))) {
			return false
		}
	}
	return name != "" && len(name) <= 200
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
