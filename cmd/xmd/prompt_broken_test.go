//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPromptBrokenAgents: an agent that does not do its part ends the planning with one
// line that names it. Nothing is asked, saved or run, and nothing is left.
func TestPromptBrokenAgents(t *testing.T) {
	with := func(steps ...any) func(d *desk) {
		return func(d *desk) { d.scenario(nil, turn(steps...)) }
	}
	for _, row := range []struct {
		name string
		play func(d *desk)
		says string
	}{
		{"is not installed", func(d *desk) { d.agents(map[string]any{"command": []string{"xmd-of-nobody", "--acp"}}) }, "is unavailable [not-found]"},
		{"ends at once", func(d *desk) { d.scenario(script{"unknown": true}) }, "is unavailable"},
		{"refuses to begin", func(d *desk) {
			d.scenario(script{"initialize": map[string]any{"error": map[string]any{"code": -32603, "message": "no licence"}}})
		}, "is unavailable"},
		{"wants a login", func(d *desk) {
			d.scenario(script{"new": map[string]any{"error": map[string]any{"code": -32000, "message": "log in"}}}, d.replies(valid)...)
		}, "asks for a login"},
		{"speaks another version", func(d *desk) {
			d.scenario(script{"initialize": map[string]any{"protocolVersion": 7}}, d.replies(valid)...)
		}, "is unavailable [version]"},
		{"begins no conversation", func(d *desk) {
			d.scenario(script{"new": map[string]any{"error": map[string]any{"code": -32603, "message": "no licence"}}}, d.replies(valid)...)
		}, "no licence"},
		{"crashes", with(map[string]any{"crash": 9}), "scripted"},
		{"closes its output", with(map[string]any{"closeOutput": true}), "scripted"},
		{"says too much at once", with(map[string]any{"bigLine": 11 << 20}), "scripted"},
		{"has no more to say", func(d *desk) { d.scenario(nil, []scene{}...) }, "scripted"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			row.play(d)
			p := d.prompt("r", "--save", "out.md", "--journal", "t.jsonl")
			require.Contains(t, []int{1, 3}, p.end(), p.stderr.String())
			require.Contains(t, p.reported(), row.says)
			require.Contains(t, p.reported(), `"scripted"`)
			require.NotContains(t, p.reported(), "goroutine")
			require.Less(t, len(p.reported()), 4096)
			d.requireTidy()
		})
	}
}

// TestPromptNoisyAgent: lines that are no message are not an answer, and no harm.
func TestPromptNoisyAgent(t *testing.T) {
	d := newDesk(t)
	d.scenario(nil, turn(map[string]any{"garbage": 10000}, map[string]any{"raw": "not JSON"}, map[string]any{"stderr": "a warning\n"}, d.say(valid)))
	p := d.prompt("r")
	p.ask().shows("```", valid)
	p.signal(os.Interrupt)
	require.Equal(t, 130, p.end())
	d.requireTidy()
}

// TestPromptSilentAgent: nothing is no document, and sent back like any other fault.
func TestPromptSilentAgent(t *testing.T) {
	d := newDesk(t)
	d.scenario(nil, turn(), turn(d.say(" \n\n")), turn(d.say(valid)))
	p := d.prompt("r")
	p.ask().approve()
	require.Zero(t, p.end(), p.stderr.String())
	require.Equal(t, valid, p.stdout.String())
	require.Len(t, d.turns(), 3)
}

// TestPromptLongDraft: a draft of a megabyte goes the whole way.
func TestPromptLongDraft(t *testing.T) {
	d := newDesk(t)
	draft := strings.Repeat(strings.Repeat("word ", 20)+"\n", 10000)
	d.answers(draft)
	p := d.prompt("r", "--save", "out.md", "--raw")
	p.ask().approve()
	require.Zero(t, p.end())
	require.Equal(t, draft, read(t, d.dir, "out.md"))
	require.Equal(t, draft, p.stdout.String())
}

