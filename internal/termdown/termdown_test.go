package termdown

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the expected files under testdata")

func TestGolden(t *testing.T) {
	for _, golden := range []struct {
		source, want string
		o            Options
	}{
		{"page.md", "page.txt", Options{Width: 60}},
		{"page.md", "page.ansi", Options{Width: 60, Color: true}},
		{"page.md", "page.links", Options{Width: 60, Color: true, Hyperlinks: true}},
		{"narrow.md", "narrow.txt", Options{Width: 24}},
	} {
		source, err := os.ReadFile(filepath.Join("testdata", golden.source))
		require.NoError(t, err)
		got := Render(string(source), golden.o)
		path := filepath.Join("testdata", golden.want)
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), got, golden.want)
	}
}

func TestRender(t *testing.T) {
	for _, row := range []struct{ markdown, want string }{
		// white space at the ends
		{"", ""},
		{"\n\n", "\n\n"},
		{" word", " word"},
		{"word ", "word "},
		{"\n\n a\n\nb\n\n\n", "\n\na\n\nb\n\n\n"},
		{"    code\n", "    code\n"},
		{"\n\n    code\n", "\n\n    code\n"},
		{"a\r\nb\rc\r\n", "a b c\n"},

		// inlines
		{"*a* **b** ~~c~~ `d`", "a b c d"},
		{"a  \nb\\\nc\nd", "a\nb\nc d"},
		{"\\*a\\* &lt;b&gt; &#42; &nope; \\&lt;", "*a* <b> * &nope; &lt;"},
		{"[a](b)", "a (b)"},
		{"[a](b 'c')", `a (b "c")`},
		{"[http://a](http://a)", "http://a"},
		{"[http://a](http://a 'c')", `http://a ("c")`},
		{"[m@x.y](mailto:m@x.y)", "m@x.y"},
		{"[a]()", "a"},
		{"[](b)", "b"},
		{"<http://a> <m@x.y>", "http://a m@x.y"},
		{"![a *b*](c)", "a b (c)"},
		{"![](c)", "c"},
		{"[![a](b)](c)", "a (b) (c)"},
		{"a <b>c</b> <!-- d --> e", "a <b>c</b> <!-- d --> e"},
		{"`a\nb`", "a b"},

		// blocks
		{"# a\n\n### b\n\nc\n---", "a\n═\n\nb\n\nc\n─"},
		{"#", ""},
		{"> a\n> b\n\nc", "│ a b\n\nc"},
		{">\n\na", "│\n\na"},
		{"- a\n- b\n  - c", "• a\n• b\n  • c"},
		{"- a\n\n- b", "• a\n\n• b"},
		{"-\n- a", "•\n• a"},
		{"- - a", "• • a"},
		{"- > a\n  > b\n- ```\n  c\n  ```", "• │ a b\n•     c"},
		{"9. a\n9. b", " 9. a\n10. b"},
		{"1) a\n\n   b", "1. a\n\n   b"},
		{"- [ ] a\n- [x] b", "• ☐ a\n• ☑ b"},
		{"```go x\n\ta  b\n ```", "go x\n        a  b"},
		{"```\na\n\nb\t c\n```", "    a\n\n    b    c"},
		{"***", strings.Repeat("─", 40)},
		{"<div>\n <p>a\n</div>\n\nb", "<div>\n <p>a\n</div>\n\nb"},
		{"<!-- a\n\nb -->\nc", "<!-- a\n\nb -->\n\nc"},
		{"[a]: b 'c'\n[d]: <e>\n\n[A], [f][d]", "a: b \"c\"\nd: e\n\nA (b \"c\"), f (e)"},
		{"|a|b|\n|-|-:|\n|cc|d|\n|e|", "a  │ b\n───┼──\ncc │ d\ne  │"},
		{"|a|\n|-|\n|b|c \\| d|e|", "a │\n──┼────────\nb │ c | d|e"},

		// what terminals would obey
		{"a\x1b[31mb\x00\x7f", `a\x1b[31mb\x00\x7f`},
		{"&#27;]0;x&#7;", `\x1b]0;x\x07`},
		{"a\u202eb\u200bc\u00add\u2066e\ufefff", `a\u202eb\u200bc\u00add\u2066e\ufefff`},
		{"a\u0085b\u009bc", `a\u0085b\u009bc`},
		{"a\U000e0041b\u2028c\u3164d\U0010ffff", `a\U000e0041b\u2028c\u3164d\U0010ffff`},
		{"a\xffb", `a\xffb`},
		{"```\x1b\n\x1b\n```", "\\x1b\n    \\x1b"},
		{"[a](<b\x1b>)\n\n<!-- \x1b -->", "a (b\\x1b)\n\n<!-- \\x1b -->"},
		{"日本 👨\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3 e\u0301", "日本 👨\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3 e\u0301"},
		{"a\u200db a\ufe0fb \u200d👩 ❤\ufe0f\ufe0f", `a\u200db a\ufe0fb \u200d👩 ` + "❤\ufe0f" + `\ufe0f`},
	} {
		require.Equal(t, row.want, Render(row.markdown, Options{}), "%q", row.markdown)
	}
}

