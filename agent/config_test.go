package agent

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const wholeConfig = `version: 1
defaultAgent: claude
agents:
  claude:
    command: [claude-code-acp, "--port", "1"]
    adapter: claude
    env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:9000", EMPTY: "" }
    passEnv: [ANTHROPIC_API_KEY, B]
    timeouts: { initialize: 90s, session: 2 min }
  ci: { command: [xmd, agent-fixture, --scenario, /abs/review.yaml], adapter: fixture }
`

func TestAG12_ConfigIsRead(t *testing.T) {
	c, err := ReadConfig([]byte(strings.Replace(wholeConfig, "2 min", "2min", 1)))
	require.NoError(t, err)
	require.Equal(t, &Config{
		DefaultAgent: "claude",
		Agents: map[string]Entry{
			"claude": {
				Command: []string{"claude-code-acp", "--port", "1"}, Adapter: "claude",
				Env:     map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:9000", "EMPTY": ""},
				PassEnv: []string{"ANTHROPIC_API_KEY", "B"}, Timeouts: Timeouts{90 * time.Second, 2 * time.Minute},
			},
			"ci": {Command: []string{"xmd", "agent-fixture", "--scenario", "/abs/review.yaml"}, Adapter: "fixture"},
		},
	}, c)
	_, err = ReadConfig([]byte(wholeConfig))
	require.EqualError(t, err, `line 9, column 43: agents.claude.timeouts.session must be a duration like 500ms, 30s, or 5min, got "2 min"`)
	c, err = ReadConfig([]byte("version: 1"))
	require.NoError(t, err)
	require.Equal(t, &Config{}, c)
}

