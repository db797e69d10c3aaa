package scenario_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/agent/scenario"
	"github.com/executable-markdown/xmd/internal/cli"
)

// TestMain makes the test binary xmd itself when a test starts it as a process.
func TestMain(m *testing.M) {
	if os.Getenv("SCENARIO_TEST_AS_XMD") != "" {
		os.Exit(cli.Main(context.Background(), cli.ThisProcess("test")))
	}
	os.Exit(m.Run())
}

// run is what came of a list of prompts, the same whatever played the scenario.
type run struct {
	Turns  []string // text and ending of each
	Report []string // lines, without what only a process or a wire has
	Asked  []string
}

func parse(t *testing.T, text string, o scenario.ParseOptions) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("test.yaml", []byte(text), o)
	require.NoError(t, err)
	return s
}

// approve is a policy that chooses the first option offered and notes what it saw.
type approve struct {
	mu    sync.Mutex
	asked []string
}

func (a *approve) Decide(_ context.Context, r agent.PermissionRequest) (agent.PermissionOutcome, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, r.Tool.ID)
	return agent.PermissionOutcome{OptionID: r.Options[0].ID}, nil
}

func inProcess(t *testing.T, s *scenario.Scenario, prompts []string) run {
	t.Helper()
	var report bytes.Buffer
	p := scenario.NewProvider(s, scenario.ProviderOptions{Report: &report})
	var r run
	policy := &approve{}
	for _, prompt := range prompts {
		text, end, err := take(t.Context(), p.Prompt(prompt, agent.PromptOptions{Cwd: "/work", Policy: policy}))
		r.Turns = append(r.Turns, outcome(text, end, err))
	}
	require.NoError(t, p.Close(t.Context()))
	r.Report, r.Asked = lines(t, report.Bytes()), policy.asked
	return r
}

func outcome(text string, end *agent.Terminal, err error) string {
	switch {
	case err != nil:
		return text + "|" + err.Error()
	case end.Err != nil:
		return text + "|" + end.Err.Error()
	}
	return text + "|" + end.StopReason
}

// take runs a turn and checks the shape of its events.
func take(ctx context.Context, turn agent.Turn) (string, *agent.Terminal, error) {
	var text strings.Builder
	var end *agent.Terminal
	events := 0
	closed, err := turn.Run(ctx, func(e agent.Event) error {
		events++
		switch e := e.(type) {
		case agent.Started:
			if events != 1 || e.Session == nil {
				return errors.New("started twice, late or without a session")
			}
		case agent.TextDelta:
			text.WriteString(e.Text)
		case agent.Terminal:
			if end != nil {
				return errors.New("two terminals")
			}
			end = &e
		}
		return nil
	})
	if closed != text.String() {
		err = errors.Join(err, fmt.Errorf("close value %q is not the deltas %q", closed, text.String()))
	}
	return closed, end, err
}

// lines drops what the ways to play a scenario do not share.
func lines(t *testing.T, report []byte) []string {
	t.Helper()
	var kept []string
	for _, line := range strings.Split(strings.TrimSuffix(string(report), "\n"), "\n") {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &m), line)
		if m["event"] == "start" || m["event"] == "initialize" || m["event"] == "close" {
			continue
		}
		delete(m, "params")
		text, err := json.Marshal(m)
		require.NoError(t, err)
		kept = append(kept, string(text))
	}
	return kept
}

// A wireClient is an independent client on a pair of streams.
type wireClient struct {
	conn    *acp.Connection
	session string
	mu      sync.Mutex
	text    strings.Builder
	asked   []string
}

// gated holds reads back until the logger of the connection is set.
type gated struct {
	io.Reader
	open chan struct{}
}

func (g gated) Read(p []byte) (int, error) {
	<-g.open
	return g.Reader.Read(p)
}

func newWireClient(in io.Writer, out io.Reader) *wireClient {
	c := &wireClient{}
	open := make(chan struct{})
	c.conn = acp.NewConnection(c.handle, in, gated{out, open})
	c.conn.SetLogger(slog.New(slog.DiscardHandler))
	close(open)
	return c
}

