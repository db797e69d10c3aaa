//go:build unix

package interop

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The agents of these tests have no profile, so that nothing but the kernel holds them
// to the ceiling.

// TestAG24_APlanOfAnAgentWithTwoVersions: a sentence becomes a document of the library's
// agent, is read, approved, kept and run.
func TestAG24_APlanOfAnAgentWithTwoVersions(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]any{"dual": entry(example(t, "dual-version-agent.js")...)})
	needsKernel(t)
	const document = "Hello from the v1 implementation."
	r := d.xmd("prompt", "--ask", "web", "--default-agent", "dual", "--save", "kept.md", "greet me")
	page := r.review(1)
	require.NotNil(t, page, r.stderr.String())
	require.Contains(t, page.shows(), document)
	page.choose("approve")
	require.Equal(t, document, r.succeeds())
	require.Equal(t, document, d.file("kept.md"))
	d.nobodyLeft()
	d.nothingKept()
}

// TestAG24_APlanOfTheSmallAgent: the whole ceiling, as a program that is held by it sees
// it, and the run of what it wrote, which is held by none.
func TestAG24_APlanOfTheSmallAgent(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]any{"small": entry(small(t)...)})
	d.env = append(d.env, "CANARY=sings")
	needsKernel(t)
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "secret.txt"), []byte("nobody may know"), 0o600))
	request := strings.Join([]string{
		"@wire() @where() @names()", "@peek(/etc/shadow)", "@peek(" + d.dir + "/secret.txt)", "@leave(" + d.dir + "/left.txt)", "@leave(left.txt)", "@document()",
	}, " ")
	r := d.xmd("prompt", "--ask", "web", "--default-agent", "small", "--save", "kept.md", "--approve-all", request)
	page := r.review(1)
	require.NotNil(t, page, r.stderr.String())
	require.Empty(t, d.file("greeting.txt"), "nothing has run yet")
	page.choose("approve")
	require.Contains(t, r.succeeds(), "A greeting")
	require.Equal(t, "Hello from an agent nobody here wrote.", d.file("greeting.txt"))
	d.nobodyLeft()
	d.nothingKept()

	draft := d.file("kept.md")
	var where struct {
		Cwd     string
		Entries []string
	}
	require.NoError(t, json.Unmarshal([]byte(line(t, draft, "where")), &where))
	require.Empty(t, where.Entries)
	require.NotEqual(t, d.dir, where.Cwd)
	var wire struct{ Created map[string]any }
	require.NoError(t, json.Unmarshal([]byte(line(t, draft, "wire")), &wire))
	require.Equal(t, where.Cwd, wire.Created["cwd"])
	require.Empty(t, wire.Created["mcpServers"])
	require.NotContains(t, wire.Created, "additionalDirectories")
	meta, _ := json.Marshal(wire.Created["_meta"])
	require.Contains(t, string(meta), `"tools":[]`)
	require.Contains(t, string(meta), `"systemPrompt"`)
	require.NotContains(t, strings.Fields(line(t, draft, "names")), "CANARY")
	require.NotContains(t, draft, "nobody may know")
	for rest, n := draft, 0; n < 2; n++ {
		require.Equal(t, "no EACCES", line(t, rest, "peek"))
		_, rest, _ = strings.Cut(rest, "`peek: ")
	}
	for rest, n := draft, 0; n < 2; n++ {
		require.Equal(t, "no EACCES", line(t, rest, "leave"))
		_, rest, _ = strings.Cut(rest, "`leave: ")
	}
	require.NoFileExists(t, filepath.Join(d.dir, "left.txt"))
}

// TestAG24_WhatAPlanningAgentAsksFor: a turn in which an agent reaches for a tool, a
// permission or a file of the client fails, whatever the options say, and nobody is
// shown what it wrote.
func TestAG24_WhatAPlanningAgentAsksFor(t *testing.T) {
	for name, c := range map[string]struct{ agent, request string }{
		"an example that uses tools": {"example", "improve the project"},
		"a permission":               {"small", "@ask() @document()"},
		"a file":                     {"small", "@read(/etc/hostname) @document()"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, map[string]any{"small": entry(small(t)...), "example": entry(example(t, "agent.js")...)})
			needsKernel(t)
			r := d.xmd("prompt", "--ask", "web", "--default-agent", c.agent, "--approve-all", "--save", "kept.md", c.request)
			require.Nil(t, r.review(1))
			require.Equal(t, 1, r.wait(), r.stderr.String())
			require.Empty(t, r.stdout.String())
			require.NoFileExists(t, filepath.Join(d.dir, "kept.md"))
			require.NoFileExists(t, filepath.Join(d.dir, "greeting.txt"))
			d.nobodyLeft()
			d.nothingKept()
		})
	}
}

// TestAG24_APlanGoesOn: a named planning conversation is loaded by the next command.
func TestAG24_APlanGoesOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]any{"small": entry(small(t)...)})
	needsKernel(t)
	for _, turn := range []string{"turn 1", "turn 2"} {
		r := d.xmd("plan", "--ask", "web", "--default-agent", "small", "--session", "talk", "@count() @document()")
		page := r.review(1)
		require.NotNil(t, page, r.stderr.String())
		require.Contains(t, page.shows(), "count: "+turn)
		page.choose("Approve")
		out := r.succeeds()
		require.Equal(t, turn, line(t, out, "count"))
		require.True(t, strings.HasSuffix(out, "\n\nThat is all."), "the approved bytes and nothing else")
		require.NoFileExists(t, filepath.Join(d.dir, "greeting.txt"), "a plan runs nothing")
	}
	d.nobodyLeft()
}

// nothingKept checks that planning in a conversation without a name left nothing.
func (d *desk) nothingKept() {
	d.t.Helper()
	for _, place := range []string{"xmd/prompt/sessions", "xmd/agents/homes", "xmd/agents/sessions"} {
		entries, err := os.ReadDir(filepath.Join(d.root, "data", place))
		if err == nil {
			require.Empty(d.t, entries, place)
		}
	}
}
