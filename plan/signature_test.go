package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	tags    = "name: {type: array, items: {type: string}}"
	nothing = ""
)

// TestPR7f_FrozenSignatures: what an option takes is settled by the draft that first
// bound it, and compared before any word is read another way.
func TestPR7_FrozenSignatures(t *testing.T) {
	given := []Word{followed("--props-name", "Ada")}
	for _, row := range []struct {
		name   string
		s      Supplied
		drafts []string
		says   string // by the last draft; empty: it is no fault of the caller
	}{
		{"a value becomes a switch", Supplied{Words: given}, []string{requires("string"), requires("boolean")}, "--props-name was one value of an earlier draft, and the document that was written now makes it a switch"},
		{"a value becomes a list", Supplied{Words: given}, []string{requires("string"), declares(tags, nothing, hello)}, "makes it a repeated value"},
		{"a list becomes a value", Supplied{Words: given}, []string{declares(tags, nothing, hello), requires("string")}, "was a repeated value of an earlier draft"},
		{"a switch becomes a value", Supplied{Words: []Word{inline("--props-name", "true")}}, []string{requires("boolean"), requires("string")}, "was a switch of an earlier draft"},
		{"the option goes away", Supplied{Words: given}, []string{requires("string"), hello}, "does not declare it"},
		{"it becomes one that only JSON gives", Supplied{Words: given}, []string{requires("string"), declares("name: {type: object}", nothing, hello)}, "does not declare it"},
		{"two drafts later", Supplied{Words: given}, []string{requires("string"), "---\nprops: 5\n---\n", requires("string"), requires("boolean")}, "makes it a switch"},
		{"frozen by a draft with another fault", Supplied{Words: given}, []string{declares("name: {type: string}", nothing, "<Nothing />\n"), requires("boolean")}, "makes it a switch"},
		{"compared before an undeclared one is found", Supplied{Words: append([]Word{inline("--props-b", "x")}, given...)},
			[]string{declares("name: {type: string}, b: {type: string}", nothing, hello), declares("b: {type: boolean}, name: {type: string}", nothing, hello)}, "--props-b was one value"},
		{"compared before a value is read", Supplied{Words: []Word{inline("--props-name", "Ada")}}, []string{requires("string"), requires("boolean")}, "makes it a switch"},

		{"the type is no part of it", Supplied{Words: []Word{followed("--props-name", "7")}}, []string{requires("string"), requires("number")}, ""},
		{"what nobody supplied", Supplied{Env: map[string]string{"XMD_PROPS_NAME": "true"}}, []string{requires("string"), requires("boolean"), hello}, ""},
		{"what only a refused declaration said", Supplied{Words: []Word{bare("--props-name")}},
			[]string{"---\nprops: 5\n---\n", declares("name: {type: string}, Name: {type: string}", nothing, hello), requires("boolean")}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := NewAssessor(inputs(t, nil), row.s)
			last := len(row.drafts) - 1
			for _, draft := range row.drafts[:last] {
				_, err := a.Assess(draft)
				require.NoError(t, err)
			}
			_, err := a.Assess(row.drafts[last])
			if row.says == "" {
				require.NoError(t, err)
				return
			}
			var e *CallerError
			require.ErrorAs(t, err, &e)
			require.Contains(t, e.Message, row.says)
			require.NotContains(t, e.Message, "Ada", "no word was read the other way")
		})
	}
}

// The final gate is one more assessment by the same assessor, so the signatures hold
// for the approved bytes too, and another invocation has its own.
func TestPR7_SignaturesAreOfOneInvocation(t *testing.T) {
	in := inputs(t, nil)
	s := Supplied{Words: []Word{inline("--props-name", "true")}}
	first, second := NewAssessor(in, s), NewAssessor(in, s)
	_, err := first.Assess(requires("string"))
	require.NoError(t, err)
	got, err := second.Assess(requires("boolean"))
	require.NoError(t, err)
	require.Equal(t, `{"name":true}`, asJSON(t, got.Props))
	_, err = first.Assess(requires("boolean"))
	require.ErrorContains(t, err, "makes it a switch")
}
