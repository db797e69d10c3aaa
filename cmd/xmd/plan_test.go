//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// startAsking starts a command whose reviews are answered on their pages.
func (d *desk) startAsking(args ...string) *prompting {
	d.t.Helper()
	return begin(prepare(d.t, d.dir, d.env, append(args, "--ask", "web")...))
}

// TestPlanCommand: standard output is exactly what was approved, and nothing is kept,
// saved or run.
func TestPlanCommand(t *testing.T) {
	for _, row := range []struct {
		name, request, reply string
		args                 []string
	}{
		{"plain", "write a greeting", valid, nil},
		{"exact bytes", "r", "\r\n# A {x}\r\n\n<File path=\"out.txt\">x</File>\n```sh exec\ntouch ran\n```\n \u202e\x1b[31m", nil},
		{"a request is data", "<Fail message=\"x\" /> {props.session} ```", valid, nil},
		{"a dash", "--raw", valid, []string{"--"}},
		{"required properties are nobody's yet", "r", requiring("name", "string"), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.answers(row.reply)
			p := begin(prepare(t, d.dir, d.env, append(append([]string{"plan", "--ask", "web"}, row.args...), row.request)...))
			review := p.ask()
			require.Equal(t, []string{"Approve", "Request changes", "Stop"}, review.choices)
			review.answer("Approve")
			require.Zero(t, p.end(), p.stderr.String())
			require.Equal(t, row.reply, p.stdout.String())
			require.Contains(t, d.turns()[0], "\n"+row.request+"\n")
			d.requireTidy()
		})
	}
}

// TestPlanCommandEndings: nothing but an approved document is printed.
func TestPlanCommandEndings(t *testing.T) {
	for _, row := range []struct {
		name    string
		prepare func(d *desk)
		answer  string // of the review; empty: none is asked
		args    []string
		status  int
		says    string
	}{
		{"stopped", func(d *desk) { d.answers(valid) }, "Stop", nil, 1, "you stopped the planning"},
		{"failed turn", func(d *desk) { d.scenario(nil, scene{"prompt": anyPrompt, "do": []any{}, "stop": "refusal"}) }, "", nil, 1, "refusal"},
		{"no agent", func(d *desk) { d.answers(valid) }, "", []string{"--default-agent", "nowhere"}, 1, "unavailable"},
		{"deadline", func(d *desk) { d.answers(valid) }, "", []string{"--timeout", "1ms"}, 1, "was exceeded"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			row.prepare(d)
			p := d.startAsking(append([]string{"plan", "r"}, row.args...)...)
			if row.answer != "" {
				p.ask().answer(row.answer)
			}
			require.Equal(t, row.status, p.end(), p.stderr.String())
			require.Empty(t, p.stdout.String())
			require.Contains(t, p.reported(), row.says)
			require.NotContains(t, p.reported(), "-->", "what the packaged body says has no place in a file of the person")
			d.requireTidy()
		})
	}
}

// TestPlanCommandRefusedLines: a line that is wrong ends before anything else.
func TestPlanCommandRefusedLines(t *testing.T) {
	d := newDesk(t)
	d.answers(valid)
	for _, row := range []struct {
		args []string
		says string
	}{
		{[]string{"--session", ""}, "not an empty one"},
		{[]string{"--session", "\xff"}, "UTF-8"},
		{[]string{"--ask", "none"}, "nobody to approve"},
		{[]string{"--ask", "terminal"}, "needs a terminal"},
		{[]string{"--save", "out.md"}, "--save"},
		{[]string{"--approve-all"}, "--approve-all"},
		{[]string{"--props-name", "Ada"}, "--props-name"},
	} {
		status, stdout, stderr := d.xmd(append([]string{"plan", "r"}, row.args...)...)
		require.Equal(t, 2, status, stderr)
		require.Empty(t, stdout)
		require.Contains(t, stderr, row.says)
	}
	d.untouched(t)
}

