package component

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// A person answers questions in order and remembers them; without an answer left
// there is only the error.
type person struct {
	answers   []any
	err       error
	questions []engine.Question
}

func says(answers ...any) *person { return &person{answers: answers} }

func (p *person) Ask(_ context.Context, q engine.Question) (any, error) {
	p.questions = append(p.questions, q)
	if len(p.answers) == 0 {
		return nil, p.err
	}
	answer := p.answers[0]
	p.answers = p.answers[1:]
	return answer, nil
}

func TestElicit(t *testing.T) {
	p := says("minor", value.Of("ok", true))
	o := run(t, `<Let as="v" value="1.4.2" /><Elicit schema={{ type: "string", enum: ["patch", "minor"] }} as="bump">Bump {v}? <Mark /></Elicit>{bump}<Elicit schema="{}" as="x" />{x.ok}`, world{elicitor: p})
	require.Equal(t, "minortrue", o.ok(t))
	require.Len(t, p.questions, 2)
	require.Equal(t, "Bump 1.4.2? mark", p.questions[0].Message)
	require.JSONEq(t, `{"type":"string","enum":["patch","minor"]}`, asJSON(t, p.questions[0].Schema))
	require.Empty(t, p.questions[1].Message, "self-closing asks with an empty message")
}

func TestElicitRecord(t *testing.T) {
	o := run(t, "\n  <Elicit schema={{ type: \"string\", enum: [\"a\"] }} as=\"x\">Which\n“one”?</Elicit>", world{elicitor: says("a")})
	o.ok(t)
	e := o.record(t, "elicit")
	require.Equal(t, `"elicit:main.md:2:3"`, member(t, e, "name"))
	sum := sha256.Sum256([]byte(`{"message":"Which\n“one”?","schema":{"enum":["a"],"type":"string"}}`))
	require.Equal(t, `"`+hex.EncodeToString(sum[:])+`"`, member(t, e, "input"))
	require.JSONEq(t, `{"type":"string","enum":["a"]}`, member(t, e, memberSchema))
	require.Equal(t, `"Which\n“one”?"`, member(t, e, memberMessage))
	require.Equal(t, "a", e.Result.Value)
}

func TestElicitFailures(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers *person
		message string
		status  string // of the record; empty: none
	}{
		{"an answer that does not fit", says(value.Of("n", "x"), value.Of("n", "x")), "<Elicit> was given an answer its schema refuses:\n  - \"/n\" must be integer", journal.StatusErr},
		{"an answer that is no JSON", says(value.Undefined{}, value.Undefined{}), "<Elicit> was given an answer that is not JSON: undefined has no JSON form", journal.StatusErr},
		{"a provider that fails", &person{err: errors.New("the line is dead")}, "<Elicit> got no answer: the line is dead", journal.StatusErr},
		{"nobody", nil, "<Elicit> cannot ask, because nobody is there to answer: state the answer in an <Answers> region around it, run the document on a terminal, or give --ask web", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world{}
			if c.answers != nil {
				w.elicitor = c.answers
			}
			const question = `<Elicit schema={{ type: "object", properties: { n: { type: "integer" } } }} as="a">N?</Elicit>`
			o := run(t, question+"<Mark />", w)
			o.failed(t, c.message)
			require.Empty(t, o.marks)
			if c.status != "" {
				require.Equal(t, c.status, o.record(t, "elicit").Result.Status)
				require.Len(t, c.answers.questions, 1, "core never asks again")
			} else {
				again := run(t, question+"<Mark />", world{events: o.unfinished(), elicitor: says(value.Of("n", 1.0))})
				require.Equal(t, "mark", again.ok(t), "the history goes on where somebody answers")
			}
			if c.answers != nil {
				c.answers.questions = nil
			}
			run(t, "<PrintErrors>"+question+"{a}</PrintErrors>", w).printed(t, c.message)
		})
	}
}

