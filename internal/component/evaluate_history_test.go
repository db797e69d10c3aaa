package component

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// errCrash is the end of a run that was killed.
var errCrash = errors.New("the run was killed")

// A crashing stream ends a run as soon as it has kept a number of events.
type crashing struct {
	journal.Stream
	left int
	kill context.CancelCauseFunc
}

func (c *crashing) Append(ctx context.Context, e journal.Event) error {
	err := c.Stream.Append(ctx, e)
	if c.left--; c.left == 0 {
		c.kill(errCrash)
	}
	return err
}

// busy is a program with an effect of every kind, in sequence.
const busy = `<File path="docs/a.txt" as="a" /><Dir path="made"><File path="one.txt">{a}1</File></Dir>
<Each in={["x", "y"]} let="i"><File path={"made/" + i + ".txt"}>{i}{a}</File><If condition={i === "y"}><Peek key={i} /></If></Each>
<Loop max={3} name="again"><Glob include={["made/*"]} as="g" />{g.length}<Break /></Loop>
<Answers><Answer template="Ship {?what}?" value={true} /><Elicit schema={{"type": "boolean"}} as="go">Ship it?</Elicit></Answers>
<Elicit schema={{"type": "string"}} as="who">Who?</Elicit><File path="who.txt">{who} {go}</File>
<Fetch url="https://api.example.test/one" as="f" />{f.body}<File.Delete path="docs/b.txt" /><Wrap>{who}</Wrap>`

const busyOutput = "\ny\n3\n\n\nbody of https://api.example.test/oneAda"

// TestA9_ACrashAfterEveryEvent kills a run as soon as each event is durable, the
// decision among them: with the continuation, every effect happens exactly once.
func TestA9_ACrashAfterEveryEvent(t *testing.T) {
	golden := newStage(t)
	o := performance{profile: golden.ordinary(), text: busy, elicitor: says("Ada")}.run(t, evaluateWrite)
	require.Equal(t, busyOutput, o.ok(t))
	all := golden.done()
	require.Equal(t, []string{
		"File.read docs/a.txt", "Dir.ensure made", "File.write one.txt=A1", "File.write made/x.txt=xA", "File.write made/y.txt=yA", "Peek y",
		`Glob ["made/*"]`, "Elicit.ask=Ship it?", "Elicit.ask=Who?", "File.write who.txt=Ada true",
		"Fetch https://api.example.test/one", "File.delete docs/b.txt", "Wrap=Ada",
	}, all)
	require.Len(t, effects(o.events), len(all))

	for kept := 1; kept <= len(o.events); kept++ {
		t.Run(fmt.Sprintf("%d of %d events", kept, len(o.events)), func(t *testing.T) {
			s := newStage(t)
			ctx, kill := context.WithCancelCause(t.Context())
			defer kill(nil)
			stream := journal.NewMemory()
			broken := performance{
				profile: s.ordinary(), text: busy, elicitor: says("Ada"), ctx: ctx,
				stream: &crashing{stream, kept, kill},
			}.run(t, evaluateWrite)
			if kept < len(o.events)-1 { // the last but one ends the last effect
				require.ErrorIs(t, broken.stopped, errCrash)
			}
			held, err := stream.Load(t.Context())
			require.NoError(t, err)
			before := s.done()
			require.Len(t, before, len(effects(held)), "what was performed is recorded")

			again := performance{profile: s.ordinary(), text: busy, elicitor: says("Ada"), events: held}.run(t, evaluateWrite)
			require.Equal(t, busyOutput, again.ok(t))
			require.Equal(t, all, append(before, s.done()...))
			require.Len(t, decisions(again.events), 1)
			require.Equal(t, "A1", s.text("made/one.txt"))
			require.Equal(t, "Ada true", s.text("who.txt"))
			require.Empty(t, s.text("docs/b.txt"))
		})
	}
}

// TestA9_EveryPrefix continues from every prefix of one history: what is recorded is
// believed, what is not is performed, once and in order.
func TestA9_EveryPrefix(t *testing.T) {
	s := newStage(t)
	o := performance{profile: s.ordinary(), text: busy, elicitor: says("Ada")}.run(t, evaluateWrite)
	o.ok(t)
	all := s.done()
	for cut := range len(o.events) + 1 {
		again := performance{profile: s.ordinary(), text: busy, elicitor: says("Ada"), events: o.events[:cut]}.run(t, evaluateWrite)
		require.Equal(t, busyOutput, again.ok(t), "from %d events", cut)
		require.ElementsMatch(t, all[len(effects(o.events[:cut])):], s.done(), "from %d events", cut)
		require.Len(t, again.events, len(o.events))
	}
}

