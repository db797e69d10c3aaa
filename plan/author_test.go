package plan_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/agent/scenario"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/plan"
)

// A planning is one execution of the plan program with everything around it
// scripted, and what could be seen of it.
type planning struct {
	t       *testing.T
	replies []string // of the agent, turn by turn
	answers []any    // of the person, review by review
	invalid func(source string) bool
	check   func(source string) (plan.Assessment, error) // nil: by invalid
	close   error

	turns     []string
	reviews   []engine.Question
	checked   []string
	events    []string
	interrupt context.CancelCauseFunc
}

const broken = "<NoSuchComponent />\n"

func newPlanning(t *testing.T, replies ...string) *planning {
	return &planning{t: t, replies: replies, invalid: func(source string) bool { return source == broken }}
}

func decide(decision string) any { return value.Of("decision", decision) }

func revise(feedback string) any {
	return value.Of("decision", "revise", "feedback", feedback)
}

// run carries the planning out.
func (p *planning) run(ctx context.Context) (string, error) {
	p.t.Helper()
	return p.authoring().Run(ctx)
}

func (p *planning) authoring() plan.Authoring {
	p.t.Helper()
	var script strings.Builder
	script.WriteString("version: 1\nsessions:\n  \"*\":\n")
	dir := p.t.TempDir()
	for i, reply := range p.replies {
		name := fmt.Sprintf("%d.md", i)
		require.NoError(p.t, os.WriteFile(filepath.Join(dir, name), []byte(reply), 0o600))
		fmt.Fprintf(&script, "  - prompt: { any: true }\n    do: [ { say: { file: %s } } ]\n", name)
	}
	if len(p.replies) == 0 {
		script.WriteString("  - prompt: { any: true }\n    do: [ { fail: gone } ]\n")
	}
	return p.scripted(script.String(), dir)
}

// scripted is the planning with a scenario of its own.
func (p *planning) scripted(script, dir string) plan.Authoring {
	p.t.Helper()
	played, err := scenario.Parse("script.yaml", []byte(script), scenario.ParseOptions{
		File: func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, name)) },
	})
	require.NoError(p.t, err)
	check := p.check
	if check == nil {
		check = func(source string) (plan.Assessment, error) {
			if p.invalid(source) {
				return plan.Assessment{Diagnostics: value.Of("validation", value.Of("version", 1.0))}, nil
			}
			return plan.Assessment{Props: value.NewObject(0)}, nil
		}
	}
	return plan.Authoring{
		Request: "write {a} greeting\n", Session: "s", Syntax: "## Catalog\n\n### `<File>`\n",
		Check: func(source string) (plan.Assessment, error) {
			p.checked = append(p.checked, source)
			return check(source)
		},
		Agents: func(context.Context) (plan.Runtime, error) {
			provider := scenario.NewProvider(played, scenario.ProviderOptions{})
			return plan.Runtime{Provider: overheard{provider, p}, Close: func(ctx context.Context) error {
				err := errors.Join(provider.Close(ctx), p.close)
				p.events = append(p.events, "teardown")
				return err
			}}, nil
		},
		Questions: func(interrupt context.CancelCauseFunc) (engine.Elicitor, func() error, error) {
			p.interrupt = interrupt
			return person{p}, func() error { p.events = append(p.events, "questions closed"); return nil }, nil
		},
	}
}

// overheard keeps what the agent was sent.
type overheard struct {
	agent.Provider
	p *planning
}

func (o overheard) Prompt(text string, options agent.PromptOptions) agent.Turn {
	o.p.turns = append(o.p.turns, text)
	return o.Provider.Prompt(text, options)
}

// person answers from the script.
type person struct{ p *planning }

func (w person) Ask(_ context.Context, q engine.Question) (any, error) {
	w.p.reviews = append(w.p.reviews, q)
	n := len(w.p.reviews) - 1
	if n >= len(w.p.answers) {
		return nil, errors.New("the script has no answer left")
	}
	return w.p.answers[n], nil
}

// choices are the decisions a review offered.
func choices(t *testing.T, q engine.Question) string {
	t.Helper()
	properties, _ := q.Schema.(*value.Object).Get("properties")
	decision, _ := properties.(*value.Object).Get("decision")
	enum, _ := decision.(*value.Object).Get("enum")
	return strings.Trim(fmt.Sprint(enum), "[]")
}

