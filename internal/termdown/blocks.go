package termdown

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/executable-markdown/xmd/internal/markdown"
)

const (
	// maxIndent is how far nested blocks are indented, in columns, and never
	// further than to the middle.
	maxIndent = 40
	// ruleColumns is the length of a thematic break where the width is unknown.
	ruleColumns = 40
)

// A renderer writes the lines of one text.
type renderer struct {
	source  []byte
	o       Options
	out     strings.Builder
	started bool // a line was written

	indent row // what stands before every line
	marker row // what stands before the next line instead, when not nil

	cell bool // what is laid out stands in a cell of a table
}

// line writes one line.
func (r *renderer) line(content row) {
	before := r.indent
	if r.marker != nil {
		before, r.marker = r.marker, nil
	}
	if r.started {
		r.out.WriteByte('\n')
	}
	r.started = true
	if len(content) == 0 {
		before = before.trimmed()
	}
	r.out.WriteString(before.string(r.o))
	r.out.WriteString(content.string(r.o))
}

// wrapped writes content in as many lines as it needs.
func (r *renderer) wrapped(content row) {
	first, rest := r.columns(r.indent), r.columns(r.indent)
	if r.marker != nil {
		first = r.columns(r.marker)
	}
	for _, l := range content.wrap(first, rest) {
		r.line(l)
	}
}

// columns returns how many are left beside before; 0 when there is no limit.
func (r *renderer) columns(before row) int {
	if r.o.Width <= 0 {
		return 0
	}
	return max(r.o.Width-before.width(), (r.o.Width+1)/2)
}

// inside writes what content writes, indented: marker stands before its first
// line, rest before the others. The marker is written even if there is no line.
func (r *renderer) inside(marker, rest row, content func()) {
	indent := r.indent
	if r.marker == nil {
		r.marker = indent[:len(indent):len(indent)]
	}
	r.marker = append(r.marker, marker...)
	limit := maxIndent
	if r.o.Width > 0 {
		limit = min(limit, r.o.Width/2)
	}
	if indent.width()+rest.width() <= limit {
		r.indent = append(indent[:len(indent):len(indent)], rest...)
	}
	content()
	if r.marker != nil {
		r.line(nil)
	}
	r.indent = indent
}

func (r *renderer) blocks(parent ast.Node) {
	for c := parent.FirstChild(); c != nil; c = c.NextSibling() {
		if c.PreviousSibling() != nil && !together(c) {
			r.line(nil)
		}
		r.block(c)
	}
}

// together reports whether no blank line stands between n and the block before it.
func together(n ast.Node) bool {
	if n.Kind() == ast.KindLinkReferenceDefinition {
		return n.PreviousSibling().Kind() == n.Kind()
	}
	list := n.Parent()
	if list.Kind() == ast.KindListItem {
		list = list.Parent()
	}
	l, ok := list.(*ast.List)
	return ok && l.IsTight
}

func (r *renderer) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n)
	case *ast.Blockquote:
		bar := styled("│ ", faint)
		r.inside(bar, bar, func() { r.blocks(n) })
	case *ast.List:
		r.list(n)
	case *ast.FencedCodeBlock:
		if n.Info != nil {
			r.line(styled(markdown.Unescape(n.Info.Value(r.source)), faint))
		}
		r.code(n.Lines())
	case *ast.CodeBlock:
		r.code(n.Lines())
	case *ast.HTMLBlock:
		source := string(n.Lines().Value(r.source))
		if n.HasClosure() {
			source += string(n.ClosureLine.Value(r.source))
		}
		var content row
		content.html(strings.TrimSuffix(source, "\n"))
		r.wrapped(content)
	case *ast.ThematicBreak:
		columns := r.columns(r.indent)
		if columns == 0 {
			columns = ruleColumns
		}
		r.line(styled(strings.Repeat("─", columns), faint))
	case *ast.LinkReferenceDefinition:
		target := markdown.Unescape(n.Destination) + title(n.Title)
		r.wrapped(styled(markdown.Unescape(n.Label)+": "+oneLine(target), faint))
	case *extast.Table:
		r.table(n)
	default: // *ast.Paragraph and *ast.TextBlock
		r.wrapped(r.inline(n, 0))
	}
}

// heading writes the two upper levels with a rule below where style cannot tell
// them from prose.
func (r *renderer) heading(n *ast.Heading) {
	s := bold
	if n.Level == 1 {
		s |= underline
	}
	content := r.inline(n, s)
	r.wrapped(content)
	if !r.o.Color && n.Level <= 2 && len(content) > 0 {
		columns := content.width()
		if limit := r.columns(r.indent); limit > 0 {
			columns = min(columns, limit)
		}
		rule := "─"
		if n.Level == 1 {
			rule = "═"
		}
		r.line(styled(strings.Repeat(rule, columns), 0))
	}
}

// list writes items behind bullets, or behind numbers that are aligned.
func (r *renderer) list(n *ast.List) {
	number := n.Start
	digits := len(fmt.Sprint(n.Start + n.ChildCount() - 1))
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		marker := "• "
		if n.IsOrdered() {
			marker = fmt.Sprintf("%*d. ", digits, number)
			number++
		}
		if c.PreviousSibling() != nil && !together(c) {
			r.line(nil)
		}
		rest := styled(strings.Repeat(" ", len([]rune(marker))), 0)
		r.inside(styled(marker, 0), rest, func() { r.blocks(c) })
	}
}

// code writes lines as they are, set off by four columns.
func (r *renderer) code(lines *text.Segments) {
	margin := styled("    ", 0)
	for i := range lines.Len() {
		line := lines.At(i)
		content := styled(strings.TrimSuffix(string(line.Value(r.source)), "\n"), cyan)
		if len(content) > 0 {
			content = append(margin[:4:4], content...)
		}
		r.line(content)
	}
}

// verbatim writes s as it is written, escaped.
func (r *renderer) verbatim(s string) {
	r.out.WriteString(visible(s))
}

// styled returns a row of one style.
func styled(text string, s style) row {
	var r row
	r.add(text, s, "")
	return r
}
