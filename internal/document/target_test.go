package document

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func paths(d *Document) string {
	var out []string
	for _, t := range d.Targets() {
		out = append(out, t.Path)
	}
	return strings.Join(out, " ")
}

func TestOutline(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"none", "text", ""},
		{"title only", "# T", ""},
		{"title is no level", "# T\n## A\n### B\n## C", "A A/B C"},
		{"two outermost", "# A\n## B\n# C", "A A/B C"},
		{"heading before the title", "## A\n# T\n## B\n### C", "A B B/C"},
		{"skipped depth", "# A\n#### B\n## C\n# D", "A A/B A/C D"},
		{"setext", "A\n=\nB\nb\n---\n", "B%20b"},
		{"closing hashes", "# A ##\n# B\\#\n# C#\n#\n# #\n#D\n####### E", "A B%23 C%23"},
		{"indented", "   # A\n    # B\n\t# C\n# D", "A D"},
		{"escapes and entities", "# A\\*b &amp; &nosuch; &#65;\n# x", "A%2Ab%20%26%20%26nosuch%3B%20A x"},
		{"encoding", "# Ünï/ö?-._~\n# x", "%C3%9Cn%C3%AF%2F%C3%B6%3F-._~ x"},
		{"normal form and white space", "# e\u0301 \u00a0 b\n# x", "%C3%A9%20b x"},
		{"markup", "# Use the *fast* __x__ `b*d` [now](x.md \"t\") ![a *b*](c) <b>d</b> <http://e>\n# x",
			"Use%20the%20fast%20x%20b%2Ad%20now%20a%20b%20d%20http%3A%2F%2Fe x"},
		{"quotes and lists", "> # A\n\n- # B\n\n  # C\n1. x\n\n   # D\n# E\n- x\n# F", "E F"},
		{"lazy continuation", "- a\n# A\n> b\n# B\n> c\nd\n===\n# C", "A B C"},
		{"fences", "```\n# A\n```\n# B\n# C\n~~~\n# D", "B C"},
		{"html", "<div>\n# A\n\n# B\n<script>\n\n# C\n</script>\n# D\n<!--\n\n# E\n-->\n# F\n<x-y>\n# G\n\n# H", "B D F H"},
		{"comment inside a paragraph", "a <!-- b\n\n# A\n\n-->\n# B\n# C", "B C"},
		{"fence the reader sees in a list", "# A\n# B\n- a\n  ```\n# C", "A B"},
		{"elements", "# T\n<Wrap>\n## A\n</Wrap>\n## B <X />\n### C\n## D\n<Y a='\n## E\n' />\n## F", "D F"},
		{"unclosed element", "<Wrap>\n\n# A\n# B", "A B"},
		{"interpolation", "# T\n## {a}\n### x\n## {a.b}\n## {meta.a b}\n## {props.x}\n## {1 + 1} {a b\n## \\{a}\n## {$}", "%7B1%20%2B%201%7D%20%7Ba%20b %7Ba%7D"},
		{"interpolated title", "# {a}\n## B", "B"},
		{"reference links", "[b]: /u\n# [a][b] [b] [c] [a][c] [B][]\n# x", "a%20b%20%5Bc%5D%20%5Ba%5D%5Bc%5D%20B x"},
		{"definition before an underline", "[a]: /u\n===\n# A\n# B", "A B"},
		{"definition and setext", "[a]: /u\nT\n===\n# B", "T B"},
		{"empty text", "# T\n## <b></b>\n### A\n## ![](x)\n## B", "B"},
		{"duplicates", "# T\n## A\n## A", "A A"},
		{"frontmatter", "---\na: 1\n---\n# A\n# B", "A B"},
		{"crlf", "# A\r\nB\r\n===\r\n# C ##\r\n", "A B C"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, paths(parse(t, test.src)))
		})
	}
}

func TestDescriptions(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"paragraph", "text *one*\n two `x`\n\nmore", "text one two x"},
		{"after comments", "\n<!-- a -->\n\n<!-- b\n\n-->\n\ntext", "text"},
		{"nothing", "", ""},
		{"list", "- a\n\ntext", ""},
		{"fence", "```\n```\ntext", ""},
		{"break", "***\ntext", ""},
		{"html", "<div>\n\ntext", ""},
		{"raw html", "a <b>c</b>", ""},
		{"interpolation", "a {b}", ""},
		{"escaped interpolation", "a \\{b}", "a {b}"},
		{"element in it", "a <B /> c", ""},
		{"element before it", "<B />\n\ntext", ""},
		{"definition", "[a]: /u\n\ntext", ""},
		{"heading", "### B\n\ntext", ""},
		{"quote", "> a", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := parse(t, "# T\n## A\n"+test.src+"\n\n## Z\n")
			require.Equal(t, Target{Path: "A", Heading: "A", Description: test.want, entry: 1}, d.Targets()[0])
		})
	}
}

