package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/agent/acp"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/plan"
)

// agentSettings are the five options about agents, declared once for every command
// that has them (agents 9.1).
type agentSettings struct {
	provider     agentWord
	defaultAgent agentWord
	approveAll   onlySwitch
	approveReads onlySwitch
	denyAll      onlySwitch
}

// An agentWord is a name that is not empty and looks like no option.
type agentWord string

func (w *agentWord) String() string { return string(*w) }
func (w *agentWord) Type() string   { return "name" }
func (w *agentWord) Set(text string) error {
	if text == "" || strings.HasPrefix(text, "-") {
		return errors.New("it needs a name")
	}
	*w = agentWord(text)
	return nil
}

func (s *agentSettings) declare(f *pflag.FlagSet) {
	f.Var(&s.provider, "agent-provider", "reach agents through this `provider`; default acp")
	f.Var(&s.defaultAgent, "default-agent", "the `agent` of prompts that name none (also DEFAULT_AGENT_NAME)")
	f.Var(&s.approveAll, "approve-all", "approve whatever agents ask permission for")
	f.Var(&s.approveReads, "approve-reads", "approve what reads and searches, ask about the rest (the default)")
	f.Var(&s.denyAll, "deny-all", "deny whatever agents ask permission for")
	for _, name := range []string{"approve-all", "approve-reads", "deny-all"} {
		f.Lookup(name).NoOptDefVal = "true"
	}
}

// mode is the permission mode of the invocation.
func (s *agentSettings) mode() (agent.Mode, error) {
	mode, given := agent.ApproveReads, 0
	for m, set := range map[agent.Mode]onlySwitch{agent.ApproveAll: s.approveAll, agent.ApproveReads: s.approveReads, agent.DenyAll: s.denyAll} {
		if set {
			mode = m
			given++
		}
	}
	if given > 1 {
		return "", usage("--approve-all, --approve-reads, and --deny-all are mutually exclusive")
	}
	return mode, nil
}

// An agentSettlement is what agent elements of an invocation work with, settled once:
// one way to make providers, one default agent, one permission mode.
type agentSettlement struct {
	options acp.Options
	mode    agent.Mode
	asker   agent.Asker // nil: nobody is asked
}

// settleAgents settles the stack. It reads the configuration file and starts nothing.
func (c *command) settleAgents(s *agentSettings) (*agentSettlement, error) {
	mode, err := s.mode()
	if err != nil {
		return nil, err
	}
	switch s.provider {
	case "", "acp", "acpx":
	default:
		return nil, usage("%v", agent.UnknownProvider(string(s.provider)))
	}
	config, err := c.agentConfig()
	if err != nil {
		return nil, err
	}
	env := host.EnvList(c.Env)
	look := func(name string) (string, error) { return host.FindProgram(name, c.Dir, env) }
	registry := &agent.Registry{Config: config, IsSelf: host.IsSelf}
	if err := registry.Check(look); err != nil {
		return nil, usage("%v", err)
	}
	sources := agent.DefaultSources{Option: string(s.defaultAgent), Environment: c.Env["DEFAULT_AGENT_NAME"]}
	if config != nil {
		sources.Config = config.DefaultAgent
	}
	settled := &agentSettlement{mode: mode, options: acp.Options{
		Agents: registry, LookPath: look, Env: env, Version: c.Version,
		DefaultAgent: agent.DefaultAgent(sources),
		BuiltIn:      func() string { return registry.BuiltIn(look, nil) },
		Secrets:      c.secrets(nil),
		Hurry:        c.Hurry,
	}}
	if home := c.Env["HOME"]; home != "" {
		settled.options.Homes = []string{home}
	}
	if root := c.dataRoot(); root != "" {
		settled.options.Sessions = acp.NewStore(filepath.Join(root, "xmd", "agents", "sessions"))
	}
	if isTerminal(c.Stdin) && isTerminal(c.Stdout) {
		settled.asker = agent.NewLineAsker(c.err, c.line)
	}
	return settled, nil
}

// An agentStack is a fresh provider and the ways a document has to make others.
type agentStack struct {
	region    agent.Region
	providers map[string]engine.AgentProvider
}

// stack makes the providers of one run. Nothing is started.
func (s *agentSettlement) stack() *agentStack {
	inner := func(defaultAgent string, _ agent.Mode) (agent.Provider, error) {
		o := s.options
		o.DefaultAgent = defaultAgent
		return acp.New(o), nil
	}
	return &agentStack{
		region:    agent.Region{Provider: acp.New(s.options), DefaultAgent: s.options.DefaultAgent, Mode: s.mode, Asker: s.asker},
		providers: map[string]engine.AgentProvider{"acp": inner, "acpx": inner},
	}
}

