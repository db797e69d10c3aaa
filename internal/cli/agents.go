package cli

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/agent/acp"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
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

// A settledStack is what agent elements of an invocation work with: one provider, one
// default agent, one permission mode, settled once.
type settledStack struct {
	region    agent.Region
	providers map[string]engine.AgentProvider
}

// close ends what agents were started.
func (s *settledStack) close(ctx context.Context) error {
	return s.region.Provider.Close(context.WithoutCancel(ctx))
}

// agents settles the stack. It reads the configuration file and starts nothing.
func (c *command) agents(s *agentSettings) (*settledStack, error) {
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
	options := acp.Options{
		Agents: registry, LookPath: look, Env: env, Version: c.Version,
		DefaultAgent: agent.DefaultAgent(sources),
		BuiltIn:      func() string { return registry.BuiltIn(look, nil) },
		Secrets:      c.secrets(nil),
	}
	if home := c.Env["HOME"]; home != "" {
		options.Homes = []string{home}
	}
	if root := c.dataRoot(); root != "" {
		options.Sessions = acp.NewStore(filepath.Join(root, "xmd", "agents", "sessions"))
	}
	stack := &settledStack{region: agent.Region{
		Provider: acp.New(options), DefaultAgent: options.DefaultAgent, Mode: mode,
	}}
	if isTerminal(c.Stdin) && isTerminal(c.Stdout) {
		stack.region.Asker = agent.NewLineAsker(c.err, c.line)
	}
	inner := func(defaultAgent string, _ agent.Mode) (agent.Provider, error) {
		o := options
		o.DefaultAgent = defaultAgent
		return acp.New(o), nil
	}
	stack.providers = map[string]engine.AgentProvider{"acp": inner, "acpx": inner}
	return stack, nil
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
