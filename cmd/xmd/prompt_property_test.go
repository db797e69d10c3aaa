//go:build unix

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPR7_CandidateFaults: what is wrong with a draft goes back to the agent, with all
// that is known of it.
func TestPR7_CandidateFaults(t *testing.T) {
	for _, row := range []struct {
		name  string
		draft string
		args  []string
		env   string
		sent  []string
	}{
		{"frontmatter that never closes", "---\nprops: [\n# Title\n", nil, "", []string{`"frontmatter-invalid"`, `"version": 1`}},
		{"two properties of one option", "---\nprops:\n  type: object\n  properties:\n    firstName: { type: string }\n    first_name: { type: string }\n---\nx\n",
			nil, "", []string{`"generated-binding-collision"`, `--props-first-name`, `"firstName"`, `"first_name"`}},
		{"a property nobody gave", requiring("name", "string"), nil, "", []string{`"props-invalid"`, "name"}},
		{"an aggregate that breaks the schema", requiring("n", "number"), []string{"--props", `{"n":"x"}`}, "", []string{`"props-invalid"`}},
		{"an aggregate with a property too many", requiring("name", "string"), []string{"--props", `{"name":"a","more":1}`}, "", []string{`"props-invalid"`}},
		{"a variable of the aggregate with a property too many", requiring("name", "string"), nil, `XMD_PROPS={"name":"a","more":1}`, []string{`"props-invalid"`}},
		{"an element nobody knows", invalid, nil, "", []string{`"component-unresolved"`, `"NoSuchComponent"`, `"<prompt>"`}},
		{"an element without what it needs", "<File />\n", nil, "", []string{`"props-invalid"`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			if row.env != "" {
				d.env = append(d.env, row.env)
			}
			d.answers(row.draft, "---\nprops: { type: object }\n---\n"+valid)
			p := d.prompt(append([]string{"r"}, row.args...)...)
			p.ask().approve()
			require.Zero(t, p.end(), p.stderr.String())
			require.Equal(t, valid, p.stdout.String())
			turns := d.turns()
			require.Len(t, turns, 2)
			for _, words := range row.sent {
				require.Contains(t, turns[1], words)
			}
			d.requireTidy()
		})
	}
}

// TestPR7_CallerFaults: what the person got wrong ends the command at the first draft
// that shows it. Nobody is asked, and nothing is sent back.
func TestPR7_CallerFaults(t *testing.T) {
	for _, row := range []struct {
		name  string
		draft string
		args  []string
		env   string
		says  string
	}{
		{"an option the draft does not declare", valid, []string{"--props-nothing", "x"}, "", "--props-nothing"},
		{"an aggregate that is no JSON", valid, []string{"--props", "{oops"}, "", "--props"},
		{"an aggregate that is no object", valid, []string{"--props", "[]"}, "", "--props"},
		{"a variable that is no JSON", valid, nil, "XMD_PROPS={oops", "XMD_PROPS"},
		{"a value the property cannot have", requiring("name", "boolean"), []string{"--props-name=no-bool"}, "", "no-bool"},
		{"a variable the property cannot have", requiring("n", "number"), nil, "XMD_PROPS_N=many", "XMD_PROPS_N"},
		{"a word after a switch", requiring("loud", "boolean"), []string{"--props-loud", "true"}, "", "true"},
		{"no value", requiring("name", "string"), []string{"--props-name", "--raw"}, "", "--props-name"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			if row.env != "" {
				d.env = append(d.env, row.env)
			}
			d.answers(row.draft, valid)
			p := d.prompt(append([]string{"r", "--save", "out.md", "--journal", "t.jsonl"}, row.args...)...)
			require.Equal(t, 2, p.end(), p.stderr.String())
			require.Contains(t, p.stderr.String(), row.says)
			require.Empty(t, p.stdout.String())
			require.Len(t, d.turns(), 1)
			d.requireTidy()
		})
	}
}

