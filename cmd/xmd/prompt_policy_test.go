//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// repeated is a list of n equal texts.
func repeated(text string, n int) (list []string) {
	for range n {
		list = append(list, text)
	}
	return list
}

// TestPR3_Policy: how often the agent is asked, and how often the person.
func TestPR3_Policy(t *testing.T) {
	for _, row := range []struct {
		name    string
		replies []string
		turns   int
	}{
		{"a valid draft is repaired by nobody", []string{valid}, 1},
		{"a third repair may be the one that helps", []string{invalid, invalid, invalid, valid}, 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newDesk(t)
			d.answers(row.replies...)
			p := d.prompt("r")
			p.ask().approve()
			require.Zero(t, p.end(), p.stderr.String())
			require.Equal(t, valid, p.stdout.String())
			require.Len(t, d.turns(), row.turns)
			d.requireTidy()
		})
	}
}

// TestPR4_OneSession: every turn of an invocation belongs to one conversation, and
// two invocations have two.
func TestPR4_OneSession(t *testing.T) {
	d := newDesk(t)
	d.answers(invalid, invalid, invalid, invalid, valid)
	p := d.prompt("r")
	p.ask().revise("plain")
	p.ask().approve()
	require.Zero(t, p.end(), p.stderr.String())
	turns := d.turns()
	require.Len(t, turns, 5)
	require.Contains(t, turns[4], "\nplain\n")
	require.NotContains(t, turns[4], "## Structural elements", "a revision does not repeat the catalog")
	for _, repair := range turns[1:4] {
		require.Contains(t, repair, "component-unresolved")
	}
	require.Len(t, d.sessions(), 1)
	for _, e := range d.report() {
		if e.Event == "prompt" {
			require.Equal(t, d.sessions()[0].Session, e.Session)
		}
	}

	d.answers(valid)
	p = d.prompt("r")
	p.ask().approve()
	require.Zero(t, p.end(), p.stderr.String())
	sessions := d.sessions()
	require.Len(t, sessions, 2)
	require.NotEqual(t, sessions[0].Session, sessions[1].Session)
	require.NotEqual(t, sessions[0].cwd(t), sessions[1].cwd(t))
	require.Regexp(t, `^xmd-prompt:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, sessions[0].Session)
	d.requireTidy()
}

// TestPR4_NamedSession: a name is the same conversation in the same directory, one
// record, and no part of any path.
func TestPR4_NamedSession(t *testing.T) {
	d := newDesk(t)
	d.scenario(script{"capabilities": map[string]any{"load": true, "resume": true}}, d.replies(valid, "Hello again.\n")...)
	for i, request := range []string{"the first request", "the second request"} {
		p := d.prompt("--session", "ada-lovelace", request)
		p.ask().approve()
		require.Zero(t, p.end(), p.stderr.String())
		turns := d.turns()
		require.Len(t, turns, i+1)
		require.Contains(t, turns[i], "\n"+request+"\n")
		require.Contains(t, turns[i], "## Structural elements", "what continues a conversation carries the catalog again")
	}
	sessions := d.sessions()
	require.Len(t, sessions, 2)
	require.Equal(t, "new", sessions[0].Event)
	require.NotEqual(t, "new", sessions[1].Event)
	require.Equal(t, "ada-lovelace", sessions[0].Session)
	require.Equal(t, "ada-lovelace", sessions[1].Session)
	require.Equal(t, sessions[0].cwd(t), sessions[1].cwd(t))
	require.DirExists(t, sessions[0].cwd(t))
	require.Empty(t, names(t, sessions[0].cwd(t)))
	for _, name := range names(t, d.base) {
		require.NotContains(t, name, "ada")
	}
	records, err := filepath.Glob(d.path("data", "xmd", "agents", "sessions", "*.json"))
	require.NoError(t, err)
	require.Len(t, records, 1)
}

// TestPR4_NamedSessionInUse: the second of two commands with one name waits for
// nothing.
func TestPR4_NamedSessionInUse(t *testing.T) {
	d := newDesk(t)
	d.answers(valid)
	first := d.prompt("--session", "ada", "r")
	review := first.ask()
	second := d.prompt("--session", "ada", "r", "--save", "out.md")
	require.Equal(t, 3, second.end())
	require.Contains(t, second.stderr.String(), `"ada"`)
	require.Len(t, d.turns(), 1)
	review.approve()
	require.Zero(t, first.end(), first.stderr.String())
	require.Empty(t, d.files())
}

// TestPR5_Ceiling looks at the agent while its draft is being read.
func TestPR5_Ceiling(t *testing.T) {
	d := newDesk(t)
	write(t, d.dir, "notes.md", "work\n")
	d.env = append(d.env, "ANTHROPIC_API_KEY=canary", "SECRET_OF_MINE=canary")
	d.answers(valid)
	p := d.prompt("r", "--approve-all", "--include", ".")
	r := p.ask()

	session := d.sessions()[0]
	var params map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(session.Params, &params))
	require.Equal(t, `[]`, string(params["mcpServers"]))
	require.NotContains(t, params, "additionalDirectories")
	require.Contains(t, string(params["_meta"]), `"tools":[]`)
	require.Contains(t, string(params["_meta"]), `"allowedTools":[]`)
	require.Contains(t, string(params["_meta"]), `"additionalDirectories":[]`)
	place := session.cwd(t)
	require.Equal(t, d.path("data", "xmd", "prompt", "sessions"), filepath.Dir(place))
	require.Regexp(t, `^[0-9a-f]{64}$`, filepath.Base(place))
	require.Empty(t, names(t, place))
	for _, e := range d.report() {
		switch e.Event {
		case "initialize":
			require.Contains(t, e.raw, `"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false}`)
		case "start":
			require.Empty(t, e.Start.Entries)
			require.NotContains(t, e.Start.Environment, "SECRET_OF_MINE")
			require.NotContains(t, e.Start.Environment, "XMD_AGENTS_FILE")
		}
	}
	r.abort()
	require.Equal(t, 1, p.end())
	d.requireTidy("notes.md")
}

