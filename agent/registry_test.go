package agent

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// looker finds the given programs in /bin, as they are, and nothing else.
func looker(programs ...string) LookPath {
	return func(program string) (string, error) {
		for _, p := range programs {
			if p == program {
				return "/bin/" + p, nil
			}
		}
		return "", errors.New("not on PATH")
	}
}

func TestRegistryResolvesBuiltIns(t *testing.T) {
	usual := Timeouts{30 * time.Second, 60 * time.Second}
	fetched := Timeouts{60 * time.Second, 60 * time.Second}
	for _, test := range []struct {
		name      string
		installed []string
		want      Command
	}{
		{"claude", []string{"claude-code-acp", "claude-agent-acp", "npx"}, Command{Argv: []string{"/bin/claude-code-acp"}, Adapter: "claude", Timeouts: usual}},
		{"claude", []string{"claude-agent-acp", "npx"}, Command{Argv: []string{"/bin/claude-agent-acp"}, Adapter: "claude", Timeouts: usual}},
		{"claude", []string{"npx"}, Command{Argv: []string{"/bin/npx", "-y", "@zed-industries/claude-code-acp@0.16.2"}, Adapter: "claude", Timeouts: fetched, Package: "@zed-industries/claude-code-acp@0.16.2"}},
		{"codex", []string{"codex-acp"}, Command{Argv: []string{"/bin/codex-acp"}, Adapter: "codex", Timeouts: usual}},
		{"codex", []string{"npx"}, Command{Argv: []string{"/bin/npx", "-y", "@zed-industries/codex-acp@0.16.0"}, Adapter: "codex", Timeouts: fetched, Package: "@zed-industries/codex-acp@0.16.0"}},
		{"gemini", []string{"gemini"}, Command{Argv: []string{"/bin/gemini", "--acp"}, Adapter: "gemini", Timeouts: usual}},
		{"gemini", []string{"npx"}, Command{Argv: []string{"/bin/npx", "-y", "@google/gemini-cli@0.61.0", "--acp"}, Adapter: "gemini", Timeouts: fetched, Package: "@google/gemini-cli@0.61.0"}},
		{"copilot", []string{"copilot"}, Command{Argv: []string{"/bin/copilot", "--acp", "--stdio"}, Timeouts: usual}},
		{"cursor", []string{"cursor-agent"}, Command{Argv: []string{"/bin/cursor-agent", "acp"}, Timeouts: usual}},
		{"opencode", []string{"opencode"}, Command{Argv: []string{"/bin/opencode", "acp"}, Timeouts: usual}},
		{"qwen", []string{"qwen"}, Command{Argv: []string{"/bin/qwen", "--acp"}, Timeouts: usual}},
		{"kimi", []string{"kimi"}, Command{Argv: []string{"/bin/kimi", "acp"}, Timeouts: usual}},
		{"devin", []string{"devin"}, Command{Argv: []string{"/bin/devin", "acp"}, Timeouts: usual}},
		{"my-agent", []string{"my-agent"}, Command{Argv: []string{"/bin/my-agent"}, Timeouts: usual}},
	} {
		test.want.Agent = test.name
		got, err := new(Registry).Resolve(test.name, looker(test.installed...))
		require.NoError(t, err, test.name)
		require.Equal(t, test.want, got)
		installed, err := new(Registry).ResolveInstalled(test.name, looker(test.installed...))
		if got.Package == "" {
			require.NoError(t, err)
			require.Equal(t, test.want, installed)
		} else {
			require.ErrorIs(t, err, ErrUnavailable, "npx is never run for a constrained provider")
			require.Equal(t, got.Package, Pinned(test.name))
		}
	}
	require.Empty(t, Pinned("copilot"))
}

func TestRegistryRefuses(t *testing.T) {
	relative := func(string) (string, error) { return "bin/agent", nil }
	everything := func(program string) (string, error) { return "/bin/" + program, nil }
	configured := &Registry{Config: &Config{Agents: map[string]Entry{
		"mine": {Command: []string{"gone"}}, "lent": {Command: []string{"xmd", "agent-fixture"}, Adapter: "fixture"},
	}}}
	for _, test := range []struct {
		registry     *Registry
		name         string
		look         LookPath
		reason, want string
	}{
		{&Registry{}, "claude", looker(), "not-found", "install claude-code-acp or claude-agent-acp, or give its command in agents.yaml; npx,"},
		{&Registry{}, "copilot", looker("npx"), "not-found", "install copilot, or give its command"},
		{&Registry{}, "nobody", looker(), "not-found", "no agent and no program has this name"},
		{&Registry{}, "claude", relative, "not-found", "install"},
		{&Registry{}, "nobody", relative, "not-found", "no agent"},
		{&Registry{}, "test", everything, "not-found", "only where a host installed it"},
		{&Registry{}, "", everything, "not-found", "no path"},
		{&Registry{}, "./evil", everything, "not-found", "no path"},
		{&Registry{}, "a/b", everything, "not-found", "no path"},
		{&Registry{}, `a\b`, everything, "not-found", "no path"},
		{&Registry{}, "..", everything, "not-found", "no path"},
		{&Registry{}, "-rf", everything, "not-found", "no path"},
		{&Registry{}, strings.Repeat("a", 201), everything, "not-found", "no path"},
		{configured, "mine", looker(), "not-found", "the program of its entry is not found"},
		{configured, "lent", everything, "ceiling", "fixture is for xmd agent-fixture alone"},
		{&Registry{Installed: map[string]Entry{"test": {}}}, "test", everything, "not-found", "has no command"},
	} {
		_, err := test.registry.Resolve(test.name, test.look)
		var refused *Error
		require.ErrorAs(t, err, &refused, test.name)
		require.ErrorIs(t, err, ErrUnavailable)
		require.Equal(t, test.reason, refused.Reason)
		require.ErrorContains(t, err, "is unavailable ["+test.reason+"]: ")
		require.ErrorContains(t, err, test.want)
	}
}