// TestPR7_FrozenSignatures: what an option takes was settled by the draft that first
// used it. A later one that would read the same words otherwise is refused before any
// of them is.
func TestPR7_FrozenSignatures(t *testing.T) {
	for _, row := range []struct{ name, first, second string }{
		{"a value becomes a switch", requiring("name", "string"), requiring("name", "boolean")},
		{"a value becomes a list", requiring("name", "string"), strings.Replace(requiring("name", "array"), "type: array", "type: array, items: { type: string }", 1)},
		{"the option goes away", requiring("name", "string"), valid},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newDesk(t)
			d.answers(row.first, row.second, valid)
			p := d.prompt("r", "--props-name", "Ada", "--raw", "--save", "out.md")
			p.ask().revise("otherwise")
			require.Equal(t, 2, p.end(), p.stderr.String())
			require.Contains(t, p.reported(), "--props-name")
			require.NotContains(t, p.reported(), `"Ada"`, "no word was read the other way")
			require.NotContains(t, p.reported(), "--raw")
			require.Len(t, d.turns(), 2)
			d.requireTidy()
		})
	}
}

// TestPR7_WhatNobodyGaveIsNotFrozen: a draft may add, drop and reshape what was not
// supplied.
func TestPR7_WhatNobodyGaveIsNotFrozen(t *testing.T) {
	d := newDesk(t)
	optional := func(kind string) string {
		return strings.Replace(requiring("name", kind), "  required: [name]\n", "", 1)
	}
	d.answers(optional("string"), optional("boolean"), valid)
	p := d.prompt("r")
	p.ask().revise("otherwise")
	p.ask().revise("otherwise")
	p.ask().approve()
	require.Zero(t, p.end(), p.stderr.String())
}

// TestPR7_DynamicProps: what cannot be checked without running is no fault.
func TestPR7_DynamicProps(t *testing.T) {
	d := newDesk(t)
	d.answers("<Let as=\"name\" value={[\"out\", \"txt\"].join(\".\")} />\n<File path={name}>x</File>\n")
	p := d.prompt("r")
	p.ask().approve()
	require.Zero(t, p.end(), p.stderr.String())
	require.Len(t, d.turns(), 1)
	d.requireTidy("out.txt")
}

// TestPR10_PropertiesBelongToTheBytes: the type is no part of a signature, and no
// object of properties outlives the draft it was made for.
func TestPR10_PropertiesBelongToTheBytes(t *testing.T) {
	d := newDesk(t)
	d.answers(requiring("count", "number"), requiring("count", "string"))
	p := d.prompt("r", "--props-count", "7")
	p.ask().revise("as text")
	p.ask().approve()
	require.Zero(t, p.end(), p.stderr.String())
	require.Equal(t, "It is \"7\".\n", p.stdout.String())
}

// TestPR15_Properties: where a property comes from, and where the document works.
func TestPR15_Properties(t *testing.T) {
	d := newDesk(t)
	d.env = append(d.env, "XMD_PROPS_NAME=from the variable", `XMD_PROPS={"name":"from the environment","only":"environment"}`, "XMD_PROPS_UNDECLARED=x")
	d.answers(`---
props:
  type: object
  additionalProperties: false
  required: [name]
  properties:
    name: { type: string }
    loud: { type: boolean }
    inner: { type: object }
    only: { type: string }
    left: { type: string, default: by default }
---
<Let as="all" value={JSON.stringify([props.name, props.loud, props.inner, props.only, props.left])} />
<File path="out.txt">{all}</File>
`)
	p := d.prompt("r", "--props", `{"name":"aggregate","inner":{"x":1}}`, "--props-name", "first", "--props-name", "Ada", "--props-loud")
	p.ask().approve()
	require.Zero(t, p.end(), p.stderr.String())
	require.Equal(t, `["Ada",true,{"x":1},"environment","by default"]`, read(t, d.dir, "out.txt"))
	d.requireTidy("out.txt")
}

