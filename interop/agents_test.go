//go:build unix

package interop

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// example is an agent that comes with the protocol's TypeScript library.
func example(t *testing.T, name string) []string {
	t.Helper()
	return []string{node(t), filepath.Join(modules(t, "examples"), "node_modules/@agentclientprotocol/sdk/dist/examples", name)}
}

// small is the agent of testdata, on a later release of the library.
func small(t *testing.T) []string {
	t.Helper()
	return []string{node(t), beside(t, "sdk", "agent.mjs")}
}

// beside puts a file of testdata into a folder of packages, where node finds them from it,
// and a contained program may read it. Tests that do so at once do not disturb each other.
func beside(t *testing.T, folder, name string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	path := filepath.Join(modules(t, folder), name)
	f, err := os.CreateTemp(filepath.Dir(path), name)
	require.NoError(t, err)
	_, err = f.Write(source)
	require.NoError(t, errors.Join(err, f.Close(), os.Rename(f.Name(), path)))
	return path
}

const (
	exampleBegins  = "I'll help you with that. Let me start by reading some files to understand the current situation."
	exampleGoesOn  = " Now I understand the project structure. I need to make some changes to improve it."
	exampleDenied  = " I understand you prefer not to make that change. I'll skip the configuration update."
	exampleAllowed = " Perfect! I've successfully updated the configuration. The changes have been applied."
)

// TestAG24_ExampleAgent: a whole turn of the library's example agent, with a tool call,
// and a permission request that the options of the command decide.
func TestAG24_ExampleAgent(t *testing.T) {
	for mode, ending := range map[string]string{"--deny-all": exampleDenied, "--approve-all": exampleAllowed} {
		t.Run(mode[2:], func(t *testing.T) {
			t.Parallel() // it pauses for seconds
			d := newDesk(t, map[string]any{"example": entry(example(t, "agent.js")...)})
			r := d.xmd("run", "-e", `<Prompt text="Improve the project" />`, "--default-agent", "example", mode, "--journal", "turn.jsonl")
			require.Equal(t, exampleBegins+exampleGoesOn+ending, r.succeeds())
			turns := d.turns("turn.jsonl")
			require.Len(t, turns, 1)
			require.Equal(t, "completed", turns[0].Status)
			require.Equal(t, "end_turn", turns[0].StopReason)
			require.Len(t, turns[0].Permissions, 1)
			d.nobodyLeft()
		})
	}
}

// TestAG24_ExampleAgentIsCancelled: the turn is interrupted, the agent is told, and
// nothing of it is left.
func TestAG24_ExampleAgentIsCancelled(t *testing.T) {
	t.Parallel()
	agent, wire := tap(t, example(t, "agent.js")...)
	d := newDesk(t, map[string]any{"example": agent})
	r := d.xmd("run", "-e", `<Prompt text="Improve the project" />never`, "--default-agent", "example")
	wire.says("agent_message_chunk")
	require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
	require.Equal(t, 130, r.wait(), r.stderr.String())
	require.NotContains(t, r.stdout.String(), "never")
	wire.says(`"stopReason":"cancelled"`)
	require.Contains(t, wire.heard(), `"session/cancel"`)
	d.nobodyLeft()
}

// TestAG24_TwoVersions: an agent that speaks the version of the protocol this command
// speaks and the draft of the next is spoken to in the former.
func TestAG24_TwoVersions(t *testing.T) {
	t.Parallel()
	agent, wire := tap(t, example(t, "dual-version-agent.js")...)
	d := newDesk(t, map[string]any{"dual": agent})
	require.Equal(t, "Hello from the v1 implementation.", d.xmd("run", "-e", `<Prompt text="Hello" />`, "--default-agent", "dual").succeeds())
	wire.says(`"protocolVersion":1`)
	d.nobodyLeft()
}

// line is what the small agent answered to an order.
func line(t *testing.T, text, order string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "`"+order+": ")
	require.True(t, found, "%s: %s", order, text)
	said, _, found := strings.Cut(rest, "`")
	require.True(t, found)
	return said
}

