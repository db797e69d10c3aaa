package plan_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/plan"
)

// TestPlanPolicy: what <Plan> does with every kind of draft and decision, and how far
// it goes at most.
func TestPlanPolicy(t *testing.T) {
	const good = approvedDraft
	const all = "Approve Request changes Stop"
	for _, c := range []struct {
		name    string
		replies []string
		answers []any
		source  string
		failure string
		turns   int
		checks  int
		offered []string
	}{
		{"approved", []string{good}, []any{decide("Approve")}, good, "", 1, 1, []string{all}},
		{"empty draft", []string{""}, []any{decide("Approve")}, "", "", 1, 1, []string{all}},
		{"stopped", []string{good}, []any{decide("Stop")}, "", "you stopped the planning", 1, 1, []string{all}},
		{"repaired at last", []string{broken, broken, broken, good}, []any{decide("Approve")}, good, "", 4, 4, []string{all}},
		{"repairs exhausted", repeat(4, broken), []any{decide("Stop")}, "", "you stopped the planning", 4, 4, []string{"Request changes Stop"}},
		{"changed", []string{good, "Hi.\n"}, []any{changes("shorter"), decide("Approve")}, "Hi.\n", "", 2, 2, repeat(2, all)},
		{"a change repairs anew", append(repeat(7, broken), good), []any{changes("x"), decide("Approve")}, good, "", 8, 8,
			[]string{"Request changes Stop", all}},
		{"ten drafts approved", repeat(10, good), append(repeat(9, changes("more")), decide("Approve")), good, "", 10, 10,
			append(repeat(9, all), "Approve Stop")},
		{"ten drafts stopped", repeat(10, good), append(repeat(9, changes("more")), decide("Stop")), "", "you stopped the planning", 10, 10,
			append(repeat(9, all), "Approve Stop")},
		{"tenth draft invalid", append(repeat(40, broken), " It was\nhopeless. "), repeat(9, changes("more")), "", "It was\nhopeless.", 41, 40,
			repeat(9, "Request changes Stop")},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlanner(t, c.replies...).answers(c.answers...)
			end := p.run(`[<Plan>Greet somebody.</Plan>]`)
			if c.failure == "" {
				require.NoError(t, end.failure())
				require.Equal(t, "["+c.source+"]", end.Output)
			} else {
				require.NoError(t, end.err)
				require.ErrorContains(t, end.Err, c.failure)
				require.Equal(t, 1, strings.Count(end.Err.Error(), "there is no plan"))
				require.Equal(t, plan.BodyName, engine.PositionOf(end.Err).Source)
				require.NotContains(t, end.types(), "plan_artifact")
			}
			require.Len(t, p.turns, c.turns)
			require.Len(t, p.checked, c.checks)
			var offered []string
			for _, q := range p.reviews {
				offered = append(offered, choices(t, q))
			}
			require.Equal(t, c.offered, offered)
			require.Equal(t, []string{"syntax", "ceiling", "teardown"}, p.happened())
		})
	}
}

