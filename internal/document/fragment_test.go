package document

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A fragmentCase is one text and what becomes of it: want is a refusal class, or
// "" for an accepted one.
type fragmentCase struct {
	name, src string
	want      FragmentKind
}

func checkCases(t *testing.T, cases []fragmentCase) {
	t.Helper()
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			nodes, problem := ReadFragment("g", test.src, wide)
			if test.want != "" {
				require.NotNil(t, problem, "%q", test.src)
				require.Equal(t, test.want, problem.Kind, "%q", test.src)
				require.Nil(t, nodes)
				return
			}
			require.Nil(t, problem, "%q", test.src)
			checkFragment(t, test.src, nodes)
		})
	}
}

func TestFragmentNodes(t *testing.T) {
	src := "é <!-- c -->\n<A b='1' {...x} b={ 2 }\r\n  c><B /> `<X>`</A>\n```html\n<X />\n```\n"
	nodes, problem := ReadFragment("g", src, wide)
	require.Nil(t, problem)
	at := func(what string, line, column int) Position {
		return Position{Generated: "g", Offset: strings.Index(src, what), Line: line, Column: column}
	}
	require.Equal(t, []Node{
		&Text{Value: "é "},
		&Text{Value: "<!-- c -->", Offset: 3, Comment: true},
		&Text{Value: "\n", Offset: 13},
		&Element{Name: "A", Pos: at("<A", 2, 1), End: strings.Index(src, "</A>") + 4,
			Attrs: []Attr{
				{Name: "b", Form: Quoted, Text: "1", Pos: at("b='", 2, 4)},
				{Form: Spread, Text: "...x", Pos: at("{...", 2, 10)},
				{Name: "b", Form: Braced, Text: "2", Pos: at("b={", 2, 17)},
				{Name: "c", Form: Bare, Pos: at("c>", 3, 3)},
			},
			Children: []Node{
				&Element{Name: "B", SelfClosing: true, Pos: at("<B", 3, 5), End: strings.Index(src, " `")},
				&Text{Value: " `<X>`", Offset: strings.Index(src, " `")},
			}},
		&Text{Value: "\n```html\n<X />\n```\n", Offset: strings.Index(src, "\n```")},
	}, nodes)
	checkFragment(t, src, nodes)

	nodes, problem = ReadFragment("g", "", FragmentLimits{})
	require.Nil(t, problem)
	require.Empty(t, nodes)
}

func TestFragmentEncoding(t *testing.T) {
	checkCases(t, []fragmentCase{
		{"utf-8", "é \U0001F600 \ufffd", ""},
		{"cut character", "a\xc3", BadEncoding},
		{"lone byte", "a\xff b", BadEncoding},
		{"surrogate", "\xed\xa0\x80", BadEncoding},
		{"in code", "`\xff`", BadEncoding},
		{"nul", "a\x00b", BadEncoding},
		{"escape is text", "a\x1b[2Kb\a\b\u009b", ""},
		{"leading mark", "\ufeffa", BadEncoding},
		{"later mark", "a\ufeff", ""},
		{"crlf", "a\r\n<A\r\n/>\r\n", ""},
		{"lone cr", "a\rb", BadEncoding},
		{"cr at the end", "a\r", BadEncoding},
		{"cr cr lf", "a\r\r\n", BadEncoding},
		{"vertical tab", "a\vb", BadEncoding},
		{"form feed", "a\fb", BadEncoding},
		{"unicode line ends are text", "a\u0085b\u2028c\u2029d", ""},
		{"unicode line end is no word break", "```text\u2028exec\n<A/>\n```\n", ""},
		{"full-width letter", "<Ａ/>", BadEncoding},
		{"cyrillic closing", "</Аb>", BadEncoding},
		{"lower-case letter", "<é>", BadEncoding},
		{"ideograph", "a <中", BadEncoding},
		{"letter apart", "a < é", ""},
		{"symbol", "<→ <\u200bA <1", ""},
		{"in code it starts no tag", "`<é>`", ""},
		{"letter in a name", "<Fеtch/>", BadEncoding},
		{"invisible in a name", "<A\u200b/>", BadEncoding},
		{"no-break space", "<A\u00a0b=\"1\"/>", BadEncoding},
		{"no-break space late", "<A b={1}\u00a0/>", BadEncoding},
		{"no-break space in a malformed tag", "<A\u00a0b=1/>", BadEncoding},
		{"next line", "<A b\u0085/>", BadEncoding},
		{"control", "<A \x1b/>", BadEncoding},
		{"delete", "<A b\x7f/>", BadEncoding},
		{"tab", "<A\tb='1'\t/>", ""},
		{"in quotes and braces", "<A b='é\u00a0' c={\"é\"} {...{é: 1}}/>", ""},
		{"in a closing tag", "<A></Aé>", BadEncoding},
		{"space in a closing tag", "<A></A\u00a0>", BadEncoding},
		{"before markup", "<A\r/>", BadEncoding},
		{"bytes come before frontmatter", "---\na: \xff\n---\n", BadEncoding},
		{"bytes come before the scan", "<A \xff", BadEncoding},
	})
}