func (c *wireClient) handle(_ context.Context, method string, params json.RawMessage) (any, *acp.RequestError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch method {
	case "session/update":
		var u struct {
			Update struct {
				SessionUpdate string
				Content       struct{ Text string }
				Meta          any `json:"_meta"`
			}
		}
		if err := json.Unmarshal(params, &u); err != nil {
			return nil, acp.NewInvalidParams(nil)
		}
		if u.Update.SessionUpdate == "agent_message_chunk" && u.Update.Meta == nil {
			c.text.WriteString(u.Update.Content.Text)
		}
		return nil, nil
	case "session/request_permission":
		var r acp.RequestPermissionRequest
		if err := json.Unmarshal(params, &r); err != nil {
			return nil, acp.NewInvalidParams(nil)
		}
		c.asked = append(c.asked, string(r.ToolCall.ToolCallId))
		return json.RawMessage(`{"outcome":{"outcome":"selected","optionId":"` + string(r.Options[0].OptionId) + `"}}`), nil
	}
	return nil, acp.NewMethodNotFound(method)
}

func (c *wireClient) begin(ctx context.Context) error {
	if _, err := acp.SendRequest[acp.InitializeResponse](c.conn, ctx, "initialize", json.RawMessage(initializeParams)); err != nil {
		return err
	}
	made, err := acp.SendRequest[acp.NewSessionResponse](c.conn, ctx, "session/new", json.RawMessage(newParams))
	c.session = string(made.SessionId)
	return err
}

const (
	initializeParams = `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},"clientInfo":{"name":"xmd","version":"V"}}`
	newParams        = `{"cwd":"/work","mcpServers":[]}`
)

func (c *wireClient) prompt(ctx context.Context, text string) string {
	c.mu.Lock()
	c.text.Reset()
	c.mu.Unlock()
	answer, err := acp.SendRequest[struct{ StopReason string }](c.conn, ctx, "session/prompt", map[string]any{
		"sessionId": c.session, "prompt": []any{map[string]any{"type": "text", "text": text}}})
	c.mu.Lock()
	defer c.mu.Unlock()
	said := c.text.String()
	var failed *acp.RequestError
	switch {
	case errors.As(err, &failed):
		return fmt.Sprintf("%s|the agent answered with error %d: %s", said, failed.Code, failed.Message)
	case err != nil:
		return said + "|" + err.Error()
	case answer.StopReason == "":
		return said + "|end_turn"
	}
	return said + "|" + answer.StopReason
}

func piped(t *testing.T, s *scenario.Scenario, prompts []string) run {
	t.Helper()
	var report bytes.Buffer
	in, out, done := scenario.Peer{Scenario: s, Report: &report}.Pipe(t.Context())
	r := driven(t, in, out, prompts)
	require.NoError(t, <-done)
	r.Report = lines(t, report.Bytes())
	return r
}

func driven(t *testing.T, in io.WriteCloser, out io.Reader, prompts []string) run {
	t.Helper()
	c := newWireClient(in, out)
	require.NoError(t, c.begin(t.Context()))
	var r run
	for _, p := range prompts {
		r.Turns = append(r.Turns, c.prompt(t.Context(), p))
	}
	require.NoError(t, in.Close())
	<-c.conn.Done()
	r.Asked = c.asked
	return r
}

// process runs xmd agent-fixture and returns its streams and the way to wait for it.
func process(t *testing.T, text string, more ...string) (in io.WriteCloser, out io.Reader, report string, cmd *exec.Cmd) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "s.yaml")
	report = filepath.Join(dir, "report.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	cmd = exec.Command(self, append([]string{"agent-fixture", "--scenario", file, "--report", report}, more...)...)
	cmd.Env = []string{"SCENARIO_TEST_AS_XMD=1", "GORACE=atexit_sleep_ms=0"}
	cmd.Dir = t.TempDir()
	cmd.WaitDelay = 10 * time.Second
	in, err = cmd.StdinPipe()
	require.NoError(t, err)
	out, err = cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return in, out, report, cmd
}