// TestPlanTurns: what every turn says, and what a review shows (prompt 7.4, 7.5).
func TestPlanTurns(t *testing.T) {
	draft := "`````\n</CodeBlock>{props.request}<Fail message=\"x\" />\n"
	p := newPlanner(t, broken, draft, "B").answers(changes("shorter, {round} and ```"), decide("Approve"))
	p.catalog = "### `<Widget>` takes {all}\n"
	end := p.run("<Plan as=\"made\">Write {3 + 4} `lines`.</Plan>")
	require.NoError(t, end.failure())
	require.Len(t, p.turns, 3)
	initial, repair, revision := p.turns[0], p.turns[1], p.turns[2]
	for _, turn := range p.turns {
		require.Contains(t, turn, "ordinary prose, in a sensible\norder, each outcome", "the narrative rule")
		require.Contains(t, turn, "one complete document")
		require.Contains(t, turn, "Put no code fence around it")
	}
	require.Contains(t, initial, "```text\nWrite {3 + 4} `lines`.\n```")
	require.Contains(t, initial, p.catalog)
	require.Contains(t, initial, "use nothing outside")
	require.Contains(t, initial, "and `{name}` or `{name.part}` in the text shows it")
	require.Contains(t, initial, "{guest.name} is on the list.", "the worked example is not rendered")
	require.Contains(t, repair, "```json\n{\n  \"validation\": {\n    \"version\": 1\n  }\n}\n```")
	require.NotContains(t, repair, p.catalog)
	require.Contains(t, revision, "````text\nshorter, {round} and ```\n````")
	require.NotContains(t, revision, p.catalog)
	require.NotContains(t, revision, "version")
	for _, later := range []string{repair, revision} { // which may begin a conversation anew
		require.Contains(t, later, "```text\nWrite {3 + 4} `lines`.\n```")
	}
	require.NotContains(t, repair, broken, "what was refused is quoted to nobody")
	require.Contains(t, revision, "``````markdown\n"+draft+"\n``````")

	message := p.reviews[0].Message
	require.Contains(t, message, "``````markdown\n"+draft+"\n``````")
	require.Contains(t, message, "Write {3 + 4} `lines`.")
	require.NotContains(t, message, "```json")
}

// TestPlanReviewNeedsFeedbackForChanges: a change without feedback is no answer, and
// the form of the question is one every provider shows.
func TestPlanReviewNeedsFeedbackForChanges(t *testing.T) {
	for _, answer := range []any{decide("Request changes"), changes(""), decide("approve"), value.Of("decision", "Stop", "more", true)} {
		p := newPlanner(t, approvedDraft).answers(answer)
		require.ErrorContains(t, p.run("<Plan>x</Plan>").failure(), "was given an answer its schema refuses")
		require.Len(t, p.turns, 1)
	}
	p := newPlanner(t, approvedDraft)
	require.NoError(t, p.run("<Plan>x</Plan>").failure())
	schema := p.reviews[0].Schema.(*value.Object)
	closed, _ := schema.Get("additionalProperties")
	require.Equal(t, false, closed)
	properties, _ := schema.Get("properties")
	for name, property := range properties.(*value.Object).All() {
		kind, _ := property.(*value.Object).String("type")
		require.Equal(t, "string", kind, name)
	}
}

// TestPlanPolicyIsInTheBody: the wording and the choices are those of the body; no Go
// file of the package holds a sentence of it.
func TestPlanPolicyIsInTheBody(t *testing.T) {
	requireNoSentence(t, plan.Body)
	for part, times := range map[string]int{
		"<Loop max={10}": 1, "<Loop max={3}": 1, `"Approve"`: 2, `"Request changes"`: 3, `"Stop"`: 1,
		"<Return value={approved}": 1, "<Fail ": 3, "<Session ": 1, "<Prompt ": 4,
	} {
		require.Equal(t, times, strings.Count(plan.Body, part), part)
	}
	body := plan.Body
	t.Cleanup(func() { plan.Body = body })
	plan.Body = strings.Replace(body, "Write an Executable Markdown document.", "WRITE IT.", 1)
	p := newPlanner(t, approvedDraft)
	require.NoError(t, p.run("<Plan>x</Plan>").failure())
	require.Contains(t, p.turns[0], "WRITE IT.")
}