func TestWrap(t *testing.T) {
	for _, row := range []struct {
		markdown string
		width    int
		want     string
	}{
		{"aaa bbb ccc", 7, "aaa bbb\nccc"},
		{"aaa bbb ccc", 6, "aaa\nbbb\nccc"},
		{"aaa  bbb", 3, "aaa\nbbb"},
		{"aaaaaaa b", 3, "aaa\naaa\na b"},
		{"aa bbbbbb", 4, "aa\nbbbb\nbb"},
		{"a bc 日本語", 6, "a bc\n日本語"},
		{"日本語日本語", 5, "日本\n語日\n本語"},
		{"日本語。日本", 6, "日本\n語。日\n本"},
		{"日（本語", 4, "日\n（本\n語"},
		{"a\u0301a\u0301a\u0301", 2, "a\u0301a\u0301\na\u0301"},
		{"日", 1, "日"},
		{"- aaa bbb ccc ddd eee fff", 20, "• aaa bbb ccc ddd\n  eee fff"},
		{"> aaa bbb ccc ddd eee fff", 20, "│ aaa bbb ccc ddd\n│ eee fff"},
		{"> - > - aaa bbb", 6, "│ • │ • aaa\n│ bbb"},
		{"***", 5, "─────"},
		{"```\naaaaaaaaaa\n```", 5, "    aaaaaaaaaa"},
		{"|aaa bbb|c|\n|-|-|\n|d|e|", 9, "aaa   │ c\nbbb   │\n──────┼──\nd     │ e"},
	} {
		require.Equal(t, row.want, Render(row.markdown, Options{Width: row.width}), "%q", row.markdown)
	}
}

// Every line of prose stays within the width.
func TestWidth(t *testing.T) {
	source, err := os.ReadFile("testdata/page.md")
	require.NoError(t, err)
	for width := 45; width < 100; width++ {
		for _, line := range strings.Split(Render(string(source), Options{Width: width}), "\n") {
			require.LessOrEqual(t, displaywidth.String(line), width, line)
		}
	}
}

func TestColor(t *testing.T) {
	for _, row := range []struct{ markdown, want string }{
		{"# a", "\x1b[1;4ma\x1b[0m"},
		{"## a `b`", "\x1b[1ma \x1b[0m\x1b[1;36mb\x1b[0m"},
		{"*a **b** ~~c~~*", "\x1b[3ma \x1b[0m\x1b[1;3mb\x1b[0m\x1b[3m \x1b[0m\x1b[3;9mc\x1b[0m"},
		{"<!-- a -->", "\x1b[2m<!-- a -->\x1b[0m"},
		{"<!-- ERROR: a -->", "\x1b[31m<!-- ERROR: a -->\x1b[0m"},
		{"a <!-- ERROR: b --> c", "a \x1b[31m<!-- ERROR: b -->\x1b[0m c"},
		{"<p><!-- ERROR: a\nb --></p>", "\x1b[2m<p>\x1b[0m\x1b[31m<!-- ERROR: a\x1b[0m\n\x1b[31mb -->\x1b[0m\x1b[2m</p>\x1b[0m"},
		{"[a](http://b)", "\x1b]8;;http://b\x1b\\\x1b[4ma\x1b[0m\x1b]8;;\x1b\\\x1b]8;;http://b\x1b\\\x1b[2m (http://b)\x1b[0m\x1b]8;;\x1b\\"},
		{"[a](file:///b)", "\x1b[4ma\x1b[0m\x1b[2m (file:///b)\x1b[0m"},
		{"[a](<http://b c>)", "\x1b[4ma\x1b[0m\x1b[2m (http://b c)\x1b[0m"},
		{"[a](http://&#27;)", "\x1b[4ma\x1b[0m\x1b[2m (http://\\x1b)\x1b[0m"},
		{"`\x1b[0m`", "\x1b[36m\\x1b[0m\x1b[0m"},
	} {
		require.Equal(t, row.want, Render(row.markdown, Options{Color: true, Hyperlinks: true}), "%q", row.markdown)
	}
}

