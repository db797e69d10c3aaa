package acp_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/agent/acp"
	"github.com/executable-markdown/xmd/internal/cli"
)

// TestMain makes the test binary xmd itself when a test starts it as an agent.
func TestMain(m *testing.M) {
	if os.Getenv("ACP_TEST_AS_XMD") != "" {
		os.Exit(cli.Main(context.Background(), cli.ThisProcess("test")))
	}
	os.Exit(m.Run())
}

// A stage is a provider whose one agent, called fix, is a scripted one in a process.
type stage struct {
	t       *testing.T
	dir     string
	report  string
	options acp.Options
	*acp.Provider
}

func newStage(t *testing.T, scenario string, change ...func(*acp.Options)) *stage {
	t.Helper()
	s := &stage{t: t, dir: t.TempDir()}
	s.report = filepath.Join(s.dir, "report.jsonl")
	script, state := filepath.Join(s.dir, "scenario.yaml"), filepath.Join(s.dir, "state")
	require.NoError(t, os.WriteFile(script, []byte("version: 1\n"+scenario), 0o600))
	require.NoError(t, os.MkdirAll(state, 0o700))
	self, err := os.Executable()
	require.NoError(t, err)
	options := acp.Options{
		Agents: &agent.Registry{
			Installed: map[string]agent.Entry{"fix": {
				Command: []string{self, "agent-fixture", "--scenario", script, "--state", state, "--report", s.report},
				Adapter: agent.FixtureAdapter,
			}},
			IsSelf: func(path string) bool { return path == self },
		},
		LookPath:     exec.LookPath,
		Env:          append(os.Environ(), "ACP_TEST_AS_XMD=1"),
		DefaultAgent: "fix",
		Version:      "1",
	}
	for _, c := range change {
		c(&options)
	}
	s.options, s.Provider = options, acp.New(options)
	t.Cleanup(func() { s.Provider.Close(context.Background()) })
	return s
}

// A heard turn is what came of one.
type heard struct {
	text   string
	err    error
	start  *agent.Started
	end    *agent.Terminal
	audits []agent.Audit
}

