package acp_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/agent/acp"
)

// A hall is a constrained provider over a scripted agent.
type hall struct {
	stage
	root    string // of the empty directories
	homes   string
	options acp.CeilingOptions
	*acp.Constrained
}

func newHall(t *testing.T, scenario string, change ...func(*acp.CeilingOptions, agent.Entry)) *hall {
	t.Helper()
	h := &hall{stage: stage{t: t, dir: t.TempDir()}}
	h.report = filepath.Join(h.dir, "report.jsonl")
	script, state := filepath.Join(h.dir, "scenario.yaml"), filepath.Join(h.dir, "state")
	h.root, h.homes = filepath.Join(h.dir, "cwd"), filepath.Join(h.dir, "homes")
	require.NoError(t, os.WriteFile(script, []byte("version: 1\n"+scenario), 0o600))
	for _, dir := range []string{state, h.root, h.homes} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	open := func(dir string) *os.Root {
		root, err := os.OpenRoot(dir)
		require.NoError(t, err)
		t.Cleanup(func() { _ = root.Close() })
		return root
	}
	self, err := os.Executable()
	require.NoError(t, err)
	entry := agent.Entry{
		Command: []string{self, "agent-fixture", "--scenario", script, "--state", state, "--report", h.report},
		Adapter: agent.FixtureAdapter, Env: map[string]string{"ACP_TEST_AS_XMD": "1", "GIT_DIR": "no", "LD_PRELOAD": "no"},
		PassEnv: []string{"PASSED", "XMD_NO"},
	}
	registry := &agent.Registry{Installed: map[string]agent.Entry{}, IsSelf: func(path string) bool { return path == self }}
	h.options = acp.CeilingOptions{
		Agents: registry, LookPath: exec.LookPath, DefaultAgent: "fix", Names: []string{"fix"},
		Directories: open(h.root), Homes: open(h.homes), Sessions: acp.NewStore(filepath.Join(h.dir, "sessions")),
		Session: "s", Instructions: "Answer <the> message.", Version: "1",
		Env: []string{"CANARY=secret", "PASSED=1", "XMD_NO=1", "HOME=" + h.dir, "HTTPS_PROXY=http://u:p@h", "NO_PROXY=x", "AWS_SECRET=1"},
	}
	registry.Installed["fix"] = entry
	for _, c := range change {
		c(&h.options, entry)
	}
	return h
}

// enter establishes the ceiling.
func (h *hall) enter() *hall {
	h.t.Helper()
	p, err := acp.NewConstrained(h.options)
	require.NoError(h.t, err)
	h.Constrained = p
	h.t.Cleanup(func() { _ = p.Close(context.Background()) })
	return h
}

func (h *hall) say(o agent.PromptOptions) heard {
	return hear(context.Background(), h.Prompt("x", o))
}

// hear takes a turn and keeps what it said.
func hear(ctx context.Context, turn agent.Turn) heard {
	var h heard
	h.text, h.err = turn.Run(ctx, func(e agent.Event) error {
		switch e := e.(type) {
		case agent.Started:
			h.start = &e
		case agent.Terminal:
			h.end = &e
		}
		return nil
	})
	return h
}

// params are the raw parameters the agent reported for an event.
func (h *stage) params(event string) []string {
	text, err := os.ReadFile(h.report)
	require.NoError(h.t, err)
	var all []string
	for line := range strings.Lines(string(text)) {
		var r struct {
			Event  string
			Params json.RawMessage
		}
		require.NoError(h.t, json.Unmarshal([]byte(line), &r))
		if r.Event == event {
			all = append(all, string(r.Params))
		}
	}
	return all
}