// TestAG24_SmallAgent: what a later release of the library understands of the requests
// it is sent, and what it is refused.
func TestAG24_SmallAgent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]any{"small": entry(small(t)...)})
	text := d.xmd("run", "-e", `<Prompt text="@wire() @where() @read(/etc/hostname) @ask()" />`, "--default-agent", "small", "--deny-all").succeeds()
	var wire struct {
		Initialize struct {
			ProtocolVersion    int
			ClientCapabilities struct {
				FS       struct{ ReadTextFile, WriteTextFile *bool }
				Terminal *bool
			}
			ClientInfo struct{ Name string }
		}
		Created map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(line(t, text, "wire")), &wire))
	require.Equal(t, 1, wire.Initialize.ProtocolVersion)
	require.Equal(t, "xmd", wire.Initialize.ClientInfo.Name)
	for _, offered := range []*bool{wire.Initialize.ClientCapabilities.FS.ReadTextFile, wire.Initialize.ClientCapabilities.FS.WriteTextFile, wire.Initialize.ClientCapabilities.Terminal} {
		require.Equal(t, new(bool), offered, "stated, and false")
	}
	dir, err := filepath.EvalSymlinks(d.dir)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"cwd": dir, "mcpServers": []any{}}, wire.Created, "an ordinary session has no _meta")
	require.Equal(t, `{"cwd":"`+dir+`","entries":[]}`, line(t, text, "where"))
	require.Equal(t, "refused -32601", line(t, text, "read"))
	require.Equal(t, "no", line(t, text, "ask"))

	text = d.xmd("run", "-e", `<Prompt text="@ask()" />`, "--default-agent", "small", "--approve-all").succeeds()
	require.Equal(t, "yes", line(t, text, "ask"))
	d.nobodyLeft()
}

// TestAG24_SmallAgentGoesOn: a named conversation is loaded by a later run. The agent
// tells what was said before, and that is not taken for the answer.
func TestAG24_SmallAgentGoesOn(t *testing.T) {
	t.Parallel()
	agent, wire := tap(t, small(t)...)
	d := newDesk(t, map[string]any{"small": agent})
	run := func(history string) string {
		return d.xmd("run", "-e", `<Session name="talk"><Prompt text="@count()" /></Session>`, "--default-agent", "small", "--journal", history).succeeds()
	}
	require.Equal(t, "`count: turn 1`", run("first.jsonl"))
	require.NotContains(t, wire.heard(), `"session/load"`)
	require.Equal(t, "`count: turn 2`", run("second.jsonl"))
	require.Contains(t, wire.heard(), `"session/load"`)
	wire.says("again: `count: turn 1`")
	require.Equal(t, d.turns("first.jsonl")[0].AgentSessionID, d.turns("second.jsonl")[0].AgentSessionID)
	require.Equal(t, 1, strings.Count(wire.heard(), `"session/new"`))
	require.Equal(t, 2, strings.Count(wire.heard(), `"session/close"`))
	d.nobodyLeft()
}

// TestAG24_HistoryAfterTheAnswer: an agent that tells what was said before only after it
// has answered the request to load is not taken to answer the next prompt with it.
func TestAG24_HistoryAfterTheAnswer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]any{"small": entry(append(small(t), "--late")...)})
	for _, want := range []string{"`count: turn 1`", "`count: turn 2`"} {
		r := d.xmd("run", "-e", `<Session name="talk"><Prompt text="@count()" /></Session>`, "--default-agent", "small")
		require.Equal(t, want, r.succeeds())
	}
	d.nobodyLeft()
}

// TestAG24_SmallAgentIsCancelled: the agent waits until it is told to stop.
func TestAG24_SmallAgentIsCancelled(t *testing.T) {
	t.Parallel()
	agent, wire := tap(t, small(t)...)
	d := newDesk(t, map[string]any{"small": agent})
	r := d.xmd("run", "-e", `<Prompt text="@wait()" />`, "--default-agent", "small")
	wire.says("waiting")
	require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
	require.Equal(t, 130, r.wait(), r.stderr.String())
	wire.says(`"stopReason":"cancelled"`)
	d.nobodyLeft()
}
