package component

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// always answers every question, and any number at once, with one value.
type always string

func (a always) Ask(context.Context, engine.Question) (any, error) { return string(a), nil }

const askName = `<Elicit schema={{"type": "string"}} as="name">Who?</Elicit>`

// TestEL1_AQuestionIsAnEntryOfTheWriteTable: the ordinary profile grants it under
// write and not under read; nothing is looked up or asked for it.
func TestEL1_AQuestionIsAnEntryOfTheWriteTable(t *testing.T) {
	s := newStage(t)
	r := &repository{files: map[string]string{"components/Elicit.md": "replaced"}}
	p := says("Ada")
	for _, allow := range []string{`"read"`, `"write"`, `"read","write"`} {
		o := performance{profile: s.ordinary(), sources: r, elicitor: p, library: []engine.Component{trap(t, "Elicit")}}.
			run(t, `<Evaluate text="no question" allow={[`+allow+`]} />`)
		require.Equal(t, "no question", o.ok(t))
		require.Equal(t, strings.Contains(allow, "write"), strings.Contains(lines(t, decisions(o.events))[0], "xmd.core/Elicit.ask@1"))
	}
	require.Empty(t, r.asked)
	require.Empty(t, p.questions)
	require.Empty(t, s.done())
}

// TestEL2_AnAnswerFeedsAWrite: the person of the run answers, and the answer is the
// program's to use.
func TestEL2_AnAnswerFeedsAWrite(t *testing.T) {
	s := newStage(t)
	p := says(value.Of("name", "Ada", "age", 36.0))
	o := performance{profile: s.ordinary(), elicitor: p, text: `<Elicit schema={{"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}} as="who">` +
		`Who writes <File path="docs/a.txt" />?</Elicit><File path="out.txt">{who.name} {who.age}</File>`}.run(t, evaluateWrite)
	require.Empty(t, o.ok(t))
	require.Equal(t, "Ada 36", s.text("out.txt"))
	require.Len(t, p.questions, 1)
	require.Equal(t, "Who writes A?", p.questions[0].Message)
	require.Equal(t, []string{"File.read docs/a.txt", "Elicit.ask=Who writes A?", "File.write out.txt=Ada 36"}, s.done())

	e := o.record(t, "elicit")
	id := strings.TrimPrefix(strings.Trim(member(t, decisions(o.events)[0], "name"), `"`), "generated:")
	require.Equal(t, `"elicit:`+id+`:1:1"`, member(t, e, "name"))
	require.Equal(t, `"Who writes A?"`, member(t, e, memberMessage))
	require.Equal(t, `"xmd.core/Elicit.ask@1"`, member(t, e, memberCapability))
	require.JSONEq(t, asJSON(t, p.questions[0].Schema), member(t, e, memberSchema))

	// An answer the schema refuses is a failure, and so is none.
	for message, p := range map[string]engine.Elicitor{
		"the answer is one the schema refuses": says(1.0),
		"no answer was given: gone":            &person{err: errors.New("gone")},
		"nobody is there to answer":            nil,
	} {
		o = performance{profile: s.ordinary(), elicitor: p, text: askName + `<File path="never.txt">{name}</File>`}.run(t, evaluateWrite)
		require.NoError(t, o.stopped)
		require.ErrorContains(t, o.Err, "<Evaluate>: line 1, column 1 of the program: ")
		require.ErrorContains(t, o.Err, message)
		require.Empty(t, s.text("never.txt"))
	}
	// A person who walked away settled nothing, and the run has not ended.
	o = performance{profile: s.ordinary(), elicitor: &person{err: context.Canceled}, text: askName}.run(t, evaluateWrite)
	require.Error(t, o.stopped)
	require.Empty(t, effects(o.events))
	again := performance{profile: s.ordinary(), elicitor: says("Ada"), text: askName + `{name}`}
	o = performance{profile: s.ordinary(), elicitor: &person{err: context.Canceled}, text: again.text}.run(t, evaluateWrite)
	again.events = o.unfinished()
	require.Equal(t, "Ada", again.run(t, evaluateWrite).ok(t))
}