func (s *stage) prompt(ctx context.Context, text string, o agent.PromptOptions) heard {
	var h heard
	var mu sync.Mutex
	if o.Cwd == "" {
		o.Cwd = s.dir
	}
	o.Permission = func(a agent.Audit) {
		mu.Lock()
		defer mu.Unlock()
		h.audits = append(h.audits, a)
	}
	h.text, h.err = s.Prompt(text, o).Run(ctx, func(e agent.Event) error {
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

// events are the names in the agent's report.
func (s *stage) events() []string {
	text, _ := os.ReadFile(s.report)
	var names []string
	for line := range strings.Lines(string(text)) {
		_, rest, _ := strings.Cut(line, `"event":"`)
		name, _, _ := strings.Cut(rest, `"`)
		names = append(names, name)
	}
	return names
}

func count(names []string, name string) (n int) {
	for _, other := range names {
		if other == name {
			n++
		}
	}
	return n
}

const answers = `
capabilities: { load: true, resume: true, close: true }
sessions:
  "":
    - { prompt: { any: true }, do: [ { thought: "hm" }, { say: { chunks: ["one", "\n"] } } ] }
    - { prompt: { any: true }, do: [ { say: "two" } ] }
  "*":
    - { prompt: { any: true }, do: [ { say: "first" } ] }
    - { prompt: { any: true }, do: [ { say: "second" } ] }
`

func TestATurn(t *testing.T) {
	s := newStage(t, answers)
	h := s.prompt(t.Context(), "hello", agent.PromptOptions{})
	require.NoError(t, h.err)
	require.Equal(t, "one\n", h.text)
	require.Equal(t, agent.Terminal{Status: agent.Completed, StopReason: "end_turn"}, *h.end)
	require.Equal(t, "fix", h.start.Agent)
	require.NotEmpty(t, h.start.Session.ID)
	require.Equal(t, "two", s.prompt(t.Context(), "again", agent.PromptOptions{}).text, "the same conversation")
	require.NoError(t, s.Close(t.Context()))
	require.Equal(t, 1, count(s.events(), "new"))
	require.Equal(t, 2, count(s.events(), "prompt"))
	require.Equal(t, 1, count(s.events(), "close"))
}

// TestAG1_BuildingATurnDoesNothing and TestAG2_PlacesAreInert: nothing starts before a
// turn needs it.
func TestAG1_BuildingATurnDoesNothing(t *testing.T) {
	s := newStage(t, answers)
	s.Prompt("hello", agent.PromptOptions{Cwd: s.dir})
	require.NoError(t, s.Close(t.Context()))
	require.Empty(t, s.events())
}

func TestAG2_PlacesAreInert(t *testing.T) {
	store := filepath.Join(t.TempDir(), "sessions")
	s := newStage(t, answers, func(o *acp.Options) { o.Sessions = acp.NewStore(store) })
	name, err := s.Agent(t.Context(), "")
	require.NoError(t, err)
	_, err = s.Agent(t.Context(), "")
	require.NoError(t, err)
	for range 2 {
		_, err = s.Session(t.Context(), agent.Placement{Agent: name, Name: "n", Cwd: s.dir})
		require.NoError(t, err)
	}
	require.NoError(t, s.Close(t.Context()))
	require.Equal(t, 1, count(s.events(), "initialize"), "one probe")
	require.Zero(t, count(s.events(), "new"))
	require.NoDirExists(t, store)
}

func TestAG4_TurnsOfAConversationQueue(t *testing.T) {
	s := newStage(t, answers)
	var wait sync.WaitGroup
	texts := make([]string, 2)
	for i := range texts {
		wait.Go(func() { texts[i] = s.prompt(t.Context(), "x", agent.PromptOptions{}).text })
	}
	wait.Wait()
	require.ElementsMatch(t, []string{"one\n", "two"}, texts)
	require.NoError(t, s.Close(t.Context()))
	require.Equal(t, 1, count(s.events(), "new"), "two first prompts make one conversation")
}

// TestNamedConversationsAreTakenUp: a later provider continues what an earlier one kept,
// from a directory further down too, and one at a time.
func TestNamedConversationsAreTakenUp(t *testing.T) {
	store := func(o *acp.Options) { o.Sessions = acp.NewStore(filepath.Join(t.TempDir(), "sessions")) }
	s := newStage(t, answers, store)
	require.NoError(t, os.MkdirAll(filepath.Join(s.dir, ".git"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(s.dir, "sub"), 0o700))
	named := agent.PromptOptions{Session: agent.SessionRef{Name: "chat"}}
	first := s.prompt(t.Context(), "x", named)
	require.Equal(t, "first", first.text)

	other := acp.New(s.options)
	busy := (&stage{t: t, dir: s.dir, Provider: other}).prompt(t.Context(), "x", named)
	require.ErrorIs(t, busy.err, agent.ErrSessionBusy)
	require.NoError(t, other.Close(t.Context()))
	require.NoError(t, s.Close(t.Context()))

	later := &stage{t: t, dir: filepath.Join(s.dir, "sub"), Provider: acp.New(s.options)}
	h := later.prompt(t.Context(), "x", named)
	require.NoError(t, h.err)
	require.Equal(t, "second", h.text)
	require.Equal(t, first.start.Session.Key, h.start.Session.Key)
	require.Equal(t, first.start.Session.ID, h.start.Session.ID)
	require.NoError(t, later.Close(t.Context()))
}

func TestAG5_SessionsBelongToTheirProvider(t *testing.T) {
	s, other := newStage(t, answers), newStage(t, answers)
	placed, err := s.Session(t.Context(), agent.Placement{Agent: "fix", Name: "n", Cwd: s.dir})
	require.NoError(t, err)
	same, err := s.Session(t.Context(), agent.Placement{Agent: "fix", Name: "n", Cwd: s.dir})
	require.NoError(t, err)
	require.Same(t, placed, same)
	h := other.prompt(t.Context(), "x", agent.PromptOptions{Session: agent.SessionRef{Placed: placed}})
	require.ErrorIs(t, h.err, agent.ErrSessionForeign)
	copied := *placed
	h = s.prompt(t.Context(), "x", agent.PromptOptions{Session: agent.SessionRef{Placed: &copied}})
	require.ErrorIs(t, h.err, agent.ErrSessionForeign)
}

// TestHowATurnEnds: every way a peer can end a turn, or fail to.
func TestHowATurnEnds(t *testing.T) {
	for name, c := range map[string]struct {
		do, stop string
		text     string
		status   agent.Status
		reason   string
		code     agent.Code
		before   bool // it fails before the turn began
	}{
		"max tokens":    {do: `[ { say: "part" } ]`, stop: "max_tokens", text: "part", status: agent.Failed, reason: "max_tokens"},
		"refusal":       {do: `[]`, stop: "refusal", status: agent.Failed, reason: "refusal"},
		"cancelled":     {do: `[]`, stop: "cancelled", status: agent.Cancelled, reason: "cancelled"},
		"no reason":     {do: `[ { say: "x" } ]`, stop: `""`, text: "x", status: agent.Completed, reason: "end_turn"},
		"an error":      {do: `[ { say: "x" }, { error: { code: 7, message: "broke" } } ]`, text: "x", status: agent.Failed, code: agent.ErrStopReason},
		"early error":   {do: `[ { error: { code: 7, message: "broke" } } ]`, code: agent.ErrStopReason, before: true},
		"not logged in": {do: `[ { error: { code: -32000, message: "login" } } ]`, code: agent.ErrAuthRequired, before: true},
		"crash":         {do: `[ { say: "x" }, { crash: 3 } ]`, text: "x", status: agent.Failed, code: agent.ErrPeerGone},
		"early crash":   {do: `[ { crash: 3 } ]`, code: agent.ErrPeerGone, before: true},
		"closed":        {do: `[ { say: "x" }, { closeOutput: true } ]`, text: "x", status: agent.Failed, code: agent.ErrPeerGone},
		"garbage":       {do: `[ { garbage: 5000 }, { raw: "{not json" }, { say: "x" } ]`, text: "x", status: agent.Completed, reason: "end_turn"},
		"a long line":   {do: `[ { say: "x" }, { bigLine: 11000000 } ]`, text: "x", status: agent.Failed, code: agent.ErrProtocol},
		"a notice":      {do: `[ { notice: "not output" }, { say: "x" } ]`, text: "x", status: agent.Completed, reason: "end_turn"},
	} {
		t.Run(name, func(t *testing.T) {
			stop := ""
			if c.stop != "" {
				stop = ", stop: " + c.stop
			}
			s := newStage(t, fmt.Sprintf("sessions:\n  \"\":\n    - { prompt: { any: true }, do: %s%s }\n", c.do, stop))
			h := s.prompt(t.Context(), "x", agent.PromptOptions{})
			if c.before {
				require.ErrorIs(t, h.err, c.code)
				require.Nil(t, h.start)
				require.Nil(t, h.end)
				return
			}
			require.NoError(t, h.err)
			require.Equal(t, c.text, h.text)
			require.Equal(t, c.status, h.end.Status)
			require.Equal(t, c.reason, h.end.StopReason)
			if c.code != "" {
				require.ErrorIs(t, h.end.Err, c.code)
			}
		})
	}
}

func TestPermissionsAreDecidedByTheTurn(t *testing.T) {
	const scenario = `
sessions:
  "":
    - prompt: { any: true }
      do:
        - toolCall: { id: t1, title: "write", kind: edit, status: pending }
        - permission:
            toolCall: t1
            options: [ { id: a, name: Allow, kind: allow_once }, { id: r, name: Reject, kind: reject_once } ]
            on: { r: [ { say: "denied" } ], a: [ { say: "allowed" } ] }
        - request: { method: fs/read_text_file, params: { path: "/etc/passwd" }, expectError: true }
        - request: { method: terminal/create, params: { command: "sh" }, expectError: true }
`
	for mode, want := range map[agent.Mode]string{agent.ApproveAll: "allowed", agent.DenyAll: "denied", agent.ApproveReads: "denied"} {
		s := newStage(t, scenario)
		h := s.prompt(t.Context(), "x", agent.PromptOptions{Policy: agent.Answers(mode, "", nil)})
		require.NoError(t, h.err)
		require.Equal(t, want, h.text)
		require.Equal(t, agent.Completed, h.end.Status, "%v", h.end.Err)
		require.Len(t, h.audits, 1)
		require.Equal(t, "edit", h.audits[0].Tool.Kind, "the kind the call was reported with")
	}
}

// TestAG20_CancelAndTimeout: a turn that is cancelled ends at the peer, an obstinate
// peer is ended, and the next turn goes on.
func TestAG20_CancelAndTimeout(t *testing.T) {
	s := newStage(t, `
sessions:
  "":
    - { prompt: { any: true }, do: [ { say: "so far" }, { waitCancel: true } ] }
    - { prompt: { any: true }, do: [ { say: "after" } ] }
`)
	h := s.prompt(t.Context(), "x", agent.PromptOptions{Timeout: 300 * time.Millisecond})
	require.NoError(t, h.err)
	require.Equal(t, agent.Failed, h.end.Status)
	require.ErrorIs(t, h.end.Err, agent.ErrPromptTimeout)
	require.Equal(t, "so far", h.text)
	require.Equal(t, "after", s.prompt(t.Context(), "x", agent.PromptOptions{}).text)

	s = newStage(t, `
sessions:
  "":
    - { prompt: { any: true }, do: [ { say: "so far" }, { waitCancel: true } ] }
`)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := fmt.Errorf("enough")
	_, err := s.Prompt("x", agent.PromptOptions{Cwd: s.dir}).Run(ctx, func(e agent.Event) error {
		if _, ok := e.(agent.TextDelta); ok {
			cancel(stop)
		}
		return nil
	})
	require.Equal(t, stop, err)
	require.NoError(t, s.Close(t.Context()))
	require.Equal(t, 1, count(s.events(), "cancel"))
}

func TestUnavailableAgents(t *testing.T) {
	for name, c := range map[string]struct{ scenario, reason string }{
		"version": {"initialize: { protocolVersion: 2 }\n" + answers, agent.ReasonVersion},
		"error":   {"initialize: { error: { code: 1, message: broken } }\n", agent.ReasonProtocol},
	} {
		s := newStage(t, c.scenario)
		_, err := s.Agent(t.Context(), "fix")
		require.ErrorIs(t, err, agent.ErrUnavailable, name)
		require.ErrorContains(t, err, "["+c.reason+"]", name)
	}
	s := newStage(t, answers)
	_, err := s.Agent(t.Context(), "no-such-agent-anywhere")
	require.ErrorContains(t, err, "[not-found]")
}

// TestAG19_NothingIsLeft: a program that ignores every request to leave is ended with
// its group.
func TestAG19_NothingIsLeft(t *testing.T) {
	s := newStage(t, `
sessions:
  "":
    - { prompt: { any: true }, do: [ { ignoreTerm: true }, { say: "staying" } ] }
`)
	require.Equal(t, "staying", s.prompt(t.Context(), "x", agent.PromptOptions{}).text)
	require.NoError(t, s.Close(t.Context()))
	_, err := s.Agent(t.Context(), "fix")
	require.Error(t, err, "a closed provider starts nothing")
}

// TestAG24_AnAgentNobodyHereWrote: a whole turn with the example agent of the
// protocol's Go library.
func TestAG24_AnAgentNobodyHereWrote(t *testing.T) {
	if testing.Short() {
		t.Skip("the example agent pauses for seconds")
	}
	example := filepath.Join(t.TempDir(), "example")
	build := exec.Command("go", "build", "-o", example, "github.com/coder/acp-go-sdk/example/agent")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	s := newStage(t, answers, func(o *acp.Options) {
		o.Agents = &agent.Registry{Installed: map[string]agent.Entry{"example": {Command: []string{example}}}}
		o.DefaultAgent = "example"
	})
	h := s.prompt(t.Context(), "Hello", agent.PromptOptions{Policy: agent.Answers(agent.DenyAll, "", nil)})
	require.NoError(t, h.err)
	require.Equal(t, agent.Completed, h.end.Status, "%v", h.end.Err)
	require.NotEmpty(t, h.text)
	require.NotEmpty(t, h.audits)
}
