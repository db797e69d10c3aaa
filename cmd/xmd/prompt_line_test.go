//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/plan"
)

const (
	valid   = "Hello.\n"
	invalid = "<NoSuchComponent />\n"
)

// requiring is a document that cannot run without a property, and shows it.
func requiring(name, kind string) string {
	return "---\nprops:\n  type: object\n  additionalProperties: false\n  required: [" + name + "]\n  properties:\n    " +
		name + ": { type: " + kind + " }\n---\n<Let as=\"shown\" value={JSON.stringify(props." + name + ")} />It is {shown}.\n"
}

// TestPR1_AcceptedLines: the request reaches the agent byte for byte, and the rest of
// the line what it is for.
func TestPR1_AcceptedLines(t *testing.T) {
	loud := "---\nprops:\n  type: object\n  properties:\n    name: { type: string }\n    loud: { type: boolean }\n---\n{props.name} {props.loud} **bold**\n"
	for _, row := range []struct {
		name    string
		args    []string
		reply   string
		request string
		stdout  string
		files   []string
	}{
		{"plain", []string{"write a greeting"}, valid, "write a greeting", valid, nil},
		{"white space is kept", []string{"  spaced\n"}, valid, "  spaced\n", valid, nil},
		{"a dash-leading request", []string{"--", "--not-an-option"}, valid, "--not-an-option", valid, nil},
		{"a request that spells a known option", []string{"--", "--help"}, valid, "--help", valid, nil},
		{"aggregate first", []string{"--props", `{"name":"Ada"}`, "r"}, requiring("name", "string"), "r", "It is \"Ada\".\n", nil},
		{"known options first", []string{"--save", "out.md", "--session", "ada", "r"}, valid, "r", valid, []string{"out.md"}},
		{"property options swallow no option", []string{"r", "--props-name", "Ada", "--props-loud", "--raw", "--include", "lib"}, loud, "r", "Ada true **bold**\n", nil},
		{"an inline value with a dash", []string{"r", "--props-name=-Ada"}, requiring("name", "string"), "r", "It is \"-Ada\".\n", nil},
		{"a value with a dash", []string{"r", "--props-n", "-5"}, requiring("n", "number"), "r", "It is -5.\n", nil},
		{"an inline value that spells an option", []string{"r", "--props-name=--raw"}, requiring("name", "string"), "r", "It is \"--raw\".\n", nil},
		{"an inline value that is empty", []string{"r", "--props-name="}, requiring("name", "string"), "r", "It is \"\".\n", nil},
		{"a repeated property", []string{"r", "--props-tag", "a", "--props-tag", "b"}, strings.Replace(requiring("tag", "array"), "type: array", "type: array, items: { type: string }", 1), "r", "It is [\"a\",\"b\"].\n", nil},
		{"a word the document decides about", []string{"r", "--props-loud", "true"}, requiring("loud", "string"), "r", "It is \"true\".\n", nil},
		{"a lone dash", []string{"-"}, valid, "-", valid, nil},
		{"no ASCII", []string{"größe \u202e \x1b[31m"}, valid, "größe \u202e \x1b[31m", valid, nil},
		{"a fence of its own", []string{"a\n```\nb"}, valid, "a\n```\nb", valid, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.answers(row.reply)
			p := d.prompt(row.args...)
			p.ask().approve()
			require.Zero(t, p.end(), p.stderr.String())
			require.Equal(t, row.stdout, p.stdout.String())
			turns := d.turns()
			require.Len(t, turns, 1)
			require.Contains(t, turns[0], "\n"+row.request+"\n")
			require.Equal(t, append([]string{}, row.files...), d.files())
		})
	}
}