func TestSelect(t *testing.T) {
	d := parse(t, "# T\n## Build\n### Fast path\n### Mac\n## Test\n### Mac\n## Same\n## Same\n## é*/b\n## a  b")
	for selector, want := range map[string]string{
		"Build": "Build", "Build/Mac": "Build/Mac", "Build/Fast%20path": "Build/Fast%20path", "Build/Fast path": "Build/Fast%20path",
		"**/Fast*": "Build/Fast%20path", "Te*/*": "Test/Mac", "B**d": "Build", "*%C3%A9*": "%C3%A9%2A%2Fb", "é%2a%2fb": "%C3%A9%2A%2Fb",
		"e\u0301*": "%C3%A9%2A%2Fb", "**/Build/**/**/Mac": "Build/Mac", " Build ": "Build", "Fast*/x/**": "", "a b": "a%20b", "a* b": "a%20b", "a *b": "a%20b",
		" B*t": "", "*ld": "Build", "*t": "Test", "Te*st": "Test", "Te*s*st": "", "T*t*t": "",
	} {
		target, err := d.Select(selector)
		if want == "" {
			require.ErrorContains(t, err, "matches nothing", selector)
			continue
		}
		require.NoError(t, err, selector)
		require.Equal(t, want, target.Path, selector)
	}
	for _, selector := range []string{"", "/", "/a", "a/", "a//b", "a#b", "#", "%", "a%2", "%zz", "%00", "\x00", "%ff", "\xff", "*%"} {
		_, err := d.Select(selector)
		require.ErrorContains(t, err, "is not a valid selector", selector)
		require.ErrorContains(t, err, "Available targets:", selector)
	}
}

func TestSelectErrors(t *testing.T) {
	d, err := Parse("a#b%.md", []byte("# T\n## A\n### C\n## B"))
	require.NoError(t, err)
	for selector, want := range map[string]string{
		"x":   "target \"x\" matches nothing\nAvailable targets:\n  a%23b%25.md#A\n  a%23b%25.md#A/C\n  a%23b%25.md#B",
		"*":   "target \"*\" matches several headings\nMatched targets:\n  a%23b%25.md#A\n  a%23b%25.md#B",
		"\n/": "target \"\\n/\" is not a valid selector\nAvailable targets:\n  a%23b%25.md#A\n  a%23b%25.md#A/C\n  a%23b%25.md#B",
	} {
		_, err := d.Select(selector)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, "target-invalid", e.Code)
		require.Equal(t, want, e.Message)
	}
	_, err = parse(t, "text").Select("A")
	require.EqualError(t, err, "target \"A\" matches nothing\nThe document has no targets.")

	_, err = parse(t, strings.Repeat("# A\n", 200)).Select("A")
	require.ErrorContains(t, err, "and 100 more")
	require.Equal(t, 103, len(strings.Split(err.Error(), "\n")))
}

func TestTargetBounds(t *testing.T) {
	d := parse(t, strings.Repeat("# A\n", MaxTargets+1))
	require.Len(t, d.Targets(), MaxTargets)
	_, err := d.Select("A")
	require.ErrorContains(t, err, "10000")

	d = parse(t, "# T\n## "+strings.Repeat("a", MaxTargetPath+1)+"\n### B\n## "+strings.Repeat("é", MaxTargetPath/6)+"\n## C")
	require.Len(t, d.Targets(), 2)
}

func TestProject(t *testing.T) {
	for _, test := range []struct{ name, src, selector, want string }{
		{"section", "pre\n\n# T\n\nintro\n\n## A\n\na\n\n### B\n\nb\n\n## C\n\nc\n", "A", "«pre\n\n»«# T\n\nintro\n\n»«## A\n\na\n\n### B\n\nb\n\n»"},
		{"nested", "# T\n## A\ncommon\n### M\nm\n### L\nl\n#### X\nx\n## Z\n", "A/L", "«# T\n»«## A\ncommon\n»«### L\nl\n#### X\nx\n»"},
		{"no title", "pre\n# A\na\n# B\nb\n## C\nc", "B/C", "«pre\n»«# B\nb\n»«## C\nc»"},
		{"before the title", "p\n## A\na\n# T\nt\n## B", "A", "«p\n»«## A\na\n»"},
		{"preamble runs", "<Let as=\"x\" />\n# T\n<Q />\n## A\n<Bad />\n## B\n{x}", "B", "<Let as=\"x\"/>«\n»«# T\n»<Q/>«\n»«## B\n{x}»"},
		{"indentation goes before", "a\n   # A\n# B", "A", "«a\n   »«# A\n»"},
		{"spans end with their range", "# A\n` <X />\n# B\n` <Y />", "B", "«# B\n` »<Y/>"},
		{"fences", "# A\n```sh exec\nls\n```\n# B", "A", "«# A\n»```sh exec|ls\n```"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := parse(t, "---\nm: 1\n---\n"+test.src)
			target, err := d.Select(test.selector)
			require.NoError(t, err)
			p := d.Project(target)
			require.Equal(t, test.want, show(p.Nodes))
			require.Same(t, d.Frontmatter, p.Frontmatter)
			require.Equal(t, d.Source, p.Source)
			require.Equal(t, d.Targets(), p.Targets(), "a projection keeps the outline")
			checkNodes(t, p, p.Nodes)
		})
	}
	d := parse(t, "# T\n## A\nx\n## A\n<Y />\n")
	second := d.Project(d.Targets()[1])
	require.Equal(t, "«# T\n»«## A\n»<Y/>«\n»", show(second.Nodes))
	require.Equal(t, Position{Source: "doc.md", Offset: 16, Line: 5, Column: 1}, second.Nodes[2].(*Element).Pos)
	require.Equal(t, "«# T\n»«## A\nx\n»", show(d.Project(Target{Path: "A"}).Nodes))
	require.Empty(t, d.Project(Target{Path: "B", entry: 77}).Nodes)
	require.Empty(t, d.Project(Target{}).Nodes)

	nested := strings.Repeat("<A>", MaxDepth+1) + strings.Repeat("</A>", MaxDepth+1)
	d = parse(t, "# A\n`\n# B\n"+nested+"`\n")
	p := d.Project(d.Targets()[1])
	require.Contains(t, textOf(p.Nodes), "<A></A>", "the innermost tags are text")
}

