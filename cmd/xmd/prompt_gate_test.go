//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPR10_TheGate: what a draft is resolved against may change while it is read. The
// gate finds out after everything that planned it has ended, and nothing follows.
func TestPR10_TheGate(t *testing.T) {
	d := newDesk(t)
	d.answers("<Widget />\n")
	write(t, d.dir, "Widget.md", "A widget.\n")
	p := d.prompt("r", "--save", "out.md", "--journal", "t.jsonl")
	r := p.ask()
	r.shows("```", "<Widget />\n")
	require.NoError(t, os.Remove(filepath.Join(d.dir, "Widget.md")))
	r.approve()
	require.Equal(t, 3, p.end())
	require.Contains(t, p.reported(), "the approved document does not validate")
	require.Contains(t, p.reported(), `"code": "component-unresolved"`)
	require.Empty(t, p.stdout.String())
	require.Len(t, d.turns(), 1, "the gate does not return to planning")
	d.requireTidy()
}

// exact is a document whose every byte matters.
const exact = "\n\r\n  Leading blanks, then CRLF\r\nand trailing spaces   \n\n\tno final line feed: \u00a0\u2028é\u0301"

// TestPR11_ExactBytes: what the agent said is what is saved and run, without rewriting.
func TestPR11_ExactBytes(t *testing.T) {
	for _, row := range []struct{ name, reply string }{
		{"bytes that editors touch", exact},
		{"a document in a fence", "```md\n# Not taken out\n```"},
		{"a byte order mark", "\ufeff# Title\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newDesk(t)
			d.answers(row.reply)
			p := d.prompt("r", "--save", "out.md", "--journal", "t.jsonl", "--raw")
			p.ask().approve()
			require.Zero(t, p.end(), p.stderr.String())
			require.Equal(t, row.reply, read(t, d.dir, "out.md"))
			status, stdout, _ := d.xmd("run", "--raw", "-e", row.reply, "--journal", "ordinary.jsonl")
			require.Zero(t, status)
			require.Equal(t, stdout, p.stdout.String())
			executed := d.imported("t.jsonl").Result.Value.Content
			require.Equal(t, d.imported("ordinary.jsonl").Result.Value.Content, executed)
			require.Equal(t, strings.TrimPrefix(row.reply, "\ufeff"), executed)
			d.requireTidy("ordinary.jsonl", "out.md", "t.jsonl")
		})
	}
}

// A record is a line of a journal, as far as tests here look at it.
type record struct {
	Type        string
	Description struct{ Type, Name string }
	Result      struct {
		Status string
		Value  struct{ Kind, Path, Content string }
	}
}

// imported is the first record of a journal.
func (d *desk) imported(name string) record {
	d.t.Helper()
	first, _, _ := strings.Cut(read(d.t, d.dir, name), "\n")
	var r record
	require.NoError(d.t, json.Unmarshal([]byte(first), &r))
	return r
}

// TestPR11_OnlyTheReply: what an agent thinks, plans and tells about itself is no part
// of its answer, and the answer may come in pieces.
func TestPR11_OnlyTheReply(t *testing.T) {
	d := newDesk(t)
	d.scenario(nil, turn(
		map[string]any{"thought": "I should greet.\n"},
		map[string]any{"say": map[string]any{"chunks": []string{"Hel", "lo.", "\n"}}},
		map[string]any{"plan": []string{"greet"}},
		map[string]any{"notice": "You are running low.\n"},
	))
	p := d.prompt("r", "--save", "out.md")
	p.ask().approve()
	require.Zero(t, p.end(), p.stderr.String())
	require.Equal(t, valid, read(t, d.dir, "out.md"))
	require.Equal(t, valid, p.stdout.String())
}