// TestEL3_ReadingAsksNobody: under read a question is refused before anybody and any
// write is reached.
func TestEL3_ReadingAsksNobody(t *testing.T) {
	s := newStage(t)
	for _, document := range []string{evaluateRead, `<Evaluate allow={["read"]}><Give /></Evaluate>`, `<Evaluate><Give /></Evaluate>`} {
		for _, program := range []string{askName, `x` + askName, askName + `<File path="out.txt">{name}</File>`, `<If condition={false}>` + askName + `</If>`} {
			p := says("Ada")
			o := performance{profile: s.ordinary(), elicitor: p, text: program}.run(t, document)
			o.refused(t, admission.Component)
			require.Empty(t, p.questions)
			require.Empty(t, s.done())
			require.Empty(t, effects(o.events))
		}
	}
}

// TestEL4_AQuestionBesideARefusedSibling: the whole is refused and nobody is asked.
func TestEL4_AQuestionBesideARefusedSibling(t *testing.T) {
	s := newStage(t)
	for _, program := range []string{askName + `<Exec />`, askName + "\n```sh exec\nid\n```\n", askName + `{other}`, `<Answers><Answer value={1} />` + askName + `</Answers><File path=".git/x">x</File>`} {
		p := says("Ada")
		o := performance{profile: s.ordinary(), elicitor: p, text: program}.run(t, evaluateWrite)
		require.NoError(t, o.stopped)
		require.ErrorAs(t, o.Err, new(*admission.Refusal))
		require.Empty(t, p.questions)
	}
}

// TestEL5_NothingOfTheSameNameAnswers: a file, a registration, a binding and a record
// called Elicit are nothing to a generated question.
func TestEL5_NothingOfTheSameNameAnswers(t *testing.T) {
	s := newStage(t)
	r := &repository{files: map[string]string{
		"components/Elicit.md": "---\nreturns: {type: string}\n---\n<Return value=\"replaced\" />", "Elicit.md": "replaced", "components/Elicit/index.md": "replaced",
		"components/Around.md": "<Content />",
	}}
	p := says("Ada")
	perform := performance{profile: s.ordinary(), sources: r, elicitor: p, text: askName + `{name}`, library: []engine.Component{trap(t, "Elicit")}}
	o := perform.run(t, `<Let as="Elicit" value="bound" /><Let as="name" value="bound" /><Around><Evaluate allow={["write"]}><Give /></Evaluate></Around>`)
	require.Equal(t, "Ada", o.ok(t))
	require.Len(t, p.questions, 1)
	for _, asked := range r.asked {
		require.NotContains(t, asked, "Elicit")
	}
	for _, e := range o.events {
		name, _ := e.Description.String("name")
		require.NotEqual(t, "Elicit", name)
	}

	// Where the document asks, the file does answer.
	o = performance{sources: r}.run(t, `<Elicit as="x" />{x}`)
	require.Equal(t, "replaced", o.ok(t))
}

// TestEL6_AReplayAsksNobody: the recorded answer is restored, and one to another
// question is not used.
func TestEL6_AReplayAsksNobody(t *testing.T) {
	s := newStage(t)
	program := askName + `<File path="out.txt">{name}</File>{name}`
	o := performance{profile: s.ordinary(), elicitor: says("Ada"), text: program}.run(t, evaluateWrite)
	require.Equal(t, "Ada", o.ok(t))
	s.done()
	at := afterDecision(t, o.events) + 1
	for cut := at; cut <= len(o.events); cut++ {
		p := says("nobody")
		again := performance{profile: s.ordinary(), elicitor: p, text: program, events: o.events[:cut]}.run(t, evaluateWrite)
		require.Equal(t, "Ada", again.ok(t))
		require.Empty(t, p.questions)
	}
	s.done()

	for name, change := range map[string]func(*journal.Event){
		"another question":    func(e *journal.Event) { e.Description.Set("input", "0000") },
		"another message":     func(e *journal.Event) { e.Description.Set(memberMessage, "Really?") },
		"another schema":      func(e *journal.Event) { e.Description.Set(memberSchema, true) },
		"a value of no kind":  func(e *journal.Event) { e.Result = journal.Result{Status: journal.StatusOk} },
		"another performance": func(e *journal.Event) { e.Description.Set(memberCapability, "xmd.core/Elicit.ask@2") },
	} {
		p := says("nobody")
		again := performance{profile: s.ordinary(), elicitor: p, text: program, events: edited(outcome{events: o.events[:at]}, change)}.run(t, evaluateWrite)
		require.ErrorAs(t, again.stopped, new(*journal.StaleInputError), name)
		require.Empty(t, p.questions, name)
		require.Empty(t, s.done(), name)
	}
}