// TestPR5_PermissionIsDenied: what the agent asks permission for is denied whatever
// the line says, and fails the turn.
func TestPR5_PermissionIsDenied(t *testing.T) {
	for _, mode := range []string{"--approve-all", "--approve-reads", "--deny-all"} {
		t.Run(mode, func(t *testing.T) {
			d := newDesk(t)
			d.scenario(nil, turn(
				map[string]any{"toolCall": map[string]any{"id": "t1", "title": "read", "kind": "read", "status": "pending"}},
				map[string]any{"permission": map[string]any{"toolCall": "t1", "options": []any{
					map[string]any{"id": "a", "name": "Allow", "kind": "allow_once"},
					map[string]any{"id": "never", "name": "Never", "kind": "reject_always"},
					map[string]any{"id": "r", "name": "Reject", "kind": "reject_once"},
				}}},
				d.say("<File path=\"out.txt\">x</File>\n")))
			p := d.prompt("r", mode, "--save", "out.md", "--journal", "t.jsonl")
			require.Equal(t, 1, p.end())
			require.NotContains(t, p.stderr.String(), "out.txt", "no part of a failed turn is shown")
			require.Len(t, d.turns(), 1)
			answered := d.named("permission")
			require.Len(t, answered, 1)
			require.Contains(t, answered[0].raw, `"outcome":"selected r"`)
			d.requireTidy()
		})
	}
}

// TestPR5_ClientMethods: a draft of an agent that tried to reach files or a terminal
// through this program is no draft.
func TestPR5_ClientMethods(t *testing.T) {
	for _, method := range []string{"fs/read_text_file", "fs/write_text_file", "terminal/create"} {
		t.Run(method, func(t *testing.T) {
			d := newDesk(t)
			write(t, d.dir, "notes.md", "work\n")
			d.scenario(nil, turn(
				map[string]any{"request": map[string]any{"method": method, "expectError": -32601,
					"params": map[string]any{"path": filepath.Join(d.dir, "notes.md"), "content": "x", "command": "true"}}},
				d.say(valid)))
			p := d.prompt("r", "--approve-all")
			require.Equal(t, 1, p.end())
			require.Equal(t, "work\n", read(t, d.dir, "notes.md"))
			d.requireTidy("notes.md")
		})
	}
}

// TestPR5_PlantedFile: a directory of a conversation that is not empty is nobody's to
// empty, and no agent works in it.
func TestPR5_PlantedFile(t *testing.T) {
	d := newDesk(t)
	d.answers(valid, valid)
	p := d.prompt("r", "--session", "ada")
	p.ask().approve()
	require.Zero(t, p.end(), p.stderr.String())
	before := len(d.report())
	place := d.sessions()[0].cwd(t)
	write(t, place, "planted.txt", "evidence\n")
	p = d.prompt("r", "--session", "ada", "--save", "out.md")
	require.Equal(t, 3, p.end())
	require.Contains(t, p.stderr.String(), place)
	require.Equal(t, "evidence\n", read(t, place, "planted.txt"))
	require.Len(t, d.report(), before, "nothing was started")
	require.Empty(t, d.files())
}

