package termdown

import (
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// A style is a set of properties of shown text.
type style uint8

const (
	bold style = 1 << iota
	faint
	italic
	underline
	strike
	red
	cyan
)

// on returns the control sequence that starts the style.
func (s style) on() string {
	codes := []string{}
	for i, code := range []string{"1", "2", "3", "4", "9", "31", "36"} {
		if s&(1<<i) != 0 {
			codes = append(codes, code)
		}
	}
	return "\x1b[" + strings.Join(codes, ";") + "m"
}

// A cell is one character as a reader sees it, or a line feed.
type cell struct {
	text  string
	width int // columns
	style style
	link  string // where a click leads, "" for nowhere
}

// A row is a text on its way to the screen.
type row []cell

// add appends text, escaped. A tab fills up to a multiple of four columns.
func (r *row) add(text string, s style, link string) {
	*r = slices.Grow(*r, len(text))
	column := 0
	for g := displaywidth.StringGraphemes(visible(text)); g.Next(); {
		c := cell{g.Value(), g.Width(), s, link}
		switch c.text {
		case "\n":
			c.width, column = 0, 0
		case "\t":
			c.width = 4 - column%4
			c.text = "    "[:c.width]
		}
		column += c.width
		*r = append(*r, c)
	}
}

func (r row) width() int {
	w := 0
	for _, c := range r {
		w += c.width
	}
	return w
}

// lines cuts r at its line feeds.
func (r row) lines() []row {
	var all []row
	start := 0
	for i, c := range r {
		if c.text == "\n" {
			all = append(all, r[start:i])
			start = i + 1
		}
	}
	return append(all, r[start:])
}

// wrap cuts r into lines of at most first columns for the first and rest for the
// others, where 0 means any number: at spaces, beside wide characters, and inside
// a word that fits no line. The spaces at a cut are left out.
func (r row) wrap(first, rest int) []row {
	var all []row
	for _, line := range r.lines() {
		all = append(all, line.fold(first, rest)...)
		first = rest
	}
	return all
}

// fold wraps a row that has no line feed.
func (r row) fold(limit, rest int) []row {
	var all []row
	start, used, cut := 0, 0, 0 // of the current line: its begin, its width, the last good end
	for i := 0; i < len(r); i++ {
		if i > start && r.breakable(i) {
			cut = i
		}
		for limit > 0 && i > start && used+r[i].width > limit && !r[i].space() {
			if cut <= start {
				cut = i
			}
			all = append(all, r[start:cut].trimmed())
			limit = rest
			for start = cut; start < i && r[start].space(); start++ {
			}
			used = r[start:i].width()
		}
		used += r[i].width
	}
	return append(all, r[start:].trimmed())
}

func (c cell) space() bool { return c.text == " " }

// breakable reports whether a line may end before cell i: after a space, or beside
// a wide character unless punctuation holds the two together.
func (r row) breakable(i int) bool {
	before, after := r[i-1], r[i]
	if before.space() {
		return !after.space()
	}
	return (before.width > 1 || after.width > 1) &&
		!strings.Contains("(（「『【《〈“‘", before.text) &&
		!strings.Contains(")）」』】》〉”’、。，．：；！？,.:;!?", after.text)
}

// trimmed leaves out the spaces at the end of a line.
func (r row) trimmed() row {
	for len(r) > 0 && r[len(r)-1].space() {
		r = r[:len(r)-1]
	}
	return r
}

// string writes r out, with control sequences where o allows them.
func (r row) string(o Options) string {
	var b strings.Builder
	for i := 0; i < len(r); {
		run := r[i]
		linked := o.Color && o.Hyperlinks && run.link != ""
		if linked {
			b.WriteString("\x1b]8;;" + run.link + "\x1b\\")
		}
		if o.Color && run.style != 0 {
			b.WriteString(run.style.on())
		}
		for ; i < len(r) && r[i].style == run.style && r[i].link == run.link; i++ {
			b.WriteString(r[i].text)
		}
		if o.Color && run.style != 0 {
			b.WriteString("\x1b[0m")
		}
		if linked {
			b.WriteString("\x1b]8;;\x1b\\")
		}
	}
	return b.String()
}
