package elicit

import (
	"html/template"
	"strconv"
	"strings"
)

// A leaflet is a message as it stands on a page: every line of the text exactly,
// with its number beside it, where it is not a part of the text and cannot be
// selected with it.
type leaflet struct {
	Lines    string // how many, as a person reads it; empty when that is seen at once
	Cautions []string
	Long     bool // a link to the answer saves much scrolling
	Gutter   int  // digits of a line number; 0: lines are not numbered
	Leaves   []leaf
}

// A leaf is some lines of the message. Whole leaves are as tall as each other, so a
// browser can leave those out that are not on the screen.
type leaf struct {
	First int           // the number of its first line, where lines have none of their own
	HTML  template.HTML // of escaped text and elements of this file
	Whole bool
}

const (
	leafLines = 100 // lines of a whole leaf; the style knows it too
	longLines = 40

	// A browser looks at every element of the page when the focus moves on: a text of
	// more lines has a number for each leaf, and escapes beyond some are not marked.
	maxElements = 5000
)

func newLeaflet(message string) *leaflet {
	r := read(message)
	l := &leaflet{Cautions: r.cautions(), Long: r.lines > longLines}
	if r.lines > screenLines {
		l.Lines = grouped(r.lines)
	}
	if r.lines > shortLines {
		l.Gutter = len(strconv.Itoa(r.lines))
	}
	w := leafWriter{text: r.text, escapes: r.escapes[:min(len(r.escapes), maxElements)]}
	vast := r.lines > maxElements
	if vast {
		w.escapes = nil
	}
	n := 0
	for line := range strings.Lines(r.text) {
		if n++; vast {
			w.upTo(w.at + len(line))
		} else {
			w.WriteString(`<span data-n="` + strconv.Itoa(n) + `">`)
			w.upTo(w.at + len(line))
			w.WriteString("</span>")
		}
		if n%leafLines > 0 && n < r.lines {
			continue
		}
		leaf := leaf{HTML: template.HTML(w.String()), Whole: n%leafLines == 0}
		if w.Reset(); vast {
			leaf.First = (n-1)/leafLines*leafLines + 1
		}
		l.Leaves = append(l.Leaves, leaf)
	}
	return l
}

// A leafWriter writes a text as HTML.
type leafWriter struct {
	strings.Builder
	text    string
	at      int    // up to where it is written
	escapes []span // those that are still to be marked
}

// upTo writes the text up to a place, which is in no escape.
func (w *leafWriter) upTo(end int) {
	for len(w.escapes) > 0 && w.escapes[0].from < end {
		escape := w.escapes[0]
		w.escapes = w.escapes[1:]
		template.HTMLEscape(w, []byte(w.text[w.at:escape.from]))
		w.WriteString("<b>" + w.text[escape.from:escape.to] + "</b>")
		w.at = escape.to
	}
	template.HTMLEscape(w, []byte(w.text[w.at:end]))
	w.at = end
}
