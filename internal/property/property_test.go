package property

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/elicit"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// declaring compiles a props declaration written in JSON.
func declaring(t *testing.T, declaration string) *schema.Schema {
	t.Helper()
	v, err := value.Parse([]byte(declaration))
	require.NoError(t, err)
	s, err := schema.Props(v, nil, false)
	require.NoError(t, err)
	return s
}

func derived(t *testing.T, declaration string) *Set {
	t.Helper()
	s, err := Derive(declaring(t, declaration))
	require.NoError(t, err)
	return s
}

func TestBindings(t *testing.T) {
	const structured = "" // only JSON can give it
	for _, row := range []struct {
		definition, form string
		list, isSwitch   bool
	}{
		{`{"type":"string"}`, "string", false, false},
		{`{"type":"integer"}`, "integer", false, false},
		{`{"type":"null"}`, "null", false, false},
		{`{"type":"boolean"}`, "boolean", false, true},
		{`{"type":["boolean"]}`, "boolean", false, true},
		{`{"type":["boolean","null"]}`, "boolean|null", false, false},
		{`{"enum":["a","b"]}`, "a|b", false, false},
		{`{"enum":[true,false]}`, "true|false", false, false},
		{`{"enum":["a",{}]}`, structured, false, false},
		{`{"anyOf":[{"type":"string"},{"type":"number"}]}`, "string|number", false, false},
		{`{"oneOf":[{"enum":["x"]},{"type":"null"}]}`, "x|null", false, false},
		{`{"anyOf":[{"type":"string"},{"type":"object"}]}`, structured, false, false},
		{`{"type":"array","items":{"type":"string"}}`, "string...", true, false},
		{`{"type":"array","items":{"enum":[1,2]}}`, "1|2...", true, false},
		{`{"type":"array","items":{"type":"boolean"}}`, "boolean...", true, false},
		{`{"type":"array"}`, structured, false, false},
		{`{"type":"array","items":{"type":"array","items":{"type":"string"}}}`, structured, false, false},
		{`{"type":"object"}`, structured, false, false},
		{`{}`, structured, false, false},
		{`{"$ref":"#/definitions/flag"}`, "boolean", false, true},
		{`{"$ref":"#/definitions/list"}`, "boolean...", true, false},
	} {
		t.Run(row.definition, func(t *testing.T) {
			s := derived(t, `{"type":"object","properties":{"p":`+row.definition+`},"definitions":{"flag":{"type":"boolean"},`+
				`"list":{"type":"array","items":{"$ref":"#/definitions/flag"}}}}`)
			require.Equal(t, 1, s.Len())
			if row.form == structured {
				require.Empty(t, s.Options())
				require.Equal(t, []string{"p"}, s.Unspoken())
				return
			}
			require.Empty(t, s.Unspoken())
			o := s.Find("--props-p")
			require.NotNil(t, o)
			require.Equal(t, []*Option{o}, s.Options())
			require.Equal(t, "XMD_PROPS_P", o.Variable)
			require.Equal(t, row.form, o.Form)
			require.Equal(t, row.list, o.List)
			require.Equal(t, row.isSwitch, o.Switch())
		})
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string][2]string{
		"name":        {"--props-name", "XMD_PROPS_NAME"},
		"firstName":   {"--props-first-name", "XMD_PROPS_FIRST_NAME"},
		"URLValue":    {"--props-urlvalue", "XMD_PROPS_URLVALUE"},
		"v2Beta":      {"--props-v2-beta", "XMD_PROPS_V2_BETA"},
		"two  _ be":   {"--props-two-be", "XMD_PROPS_TWO_BE"},
		"is-set":      {"--props-is-set", "XMD_PROPS_IS_SET"},
		"größeÄndern": {"--props-größe-ändern", "XMD_PROPS_GRÖSSE_ÄNDERN"},
	} {
		key, err := value.JSON(name)
		require.NoError(t, err)
		o := derived(t, `{`+key+`:{"type":"string"}}`).Options()
		require.Len(t, o, 1, name)
		require.Equal(t, want[0], o[0].Option)
		require.Equal(t, strings.ReplaceAll(want[1], "GRÖSSE", "GRÖßE"), o[0].Variable)
	}
}

// A name that a person cannot see or write makes no option.
func TestUnspeakableNames(t *testing.T) {
	s := derived(t, `{"a\u202eb":{"type":"string"},"a=b":{"type":"string"},"a\nb":{"type":"string"},"a b":{"type":"string"}}`)
	require.Len(t, s.Options(), 1)
	require.Equal(t, []string{"a\u202eb", "a=b", "a\nb"}, s.Unspoken())
	require.Equal(t, `--props-x is no property this document declares; it declares --props-a-b, `+
		`"a\u202eb" (in --props JSON), "a=b" (in --props JSON), "a\nb" (in --props JSON)`, s.Undeclared("--props-x").Error())
	for r := range unicode.MaxRune + 1 {
		if name := string(r); spellable(name) {
			require.Equal(t, name, elicit.Visible(name), "%U is shown otherwise", r)
		}
	}
	require.False(t, spellable("a\xff"))
}

func TestCollisions(t *testing.T) {
	for _, row := range []struct {
		declaration, kind, name string
		properties              [2]string
		says                    string
	}{
		{`{"firstName":{"type":"string"},"other":{"type":"string"},"first_name":{"type":"number"}}`, "option", "--props-first-name", [2]string{"firstName", "first_name"},
			`the properties "firstName" and "first_name" would both be --props-first-name; rename one of them`},
		{`{"ı":{"type":"string"},"i":{"type":"string"}}`, "environment", "XMD_PROPS_I", [2]string{"ı", "i"},
			`the properties "ı" and "i" would both be the variable XMD_PROPS_I; rename one of them`},
	} {
		_, err := Derive(declaring(t, row.declaration))
		var both *Collision
		require.ErrorAs(t, err, &both)
		require.Equal(t, &Collision{row.kind, row.name, row.properties}, both)
		require.EqualError(t, err, row.says)
	}
	derived(t, `{"firstName":{"type":"string"},"first_name":{"type":"object"}}`) // only one of them has an option
}

// Reading the options of a declaration takes time in proportion to it.
func TestManyProperties(t *testing.T) {
	const n = 5000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"p%d":{"type":"string"},`, i)
	}
	s := derived(t, `{`+b.String()+`"last":{"type":"string"}}`)
	var words []Word
	for i := range n {
		words = append(words, Word{fmt.Sprintf("--props-p%d", i), "x"})
	}
	start := time.Now()
	props, err := s.Collect(Sources{Words: words})
	require.NoError(t, err)
	require.Equal(t, n, props.Len())
	require.Less(t, time.Since(start), 5*time.Second)
}