func TestFragmentConstruct(t *testing.T) {
	checkCases(t, []fragmentCase{
		{"frontmatter", "---\na: 1\n---\n", BadConstruct},
		{"frontmatter without an end", "---\na: 1", BadConstruct},
		{"frontmatter language", "---js\n", BadConstruct},
		{"frontmatter on one line", "--- a", BadConstruct},
		{"three hyphens", "---", BadConstruct},
		{"four hyphens", "----\na\n---\n", ""},
		{"two hyphens", "--\n", ""},
		{"later hyphens", "a\n---\nb\n---\n", ""},
		{"no tag anywhere", "<file a='1'/></file> < File x < 3 <", ""},
		{"unquoted value", "<A b=1/>", BadConstruct},
		{"quoted value", "<A b='1'/>", ""},
		{"unterminated string", "<A b=\"c/>", BadConstruct},
		{"quote in a string", "<A b=\"c\"d\"/>", BadConstruct},
		{"unterminated brace", "<A b={{1}/>", BadConstruct},
		{"unterminated in a brace", "<A b={\"unterminated />\n\n<B/>", BadConstruct},
		{"braces alone", "<A {b}/>", BadConstruct},
		{"spread", "<A{...b}/>", ""},
		{"slash apart", "<A / >", BadConstruct},
		{"slash", "<A/b>", BadConstruct},
		{"end in a tag", "a <A", BadConstruct},
		{"end after a value", "<A b='1'", BadConstruct},
		{"end after an equals sign", "<A b=", BadConstruct},
		{"backslash does not hide", "\\<A", BadConstruct},
		{"comparison", "a<B", BadConstruct},
		{"unclosed", "<A>", BadConstruct},
		{"unclosed inside", "<A><B></A>", BadConstruct},
		{"paired", "<A><B></B></A>", ""},
		{"same name", "<A><A></A></A><A/>", ""},
		{"same name unclosed", "<A><A></A>", BadConstruct},
		{"crossed", "<A><B></A></B>", BadConstruct},
		{"closing nothing", "a </A>", BadConstruct},
		{"closing twice", "<A></A></A>", BadConstruct},
		{"closing with space", "<A></A >", BadConstruct},
		{"closing another case", "<A></a></A>", ""},
		{"closing cut", "<A></A", BadConstruct},
		{"closing runs on", "<A></A-b>", BadConstruct},
		{"unclosed fence", "a\n```text\nb", BadConstruct},
		{"unclosed fence at the end", "a\n```", BadConstruct},
		{"unclosed tildes", "~~~\n```\n", BadConstruct},
		{"shorter closing line", "````\n```\n", BadConstruct},
		{"closed fence", "a\n```text\nb\n```", ""},
		{"closed tildes", "~~~\n```\n~~~~  \t\r\n", ""},
		{"unclosed comment", "a <!-- b", BadConstruct},
		{"comment with other hyphens", "<!-- b -- > ->", BadConstruct},
		{"comment", "<!-- b -->", ""},
		{"shortest comments", "<!--><!--->", ""},
		{"unpaired backticks", "a ` b ``` c `` d", ""},
	})
}

