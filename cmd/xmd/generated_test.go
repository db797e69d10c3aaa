//go:build unix

package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// generating is a document whose program comes from a property, so that no record
// holds a program that was refused.
const generating = `---
props:
  program: { type: string }
required: [program]
---
Before.

<Answers><Answer template="Who?" value='"Ada"' /><Evaluate text={props.program} allow={["read","write"]} as="r" /></Answers>
<Json value={r} />
`

// everything is a program with an effect of every kind that needs no network.
const everything = `<File path="docs/a.txt" as="a" /><Dir path="made"><File path="one.txt">{a}</File></Dir>` +
	`<Each in={["x", "é", "z"]} let="i"><File path={"made/" + i + ".txt"}>{i}</File></Each><Loop max={3}><Glob include={["made/*"]} as="g" /><Json value={g} /></Loop>` +
	`<Elicit schema={{"type": "string"}} as="who">Who?</Elicit>{who}` +
	`<All><Spawn><File path="made/one.txt" /><File path="docs/a.txt" /></Spawn><Spawn><File path="late/s.txt">{who}</File><Json value={{"b": 1, "10": 2, "a": 1e21, "2": -0}} /></Spawn>` +
	`<Spawn><Glob include={["docs/*"]} as="d" />{d.length}</Spawn></All><File.Delete path="made/x.txt" />`

func newGenerating(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "doc.md", generating)
	write(t, dir, "docs/a.txt", "Ä")
	write(t, dir, "docs/b.txt", "B")
	return dir
}

// TestA16_TwoProcessesComeToTheSame: time zone, language, scheduling and the seed of
// maps reach nothing of an evaluation.
func TestA16_TwoProcessesComeToTheSame(t *testing.T) {
	dir := newGenerating(t)
	parts := func(journal string) map[string][]string {
		of := map[string][]string{}
		for _, line := range eventsOf(read(t, dir, journal)) {
			var e struct{ CoroutineID string }
			require.NoError(t, json.Unmarshal([]byte(line), &e))
			of[e.CoroutineID] = append(of[e.CoroutineID], line)
		}
		return of
	}
	var want string
	var history map[string][]string
	for i, env := range [][]string{
		{"TZ=UTC", "LANG=C", "GOMAXPROCS=1"},
		{"TZ=Pacific/Kiritimati", "LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8", "GOMAXPROCS=2"},
		{"TZ=America/St_Johns", "LANG=de_DE.UTF-8", "GOMAXPROCS=8", "GOGC=1"},
		{"TZ=nowhere", "LC_NUMERIC=fr_FR.UTF-8", "GOMAXPROCS=3", "GODEBUG=randseednop=0"},
	} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "made")))
		journal := fmt.Sprintf("%d.jsonl", i)
		status, stdout, stderr := finish(t, dir, env, "doc.md", "--props-program", everything, "--journal", journal)
		require.Zero(t, status, stderr)
		if i == 0 {
			want, history = stdout, parts(journal)
			require.Len(t, history, 4, "the root and three children")
			require.Contains(t, want, `{\n  \"2\": 0,\n  \"10\": 2,\n  \"b\": 1,\n  \"a\": 1e+21\n}`)
			continue
		}
		require.Equal(t, want, stdout)
		require.Equal(t, history, parts(journal))
	}
}

