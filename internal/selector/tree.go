package selector

import (
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/executable-markdown/xmd/internal/markdown"
)

// A tree is a CommonMark text as mdast would show it. nodes is in document order,
// a parent before its children; nodes[0] is the root.
type tree struct {
	source []byte
	nodes  []node
}

type node struct {
	kind         string
	parent, prev int     // indexes of the parent and of the sibling before; -1 for none
	end          int     // index after the last descendant
	child, typed ordinal // position among all siblings and among those of the same kind
	literal      bool    // the node has a value
	value        string
	fields       []field
}

// An ordinal is a position counted from 1; the root has none and keeps zeros.
type ordinal struct{ index, count int }

// last returns the position counted from the end.
func (o ordinal) last() int {
	if o.index == 0 {
		return 0
	}
	return o.count - o.index + 1
}

type field struct{ name, value string }

// field returns a field of the node as text; ok is false when mdast has it not or
// as null.
func (n *node) field(name string) (value string, ok bool) {
	switch {
	case name == "type":
		return n.kind, true
	case name == "value":
		return n.value, n.literal
	}
	for _, f := range n.fields {
		if f.name == name {
			return f.value, true
		}
	}
	return "", false
}

// text returns what the node says: see First.
func (t *tree) text(n int) string {
	var b strings.Builder
	for i := n; i < t.nodes[n].end; i++ {
		b.WriteString(t.nodes[i].value)
		if alt, ok := t.nodes[i].field("alt"); ok {
			b.WriteString(alt)
		}
	}
	return b.String()
}

// commonMark is built when first needed, so that it costs nothing at start-up. A
// parser keeps no state between texts.
var commonMark = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
})

// read parses source. CommonMark 2.3 replaces NUL.
func read(source string) *tree {
	t := &tree{source: []byte(strings.ReplaceAll(source, "\x00", "\uFFFD"))}
	root := t.open("root", -1, -1)
	t.children(root, commonMark().Parse(text.NewReader(t.source)))
	t.nodes[root].end = len(t.nodes)
	return t
}

// open appends a node; fields are pairs of name and value.
func (t *tree) open(kind string, parent, prev int, fields ...field) int {
	t.nodes = append(t.nodes, node{kind: kind, parent: parent, prev: prev, end: len(t.nodes) + 1, fields: fields})
	return len(t.nodes) - 1
}

// children adds what stands in from below parent and numbers it.
func (t *tree) children(parent int, from ast.Node) {
	b := builder{tree: t, parent: parent, last: -1}
	for c := from.FirstChild(); c != nil; c = c.NextSibling() {
		b.add(c)
	}
	b.flush()
	t.number(parent)
}

// number gives the children of parent their ordinals.
func (t *tree) number(parent int) {
	count, kinds := 0, map[string]int{}
	for c := parent + 1; c < len(t.nodes); c = t.nodes[c].end {
		n := &t.nodes[c]
		count++
		kinds[n.kind]++
		n.child.index, n.typed.index = count, kinds[n.kind]
	}
	for c := parent + 1; c < len(t.nodes); c = t.nodes[c].end {
		n := &t.nodes[c]
		n.child.count, n.typed.count = count, kinds[n.kind]
	}
}

// A builder adds the children of one node. It holds text back until something
// else comes, because goldmark cuts a text where mdast does not.
type builder struct {
	*tree
	parent, last int
	pending      strings.Builder
}

// node adds a child without a value.
func (b *builder) node(kind string, fields ...field) int {
	b.flush()
	b.last = b.open(kind, b.parent, b.last, fields...)
	return b.last
}

// literal adds a child with a value.
func (b *builder) literal(kind, value string, fields ...field) {
	n := &b.nodes[b.node(kind, fields...)]
	n.literal, n.value = true, value
}

// container adds a child and what stands below it.
func (b *builder) container(from ast.Node, kind string, fields ...field) {
	n := b.node(kind, fields...)
	b.children(n, from)
	b.nodes[n].end = len(b.nodes)
}

func (b *builder) flush() {
	if b.pending.Len() > 0 {
		value := b.pending.String()
		b.pending.Reset()
		b.literal("text", value)
	}
}