// TestPR6_Inertness: a draft is text. What it would do is not done while it is judged,
// shown and left.
func TestPR6_Inertness(t *testing.T) {
	var fetched atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fetched.Add(1) }))
	defer server.Close()
	for _, row := range []struct{ name, draft string }{
		{"a file", "<File path=\"out.txt\">x</File>\n"},
		{"everything", "<File path=\"out.txt\">x</File>\n\n```bash exec\ntouch ran.txt\n```\n\n<Fetch url=\"" + server.URL + "\" />\n\n" +
			"```js eval\nthrow new Error(\"evaluated\")\n```\n\n{props.request} {1 + 1}\n\n<Let as=\"x\" value={(() => { throw new Error(\"evaluated\") })()} />\n\n<Evaluate>x</Evaluate>\n\n<Prompt>more</Prompt>\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newDesk(t)
			d.answers(row.draft)
			p := d.prompt("r")
			r := p.ask()
			fence := "```"
			if strings.Contains(row.draft, "```") {
				fence = "````"
			}
			r.shows(fence, row.draft)
			r.abort()
			require.Equal(t, 1, p.end())
			require.Empty(t, p.stdout.String())
			require.Len(t, d.turns(), 1)
			d.requireTidy()
		})
	}
	require.Zero(t, fetched.Load())
}

// TestPR8_RepairsAreExhausted: the fourth invalid draft is shown with what is wrong,
// and cannot be approved.
func TestPR8_RepairsAreExhausted(t *testing.T) {
	d := newDesk(t)
	d.answers(repeated(invalid, 4)...)
	p := d.prompt("r")
	r := p.ask()
	require.Equal(t, []string{"revise", "abort"}, r.choices)
	r.shows("```", invalid)
	require.Contains(t, r.message, "```json\n{")
	require.Contains(t, r.message, `"component-unresolved"`)
	require.Contains(t, r.message, `"version": 1`)
	r.abort()
	require.Equal(t, 1, p.end())
	require.Len(t, d.turns(), 4)
	d.requireTidy()
}

// TestPR8_TenPresentations: nine revisions of valid drafts, and then no more.
func TestPR8_TenPresentations(t *testing.T) {
	d := newDesk(t)
	var drafts []string
	for i := range 10 {
		drafts = append(drafts, "Draft number "+strconv.Itoa(i)+".\n")
	}
	d.answers(drafts...)
	p := d.prompt("r")
	for i := range 9 {
		r := p.ask()
		require.Equal(t, []string{"approve", "revise", "abort"}, r.choices)
		r.shows("```", drafts[i])
		require.NotContains(t, r.message, "Draft number "+strconv.Itoa(i-1), "drafts do not add up")
		r.revise("again")
	}
	r := p.ask()
	require.Equal(t, []string{"approve", "abort"}, r.choices)
	r.approve()
	require.Zero(t, p.end(), p.stderr.String())
	require.Equal(t, drafts[9], p.stdout.String())
	require.Len(t, d.turns(), 10)
	d.requireTidy()
}

// TestPR8_FortyTurns: the most that can happen. It ends with the sentence about ten
// drafts, once.
func TestPR8_FortyTurns(t *testing.T) {
	d := newDesk(t)
	d.answers(repeated(invalid, 40)...)
	p := d.prompt("r", "--save", "out.md", "--journal", "t.jsonl")
	for range 9 {
		r := p.ask()
		require.Equal(t, []string{"revise", "abort"}, r.choices)
		r.revise("again")
	}
	r := p.ask()
	require.Equal(t, []string{"abort"}, r.choices)
	r.abort()
	require.Equal(t, 1, p.end())
	require.Len(t, d.turns(), 40)
	require.Equal(t, 1, strings.Count(p.reported(), "ten drafts"))
	require.Equal(t, 1, strings.Count(p.reported(), "\n"), p.reported())
	require.NotContains(t, p.reported(), "you ended the review")
	d.requireTidy()
}

// TestPR8_ARevisionSaysWhat: without feedback the question stays open, and nothing is
// sent.
func TestPR8_ARevisionSaysWhat(t *testing.T) {
	d := newDesk(t)
	d.answers(valid, valid)
	p := d.prompt("r")
	r := p.ask()
	require.NotEmpty(t, r.refused("revise", "").faults)
	require.NotEmpty(t, r.refused("revise").faults)
	require.Len(t, d.turns(), 1)
	r.revise(" ")
	p.ask().approve()
	require.Zero(t, p.end(), p.stderr.String())
	require.Len(t, d.turns(), 2)
}