// TestA3_NothingOfARefusedCandidateIsPrintedOrKept: on standard output and error, in
// the outcome for programs and in the history of the command, live and again.
func TestA3_NothingOfARefusedCandidateIsPrintedOrKept(t *testing.T) {
	dir := newGenerating(t)
	marker := (rand.Text() + rand.Text() + rand.Text())[:64]
	for i, candidate := range []string{
		"<X% />", `<File path="docs/a.txt" /><File path="../%" />`, `<File path="docs/a.txt" %="1" />`, `<Fetch url="https://%.example/one" headers={{"%": "%"}} />`,
		"{meta.%}", "text % <Exec />", "```sh exec\n%\n```\n", "<!-- %",
	} {
		program := strings.ReplaceAll(candidate, "%", marker)
		journal := fmt.Sprintf("%d.jsonl", i)
		for _, options := range [][]string{
			{"--journal", journal}, {"--replay", journal}, {"--json"}, {"--verbose"}, {"--strict", "--verbose", "--json"},
		} {
			status, stdout, stderr := finish(t, dir, nil, slices.Concat([]string{"doc.md", "--props-program", program}, options)...)
			require.Equal(t, 3, status, stderr)
			requireNothingOf(t, marker, stdout+stderr)
		}
		requireNothingOf(t, marker, read(t, dir, journal))

		// A history that ends behind the decision.
		lines := eventsOf(read(t, dir, journal))
		held := decisionLine(t, lines) + 1
		write(t, dir, "held.jsonl", strings.Join(lines[:held], ""))
		status, stdout, stderr := finish(t, dir, nil, "doc.md", "--props-program", program, "--replay", "held.jsonl")
		require.Equal(t, 3, status, stderr)
		requireNothingOf(t, marker, stdout+stderr)

		write(t, dir, "candidate.md", program)
		for _, options := range [][]string{{}, {"--json"}} {
			status, stdout, stderr = finish(t, dir, nil, slices.Concat([]string{"admit", "candidate.md"}, options)...)
			require.Equal(t, 3, status, stderr)
			requireNothingOf(t, marker, stdout+stderr)
		}
	}
}

func requireNothingOf(t *testing.T, marker, text string) {
	t.Helper()
	text = strings.ToLower(text)
	for i := range len(marker) - 7 {
		require.NotContains(t, text, strings.ToLower(marker[i:i+8]))
	}
}

// decisionLine is the place of the decision in a history.
func decisionLine(t *testing.T, lines []string) int {
	t.Helper()
	at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, `"type":"generated_xmd"`) })
	require.Positive(t, at)
	return at
}

const observing = `version: 1
name: observer
dialect: closed
roots: { here: . }
read:
  - use: File
    paths: [docs/a.txt]
write:
  - use: Elicit
`

// TestA10_AnotherProfileIsADamagedHistory: a history whose decision was made under
// another profile ends the command with the status of a history that cannot be
// trusted; the same profile goes on.
func TestA10_AnotherProfileIsADamagedHistory(t *testing.T) {
	dir := newGenerating(t)
	write(t, dir, "p.yaml", observing)
	run := func(options ...string) (int, string, string) {
		return finish(t, dir, nil, slices.Concat([]string{"doc.md", "--props-program", `<File path="docs/a.txt" />`, "--profile", "p.yaml"}, options)...)
	}
	status, want, stderr := run("--journal", "whole.jsonl")
	require.Zero(t, status, stderr)
	lines := eventsOf(read(t, dir, "whole.jsonl"))
	write(t, dir, "held.jsonl", strings.Join(lines[:decisionLine(t, lines)+1], ""))
	status, stdout, stderr := run("--replay", "held.jsonl")
	require.Zero(t, status, stderr)
	require.Equal(t, want, stdout)

	for _, change := range [][2]string{
		{"docs/a.txt", "docs/*"}, {"docs/a.txt", "docs/a.txt, docs/b.txt"}, {"write:", "  - use: Glob\nwrite:"}, {"use: Elicit", "use: Dir"},
		{"dialect: closed", "dialect: flat"}, {"version: 1", "version: 1\nlimits: { steps: 5000 }"},
	} {
		write(t, dir, "p.yaml", strings.Replace(observing, change[0], change[1], 1))
		status, stdout, stderr := run("--replay", "held.jsonl")
		require.Equal(t, 4, status, change)
		require.NotContains(t, stdout, "Ä")
		require.Contains(t, stderr, "a generated fragment was admitted under ceilings this run no longer states.")
	}
}

