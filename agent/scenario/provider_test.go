package scenario_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/agent/scenario"
)

func jsonText(s string) (string, bool) {
	b, err := json.Marshal(s)
	return string(b), err == nil && utf8.ValidString(s)
}

// script is a scenario of one session whose stages take any prompt.
func script(t *testing.T, head string, stages ...string) *scenario.Scenario {
	t.Helper()
	text := "version: 1\n" + head + "sessions:\n  s:\n"
	for _, s := range stages {
		text += "    - {prompt: {any: true}, do: [" + s + "]}\n"
	}
	return parse(t, text, scenario.ParseOptions{})
}

var inS = agent.PromptOptions{Cwd: "/w", Session: agent.SessionRef{Name: "s"}}

func TestTurnsAreColdAndPlacementsInert(t *testing.T) {
	var report bytes.Buffer
	p := scenario.NewProvider(script(t, "", "{say: x}"), scenario.ProviderOptions{Report: &report})
	turn := p.Prompt("x", inS)
	require.Zero(t, report.Len())
	s, err := p.Session(t.Context(), agent.Placement{Name: "s", Cwd: "/w", Identity: "1"})
	require.NoError(t, err)
	require.Equal(t, "{\"event\":\"initialize\"}\n", report.String())
	require.Empty(t, s.ID)
	again, err := p.Session(t.Context(), agent.Placement{Name: "s", Cwd: "/w", Identity: "2"})
	require.NoError(t, err)
	require.Same(t, s, again)
	_, _, err = take(t.Context(), turn)
	require.NoError(t, err)
	require.Equal(t, "fixture-s-1", s.ID)
	text, end, err := take(t.Context(), turn) // an independent turn
	require.NoError(t, err)
	require.Empty(t, text)
	require.ErrorContains(t, end.Err, "exhausted")
	require.NoError(t, p.Close(t.Context()))
}

func TestSessionsOfOthersAreRefused(t *testing.T) {
	p := scenario.NewProvider(script(t, "", "{say: x}"), scenario.ProviderOptions{Agents: []string{"a", "b"}})
	s, err := p.Session(t.Context(), agent.Placement{Name: "s", Cwd: "/w"})
	require.NoError(t, err)
	forged := *s
	for name, c := range map[string]struct {
		session *agent.Session
		agent   string
		code    agent.Code
	}{
		"copy":        {&forged, "a", agent.ErrSessionForeign},
		"other agent": {s, "b", agent.ErrSessionMismatch},
		"unknown":     {s, "c", agent.ErrUnavailable},
	} {
		_, _, err := take(t.Context(), p.Prompt("x", agent.PromptOptions{Agent: c.agent, Session: agent.SessionRef{Placed: c.session}}))
		require.ErrorIs(t, err, c.code, name)
	}
	require.NoError(t, p.Close(t.Context()))
	_, _, err = take(t.Context(), p.Prompt("x", agent.PromptOptions{Session: agent.SessionRef{Placed: s}}))
	require.Error(t, err)
	_, err = p.Agent(t.Context(), "")
	require.Error(t, err)
}

func TestUndeclaredSessionsFailBeforeTheTurn(t *testing.T) {
	p := scenario.NewProvider(script(t, "", "{say: x}"), scenario.ProviderOptions{})
	for _, name := range []string{"", "t"} {
		_, _, err := take(t.Context(), p.Prompt("x", agent.PromptOptions{Session: agent.SessionRef{Name: name}}))
		require.ErrorContains(t, err, "has no session")
	}
	star := parse(t, `{"version":1,"sessions":{"*":[{"prompt":"x"}]}}`, scenario.ParseOptions{})
	p = scenario.NewProvider(star, scenario.ProviderOptions{})
	for _, cwd := range []string{"/a", "/b"} { // another directory is another script
		_, end, err := take(t.Context(), p.Prompt("x", agent.PromptOptions{Cwd: cwd, Session: agent.SessionRef{Name: "t"}}))
		require.NoError(t, err)
		require.Equal(t, agent.Completed, end.Status)
	}
	_, _, err := take(t.Context(), p.Prompt("x", agent.PromptOptions{}))
	require.ErrorContains(t, err, "has no session")
}

func TestOneTurnAtATimeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var state scenario.Memory
		p := scenario.NewProvider(script(t, "", "{waitRelease: go}, {say: '1'}", "{say: '2'}", "{say: '3'}"), scenario.ProviderOptions{State: &state})
		var wg sync.WaitGroup
		results := make([]string, 4)
		skipped, cancel := context.WithCancel(t.Context())
		for i := range results {
			ctx := t.Context()
			if i == 1 {
				ctx = skipped
			}
			wg.Go(func() {
				text, end, err := take(ctx, p.Prompt("x", inS))
				results[i] = fmt.Sprintf("%s %t %v", text, end != nil, err)
			})
			synctest.Wait()
		}
		cancel() // a waiter that leaves blocks nobody
		synctest.Wait()
		state.Release("go")
		wg.Wait()
		require.Equal(t, []string{"1 true <nil>", " false context canceled", "2 true <nil>", "3 true <nil>"}, results)
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestEndings(t *testing.T) {
	for name, c := range map[string]struct {
		head, steps string
		text        string
		status      agent.Status // empty: nothing started
		code        agent.Code
	}{
		"crash":              {"", "{say: a}, {crash: 1}", "a", agent.Failed, agent.ErrPeerGone},
		"crash at once":      {"", "{crash: 1}", "", "", agent.ErrPeerGone},
		"closed output":      {"", "{say: a}, {closeOutput: true}", "a", agent.Failed, agent.ErrPeerGone},
		"too long a line":    {"", "{say: a}, {bigLine: 11534336}", "a", agent.Failed, agent.ErrProtocol},
		"login":              {"", "{say: a}, {error: {code: -32000, message: m}}", "a", agent.Failed, agent.ErrAuthRequired},
		"refusal":            {"", "{stop: refusal}", "", agent.Failed, ""},
		"peer cancelled":     {"", "{say: a}, {stop: cancelled}", "a", agent.Cancelled, ""},
		"login at new":       {"new: {error: {code: -32000, message: m}}\n", "{say: a}", "", "", agent.ErrAuthRequired},
		"new hangs":          {"new: {hang: true}\n", "{say: a}", "", "", agent.ErrProtocol},
		"no identity":        {"new: {sessionId: ''}\n", "{say: a}", "", "", agent.ErrProtocol},
		"version":            {"initialize: {protocolVersion: 2}\n", "{say: a}", "", "", agent.ErrUnavailable},
		"hang":               {"", "{say: a}, {hang: true}", "a", agent.Failed, agent.ErrPromptTimeout},
		"deaf":               {"", "{say: a}, {ignoreCancel: true}, {delay: 2m}", "a", agent.Failed, agent.ErrPromptTimeout},
		"wait":               {"", "{say: a}, {waitCancel: true}, {say: b}", "ab", agent.Failed, agent.ErrPromptTimeout},
		"delay":              {"", "{say: a}, {delay: 2m}, {say: b}", "a", agent.Failed, agent.ErrPromptTimeout},
		"expectation":        {"", "{say: a}, {request: {method: m, expectError: -1}}", "a", agent.Failed, agent.ErrStopReason},
		"raw line is update": {"", `{raw: '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"fixture-s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"r"}}}}'}`, "r", agent.Completed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := scenario.NewProvider(script(t, c.head, c.steps), scenario.ProviderOptions{})
				o := inS
				o.Timeout = time.Minute
				text, end, err := take(t.Context(), p.Prompt("x", o))
				require.Equal(t, c.text, text)
				if c.status == "" {
					require.Nil(t, end)
					require.ErrorIs(t, err, c.code)
				} else {
					require.NoError(t, err)
					require.Equal(t, c.status, end.Status)
					if c.code != "" {
						require.ErrorIs(t, end.Err, c.code)
					}
				}
				require.NoError(t, p.Close(t.Context()))
			})
		})
	}
}

