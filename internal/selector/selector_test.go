package selector

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const page = `[home]: <https://example.com/a&amp;b> 'The \"title\"'

# One *big* ` + "`word`" + `

Intro with **strong &amp; bold**, a [link](/u "T"), ![a *b* c](/i.png)
and a hard  
break, <b>raw</b>, <me@example.com>, [full][home], [home][], [home], ![pic][home].

- first
- second

  more

3. three
4. four

> quoted

` + "```json schema=\"x\"\n{ \"a\": 1 }\n\n```\n\n```js\nrun()\n```\n\n    indented\n    code\n\n***\n\n<!-- note\n\nend -->\n\n## Two\n\nlast `x\ny` paragraph\n"

// Every row is a query and the text it selects from page; no match is "-".
func TestFirst(t *testing.T) {
	for _, row := range []struct{ query, want string }{
		// types and the text of each (language 6.4)
		{"heading", "One big word"},
		{"heading > text", "One "},
		{"emphasis", "big"},
		{"strong", "strong & bold"},
		{"inlineCode", "word"},
		{"code", "{ \"a\": 1 }\n"},
		{"link", "link"},
		{"image", "a b c"},
		{"list", "firstsecondmore"},
		{"listItem", "first"},
		{"blockquote", "quoted"},
		{"thematicBreak", ""},
		{"html", "<b>"},
		{"root > html", "<!-- note\n\nend -->"},
		{"break", ""},
		{"definition", ""},
		{"linkReference", "full"},
		{"imageReference", "pic"},
		{"paragraph", "Intro with strong & bold, a link, a b c\nand a hardbreak, <b>raw</b>, me@example.com, full, home, home, pic."},
		{"table", "-"},
		{"Heading", "-"},

		// attributes
		{"heading[depth=2]", "Two"},
		{`heading[depth="2"]`, "Two"},
		{"heading[depth='2']", "Two"},
		{"heading[ depth = 2 ]", "Two"},
		{"heading[depth=3]", "-"},
		{"code[lang]", "{ \"a\": 1 }\n"},
		{"code[lang=js]", "run()"},
		{"code:not([lang])", "indented\ncode"},
		{"code[meta]", "{ \"a\": 1 }\n"},
		{`code[meta='schema="x"']`, "{ \"a\": 1 }\n"},
		{"code[lang^=js]", "{ \"a\": 1 }\n"},
		{"code[lang$=s]", "run()"},
		{"code[value*=run]", "run()"},
		{`code[value*="("]`, "run()"},
		{"code[lang^='']", "-"},
		{"text[value~=quoted]", "quoted"},
		{"text[value~=quo]", "-"},
		{"[lang|=js]", "run()"},
		{"[value|=first]", "first"},
		{"link[url='/u']", "link"},
		{"link[url^=mailto]", "me@example.com"},
		{"link[title=T]", "link"},
		{"image[title]", "-"},
		{"image[alt='a b c'][url='/i.png']", "a b c"},
		{"imageReference[alt=pic]", "pic"},
		{"linkReference[referenceType=shortcut]", "home"},
		{"linkReference[identifier=home]", "full"},
		{`definition[url="https://example.com/a&b"][title='The "title"'][label=home]`, ""},
		{"list[ordered=true]", "threefour"},
		{"list[start=3]", "threefour"},
		{"list:not([start])", "firstsecondmore"},
		{"list[spread=false][ordered=false]", "firstsecondmore"},
		{"listItem[spread=true]", "secondmore"},
		{"listItem[checked]", "-"},
		{"[type=html]", "<b>"},
		{`text[value="sec\6f nd"]`, "second"},
		{`text[value=\66irst]`, "first"},
		{`heading[dep\th=2]`, "Two"},

		// combinators
		{"list text", "first"},
		{"root > text", "-"},
		{"root>heading", "One big word"},
		{"list + list", "threefour"},
		{"heading + list", "-"},
		{"heading ~ list", "firstsecondmore"},
		{"list ~ heading", "Two"},
		{"blockquote + code", "{ \"a\": 1 }\n"},
		{"listItem paragraph + paragraph text", "more"},
		{"list ~ blockquote > paragraph text", "quoted"},
		{"root list listItem > paragraph ~ paragraph", "more"},
		{"nothing, blockquote", "quoted"},
		{"blockquote , heading", "One big word"},
		{" list\n>\tlistItem ", "first"},
		{"*", "One big word" + "Intro"}, // only the beginning, see below

		// positions
		{"paragraph:first-child", "first"},
		{"root > :first-child", ""},
		{"root > :last-child", "last x\ny paragraph"},
		{"root > paragraph:first-of-type", "Intro"},
		{"root > paragraph:last-of-type", "last x\ny paragraph"},
		{"paragraph:only-child", "first"},
		{"listItem > text:only-child", "-"},
		{"inlineCode:only-of-type", "word"},
		{"listItem:nth-child(2)", "secondmore"},
		{"listItem:nth-child(even)", "secondmore"},
		{"listItem:nth-child(odd)", "first"},
		{"listItem:nth-child(n+2)", "secondmore"},
		{"listItem:nth-child( 2n + 0 )", "secondmore"},
		{"root > :nth-child(2n)", "One big word"},
		{"root > :nth-child(-n+1)", ""},
		{"root > :nth-child(-n+0)", "-"},
		{"root > :nth-last-child(2)", "Two"},
		{"code:nth-of-type(2)", "run()"},
		{"code:nth-of-type(3)", "indented\ncode"},
		{"code:nth-last-of-type(2)", "run()"},
		{":root:first-child", "-"},
		{":root:nth-child(n)", "-"},
		{":root:only-of-type", "-"},
		{":root:last-child", "-"},

		// functions
		{"heading:not([depth=1])", "Two"},
		{"listItem:not(:first-child)", "secondmore"},
		{"code:not([lang=json], [lang=js])", "indented\ncode"},
		{"text:not(heading *)", "Intro with "},
		{":is(blockquote, list) text", "first"},
		{":matches(blockquote)", "quoted"},
		{":IS(blockquote)", "quoted"},
		{"listItem:has(paragraph + paragraph)", "secondmore"},
		{"listItem:has(+ listItem)", "first"},
		{"list:has(~ blockquote)", "firstsecondmore"},
		{"list:has(+ blockquote)", "threefour"},
		{"root > :has(> text[value=quoted])", "-"},
		{"root > :has(text[value=quoted])", "quoted"},
		{"list:has(> listItem > paragraph:nth-child(2))", "firstsecondmore"},
		{"list:not(:has(paragraph:nth-child(2)))", "threefour"},
		{"paragraph:has(break):has(link)", "Intro"},
		{":empty", ""},
		{"paragraph:empty", "-"},
		{"code:empty", "-"},
		{"image:empty", "a b c"},
		{":scope > blockquote", "quoted"},
	} {
		found, ok, err := First(page, row.query)
		require.NoError(t, err, row.query)
		require.Equal(t, row.want != "-", ok, row.query)
		switch {
		case !ok:
			require.Empty(t, found, row.query)
		case strings.HasSuffix(row.want, "Intro"):
			require.True(t, strings.HasPrefix(found, row.want), "%s: %s", row.query, found)
		default:
			require.Equal(t, row.want, found, row.query)
		}
	}
}