// TestPR11_SaveIsExclusive: what is in the way of --save stays as it is, and nothing
// runs.
func TestPR11_SaveIsExclusive(t *testing.T) {
	for _, row := range []struct {
		name  string
		save  string
		make  func(t *testing.T, dir string)
		says  string
		files []string
	}{
		{"a file", "out.md", func(t *testing.T, dir string) { write(t, dir, "out.md", "precious\n") }, "already exists", []string{"out.md"}},
		{"a directory", "out.md", func(t *testing.T, dir string) { require.NoError(t, os.Mkdir(filepath.Join(dir, "out.md"), 0o777)) }, "already exists", []string{"out.md"}},
		{"a link to nowhere", "out.md", func(t *testing.T, dir string) {
			require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "out.md")))
		}, "already exists", []string{"out.md"}},
		{"a pipe", "out.md", func(t *testing.T, dir string) {
			require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "out.md"), 0o666))
		}, "already exists", []string{"out.md"}},
		{"no parent", "missing/out.md", func(*testing.T, string) {}, "missing/out.md", nil},
		{"a parent that is a file", "file/out.md", func(t *testing.T, dir string) { write(t, dir, "file", "precious\n") }, "file/out.md", []string{"file"}},
		{"a name that is too long", strings.Repeat("x", 300), func(*testing.T, string) {}, "xxx", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			row.make(t, d.dir)
			d.answers("<File path=\"ran.txt\">x</File>\n")
			p := d.prompt("r", "--save", row.save, "--journal", "t.jsonl")
			p.ask().approve()
			require.Equal(t, 1, p.end(), p.stderr.String())
			require.Contains(t, p.reported(), row.says)
			require.Contains(t, p.reported(), "nothing was run")
			require.Empty(t, p.stdout.String())
			if len(row.files) > 0 && row.says != "already exists" || row.name == "a file" {
				require.Equal(t, "precious\n", read(t, d.dir, row.files[0]))
			}
			d.requireTidy(row.files...)
		})
	}
}

// TestPR11_SaveIsWholeOrNothing: the part of the document there was room for is taken
// away again.
func TestPR11_SaveIsWholeOrNothing(t *testing.T) {
	unshare := []string{"unshare", "-m"}
	if os.Geteuid() != 0 {
		unshare = append(unshare, "-r")
	}
	for _, row := range []struct {
		name string
		argv []string // what starts a shell
		make string   // what the shell does first
		says string
	}{
		{"a limit on files", nil, "ulimit -f 8", "too large"},
		{"a full disk", unshare, "mount -t tmpfs -o size=4k none small", "no space left"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := newDesk(t)
			require.NoError(t, os.Mkdir(filepath.Join(d.dir, "small"), 0o777))
			shell := func(script string) *process {
				argv := append(slices.Clone(row.argv), "sh", "-c", script)
				p := prepare(t, d.dir, d.env)
				p.cmd.Path, p.cmd.Err = exec.LookPath(argv[0])
				p.cmd.Args = argv
				return p
			}
			if try := shell(row.make); try.cmd.Err != nil || try.cmd.Run() != nil {
				t.Skip("this cannot be made here: ", row.make, "; ", try.stderr.String())
			}
			d.answers(strings.Repeat("A long document. ", 1000) + "\n\n<File path=\"ran.txt\">x</File>\n")
			// The shell looks at the directory once more when the command has ended.
			p := begin(shell(row.make + ` && { xmd prompt --ask web r --save small/out.md --journal t.jsonl; status=$?; ls small; exit $status; }`))
			p.ask().approve()
			require.Equal(t, 1, p.end(), p.stderr.String())
			require.Contains(t, p.reported(), "small/out.md")
			require.Contains(t, p.reported(), row.says)
			require.Empty(t, p.stdout.String(), "something was left")
			d.requireTidy("small")
		})
	}
}