func TestALostPeerIsReattachedOrRefused(t *testing.T) {
	stages := []string{"{say: a}", "{permission: {toolCall: t, options: [{id: o, name: n, kind: allow_once}], on: {o: [{crash: 1}]}}}, {say: b}"}
	for head, code := range map[string]agent.Code{"": agent.ErrSessionNotResumable, "capabilities: {resume: true}\n": ""} {
		p := scenario.NewProvider(script(t, head, stages...), scenario.ProviderOptions{})
		crash := inS
		crash.Policy = &approve{}
		_, _, err := take(t.Context(), p.Prompt("x", inS))
		require.NoError(t, err)
		_, end, err := take(t.Context(), p.Prompt("x", crash))
		require.NoError(t, err)
		require.ErrorIs(t, end.Err, agent.ErrPeerGone)
		text, _, err := take(t.Context(), p.Prompt("x", inS)) // denied, so it does not crash
		if code != "" {
			require.ErrorIs(t, err, code)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "b", text) // the stage that was not answered is played again
	}
}

func TestAProviderContinuesAnotherOnesState(t *testing.T) {
	var state scenario.Memory
	s := script(t, "capabilities: {load: true}\n", "{say: a}", "{say: b}")
	for _, want := range []string{"a", "b"} {
		p := scenario.NewProvider(s, scenario.ProviderOptions{State: &state})
		text, _, err := take(t.Context(), p.Prompt("x", inS))
		require.NoError(t, err)
		require.Equal(t, want, text)
		require.NoError(t, p.Close(t.Context()))
	}
}

// reversed answers the second request before the first.
type reversed struct{ second chan struct{} }

func (r reversed) Decide(ctx context.Context, q agent.PermissionRequest) (agent.PermissionOutcome, error) {
	switch q.Tool.ID {
	case "1":
		<-r.second
	case "2":
		defer close(r.second)
	case "3":
		panic("no")
	}
	return agent.PermissionOutcome{OptionID: "o"}, nil
}

func TestPermissionsAreToldInTheOrderTheyArrive(t *testing.T) {
	const one = `{toolCall: %q, options: [{id: o, name: n, kind: allow_once}, {id: z, name: n, kind: fifth}], expect: {%s}}`
	s := script(t, "", "{toolCall: {id: '1', title: t, kind: read}}, {permission: {concurrent: ["+
		fmt.Sprintf(one, "1", "selected: o")+", "+fmt.Sprintf(one, "2", "selected: o")+", "+fmt.Sprintf(one, "3", "cancelled: true")+"]}}, {say: ok}")
	p := scenario.NewProvider(s, scenario.ProviderOptions{})
	var audits []agent.Audit
	o := inS
	o.Policy = reversed{make(chan struct{})}
	o.Permission = func(a agent.Audit) { audits = append(audits, a) }
	text, end, err := take(t.Context(), p.Prompt("x", o))
	require.NoError(t, err)
	require.NoError(t, end.Err)
	require.Equal(t, "ok", text)
	require.Len(t, audits, 2)
	require.Equal(t, "1", audits[0].Tool.ID)
	require.Equal(t, "read", audits[0].Tool.Kind)
	require.Equal(t, "2", audits[1].Tool.ID)
	require.Empty(t, audits[1].Tool.Kind)
}

func TestTheSinkEndsTheTurn(t *testing.T) {
	p := scenario.NewProvider(script(t, "", "{say: a}, {say: b}", "{say: c}"), scenario.ProviderOptions{})
	broken := errors.New("broken")
	text, err := p.Prompt("x", inS).Run(t.Context(), func(e agent.Event) error {
		if d, is := e.(agent.TextDelta); is && d.Text == "b" {
			return broken
		}
		if _, is := e.(agent.Terminal); is {
			t.Error("a terminal after a failure of the sink")
		}
		return nil
	})
	require.ErrorIs(t, err, broken)
	require.Equal(t, "a", text)
	text, _, err = take(t.Context(), p.Prompt("x", inS))
	require.NoError(t, err)
	require.Equal(t, "c", text)
}

func TestCloseWithASuspendedStage(t *testing.T) {
	for _, step := range []string{"{waitCancel: true}", "{waitRelease: never}", "{delay: 5min}", "{hang: true}",
		"{permission: {toolCall: t, options: []}}, {delay: 5min}"} {
		synctest.Test(t, func(t *testing.T) {
			p := scenario.NewProvider(script(t, "capabilities: {close: true}\nclose: {error: {code: -1, message: stuck}}\n", "{say: a}, "+step), scenario.ProviderOptions{})
			done := make(chan error, 1)
			go func() {
				_, end, err := take(t.Context(), p.Prompt("x", inS))
				if end != nil {
					err = errors.New("a terminal after the provider was closed")
				}
				done <- err
			}()
			synctest.Wait()
			err := p.Close(t.Context())
			if !strings.Contains(step, "hang") { // its peer is gone, so nobody closes the session
				require.ErrorIs(t, err, agent.ErrTeardown)
			}
			require.ErrorContains(t, <-done, "closed")
		})
	}
}