// textOf joins the texts of a tree.
func textOf(nodes []Node) string {
	var b strings.Builder
	walk(nodes, func(n Node) {
		if t, ok := n.(*Text); ok {
			b.WriteString(t.Value)
		}
	})
	return b.String()
}

// walk visits a tree in order, however deep it is.
func walk(nodes []Node, visit func(Node)) {
	stack := [][]Node{nodes}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(*top) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		n := (*top)[0]
		*top = (*top)[1:]
		visit(n)
		if e, ok := n.(*Element); ok {
			stack = append(stack, e.Children)
		}
	}
}

// checkNodes holds the nodes to the invariant of the package: ranges in order,
// contents as in the source, positions that agree with their offsets.
func checkNodes(t *testing.T, d *Document, nodes []Node) {
	t.Helper()
	at := d.BodyOffset
	places := tracker{name: d.Name, src: d.Source, line: 1, column: 1}
	position := func(p Position) {
		if p != places.at(p.Offset) {
			require.Fail(t, "position does not agree with its offset", "%v", p)
		}
	}
	walk(nodes, func(n Node) {
		start, end := 0, 0
		switch n := n.(type) {
		case *Text:
			start, end = n.Offset, n.Offset+len(n.Value)
			require.Equal(t, n.Value, d.Source[start:end])
			require.Equal(t, n.Comment, n.Comment && strings.HasPrefix(n.Value, "<!--"))
		case *Block:
			start, end = n.Pos.Offset, n.End
			position(n.Pos)
			require.Contains(t, d.Source[start:end], n.Content)
		case *Element:
			start = n.Pos.Offset
			position(n.Pos)
			for _, a := range n.Attrs {
				position(a.Pos)
				require.True(t, strings.HasPrefix(d.Source[a.Pos.Offset:], a.Name))
			}
			tag := d.Source[start:n.End]
			require.True(t, strings.HasPrefix(tag, "<"+n.Name))
			if end = n.End; !n.SelfClosing {
				require.True(t, strings.HasSuffix(tag, "</"+n.Name+">"))
				end = start + len(n.Name) + 2
			} else {
				require.True(t, strings.HasSuffix(tag, "/>"))
				require.Empty(t, n.Children)
			}
		}
		require.GreaterOrEqual(t, start, at)
		require.LessOrEqual(t, end, len(d.Source))
		at = end
	})
}

// checkCover holds the whole body to it: top-level ranges without gaps, and each
// element's content without gaps between its tags.
func checkCover(t *testing.T, d *Document) {
	t.Helper()
	cover := func(nodes []Node, from int) (to int) {
		for _, n := range nodes {
			start, end := 0, 0
			switch n := n.(type) {
			case *Text:
				start, end = n.Offset, n.Offset+len(n.Value)
			case *Block:
				start, end = n.Pos.Offset, n.End
			case *Element:
				start, end = n.Pos.Offset, n.End
			}
			if from >= 0 {
				require.Equal(t, from, start)
			}
			from = end
		}
		return from
	}
	if len(d.Nodes) > 0 || d.BodyOffset < len(d.Source) {
		require.Equal(t, len(d.Source), cover(d.Nodes, d.BodyOffset))
	}
	walk(d.Nodes, func(n Node) {
		if e, ok := n.(*Element); ok && len(e.Children) > 0 {
			require.Equal(t, e.End-len("</>")-len(e.Name), cover(e.Children, -1))
		}
	})
}