// TestPR15_AsAnOrdinaryRun: what the approved bytes come to is what xmd run -e comes to
// with them.
func TestPR15_AsAnOrdinaryRun(t *testing.T) {
	needsBash(t)
	for _, row := range []struct {
		name, document string
		options        []string
	}{
		{"text", "# Title\n\nSome **bold** text.\n", nil},
		{"raw text", "# Title\n\nSome **bold** text.\n", []string{"--raw"}},
		{"a value", "---\nreturns: { type: object }\n---\nShown nowhere.\n<Return value={{ a: [1, \"x\"] }} />\n", nil},
		{"a component", "<Greeting name=\"Ada\" />\n", []string{"--include", "lib"}},
		{"a command that fails", "Before.\n\n```bash exec\necho out; echo err >&2; exit 3\n```\n\nAfter.\n", nil},
		{"a printed error", "<PrintErrors>\n<File path=\"missing.txt\" />\n</PrintErrors>\n", nil},
		{"a printed error, strictly", "<PrintErrors>\n<File path=\"missing.txt\" />\n</PrintErrors>\n", []string{"--strict"}},
		{"a failure in the document", "<Fail message=\"on purpose\" />\n", nil},
		{"a command that takes too long", "```bash exec\nsleep 600\n```\n", []string{"--timeout-exec", "50ms"}},
		{"no generated text", "<Evaluate>x</Evaluate>\n", []string{"--no-evaluate"}},
		{"events", "Text.\n", []string{"--verbose"}},
		{"no look for secrets", "Text.\n", []string{"--no-secret-detection"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			write(t, d.dir, "lib/Greeting.md", "---\nprops: { name: { type: string } }\n---\nHello {props.name}.\n")
			d.answers(row.document)
			status, stdout, stderr := d.xmd(append([]string{"run", "-e", row.document}, row.options...)...)

			p := d.prompt(append([]string{"r", "--save", "out.md"}, row.options...)...)
			p.ask().approve()
			require.Equal(t, status, p.end(), p.stderr.String())
			require.Equal(t, stdout, p.stdout.String())
			require.Equal(t, strings.ReplaceAll(stderr, "<eval>", "<prompt>"), p.reported())
			require.Equal(t, row.document, read(t, d.dir, "out.md"), "the save stands")
			require.Len(t, d.turns(), 1, "a failure does not return to planning")
		})
	}
}

// TestPR15_PermissionsOfTheRun: the modes of the line are about the approved document,
// whose agent is a fresh one.
func TestPR15_PermissionsOfTheRun(t *testing.T) {
	for mode, shown := range map[string]string{"--approve-all": "allowed\n", "--deny-all": "denied\n"} {
		t.Run(mode, func(t *testing.T) {
			d := newDesk(t)
			permission := map[string]any{"permission": map[string]any{"toolCall": "t1", "options": []any{
				map[string]any{"id": "a", "name": "Allow", "kind": "allow_once"}, map[string]any{"id": "r", "name": "Reject", "kind": "reject_once"},
			}, "on": map[string]any{"a": []any{map[string]any{"say": "allowed\n"}}, "r": []any{map[string]any{"say": "denied\n"}}}}}
			call := map[string]any{"toolCall": map[string]any{"id": "t1", "title": "write", "kind": "edit", "status": "pending"}}
			d.plays(map[string][]scene{"*": d.replies("<Prompt>do it</Prompt>"), "": {turn(call, permission)}})
			p := d.prompt("r", mode)
			p.ask().approve()
			require.Zero(t, p.end(), p.stderr.String())
			require.Equal(t, shown, p.stdout.String())
			sessions := d.sessions()
			require.Len(t, sessions, 2)
			require.NotContains(t, string(sessions[1].Params), "systemPrompt", "the instructions of planning are not inherited")
			require.Equal(t, d.dir, sessions[1].cwd(t))
			require.Equal(t, "do it", strings.TrimSpace(d.turns()[1]))
		})
	}
}

// TestPR15_OneDefaultAgent: the variable decides for the planning and for the run.
func TestPR15_OneDefaultAgent(t *testing.T) {
	d := newDesk(t)
	d.plays(map[string][]scene{"*": d.replies("<Prompt>do it</Prompt>"), "": d.replies("done\n")})
	text := read(t, d.base, "agents.yaml")
	write(t, d.base, "agents.yaml", strings.Replace(text, `"defaultAgent":"scripted"`, `"defaultAgent":"nobody"`, 1))
	require.NoError(t, os.Chmod(d.path("agents.yaml"), 0o600))
	d.env = append(d.env, "DEFAULT_AGENT_NAME=scripted")
	p := d.prompt("r")
	p.ask().approve()
	require.Zero(t, p.end(), p.stderr.String())
	require.Equal(t, "done\n", p.stdout.String())
	require.Len(t, d.sessions(), 2)
}