func TestAG12_ConfigIsRefusedWithAPlace(t *testing.T) {
	agent := "version: 1\nagents:\n  a:\n    command: [x]\n"
	for _, test := range []struct{ text, want string }{
		{"", "line 1, column 1: the file is empty"},
		{"# nothing\n", "line 1, column 1: the file is empty"},
		{"\xff", "line 1, column 1: the file is not UTF-8"},
		{"a: [", "the file is not valid YAML"},
		{"[]", "line 1, column 1: the file must be a mapping"},
		{"defaultAgent: a", "line 1, column 1: the file has no version"},
		{"version: 2", "line 1, column 10: version is \"2\""},
		{"version: \"1\"", "line 1, column 10: version is \"1\""},
		{"version: [1]", "line 1, column 10: version must be one value"},
		{"version: 1\nversion: 1", `line 2, column 1: the file has the key "version" twice`},
		{"version: 1\ndefault: a", `line 2, column 1: the file has the unknown key "default"; known keys are version, defaultAgent and agents`},
		{"version: 1\n---\nversion: 1", "line 2, column 1: the file holds a second YAML document"},
		{"version: 1\n--- [", "the file is not valid YAML"},
		{"version: 1\ndefaultAgent: ''", "line 2, column 15: defaultAgent is empty"},
		{"version: 1\ndefaultAgent: 7", "line 2, column 15: defaultAgent is not text; quote it"},
		{"version: 1\ndefaultAgent: ./evil", `line 2, column 15: "./evil" is no name of an agent`},
		{"version: 1\nagents: []", "line 2, column 9: agents must be a mapping"},
		{"version: 1\nagents:\n  a/b: {command: [x]}", `line 3, column 3: "a/b" is no name of an agent`},
		{"version: 1\nagents:\n  a: {command: [x]}\n  a: {command: [y]}", `line 4, column 3: agents has the key "a" twice`},
		{"version: 1\nagents: {a: {}}", "line 2, column 13: agents.a has no command"},
		{"version: 1\nagents: {a: {command: x --acp}}", "line 2, column 23: agents.a.command must be a list"},
		{"version: 1\nagents: {a: {command: []}}", "agents.a.command is empty"},
		{"version: 1\nagents: {a: {command: ['']}}", "agents.a.command[0] is empty"},
		{"version: 1\nagents: {a: {command: [x, 8080]}}", "line 2, column 27: agents.a.command[1] is not text; quote it"},
		{"version: 1\nagents: {a: {command: [\"x\\0\"]}}", "agents.a.command[0] holds a zero byte"},
		{"version: 1\nagents: {a: {command: [x, [y]]}}", "agents.a.command[1] must be one value"},
		{agent + "    shell: true", `line 5, column 5: agents.a has the unknown key "shell"`},
		{agent + "    adapter: cline", `line 5, column 14: agents.a.adapter is "cline"; known adapters are claude, codex, gemini, fixture`},
		{agent + "    adapter: fixture", "line 5, column 14: agents.a.adapter is fixture, which is for xmd agent-fixture alone"},
		{agent + "    env: {LD_PRELOAD: x}", "line 5, column 11: agents.a.env sets LD_PRELOAD"},
		{agent + "    env: {DYLD_INSERT_LIBRARIES: x}", "sets DYLD_INSERT_LIBRARIES"},
		{agent + "    env: {node_options: x}", "sets node_options"},
		{agent + "    env: {A: 1}", "line 5, column 14: agents.a.env.A is not text; quote it"},
		{agent + "    env: {A=B: x}", `agents.a.env has "A=B", which is no name of a variable`},
		{agent + "    env: {1A: x}", "no name of a variable"},
		{agent + "    env: {'': x}", "no name of a variable"},
		{agent + "    env: {A: \"a\\0\"}", "holds a zero byte"},
		{agent + "    passEnv: [ENV]", "line 5, column 15: agents.a.passEnv sets ENV"},
		{agent + "    passEnv: [A, A]", "line 5, column 18: agents.a.passEnv names A twice"},
		{agent + "    passEnv: {A: b}", "agents.a.passEnv must be a list"},
		{agent + "    timeouts: {initialize: 0s}", "agents.a.timeouts.initialize must be a duration"},
		{agent + "    timeouts: {turn: 1s}", `agents.a.timeouts has the unknown key "turn"`},
		{agent + "    timeouts: 1s", "agents.a.timeouts must be a mapping"},
		{"version: &v 1", "line 1, column 10: version has a YAML anchor"},
		{"version: !!int 1", "line 1, column 10: version has a YAML tag"},
		{"version: 1\nagents:\n  a: &a {command: [x]}\n  b: *a", "has a YAML anchor"},
		{"version: 1\nagents:\n  <<: {a: {command: [x]}}", "line 3, column 3: agents merges another mapping"},
		{"version: 1\n? [a]\n: b", "a key of the file must be one value"},
		{strings.Repeat("#", MaxConfigFile+1), "the file has 65537 bytes and the limit is 65536"},
	} {
		_, err := ReadConfig([]byte(test.text))
		var refused *ConfigError
		require.ErrorAs(t, err, &refused, test.text)
		require.Contains(t, err.Error(), test.want)
		require.Positive(t, refused.Line)
		require.Positive(t, refused.Column)
	}
	for _, name := range []string{"LD_LIBRARY_PATH", "LD_AUDIT", "NODE_OPTIONS", "BASH_ENV", "ENV", "PYTHONSTARTUP", "DYLD_X"} {
		require.True(t, ForbiddenVariable(name), name)
	}
	for _, name := range []string{"PATH", "LD_", "ENVIRONMENT", "DYLD", "A"} {
		require.False(t, ForbiddenVariable(name), name)
	}
}