// TestA9_AChangedTextIsRefused: from every history that holds the decision and not
// the end, another text is refused with the fixed sentence; nothing is performed and
// nothing appended.
func TestA9_AChangedTextIsRefused(t *testing.T) {
	golden := newStage(t)
	o := performance{profile: golden.ordinary(), text: busy, elicitor: says("Ada")}.run(t, evaluateWrite)
	o.ok(t)
	const printing = `<PrintErrors>` + evaluateWrite + `</PrintErrors>`
	histories := map[string][]journal.Event{evaluateWrite: o.events, printing: continued(t, golden, printing)}
	for cut := afterDecision(t, o.events); cut < len(o.events); cut++ {
		for _, text := range []string{"", busy + " ", strings.Replace(busy, "docs/a.txt", "docs/b.txt", 1), "<Exec />"} {
			for document, history := range histories {
				s := newStage(t)
				p := says("nobody")
				again := performance{profile: s.ordinary(), text: text, elicitor: p, events: history[:cut]}.run(t, document)
				again.stale(t, admission.ErrTextChanged)
				require.Empty(t, again.Output)
				require.Len(t, again.events, cut)
				require.Empty(t, s.done())
				require.Empty(t, p.questions)
			}
		}
	}
}

// continued is the whole history of a document that evaluates busy.
func continued(t *testing.T, s *stage, document string) []journal.Event {
	t.Helper()
	o := performance{profile: s.ordinary(), text: busy, elicitor: says("Ada")}.run(t, document)
	o.ok(t)
	s.done()
	return o.events
}

// TestA9_ARecordedRefusalStaysOne: a history that holds a refusal refuses again,
// also a text and under a profile that would be admitted now.
func TestA9_ARecordedRefusalStaysOne(t *testing.T) {
	s := newStage(t)
	o := performance{profile: s.ordinary(), text: `<Exec />`}.run(t, evaluateRead)
	o.refused(t, admission.Component)
	held := o.events[:afterDecision(t, o.events)]
	o = performance{profile: s.ordinary(), text: `<Peek />`, events: held}.run(t, evaluateRead)
	o.refused(t, admission.Component)
	require.Empty(t, s.done())
	require.Len(t, decisions(o.events), 1)
}

// TestA8_WhatIsKeptPastTheEndRefuses: the element, a grant, an entry and its
// operation, each kept by somebody when the execution ends.
func TestA8_WhatIsKeptPastTheEndRefuses(t *testing.T) {
	s := newStage(t)
	p := s.profile()
	var kept []func(context.Context, capability.Call) (any, error)
	profile := s.capture(p)
	grant, err := profile.Select(capability.ReadClass, capability.WriteClass)
	require.NoError(t, err)
	o := performance{profile: profile, text: busy, elicitor: says("Ada")}.run(t, evaluateWrite)
	o.ok(t)
	s.done()
	for _, e := range grant.Entries() {
		if e.Op.Do != nil {
			kept = append(kept, e.Op.Do)
		}
		kept = append(kept, e.Do)
	}
	profile.Revoke()

	require.False(t, grant.Live())
	for _, do := range kept {
		_, err := do(t.Context(), capability.Call{Props: value.Of("path", "docs/a.txt", "key", "k", "include", []any{"*"}, "url", "https://api.example.test/one", "schema", value.Of())})
		require.ErrorIs(t, err, capability.ErrRevoked)
	}
	for _, document := range []string{evaluateRead, `<Evaluate><Mark /><Give /></Evaluate>`} {
		o = performance{profile: profile, text: `<Peek />`}.run(t, document)
		require.NoError(t, o.stopped)
		require.ErrorIs(t, o.Err, capability.ErrRevoked)
		require.Empty(t, decisions(o.events))
		require.Empty(t, o.marks)
	}
	// A history does not bring it back.
	history := continued(t, newStage(t), evaluateWrite)
	for cut := afterDecision(t, history) - 1; cut < len(history); cut++ {
		o = performance{profile: profile, text: busy, events: history[:cut]}.run(t, evaluateWrite)
		require.True(t, o.stopped != nil || errors.Is(o.Err, capability.ErrRevoked))
	}
	require.Empty(t, s.done())
}

