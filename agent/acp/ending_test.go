package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/agent/acp"
)

// behind puts a shell command before the scripted agent's, in its process.
func behind(o *acp.Options, shell string) {
	e := o.Agents.Installed["fix"]
	e.Command = append([]string{"/bin/sh", "-c", shell + `; exec "$0" "$@"`}, e.Command...)
	e.Adapter = ""
	o.Agents.Installed["fix"] = e
}

// alive says whether a process still runs; a dead one nobody reaped does not.
func alive(pid string) bool {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest != "" && rest[0] != 'Z' && rest[0] != 'X'
}

// TestAG19_TheGroupGoesWithTheAgent: an agent that ignores the request to leave, and
// what it started, are gone when the provider is closed.
func TestAG19_TheGroupGoesWithTheAgent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it looks into /proc")
	}
	pids := filepath.Join(t.TempDir(), "pids")
	s := newStage(t, "sessions:\n  \"\":\n    - { prompt: { any: true }, do: [ { ignoreTerm: true }, { hang: true } ] }\n", func(o *acp.Options) {
		behind(o, "trap '' TERM; echo $$ >> "+pids+"; sleep 300 & echo $! >> "+pids)
		o.Timeouts = acp.Timeouts{Cancel: 50 * time.Millisecond, Leave: 50 * time.Millisecond, Terminate: 50 * time.Millisecond}
	})
	h := hear(t.Context(), s.Prompt("x", agent.PromptOptions{Cwd: s.dir, Timeout: 300 * time.Millisecond}))
	require.ErrorIs(t, h.err, agent.ErrPromptTimeout)
	require.NoError(t, s.Close(t.Context()))
	text, err := os.ReadFile(pids)
	require.NoError(t, err)
	list := strings.Fields(string(text))
	require.Len(t, list, 4, "the probe and the conversation")
	for _, pid := range list {
		require.Eventually(t, func() bool { return !alive(pid) }, 5*time.Second, 5*time.Millisecond)
	}
}

// TestAG19_MuchOutput: neither megabytes on standard error nor thousands of updates
// stop a turn.
func TestAG19_MuchOutput(t *testing.T) {
	chunks := strings.Repeat(`"x",`, 2500)
	s := newStage(t, "sessions:\n  \"\":\n    - { prompt: { any: true }, do: [ { say: { chunks: ["+chunks+"] } } ] }\n", func(o *acp.Options) {
		behind(o, "head -c 10485760 /dev/zero | tr '\\0' 'e' >&2")
	})
	h := hear(t.Context(), s.Prompt("x", agent.PromptOptions{Cwd: s.dir}))
	require.NoError(t, h.err)
	require.NoError(t, h.end.Err)
	require.Equal(t, strings.Repeat("x", 2500), h.text)
}

// TestAG20_AnObstinatePeerIsReplaced: one that ignores the cancellation is ended after
// the grace, and the next turn takes the conversation up in a new process.
func TestAG20_AnObstinatePeerIsReplaced(t *testing.T) {
	s := newStage(t, `
capabilities: { resume: true }
sessions:
  "n":
    - { prompt: { any: true }, do: [ { say: "one" } ] }
    - { prompt: { any: true }, do: [ { say: "two" }, { ignoreCancel: true }, { hang: true } ] }
`, func(o *acp.Options) {
		o.Timeouts = acp.Timeouts{Cancel: 50 * time.Millisecond, Leave: 50 * time.Millisecond}
		o.Sessions = acp.NewStore(filepath.Join(t.TempDir(), "sessions"))
	})
	named := agent.PromptOptions{Cwd: s.dir, Session: agent.SessionRef{Name: "n"}}
	first := hear(t.Context(), s.Prompt("x", named))
	require.NoError(t, first.err)
	named.Timeout = 200 * time.Millisecond
	for range 2 {
		h := hear(t.Context(), s.Prompt("x", named))
		require.NoError(t, h.err)
		require.Equal(t, "two", h.text)
		require.ErrorIs(t, h.end.Err, agent.ErrPromptTimeout)
		require.Equal(t, first.start.Session.ID, h.start.Session.ID)
	}
	require.NoError(t, s.Close(t.Context()))
	require.Equal(t, 1, count(s.events(), "new"))
	require.Equal(t, 1, count(s.events(), "resume"))
}

// A wire is a peer over pipes whose answers a test writes.
type wire struct {
	io.Reader
	io.WriteCloser
}

func (w wire) Close() error { return errors.Join(w.WriteCloser.Close(), w.Reader.(io.Closer).Close()) }

// dial connects a provider to answer, which gets each line the provider writes and
// returns the lines the peer writes then.
func dial(answer func(method string, id json.RawMessage) []string) func(acp.Launch) (io.ReadWriteCloser, error) {
	return func(acp.Launch) (io.ReadWriteCloser, error) {
		in, out := io.Pipe()
		from, to := io.Pipe()
		go func() {
			defer func() { _ = to.Close() }()
			for lines := bufio.NewScanner(in); lines.Scan(); {
				var m struct {
					ID     json.RawMessage
					Method string
				}
				_ = json.Unmarshal(lines.Bytes(), &m)
				for _, line := range answer(m.Method, m.ID) {
					if _, err := io.WriteString(to, line+"\n"); err != nil {
						return
					}
				}
			}
		}()
		return wire{from, out}, nil
	}
}