func TestPipeEndsWithASuspendedStage(t *testing.T) {
	for _, step := range []string{"waitCancel: true", "waitRelease: never", "delay: 5min", "hang: true", "permission: {toolCall: t, options: []}"} {
		s := parse(t, "version: 1\nsessions: {\"\": [{prompt: {any: true}, do: [{say: a}, {"+step+"}]}]}", scenario.ParseOptions{})
		in, out, done := scenario.Peer{Scenario: s}.Pipe(t.Context())
		ready := make(chan struct{}, 8)
		go func() {
			for buf := make([]byte, 1<<16); ; {
				if _, err := out.Read(buf); err != nil {
					return
				}
				ready <- struct{}{}
			}
		}()
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}`,
			`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"fixture--1","prompt":[]}}`,
		} {
			_, err := fmt.Fprintln(in, line)
			require.NoError(t, err)
			<-ready
		}
		require.NoError(t, in.Close())
		require.NoError(t, <-done)
	}
}

// A cancellation right behind its prompt reaches the turn.
func TestCancellationKeepsItsPlace(t *testing.T) {
	s := parse(t, `{"version":1,"sessions":{"":[{"prompt":{"any":true},"do":[{"waitCancel":true}]}]}}`, scenario.ParseOptions{})
	for range 50 {
		in, out, done := scenario.Peer{Scenario: s}.Pipe(t.Context())
		answers := bufio.NewScanner(out)
		_, err := fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"session/new"}`)
		require.NoError(t, err)
		require.True(t, answers.Scan())
		_, err = fmt.Fprint(in, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"fixture--1","prompt":[]}}`+"\n"+
			`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"fixture--1"}}`+"\n")
		require.NoError(t, err)
		require.True(t, answers.Scan())
		require.JSONEq(t, `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}}`, answers.Text())
		require.NoError(t, in.Close())
		require.NoError(t, <-done)
	}
}

func TestIgnoreTermOutlastsTheInput(t *testing.T) {
	s := parse(t, `{"version":1,"sessions":{"":[{"prompt":{"any":true},"do":[{"ignoreTerm":true}]}]}}`, scenario.ParseOptions{})
	synctest.Test(t, func(t *testing.T) {
		told := false
		ctx, cancel := context.WithCancel(t.Context())
		in, out, done := scenario.Peer{Scenario: s, IgnoreTerm: func() { told = true }}.Pipe(ctx)
		answers := bufio.NewScanner(out)
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"session/new"}`,
			`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"fixture--1","prompt":[]}}`,
		} {
			_, err := fmt.Fprintln(in, line)
			require.NoError(t, err)
			require.True(t, answers.Scan())
		}
		require.NoError(t, in.Close())
		synctest.Wait()
		require.True(t, told)
		require.Empty(t, done)
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	})
}

func ExampleNewProvider() {
	s, err := scenario.Parse("review.yaml", []byte(`
version: 1
sessions:
  "":
    - prompt: "Review {?subject}"
      as: review
      do: [{say: "{review.subject} is fine.\n"}]
`), scenario.ParseOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var report bytes.Buffer
	p := scenario.NewProvider(s, scenario.ProviderOptions{Report: &report})
	ctx := context.Background()
	ignore := func(agent.Event) error { return nil }
	text, err := p.Prompt("Review the parser", agent.PromptOptions{}).Run(ctx, ignore)
	fmt.Print(text)
	if err != nil {
		fmt.Println(err)
	}
	_, _ = p.Prompt("And the printer?", agent.PromptOptions{}).Run(ctx, ignore)
	if err := p.Close(ctx); err != nil {
		fmt.Println(err)
	}
	problems, _ := scenario.Problems(&report)
	fmt.Println(problems)
	// Output:
	// the parser is fine.
	// [session "" has no stage for the prompt "And the printer?"]
}
