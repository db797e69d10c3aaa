package audit

import (
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Text is a report for a person who reads it as text. With colour it holds the
// control sequences of bold, red and yellow, and never any other.
func Text(r Report, colour bool) string {
	p := r.page()
	w := &textWriter{colour: colour}
	w.line(w.bold(p.title))
	labels := 0
	for _, f := range p.facts {
		labels = max(labels, displaywidth.String(f.label))
	}
	for _, f := range p.facts {
		for i, line := range f.lines {
			label := ""
			if i == 0 {
				label = f.label
			}
			w.line(padded(label, labels) + "  " + shown(line))
		}
	}
	for _, t := range p.tables {
		w.table(t)
	}
	w.line("")
	w.line(w.bold("Findings") + ": " + summary(p.findings))
	for _, f := range p.findings {
		w.line(w.level(f.Level) + " " + f.Code + ": " + shown(f.Message))
		if f.Where.File != "" {
			w.line("  --> " + shown(f.Where.String()))
		}
	}
	return w.b.String()
}

type textWriter struct {
	b      strings.Builder
	colour bool
}

func (w *textWriter) line(text string) {
	w.b.WriteString(strings.TrimRight(text, " "))
	w.b.WriteByte('\n')
}

func (w *textWriter) styled(code, text string) string {
	if !w.colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (w *textWriter) bold(text string) string { return w.styled("1", text) }

func (w *textWriter) level(l Level) string {
	switch l {
	case Error:
		return w.styled("31", string(l))
	case Warning:
		return w.styled("33", string(l))
	}
	return string(l)
}

// table writes columns as wide as their widest cell. The last one is as long as it
// is.
func (w *textWriter) table(t table) {
	if len(t.rows) == 0 && t.empty == "" {
		return
	}
	w.line("")
	w.line(w.bold(t.caption))
	if len(t.rows) == 0 {
		w.line(t.empty)
		return
	}
	widths := make([]int, len(t.headers))
	for i, h := range t.headers {
		widths[i] = displaywidth.String(h)
	}
	rows := make([][]cell, len(t.rows))
	for i, row := range t.rows {
		rows[i] = make([]cell, len(row))
		for j, c := range row {
			for _, line := range c {
				text := shown(line)
				widths[j] = max(widths[j], min(displaywidth.String(text), widest))
				rows[i][j] = append(rows[i][j], text)
			}
		}
	}
	w.row(t.headers, widths)
	for _, row := range rows {
		height := 1
		for _, c := range row {
			height = max(height, len(c))
		}
		for i := range height {
			line := make([]string, len(row))
			for j, c := range row {
				if i < len(c) {
					line[j] = c[i]
				}
			}
			w.row(line, widths)
		}
	}
}

// widest is how wide one cell makes its column. A longer one moves the rest of its
// own line only, so that a table is never longer than its cells many times over.
const widest = 60

func (w *textWriter) row(cells []string, widths []int) {
	var b strings.Builder
	for i, c := range cells {
		if i > 0 {
			b.WriteString("  ")
		}
		if i < len(cells)-1 {
			c = padded(c, widths[i])
		}
		b.WriteString(c)
	}
	w.line(b.String())
}

func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(width-displaywidth.String(text), 0))
}

// plural is a number and a word.
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}