// TestA11_AnEditedDecisionIsADamagedHistory: a record that was changed by hand, cut
// off or written twice is not believed.
func TestA11_AnEditedDecisionIsADamagedHistory(t *testing.T) {
	dir := newGenerating(t)
	const program = `<File path="docs/a.txt" />`
	run := func(options ...string) (int, string, string) {
		return finish(t, dir, nil, slices.Concat([]string{"doc.md", "--props-program", program}, options)...)
	}
	status, _, stderr := run("--journal", "whole.jsonl")
	require.Zero(t, status, stderr)
	lines := eventsOf(read(t, dir, "whole.jsonl"))
	at := decisionLine(t, lines)
	for _, change := range [][2]string{
		{`"version":1`, `"version":2`}, {`"decision":"admitted"`, `"decision":"admitted","more":1`}, {`docs/a.txt`, `docs/b.txt`},
		{`"compiler":1`, `"compiler":"1"`}, {`"sha256:`, `"sha256:0`}, {`"form":"self-closing"`, `"form":"paired"`}, {`"line":1`, `"line":2`},
		{`"dialect":"closed",`, ``},
	} {
		require.Contains(t, lines[at], change[0])
		edited := slices.Clone(lines[:at+1])
		head, result, ok := strings.Cut(edited[at], `"result":`)
		require.True(t, ok)
		edited[at] = head + `"result":` + strings.Replace(result, change[0], change[1], 1)
		require.NotEqual(t, lines[at], edited[at])
		write(t, dir, "edited.jsonl", strings.Join(edited, ""))
		status, stdout, stderr := run("--replay", "edited.jsonl")
		require.Equal(t, 4, status, "%s: %s", change, stderr)
		require.NotContains(t, stdout, "Ä")
		require.Contains(t, stderr, "the retained admission of a generated fragment cannot be read")
	}
	for _, damaged := range []string{
		strings.Replace(lines[at], `{"version":1`, `{"version":1,"version":1`, 1),
		strings.Replace(lines[at], `"decision"`, `"Decision"`, 1),
	} {
		write(t, dir, "edited.jsonl", strings.Join(lines[:at], "")+damaged)
		status, stdout, _ := run("--replay", "edited.jsonl")
		require.Equal(t, 4, status)
		require.NotContains(t, stdout, "Ä")
	}
}

// TestA9_TheCommandGoesOnFromEveryPrefix: from whatever of a history is left, the
// command comes to the same output, and to the same files.
func TestA9_TheCommandGoesOnFromEveryPrefix(t *testing.T) {
	dir := newGenerating(t)
	status, want, stderr := finish(t, dir, nil, "doc.md", "--props-program", everything, "--journal", "whole.jsonl")
	require.Zero(t, status, stderr)
	lines := eventsOf(read(t, dir, "whole.jsonl"))
	for cut := decisionLine(t, lines) + 1; cut <= len(lines); cut += 3 {
		write(t, dir, "held.jsonl", strings.Join(lines[:cut], ""))
		write(t, dir, "made/x.txt", "x") // it is deleted at the end
		status, stdout, stderr := finish(t, dir, nil, "doc.md", "--props-program", everything, "--replay", "held.jsonl")
		require.Zero(t, status, stderr)
		require.Equal(t, want, stdout, "from %d of %d events", cut, len(lines))
	}
	status, stdout, stderr := finish(t, dir, nil, "doc.md", "--props-program", everything+" ", "--replay", "held.jsonl")
	require.Zero(t, status, stderr) // the whole history: nothing is judged and nothing happens
	require.Equal(t, want, stdout)
	write(t, dir, "held.jsonl", strings.Join(lines[:len(lines)-1], ""))
	status, stdout, stderr = finish(t, dir, nil, "doc.md", "--props-program", everything+" ", "--replay", "held.jsonl")
	require.Equal(t, 4, status)
	require.NotContains(t, stdout, "made/one.txt")
	require.Contains(t, stderr, "a generated fragment's text is not the text that was admitted.")
}