// TestPR9_Presentation: what the person reads is the draft, whatever it holds; what
// runs and is saved are its bytes.
func TestPR9_Presentation(t *testing.T) {
	for _, row := range []struct{ name, fence, draft, shown string }{
		{"fences", "``````", "```text\ninside\n```\n\nA run of five: `````\n", ""},
		{"a draft in a fence", "````", "```md\n# Title\n```\n", ""},
		{"what would be interpolated", "```", "{'{props.request}'} and <Let as=\"x\" value={1} />{x}\n", ""},
		{"hidden characters", "```", "a\u202eb\x1b[31mc\u200bd\n", "a\\u202eb\\u001b[31mc\\u200bd\n"},
		{"markup of a page", "```", "</pre><script>alert(1)</script> &amp; &lt;\n", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newDesk(t)
			d.answers(row.draft)
			p := d.prompt("r", "--save", "out.md")
			r := p.ask()
			shown := row.shown
			if shown == "" {
				shown = row.draft
			}
			r.shows(row.fence, shown)
			r.abort()
			require.Equal(t, 1, p.end())

			d.answers(row.draft)
			p = d.prompt("r", "--save", "out.md")
			p.ask().approve()
			p.end()
			require.Equal(t, row.draft, read(t, d.dir, "out.md"))
		})
	}
}

// TestPR9_NothingIsInterpreted: a draft that names the inputs of the program, or fails,
// does neither while it is shown.
func TestPR9_NothingIsInterpreted(t *testing.T) {
	d := newDesk(t)
	draft := "{props.request}\n\n<Fail message=\"x\" />\n"
	d.answers(draft)
	p := d.prompt("the request")
	r := p.ask()
	r.shows("```", draft)
	r.abort()
	require.Equal(t, 1, p.end())
	require.Contains(t, p.reported(), "you ended the review")
}

// TestPR9_AuthoredFailure: leaving the review says so once, also after the last valid
// draft, and says nothing else.
func TestPR9_AuthoredFailure(t *testing.T) {
	for _, row := range []struct {
		name      string
		revisions int
	}{{"the first round", 0}, {"a valid tenth", 9}} {
		t.Run(row.name, func(t *testing.T) {
			d := newDesk(t)
			d.answers(repeated(valid, 10)...)
			p := d.prompt("r", "--save", "out.md", "--journal", "t.jsonl")
			for range row.revisions {
				p.ask().revise("again")
			}
			p.ask().abort()
			require.Equal(t, 1, p.end())
			require.Empty(t, p.stdout.String())
			require.Equal(t, 1, strings.Count(p.reported(), "you ended the review"))
			require.Equal(t, 1, strings.Count(p.reported(), "\n"), p.reported())
			d.requireTidy()
		})
	}
}

// TestPR14_Narrative: the rule for writing is in every kind of turn, and a document
// that follows it is shown, run and printed as it was written.
func TestPR14_Narrative(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", "examples", "prompt", "age.md"))
	require.NoError(t, err)
	d := newDesk(t)
	d.answers(invalid, valid, string(document))
	p := d.prompt("ask me for my age and write the result to a file", "--save", "approved.md")
	p.ask().revise("as a story")
	r := p.ask()
	r.shows("```", string(document))
	r.approve()
	age := p.ask()
	require.Contains(t, age.message, "How old are you?")
	age.answer("36")
	require.Zero(t, p.end(), p.stderr.String())
	require.Equal(t, "You are 36 years old.\n", read(t, d.dir, "age.txt"))
	require.Equal(t, string(document), read(t, d.dir, "approved.md"))
	for _, prose := range []string{"# How old you are\n", "kept in `age.txt`", "We now know that you are 36."} {
		require.Contains(t, p.stdout.String(), prose)
	}
	turns := d.turns()
	require.Len(t, turns, 3)
	for _, text := range turns {
		for _, rule := range []string{"ordinary prose", "every outcome the request asks for", "not a script with comments", "one complete document", "no code fence around it"} {
			require.Contains(t, text, rule)
		}
	}
	require.Contains(t, turns[0], "Use nothing outside this list")
	require.Contains(t, turns[2], "\nas a story\n")
	d.requireTidy("age.txt", "approved.md")
}