// repeat is n times the same.
func repeat[T any](n int, v T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// TestPR3_Policy: what the program does with every kind of draft and decision, and how
// far it goes at most (prompt 7.2).
func TestPR3_Policy(t *testing.T) {
	const good = "Hello.\n"
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
		{"approved", []string{good}, []any{decide("approve")}, good, "", 1, 1, []string{"approve revise abort"}},
		{"empty draft", []string{""}, []any{decide("approve")}, "", "", 1, 1, []string{"approve revise abort"}},
		{"ended", []string{good}, []any{decide("abort")}, "", "you ended the review", 1, 1, []string{"approve revise abort"}},
		{"repaired at last", []string{broken, broken, broken, good}, []any{decide("approve")}, good, "", 4, 4, []string{"approve revise abort"}},
		{"repairs exhausted", repeat(4, broken), []any{decide("abort")}, "", "you ended the review", 4, 4, []string{"revise abort"}},
		{"revised", []string{good, "Hi.\n"}, []any{revise("shorter"), decide("approve")}, "Hi.\n", "", 2, 2, repeat(2, "approve revise abort")},
		{"a revision repairs anew", append(repeat(4, broken), broken, broken, broken, good), []any{revise("x"), decide("approve")}, good, "", 8, 8,
			[]string{"revise abort", "approve revise abort"}},
		{"ten drafts approved", repeat(10, good), append(repeat(9, revise("more")), decide("approve")), good, "", 10, 10,
			append(repeat(9, "approve revise abort"), "approve abort")},
		{"ten drafts ended", repeat(10, good), append(repeat(9, revise("more")), decide("abort")), "", "you ended the review", 10, 10,
			append(repeat(9, "approve revise abort"), "approve abort")},
		{"ten invalid drafts", repeat(40, broken), append(repeat(9, revise("more")), decide("abort")), "", "ten drafts", 40, 40,
			append(repeat(9, "revise abort"), "abort")},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlanning(t, c.replies...)
			p.answers = c.answers
			source, err := p.run(t.Context())
			if c.failure == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.failure)
				require.Equal(t, 1, strings.Count(err.Error(), "nothing was saved or run"))
				require.Equal(t, plan.ProgramName, engine.PositionOf(err).Source)
			}
			require.Equal(t, c.source, source)
			require.Len(t, p.turns, c.turns)
			require.Len(t, p.checked, c.checks)
			var offered []string
			for _, q := range p.reviews {
				offered = append(offered, choices(t, q))
			}
			require.Equal(t, c.offered, offered)
			require.Equal(t, []string{"questions closed", "teardown"}, p.events)
		})
	}
}

// TestPR3_PolicyIsInTheDocument: the wording a turn is sent and the choices a person
// has are those of the document; no Go file of the package holds a sentence of it.
func TestPR3_PolicyIsInTheDocument(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		for line := range strings.Lines(plan.Program) {
			if words := strings.TrimSpace(line); strings.Count(words, " ") > 4 {
				require.NotContains(t, string(source), words, name)
			}
		}
	}
	for _, part := range []string{"<Loop max={10}", "<Loop max={3}", `"approve"`, `"revise"`, `"abort"`, "<Return value={approved}"} {
		require.Contains(t, plan.Program, part)
	}
	require.Equal(t, 3, strings.Count(plan.Program, "<Fail "))
	require.Equal(t, 1, strings.Count(plan.Program, "<Session "))
	require.Equal(t, 3, strings.Count(plan.Program, "<Prompt "))

	program := plan.Program
	t.Cleanup(func() { plan.Program = program })
	plan.Program = strings.Replace(program, "one complete document and nothing else", "ONE DOCUMENT", 1)
	p := newPlanning(t, "Hello.\n")
	p.answers = []any{decide("approve")}
	_, err = p.run(t.Context())
	require.NoError(t, err)
	require.Contains(t, p.turns[0], "ONE DOCUMENT")
}