func left(t *testing.T, dir string) []string {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

const ceilingMeta = `"_meta":{"systemPrompt":"Answer \u003cthe\u003e message.","disableBuiltInTools":true,"claudeCode":{"options":{"allowedTools":[],"tools":[],` +
	`"disallowedTools":["TaskOutput","TaskStop","EnterPlanMode"],"settingSources":[],"mcpServers":{},"strictMcpConfig":true,"additionalDirectories":[],` +
	`"hooks":{},"agents":{},"plugins":[],"skills":[],"promptSuggestions":false,"allowDangerouslySkipPermissions":false}}}`

const wireInitialize = `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},"clientInfo":{"name":"xmd","version":"1"}}`

// TestAG13_TheBytesOfEveryMessage: what the agent got is what the rules say, byte for
// byte.
func TestAG13_TheBytesOfEveryMessage(t *testing.T) {
	for method, capabilities := range map[string]string{"resume": "{ load: true, resume: true }", "load": "{ load: true }"} {
		t.Run(method, func(t *testing.T) {
			scenario := strings.Replace(answers, "{ load: true, resume: true, close: true }", capabilities, 1)
			s := newStage(t, scenario, func(o *acp.Options) { o.Sessions = acp.NewStore(filepath.Join(t.TempDir(), "sessions")) })
			named := agent.PromptOptions{Session: agent.SessionRef{Name: "n"}, Cwd: s.dir}
			require.Equal(t, "first", hear(t.Context(), s.Prompt("a <b>", named)).text)
			require.NoError(t, s.Close(t.Context()))
			again := acp.New(s.options)
			h := hear(t.Context(), again.Prompt("b", named))
			require.NoError(t, h.err)
			require.NoError(t, again.Close(t.Context()))
			require.NotEmpty(t, s.params("initialize"))
			for _, got := range s.params("initialize") {
				require.Equal(t, wireInitialize, got)
			}
			require.Equal(t, []string{`{"cwd":"` + s.dir + `","mcpServers":[]}`}, s.params("new"))
			require.Equal(t, []string{`{"sessionId":"` + h.start.Session.ID + `","cwd":"` + s.dir + `","mcpServers":[]}`}, s.params(method))
			require.Equal(t, `{"sessionId":"`+h.start.Session.ID+`","prompt":[{"type":"text","text":"a \u003cb\u003e"}]}`, s.params("prompt")[0])

			c := newHall(t, scenario, func(o *acp.CeilingOptions, _ agent.Entry) { o.Named = true }).enter()
			require.Equal(t, "first", c.say(named).text)
			require.NoError(t, c.Close(t.Context()))
			c.enter()
			h = c.say(named)
			require.NoError(t, h.err)
			require.Equal(t, "second", h.text)
			cwd := h.start.Session.Cwd
			require.Equal(t, c.root, filepath.Dir(cwd))
			for _, got := range c.params("initialize") {
				require.Equal(t, wireInitialize, got)
			}
			require.Equal(t, []string{`{"cwd":"` + cwd + `","mcpServers":[],` + ceilingMeta + `}`}, c.params("new"))
			require.Equal(t, []string{`{"sessionId":"` + h.start.Session.ID + `","cwd":"` + cwd + `","mcpServers":[],` + ceilingMeta + `}`}, c.params(method))
			require.NoError(t, c.Close(t.Context()))
			require.DirExists(t, cwd, "a named directory is an address")

			c.options.Instructions = "other terms"
			c.enter()
			require.ErrorIs(t, c.say(named).err, agent.ErrSessionIncompatible)
		})
	}
}

// TestAG14_EveryBreachFailsTheTurn, whatever the policy of the turn would say.
func TestAG14_EveryBreachFailsTheTurn(t *testing.T) {
	const options = `[ { id: a, name: Allow, kind: allow_once }, { id: r, name: Reject, kind: reject_once } ]`
	for name, c := range map[string]struct {
		do   string
		code agent.Code
	}{
		"permission": {`{ toolCall: { id: t1, title: "rm", kind: execute, status: pending } }, { permission: { toolCall: t1, options: ` + options + `, expect: { selected: r } } }`, agent.ErrToolPermissionRefused},
		"malformed":  {`{ request: { method: session/request_permission, params: { options: 7 } } }`, agent.ErrToolPermissionRefused},
		"file":       {`{ request: { method: fs/read_text_file, params: { path: "/etc/passwd" }, expectError: true } }`, agent.ErrCapabilityUsed},
		"terminal":   {`{ request: { method: terminal/create, params: { command: "sh" }, expectError: true } }`, agent.ErrCapabilityUsed},
		"activity":   {`{ toolCall: { id: t1, title: "rm", kind: execute, status: pending } }, { toolUpdate: { id: t1, status: completed } }`, agent.ErrToolActivity},
		"failed":     {`{ toolCall: { id: t1, title: "rm", kind: execute, status: failed } }`, ""},
		"extension":  {`{ request: { method: _x/y, params: {}, expectError: true } }`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHall(t, "sessions:\n  \"\":\n    - { prompt: { any: true }, do: [ { say: \"x\" }, "+c.do+" ] }\n").enter()
			var audits []agent.Audit
			got := h.say(agent.PromptOptions{
				Policy:     agent.Answers(agent.ApproveAll, "", nil),
				Permission: func(a agent.Audit) { audits = append(audits, a) },
			})
			require.NoError(t, got.err)
			require.NotNil(t, got.end)
			if c.code == "" {
				require.Equal(t, agent.Completed, got.end.Status, "%v", got.end.Err)
				return
			}
			require.Equal(t, agent.Failed, got.end.Status)
			require.ErrorIs(t, got.end.Err, c.code)
			require.Equal(t, c.code.Error(), got.end.Err.Error(), "the message is fixed")
			if name == "permission" {
				require.Len(t, audits, 1)
				require.Equal(t, "r", audits[0].Outcome.OptionID)
				require.True(t, audits[0].Sparse)
				require.Empty(t, audits[0].Tool.Title)
			}
			require.NoError(t, h.Close(t.Context()))
			require.Empty(t, left(t, h.root))
			require.Empty(t, left(t, h.homes))
		})
	}
}