// TestPR11_APartialReplyIsNoDraft: text of a turn that did not complete is neither
// shown nor approved.
func TestPR11_APartialReplyIsNoDraft(t *testing.T) {
	for _, row := range []struct {
		name  string
		scene func(d *desk) scene
	}{
		{"cut off", func(d *desk) scene {
			return scene{"prompt": anyPrompt, "do": []any{d.say(valid)}, "stop": "max_tokens"}
		}},
		{"refused", func(d *desk) scene { return scene{"prompt": anyPrompt, "do": []any{d.say(valid)}, "stop": "refusal"} }},
		{"cancelled by the agent", func(d *desk) scene { return scene{"prompt": anyPrompt, "do": []any{d.say(valid)}, "stop": "cancelled"} }},
		{"failed", func(d *desk) scene { return turn(d.say(valid), map[string]any{"fail": "overloaded"}) }},
		{"an error", func(d *desk) scene {
			return turn(d.say(valid), map[string]any{"error": map[string]any{"code": -32000, "message": "log in"}})
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newDesk(t)
			d.scenario(nil, row.scene(d))
			p := d.prompt("r", "--save", "out.md", "--journal", "t.jsonl")
			require.Equal(t, 1, p.end(), p.stderr.String())
			require.NotContains(t, p.stderr.String(), "Hello.")
			require.Contains(t, p.stderr.String(), `agent "scripted"`)
			require.Equal(t, 1, strings.Count(p.stderr.String(), "\n"), p.stderr.String())
			require.Len(t, d.turns(), 1)
			d.requireTidy()
		})
	}
}

// TestPR12_JournalSeparation: the history of the run begins with the approved document
// and knows nothing of how it came about.
func TestPR12_JournalSeparation(t *testing.T) {
	d := newDesk(t)
	draft := "<File path=\"out.txt\">x</File>\n"
	d.answers(invalid, valid, draft)
	p := d.prompt("a request like no other", "--journal", "t.jsonl")
	p.ask().revise("a change like no other")
	p.ask().approve()
	require.Zero(t, p.end(), p.stderr.String())
	first := d.imported("t.jsonl")
	require.Equal(t, "import_component", first.Description.Type)
	require.Equal(t, "<prompt>", first.Result.Value.Path)
	require.Equal(t, draft, first.Result.Value.Content)
	history := read(t, d.dir, "t.jsonl")
	for _, word := range []string{"like no other", "agent_prompt", "elicit", "prompt-plan", "ValidateCandidate", "candidate", "xmd-prompt", "NoSuchComponent", "Hello."} {
		require.NotContains(t, history, word)
	}
	require.Contains(t, history, `"name":"File"`)

	// And it is a history of its own: it replays as the run it is.
	status, _, stderr := d.xmd("run", "-e", draft, "--replay", "t.jsonl")
	require.NotEqual(t, 2, status, stderr)
}

// TestPR12_NoJournal: planning that comes to nothing makes none.
func TestPR12_NoJournal(t *testing.T) {
	d := newDesk(t)
	d.answers(valid)
	p := d.prompt("r", "--journal", "t.jsonl", "--verbose")
	p.ask().abort()
	require.Equal(t, 1, p.end())
	require.NotContains(t, p.stderr.String(), "agent_prompt", "planning reports no events")
	d.requireTidy()
}

// TestPR12_JournalExists: the history is created with the run, and a file that is there
// stops it then, with the save standing.
func TestPR12_JournalExists(t *testing.T) {
	d := newDesk(t)
	d.answers("<File path=\"out.txt\">x</File>\n")
	write(t, d.dir, "t.jsonl", "precious\n")
	p := d.prompt("r", "--journal", "t.jsonl", "--save", "out.md")
	p.ask().approve()
	require.Equal(t, 2, p.end())
	require.Contains(t, p.reported(), "t.jsonl")
	require.Equal(t, "precious\n", read(t, d.dir, "t.jsonl"))
	d.requireTidy("out.md", "t.jsonl")
}

// TestPR12_RunQuestionsAreRecorded: a question of the approved document is one of the
// run, unlike the review.
func TestPR12_RunQuestionsAreRecorded(t *testing.T) {
	d := newDesk(t)
	d.answers(asksForAnAge)
	p := d.prompt("r", "--journal", "t.jsonl")
	p.ask().approve()
	p.ask().answer("36")
	require.Zero(t, p.end(), p.stderr.String())
	require.Equal(t, "You are 36.", p.stdout.String())
	require.Equal(t, 1, strings.Count(read(t, d.dir, "t.jsonl"), `"type":"elicit"`))
}

