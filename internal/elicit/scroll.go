package elicit

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"
)

const (
	shortLines  = 10   // more are numbered
	screenLines = 20   // more push their begin off a small screen
	backLines   = 1000 // more may be dropped from what a terminal can scroll back to
	usualWidth  = 80   // columns, where nobody knows
	leastWidth  = 10   // columns of text, however narrow the terminal is
)

// A scroll is a text on its way to a terminal. It stays there when the question is
// answered, and a person scrolls back to read it. No part of it can pass for
// anything the package itself says: a text of more than one row has a bar before
// each, solid where a line begins and broken where one goes on, and nothing else
// has.
type scroll struct {
	strings.Builder
	of     *reading
	width  int // columns of the terminal
	ascii  bool
	styled bool

	numbers int    // columns of a line number; 0: lines are not numbered
	escapes []span // those that were not written yet
	column  int    // of the line, in columns of its text
}

// unroll is a message as it is written on the terminal, with what there is to be
// said about it, and an empty line after it. A long message has that said before it
// and after it.
func (t *Terminal) unroll(message string) string {
	r := read(message)
	s := &scroll{of: r, width: width(t.out), ascii: t.Plain, styled: !t.Plain && !t.NoColor, escapes: r.escapes}
	cautions := r.cautions()
	switch {
	case r.lines > backLines:
		cautions = append(cautions, "A terminal may not keep that many lines to scroll back to.")
		fallthrough
	case r.lines > screenLines:
		cautions = append([]string{"The question has " + grouped(r.lines) + " lines."}, cautions...)
	}
	s.remark(cautions)
	s.message()
	s.WriteByte('\n')
	if r.lines > screenLines {
		s.remark(cautions)
	}
	return s.String()
}

// remark writes sentences of the package itself, an empty line after them.
func (s *scroll) remark(sentences []string) {
	for _, sentence := range sentences {
		used := 0
		if s.styled {
			s.WriteString("\x1b[1m")
		}
		for word := range strings.FieldsSeq(sentence) {
			switch {
			case used == 0:
			case used+1+len(word) > s.width:
				s.WriteByte('\n')
				used = 0
			default:
				s.WriteByte(' ')
				used++
			}
			s.WriteString(word)
			used += len(word)
		}
		if s.styled {
			s.WriteString("\x1b[22m")
		}
		s.WriteByte('\n')
	}
	if len(sentences) > 0 {
		s.WriteByte('\n')
	}
}

// message writes the text.
func (s *scroll) message() {
	text := s.of.text
	if s.of.lines <= 1 && s.fits(strings.TrimSuffix(text, "\n")) {
		s.part(0, len(text))
		s.WriteByte('\n')
		return
	}
	if s.of.lines > shortLines {
		s.numbers = len(strconv.Itoa(s.of.lines))
	}
	at, n := 0, 0
	for line := range strings.Lines(text) {
		n++
		s.line(n, at, at+len(strings.TrimSuffix(line, "\n")))
		at += len(line)
	}
}

// line writes the line of a number as rows. One ends after the last blank that fits,
// or inside a word if that left more than half of it empty; every character of the
// line is in one of them.
func (s *scroll) line(n, from, to int) {
	limit := max(s.width-s.gutterWidth(), leastWidth)
	s.gutter(n)
	s.column = 0
	start, used, column := from, 0, 0 // of the row under way: its begin, its columns; the columns of the line
	cut, usedAtCut := from, 0         // where it could end
	for i, c := range s.of.text[from:to] {
		i += from
		w := columns(c, column)
		if used+w > limit && i > start {
			if usedAtCut <= limit/2 {
				cut, usedAtCut = i, used
			}
			s.part(start, cut)
			s.gutter(0)
			start, used, usedAtCut = cut, used-usedAtCut, 0
		}
		used += w
		column += w
		if c == ' ' || c == '\t' {
			cut, usedAtCut = i+1, used
		}
	}
	s.part(start, to)
	s.WriteByte('\n')
}

func (s *scroll) gutterWidth() int {
	if s.numbers == 0 {
		return 2
	}
	return s.numbers + 3
}

// gutter begins a row: of the line of a number, or, for 0, one that goes on.
func (s *scroll) gutter(n int) {
	bar := "│ "
	switch {
	case n == 0 && s.ascii:
		bar = ": "
	case n == 0:
		bar = "┆ "
	case s.ascii:
		bar = "| "
	}
	if n == 0 {
		s.WriteByte('\n')
	}
	if s.styled {
		s.WriteString("\x1b[2m")
	}
	switch {
	case s.numbers > 0 && n > 0:
		fmt.Fprintf(s, "%*d ", s.numbers, n)
	case s.numbers > 0:
		fmt.Fprintf(s, "%*s ", s.numbers, "")
	}
	s.WriteString(bar)
	if s.styled {
		s.WriteString("\x1b[22m")
	}
}

// part writes a part of one line, its escapes in reverse and its tabs as blanks.
func (s *scroll) part(from, to int) {
	for from < to {
		end, escaped := to, false
		if len(s.escapes) > 0 {
			next := s.escapes[0]
			if escaped = next.from <= from; !escaped {
				end = min(to, next.from)
			} else if end = min(to, next.to); end == next.to {
				s.escapes = s.escapes[1:]
			}
		}
		if escaped && s.styled {
			s.WriteString("\x1b[7m")
		}
		for _, c := range s.of.text[from:end] {
			w := columns(c, s.column)
			if c == '\t' {
				s.WriteString("    "[:w])
			} else {
				s.WriteRune(c)
			}
			s.column += w
		}
		if escaped && s.styled {
			s.WriteString("\x1b[27m")
		}
		from = end
	}
}

// columns is how many columns a character takes that stands in a column of its line.
// Characters terminals do not agree on count as wide, so that no row is wider than
// it should be.
func columns(c rune, column int) int {
	switch {
	case c == '\t':
		return tabStop - column%tabStop
	case c < utf8.RuneSelf:
		return 1
	case c > 0xffff:
		return 2
	}
	return displaywidth.Rune(c)
}

// fits reports whether a line has room in one row without a gutter.
func (s *scroll) fits(line string) bool {
	column := 0
	for _, c := range line {
		if column += columns(c, column); column > s.width {
			return false
		}
	}
	return true
}

// width is how many columns a terminal has.
func width(out io.Writer) int {
	if file, ok := out.(interface{ Fd() uintptr }); ok {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return usualWidth
}