// TestTheModeIsPinned: it is set when another one is current, and leaving it fails the
// turn; a mode that is not offered refuses.
func TestTheModeIsPinned(t *testing.T) {
	claude := func(o *acp.CeilingOptions, e agent.Entry) {
		e.Adapter = "claude"
		o.Agents.Installed["fix"] = e
	}
	const script = "sessions:\n  \"\":\n    - { prompt: { any: true }, do: [ { say: x }, { mode: auto } ] }\n"
	h := newHall(t, "new: { modes: { current: default, available: [ default, auto ] } }\n"+script, claude).enter()
	got := h.say(agent.PromptOptions{})
	require.NoError(t, got.err)
	require.ErrorIs(t, got.end.Err, agent.ErrModeChanged)
	require.Equal(t, "default", h.Ceiling()[0].Mode)

	h = newHall(t, "new: { modes: { current: auto, available: [ auto ] } }\n"+script, claude).enter()
	got = h.say(agent.PromptOptions{})
	require.ErrorIs(t, got.err, agent.ErrCeiling)
	require.Nil(t, got.start)
	require.NoError(t, h.Close(t.Context()))
	require.Empty(t, left(t, h.homes), "a refused session leaves no home")
}

// TestAG15_RefusalComesFirst: no directory, no process, no session.
func TestAG15_RefusalComesFirst(t *testing.T) {
	h := newHall(t, answers, func(o *acp.CeilingOptions, e agent.Entry) {
		o.Agents.Installed["able"] = e
		e.Adapter = "codex"
		o.Agents.Installed["fix"] = e
		o.Names = []string{"able", "fix"}
	})
	_, err := acp.NewConstrained(h.options)
	require.ErrorIs(t, err, agent.ErrCeiling)
	require.ErrorContains(t, err, `agent "fix" cannot be held to the planning ceiling`)
	require.ErrorContains(t, err, "--default-agent (able)")
	require.Empty(t, left(t, h.root))
	require.Empty(t, left(t, h.homes))
	require.NoFileExists(t, h.report)
	require.NoDirExists(t, filepath.Join(h.dir, "sessions"))

	h.options.Agents.Installed["fix"] = agent.Entry{Command: append(h.options.Agents.Installed["able"].Command, "--allow-host-effects"), Adapter: agent.FixtureAdapter}
	_, err = acp.NewConstrained(h.options)
	require.ErrorIs(t, err, agent.ErrCeiling, "a script with host effects is not verified")
}