const everyStep = `
version: 1
capabilities: {load: true, close: true}
initialize: {delay: 0ms}
new: {modes: {current: default, available: [default, plan]}}
requireComplete: true
sessions:
  "":
    - prompt: "Review {?subject} at revision {?revision}"
      as: review
      do:
        - thought: "hmm"
        - plan: [one, two]
        - usage: {used: 1, size: 2}
        - notice: "not output"
        - mode: plan
        - say: "The review of **{review.subject}** passed.\n"
        - say: {chunks: ["a", "{review.revision}", "c"]}
    - prompt: "again {review.subject}: {?x}, {?y}, {?x}!"
      as: twice
      do: [{say: "{twice.x}{twice.y}"}]
      stop: ""
    - prompt: {equals: "same"}
      do:
        - toolCall: {id: t1, title: "rm -rf", kind: execute, status: pending, rawInput: {command: [rm, 1, true]}}
        - toolUpdate: {id: t1, status: failed}
        - permission:
            toolCall: t1
            options: [{id: a, name: Allow, kind: allow_once}, {id: r, name: Reject, kind: reject_once}]
            expect: {selected: a}
            on: {a: [{say: "allowed\n"}], r: [{fail: "was denied"}]}
        - permission:
            concurrent:
              - {toolCall: {id: t2, title: two, kind: read}, options: [{id: x, name: X, kind: allow_once}]}
        - request: {method: fs/read_text_file, params: {path: /x}, expectError: -32601}
        - request: {method: terminal/create, expectError: true}
        - request: {method: _x/y}
    - prompt: {contains: [one, two]}
      do: [{delay: 1ms}, {stderr: "noise\n"}, {raw: "{not json"}, {garbage: 100}, {bigLine: 4096}, {say: through}]
      stop: max_tokens
    - prompt: {any: true}
      do: [{ignoreCancel: true}, {say: last}, {error: {code: -32099, message: broken}}]
    - prompt: {any: true}
      do: [{fail: "no"}]
    - prompt: {any: true}
      do: [{stop: refusal}]
`

var everyPrompt = []string{
	"Review a b at revision 1 at revision 2", "again a b: p, q, p!", "different", "same", "one and two", "e", "f", "g", "too many",
}

func TestAG23_InProcessPipedAndProcessAgree(t *testing.T) {
	s := parse(t, everyStep, scenario.ParseOptions{})
	inside := inProcess(t, s, everyPrompt)
	require.Equal(t, []string{
		"The review of **a b** passed.\na1 at revision 2c|end_turn",
		"pq|end_turn",
		"|the agent answered with error -32010: scenario mismatch at stage 3",
		"allowed\n|end_turn",
		"through|max_tokens",
		"last|the agent answered with error -32099: broken",
		"|the agent answered with error -32603: no",
		"|refusal",
		"|the agent answered with error -32011: scenario exhausted",
	}, inside.Turns)
	require.Equal(t, []string{"t1", "t2"}, inside.Asked)
	require.Contains(t, inside.Report, `{"actual":"different","event":"mismatch","expected":"same","session":"","stage":3}`)
	require.Contains(t, inside.Report, `{"event":"exit","unconsumed":{"":0}}`)

	require.Equal(t, inside, piped(t, s, everyPrompt))

	in, out, report, cmd := process(t, everyStep)
	outside := driven(t, in, out, everyPrompt)
	require.NoError(t, cmd.Wait())
	written, err := os.ReadFile(report)
	require.NoError(t, err)
	outside.Report = lines(t, written)
	require.Equal(t, inside, outside)

	problems, err := scenario.Problems(bytes.NewReader(written))
	require.NoError(t, err)
	require.Equal(t, []string{
		`session "", stage 3: expected the prompt "same", got "different"`,
		`session "" has no stage for the prompt "too many"`,
	}, problems)
}

func TestReportsCarryRawParamsAndAreDeterministic(t *testing.T) {
	s := parse(t, everyStep, scenario.ParseOptions{})
	var reports [2]bytes.Buffer
	for i := range reports {
		in, out, done := scenario.Peer{Scenario: s, Report: &reports[i]}.Pipe(t.Context())
		driven(t, in, out, everyPrompt)
		require.NoError(t, <-done)
	}
	require.Equal(t, reports[0].String(), reports[1].String())
	require.Contains(t, reports[0].String(), `{"event":"initialize","params":`+initializeParams+"}\n")
	require.Contains(t, reports[0].String(), `{"event":"new","session":"","params":`+newParams+"}\n")
}