// TestAG20_RequestsAreAnsweredBeforeTheCancellation, and an undecided one has no audit.
func TestAG20_RequestsAreAnsweredBeforeTheCancellation(t *testing.T) {
	var order []string
	var prompt json.RawMessage
	peer := func(method string, id json.RawMessage) []string {
		result := func(id json.RawMessage, text string) []string {
			return []string{`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + text + `}`}
		}
		switch method {
		case "initialize":
			return result(id, `{"protocolVersion":1}`)
		case "session/new":
			return result(id, `{"sessionId":"s"}`)
		case "session/prompt":
			prompt = id
			return []string{`{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},` +
				`"options":[{"optionId":"a","name":"A","kind":"allow_once"}]}}`}
		case "session/cancel":
			order = append(order, "cancel")
			return result(prompt, `{"stopReason":"cancelled"}`)
		}
		order = append(order, "answer "+string(id))
		return nil
	}
	s := newStage(t, answers, func(o *acp.Options) { o.Dial = dial(peer) })
	told := 0
	asked := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	h := hear(ctx, s.Prompt("x", agent.PromptOptions{Cwd: s.dir, Policy: stubborn{asked}, Permission: func(agent.Audit) { told++ }}))
	require.ErrorIs(t, h.err, context.Canceled)
	require.Nil(t, h.end)
	require.NoError(t, s.Close(t.Context()))
	require.Zero(t, told)
	require.Equal(t, []string{`answer "q"`, "cancel"}, order)
}

// stubborn decides nothing before its context ends.
type stubborn struct{ asked chan struct{} }

func (s stubborn) Decide(ctx context.Context, _ agent.PermissionRequest) (agent.PermissionOutcome, error) {
	close(s.asked)
	<-ctx.Done()
	return agent.PermissionOutcome{OptionID: "a"}, nil
}

// TestNothingIsLeftOfAConversationThatDidNotBegin: whatever fails before a prompt is
// accepted leaves no record and no lock, and the same session can be tried again.
func TestNothingIsLeftOfAConversationThatDidNotBegin(t *testing.T) {
	for name, c := range map[string]struct{ fault, do string }{
		"new refused":   {"new: { error: { code: 7, message: no } }\n", "{ say: x }"},
		"no id":         {"new: { sessionId: \"\" }\n", "{ say: x }"},
		"prompt failed": {"", "{ error: { code: 7, message: no } }"},
		"crash":         {"", "{ crash: 3 }"},
		"only noise":    {"", "{ usage: { used: 1, size: 2 } }, { crash: 3 }"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "no id" {
				t.Skip("the scripted agent takes an empty id for none")
			}
			dir := filepath.Join(t.TempDir(), "sessions")
			s := newStage(t, fmt.Sprintf("%ssessions:\n  n:\n    - { prompt: { any: true }, do: [ %s ] }\n", c.fault, c.do), func(o *acp.Options) {
				o.Sessions = acp.NewStore(dir)
			})
			placed, err := s.Session(t.Context(), agent.Placement{Agent: "fix", Name: "n", Cwd: s.dir})
			require.NoError(t, err)
			require.NoDirExists(t, dir)
			for range 2 {
				h := hear(t.Context(), s.Prompt("x", agent.PromptOptions{Cwd: s.dir, Session: agent.SessionRef{Placed: placed}}))
				require.Error(t, h.err)
				require.Nil(t, h.start)
				require.Empty(t, placed.ID)
				for _, file := range left(t, dir) {
					require.True(t, strings.HasSuffix(file, ".lock"), file)
				}
			}
			other := acp.New(s.options) // the lock is free
			h := hear(t.Context(), other.Prompt("x", agent.PromptOptions{Cwd: s.dir, Session: agent.SessionRef{Name: "n"}}))
			require.NotErrorIs(t, h.err, agent.ErrSessionBusy)
			require.NoError(t, other.Close(t.Context()))
		})
	}
}

// TestADamagedRecordIsNoConversation.
func TestADamagedRecordIsNoConversation(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	s := newStage(t, answers, func(o *acp.Options) { o.Sessions = acp.NewStore(dir) })
	named := agent.PromptOptions{Cwd: s.dir, Session: agent.SessionRef{Name: "n"}}
	require.NoError(t, hear(t.Context(), s.Prompt("x", named)).err)
	require.NoError(t, s.Close(t.Context()))
	for _, file := range left(t, dir) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(`{"schema":"xmd.agent-session/1","more":1}`), 0o600))
	}
	again := acp.New(s.options)
	_, err := again.Session(t.Context(), agent.Placement{Agent: "fix", Name: "n", Cwd: s.dir})
	require.ErrorIs(t, err, agent.ErrSessionDamaged)
	require.ErrorIs(t, hear(t.Context(), again.Prompt("x", named)).err, agent.ErrSessionDamaged)
	require.NoError(t, again.Close(t.Context()))
}

// TestNothingRunsAfterClose: no goroutine outlives the provider. The one that looks
// counts itself.
func TestNothingRunsAfterClose(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		s := newStage(t, answers)
		require.NoError(t, hear(t.Context(), s.Prompt("x", agent.PromptOptions{Cwd: s.dir})).err)
		require.NoError(t, s.Close(t.Context()))
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, 5*time.Second, 5*time.Millisecond)
}