// TestEL7_WithoutAQuestionNothingOfItIsResolved: a program that does not ask imports
// nothing for it, also where it could.
func TestEL7_WithoutAQuestionNothingOfItIsResolved(t *testing.T) {
	s := newStage(t)
	r := &repository{files: map[string]string{"components/Elicit.md": "replaced"}}
	imports := func(program string, sources host.Sources) (names []string) {
		o := performance{profile: s.ordinary(), sources: sources, elicitor: always("x"), text: program, library: []engine.Component{trap(t, "Elicit")}}.
			run(t, `<Evaluate allow={["read","write"]}><Give /></Evaluate>`)
		o.ok(t)
		grant, err := s.ordinary().Select(capability.ReadClass, capability.WriteClass)
		require.NoError(t, err)
		source, _ := decided(t, o.events).String("source")
		m, err := wasm.Compile(admission.Preflight("", source, grant).Program)
		require.NoError(t, err)
		digest, _ := decided(t, o.events).String("module")
		require.Equal(t, m.Digest, digest, "it is the module that ran")
		for _, i := range m.Imports {
			names = append(names, i.Module)
		}
		return names
	}
	require.NotContains(t, imports(`text <Peek key="k" /><File path="docs/a.txt" /> `+"`<Elicit />`", r), "xmd.core/Elicit.ask@1")
	require.Contains(t, imports(askName, nil), "xmd.core/Elicit.ask@1")
	for _, asked := range r.asked {
		require.NotContains(t, asked, "Elicit")
	}
}

// TestEL8_AnAnswersRegionAround: what the document states answers a generated
// question, inner regions first.
func TestEL8_AnAnswersRegionAround(t *testing.T) {
	s := newStage(t)
	in := func(document, program string, p engine.Elicitor) outcome {
		return performance{profile: s.ordinary(), elicitor: p, text: program}.run(t, document)
	}
	const region = `<Answers%><Answer template="Who?" value='"stated"' /><Evaluate allow={["write"]}><Give /></Evaluate></Answers>`
	p := says("Ada")
	o := in(strings.Replace(region, "%", "", 1), askName+`{name}`, p)
	require.Equal(t, "stated", o.ok(t))
	require.Equal(t, "stated", o.record(t, "elicit").Result.Value)
	require.Empty(t, p.questions)

	other := strings.Replace(askName, "Who?", "Where?", 1)
	o = in(strings.Replace(region, "%", "", 1), other+`{name}`, p)
	require.ErrorContains(t, o.Err, `no <Answer> matches the question "Where?"`)
	require.Empty(t, p.questions)
	o = in(strings.Replace(region, "%", " delegate={true}", 1), other+`{name}`, p)
	require.Equal(t, "Ada", o.ok(t))

	// A region of the program is nearer; what it passes on goes to the one around.
	o = in(strings.Replace(region, "%", "", 1), `<Answers delegate={true}><Answer template="Where?" value='"inside"' />`+other+`{name} </Answers><Answers delegate={true}><Answer template="When?" value={1} />`+
		strings.Replace(askName, `"name"`, `"who"`, 1)+`{who}</Answers>`, nil)
	require.Equal(t, "inside stated", o.ok(t))
}