// TestA8_AProgramThatOutlivesItsProfile: an operation that ends the profile is the
// last one of the program, and what it kept from happening is not recorded.
func TestA8_AProgramThatOutlivesItsProfile(t *testing.T) {
	s := newStage(t)
	p := s.profile()
	var profile *capability.Captured
	end := s.own("End", capability.Read, capability.SelfClosing, noProps, "")
	end.Op.Do = func(context.Context, capability.Call) (any, error) { profile.Revoke(); return nil, nil }
	p.Read = append(p.Read, end)
	profile = s.capture(p)
	o := performance{profile: profile, text: `<Peek /><End /><File path="out.txt">x</File>`}.run(t, evaluateWrite)
	require.NoError(t, o.stopped)
	require.ErrorIs(t, o.Err, capability.ErrRevoked)
	require.Equal(t, []string{"Peek"}, s.done())
	require.Len(t, effects(o.events), 2)
	require.Empty(t, s.text("out.txt"))
}

// TestA10_AnotherCeilingContinuesNothing: every change of what was granted stops a
// continuation before an operation; a change of what was not granted does not.
func TestA10_AnotherCeilingContinuesNothing(t *testing.T) {
	const program = `<File path="docs/a.txt" /><Fetch url="https://api.example.test/one" />`
	s := newStage(t)
	o := performance{profile: s.ordinary(), text: program}.run(t, evaluateRead)
	o.ok(t)
	s.done()
	history := o.events
	for name, change := range map[string]func(*capability.Profile){
		"a path ceiling": func(p *capability.Profile) { p.Read[0].Paths = []string{"**"} },
		"a revision":     func(p *capability.Profile) { p.Read[3].Identity.Revision++ },
		"an entry more": func(p *capability.Profile) {
			p.Read = append(p.Read, s.own("More", capability.Read, capability.SelfClosing, noProps, ""))
		},
		"an entry less": func(p *capability.Profile) { p.Read = p.Read[:3] },
		"the order":     func(p *capability.Profile) { slices.Reverse(p.Read) },
		"a form":        func(p *capability.Profile) { p.Read[3].Forms |= capability.Paired },
		"a request more": func(p *capability.Profile) {
			p.Read[2].Requests = append(p.Read[2].Requests, capability.Request{URL: "https://api.example.test/two"})
		},
		"a header of one":     func(p *capability.Profile) { p.Read[2].Requests[0].Headers = map[string]string{"accept": "x"} },
		"a timeout":           func(p *capability.Profile) { p.FetchTimeout = 1e9 },
		"the dialect":         func(p *capability.Profile) { p.Dialect = capability.Flat },
		"a limit that widens": func(p *capability.Profile) { p.Limits.Output = 2 << 20 },
		"a limit on time":     func(p *capability.Profile) { p.Limits.Time = 1e9 },
		"a retained root":     func(p *capability.Profile) { p.Roots = []capability.Root{{Name: "run", Retained: true}} },
	} {
		t.Run(name, func(t *testing.T) {
			p := s.profile()
			change(&p)
			for cut := afterDecision(t, history); cut < len(history); cut++ {
				o := performance{profile: s.capture(p), text: program, events: history[:cut]}.run(t, evaluateRead)
				o.stale(t, admission.ErrCeilings)
				require.Len(t, o.events, cut)
				require.Empty(t, o.Output)
			}
			require.Empty(t, s.done())
		})
	}
	for name, change := range map[string]func(*capability.Profile){
		"the other table": func(p *capability.Profile) { p.Write = p.Write[:1] },
		"its name":        func(p *capability.Profile) { p.Name = "another" },
	} {
		p := s.profile()
		change(&p)
		o := performance{profile: s.capture(p), text: program, events: history[:afterDecision(t, history)]}.run(t, evaluateRead)
		require.Equal(t, "A", o.ok(t), name)
		require.Len(t, s.done(), 2, name)
	}

	// What it was not granted with: another selection by the document.
	for document, first := range map[string]string{
		`<Evaluate allow={["write"]}><Give /></Evaluate>`:        `<Evaluate allow={["read"]}><Give /></Evaluate>`,
		`<Evaluate allow={["read","write"]}><Give /></Evaluate>`: `<Evaluate allow={["read"]}><Give /></Evaluate>`,
	} {
		golden := performance{profile: s.ordinary(), text: "text"}.run(t, first)
		events := slices.Clone(golden.events[:afterDecision(t, golden.events)])
		current := performance{profile: s.ordinary(), text: "text"}.run(t, document)
		events[0] = current.events[0] // the document that was changed
		o := performance{profile: s.ordinary(), text: "text", events: events}.run(t, document)
		require.ErrorIs(t, o.stopped, admission.ErrCeilings, document)
	}
}

