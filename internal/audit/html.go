package audit

import (
	_ "embed"
	"html/template"
	"strings"
)

//go:embed page.html
var pageTemplate string

// HTML is a report as one page that needs nothing beside it: no script, no image, no
// font, and a policy that lets it load none. It reads on a phone and in the dark, and
// its tables have captions and headers for whoever does not see them.
func HTML(r Report) (string, error) {
	p := r.page()
	view := pageView{Title: p.title, Summary: summary(p.findings)}
	for _, f := range p.facts {
		view.Facts = append(view.Facts, factView{f.label, shownLines(f.lines)})
	}
	for _, t := range p.tables {
		if len(t.rows) == 0 && t.empty == "" {
			continue
		}
		v := tableView{Caption: t.caption, Headers: t.headers, Empty: t.empty}
		for _, row := range t.rows {
			cells := make([]cellView, len(row))
			for i, c := range row {
				cells[i] = newCell(t.headers[i], c)
			}
			v.Rows = append(v.Rows, cells)
		}
		view.Tables = append(view.Tables, v)
	}
	for _, f := range p.findings {
		view.Findings = append(view.Findings, findingView{string(f.Level), f.Code, shown(f.Message), shown(f.Where.String())})
	}
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, view)
	return b.String(), err
}

type pageView struct {
	Title, Summary string
	Facts          []factView
	Tables         []tableView
	Findings       []findingView
}

type factView struct {
	Label string
	Lines []string
}

type tableView struct {
	Caption string
	Headers []string
	Rows    [][]cellView
	Empty   string
}

type cellView struct {
	Header string
	Lines  []string
	Short  bool // its lines are never broken where there is room
}

// shortLine is the longest line that a wide page never breaks, in bytes.
const shortLine = 28

func newCell(header string, c cell) cellView {
	v := cellView{Header: header, Short: true}
	for _, line := range shownLines(c) {
		if line != "" {
			v.Lines = append(v.Lines, line)
			v.Short = v.Short && len(line) <= shortLine
		}
	}
	return v
}

type findingView struct{ Level, Code, Message, Where string }

func shownLines(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = shown(line)
	}
	return out
}