func TestFragmentComponent(t *testing.T) {
	checkCases(t, []fragmentCase{
		{"colon", "<Fetch:raw url='x'/>", BadComponent},
		{"hyphen", "<A-b/>", BadComponent},
		{"hyphen at the end", "<A-/>", BadComponent},
		{"dollar", "<A$/>", BadComponent},
		{"at", "<Someone@example.com>", BadComponent},
		{"address", "<Https://example.com>", BadComponent},
		{"unfinished", "a <A:", BadComponent},
		{"hyphen apart", "<A -b/>", ""},
		{"dot and underscore", "<A.b_C1/><A./><A..b/>", ""},
		{"line end", "<A\n/>", ""},
		{"quote", "<A'b'/>", BadConstruct},
		{"next tag", "<A<B/>", BadConstruct},
		{"in code", "`<A-b/>`", ""},
	})
}

func TestFragmentOrder(t *testing.T) {
	for _, test := range []struct {
		src    string
		kind   FragmentKind
		offset int
	}{
		{"```sh exec\n<A", BadBlock, 0},
		{"<A\n```sh exec\n", BadConstruct, 0},
		{"<A-b/> <A", BadComponent, 0},
		{"a <A:b <!-- <B", BadComponent, 2},
		{"aa\xff", BadEncoding, 2},
		{"a <A b='1' \u00a0 c=", BadEncoding, 11},
		{"<A>\n  <B>", BadConstruct, 6},
		{"a\n> ~~~ sh eval\n", BadBlock, 2},
		{"<!-- <b> </B> -->", BadConstruct, 9},
		{"<!-- {b c} {b} -->", BadConstruct, 11},
		{"`a\n~~~ sh exec\n`", BadConstruct, 3},
	} {
		_, problem := ReadFragment("g", test.src, wide)
		require.Equal(t, &FragmentProblem{test.kind, test.offset}, problem, "%q", test.src)
	}
}

func TestFragmentLimits(t *testing.T) {
	for _, test := range []struct {
		src    string
		limits FragmentLimits
		offset int // of the problem, or -1
	}{
		{"abc", FragmentLimits{Source: 3}, -1},
		{"abcd", FragmentLimits{Source: 3}, 3},
		{"\xff\xff\xff\xff", FragmentLimits{Source: 3}, 3},
		{"a", FragmentLimits{Source: -1}, 0},
		{"<A/><B></B>", FragmentLimits{Source: 99, Elements: 2, Depth: 1}, -1},
		{"<A/><B></B><C/>", FragmentLimits{Source: 99, Elements: 2, Depth: 1}, 11},
		{"<A/>", FragmentLimits{Source: 99, Depth: 1}, 0},
		{"<A><B></B><C/></A>", FragmentLimits{Source: 99, Elements: 9, Depth: 2}, -1},
		{"<A><B><C/></B></A>", FragmentLimits{Source: 99, Elements: 9, Depth: 2}, 6},
		{"<A/>", FragmentLimits{Source: 99, Elements: 9}, 0},
		{"`<A/>`", FragmentLimits{Source: 99}, -1},
		{strings.Repeat("<A>", MaxDepth) + strings.Repeat("</A>", MaxDepth), wide, -1},
		{strings.Repeat("<A>", MaxDepth+1) + strings.Repeat("</A>", MaxDepth+1), wide, 3 * MaxDepth},
	} {
		nodes, problem := ReadFragment("g", test.src, test.limits)
		if test.offset < 0 {
			require.Nil(t, problem)
			require.NotEmpty(t, nodes)
			continue
		}
		require.Equal(t, &FragmentProblem{OverLimit, test.offset}, problem)
	}
}