func TestRegistryPrefersTheHostThenTheFile(t *testing.T) {
	self := func(path string) bool { return path == "/bin/xmd" }
	r := &Registry{
		Config: &Config{Agents: map[string]Entry{
			"claude": {Command: []string{"mine", "--x"}, Adapter: "claude", PassEnv: []string{"A"}, Timeouts: Timeouts{Session: time.Second}},
			"test":   {Command: []string{"mine"}},
		}},
		Installed: map[string]Entry{"test": {Command: []string{"xmd", "agent-fixture"}, Adapter: "fixture"}},
		IsSelf:    self,
	}
	look := looker("mine", "xmd", "other", "claude-code-acp")
	c, err := r.Resolve("claude", look)
	require.NoError(t, err)
	require.Equal(t, Command{Agent: "claude", Argv: []string{"/bin/mine", "--x"}, Adapter: "claude", PassEnv: []string{"A"},
		Timeouts: Timeouts{30 * time.Second, time.Second}}, c, "an entry replaces the built-in one wholesale")

	c, err = r.Resolve("test", look)
	require.NoError(t, err)
	require.Equal(t, []string{"/bin/xmd", "agent-fixture"}, c.Argv)
	named := c.ForSession("review")
	require.Equal(t, []string{"/bin/xmd", "agent-fixture", "--session", "review"}, named.Argv)
	require.Equal(t, []string{"/bin/xmd", "agent-fixture"}, c.Argv)
	require.Equal(t, c, c.ForSession(""))
	other := Command{Argv: []string{"/bin/a"}}
	require.Equal(t, other, other.ForSession("review"))

	require.NoError(t, r.Check(look))
	require.NoError(t, new(Registry).Check(look))
	for _, argv := range [][]string{{"other", "agent-fixture"}, {"xmd", "run"}, {"xmd"}, {"gone", "agent-fixture"}} {
		r.Config.Agents["ci"] = Entry{Command: argv, Adapter: "fixture"}
		require.ErrorContains(t, r.Check(look), "agents.ci.adapter is fixture", argv)
	}
	r.Config.Agents["ci"] = Entry{Command: []string{"xmd", "agent-fixture"}, Adapter: "fixture"}
	require.NoError(t, r.Check(look))
	r.IsSelf = nil
	require.Error(t, r.Check(look))
}

func TestBuiltInDefaultIsTheFirstUsable(t *testing.T) {
	r := new(Registry)
	require.Equal(t, "claude", r.BuiltIn(looker("codex-acp", "gemini", "claude-code-acp"), nil))
	require.Equal(t, "gemini", r.BuiltIn(looker("codex-acp", "gemini", "npx"), nil))
	require.Equal(t, "codex", r.BuiltIn(looker("codex-acp", "gemini"), func(c Command) bool { return c.Adapter == "codex" }))
	require.Empty(t, r.BuiltIn(looker("npx", "copilot"), nil), "nothing is fetched to find a default")
}

func TestDigestTellsVectorsApart(t *testing.T) {
	seen := map[string][]string{}
	for _, argv := range [][]string{{"/a", "b c"}, {"/a", "b", "c"}, {"/a b", "c"}, {"/a", `b","c`}, {"/a", "b", "", "c"}, {"/a"}} {
		digest := Command{Argv: argv}.Digest()
		require.Len(t, digest, 64)
		require.Nil(t, seen[digest], "%q and %q", argv, seen[digest])
		seen[digest] = argv
	}
	require.Equal(t, `["/a","b\"c"]`, Command{Argv: []string{"/a", `b"c`}}.Identity())
	require.Equal(t, Command{Argv: []string{"/a"}}.Digest(), Command{Agent: "x", Argv: []string{"/a"}, Adapter: "claude"}.Digest(), "the name is no part of it")
}