func (b *builder) add(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		b.pending.WriteString(markdown.Unescape(n.Value(b.source)))
		if n.HardLineBreak() {
			b.node("break")
		} else if n.SoftLineBreak() {
			b.pending.WriteByte('\n')
		}
	case *ast.Paragraph, *ast.TextBlock:
		b.container(n, "paragraph")
	case *ast.Heading:
		b.container(n, "heading", field{"depth", strconv.Itoa(n.Level)})
	case *ast.Emphasis:
		kind := "emphasis"
		if n.Level == 2 {
			kind = "strong"
		}
		b.container(n, kind)
	case *ast.Blockquote:
		b.container(n, "blockquote")
	case *ast.List:
		fields := []field{{"ordered", strconv.FormatBool(n.IsOrdered())}, {"spread", spread(n)}}
		if n.IsOrdered() {
			fields = append(fields, field{"start", strconv.Itoa(n.Start)})
		}
		b.container(n, "list", fields...)
	case *ast.ListItem:
		b.container(n, "listItem", field{"spread", spread(n)})
	case *ast.ThematicBreak:
		b.node("thematicBreak")
	case *ast.FencedCodeBlock:
		b.literal("code", lines(n.Lines(), b.source), b.info(n)...)
	case *ast.CodeBlock:
		b.literal("code", lines(n.Lines(), b.source))
	case *ast.HTMLBlock:
		all := text.NewSegments()
		all.AppendAll(n.Lines().Sliced(0, n.Lines().Len()))
		if n.HasClosure() {
			all.Append(n.ClosureLine)
		}
		b.literal("html", lines(all, b.source))
	case *ast.RawHTML:
		b.literal("html", string(n.Segments.Value(b.source)))
	case *ast.CodeSpan:
		b.literal("inlineCode", codeSpan(n, b.source))
	case *ast.AutoLink:
		b.autoLink(n)
	case *ast.Link:
		if n.Reference != nil {
			b.container(n, "linkReference", reference(n.Reference)...)
		} else {
			b.container(n, "link", resource(n.Destination, n.Title)...)
		}
	case *ast.Image:
		below := tree{source: b.source}
		below.children(below.open("alt", -1, -1), n)
		below.nodes[0].end = len(below.nodes)
		alt := field{"alt", below.text(0)}
		if n.Reference != nil {
			b.node("imageReference", append(reference(n.Reference), alt)...)
		} else {
			b.node("image", append(resource(n.Destination, n.Title), alt)...)
		}
	case *ast.LinkReferenceDefinition:
		b.node("definition", append(association(n.Label), resource(n.Destination, n.Title)...)...)
	}
}

func (b *builder) autoLink(n *ast.AutoLink) {
	label := string(n.Label(b.source))
	url := label
	if n.AutoLinkType == ast.AutoLinkEmail {
		url = "mailto:" + label
	}
	link := b.node("link", field{"url", url})
	inner := builder{tree: b.tree, parent: link, last: -1}
	inner.literal("text", label)
	b.number(link)
	b.nodes[link].end = len(b.nodes)
}

// info returns the first word after a fence and what follows it.
func (b *builder) info(n *ast.FencedCodeBlock) []field {
	if n.Info == nil {
		return nil
	}
	info := string(n.Info.Value(b.source))
	lang, meta := info, ""
	if i := strings.IndexAny(info, " \t"); i >= 0 {
		lang, meta = info[:i], strings.TrimLeft(info[i:], " \t")
	}
	fields := []field{{"lang", markdown.Unescape([]byte(lang))}}
	if meta != "" {
		fields = append(fields, field{"meta", markdown.Unescape([]byte(meta))})
	}
	return fields
}

func resource(url, title []byte) []field {
	fields := []field{{"url", markdown.Unescape(url)}}
	if title != nil {
		fields = append(fields, field{"title", markdown.Unescape(title)})
	}
	return fields
}

func reference(r *ast.ReferenceLink) []field {
	return append(association(r.Value), field{"referenceType", strings.ToLower(r.Type.String())})
}

func association(label []byte) []field {
	identifier := strings.ToLower(strings.Join(strings.Fields(string(label)), " "))
	return []field{{"identifier", identifier}, {"label", markdown.Unescape(label)}}
}

// spread says whether a blank line stands between two children of n.
func spread(n ast.Node) string {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c != n.FirstChild() && c.HasBlankPreviousLines() {
			return "true"
		}
	}
	return "false"
}

// lines joins the lines of a block, without the line ending of the last.
func lines(s *text.Segments, source []byte) string {
	value := strings.TrimSuffix(string(s.Value(source)), "\n")
	return strings.TrimSuffix(value, "\r")
}

// codeSpan returns the value of a code span, which keeps its line endings.
func codeSpan(n *ast.CodeSpan, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b.Write(c.(*ast.Text).Value(source))
	}
	return b.String()
}