func TestText(t *testing.T) {
	for _, row := range []struct{ text, query, want string }{
		{"a \\* &copy; &#65; &nope; \\&amp; &#x42;", "text", "a * © A &nope; &amp; B"},
		{"a\\*b\n*c*", "text", "a*b\n"},
		{"&CounterClockwiseContourIntegral;", "text", "∳"},
		{"a\x00b", "text", "a\uFFFDb"},
		{"`` a`b ``", "inlineCode", "a`b"},
		{"`a\nb`", "inlineCode", "a\nb"},
		{"```\r\na\r\nb\r\n```", "code", "a\r\nb"},
		{"```\nopen", "code", "open"},
		{"```\n```", "code", ""},
		{"- ```\n  in\n    list\n  ```", "code", "in\n  list"},
		{"\ta\tb", "code", "a\tb"},
		{"``` a\\*b  c &lt; d\n```", "code[lang='a*b'][meta='c < d']", ""},
		{"![x ![y](a) `z`](b)", "image", "x y z"},
		{"one\\\ntwo", "paragraph", "onetwo"},
		{"- a\n\n- b", "list[spread=true] > listItem[spread=false]", "a"},
		{"", "root", ""},
	} {
		found, ok, err := First(row.text, row.query)
		require.NoError(t, err, row.query)
		require.True(t, ok, "%q in %q", row.query, row.text)
		require.Equal(t, row.want, found, "%q in %q", row.query, row.text)
	}
}