func TestProcessFaults(t *testing.T) {
	const text = `
version: 1
sessions:
  "": [{prompt: {any: true}, do: [{say: x}, %s]}]
`
	t.Run("crash", func(t *testing.T) {
		in, out, _, cmd := process(t, fmt.Sprintf(text, "{crash: 7}"))
		c := newWireClient(in, out)
		require.NoError(t, c.begin(t.Context()))
		require.Contains(t, c.prompt(t.Context(), "go"), "error")
		<-c.conn.Done()
		var failed *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &failed)
		require.Equal(t, 7, failed.ExitCode())
	})
	t.Run("closeOutput", func(t *testing.T) {
		in, out, _, cmd := process(t, fmt.Sprintf(text, "{closeOutput: true}"))
		c := newWireClient(in, out)
		require.NoError(t, c.begin(t.Context()))
		require.Contains(t, c.prompt(t.Context(), "go"), "error")
		<-c.conn.Done()
		require.NoError(t, in.Close())
		require.NoError(t, cmd.Wait())
	})
	t.Run("start and host effects", func(t *testing.T) {
		in, out, report, cmd := process(t, `
version: 1
sessions:
  "":
    - prompt: {any: true}
      do:
        - write: {path: out.txt, content: hi, expect: ok}
        - read: {path: out.txt, expect: ok}
        - read: {path: missing.txt, expect: denied}
        - spawn: {argv: [/bin/sh, -c, "exit 3"], expect: denied}
        - spawn: {argv: [/bin/sh, -c, "exit 0"], expect: denied}
`, "--allow-host-effects")
		c := newWireClient(in, out)
		require.NoError(t, c.begin(t.Context()))
		require.Contains(t, c.prompt(t.Context(), "go"), "expected of spawn denied, got ok")
		require.NoError(t, in.Close())
		require.NoError(t, cmd.Wait())
		content, err := os.ReadFile(filepath.Join(cmd.Dir, "out.txt"))
		require.NoError(t, err)
		require.Equal(t, "hi", string(content))
		written, err := os.ReadFile(report)
		require.NoError(t, err)
		require.Contains(t, string(written), `"entries":[],"environment":["GORACE","SCENARIO_TEST_AS_XMD"]`)
		problems, err := scenario.Problems(bytes.NewReader(written))
		require.NoError(t, err)
		require.Equal(t, []string{`session "", stage 1: expected of spawn denied, got ok`}, problems)
	})
}

func TestStateContinuesInAnotherProcess(t *testing.T) {
	const text = `
version: 1
capabilities: {load: true, resume: true}
requireComplete: true
sessions:
  n: [{prompt: "a {?x}", as: one}, {prompt: "b", do: [{waitRelease: go}, {say: "{one.x}"}]}]
`
	state := filepath.Join(t.TempDir(), "state")
	in, out, _, cmd := process(t, text, "--state", state, "--session", "n")
	c := newWireClient(in, out)
	require.NoError(t, c.begin(t.Context()))
	require.Equal(t, "fixture-n-1", c.session)
	require.Equal(t, "|end_turn", c.prompt(t.Context(), "a 1"))
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())

	in, out, report, cmd := process(t, text, "--state", state, "--session", "n")
	c = newWireClient(in, out)
	_, err := acp.SendRequest[any](c.conn, t.Context(), "session/resume", map[string]any{"sessionId": "fixture-n-9"})
	require.ErrorContains(t, err, "there is no such session")
	_, err = acp.SendRequest[any](c.conn, t.Context(), "session/load", map[string]any{"sessionId": "fixture-n-1"})
	require.NoError(t, err)
	require.Equal(t, "(history: 1 stage(s))", c.text.String())
	c.session = "fixture-n-1"
	require.NoError(t, os.WriteFile(filepath.Join(state, "go"), nil, 0o600))
	require.Equal(t, "1|end_turn", c.prompt(t.Context(), "b"))
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
	written, err := os.Open(report)
	require.NoError(t, err)
	defer written.Close()
	problems, err := scenario.Problems(written)
	require.NoError(t, err)
	require.Empty(t, problems)

	in, out, _, _ = process(t, strings.Replace(text, `"b"`, `"c"`, 1), "--state", state, "--session", "n")
	c = newWireClient(in, out)
	_, err = acp.SendRequest[any](c.conn, t.Context(), "session/resume", map[string]any{"sessionId": "fixture-n-1"})
	require.ErrorContains(t, err, "another scenario")
}
