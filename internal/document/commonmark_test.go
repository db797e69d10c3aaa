package document

import (
	"bufio"
	"bytes"
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	renderer "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// goldmarkHeadings lists the headings goldmark finds directly in the document,
// as depth and visible text.
func goldmarkHeadings(src string) string {
	source := []byte(src)
	root := goldmark.DefaultParser().Parse(text.NewReader(source))
	var b strings.Builder
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		var label strings.Builder
		_ = ast.Walk(h, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch n := n.(type) {
			case *ast.Text:
				if entering {
					value := n.Segment.Value(source)
					if _, code := n.Parent().(*ast.CodeSpan); code {
						label.Write(value)
					} else {
						label.WriteString(writtenText(value))
					}
					if n.SoftLineBreak() || n.HardLineBreak() {
						label.WriteByte(' ')
					}
				}
			case *ast.AutoLink:
				if entering {
					label.Write(n.Label(source))
				}
			}
			return ast.WalkContinue, nil
		})
		fmt.Fprintf(&b, "%d:%s\n", h.Level, normalLevel(label.String()))
	}
	return b.String()
}

// writtenText resolves backslashes and entities the way goldmark writes text.
func writtenText(value []byte) string {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	renderer.DefaultWriter.Write(w, value)
	_ = w.Flush()
	return html.UnescapeString(b.String())
}

func ourHeadings(src string) string {
	headings, labels := readBlocks(src)
	var b strings.Builder
	for _, h := range headings {
		label, _ := visibleText(h.text, labels)
		fmt.Fprintf(&b, "%d:%s\n", h.depth, normalLevel(label))
	}
	return b.String()
}

func TestBlocksAgainstGoldmark(t *testing.T) {
	pieces := []string{"# a\n", "## b ##\n", "a\n", "===\n", "---\n", "\n", "> ", "- ", "1. ", "2) ", "* ", "  ", "    ", "   ",
		"```\n", "~~~ x\n", "````\n", "<div>\n", "</div>\n", "<!-- c\n", "-->\n", "<x>\n", "<pre>\n", "x</pre>\n", "b", "***\n", "- - -\n",
		"[a]: /u\n\n", "[a]:\n/u 't'\n\n", "'t'\n", ">\n", "#\n", "a # b\n"}
	compare(t, pieces, 20, 5_000)
}

func TestInlineAgainstGoldmark(t *testing.T) {
	pieces := []string{"*", "**", "***", "_", "__", "a", "b ", " c", "`", "``", "[", "]", "![", "](u)", "](<u> 't')", ")", "[a]", "[]",
		"\\", "\\*", "<b>", "</b>", "<b c='d'", ">", "<http://x>", "<a@b.c>", "<!-- ", "-->", "&amp;", "&", ";", ".", "é", "!", "\""}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5_000 {
		var b strings.Builder
		b.WriteString("[a]: /u\n\n# x")
		for range rng.IntN(14) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		src := b.String()
		require.Equal(t, goldmarkHeadings(src), ourHeadings(src), "source %q", src)
	}
}

func compare(t *testing.T, pieces []string, length, rounds int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for range rounds {
		var b strings.Builder
		for range rng.IntN(length) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		src := b.String()
		require.Equal(t, goldmarkHeadings(src), ourHeadings(src), "source %q", src)
	}
}