// TestA10_RetainedRoots: a run may have come to retain more roots, and not fewer.
func TestA10_RetainedRoots(t *testing.T) {
	s := newStage(t)
	with := func(names ...string) *capability.Captured {
		p := s.profile()
		for _, name := range names {
			p.Roots = append(p.Roots, capability.Root{Name: name, Retained: true})
		}
		return s.capture(p)
	}
	o := performance{profile: with("one", "two"), text: `<Peek key="k" />`}.run(t, evaluateRead)
	o.ok(t)
	held := o.events[:afterDecision(t, o.events)]
	o = performance{profile: with("one", "three", "two"), text: `<Peek key="k" />`, events: held}.run(t, evaluateRead)
	require.Equal(t, "k", o.ok(t))
	s.done()
	for _, names := range [][]string{{"one"}, {"two"}, {}} {
		o = performance{profile: with(names...), text: `<Peek key="k" />`, events: held}.run(t, evaluateRead)
		o.stale(t, admission.ErrCeilings)
		require.Empty(t, s.done())
	}
}

// TestA11_AnUnreadableDecisionContinuesNothing: whatever is not exactly what a
// decision is recorded as stops the execution with the fixed text.
func TestA11_AnUnreadableDecisionContinuesNothing(t *testing.T) {
	s := newStage(t)
	o := performance{profile: s.ordinary(), text: `<Peek key="k" />`}.run(t, evaluateRead)
	o.ok(t)
	s.done()
	held := o.events[:afterDecision(t, o.events)]
	record := func(change func(*value.Object)) journal.Result {
		o := value.Clone(decided(t, held)).(*value.Object)
		change(o)
		return journal.Ok(o)
	}
	set := func(name string, v any) journal.Result {
		return record(func(o *value.Object) { o.Set(name, v) })
	}
	results := map[string]journal.Result{
		"no value":            {Status: journal.StatusOk},
		"null":                journal.Ok(nil),
		"a text":              journal.Ok("admitted"),
		"a failure":           journal.Err(errors.New("no")),
		"a cancellation":      journal.Cancelled(),
		"a member more":       set("more", true),
		"another version":     set("version", 2.0),
		"another source":      set("source", `<Peek key="l" />`),
		"another digest":      set("digest", "sha256:"+strings.Repeat("0", 64)),
		"another module":      set("module", "sha256:"+strings.Repeat("0", 64)),
		"no compiler":         set("compiler", "1"),
		"another decision":    set("decision", "refused"),
		"no list of elements": set("named", nil),
		"fewer elements":      set("named", []any{}),
		"a policy of nothing": set("policy", value.Of()),
		"an unknown class":    journal.Ok(value.Of("version", 1.0, "decision", "refused", "class", "other")),
		"a refusal with more": journal.Ok(value.Of("version", 1.0, "decision", "refused", "class", "block", "source", "x")),
	}
	for name := range decided(t, held).All() {
		results["without "+name] = record(func(o *value.Object) { o.Delete(name) })
	}
	for name, result := range results {
		t.Run(name, func(t *testing.T) {
			events := slices.Clone(held)
			events[len(events)-1].Result = result
			o := performance{profile: s.ordinary(), text: `<Peek key="k" />`, events: events}.run(t, evaluateRead)
			o.stale(t, admission.ErrUnreadable)
			require.Len(t, o.events, len(held))
			require.Empty(t, s.done())
		})
	}
}

// TestA11_AnEffectThatIsNotTheProgramsIsNotUsed: what a history says of an operation
// is judged by who it was done as, what was asked and what came back.
func TestA11_AnEffectThatIsNotTheProgramsIsNotUsed(t *testing.T) {
	s := newStage(t)
	const program = `<File path="docs/a.txt" /><File path="docs/b.txt" />`
	o := performance{profile: s.ordinary(), text: program}.run(t, evaluateRead)
	o.ok(t)
	s.done()
	at := afterDecision(t, o.events)
	for name, change := range map[string]func(*journal.Event){
		"another identity": func(e *journal.Event) { e.Description.Set(memberCapability, "xmd.core/File.write@1") },
		"no identity":      func(e *journal.Event) { e.Description.Delete(memberCapability) },
		"another path":     func(e *journal.Event) { e.Description.Set("input", value.Of("path", "secret.txt")) },
		"no input":         func(e *journal.Event) { e.Description.Delete("input") },
		"another value":    func(e *journal.Event) { e.Result = journal.Ok(1.0) },
		"no value":         func(e *journal.Event) { e.Result = journal.Result{Status: journal.StatusOk} },
	} {
		events := slices.Clone(o.events[:at+1])
		events[at] = events[at].Clone()
		change(&events[at])
		again := performance{profile: s.ordinary(), text: program, events: events}.run(t, evaluateRead)
		var stale *journal.StaleInputError
		require.ErrorAs(t, again.stopped, &stale, name)
		require.Len(t, again.events, at+1, name)
		require.Empty(t, s.done(), name)
	}
}