// TestWGAC18_AHostStatesTheQuestionItself: a host whose table has no question refuses
// one, and stating the entry is all it takes.
func TestWGAC18_AHostStatesTheQuestionItself(t *testing.T) {
	s := newStage(t)
	p := s.profile()
	p.Dialect = capability.Closed
	p.Write = p.Write[:1]
	q := says("Ada")
	o := performance{profile: s.capture(p), elicitor: q, text: askName + `{name}`}.run(t, evaluateWrite)
	o.refused(t, admission.Component)
	p.Write = nil
	o = performance{profile: s.capture(p), elicitor: q, text: askName + `{name}`}.run(t, evaluateRead)
	o.refused(t, admission.Component)
	require.Empty(t, q.questions)

	p.Write = []capability.Entry{capability.Ask(nil)}
	o = performance{profile: s.capture(p), elicitor: q, text: askName + `{name}`}.run(t, evaluateWrite)
	require.Equal(t, "Ada", o.ok(t))

	// Without anybody around, the host's own answers, or it fails and nothing waits.
	o = performance{profile: s.capture(p), text: askName + `{name}`}.run(t, evaluateWrite)
	require.NoError(t, o.stopped)
	require.ErrorIs(t, o.Err, capability.ErrNobody)
	require.Empty(t, effects(o.events), "nothing was settled")
}

// TestA24_TimeStandsStillWhileAQuestionWaits: a person may take a day; the bound of
// the program is on what it computes, and the run's own end still ends it.
func TestA24_TimeStandsStillWhileAQuestionWaits(t *testing.T) {
	slow := func(took time.Duration) engine.Elicitor {
		return asking(func(ctx context.Context) (any, error) {
			select {
			case <-time.After(took):
				return "at last", nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		})
	}
	program := askName + `{name}<All><Spawn>` + strings.Replace(askName, "name", "a", 1) + `</Spawn><Spawn>` + strings.Replace(askName, "name", "b", 1) + `{b}</Spawn></All><Loop max={10}>.</Loop>`
	t.Run("a day", func(t *testing.T) {
		s := newStage(t)
		synctest.Test(t, func(t *testing.T) {
			o := performance{profile: s.ordinary(), elicitor: slow(24 * time.Hour), text: program}.run(t, evaluateWrite)
			require.Equal(t, "at lastat last..........", o.ok(t))
		})
	})
	t.Run("until the run ends", func(t *testing.T) {
		s := newStage(t)
		synctest.Test(t, func(t *testing.T) {
			late := errors.New("the run is over")
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, late)
			defer cancel()
			o := performance{profile: s.ordinary(), elicitor: slow(24 * time.Hour), text: program, ctx: ctx}.run(t, evaluateWrite)
			require.ErrorIs(t, o.stopped, late)
			require.Empty(t, effects(o.events))
			require.Empty(t, closes(o.events))
			again := performance{profile: s.ordinary(), elicitor: slow(time.Second), text: program, events: o.events}.run(t, evaluateWrite)
			require.Equal(t, "at lastat last..........", again.ok(t))
		})
	})
	t.Run("the bound of an operation", func(t *testing.T) {
		s := newStage(t)
		p := s.profile()
		wait := s.own("Wait", capability.Read, capability.SelfClosing, noProps, "")
		wait.Op.Do = func(ctx context.Context, _ capability.Call) (any, error) {
			ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("nothing came"))
			defer cancel()
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		p.Read = append(p.Read, wait)
		profile := s.capture(p)
		synctest.Test(t, func(t *testing.T) {
			o := performance{profile: profile, text: `<Wait />`}.run(t, evaluateRead)
			require.NoError(t, o.stopped)
			require.ErrorContains(t, o.Err, "nothing came")
		})
	})
}

// asking is who answers by calling a function.
type asking func(ctx context.Context) (any, error)

func (a asking) Ask(ctx context.Context, _ engine.Question) (any, error) { return a(ctx) }