// TestPlanningKeepsNoSecret: a secret that somebody says ends the planning, and what a
// person is told is what to do about it and neither the secret nor a place in a program
// or a record that is not theirs.
func TestPlanningKeepsNoSecret(t *testing.T) {
	const secret = "ghp_" + "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"
	for _, command := range []string{"prompt", "plan"} {
		for _, row := range []struct {
			name, request, reply, change string
		}{
			{"request", "use " + secret, valid, ""},
			{"draft", "r", "Use " + secret + ".\n", ""},
			{"change", "r", valid, "use " + secret},
		} {
			t.Run(command+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				d.answers(row.reply, valid)
				p := d.startAsking(command, row.request)
				if row.change != "" {
					r := p.ask()
					r.answer(r.choices[1], row.change)
				}
				require.Equal(t, 1, p.end(), p.stderr.String())
				require.Empty(t, p.stdout.String())
				require.Contains(t, p.reported(), "(github-token)")
				require.Contains(t, p.reported(), "Leave the secret out")
				require.NotContains(t, p.reported(), secret)
				require.NotContains(t, p.reported(), "-->")
				d.requireTidy()
			})
		}
	}
}

// TestPlanningsAtOnce: plannings with one agent begin beside each other, and none takes
// away what another one's agent stands in.
func TestPlanningsAtOnce(t *testing.T) {
	d := newDesk(t)
	d.answers(valid)
	var all []*prompting
	for range 6 {
		all = append(all, d.prompt("r"))
	}
	for _, p := range all {
		p.ask().approve()
	}
	for _, p := range all {
		require.Zero(t, p.end(), p.stderr.String())
		require.Equal(t, valid, p.stdout.String())
	}
	d.requireTidy()
}

// TestPlanCommandInterrupted: an interrupted planning puts everything away.
func TestPlanCommandInterrupted(t *testing.T) {
	d := newDesk(t)
	d.answers(valid)
	p := d.startAsking("plan", "r")
	p.ask()
	require.Len(t, d.places(), 1)
	p.signal(os.Interrupt)
	require.Equal(t, 130, p.end())
	require.Empty(t, p.stdout.String())
	d.requireTidy()
}

// TestPlanCommandSession: a named conversation is continued in its own directory, which
// has to be empty still.
func TestPlanCommandSession(t *testing.T) {
	d := newDesk(t)
	d.scenario(script{"capabilities": map[string]any{"load": true}}, d.replies(valid, "Second.\n")...)
	for _, reply := range []string{valid, "Second.\n"} {
		p := d.startAsking("plan", "r", "--session", "ada")
		p.ask().answer("Approve")
		require.Zero(t, p.end(), p.stderr.String())
		require.Equal(t, reply, p.stdout.String())
	}
	sessions := d.sessions()
	require.Len(t, sessions, 2)
	require.Equal(t, sessions[0].cwd(t), sessions[1].cwd(t))
	require.NotContains(t, strings.Join(d.places(), "\n"), "ada")
	require.Equal(t, []string{"new", "load"}, []string{sessions[0].Event, sessions[1].Event})

	d.answers(valid)
	first := d.startAsking("plan", "r", "--session", "eve")
	review := first.ask()
	status, stdout, stderr := d.xmd("plan", "r", "--session", "eve", "--ask", "web")
	require.Equal(t, 3, status, stderr)
	require.Empty(t, stdout)
	require.Contains(t, stderr, `"eve"`, "the name that was given")
	review.answer("Approve")
	require.Zero(t, first.end(), first.stderr.String())

	planted := filepath.Join(sessions[0].cwd(t), "planted.txt")
	require.NoError(t, os.WriteFile(planted, nil, 0o600))
	status, stdout, stderr = d.xmd("plan", "r", "--session", "ada", "--ask", "web")
	require.Equal(t, 3, status, stderr)
	require.Empty(t, stdout)
	require.Contains(t, stderr, sessions[0].cwd(t))
	require.FileExists(t, planted)
	require.Len(t, d.sessions(), 3, "no conversation was begun")
}