// A person who walks away, and a run that ends, leave no record.
func TestElicitInterrupted(t *testing.T) {
	const source = `<PrintErrors><Elicit schema={{}} as="a">Q</Elicit></PrintErrors>{a}`
	o := run(t, source, world{elicitor: &person{err: context.Canceled}})
	o.infrastructure(t, "<Elicit> got no answer: context canceled")
	require.ErrorIs(t, o.stopped, context.Canceled)
	again := run(t, source, world{events: o.unfinished(), elicitor: says("yes")})
	require.Equal(t, "yes", again.ok(t))

	cause := errors.New("the run ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	o = run(t, source, world{ctx: ctx, elicitor: leaving{func() error { cancel(cause); return cause }}})
	require.ErrorIs(t, o.stopped, cause)
	again = run(t, source, world{events: o.unfinished(), elicitor: says("yes")})
	require.Equal(t, "yes", again.ok(t))
}

type leaving struct{ ask func() error }

func (l leaving) Ask(context.Context, engine.Question) (any, error) { return nil, l.ask() }

// Names some readers of an answer would take for something else are refused where
// a schema declares them, and only there.
func TestElicitProtoNames(t *testing.T) {
	for _, c := range []struct{ schema, place string }{
		{`{ "type": "object", "properties": { "__proto__": {} } }`, "/properties/__proto__"},
		{`{ "definitions": { "__proto__": {} } }`, "/definitions/__proto__"},
		{`{ "type": "object", "dependencies": { "__proto__": ["a"] } }`, "/dependencies/__proto__"},
		{`{ "type": "object", "properties": { "a/b": { "type": "array", "items": { "type": "object", "properties": { "__proto__": {} } } } } }`, "/properties/a~1b/items/properties/__proto__"},
		{`{ "anyOf": [{}, { "type": "object", "properties": { "__proto__": {} } }] }`, "/anyOf/1/properties/__proto__"},
		{`{ "not": { "type": "object", "additionalProperties": { "type": "object", "properties": { "__proto__": {} } } } }`, "/not/additionalProperties/properties/__proto__"},
		{`{ "type": "object", "patternProperties": { "x": { "type": "object", "properties": { "__proto__": {} } } } }`, "/patternProperties/x/properties/__proto__"},
	} {
		p := says("x")
		o := run(t, `<Elicit schema='`+c.schema+`' as="a"><Mark /></Elicit>`, world{elicitor: p})
		o.failed(t, `<Elicit>: the schema declares "__proto__" at `+c.place+`; choose another name (main.md:1:1)`)
		require.Empty(t, o.marks)
		require.Empty(t, p.questions)
	}
	allowed := `{ "enum": [{ "properties": { "__proto__": 1 } }], "examples": [{ "__proto__": 1 }] }`
	o := run(t, `<Elicit schema='`+allowed+`' as="a" />`, world{elicitor: says(value.Of("properties", value.Of("__proto__", 1.0)))})
	o.ok(t)
}

func TestElicitReplay(t *testing.T) {
	const source = `<Elicit schema={{ type: "string" }} as="a">Which <Mark />?</Elicit>{a}`
	first := run(t, source, world{elicitor: says("yes")})
	require.Equal(t, "yes", first.ok(t))

	p := says("no")
	again := run(t, source, world{events: first.unfinished(), elicitor: p})
	require.Equal(t, "yes", again.ok(t))
	require.Empty(t, p.questions, "nobody is asked")
	require.Equal(t, []string{"mark"}, again.marks, "the message is rendered again")

	for name, change := range map[string]func(*journal.Event){
		"another message": func(e *journal.Event) { e.Description.Set("input", "0000") },
		"no fingerprint":  func(e *journal.Event) { e.Description.Delete("input") },
	} {
		t.Run(name, func(t *testing.T) {
			o := run(t, source, world{events: edited(first, change), elicitor: p})
			var stale *journal.StaleInputError
			require.ErrorAs(t, o.stopped, &stale)
			require.ErrorContains(t, o.stopped, "the recorded answer belongs to a different question")
			require.Empty(t, p.questions)
		})
	}
	o := run(t, source, world{events: edited(first, func(e *journal.Event) { e.Result.Value = 7.0 }), elicitor: p})
	require.ErrorContains(t, o.stopped, "the recorded answer is not one the schema of <Elicit> accepts")

	// A schema with its members in another order asks the same question.
	const reordered = `<Elicit schema='{"maxLength":9,"type":"string"}' as="a" />{a}`
	first = run(t, `<Elicit schema='{"type":"string","maxLength":9}' as="a" />{a}`, world{elicitor: says("x")})
	events := first.unfinished()
	events[0].Result = run(t, reordered, world{elicitor: says("x")}).events[0].Result
	require.Equal(t, "x", run(t, reordered, world{events: events}).ok(t))
}

// edited is an unfinished history with its elicit record changed.
func edited(o outcome, change func(*journal.Event)) []journal.Event {
	events := o.unfinished()
	for i := range events {
		events[i] = events[i].Clone()
		if typ, _ := events[i].Description.String("type"); typ == "elicit" {
			change(&events[i])
		}
	}
	return events
}

// The answers a document states go through the same door.
func TestElicitAnswersRegion(t *testing.T) {
	o := run(t, `<Answers><Answer template="Ship {?what}?" value={true} /><Elicit schema={{ type: "boolean" }} as="a">Ship it?</Elicit>{a}</Answers>`, world{})
	require.Equal(t, "true", o.ok(t))
	o = run(t, `<Answers><Answer template="Ship {?what}?" value={1} /><Elicit schema={{ type: "boolean" }} as="a">Ship it?</Elicit></Answers>`, world{})
	o.failed(t, "<Elicit> was given an answer its schema refuses:\n  - (root) must be boolean")
	p := says(true)
	o = run(t, `<Answers delegate={true}><Answer template="Other?" value={1} /><Elicit schema={{ type: "boolean" }} as="a">Ship it?</Elicit>{a}</Answers>`, world{elicitor: p})
	require.Equal(t, "true", o.ok(t))
	require.Len(t, p.questions, 1)
}