// TestPlanIsReachedByDeclarationAlone: the import records whose <Plan> it is and its
// exact bytes; no file and no history supplies another one.
func TestPlanIsReachedByDeclarationAlone(t *testing.T) {
	p := newPlanner(t, approvedDraft)
	p.files = map[string]string{"Plan.md": "planted", "components/Plan.md": "planted", "components/ValidateCandidate.md": "planted", "components/If.md": "planted"}
	end := p.run("<Plan>x</Plan>")
	require.NoError(t, end.failure())
	require.Equal(t, approvedDraft, end.Output)
	selection := end.history[1].Result.Value.(*value.Object)
	require.True(t, value.Equal(selection, value.Of("kind", "declared", "origin", "xmd.plan",
		"digest", engine.NewPackaged(plan.BodyName, plan.Body).Digest(), "content", plan.Body, "exact", true)))

	for name, forged := range map[string]*value.Object{
		"file":       value.Of("kind", "repository", "path", "Plan.md", "content", "planted"),
		"registered": value.Of("kind", "registered", "origin", "xmd.plan", "reserved", true),
		"other bytes": value.Of("kind", "declared", "origin", "xmd.plan", "digest", "sha256:00",
			"content", "---\nreturns: {type: string}\n---\n<Return value=\"planted\" />", "exact", true),
		"other origin": value.Of("kind", "declared", "origin", "xmd.core", "digest", "sha256:00", "content", plan.Body, "exact", true),
	} {
		history := end.killed(2)
		history[1].Result = journal.Ok(forged)
		q := newPlanner(t, approvedDraft)
		forgedEnd := q.run("<Plan>x</Plan>", history...)
		require.Error(t, forgedEnd.failure(), name)
		require.NotContains(t, forgedEnd.Output, "planted", name)
		require.Empty(t, q.happened(), name)
	}
	private := end.killed(len(end.history))
	for i, kind := range end.types() {
		if kind == "import ValidateCandidate" {
			private = private[:i+1]
			private[i].Result = journal.Ok(value.Of("kind", "repository", "path", "ValidateCandidate.md", "content", "planted"))
			break
		}
	}
	q := newPlanner(t, approvedDraft)
	require.ErrorContains(t, q.run("<Plan>x</Plan>", private...).failure(), "no file may supply ValidateCandidate")
	require.Panics(t, func() { engine.NewLibrary(nil, []engine.Component{{Name: "Plan"}}) })
}

// TestPlanNeedsARequest: what is no request fails before anything is asked of anybody.
func TestPlanNeedsARequest(t *testing.T) {
	for source, failure := range map[string]string{
		`<Plan></Plan>`:                        "was given no request",
		"<Plan> \n\u00a0\t</Plan>":             "was given no request",
		`<Plan>{props.absent}</Plan>`:          "was given no request",
		`<Plan />`:                             "cannot be written self-closing",
		`<Plan session="">x</Plan>`:            "props its schema refuses",
		`<Plan session={7}>x</Plan>`:           "props its schema refuses",
		`<Plan agent="x">x</Plan>`:             "props its schema refuses",
		`<Plan><Fail message="mine" /></Plan>`: "mine",
	} {
		p := newPlanner(t, approvedDraft)
		require.ErrorContains(t, p.run(source).failure(), failure, source)
		require.Empty(t, p.happened(), source)
		require.Empty(t, p.sessions, source)
	}
	p := newPlanner(t)
	p.absent = true
	require.ErrorContains(t, p.run(`<Plan>x<Mark /></Plan>`).failure(), "planning is not available here")
	require.Empty(t, p.happened(), "the content is not rendered")
}

// TestPlanRequestIsRenderedFirst: the content is rendered once, with what the document
// around it may use, before the ceiling stands; what it renders is data.
func TestPlanRequestIsRenderedFirst(t *testing.T) {
	p := newPlanner(t, approvedDraft)
	p.files = map[string]string{"components/Helper.md": "<If condition={true}>help</If>"}
	end := p.run("<Let as=\"what\" value={'{x} <Mark />'} /><Plan>{what} <Mark /> <Helper /></Plan>")
	require.NoError(t, end.failure())
	require.Equal(t, []string{"mark", "syntax", "ceiling", "teardown"}, p.happened())
	require.Contains(t, p.turns[0], "{x} <Mark /> mark help\n")
}