// TestPlanInDocument: a document plans under the ceiling, whatever the command line
// approves; the plan is text until something around it runs it.
func TestPlanInDocument(t *testing.T) {
	t.Run("bound", func(t *testing.T) {
		d := newDesk(t)
		d.answers("<File path=\"out.txt\">x</File>\n")
		p := d.startAsking("run", "-e", `<Plan as="made">Write x.</Plan>[{made}]`, "--approve-all")
		p.ask().answer("Approve")
		require.Zero(t, p.end(), p.stderr.String())
		require.Equal(t, "[<File path=\"out.txt\">x</File>\n]", p.stdout.String())
		d.requireTidy()
	})
	t.Run("evaluated", func(t *testing.T) {
		d := newDesk(t)
		d.answers("```sh exec\nid\n```\n", "It is kept.\n<File path=\"out.txt\">x</File>\n")
		p := d.startAsking("run", "-e", `<Evaluate allow={["write"]}><Plan>Write x.</Plan></Evaluate>`)
		review := p.ask()
		require.Contains(t, review.message, "It is kept.")
		review.answer("Approve")
		require.Zero(t, p.end(), p.stderr.String())
		require.Contains(t, p.stdout.String(), "It is kept.")
		require.Contains(t, d.turns()[1], `"class": "block"`)
		d.requireTidy("out.txt")
	})
	t.Run("a file of the name", func(t *testing.T) {
		d := newDesk(t)
		d.answers(valid)
		require.NoError(t, os.WriteFile(filepath.Join(d.dir, "Plan.md"), []byte("planted"), 0o600))
		p := d.startAsking("run", "-e", `<Plan>x</Plan>`)
		p.ask().answer("Approve")
		require.Zero(t, p.end(), p.stderr.String())
		require.Equal(t, valid, p.stdout.String())
	})
	t.Run("nobody to ask", func(t *testing.T) {
		d := newDesk(t)
		d.answers(valid)
		status, stdout, stderr := d.xmd("run", "-e", `<Plan>x</Plan>`)
		require.Equal(t, 1, status)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "nobody is there to approve a plan")
		require.Empty(t, d.sessions())
		d.requireTidy()
	})
	t.Run("parallel runs of one document do not meet", func(t *testing.T) {
		d := newDesk(t)
		d.answers(valid)
		first := d.startAsking("run", "-e", `<Plan>x</Plan>`)
		one := first.ask()
		second := d.startAsking("run", "-e", `<Plan>x</Plan>`)
		second.ask().answer("Approve")
		require.Zero(t, second.end(), second.stderr.String())
		one.answer("Approve")
		require.Zero(t, first.end(), first.stderr.String())
		d.requireTidy()
	})
}

// TestPlanHistoryOfARun: a history that holds the approved plan needs no agent and
// nobody to ask; one that stops at the review goes on there.
func TestPlanHistoryOfARun(t *testing.T) {
	d := newDesk(t)
	d.answers(valid)
	p := d.startAsking("run", "-e", `<Plan>x</Plan>!`, "--journal", "whole.jsonl")
	p.ask().answer("Approve")
	require.Zero(t, p.end(), p.stderr.String())
	whole, err := os.ReadFile(filepath.Join(d.dir, "whole.jsonl"))
	require.NoError(t, err)

	cut := func(name, after string) {
		i := regexp.MustCompile(after).FindIndex(whole)
		require.NotNil(t, i, after)
		end := i[1] + strings.IndexByte(string(whole[i[1]:]), '\n') + 1
		require.NoError(t, os.WriteFile(filepath.Join(d.dir, name), whole[:end], 0o600))
	}
	cut("settled.jsonl", `"type":"plan_artifact"`)
	status, stdout, stderr := d.xmd("run", "-e", `<Plan>x</Plan>!`, "--replay", "settled.jsonl", "--default-agent", "nowhere")
	require.Zero(t, status, stderr)
	require.Equal(t, "Hello.\n!", stdout)

	cut("unreviewed.jsonl", `"type":"plan_check"`)
	p = d.startAsking("run", "-e", `<Plan>x</Plan>!`, "--replay", "unreviewed.jsonl", "--default-agent", "nowhere")
	p.ask().answer("Approve")
	require.Zero(t, p.end(), p.stderr.String())
	require.Equal(t, "Hello.\n!", p.stdout.String())
	require.Len(t, d.turns(), 1)

	status, _, stderr = d.xmd("run", "-e", `<Plan>y</Plan>!`, "--replay", "settled.jsonl")
	require.Equal(t, 4, status, stderr)
}
