package document

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func parse(t *testing.T, src string) *Document {
	t.Helper()
	d, err := Parse("doc.md", []byte(src))
	require.NoError(t, err)
	return d
}

func TestSegments(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"empty", "", ""},
		{"text", "a < B and x<Y, 1 <2", "«a < B and x<Y, 1 <2»"},
		{"escaped quote is raw", `<P a="x\"y" />`, `<P a="x\\\"y"/>`},
		{"no unquoted value", `<P a=1 />`, `«<P a=1 />»`},
		{"spread is dropped", `<P {...{a:1}} b="2" />`, `<P b="2"/>`},
		{"braces without spread", `<P {a} />`, `«<P {a} />»`},
		{"repeated attributes are kept", `<P a="1" a={2} />`, `<P a="1" a={2}/>`},
		{"space in closing tag", `<P>x</P >`, `«<P>x</P >»`},
		{"unclosed", `A <P>x <Q /> y`, `«A <P>x »<Q/>« y»`},
		{"code span", "``<P />``", "«``<P />``»"},
		{"code span over paragraphs", "a ` b\n\n<P /> ` c", "«a ` b\n\n<P /> ` c»"},
		{"code span swallows a closing tag", "<A>`</A>`</A>", "<A>«`</A>`»</A>"},
		{"run without partner", "a ``` <P /> ```` <Q />", "«a ``` »<P/>« ```` »<Q/>"},
		{"tail of a run opens a span", "a ``` <P /> ` <Q />", "«a ``` <P /> ` »<Q/>"},
		{"comment", "a <!-- <Q /> --> b", "«a »‹<!-- <Q /> -->›« b»"},
		{"shortest comments", "<!--><Q /><!---><Q />", "‹<!-->›<Q/>‹<!--->›<Q/>"},
		{"comment to the end", "<!-- <Q /> --", "‹<!-- <Q /> --›"},
		{"comment hides a closing tag", "<A><!-- </A> --></A>", "<A>‹<!-- </A> -->›</A>"},
		{"crossed", "<P>a<Q>b</P>c</Q>", "«<P>a»<Q>«b</P>c»</Q>"},
		{"same name nests", "<A><A></A></A></A>", "<A><A></A></A>«</A>»"},
		{"nothing inside an unclosed tag is read", `<P a="<Q />">x`, `«<P a="<Q />">x»`},
		{"malformed tag is read on", `<P a=<Q />`, `«<P a=»<Q/>`},
		{"backslash does not escape", `\<Q />`, `«\»<Q/>`},
		{"hyphen ends a name", `<Q-b />`, `<Q -b/>`},
		{"lower case", `<p /></p>`, `«<p /></p>»`},
		{"dots in names", `<A..b /><A. />`, `<A..b/><A./>`},
		{"attributes over lines", "<A\n b\n =\n 'c\n>' />", `<A b="c\n>"/>`},
		{"unicode white space", "<A\u00a0b\u2003=\u3000{1}\u0085/>", `<A b={1}/>`},
		{"slash apart", "<A / >", "«<A / >»"},
		{"slash alone", "<A /", "«<A /»"},
		{"digits and hyphens name attributes", `<A 1-a _ />`, `<A 1-a _/>`},
		{"attributes without space", `<A a="1"b={2}c/>`, `<A a="1" b={2} c/>`},
		{"element in an attribute", `<A a={<B />} />`, `<A a={<B />}/>`},
		{"comment is code", `<A a={1 /* } */} />`, `«<A a={1 /* } */} />»`},
		{"strings in braces", `<A a={"}" + '}\'}'} />`, `<A a={"}" + '}\'}'}/>`},
		{"template", "<A a={`}${`}${{a:'}'}}`}\\`}`} />", "<A a={`}${`}${{a:'}'}}`}\\`}`}/>"},
		{"escaped template hole", "<A a={`\\${`}/>", "<A a={`\\${`}/>"},
		{"unclosed brace", `<A a={{1} />`, `«<A a={{1} />»`},
		{"empty element", `<X></X><X> </X>`, `<X></X><X>« »</X>`},
		{"passive fence", "```html\n<A />\n```\n<B />", "«```html\n<A />\n```\n»<B/>"},
		{"exec fence", "a\n```bash exec\nls\n```\nb", "«a\n»```bash exec|ls\n```«b»"},
		{"longer closing fence", "```bash exec\nls\n````\n", "```bash exec|ls\n```"},
		{"shorter closing fence", "````bash exec\nls\n```\n````\n", "```bash exec|ls\n```\n```"},
		{"other fence character", "~~~sh exec\n```\n~~~ \t\r\nx", "```sh exec|```\n```«x»"},
		{"closing fence with info", "```sh exec\n```x\n```", "```sh exec|```x\n```"},
		{"closing fence indented four", "```sh exec\n    ```\n   ```", "```sh exec|    ```\n```"},
		{"unclosed fence", "```sh exec\nls <A />", "```sh exec|ls <A />```"},
		{"opening fence at the end", "```sh exec", "```sh exec|```"},
		{"indented fence", "   ```sh exec\n  ls\n```\n", "```sh exec|  ls\n```"},
		{"fence indented four", "    ```sh exec\n    ls\n    ```", "«    ```sh exec\n    ls\n    ```»"},
		{"fence not at the line start", "x ```sh exec\n", "«x ```sh exec\n»"},
		{"fence in a quote", "> ```sh exec\n> ls\n> ```", "«> ```sh exec\n> ls\n> ```»"},
		{"backtick in info", "``` a`b exec\n<A />", "«``` a`b exec\n»<A/>"},
		{"backtick in tilde info", "~~~ a`b exec\n<A />", "```a`b exec|<A />```"},
		{"language only", "```exec\n<A />\n```", "«```exec\n<A />\n```»"},
		{"fence inside an element", "<A>\n```sh exec\n</A>\n```\n</A>", "<A>«\n»```sh exec|</A>\n```</A>"},
		{"crlf fence", "```sh exec\r\nls\r\n```\r\nx", "```sh exec|ls\r\n```«x»"},
		{"run in a fence closes no span", "a ` b\n```\n` <A />\n```\n", "«a ` b\n```\n` »<A/>«\n```\n»"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := parse(t, test.src)
			require.Equal(t, test.want, show(d.Nodes))
			want, _, _ := naive{src: test.src}.list(0, "")
			require.Equal(t, want, show(d.Nodes), "the naive reader disagrees")
		})
	}
}

