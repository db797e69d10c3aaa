package plan_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// requireNoSentence requires that no Go file of the package holds a line of a packaged
// program that has five words or more.
func requireNoSentence(t *testing.T, program string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		for line := range strings.Lines(program) {
			if words := strings.TrimSpace(line); strings.Count(words, " ") > 3 {
				require.NotContains(t, string(source), words, name)
			}
		}
	}
}

// described is the type and name of an event without expansion ids.
func described(e journal.Event) string {
	if e.Type == journal.TypeClose {
		return e.CoroutineID + " close " + e.Result.Status
	}
	kind, _ := e.Description.String("type")
	name, _ := e.Description.String("name")
	if before, id, ok := strings.Cut(name, ":"); ok && strings.HasPrefix(kind, "plan_") {
		_, n, _ := strings.Cut(id, "#")
		name = before + "#" + n
	}
	return e.CoroutineID + " " + kind + " " + name
}

const changedOnce = `<Plan>Greet somebody.</Plan> done`

// TestPlanHistory: the turns, the reviews and three private records, in order, each in
// the history of the document.
func TestPlanHistory(t *testing.T) {
	p := newPlanner(t, broken, approvedDraft, "Hi.\n").answers(changes("shorter"), decide("Approve"))
	end := p.run(changedOnce)
	require.NoError(t, end.failure())
	require.Equal(t, "Hi.\n done", end.Output)
	var records []string
	for _, e := range end.history {
		if d := described(e); !strings.Contains(d, "import_component") && !strings.Contains(d, "loop") {
			records = append(records, strings.Join(strings.Fields(d)[:2], " "))
		}
	}
	require.Equal(t, []string{
		"root plan_input",
		"root.0 agent_prompt", "root.0 plan_check", "root.0 agent_prompt", "root.0 plan_check", "root.0 elicit",
		"root.0 agent_prompt", "root.0 plan_check", "root.0 elicit", "root.0 close",
		"root plan_artifact", "root close",
	}, records)

	var id string
	for _, e := range end.history {
		name, _ := e.Description.String("name")
		switch kind, _ := e.Description.String("type"); kind {
		case "plan_input":
			id = strings.TrimPrefix(name, "plan_input:")
			require.Regexp(t, "^[0-9a-f]{64}$", id)
			o := e.Result.Value.(*value.Object)
			require.Equal(t, 3, o.Len())
			for _, member := range []string{"requestDigest", "catalogDigest", "session"} {
				text, _ := o.String(member)
				require.Regexp(t, "^[0-9a-f]{64}$", text, member)
			}
		case "plan_artifact":
			require.Equal(t, "plan_artifact:"+id, name)
			o := e.Result.Value.(*value.Object)
			source, _ := o.String("source")
			require.Equal(t, "Hi.\n", source)
			require.Equal(t, 2, o.Len())
		}
	}
	var checks []string
	for _, e := range end.history {
		if name, _ := e.Description.String("name"); strings.HasPrefix(name, "plan_check:") {
			checks = append(checks, strings.TrimPrefix(name, "plan_check:"+id))
		}
	}
	require.Equal(t, []string{"#0", "#1", "#2"}, checks)
}

// TestPlanContinues: killed after any record, a planning goes on with what is
// unfinished and comes to the same history, with no turn, check or review twice.
func TestPlanContinues(t *testing.T) {
	said := []any{changes("shorter"), decide("Approve")}
	golden := newPlanner(t, broken, approvedDraft, "Hi.\n").answers(said...)
	want := golden.run(changedOnce)
	require.NoError(t, want.failure())
	for n := range want.history {
		history := want.killed(n)
		count := func(kind string) (k int) {
			for _, e := range history {
				if typ, _ := e.Description.String("type"); typ == kind {
					k++
				}
			}
			return k
		}
		answered := count("elicit")
		p := newPlanner(t, broken, approvedDraft, "Hi.\n").answers(said[answered:]...)
		got := p.run(changedOnce, history...)
		require.NoError(t, got.failure(), "killed after %d", n)
		require.Equal(t, want.Output, got.Output)
		require.Len(t, p.turns, 3-count("agent_prompt"), "killed after %d", n)
		require.Len(t, p.checked, 3-count("plan_check"), "killed after %d", n)
		require.Len(t, p.reviews, 2-answered, "killed after %d", n)
		if len(p.turns) == 0 && count("agent_prompt") > 0 {
			require.Empty(t, p.sessions, "nothing is established for a review; killed after %d", n)
		}
		require.Len(t, got.history, len(want.history))
		for i := range want.history {
			require.True(t, value.Equal(want.history[i].Description, got.history[i].Description), "%d: %s", i, described(got.history[i]))
			require.True(t, value.Equal(want.history[i].Result.Value, got.history[i].Result.Value), "%d: %s", i, described(got.history[i]))
		}
	}
}

