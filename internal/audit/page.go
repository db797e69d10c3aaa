package audit

import (
	"strings"

	"github.com/executable-markdown/xmd/internal/elicit"
)

// A page is a report laid out: what text and HTML show. Every string in it may come
// out of what was read; whoever writes the page shows each line through shown.
type page struct {
	title    string
	facts    []fact
	tables   []table
	findings []Finding
}

// A fact is a label and what it says, in lines.
type fact struct {
	label string
	lines []string
}

// A table is a caption, a header for each column, and rows. Without rows it says
// what empty says, or is left out.
type table struct {
	caption string
	headers []string
	rows    [][]cell
	empty   string
}

// A cell is lines of text.
type cell []string

func one(text string) cell { return cell{text} }

// shown is text that is not ours as every report shows it: on one line, with every
// character that moves, hides or reorders others written out.
func shown(text string) string {
	text = elicit.Visible(text)
	if strings.ContainsAny(text, "\n\t") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\n", `\n`), "\t", `\t`)
	}
	return text
}

// maxShown is how many bytes of a long text a page shows.
const maxShown = 300

// brief is the beginning of a text.
func brief(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}

// summary says how many findings of each level there are.
func summary(found []Finding) string {
	if len(found) == 0 {
		return "nothing found"
	}
	counts := map[Level]int{}
	for _, f := range found {
		counts[f.Level]++
	}
	var parts []string
	for _, level := range [...]Level{Error, Warning, Note} {
		if n := counts[level]; n > 0 {
			parts = append(parts, plural(n, string(level)))
		}
	}
	return strings.Join(parts, ", ")
}