func TestNoColorHasNoControl(t *testing.T) {
	source, err := os.ReadFile("testdata/page.md")
	require.NoError(t, err)
	plain := Render(string(source), Options{Width: 60, Hyperlinks: true})
	require.Contains(t, plain, "<!-- ERROR: it failed")
	requireHarmless(t, plain, false)
}

// Texts that would take minutes, and those too large, are shown as written; deep
// nesting is laid out in space that grows with the text.
func TestHostile(t *testing.T) {
	const n = 100_000
	for _, markdown := range []string{
		strings.Repeat(">", n),
		strings.Repeat("- ", n),
		strings.Repeat("[a](", n),
		strings.Repeat("*a_ ", n),
		strings.Repeat("|a", n/4) + "\n" + strings.Repeat("|-", n/4) + strings.Repeat("\n|", n/4),
		strings.Repeat("|`\\|`", n) + "\n|-",
		strings.Repeat("a\n", MaxMarkdown),
	} {
		require.Equal(t, markdown, Render(markdown, Options{Width: 80}))
	}

	deep := strings.Repeat("> ", 2000) + strings.Repeat("a\\\n", 2000) + "b"
	require.Less(t, len(Render(deep, Options{Width: 80})), 20*len(deep))
	list := strings.Repeat("- ", 2000) + "a"
	require.Equal(t, strings.Repeat("• ", 2000)+"a", Render(list, Options{Width: 80}))
}

// requireHarmless fails when s has a control character that is neither layout
// nor, if color is set, part of a sequence of this package.
func requireHarmless(t *testing.T, s string, color bool) {
	t.Helper()
	for s != "" {
		i := strings.IndexFunc(s, func(r rune) bool {
			return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
		})
		if i < 0 {
			return
		}
		require.True(t, color, "control character in %q", s[i:])
		s = s[i:]
		if rest, ok := strings.CutPrefix(s, "\x1b["); ok {
			s = strings.TrimLeft(rest, "0123456789;")
			require.True(t, strings.HasPrefix(s, "m"), "%q", s)
			continue
		}
		address, rest, ok := strings.Cut(strings.TrimPrefix(s, "\x1b]8;;"), "\x1b\\")
		require.True(t, ok && strings.HasPrefix(s, "\x1b]8;;"), "%q", s)
		requireHarmless(t, address, false)
		s = rest
	}
}

func FuzzRender(f *testing.F) {
	for _, name := range []string{"page.md", "narrow.md"} {
		source, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(f, err)
		f.Add(string(source), 30)
	}
	f.Add("|a|b|\n|-|-|\n|c|d|e|\n- > 1. \x1b[0m [x](http://\u202e) <!-- ERROR: \x9b", 1)
	f.Fuzz(func(t *testing.T, markdown string, width int) {
		requireHarmless(t, Render(markdown, Options{Width: width % 200}), false)
		requireHarmless(t, Render(markdown, Options{Width: width % 200, Color: true, Hyperlinks: true}), true)
		requireWords(t, markdown)
	})
}

// requireWords fails when a word of the Markdown is not in what is shown. What
// Markdown spells otherwise (references, escapes, labels, a checked box) is no
// word.
func requireWords(t *testing.T, markdown string) {
	if strings.ContainsAny(markdown, "&\\") || strings.Contains(markdown, "][") {
		return
	}
	shown := Render(markdown, Options{})
	for _, word := range strings.FieldsFunc(markdown, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) {
		if len(word) > 1 {
			require.Contains(t, shown, word, "%q", markdown)
		}
	}
}