func TestSyntaxError(t *testing.T) {
	for _, row := range []struct {
		query  string
		offset int
		reason string
	}{
		{"", 0, "expected a node type"},
		{"  ", 2, "found end"},
		{"code[", 5, "expected the name of an attribute but found end"},
		{"code[lang", 9, "expected `]`"},
		{"code[lang=", 10, "expected a value but found end"},
		{"code[lang=c++]", 11, "quote a value"},
		{"code[lang='js]", 10, "no closing '"},
		{`code[lang="js\"]`, 10, `no closing "`},
		{"code[lang!=js]", 9, "one of `=`"},
		{"code[lang^js]", 9, "one of `=`"},
		{"code[lang=js i]", 13, "expected `]`"},
		{"code]", 4, `unexpected "]"`},
		{"code >", 6, "found end"},
		{"> code", 0, `found ">"`},
		{"code, ", 6, "found end"},
		{"code,,text", 5, `found ","`},
		{"a > > b", 4, `found ">"`},
		{"code.js", 4, "no id and no class"},
		{"#id", 0, "no id and no class"},
		{"1a", 0, `found "1"`},
		{":hover", 0, `no pseudo-class ":hover"`},
		{"code::before", 4, `no pseudo-class ":"`},
		{":not", 4, "expected `(`"},
		{":not()", 5, "expected a node type"},
		{":not(code", 9, "expected `)`"},
		{":is(> code)", 4, `found ">"`},
		{":has(> )", 7, `found ")"`},
		{":nth-child()", 11, `found ""`},
		{":nth-child(x)", 11, `found "x"`},
		{":nth-child(2n1)", 11, `found "2n1"`},
		{":nth-child(2n+)", 11, `found "2n+"`},
		{":nth-child(2n+-1)", 11, `found "2n+-1"`},
		{":nth-child(99999999999)", 11, "expected `odd`"},
		{":nth-child(2", 12, "expected `)`"},
		{"code)", 4, `unexpected ")"`},
		{"code é\x00", 7, `"\x00"`},
		{strings.Repeat(":is(", MaxNesting+1) + "*" + strings.Repeat(")", MaxNesting+1), 4 * (MaxNesting + 1), "more than 16"},
		{strings.Repeat("a", MaxQuery+1), MaxQuery, "4097 bytes"},
	} {
		_, ok, err := First("text", row.query)
		var syntax *SyntaxError
		require.ErrorAs(t, err, &syntax, row.query)
		require.False(t, ok)
		require.Contains(t, syntax.Reason, row.reason, row.query)
		require.Equal(t, row.offset, syntax.Offset, row.query)
		require.Contains(t, err.Error(), "of the selector")
	}
}

func TestLimits(t *testing.T) {
	_, _, err := First(strings.Repeat("a", MaxText+1), "text")
	require.ErrorContains(t, err, "at most 16777216")

	_, ok, err := First("a", strings.Repeat(":is(", MaxNesting)+"*"+strings.Repeat(")", MaxNesting))
	require.NoError(t, err)
	require.True(t, ok)
}

// A matcher that goes back would not come to an end on any of these.
func TestHostileQuery(t *testing.T) {
	text := strings.Repeat("> ", 60) + strings.Repeat("*a* b ", 2000)
	for _, query := range []string{
		strings.Repeat("* ", 1000) + "nothing",
		strings.Repeat("* ~ ", 500) + "nothing",
		strings.Repeat(":has(* ", MaxNesting) + "nothing" + strings.Repeat(")", MaxNesting),
		strings.Repeat(":not(:has(* + * ~ *)) ", 100) + "nothing",
	} {
		_, ok, err := First(text, query)
		require.NoError(t, err)
		require.False(t, ok)
	}
}

func FuzzFirst(f *testing.F) {
	for _, query := range []string{
		"code[lang=json]", "list > listItem:nth-child(2n+1) text", ":not(:has(> a, + b ~ c))",
		"*:is(a,b)[x^='\\66 ']", ":nth-last-of-type(-n+3):empty", "heading[depth=2] ~ *",
	} {
		f.Add(page, query)
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		if len(text) > 1<<10 {
			return
		}
		found, ok, err := First(text, query)
		if err != nil {
			require.False(t, ok)
			return
		}
		again, _, err := First(text, "nothing,"+query)
		require.NoError(t, err)
		require.Equal(t, found, again)
		if strings.Count(query, "(") > MaxNesting-2 {
			return
		}
		for _, same := range []string{":is(" + query + ")", ":not(:not(" + query + "))"} {
			again, okAgain, err := First(text, same)
			require.NoError(t, err)
			require.Equal(t, ok, okAgain)
			require.Equal(t, found, again)
		}
	})
}
