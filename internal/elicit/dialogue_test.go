package elicit

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

func parse(t *testing.T, text string) any {
	t.Helper()
	v, err := value.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

// plain asks one question of a scripted person.
func plain(t *testing.T, definition, message, typed string) (answer string, shown string, err error) {
	t.Helper()
	var out strings.Builder
	term := NewTerminal(strings.NewReader(typed), &out)
	term.Plain = true
	v, err := term.Ask(t.Context(), engine.Question{Message: message, Schema: parse(t, definition)})
	if err != nil {
		return "", out.String(), err
	}
	answer, err = value.JSON(v)
	require.NoError(t, err)
	return answer, out.String(), nil
}

func TestDialogueAnswers(t *testing.T) {
	const person = `{"type":"object","additionalProperties":false,"required":["name","age"],"properties":{
		"name":{"type":"string","title":"Full name","description":"as printed","minLength":2},
		"age":{"type":"integer","minimum":0},
		"mood":{"type":"string","enum":["good","bad"],"default":"bad"},
		"vip":{"type":"boolean"},
		"tags":{"type":"array","items":{"type":"string"}}}}`
	for _, c := range []struct{ name, schema, typed, want string }{
		{"every field", person, "Ada\n36\n1\n2\n[\"x\"]\n", `{"name":"Ada","age":36,"mood":"good","vip":true,"tags":["x"]}`},
		{"optional fields left out, a default kept", person, "Ada\n36\n\n\n\n", `{"name":"Ada","age":36,"mood":"bad"}`},
		{"numbers may have blanks around them, text keeps its own", person, " A \n 36 \n\n3\n\n", `{"name":" A ","age":36,"mood":"bad","vip":false}`},
		{"line ends of another system", `{"type":"string"}`, "yes\r\n", `"yes"`},
		{"the last line may be unfinished", `{"type":"string"}`, "yes", `"yes"`},
		{"an empty text is a text", `{"type":"string"}`, "\n", `""`},
		{"a number", `{"type":"number"}`, "0.5\n", `0.5`},
		{"yes and no", `{"type":"boolean"}`, "2\n", `false`},
		{"a choice of anything", `{"enum":[null,1,{"a":2}]}`, "3\n", `{"a":2}`},
		{"no schema to speak of", `{}`, `{"any": [1]}` + "\n", `{"any":[1]}`},
		{"an object without properties", `{"type":"object"}`, "{\"a\":1}\n", `{"a":1}`},
		{"a list", `{"type":"array","items":{"type":"integer"}}`, "[1,2]\n", `[1,2]`},
		{"a default", `{"type":"string","default":"minor"}`, "\n", `"minor"`},
		{"a reference", `{"definitions":{"n":{"type":"integer"}},"type":"object","properties":{"a":{"$ref":"#/definitions/n"}}}`, "7\n", `{"a":7}`},
		{"a property that may be anything", `{"type":"object","properties":{"a":true},"required":["a"]}`, "null\n", `{"a":null}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := plain(t, c.schema, "?", c.typed)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

// What does not fit keeps the question open and says why.
func TestDialogueKeepsTheQuestionOpen(t *testing.T) {
	for _, c := range []struct{ name, schema, typed, want, says string }{
		{"too short", `{"type":"string","minLength":3}`, "a\nabc\n", `"abc"`, "must NOT have fewer than 3 characters"},
		{"no number", `{"type":"number"}`, "many\n4\n", `4`, "write a number, such as 3 or 0.5"},
		{"nothing where a number is needed", `{"type":"number"}`, "\n4\n", `4`, "write a number"},
		{"no whole number", `{"type":"integer"}`, "1.5\n2\n", `2`, "must be integer"},
		{"no JSON", `{}`, "oops\n1\n", `1`, "write JSON text"},
		{"nothing where JSON is needed", `{}`, "\n1\n", `1`, "write JSON text, such as null"},
		{"not one of the numbers", `{"type":"boolean"}`, "3\n0\nyes\n1\n", `true`, "write a number from 1 to 2"},
		{"only the whole is wrong", `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"minProperties":1}`,
			"\n\n1\n\n", `{"a":1}`, "This answer does not fit:\n  - (root) must NOT have fewer than 1 properties"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, shown, err := plain(t, c.schema, "?", c.typed)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			require.Contains(t, shown, c.says)
		})
	}
}

func TestDialogueShowsTheQuestion(t *testing.T) {
	const definition = `{"type":"object","properties":{
		"a":{"type":"string","title":"Name\u202e","description":"first\u200b","default":"x\u0007y"},
		"b":{"enum":["one\u001b[2J","two"]}}}`
	_, shown, err := plain(t, definition, "\nDelete\u202e everything?\n  - *all* of it\r\n", "\n\n")
	require.NoError(t, err)
	require.Equal(t, `Written as escapes because they would not be seen, or would rearrange what is: 1
character, such as \u202e.

| Delete\u202e everything?
|   - *all* of it

Name\u202e
first\u200b (empty: x\u0007y)
> b
1. (leave out)
2. one\u001b[2J
3. two
1-3 [1]> 
`, shown)
}

func TestDialogueEndOfInput(t *testing.T) {
	for _, typed := range []string{"", "a\n", "a\nb\n"} {
		_, _, err := plain(t, `{"type":"string","minLength":3}`, "?", typed)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	_, _, err := plain(t, `{"type":"string"}`, "?", strings.Repeat("x", MaxLine+1))
	require.ErrorIs(t, err, errLongLine)
	got, _, err := plain(t, `{"type":"string"}`, "?", strings.Repeat("x", MaxLine))
	require.NoError(t, err)
	require.Len(t, got, MaxLine+2)
}

func TestAskFailures(t *testing.T) {
	_, _, err := plain(t, `{"type":"nope"}`, "?", "x\n")
	var unusable *schema.Error
	require.ErrorAs(t, err, &unusable)

	broken := errors.New("broken pipe")
	term := NewTerminal(strings.NewReader("x\n"), failingWriter{broken})
	term.Plain = true
	_, err = term.Ask(t.Context(), engine.Question{Message: "?", Schema: parse(t, `{}`)})
	require.ErrorIs(t, err, broken)
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// An ended context ends the question, and the line that arrives too late is the
// next question's.
func TestDialogueCancellation(t *testing.T) {
	in, typing := io.Pipe()
	prompted := make(chan struct{}, 8)
	term := NewTerminal(in, promptWriter{prompted})
	term.Plain = true
	q := engine.Question{Schema: parse(t, `{"type":"string"}`)}

	cause := errors.New("the run ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := term.Ask(ctx, q)
		done <- err
	}()
	<-prompted
	cancel(cause)
	require.ErrorIs(t, <-done, cause)

	_, err := term.Ask(ctx, q)
	require.ErrorIs(t, err, cause)

	go io.WriteString(typing, "late\n")
	got, err := term.Ask(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, "late", got)
}

type promptWriter struct{ prompted chan struct{} }

func (w promptWriter) Write(p []byte) (int, error) {
	if string(p) == "> " {
		w.prompted <- struct{}{}
	}
	return len(p), nil
}

// Questions take turns: the second one is asked after the first is answered, and
// one that waits can be cancelled.
func TestQuestionsTakeTurns(t *testing.T) {
	in, typing := io.Pipe()
	prompted := make(chan struct{}, 8)
	term := NewTerminal(in, promptWriter{prompted})
	term.Plain = true
	q := engine.Question{Schema: parse(t, `{"type":"string"}`)}
	answers := make(chan any, 2)
	for range 2 {
		go func() {
			v, err := term.Ask(t.Context(), q)
			require.NoError(t, err)
			answers <- v
		}()
	}
	<-prompted
	waiting, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := term.Ask(waiting, q)
	require.ErrorIs(t, err, context.Canceled)
	go io.WriteString(typing, "first\nsecond\n")
	require.Equal(t, "first", <-answers)
	<-prompted
	require.Equal(t, "second", <-answers)
}

func FuzzDialogue(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"string"},"b":{"enum":[1,2]}}}`, "x\n1\n")
	f.Add(`{"type":"boolean"}`, "9\n1\n")
	f.Add(`{"enum":[]}`, "1\n")
	f.Add(`{"type":"object","properties":{"a":true,"b":{"$ref":"#"}}}`, "{}\n{}\n")
	f.Fuzz(func(t *testing.T, definition, typed string) {
		d, err := value.Parse([]byte(definition))
		if err != nil {
			t.Skip()
		}
		var out strings.Builder
		term := NewTerminal(strings.NewReader(typed), &out)
		term.Plain = true
		v, err := term.Ask(t.Context(), engine.Question{Message: typed, Schema: d})
		require.Equal(t, -1, strings.IndexFunc(out.String(), isHidden))
		if err != nil {
			return
		}
		accepted, err := schema.Compile(d)
		require.NoError(t, err)
		require.Empty(t, accepted.Validate(v))
	})
}
