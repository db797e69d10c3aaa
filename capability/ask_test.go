package capability

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

func parsed(t *testing.T, text string) any {
	t.Helper()
	v, err := value.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

func TestAsk(t *testing.T) {
	var asked []Question
	answer := any("minor")
	e := captured(t, Ask(func(_ context.Context, q Question) (any, error) {
		asked = append(asked, q)
		return answer, nil
	}))
	require.Equal(t, Asks, e.Effect)
	require.Equal(t, Paired, e.Forms)
	require.False(t, e.Moves())
	definition := parsed(t, `{"type":"string","enum":["patch","minor"]}`)
	c := call("", "Which?", "schema", definition)
	v, err := perform(t.Context(), e, c)
	require.NoError(t, err)
	require.Equal(t, "minor", v)
	require.Len(t, asked, 1)
	require.Equal(t, "Which?", asked[0].Message)
	require.True(t, value.Equal(definition, asked[0].Schema))

	v, err = perform(t.Context(), e, call("", "Which?", "schema", `{"type":"string"}`))
	require.NoError(t, err)
	require.Equal(t, "minor", v)
	require.True(t, value.Equal(parsed(t, `{"type":"string"}`), asked[1].Schema), "the text of a schema is a schema")

	answer = "major"
	_, err = perform(t.Context(), e, c)
	require.ErrorContains(t, err, "the answer is one the schema refuses")
	require.Len(t, asked, 3, "asked once")
	answer = struct{}{}
	_, err = perform(t.Context(), e, c)
	require.ErrorContains(t, err, "the answer is not JSON")

	// The nearest region answers before the host.
	c.Ask = func(context.Context, Question) (any, error) { return "patch", nil }
	v, err = perform(t.Context(), e, c)
	require.NoError(t, err)
	require.Equal(t, "patch", v)
	walked := errors.New("walked away")
	c.Ask = func(context.Context, Question) (any, error) { return nil, walked }
	_, err = perform(t.Context(), e, c)
	require.ErrorIs(t, err, walked)
	require.Len(t, asked, 4)
}

func TestAskWithoutAnybody(t *testing.T) {
	e := captured(t, Ask(nil))
	_, err := perform(t.Context(), e, call("", "Which?", "schema", value.Of("type", "string")))
	require.ErrorIs(t, err, ErrNobody)
}

func TestAskJudgesTheSchemaFirst(t *testing.T) {
	e := captured(t, Ask(func(context.Context, Question) (any, error) {
		t.Error("nobody is asked")
		return nil, nil
	}))
	for _, refused := range []string{
		`5`, `null`, `[]`, `"no JSON"`, `"5"`, `{"type":"nothing"}`, `{"unknown":1,"type":"string"}`,
		`{"$ref":"file:///etc/hostname"}`, `{"$ref":"https://example.com/s.json"}`, `{"$ref":"other.json"}`,
		`{"type":"object","properties":{"__proto__":{"type":"string"}}}`,
		`{"allOf":[{"type":"object","properties":{"a":{"type":"object","properties":{"__proto__":{"type":"string"}}}}}]}`,
		`{"type":"object","dependencies":{"__proto__":["a"]}}`,
		`"{\"type\":\"object\",\"properties\":{\"__proto__\":{\"type\":\"string\"}}}"`,
	} {
		require.Equal(t, "props", classOf(e, use(Paired, "", "schema", parsed(t, refused))), refused)
		_, err := e.Do(t.Context(), call("", "Which?", "schema", parsed(t, refused)))
		require.Error(t, err, refused)
	}
	require.Equal(t, "props", classOf(e, use(Paired, "")), "a question has a schema")
	require.Empty(t, classOf(e, Use{Props: value.Of(), Computed: []string{"schema"}}))
	require.Empty(t, classOf(e, use(Paired, "", "schema", parsed(t, `{"enum":["__proto__",{"properties":{"__proto__":1}}]}`))))
	v := e.Check(use(Paired, "", "schema", parsed(t, `{"type":"object","properties":{"a/b":{"type":"object","properties":{"__proto__":{"type":"string"}}}}}`)))
	require.Contains(t, v.Reason, `at /properties/a~1b/properties/__proto__`)
}

// A question of a fragment is the question of a document that asks the same.
func TestQuestionRecord(t *testing.T) {
	definition := parsed(t, `{"type":"string","enum":["patch","min\u00f6r"],"minLength":1.5e0}`)
	_, err := answerSchema(definition)
	require.Error(t, err)
	definition = parsed(t, `{"type":"string","enum":["patch","min\u00f6r"],"minLength":1}`)
	q := Question{Message: "Which \"bump\"?\n", Schema: definition}
	require.Equal(t, `{"message":"Which \"bump\"?\n","schema":{"enum":["patch","minör"],"minLength":1,"type":"string"}}`,
		string(value.AppendCanonical(nil, value.Of("schema", q.Schema, "message", q.Message))))
	const vector = "03d16672a9730f280da2e52588352fe5ef477945ea2db7e466ce40b263b0ba55"
	require.Equal(t, vector, Fingerprint(q))
	r := captured(t, Ask(nil)).Record(call("", q.Message, "schema", definition))
	require.Equal(t, "elicit", r.Type)
	require.Equal(t, vector, r.Input)
	require.Len(t, r.Extra, 2)
	require.Equal(t, "executablemd.elicitation-schema", r.Extra[0].Name)
	require.True(t, value.Equal(definition, r.Extra[0].Value))
	require.Equal(t, RecordMember{"executablemd.elicitation-message", q.Message}, r.Extra[1])
}
