package document

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		document, "---\na: 1\n---\n# T\n## A {x}\n<B c='d' e={`${{}}`}>x</B>\n", "<A><B></A></B>", "`` ` <A/>", "<!--> <A b={'}", "```sh exec as=\"r\"\n",
		"a\n===\n[b]: /u\n- # c\n  > d\n", "\ufeff---json\n{}\n---\r\n", "# *a _b* c_ ![d](e)\n", "<A \u00a0{...b} c/>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		d, err := Parse("doc.md", []byte(src))
		if err != nil {
			var e *Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Code)
			return
		}
		checkNodes(t, d, d.Nodes)
		checkCover(t, d)
		walk(d.Nodes, func(n Node) {
			if e, ok := n.(*Element); ok {
				for _, a := range e.Attrs {
					if v, ok := a.StaticValue(false); ok {
						_, err := value.JSON(v)
						require.NoError(t, err)
					}
				}
			}
		})
		for i, target := range d.Targets() {
			if i == 20 {
				break
			}
			p := d.Project(target)
			checkNodes(t, p, p.Nodes)
			require.True(t, utf8.ValidString(target.Heading))
			found, err := d.Select(target.Path)
			if err == nil {
				require.Equal(t, target, found)
			} else {
				require.ErrorContains(t, err, "several")
			}
		}
		if len(src) < 200 && d.BodyOffset == 0 && strings.Count(src, "<") < 8 {
			want, _, _ := naive{src: d.Source}.list(0, "")
			require.Equal(t, want, show(d.Nodes))
		}
	})
}

func FuzzFrontmatter(f *testing.F) {
	for _, seed := range []string{
		"a: 1", "a: [1, {b: 'c'}]", "- x", "a: &b c\nd: *b", "? {a: b}\n: c", "a: 2020-01-01T00:00:00Z", "{<<: {}}", "a: |\n  x\n", "a: 1:30.5",
		"é: ! x", "a: 0x1_F\nb: .inf", "\"a\": \"\\u00e9\"", "a: 1\r---\rb: 2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, block string) {
		d, err := Parse("doc.md", []byte("---\n"+block+"\n---\n"))
		if err != nil {
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Positive(t, e.Pos.Line)
			require.LessOrEqual(t, e.Pos.Offset, len(block)+10)
			return
		}
		if d.Frontmatter == nil {
			return
		}
		text, err := value.JSON(d.Frontmatter)
		require.NoError(t, err)
		again, err := value.Parse([]byte(text))
		require.NoError(t, err)
		require.True(t, value.Equal(d.Frontmatter, again))
	})
}