// TestPlanArtifactStands: a recorded plan is given back with no turn, review or check,
// whatever became of what it was made with; one of another request is refused.
func TestPlanArtifactStands(t *testing.T) {
	const source = "<Plan><Request /></Plan>|"
	first := newPlanner(t, approvedDraft)
	first.files = map[string]string{"components/Request.md": "Greet."}
	end := first.run(source)
	require.NoError(t, end.failure())
	input, artifact := slices.Index(end.types(), "plan_input"), slices.Index(end.types(), "plan_artifact")

	for n := slices.Index(end.types(), "close root.0") + 1; n <= artifact+1; n++ {
		p := newPlanner(t, "Other.\n")
		p.catalog, p.silent, p.refuse = "other elements", true, errors.New("no agent is here")
		again := p.run(source, end.killed(n)...)
		require.NoError(t, again.failure())
		require.Equal(t, approvedDraft+"|", again.Output)
		require.Empty(t, p.happened())
		require.Empty(t, p.checked)
		require.Empty(t, p.reviews)
	}

	for _, e := range end.history { // another request is rendered now
		if name, _ := e.Description.String("name"); name == "Request" {
			e.Result.Value.(*value.Object).Set("content", "Insult.")
		}
	}
	for n := input + 1; n <= artifact+1; n++ {
		p := newPlanner(t, "Other.\n")
		moved := p.run(source, end.killed(n)...)
		require.True(t, journal.IsDurability(moved.err), "%d: %v", n, moved.failure())
		require.ErrorContains(t, moved.err, "another request")
		require.Empty(t, p.turns)
		require.NotContains(t, moved.Output, approvedDraft)
		require.Len(t, moved.history, n, "nothing is appended")
	}
}

// TestPlanRefusesDoctoredRecords: a record that is not what this planning writes stops
// the execution.
func TestPlanRefusesDoctoredRecords(t *testing.T) {
	end := newPlanner(t, approvedDraft).run("<Plan>x</Plan>")
	require.NoError(t, end.failure())
	for kind, forged := range map[string][]any{
		"plan_input": {nil, value.NewObject(0), "x"},
		"plan_check": {nil, value.NewObject(0), value.Of("valid", true), value.Of("valid", "yes", "diagnostics", value.NewObject(0)),
			value.Of("valid", true, "diagnostics", nil), value.Of("valid", true, "diagnostics", value.NewObject(0), "more", 1.0)},
		"close root.0":  {nil, 7.0, value.NewObject(0), "planted"},
		"plan_artifact": {nil, value.NewObject(0), "planted"},
	} {
		for _, v := range forged {
			history := end.killed(slices.Index(end.types(), "plan_artifact") + 1)
			history[slices.Index(end.types(), kind)].Result = journal.Ok(v)
			if kind == "plan_check" {
				history = history[:slices.Index(end.types(), "close root.0")]
			}
			p := newPlanner(t, approvedDraft)
			got := p.run("<Plan>x</Plan>", history...)
			require.True(t, journal.IsDurability(got.err), "%s %v: %v", kind, v, got.failure())
			require.Empty(t, got.Output)
			require.Empty(t, p.turns)
		}
	}
	// The request and the artifact agree, but it is not what was approved.
	history := end.killed(slices.Index(end.types(), "plan_artifact") + 1)
	history[len(history)-1].Result.Value.(*value.Object).Set("source", "planted")
	got := newPlanner(t, approvedDraft).run("<Plan>x</Plan>", history...)
	require.True(t, journal.IsDurability(got.err), got.failure())
}

// TestPlanElementsMoved: an unfinished planning does not go on with other elements than
// its agent was told of.
func TestPlanElementsMoved(t *testing.T) {
	end := newPlanner(t, approvedDraft).run("<Plan>x</Plan>")
	require.NoError(t, end.failure())
	p := newPlanner(t, approvedDraft)
	p.catalog = "other elements"
	got := p.run("<Plan>x</Plan>", end.killed(slices.Index(end.types(), "plan_input")+1)...)
	require.True(t, journal.IsDurability(got.err), got.failure())
	require.ErrorContains(t, got.err, "have changed since <Plan> began")
	require.Empty(t, p.sessions)
}

// TestPlanFailureContinues: an authored failure that is recorded fails again as it
// did, and asks nobody.
func TestPlanFailureContinues(t *testing.T) {
	end := newPlanner(t, approvedDraft).answers(decide("Stop")).run("<Plan>x</Plan>")
	require.ErrorContains(t, end.Err, "you stopped the planning")
	for n := slices.Index(end.types(), "elicit") + 1; n < len(end.history); n++ {
		p := newPlanner(t, approvedDraft)
		again := p.run("<Plan>x</Plan>", end.killed(n)...)
		require.EqualError(t, again.Err, end.Err.Error())
		require.Empty(t, p.sessions)
		require.Empty(t, p.reviews)
		require.Equal(t, end.types(), again.types())
	}
}

