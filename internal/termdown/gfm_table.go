package termdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	// maxColumns is how many columns a table may have.
	maxColumns = 64
	// maxCells is how many cells a table may have, those counted that its rows
	// leave out at their ends. A larger table stays a paragraph.
	maxCells = 1 << 17
)

// tables finds the table in a paragraph: a row that is the header, a row of
// delimiters below it, one for every column, and everything after that. A row that
// is short has fewer cells, so that there are never more than the text has pipes
// and lines; one that is long has one more, with the rest of the line, which GFM
// would leave out. Only the header must not be long; as in goldmark it may be
// short, where GFM would see no table.
type tables struct{}

// Transform puts the table behind what the paragraph says before it.
func (tables) Transform(p *ast.Paragraph, reader text.Reader, _ parser.Context) {
	source, lines := reader.Source(), p.Lines()
	for i := 1; i < lines.Len(); i++ {
		alignments := delimiters(lines.At(i), source)
		if alignments == nil {
			continue
		}
		columns := len(alignments)
		header := tableCells(lines.At(i-1), source, columns)
		if len(header) > columns || columns*(lines.Len()-i) > maxCells {
			return
		}
		table := extast.NewTable()
		table.Alignments = alignments
		table.AppendChild(table, extast.NewTableHeader(newRow(header)))
		for j := i + 1; j < lines.Len(); j++ {
			table.AppendChild(table, newRow(tableCells(lines.At(j), source, columns)))
		}
		p.Parent().InsertAfter(p.Parent(), p, table)
		if lines.SetSliced(0, i-1); i == 1 {
			p.Parent().RemoveChild(p.Parent(), p)
		} else {
			last := lines.At(i - 2)
			lines.Set(i-2, last.TrimRightSpace(source))
		}
		return
	}
}

func newRow(cells []text.Segment) *extast.TableRow {
	row := extast.NewTableRow(nil)
	for _, content := range cells {
		cell := extast.NewTableCell()
		cell.Lines().Append(content)
		row.AppendChild(row, cell)
	}
	return row
}

// tableCells cuts a line at the pipes that are not escaped, into at most columns
// cells and one for the rest. No cell begins or ends with space, and the first
// columns have no pipe but behind a backslash.
func tableCells(line text.Segment, source []byte, columns int) []text.Segment {
	line = line.TrimLeftSpace(source)
	line = line.TrimRightSpace(source)
	at := line.Start
	if at < line.Stop && source[at] == '|' {
		at++
	}
	var cells []text.Segment
	for at < line.Stop && len(cells) < columns {
		end := at
		for end < line.Stop && (source[end] != '|' || source[end-1] == '\\') {
			end++
		}
		cell := text.NewSegment(at, end)
		cell = cell.TrimLeftSpace(source)
		cells = append(cells, cell.TrimRightSpace(source))
		at = end + 1
	}
	stop := line.Stop
	for at < stop && blankCell(source[at]) {
		at++
	}
	for at < stop && blankCell(source[stop-1]) && (source[stop-1] != '|' || source[stop-2] != '\\') {
		stop--
	}
	if at < stop {
		cells = append(cells, text.NewSegment(at, stop))
	}
	return cells
}

// blankCell reports whether c says nothing where nothing but cells can be.
func blankCell(c byte) bool { return c == ' ' || c == '\t' || c == '|' }

// delimiters reads a row of delimiters such as `|:-|-:|`, one a column; nil when
// the line is none or has too many.
func delimiters(line text.Segment, source []byte) []extast.Alignment {
	written := line.Value(source)
	if len(bytes.TrimLeft(written, "|:- \t\n")) > 0 || !bytes.ContainsAny(written, "|:") {
		return nil // prose, or dashes that underline
	}
	if indent, _ := util.IndentWidth(written, 0); indent > 3 {
		return nil
	}
	var alignments []extast.Alignment
	for _, cell := range tableCells(line, source, maxColumns+1) {
		dashes, left := bytes.CutPrefix(cell.Value(source), []byte(":"))
		dashes, right := bytes.CutSuffix(dashes, []byte(":"))
		if len(dashes) == 0 || len(bytes.TrimLeft(dashes, "-")) > 0 || len(alignments) == maxColumns {
			return nil
		}
		switch {
		case left && right:
			alignments = append(alignments, extast.AlignCenter)
		case left:
			alignments = append(alignments, extast.AlignLeft)
		case right:
			alignments = append(alignments, extast.AlignRight)
		default:
			alignments = append(alignments, extast.AlignNone)
		}
	}
	return alignments
}