// TestPR1_RefusedLines: a line that is wrong ends before anything else.
func TestPR1_RefusedLines(t *testing.T) {
	d := newDesk(t)
	d.answers(valid)
	for _, row := range []struct {
		args []string
		says []string
	}{
		{nil, []string{"one request"}},
		{[]string{"--save", "out.md"}, []string{"one request"}},
		{[]string{""}, []string{"non-whitespace"}},
		{[]string{" \t\n"}, []string{"non-whitespace"}},
		{[]string{"\u2003\u00a0"}, []string{"non-whitespace"}},
		{[]string{"a", "b"}, []string{`"b"`, "one request"}},
		{[]string{"--", "a", "b"}, []string{`"b"`, "one request"}},
		{[]string{"--", "a", "--raw"}, []string{`"--raw"`, "one request"}},
		{[]string{"--props-name", "Ada", "r"}, []string{"--props-name", "follow the request"}},
		{[]string{"--props-name=Ada", "r"}, []string{"--props-name", "follow the request"}},
		{[]string{"--props-name", "Ada", "r", "--save", "out.md"}, []string{"--props-name", "follow the request"}},
		{[]string{"r", "--no-props-loud"}, []string{"no negated form"}},
		{[]string{"r", "--no-props"}, []string{"no negated form"}},
		{[]string{"r", "-e", "# x"}, []string{"--eval", "xmd run"}},
		{[]string{"r", "--eval", "# x"}, []string{"--eval", "xmd run"}},
		{[]string{"r", "--eval=# x"}, []string{"--eval", "xmd run"}},
		{[]string{"r", "--plan", "p.md"}, []string{"--plan"}},
		{[]string{"r", "--plan-eval", "x"}, []string{"--plan-eval"}},
		{[]string{"r", "--output", "o"}, []string{"--output"}},
		{[]string{"r", "--json"}, []string{"--json"}},
		{[]string{"r", "--replay", "o"}, []string{"--replay"}},
		{[]string{"r", "--session", ""}, []string{"--session", "name"}},
		{[]string{"r", "--session="}, []string{"--session", "name"}},
		{[]string{"r", "--session"}, []string{"--session", "name"}},
		{[]string{"r", "--save", ""}, []string{"--save", "path"}},
		{[]string{"r", "--save="}, []string{"--save", "path"}},
		{[]string{"r", "--save"}, []string{"--save", "path"}},
		{[]string{"r", "--props"}, []string{"--props", "JSON object"}},
		{[]string{"r", "--include"}, []string{"--include", "value"}},
		{[]string{"r", "--journal"}, []string{"--journal", "value"}},
		{[]string{"r", "--secret-detection=false"}, []string{"--secret-detection", "no value"}},
		{[]string{"r", "--no-secret-detection=true"}, []string{"--no-secret-detection", "no value"}},
		{[]string{"r", "--approve-all", "--deny-all"}, []string{"mutually exclusive"}},
		{[]string{"r", "--approve-all", "--approve-reads"}, []string{"mutually exclusive"}},
		{[]string{"r", "--agent-provider", "nope"}, []string{"nope"}},
		{[]string{"r", "--agent-provider", "--raw"}, []string{"--agent-provider"}},
		{[]string{"r", "--default-agent", "--raw"}, []string{"--default-agent"}},
		{[]string{"r", "--timeout", "abc"}, []string{"--timeout", "duration"}},
		{[]string{"r", "--timeout-exec", "abc"}, []string{"--timeout-exec", "duration"}},
		{[]string{"r", "--timeout-fetch", "abc"}, []string{"--timeout-fetch", "duration"}},
		{[]string{"r", "--profile", "missing.yaml"}, []string{"missing.yaml"}},
		{[]string{"r", "--ask", "none"}, []string{"--ask"}},
		{[]string{"r", "--ask", "terminal"}, []string{"--ask", "terminal"}}, // there is none here
		{[]string{"r", "--session", "\xff"}, []string{"--session", "UTF-8"}},
		{[]string{"r", "--save", "out/"}, []string{"--save", "out/", "file"}},
		{[]string{"r", "--save", "out", "--journal", "./out"}, []string{"--save", "--journal", "same file"}},
	} {
		t.Run(strings.Join(row.args, " "), func(t *testing.T) {
			status, stdout, stderr := d.xmd(append([]string{"prompt"}, row.args...)...)
			require.Equal(t, 2, status, stderr)
			require.Empty(t, stdout)
			for _, words := range row.says {
				require.Contains(t, stderr, words)
			}
		})
	}
	d.untouched(t)
}

// untouched checks that no phase after the fixed preflight began.
func (d *desk) untouched(t *testing.T) {
	t.Helper()
	require.Empty(t, d.report())
	require.Empty(t, d.files())
	require.NoDirExists(t, d.path("data"))
}

// TestPR1_AgentsAreConfiguredBeforeAnything: a configuration that is wrong is part of
// the line.
func TestPR1_AgentsAreConfiguredBeforeAnything(t *testing.T) {
	d := newDesk(t)
	d.answers(valid)
	write(t, d.base, "agents.yaml", "version: 1\nagent: x\n")
	status, _, stderr := d.xmd("prompt", "r", "--save", "out.md")
	require.Equal(t, 2, status)
	require.Contains(t, stderr, "agents.yaml: line 2, column 1")
	d.untouched(t)
}