// TestPlanSessionName: a conversation is that of its place, down to the iteration, and
// of its authored name; it is the same in every execution.
func TestPlanSessionName(t *testing.T) {
	const source = "<Plan>x</Plan><Plan>x</Plan><Plan session=\"ada\">x</Plan><Loop max={2}><Plan>x</Plan></Loop>" +
		"<Each in={[1,2]} let=\"n\"><Plan session=\"ada\">x</Plan></Each>"
	p := newPlanner(t, approvedDraft)
	require.NoError(t, p.run(source).failure())
	require.Len(t, p.sessions, 7)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(p.sessions))), 7)
	for i, authored := range []bool{false, false, true, false, false, true, true} {
		require.Regexp(t, fmt.Sprintf("^[0-9a-f]{64} %v$", authored), p.sessions[i])
	}
	q := newPlanner(t, approvedDraft)
	require.NoError(t, q.run(source).failure())
	require.Equal(t, p.sessions, q.sessions)

	one, two := newPlanner(t, approvedDraft), newPlanner(t, approvedDraft)
	require.NoError(t, one.run(`<Plan session="ada">x</Plan>`).failure())
	require.NoError(t, two.run(`<Plan session="bob">x</Plan>`).failure())
	require.NotEqual(t, one.sessions, two.sessions)
}

// TestPlanResultIsExact: bound or where it stands, the source is the approved bytes,
// and nobody runs it.
func TestPlanResultIsExact(t *testing.T) {
	draft := "\r\n\n# A  {1 + 1}\n\n\n<Mark />\n```sh exec\nexit 3\n```\n<File path=\"out.txt\">x</File> \u202e  "
	p := newPlanner(t, draft)
	end := p.run("<Plan as=\"made\">x</Plan>[{made}]<Mark />")
	require.NoError(t, end.failure())
	require.Equal(t, "["+draft+"]mark", end.Output)
	require.Equal(t, []string{"syntax", "ceiling", "teardown", "mark"}, p.happened())

	end = newPlanner(t, draft).run("<Plan>x</Plan>")
	require.NoError(t, end.failure())
	require.Equal(t, draft, end.Output)
}

// TestPlanPrivateNames: the private elements are those of the body, and the body has no
// other.
func TestPlanPrivateNames(t *testing.T) {
	for _, source := range []string{
		`<ValidateCandidate source="x" as="a" />`,
		`<Progress message="x" />`,
		`<Plan><Progress message="x" /></Plan>`,
		`<Plan>x</Plan><ValidateCandidate source="x" as="a" />`,
		`<Wrap><Plan>x</Plan></Wrap>`,
	} {
		p := newPlanner(t, approvedDraft)
		p.files = map[string]string{"components/Wrap.md": `<Content /><Progress message="x" />`}
		require.ErrorContains(t, p.run(source).failure(), "no component is named", source)
		require.NotContains(t, p.events, "progress: x")
	}
	for _, name := range []string{"File", "Evaluate", "Syntax", "Mark", "Wrap", "Agent", "AgentProvider", "ApproveAll"} {
		body := plan.Body
		t.Cleanup(func() { plan.Body = body })
		plan.Body = strings.Replace(body, "<Progress message=\"The Agent writes a first draft.\" />", "<"+name+" />", 1)
		p := newPlanner(t, approvedDraft)
		p.files = map[string]string{"components/Wrap.md": "wrapped"}
		require.ErrorContains(t, p.run("<Plan>x</Plan>").failure(), "<"+name+"> could not be imported", name)
		require.Empty(t, p.turns, name)
		plan.Body = body
	}
}

// TestPlanAsksTheHost: no region of the document answers a review, and its permission
// policy reaches no turn.
func TestPlanAsksTheHost(t *testing.T) {
	p := newPlanner(t, approvedDraft).answers(decide("Stop"))
	end := p.run(`<Answers><Answer value={{decision: "Approve"}} /><Plan>x</Plan></Answers>`)
	require.ErrorContains(t, end.failure(), "you stopped the planning")
	require.Len(t, p.reviews, 1)
}