// TestPlanConcurrent: plans beside each other are conversations of their own, and a
// history of them is continued wherever it stops, whatever their turns were in.
func TestPlanConcurrent(t *testing.T) {
	const source = "<All><Spawn><One /></Spawn><Spawn><One /></Spawn><Spawn><Plan>two</Plan></Spawn></All>"
	make := func() *planner {
		p := newPlanner(t, broken, approvedDraft)
		p.files = map[string]string{"components/One.md": "<Plan>one</Plan>"}
		return p
	}
	first := make()
	end := first.run(source)
	require.NoError(t, end.failure())
	require.Equal(t, strings.Repeat(approvedDraft, 3), end.Output)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(first.sessions))), 3)
	byCoroutine := func(events []journal.Event) map[string][]string {
		records := map[string][]string{}
		for _, e := range events {
			records[e.CoroutineID] = append(records[e.CoroutineID], described(e))
		}
		return records
	}
	want := byCoroutine(end.history)
	require.Contains(t, want, "root.0.0")
	require.Contains(t, want, "root.2.0")
	var sequences []float64
	for _, e := range end.history {
		if o, ok := e.Result.Value.(*value.Object); ok && o.Has("sequence") {
			n, _ := o.Get("sequence")
			sequences = append(sequences, n.(float64))
		}
	}
	require.Len(t, sequences, 6)
	for n := range end.history {
		p := make()
		history := end.killed(n)
		p.reply = func(text string) string { // each conversation goes on where it was
			if strings.Contains(text, "Answer with the complete document once more, mended.") {
				return approvedDraft
			}
			return broken
		}
		got := p.run(source, history...)
		require.NoError(t, got.failure(), "killed after %d", n)
		require.Equal(t, end.Output, got.Output, "killed after %d", n)
		require.Equal(t, want, byCoroutine(got.history), "killed after %d", n)
		require.Len(t, p.turns, 6-p.done)
	}
}

// TestPlanInEvaluate: the agent is told what the profile around it allows, a draft it
// would refuse is mended before anybody reads it, and the approved program runs under
// it once the planning has ended (D-18).
func TestPlanInEvaluate(t *testing.T) {
	dir := t.TempDir()
	profile, err := capability.Standard(capability.Machine{Root: func(string, string) (*os.Root, error) {
		root, err := os.OpenRoot(dir)
		if err == nil {
			t.Cleanup(func() { root.Close() })
		}
		return root, err
	}, Dialect: capability.Closed})
	require.NoError(t, err)
	captured, err := capability.Capture(t.Context(), profile)
	require.NoError(t, err)

	const program = "It is kept.\n<File path=\"kept.txt\">x</File>\n"
	p := newPlanner(t, "<Mark /> {secret text}", program)
	p.profile = captured
	end := p.run("<Evaluate allow={[\"write\"]}><Plan>Keep x.</Plan></Evaluate>")
	require.NoError(t, end.failure())
	require.Len(t, p.turns, 2)
	require.Contains(t, p.turns[0], "`<File>`")
	require.NotContains(t, p.turns[0], "`<Mark>`")
	require.Contains(t, p.turns[1], `"admission": {`)
	require.Contains(t, p.turns[1], `"class": "component"`)
	require.NotContains(t, p.turns[1], "secret text", "a refusal quotes nothing of the draft")
	require.Len(t, p.reviews, 1)
	text, err := os.ReadFile(filepath.Join(dir, "kept.txt"))
	require.NoError(t, err)
	require.Equal(t, "x", string(text))
	artifact, admitted := slices.Index(end.types(), "plan_artifact"), slices.Index(end.types(), "generated_xmd")
	require.Less(t, artifact, admitted)
	require.NotContains(t, p.happened(), "syntax", "the catalog of the run is not described")

	p = newPlanner(t, repeat(4, program)...).answers(decide("Stop"))
	p.profile = captured
	end = p.run("<Evaluate><Plan>Keep x.</Plan></Evaluate>")
	require.ErrorContains(t, end.failure(), "you stopped the planning")
	require.Equal(t, "Request changes Stop", choices(t, p.reviews[0]))

	p = newPlanner(t, program)
	p.profile = captured
	require.NoError(t, p.run("<Plan as=\"made\">Keep x.</Plan>").failure(), "elsewhere no profile judges")
	require.Len(t, p.turns, 1)
}