// TestAG16_TheDirectoryIsEmptyAndGoes on every ending, unless something is in it.
func TestAG16_TheDirectoryIsEmptyAndGoes(t *testing.T) {
	for name, do := range map[string]string{
		"success": `{ say: x }`, "failure": `{ say: x }, { error: { code: 7, message: no } }`,
		"crash": `{ say: x }, { crash: 3 }`, "early crash": `{ crash: 3 }`, "cancel": `{ say: x }, { waitCancel: true }`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHall(t, "sessions:\n  \"\":\n    - { prompt: { any: true }, do: [ "+do+" ] }\n").enter()
			require.Len(t, left(t, h.root), 1)
			o := agent.PromptOptions{}
			if name == "cancel" {
				o.Timeout = 200 * time.Millisecond
			}
			h.say(o)
			require.NoError(t, h.Close(t.Context()))
			require.Empty(t, left(t, h.root))
			require.Empty(t, left(t, h.homes))
		})
	}

	t.Run("planted", func(t *testing.T) {
		h := newHall(t, answers).enter()
		leaf := filepath.Join(h.root, left(t, h.root)[0])
		require.NoError(t, h.Close(t.Context()))
		require.NoError(t, os.MkdirAll(leaf, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(leaf, "planted"), nil, 0o600))
		_, err := acp.NewConstrained(h.options)
		require.ErrorIs(t, err, agent.ErrCeilingInterference)
		require.ErrorContains(t, err, leaf)
		require.Equal(t, []string{"planted"}, left(t, leaf))
	})

	t.Run("written meanwhile", func(t *testing.T) {
		h := newHall(t, answers).enter()
		leaf := filepath.Join(h.root, left(t, h.root)[0])
		text, err := h.Prompt("x", agent.PromptOptions{}).Run(t.Context(), func(e agent.Event) error {
			if _, ok := e.(agent.TextDelta); ok {
				require.NoError(t, os.WriteFile(filepath.Join(leaf, "left"), nil, 0o600))
			}
			if end, ok := e.(agent.Terminal); ok {
				require.ErrorIs(t, end.Err, agent.ErrCeilingInterference)
			}
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, "one\n", text)
		require.ErrorIs(t, h.Close(t.Context()), agent.ErrCeilingInterference)
		require.Equal(t, []string{"left"}, left(t, leaf), "evidence stays")
	})

	t.Run("a link", func(t *testing.T) {
		h := newHall(t, answers).enter()
		leaf := filepath.Join(h.root, left(t, h.root)[0])
		require.NoError(t, h.Close(t.Context()))
		require.NoError(t, os.Symlink(t.TempDir(), leaf))
		_, err := acp.NewConstrained(h.options)
		require.ErrorIs(t, err, agent.ErrCeilingInterference)
	})

	t.Run("named, twice", func(t *testing.T) {
		h := newHall(t, answers, func(o *acp.CeilingOptions, _ agent.Entry) { o.Named = true }).enter()
		_, err := acp.NewConstrained(h.options)
		require.ErrorIs(t, err, agent.ErrSessionBusy)
	})
}

// clause is the class of a clause of a report.
func clause(r acp.Report, id string) string {
	i := slices.IndexFunc(r.Clauses, func(c acp.Clause) bool { return c.ID == id })
	return r.Clauses[i].Class
}

// TestAG17_TheEnvironmentIsBuiltFromNothing.
func TestAG17_TheEnvironmentIsBuiltFromNothing(t *testing.T) {
	h := newHall(t, answers).enter()
	require.NoError(t, h.say(agent.PromptOptions{}).err)
	report := h.Ceiling()[0]
	require.Equal(t, []string{"ACP_TEST_AS_XMD", "HOME", "LANG", "NO_BROWSER", "NO_COLOR", "NO_PROXY", "PASSED", "PATH", "TMPDIR",
		"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"}, report.Environment)
	text, err := os.ReadFile(h.report)
	require.NoError(t, err)
	require.NotContains(t, string(text), "CANARY")
	require.Contains(t, string(text), `"XDG_STATE_HOME"`)
	require.Equal(t, "disposable", report.Directory)
	require.Equal(t, acp.Absent, clause(report, "C10"))
	require.Equal(t, acp.Enforced, clause(report, "C7"))
	shown, err := json.Marshal(h.Ceiling())
	require.NoError(t, err)
	require.NotContains(t, string(shown), h.dir)
}