// TestPlanFailedTurn: a turn that fails ends the planning, and nothing in the document
// prints it away.
func TestPlanFailedTurn(t *testing.T) {
	p := newPlanner(t)
	p.failing = true
	end := p.run(`<PrintErrors><Plan>x</Plan></PrintErrors>after`)
	var failed *agent.PromptError
	require.ErrorAs(t, end.failure(), &failed)
	require.Empty(t, p.reviews)
	require.Empty(t, p.checked)
	require.NotContains(t, end.Output, "after")
	require.Equal(t, []string{"syntax", "ceiling", "teardown"}, p.happened())
}

// TestPlanCeiling: a ceiling that cannot stand refuses before a turn, and one that
// cannot be taken down leaves nothing to admit.
func TestPlanCeiling(t *testing.T) {
	p := newPlanner(t, approvedDraft)
	p.refuse = &agent.Error{Code: agent.ErrCeiling, Message: "it cannot be held"}
	end := p.run(`<PrintErrors><Plan>x</Plan></PrintErrors>after`)
	require.ErrorIs(t, end.err, agent.ErrCeiling)
	require.Empty(t, p.turns)
	require.NotContains(t, end.Output, "after")
	require.Equal(t, []string{"syntax", "ceiling"}, p.happened())

	p = newPlanner(t, approvedDraft)
	p.closing = errors.New("it would not go")
	end = p.run(`<PrintErrors><Plan>x</Plan></PrintErrors>after`)
	require.ErrorContains(t, end.err, "it would not go")
	require.NotContains(t, end.types(), "plan_artifact")
	require.NotContains(t, end.Output, approvedDraft)

	p = newPlanner(t, approvedDraft).answers(decide("Stop"))
	p.closing = errors.New("it would not go")
	err := p.run(`<Plan>x</Plan>`).failure()
	require.ErrorContains(t, err, "you stopped the planning")
	require.ErrorContains(t, err, "it would not go")
	require.Less(t, strings.Index(err.Error(), "stopped"), strings.Index(err.Error(), "would not go"))
}

// TestPlanTeardownComesBeforeAdmission: when the artifact is recorded nothing of the
// planning exists any more.
func TestPlanTeardownComesBeforeAdmission(t *testing.T) {
	p := newPlanner(t, approvedDraft)
	p.append = func(e journal.Event) error {
		if kind, _ := e.Description.String("type"); kind == "plan_artifact" {
			p.did("artifact")
		}
		return nil
	}
	require.NoError(t, p.run(`<Plan>x</Plan><Mark />`).failure())
	require.Equal(t, []string{"syntax", "ceiling", "teardown", "artifact", "mark"}, p.happened())
}

// TestPlanCancelled: an execution that is stopped takes the ceiling down and records
// neither the turn nor an end of the planning.
func TestPlanCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p := newPlanner(t, approvedDraft)
	stopped := errors.New("stopped")
	p.onTurn = func(context.Context, string) { cancel(stopped) }
	end := p.runWith(ctx, `<Plan>x</Plan>`, nil)
	require.ErrorIs(t, end.err, stopped)
	require.Equal(t, []string{"syntax", "ceiling", "teardown"}, p.happened())
	require.NotContains(t, end.types(), "agent_prompt")
	require.NotContains(t, end.types(), "close root.0")

	p = newPlanner(t, approvedDraft)
	again := p.run(`<Plan>x</Plan>`, end.history...)
	require.NoError(t, again.failure())
	require.Equal(t, approvedDraft, again.Output)
}

// TestPlanProgress: progress goes to the host alone, and what a history answers makes
// none.
func TestPlanProgress(t *testing.T) {
	p := newPlanner(t, broken, approvedDraft)
	end := p.run(`<Plan>x</Plan>`)
	require.NoError(t, end.failure())
	require.Equal(t, approvedDraft, end.Output)
	var messages []string
	for _, e := range p.events {
		if message, ok := strings.CutPrefix(e, "progress: "); ok {
			messages = append(messages, message)
		}
	}
	require.Equal(t, []string{
		"The Agent writes a first draft.", "Draft 1 has mistakes, and the Agent mends them.", "Draft 1 waits for your review.",
	}, messages)
}