// ceiling holds an agent to the ceiling for one conversation (agents 18).
func (c *command) ceiling(s *agentSettlement, session string, named bool) (plan.Runtime, error) {
	data := c.dataRoot()
	if data == "" {
		return plan.Runtime{}, usage("no directory is known to keep what an agent needs in; set HOME")
	}
	o := s.options
	contain := c.containment()
	ceiling := acp.CeilingOptions{
		Agents: o.Agents, LookPath: o.LookPath, DefaultAgent: o.DefaultAgent, Names: agentNames(o.Agents),
		Adapters: filepath.Join(data, "xmd", "agents", "adapters"), Sessions: o.Sessions,
		Caller: c.Dir, Session: session, Named: named, Instructions: planningInstructions,
		Env: o.Env, Containment: contain, Version: o.Version, Secrets: o.Secrets, UserHomes: o.Homes, Hurry: o.Hurry,
	}
	if ceiling.DefaultAgent == "" { // the first that can be held (D-37)
		ceiling.DefaultAgent = o.Agents.BuiltIn(o.LookPath, func(command agent.Command) bool { return acp.Holds(command, contain) })
	}
	if err := ceiling.Check(); err != nil {
		return plan.Runtime{}, unheld(err)
	}
	directories, err := host.OpenPrivate(filepath.Join(data, "xmd", "prompt", "sessions"))
	if err != nil {
		return plan.Runtime{}, fmt.Errorf("the directory of planning conversations cannot be used: %w", err)
	}
	homes, err := host.OpenPrivate(filepath.Join(data, "xmd", "agents", "homes"))
	if err != nil {
		return plan.Runtime{}, errors.Join(fmt.Errorf("the directory of private homes cannot be used: %w", err), directories.Close())
	}
	ceiling.Directories, ceiling.Homes = directories, homes
	provider, err := acp.NewConstrained(ceiling)
	end := func() error { return errors.Join(directories.Close(), homes.Close()) }
	if err != nil {
		return plan.Runtime{}, errors.Join(unheld(err), end())
	}
	return plan.Runtime{Provider: provider, Close: func(ctx context.Context) error {
		return errors.Join(provider.Close(ctx), end())
	}}, nil
}

// unheld is why there is no ceiling, as a person who wants to plan is told it.
func unheld(err error) error {
	switch {
	case errors.Is(err, agent.ErrNoDefaultAgent):
		return fmt.Errorf("%w. None that can be held to the planning ceiling is installed: install claude-code-acp, gemini or codex-acp, "+
			"or give the command of another in agents.yaml (XMD_AGENTS_FILE); the README shows the command with a scripted one", err)
	case errors.Is(err, agent.ErrSessionBusy): // a refusal here: nothing was waited for (prompt 6.4)
		return refusal{err}
	}
	return err
}

// agentNames lists the agents to suggest where one cannot be used.
func agentNames(r *agent.Registry) []string {
	names := []string{"claude", "gemini", "codex"}
	if r.Config != nil {
		names = append(names, slices.Sorted(maps.Keys(r.Config.Agents))...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// agentConfig reads the person's file about agents; nil when there is none. It names
// programs to run, so nobody else may have written it (agents 9.3).
func (c *command) agentConfig() (*agent.Config, error) {
	path, err := agent.ConfigPath(c.Env["XMD_AGENTS_FILE"], c.configRoot())
	if err != nil {
		return nil, usage("%v", err)
	}
	if path == "" {
		return nil, nil
	}
	file, err := host.ReadOwned(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.Env["XMD_AGENTS_FILE"] == "":
		return nil, nil
	case err != nil:
		return nil, usage("%v", unreadable(path, err))
	}
	if err := agent.CheckConfigFile(file.Mode, file.Owner, host.Invoker()); err != nil {
		return nil, usage("%s: %v", path, err)
	}
	config, err := agent.ReadConfig(file.Data)
	if err != nil {
		return nil, usage("%s: %v", path, err)
	}
	return config, nil
}

// configRoot is the person's directory for configuration; empty when none is known.
func (c *command) configRoot() string {
	switch runtime.GOOS {
	case "windows":
		return c.Env["APPDATA"]
	case "darwin":
		return c.below("HOME", "Library", "Application Support")
	}
	if dir := c.Env["XDG_CONFIG_HOME"]; filepath.IsAbs(dir) {
		return dir
	}
	return c.below("HOME", ".config")
}

// dataRoot is the one place where this program keeps what it keeps for a person; empty
// when none is known.
func (c *command) dataRoot() string {
	switch runtime.GOOS {
	case "windows":
		if dir := c.Env["LOCALAPPDATA"]; dir != "" {
			return dir
		}
		return c.below("USERPROFILE", "AppData", "Local")
	case "darwin":
		return c.below("HOME", "Library", "Application Support")
	}
	if dir := c.Env["XDG_DATA_HOME"]; filepath.IsAbs(dir) {
		return dir
	}
	return c.below("HOME", ".local", "share")
}

func (c *command) below(home string, parts ...string) string {
	dir := c.Env[home]
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

// line reads one line of standard input, unless ctx ends first.
func (c *command) line(ctx context.Context) (string, error) {
	type input struct {
		text string
		err  error
	}
	read := make(chan input, 1)
	go func() { // left behind when the program ends before the line does
		text, err := bufio.NewReader(c.Stdin).ReadString('\n')
		read <- input{text, err}
	}()
	select {
	case in := <-read:
		return in.text, in.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