// TestPR13_FailedTeardown: a conversation that cannot be ended takes the approval with
// it.
func TestPR13_FailedTeardown(t *testing.T) {
	d := newDesk(t)
	d.scenario(script{"capabilities": map[string]any{"close": true}, "close": map[string]any{"error": map[string]any{"code": -32603, "message": "will not end"}}},
		d.replies("<File path=\"out.txt\">x</File>\n")...)
	p := d.prompt("r", "--save", "out.md", "--journal", "t.jsonl")
	p.ask().approve()
	require.Equal(t, 1, p.end(), p.stderr.String())
	require.Contains(t, p.reported(), "will not end")
	d.requireTidy()
}

// TestPR13_FailedTeardownIsAdded: it does not hide why the planning ended.
func TestPR13_FailedTeardownIsAdded(t *testing.T) {
	d := newDesk(t)
	d.scenario(script{"capabilities": map[string]any{"close": true}, "close": map[string]any{"error": map[string]any{"code": -32603, "message": "will not end"}}},
		d.replies(valid)...)
	p := d.prompt("r")
	p.ask().abort()
	require.Equal(t, 1, p.end(), p.stderr.String())
	require.Regexp(t, `(?s)you ended the review.*will not end`, p.reported())
	d.requireTidy()
}

// TestPR13_Interference: a directory that gained something is evidence, and what was
// written there is not trusted.
func TestPR13_Interference(t *testing.T) {
	d := newDesk(t)
	d.answers("<File path=\"out.txt\">x</File>\n")
	p := d.prompt("r", "--save", "out.md", "--journal", "t.jsonl")
	r := p.ask()
	place := d.sessions()[0].cwd(t)
	write(t, place, "planted.txt", "evidence\n")
	r.approve()
	require.Equal(t, 3, p.end(), p.stderr.String())
	require.Equal(t, "evidence\n", read(t, place, "planted.txt"))
	require.Empty(t, d.files())
}

// TestPR13_TheDirectoryVanished is the same for one that is gone.
func TestPR13_TheDirectoryVanished(t *testing.T) {
	d := newDesk(t)
	d.answers("<File path=\"out.txt\">x</File>\n")
	p := d.prompt("r", "--save", "out.md", "--journal", "t.jsonl")
	r := p.ask()
	require.NoError(t, os.Remove(d.sessions()[0].cwd(t)))
	r.approve()
	require.Equal(t, 3, p.end(), p.stderr.String())
	d.requireTidy()
}

// TestPR13_SaveComesFirst: the document that runs can read itself where it was saved.
func TestPR13_SaveComesFirst(t *testing.T) {
	d := newDesk(t)
	draft := "<File path=\"out.md\" />\n"
	d.answers(draft)
	p := d.prompt("r", "--save", "out.md")
	p.ask().approve()
	require.Zero(t, p.end(), p.stderr.String())
	require.Equal(t, draft+"\n", p.stdout.String())
}

// TestPR13_PlanningHasEnded: when the run begins, nothing of the planning is left. The
// document looks.
func TestPR13_PlanningHasEnded(t *testing.T) {
	needsBash(t)
	d := newDesk(t)
	d.answers("```bash exec\nfind \"$XDG_DATA_HOME/xmd\" -type d | sort | sed \"s|$XDG_DATA_HOME/||\"\n```\n")
	p := d.prompt("r")
	r := p.ask()
	require.NotEmpty(t, d.processes())
	r.approve()
	require.Zero(t, p.end(), p.stderr.String())
	require.Equal(t, "xmd\nxmd/agents\nxmd/agents/homes\nxmd/prompt\nxmd/prompt/sessions\n", p.stdout.String())
	require.Empty(t, d.processes())
}

// TestPR13_Deadline: a limit on the whole command that passed before anything was done.
func TestPR13_Deadline(t *testing.T) {
	d := newDesk(t)
	d.answers(valid)
	p := d.prompt("r", "--timeout", "1ms", "--save", "out.md", "--journal", "t.jsonl")
	require.Equal(t, 1, p.end())
	require.Contains(t, p.stderr.String(), "1 ms")
	require.Contains(t, p.stderr.String(), "exceeded")
	d.requireTidy()
}
