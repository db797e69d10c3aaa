package document

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/executable-markdown/xmd/internal/markdown"
)

// wide are limits that no test reaches by accident.
var wide = FragmentLimits{Source: MaxSource, Elements: 1 << 30, Depth: 1 << 30}

// secondReader has goldmark read an accepted fragment and returns what it finds
// live that the scanner did not, or "" (fragments 5.2).
func secondReader(src string, nodes []Node) string {
	elements := map[int]bool{}
	walk(nodes, func(n Node) {
		if e, ok := n.(*Element); ok {
			elements[e.Pos.Offset] = true
		}
	})
	source := []byte(src)
	found := ""
	look := func(from, to int) {
		for i := from; i < to && i+1 < len(src); i++ {
			if src[i] == '<' && isUpper(src[i+1]) && !elements[i] {
				found = fmt.Sprintf("a tag at %d", i)
			}
		}
	}
	root := goldmark.DefaultParser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			if n.Info == nil {
				break
			}
			info := n.Info.Segment.Value(source)
			for _, info := range []string{string(info), markdown.Unescape(info)} {
				if _, modifiers := splitInfo(info); executable(modifiers) {
					found = "an executable fence " + info
				}
			}
		case *ast.CodeSpan, *ast.HTMLBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			look(n.Segment.Start, n.Segment.Stop)
		case *ast.AutoLink:
			at := bytes.Index(source, append([]byte{'<'}, n.Label(source)...))
			if isUpper(n.Label(source)[0]) && !elements[at] {
				found = "an address " + string(n.Label(source))
			}
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				s := n.Segments.At(i)
				if i == 0 && bytes.HasPrefix(source[s.Start:], []byte("<!--")) {
					break
				}
				look(s.Start, s.Stop)
			}
		}
		return ast.WalkContinue, nil
	})
	return found
}

// withoutSpreads is nodes as the ordinary reader has them: no spread, and places
// in a document.
func withoutSpreads(nodes []Node, name string) []Node {
	if nodes == nil {
		return nil
	}
	out := make([]Node, len(nodes))
	for i, n := range nodes {
		out[i] = n
		if e, ok := n.(*Element); ok {
			plain := *e
			plain.Pos.Source, plain.Pos.Generated = name, ""
			plain.Attrs = nil
			for _, a := range e.Attrs {
				if a.Form != Spread {
					a.Pos.Source, a.Pos.Generated = name, ""
					plain.Attrs = append(plain.Attrs, a)
				}
			}
			plain.Children = withoutSpreads(e.Children, name)
			out[i] = &plain
		}
	}
	return out
}

// checkFragment holds an accepted fragment to everything that must be true of one:
// its nodes are the ordinary reader's, cover the text in order, and the second
// reader finds nothing else live.
func checkFragment(t *testing.T, src string, nodes []Node) {
	t.Helper()
	d, err := Parse("doc.md", []byte(src))
	require.NoError(t, err)
	require.Zero(t, d.BodyOffset)
	require.Equal(t, d.Nodes, withoutSpreads(nodes, "doc.md"))
	checkNodes(t, d, d.Nodes)
	checkCover(t, d)
	walk(nodes, func(n Node) {
		switch n := n.(type) {
		case *Block:
			require.Fail(t, "an executable fence", "%q", src)
		case *Element:
			require.Equal(t, "g", n.Pos.Generated)
		}
	})
	require.Empty(t, secondReader(src, nodes), "%q", src)
}

// Random texts made of everything that starts, ends or hides something somewhere.
func TestA17_RandomTextsAgainstTheSecondReader(t *testing.T) {
	pieces := []string{"`", "``", "```", "```\n", "\n```\n", "~~~\n", "\n~~~\n", "````\n", "\n", "\n\n", "\n", " ", "  ", "   ", "    ", "\t",
		"> ", "- ", "1. ", "a", "b ", "<X/>", "c <X/> d", "`<X/>`", "` <X/> `", "<A>", "</A>", "<A b=\"`\"/>", "<A b={`c`}/>", "<A b='", "' />", "<A\n", "/>\n",
		"<!--", "-->", "<!-- c -->", "<!-->", "<!--->", "<a href=\"", "\">", "<a ", ">", "<http://a", "<pre>\n", "</pre>\n", "<div>\n", "</div>\n", "<?", "?>", "<!D",
		"\\", "\\`", "\"", "'", "{", "}", "sh exec", "```sh exec\n", "sh &#101;xec\n", "[a]: /u\n", "[", "](", ")", "#", "<x", "\r\n", "|", "<Pre>\n", "<Script>", "</script>\n",
		"```\n<X/>\n```\n", "\n```\nc <X/>\n\nd <X/>\n```\n", "~~~\nc <X/>\n~~~\n", "\\<X/>"}
	rounds := 60_000
	if testing.Short() {
		rounds = 10_000
	}
	rng := rand.New(rand.NewPCG(5, 6))
	accepted, hiding := 0, 0
	for range rounds {
		var b strings.Builder
		for range 1 + rng.IntN(14) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		src := b.String()
		nodes, problem := ReadFragment("g", src, wide)
		if problem != nil {
			continue
		}
		accepted++
		if strings.Count(src, "<X/>") > 0 && len(nodes) == 1 {
			hiding++
		}
		require.Empty(t, secondReader(src, nodes), "%q", src)
	}
	require.Greater(t, accepted, rounds/20)
	require.Greater(t, hiding, rounds/200)
}