// TestPR1_Help: help has no effect, wins over what is wrong with the line, and does
// not describe the elements.
func TestPR1_Help(t *testing.T) {
	d := newDesk(t)
	d.answers(valid)
	status, plain, stderr := d.xmd("prompt", "--help")
	require.Zero(t, status, stderr)
	for _, args := range [][]string{
		{"--help", "--save", "out.md", "--journal", "t.jsonl", "--default-agent", "none"},
		{"r", "--help", "--no-such-option"},
		{"-h", "a", "b"},
		{"--props-name", "Ada", "r", "-h"},
	} {
		status, stdout, stderr := d.xmd(append([]string{"prompt"}, args...)...)
		require.Zero(t, status, stderr)
		require.Equal(t, plain, stdout)
		require.Empty(t, stderr)
	}
	for _, words := range []string{"exactly one text", "not a path", `xmd prompt "`, "--save", "--session", "--props", "XMD_PROPS",
		"--props-name Ada", "after the request", "--include", "--approve-all", "--timeout-exec", "no tools", "empty directory", "denied"} {
		require.Contains(t, plain, words)
	}
	require.NotContains(t, plain, "<Elicit>")
	d.untouched(t)

	status, _, stderr = d.xmd("prompt", "--save", "--help")
	require.Equal(t, 2, status, "--help is the value of another option there")
	require.Contains(t, stderr, "one request")
}

// TestPromptCompletion: the shell completes what an option takes, and no request.
func TestPromptCompletion(t *testing.T) {
	d := newDesk(t)
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"prompt", ""}, ":4\n"},
		{[]string{"prompt", "r", "--save", ""}, ":0\n"},
		{[]string{"prompt", "r", "-j", ""}, ":0\n"},
		{[]string{"prompt", "hj", ""}, ":4\n"},
		{[]string{"prompt", "r", "--include", ""}, ":16\n"},
		{[]string{"prompt", "r", "--ask", ""}, "terminal\nweb\n:4\n"},
		{[]string{"prompt", "r", "--session", ""}, ":4\n"},
		{[]string{"plan", "r", "--save", ""}, ":4\n"},
		{[]string{"plan", "r", "--ask", ""}, "terminal\nweb\n:4\n"},
	} {
		status, stdout, stderr := d.xmd(append([]string{"__complete"}, row.args...)...)
		require.Zero(t, status, stderr)
		require.Equal(t, row.want, stdout, "%q", row.args)
	}
	d.untouched(t)
}

// TestPR2_PackagedRoot: nothing planted in the tree takes the place of the program, of
// its elements or of the element that judges.
func TestPR2_PackagedRoot(t *testing.T) {
	d := newDesk(t)
	d.answers(invalid, valid)
	write(t, d.dir, "prompt-plan.md", "PLANTED\n")
	for _, name := range []string{"prompt-plan", "ValidateCandidate", "If", "Loop", "CodeBlock", "Session", "Prompt", "Elicit", "Return", "Fail", "Let"} {
		write(t, d.dir, "components/"+name+".md", "PLANTED <Fail message=\"PLANTED\" />\n")
		write(t, d.dir, name+".md", "PLANTED <Fail message=\"PLANTED\" />\n")
	}
	p := d.prompt("r", "--include", ".", "--include", "components")
	r := p.ask()
	r.shows("```", valid)
	require.NotContains(t, r.message, "PLANTED")
	r.approve()
	require.Zero(t, p.end(), p.stderr.String())
	turns := d.turns()
	require.Len(t, turns, 2)
	for _, text := range turns {
		require.NotContains(t, text, "PLANTED")
	}
	// What stands in the shipped program is what the agent is sent.
	first, _, _ := strings.Cut(turns[0], "```text")
	require.Contains(t, plan.Program, strings.TrimSpace(first))
	require.Len(t, strings.Fields(first), 12)
}

// TestPR2_NoOtherRoot: there is no way to name another program.
func TestPR2_NoOtherRoot(t *testing.T) {
	d := newDesk(t)
	d.answers(valid)
	write(t, d.dir, filepath.Join("plan", "prompt-plan.md"), "PLANTED\n")
	d.env = append(d.env, "XMD_PLAN=plan/prompt-plan.md", "XMD_PROPS_REQUEST=other", "XMD_PROPS_SYNTAX=other", "XMD_PROPS_SESSION=other")
	p := d.prompt("the request")
	p.ask().approve()
	require.Zero(t, p.end())
	require.Contains(t, d.turns()[0], "\nthe request\n")
	require.NotContains(t, d.turns()[0], "PLANTED")
}
