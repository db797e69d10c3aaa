package document

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

func TestPositions(t *testing.T) {
	src := "---\na: é\n---\né\U0001F600 <A b=\"1\"\n  c={2}>x<B /></A>\r\n```sh exec\n```\n"
	d := parse(t, src)
	at := func(what string, line, column int) Position {
		return Position{Source: "doc.md", Offset: strings.Index(src, what), Line: line, Column: column}
	}
	a := d.Nodes[1].(*Element)
	require.Equal(t, at("<A", 4, 5), a.Pos)
	require.Equal(t, at("b=", 4, 8), a.Attrs[0].Pos)
	require.Equal(t, at("c=", 5, 3), a.Attrs[1].Pos)
	require.Equal(t, at("x<B", 5, 9).Offset, a.Children[0].(*Text).Offset)
	b := a.Children[1].(*Element)
	require.Equal(t, at("<B", 5, 10), b.Pos)
	require.Equal(t, strings.Index(src, "</A>"), b.End)
	block := d.Nodes[3].(*Block)
	require.Equal(t, at("```sh", 6, 1), block.Pos)
	require.Equal(t, len(src), block.End)
	require.Equal(t, "doc.md:6:1", block.Pos.String())
	require.Equal(t, "6:1", Position{Line: 6, Column: 1}.String())
	require.Equal(t, "g:6:1", Position{Generated: "g", Line: 6, Column: 1}.String())
	require.Empty(t, Position{}.String())
	require.True(t, Position{}.IsZero())
}

func TestLineText(t *testing.T) {
	for _, test := range []struct {
		offset int
		line   string
		column int
	}{
		{-1, "ab", 0}, {0, "ab", 0}, {2, "ab", 2}, {3, "ab", 2}, {4, "cde", 0}, {6, "cde", 2}, {7, "cde", 3},
		{8, "", 0}, {9, "x", 0}, {10, "x", 1}, {99, "x", 1},
	} {
		line, column := LineText("ab\r\ncde\n\nx", test.offset)
		require.Equal(t, test.line, line, test.offset)
		require.Equal(t, test.column, column, test.offset)
	}
}

