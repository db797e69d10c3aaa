package elicit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A reading is a text as a person is shown it. Nothing is left out of it and nothing
// in it is only apparent: what a screen would hide or obey, what passes for something
// else and what would cover its neighbours is written as escapes, and what a reader
// may miss in a long text is said beside it. The text itself, which is what is
// approved, stays with whoever asked.
type reading struct {
	text    string // what is shown
	escapes []span // the parts of it that were written as escapes, in order
	lines   int

	counts [reasons]int    // of escapes
	sample [reasons]string // the first of them
}

// A span is a part of a text, in bytes.
type span struct{ from, to int }

// A reason is why a character is written as an escape.
type reason uint8

const (
	hiding    reason = iota // it would not be seen, or be obeyed
	imitating               // it passes for another
	sprawling               // it reaches over its neighbours
	reasons
)

// read makes a reading. It takes time and memory in proportion to the text.
func read(text string) *reading {
	r := reveal(text)
	if strings.IndexFunc(r.text, notASCII) >= 0 {
		r = newProof(r).run()
	}
	r.lines = strings.Count(r.text, "\n")
	if r.text != "" && !strings.HasSuffix(r.text, "\n") {
		r.lines++
	}
	return r
}

func notASCII(r rune) bool { return r >= utf8.RuneSelf }

// legible is a text that needs nothing said beside it, as it is shown.
func legible(text string) string { return read(text).text }

// reveal writes out what is hidden.
func reveal(text string) *reading {
	r := &reading{text: text}
	if Visible(text) == text {
		return r
	}
	w := writing{of: r}
	w.Grow(len(text) + 16)
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		if isHidden(c) {
			w.escape(hiding, c, text[i:i+size])
		} else {
			w.WriteString(text[i : i+size])
		}
		i += size
	}
	r.text = w.String()
	return r
}

// A writing is a reading under way.
type writing struct {
	strings.Builder
	of *reading
}

// escape writes a character, which text is encoded as, as an escape.
func (w *writing) escape(why reason, c rune, text string) {
	from := w.Len()
	writeEscape(&w.Builder, c, text)
	w.of.escapes = append(w.of.escapes, span{from, w.Len()})
	if w.of.counts[why]++; w.of.counts[why] == 1 {
		w.of.sample[why] = w.String()[from:]
	}
}

// A gap is lines that say nothing new: they are empty or nearly so, or like the line
// before.
type gap struct{ first, last int }

const (
	gapLines  = 10  // fewer in a row are nothing to speak of
	gapBlanks = 100 // columns of blanks in a row that are, before more text of a line
	scant     = 2   // characters that make a line nearly empty
	tabStop   = 4
)

// cautions are sentences about what a reader may miss.
func (r *reading) cautions() []string {
	var list []string
	for why, said := range [reasons]string{
		hiding:    "would not be seen, or would rearrange what is",
		imitating: "would pass for something else",
		sprawling: "would reach over what is beside them",
	} {
		if n := r.counts[why]; n > 0 {
			list = append(list, fmt.Sprintf("Written as escapes because they %s: %s, such as %s.", said, plural(n, "character"), r.sample[why]))
		}
	}
	if n, first := r.leftward(); n > 0 {
		list = append(list, fmt.Sprintf("On %s, first on line %s, there are letters written from right to left; a screen may show what is beside them in another order.", plural(n, "line"), grouped(first)))
	}
	gaps, longest, line, blanks := r.gaps()
	if gaps > 0 {
		text := fmt.Sprintf("Lines %s to %s say nothing new: they are empty, nearly empty or like the line before. The text goes on below them.", grouped(longest.first), grouped(longest.last))
		if gaps > 1 {
			text += fmt.Sprintf(" It is the longest of %s such gaps.", grouped(gaps))
		}
		list = append(list, text)
	}
	if line > 0 {
		list = append(list, fmt.Sprintf("Line %s has %s columns of blanks in a row, and more text behind them.", grouped(line), grouped(blanks)))
	}
	return list
}

// leftward counts the lines with letters that are written from right to left, and
// says which is the first.
func (r *reading) leftward() (count, first int) {
	n := 0
	for line := range strings.Lines(r.text) {
		if n++; strings.IndexFunc(line, isLeftward) < 0 {
			continue
		}
		if count++; count == 1 {
			first = n
		}
	}
	return count, first
}

// isLeftward reports whether a character is in a block of a right-to-left script.
func isLeftward(c rune) bool {
	return c >= 0x590 && (c <= 0x8ff || 0xfb1d <= c && c <= 0xfdff || 0xfe70 <= c && c <= 0xfeff ||
		0x10800 <= c && c <= 0x10fff || 0x1e800 <= c && c <= 0x1efff)
}

// gaps finds what pads the text: how many gaps it goes on after and the longest of
// them, and the line with the most blanks inside it; 0 where there is none.
func (r *reading) gaps() (count int, longest gap, line, blanks int) {
	var open gap
	n, before := 0, ""
	for text := range strings.Lines(r.text) {
		n++
		text = strings.TrimSuffix(text, "\n")
		filled, widest := measure(text)
		if widest >= gapBlanks && widest > blanks {
			line, blanks = n, widest
		}
		if filled > scant && (n == 1 || text != before) {
			if open.first > 0 && n-open.first >= gapLines {
				count++
				if n-open.first > longest.last-longest.first+1 || count == 1 {
					longest = gap{open.first, n - 1}
				}
			}
			open = gap{}
		} else if open.first == 0 {
			open.first = n
		}
		before = text
	}
	return count, longest, line, blanks
}

// measure counts the characters of a line that are no blanks, and the columns of the
// widest run of blanks that has some of them behind it.
func measure(line string) (filled, widest int) {
	run := 0
	for _, c := range line {
		switch c {
		case ' ':
			run++
		case '\t':
			run += tabStop
		default:
			filled++
			widest = max(widest, run)
			run = 0
		}
	}
	return filled, widest
}

// plural writes a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return grouped(n) + " " + thing + "s"
}

// grouped writes a number with its thousands apart.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