// TestAgainstNaive compares with the naive reader on sources made of the pieces
// that matter.
func TestAgainstNaive(t *testing.T) {
	pieces := []string{"<A>", "</A>", "<B>", "</B>", "<A ", "<B a=", "/>", ">", "{", "}", "`", "``", "\"", "'", "\\", "$", "${",
		" ", "a", "b=", "\n", "```", "```\n", "sh exec\n", "~~~", "<!--", "-->", "-", "{...x}", "/", "=", "    ", "é"}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b strings.Builder
		for range rng.IntN(24) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		src := b.String()
		s := newScanner(src, 0, len(src))
		s.scan()
		got, _ := (&builder{scanner: s, places: tracker{src: src, line: 1, column: 1}}).build()
		want, _, _ := naive{src: src}.list(0, "")
		require.Equal(t, want, show(got), "source %q", src)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		"A": true, "Ab_1": true, "A.B": true, "A.Bc.D0": true,
		"": false, "a": false, "A.": false, ".A": false, "A..B": false, "A.b": false, "A-b": false, "É": false,
	} {
		require.Equal(t, want, DeclarableName(name), name)
	}
	for name, want := range map[string]bool{
		"a": true, "$": true, "_9": true, "A$1": true, "class": true,
		"": false, "1a": false, "a-b": false, "a b": false, "é": false, "a.b": false,
	} {
		require.Equal(t, want, IsBindingIdentifier(name), name)
	}
}

func TestDepth(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("<A>", n) + strings.Repeat("</A>", n) }
	_, err := Parse("", []byte(nest(MaxDepth)))
	require.NoError(t, err)

	_, err = Parse("", []byte(nest(MaxDepth+1)))
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "source-invalid", e.Code)
	require.Contains(t, e.Message, "10000 levels")
	require.Equal(t, 3*MaxDepth, e.Pos.Offset)

	d := parse(t, strings.Repeat("<A>", 300_000))
	require.Len(t, d.Nodes, 1)
}

func TestSourceErrors(t *testing.T) {
	_, err := Parse("x.md", []byte("é\n\U0001F600a\xffb"))
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "source-invalid", e.Code)
	require.Equal(t, Position{Source: "x.md", Offset: 8, Line: 2, Column: 4}, e.Pos)
	require.Contains(t, e.Message, "2:4")

	_, err = Parse("", make([]byte, MaxSource+1))
	require.ErrorAs(t, err, &e)
	require.Equal(t, "source-invalid", e.Code)
	require.Contains(t, e.Message, "67108864")

	d, err := Parse("", []byte("\ufeff---\na: 1\n---\n<A />"))
	require.NoError(t, err)
	require.Equal(t, 1, d.Frontmatter.Len())
	require.Equal(t, 13, d.Nodes[0].(*Element).Pos.Offset)

	d = parse(t, "a\ufffdb")
	require.Equal(t, "«a\ufffdb»", show(d.Nodes))
}
