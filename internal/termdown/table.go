package termdown

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

const columnSeparator = " │ "

// table writes a table with aligned columns. Where they do not fit beside each
// other the wider ones are wrapped.
func (r *renderer) table(n *extast.Table) {
	var rows [][]row
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		s := style(0)
		if c.Kind() == extast.KindTableHeader {
			s = bold
		}
		rows = append(rows, r.cellsOf(c, s))
	}
	columns := 0
	for _, cells := range rows {
		columns = max(columns, len(cells))
	}
	widths := make([]int, columns)
	for _, cells := range rows {
		for i, c := range cells {
			widths[i] = max(widths[i], c.width())
		}
	}
	if limit := r.columns(r.indent); limit > 0 {
		fit(widths, limit-(columns-1)*len([]rune(columnSeparator)))
	}
	for i, cells := range rows {
		r.tableRow(cells, widths, n.Alignments)
		if i == 0 {
			rules := make([]string, columns)
			for c, w := range widths {
				rules[c] = strings.Repeat("─", w)
			}
			r.line(styled(strings.Join(rules, "─┼─"), faint))
		}
	}
}

// cellsOf returns the cells of a row.
func (r *renderer) cellsOf(n ast.Node, s style) []row {
	var cells []row
	r.cell = true
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		cells = append(cells, r.inline(c, s))
	}
	r.cell = false
	return cells
}

// fit lowers the largest widths until all together are at most total, but none
// below a few columns.
func fit(widths []int, total int) {
	order := slices.Sorted(slices.Values(widths))
	for i, w := range order {
		share := max(total/(len(order)-i), 3)
		if w > share {
			for c := range widths {
				widths[c] = min(widths[c], share)
			}
			return
		}
		total -= w
	}
}

// tableRow writes one row, in as many lines as its highest cell needs.
func (r *renderer) tableRow(cells []row, widths []int, alignments []extast.Alignment) {
	wrapped := make([][]row, len(cells))
	height := 0
	for i, c := range cells {
		wrapped[i] = c.wrap(widths[i], widths[i])
		height = max(height, len(wrapped[i]))
	}
	for h := range height {
		var line row
		for i, w := range widths {
			if i > 0 {
				line = append(line, styled(columnSeparator, faint)...)
			}
			var content row
			if i < len(wrapped) && h < len(wrapped[i]) {
				content = wrapped[i][h]
			}
			left, right := 0, max(w-content.width(), 0)
			if i < len(alignments) {
				switch alignments[i] {
				case extast.AlignRight:
					left, right = right, 0
				case extast.AlignCenter:
					left, right = right/2, right-right/2
				}
			}
			line = append(line, styled(strings.Repeat(" ", left), 0)...)
			line = append(line, content...)
			line = append(line, styled(strings.Repeat(" ", right), 0)...)
		}
		r.line(line.trimmed())
	}
}