// TestPR14_Turns: what every turn has to say and what it must not (prompt 7.4).
func TestPR14_Turns(t *testing.T) {
	diagnostics := func(n float64) plan.Assessment {
		return plan.Assessment{Diagnostics: value.Of("validation", value.Of("version", 1.0, "number", n, "text", "``` {candidate} <Fail message=\"x\" />"))}
	}
	p := newPlanning(t, broken, broken, "A", "B")
	n := 0.0
	p.check = func(source string) (plan.Assessment, error) {
		if n++; source == broken {
			return diagnostics(n), nil
		}
		return plan.Assessment{Props: value.NewObject(0)}, nil
	}
	p.answers = []any{revise("shorter, {round}\nand ``` <If> plain"), decide("approve")}
	_, err := p.run(t.Context())
	require.NoError(t, err)
	require.Len(t, p.turns, 4)
	initial, repairs, revision := p.turns[0], p.turns[1:3], p.turns[3]
	for _, turn := range p.turns {
		require.Contains(t, turn, "It is not a script with comments", "the narrative rule")
		require.Contains(t, turn, "ordinary prose")
		require.Contains(t, turn, "put no code fence around it")
		require.Contains(t, turn, "one complete document and nothing else")
	}
	require.Contains(t, initial, "write {a} greeting\n")
	require.Contains(t, initial, "## Catalog\n\n### `<File>`\n")
	require.Contains(t, initial, "Use nothing outside this list")
	require.Contains(t, initial, "# A colour to remember", "the worked example")
	require.Contains(t, initial, `<File path="colour.txt">{liked.colour}</File>`)
	require.Contains(t, initial, "schema={{ type: \"object\"")
	for i, repair := range repairs {
		require.Contains(t, repair, fmt.Sprintf("\"number\": %d", i+1))
		require.NotContains(t, repair, fmt.Sprintf("\"number\": %d", i), "an earlier draft's")
		require.Contains(t, repair, "````json\n{\n  \"validation\": {\n    \"version\": 1,")
		require.NotContains(t, repair, "## Catalog")
	}
	require.Contains(t, revision, "````text\nshorter, {round}\nand ``` <If> plain\n````")
	require.NotContains(t, revision, "## Catalog")
	require.NotContains(t, revision, `"number"`)
}

// TestPR9_Review: what the person reads is the draft, whatever is in it, and nothing
// accumulates from round to round.
func TestPR9_Review(t *testing.T) {
	hostile := "# `````\n{props.request}\n<Fail message=\"x\" />\n\u202e\x1b[2J\n~~~\n"
	p := newPlanning(t, append(repeat(4, hostile+broken), "short")...)
	p.invalid = func(source string) bool { return strings.Contains(source, broken) }
	p.answers = []any{revise("x"), decide("approve")}
	source, err := p.run(t.Context())
	require.NoError(t, err)
	require.Equal(t, "short", source)
	first, second := p.reviews[0].Message, p.reviews[1].Message
	require.Contains(t, first, "``````markdown\n"+hostile+broken+"\n``````\n")
	require.Contains(t, first, "```json\n{\n  \"validation\": {\n    \"version\": 1\n  }\n}\n```")
	require.Equal(t, 1, strings.Count(first, "\n"+"``````\n"))
	require.Contains(t, first, "Draft 1 of at most 10, which the Agent wrote for: write {a} greeting\n")
	require.Contains(t, second, "Draft 2 of at most 10")
	require.Contains(t, second, "```markdown\nshort\n```\n")
	require.NotContains(t, second, "json")
	require.NotContains(t, second, "script", "nothing of the first draft")
}

// TestPR9_LongRequestIsOneLine: the request is named on one line, and cut there where
// it is long; the turn has it whole.
func TestPR9_LongRequestIsOneLine(t *testing.T) {
	p := newPlanning(t, "short")
	p.answers = []any{decide("approve")}
	a := p.authoring()
	a.Request = "a\nb\t" + strings.Repeat("\U0001F600", 300)
	_, err := a.Run(t.Context())
	require.NoError(t, err)
	require.Contains(t, p.reviews[0].Message, "for: a b "+strings.Repeat("\U0001F600", 196)+"\n")
	require.Contains(t, p.turns[0], a.Request)
}

// TestPR11_OnlyTheCloseValueIsADraft: exact bytes, whatever they are.
func TestPR11_OnlyTheCloseValueIsADraft(t *testing.T) {
	for _, reply := range []string{
		"\n\r\n leading and trailing  \r\nno end", "```md\n# fenced\n```\n", "\ufeffmarked", "nul? no: \x7f tab\t", "e\u0301 \u00e9", strings.Repeat("long ", 100_000),
	} {
		p := newPlanning(t, reply)
		p.answers = []any{decide("approve")}
		source, err := p.run(t.Context())
		require.NoError(t, err)
		require.Equal(t, reply, source)
		require.Equal(t, []string{reply}, p.checked)
	}
}