func TestStaticValue(t *testing.T) {
	for _, test := range []struct {
		text string
		want any // value.Undefined for an expression
	}{
		{`1`, 1.0}, {`-1.50`, -1.5}, {`007`, 7.0}, {`1e3`, 1000.0}, {`1.`, value.Undefined{}}, {`+1`, value.Undefined{}},
		{`true`, true}, {`false`, false}, {`null`, nil}, {`"a\n"`, "a\n"}, {`'a'`, value.Undefined{}},
		{`[1, "a", null]`, []any{1.0, "a", nil}}, {`[a]`, value.Undefined{}}, {`[1, b]`, value.Undefined{}},
		{`{a: 1, $b_2 : 'x "y"', "c": [ {d:'e'} ]}`, value.Of("a", 1.0, "$b_2", `x "y"`, "c", []any{value.Of("d", "e")})},
		{`{}`, value.Of()}, {`{a}`, value.Undefined{}}, {`{a:b}`, value.Undefined{}}, {`{a:'b\'c'}`, value.Undefined{}},
		{`{a:1,a:2}`, value.Undefined{}}, {`{"a: 'b'": 1}`, value.Of("a: 'b'", 1.0)}, {`{a:1,}`, value.Undefined{}},
		{`x`, value.Undefined{}}, {`undefined`, value.Undefined{}}, {`NaN`, value.Undefined{}}, {``, value.Undefined{}},
		{`"a`, value.Undefined{}}, {`"\`, value.Undefined{}}, {`{a:'`, value.Undefined{}},
		{strings.Repeat("9", 400), value.Undefined{}}, {`1 /* c */`, value.Undefined{}},
		{strings.Repeat("[", 600) + strings.Repeat("]", 600), value.Undefined{}},
	} {
		v, ok := Attr{Form: Braced, Text: test.text}.StaticValue(false)
		if _, expression := test.want.(value.Undefined); expression {
			require.False(t, ok, test.text)
			continue
		}
		require.True(t, ok, test.text)
		require.True(t, value.Equal(test.want, v), "%s: %v", test.text, v)
	}
	v, ok := Attr{Form: Braced, Text: "undefined"}.StaticValue(true)
	require.True(t, ok)
	require.Nil(t, v)
	v, ok = Attr{Form: Bare}.StaticValue(false)
	require.True(t, ok)
	require.Equal(t, true, v)
	v, ok = Attr{Form: Quoted, Text: `{1}\"`}.StaticValue(false)
	require.True(t, ok)
	require.Equal(t, `{1}\"`, v)
}

func TestInfo(t *testing.T) {
	for _, test := range []struct {
		info      string
		modifiers []Modifier
		binding   string
		malformed string
	}{
		{"bash exec", []Modifier{{Name: "exec", Word: "exec"}}, "", ""},
		{"bash\texec=1\fx[y=z]w q[r", []Modifier{{"exec", "1", true, "exec=1"}, {"x", "y=z", true, "x[y=z]w"}, {Name: "q[r", Word: "q[r"}}, "", ""},
		{"bash timeout=5[s] eval[] a[b=c", []Modifier{{"timeout", "5[s]", true, "timeout=5[s]"}, {"eval", "", true, "eval[]"}, {"a[b", "c", true, "a[b=c"}}, "", ""},
		{`bash exec as="r"`, []Modifier{{Name: "exec", Word: "exec"}}, "r", ""},
		{`bash exec as="class"`, []Modifier{{Name: "exec", Word: "exec"}}, "class", ""},
		{`bash as="r" exec`, nil, "", "not the last word"},
		{`bash exec as="r" as="s"`, nil, "", "at most one"},
		{`bash exec as=r`, nil, "", "double quotes"},
		{`bash exec as='r'`, nil, "", "double quotes"},
		{`bash exec as["r"]`, nil, "", "double quotes"},
		{`bash exec as="`, nil, "", "double quotes"},
		{`bash exec as`, nil, "", "has no name"},
		{`bash exec as=""`, nil, "", "is empty"},
		{`bash exec as="1a"`, nil, "", "holds no name"},
		{`bash exec as="a b"`, nil, "", "double quotes"},
	} {
		d := parse(t, "``` "+test.info+" \n```\n")
		require.IsType(t, &Block{}, d.Nodes[0], test.info)
		b := d.Nodes[0].(*Block)
		require.Equal(t, "bash", b.Language)
		require.Equal(t, test.info, b.Info)
		require.Equal(t, test.binding, b.Binding, test.info)
		if test.malformed == "" {
			require.Empty(t, b.Malformed, test.info)
			require.Equal(t, test.modifiers, b.Modifiers)
		} else {
			require.Contains(t, b.Malformed, test.malformed, test.info)
			require.Contains(t, b.Malformed, `as="name"`, test.info)
		}
	}
	for _, passive := range []string{"exec", " exec", "bash EXEC", "bash as=exec", "bash", "", "a\u00a0exec"} {
		require.IsType(t, &Text{}, parse(t, "```"+passive+"\n```\n").Nodes[0], passive)
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1": time.Millisecond, "250ms": 250 * time.Millisecond, "007s": 7 * time.Second, "5m": 5 * time.Minute,
		"2min": 2 * time.Minute, "9223372036854": 9223372036854 * time.Millisecond,
	} {
		got, err := ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "0", "0s", "-1", "+1", "1.5s", "1e3", " 1", "1 ", "1 s", "1h", "s", "ms", "1mins", "1S",
		"9223372036855", "99999999999999999999", "92233720368547758070min", strings.Repeat("9", 1000)} {
		_, err := ParseDuration(text)
		require.ErrorContains(t, err, "500ms", text)
		require.Less(t, len(err.Error()), 150)
	}
}

func TestSplitReference(t *testing.T) {
	for _, test := range []struct {
		ref, path, selector string
		targeted            bool
	}{
		{"a.md", "a.md", "", false},
		{"a%23b%25.md#x%2F#y", "a#b%.md", "x%2F#y", true},
		{"a#", "a", "", true},
		{"%C3%A9", "é", "", false},
	} {
		path, selector, targeted, err := SplitReference(test.ref)
		require.NoError(t, err)
		require.Equal(t, test.path, path)
		require.Equal(t, test.selector, selector)
		require.Equal(t, test.targeted, targeted)
	}
	for _, ref := range []string{"", "#a", "a%", "a%2", "a%zz", "%ff", "a\xff", "%00", "a\x00"} {
		_, _, _, err := SplitReference(ref)
		require.EqualError(t, err, "invalid document reference", ref)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, "target-invalid", e.Code)
	}
}