func TestAG12_ConfigFilePermissions(t *testing.T) {
	for _, test := range []struct {
		mode           fs.FileMode
		owner, invoker uint32
		want           string
	}{
		{0o600, 7, 7, ""}, {0o644, 7, 7, ""}, {0o644, 0, 7, ""}, {0o400, 0, 0, ""},
		{0o644, 8, 7, "another user"}, {0o600, 7, 0, "another user"},
		{0o664, 7, 7, "chmod go-w"}, {0o602, 7, 7, "chmod go-w"}, {0o646, 0, 7, "chmod go-w"},
		{fs.ModeDir | 0o700, 7, 7, "regular"}, {fs.ModeSymlink | 0o600, 7, 7, "regular"}, {fs.ModeNamedPipe | 0o600, 7, 7, "regular"},
		{fs.ModeDevice | 0o600, 0, 0, "regular"},
	} {
		err := CheckConfigFile(test.mode, test.owner, test.invoker)
		if test.want == "" {
			require.NoError(t, err, test)
		} else {
			require.ErrorContains(t, err, test.want, test)
		}
	}
}

func TestConfigPath(t *testing.T) {
	root := string(filepath.Separator)
	for _, test := range []struct{ named, directory, want string }{
		{"", filepath.Join(root, "c"), filepath.Join(root, "c", "xmd", "agents.yaml")},
		{filepath.Join(root, "x.yaml"), filepath.Join(root, "c"), filepath.Join(root, "x.yaml")},
		{"", "", ""},
	} {
		got, err := ConfigPath(test.named, test.directory)
		require.NoError(t, err)
		require.Equal(t, test.want, got)
	}
	_, err := ConfigPath("agents.yaml", "")
	require.ErrorContains(t, err, "not absolute")
}

func TestAG12_DefaultAgentPrecedence(t *testing.T) {
	asked := 0
	builtIn := func() string { asked++; return "built-in" }
	for _, test := range []struct {
		sources DefaultSources
		want    string
		asked   int
	}{
		{DefaultSources{"option", "environment", "config", builtIn}, "option", 0},
		{DefaultSources{"", "environment", "config", builtIn}, "environment", 0},
		{DefaultSources{"", "", "config", builtIn}, "config", 0},
		{DefaultSources{"", "", "", builtIn}, "built-in", 1},
		{DefaultSources{}, "", 0},
	} {
		asked = 0
		require.Equal(t, test.want, DefaultAgent(test.sources))
		require.Equal(t, test.asked, asked)
	}
	invocation := Region{DefaultAgent: DefaultAgent(DefaultSources{Option: "option"})}
	require.Equal(t, "option", invocation.AgentName(""))
	provided := invocation.Provided(nil, "provider", 0)
	require.Equal(t, "provider", provided.AgentName(""), "an enclosing provider element outranks the option")
	provided.PinnedAgent = "pinned"
	require.Equal(t, "pinned", provided.AgentName(""))
	require.Equal(t, "named", provided.AgentName("named"))
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"500": 500 * time.Millisecond, "500ms": 500 * time.Millisecond, " 30s\t": 30 * time.Second, "5m": 5 * time.Minute, "5min": 5 * time.Minute,
	} {
		got, err := ParseDuration("timeout", text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", " ", "0", "-1s", "+1s", "1.5s", "1e3", "0x10", "Infinity", "NaN", "30 seconds", "1h", "9223372036855"} {
		_, err := ParseDuration("timeout", text)
		require.ErrorContains(t, err, "timeout must be a duration like 500ms, 30s, or 5min, got ", text)
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add([]byte(wholeConfig))
	f.Add([]byte("version: 1\nagents: {a: {command: [x], env: {A: b}, passEnv: [C], timeouts: {session: 1}}}"))
	f.Add([]byte("version: 1\n<<: *a\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ReadConfig(data)
		if err != nil {
			var refused *ConfigError
			require.ErrorAs(t, err, &refused)
			require.Positive(t, refused.Line)
			require.Positive(t, refused.Column)
			return
		}
		require.True(t, c.DefaultAgent == "" || plainName(c.DefaultAgent))
		for name, e := range c.Agents {
			require.True(t, plainName(name))
			require.NotEmpty(t, e.Command)
			require.NotEmpty(t, e.Command[0])
			for variable := range e.Env {
				require.False(t, ForbiddenVariable(variable))
			}
		}
	})
}