// TestPR7_CallerFailureEndsThePlanning: at the first draft, in a repair and after a
// revision; nothing of the program catches it and nobody is asked.
func TestPR7_CallerFailureEndsThePlanning(t *testing.T) {
	for _, c := range []struct {
		replies         []string
		answers         []any
		at              int
		turns, reviewed int
	}{
		{[]string{"A"}, nil, 1, 1, 0},
		{[]string{broken, "A"}, nil, 2, 2, 0},
		{[]string{"A", "B"}, []any{revise("x")}, 2, 2, 1},
	} {
		p := newPlanning(t, c.replies...)
		p.answers = c.answers
		p.check = func(source string) (plan.Assessment, error) {
			if len(p.checked) == c.at {
				return plan.Assessment{}, &plan.CallerError{Message: "--props-x is wrong"}
			}
			if source == broken {
				return plan.Assessment{Diagnostics: value.NewObject(0)}, nil
			}
			return plan.Assessment{Props: value.NewObject(0)}, nil
		}
		source, err := p.run(t.Context())
		var caller *plan.CallerError
		require.ErrorAs(t, err, &caller)
		require.Equal(t, "--props-x is wrong", caller.Message)
		require.Empty(t, source)
		require.Len(t, p.turns, c.turns)
		require.Len(t, p.reviews, c.reviewed)
	}
}

// TestPR4_FailedTurn: a turn that did not complete is no draft. Nothing of it is
// judged or shown.
func TestPR4_FailedTurn(t *testing.T) {
	for _, end := range []string{"{ fail: boom }", "{ stop: max_tokens }", "{ stop: refusal }", "{ crash: 3 }"} {
		p := newPlanning(t)
		a := p.scripted("version: 1\nsessions:\n  \"*\":\n  - prompt: { any: true }\n    do: [ { say: partial }, "+end+" ]\n", "")
		source, err := a.Run(t.Context())
		require.Error(t, err, end)
		require.NotContains(t, err.Error(), "partial")
		require.Empty(t, source)
		require.Empty(t, p.checked)
		require.Empty(t, p.reviews)
		require.Equal(t, []string{"questions closed", "teardown"}, p.events)
	}
}

// TestPR13_TeardownWins: a failed teardown discards what was approved, and is added to
// a failure of the program, which comes first.
func TestPR13_TeardownWins(t *testing.T) {
	p := newPlanning(t, "Hello.\n")
	p.answers = []any{decide("approve")}
	p.close = errors.New("the agent would not go")
	source, err := p.run(t.Context())
	require.EqualError(t, err, "the agent would not go")
	require.Empty(t, source)

	p = newPlanning(t, "Hello.\n")
	p.answers = []any{decide("abort")}
	p.close = errors.New("the agent would not go")
	_, err = p.run(t.Context())
	require.ErrorContains(t, err, "you ended the review")
	require.ErrorContains(t, err, "the agent would not go")
	require.Less(t, strings.Index(err.Error(), "ended"), strings.Index(err.Error(), "would not"))
}

// TestPR13_Cancelled: in a turn, and while a question is open.
func TestPR13_Cancelled(t *testing.T) {
	stop := errors.New("stopped")
	t.Run("turn", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		p := newPlanning(t)
		a := p.scripted("version: 1\nsessions:\n  \"*\":\n  - prompt: { any: true }\n    do: [ { say: begun }, { waitCancel: true } ]\n", "")
		agents := a.Agents
		a.Agents = func(ctx context.Context) (plan.Runtime, error) {
			r, err := agents(ctx)
			r.Provider = stopping{r.Provider, func() { cancel(stop) }}
			return r, err
		}
		_, err := a.Run(ctx)
		require.ErrorIs(t, err, stop)
		require.Empty(t, p.reviews)
		require.Equal(t, []string{"questions closed", "teardown"}, p.events)
	})
	t.Run("question", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		p := newPlanning(t, "Hello.\n")
		a := p.authoring()
		a.Questions = func(context.CancelCauseFunc) (engine.Elicitor, func() error, error) {
			return asking(func(ctx context.Context) error {
				cancel(stop)
				<-ctx.Done()
				return context.Cause(ctx)
			}), func() error { return nil }, nil
		}
		source, err := a.Run(ctx)
		require.ErrorIs(t, err, stop)
		require.Empty(t, source)
	})
	t.Run("left question", func(t *testing.T) {
		p := newPlanning(t, "Hello.\n")
		a := p.authoring()
		a.Questions = func(interrupt context.CancelCauseFunc) (engine.Elicitor, func() error, error) {
			return asking(func(context.Context) error { interrupt(stop); return stop }), func() error { return nil }, nil
		}
		_, err := a.Run(t.Context())
		require.ErrorIs(t, err, stop)
	})
}

// stopping cancels as soon as a turn begins.
type stopping struct {
	agent.Provider
	stop func()
}

func (s stopping) Prompt(text string, o agent.PromptOptions) agent.Turn {
	return stoppingTurn{s.Provider.Prompt(text, o), s.stop}
}

type stoppingTurn struct {
	agent.Turn
	stop func()
}

func (s stoppingTurn) Run(ctx context.Context, emit func(agent.Event) error) (string, error) {
	return s.Turn.Run(ctx, func(e agent.Event) error {
		if _, ok := e.(agent.Started); ok {
			s.stop()
		}
		return emit(e)
	})
}

// asking is a person of whom nothing comes but an error.
type asking func(ctx context.Context) error

func (a asking) Ask(ctx context.Context, _ engine.Question) (any, error) { return nil, a(ctx) }

// TestPR13_NothingFollowsARefusal: what cannot be opened leaves nothing behind that
// was opened before it.
func TestPR13_NothingFollowsARefusal(t *testing.T) {
	p := newPlanning(t, "Hello.\n")
	a := p.authoring()
	a.Agents = func(context.Context) (plan.Runtime, error) { return plan.Runtime{}, errors.New("no ceiling") }
	_, err := a.Run(t.Context())
	require.EqualError(t, err, "no ceiling")
	require.Empty(t, p.events)

	a = p.authoring()
	a.Questions = func(context.CancelCauseFunc) (engine.Elicitor, func() error, error) {
		return nil, nil, errors.New("nobody to ask")
	}
	_, err = a.Run(t.Context())
	require.EqualError(t, err, "nobody to ask")
	require.Equal(t, []string{"teardown"}, p.events)
	require.Empty(t, p.turns)
}

// TestProgressIsToldPerTurn: what is waited for, and nothing else.
func TestProgressIsToldPerTurn(t *testing.T) {
	p := newPlanning(t, broken, "Hello.\n")
	p.answers = []any{decide("approve")}
	a := p.authoring()
	var told []string
	a.Progress = func(message string) { told = append(told, message) }
	_, err := a.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"The Agent is writing (turn 1).", "The Agent is writing (turn 2)."}, told)
}

// TestPR6_NothingOfADraftHappens: it is data to the program, also where it looks like
// a part of it.
func TestPR6_NothingOfADraftHappens(t *testing.T) {
	drafts := "<File path=\"out.txt\">x</File>\n```sh exec\ntouch out.txt\n```\n<Fetch url=\"http://127.0.0.1:1/\" />{boom()}<Return value=\"no\" /></Session><Fail message=\"no\" />"
	p := newPlanning(t, drafts)
	p.answers = []any{decide("abort")}
	_, err := p.run(t.Context())
	require.ErrorContains(t, err, "you ended the review")
	require.Contains(t, p.reviews[0].Message, drafts)
	require.NoFileExists(t, "out.txt")
}

// TestPR2_NothingElseIsInReach: a program that asked for more would be refused by
// name, and finds no component beside those of the plan profile.
func TestPR2_NothingElseIsInReach(t *testing.T) {
	program := plan.Program
	t.Cleanup(func() { plan.Program = program })
	write := func(body string) {
		plan.Program = "---\nprops:\n  type: object\n  properties:\n    request: { type: string }\n    syntax: { type: string }\n    session: { type: string }\nreturns: { type: string }\n---\n" + body
	}
	for _, name := range []string{"File path=\"x\"", "Glob include={[\"*\"]} as=\"g\"", "Fetch url=\"http://127.0.0.1:1/\" as=\"f\"", "TempDir", "Dir path=\"x\"", "Agent name=\"x\"", "AgentProvider name=\"acp\"",
		"ApproveAll", "Evaluate text=\"x\"", "Syntax", "Plan", "Widget"} {
		write("<" + name + " /><Return value=\"x\" />")
		_, err := newPlanning(t, "x").run(t.Context())
		require.ErrorContains(t, err, "could not be imported", name)
	}
	write("```sh exec\ntrue\n```\n<Return value=\"x\" />")
	_, err := newPlanning(t, "x").run(t.Context())
	require.ErrorContains(t, err, "the plan profile grants no process")
	write("<Return value={1} />")
	_, err = newPlanning(t, "x").run(t.Context())
	require.Error(t, err)
	write("\n\n{boom}<Let as=\"x\" value={boom} /><Return value=\"x\" />")
	_, err = newPlanning(t, "x").run(t.Context())
	require.ErrorContains(t, err, "boom")
	require.Equal(t, "<prompt-plan>:12:7", engine.PositionOf(err).String())
}
