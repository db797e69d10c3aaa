package document

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// MaxTargets is how many headings of one document are addressable.
	MaxTargets = 10_000
	// MaxTargetPath is the longest canonical target, in bytes. A heading that would
	// need a longer one, and what is below it, is not addressable.
	MaxTargetPath = 4096
)

// An outline is the headings of a document with what makes them targets.
type outline struct {
	entries  []entry
	title    int  // the heading that is no level, or none
	overflow bool // there are more than MaxTargets addressable headings
}

// An entry is one heading. Offsets are those of the source.
type entry struct {
	heading
	parent int // in entries, or none
	label  string
	path   string // empty when the heading is not addressable
}

// outline reads the headings of the whole body (language 8.2). A heading inside
// what the scan takes for a comment or a fence is none, whatever the block rules
// say: projecting it would bring inert text to life.
func (d *Document) outline() outline {
	elements := d.elementSpans()
	headings, labels := readBlocks(blank(d.Source[d.BodyOffset:], d.BodyOffset, elements))
	o := outline{entries: make([]entry, 0, len(headings))}
	inert := spanCursor{spans: d.inert}
	for _, h := range headings {
		h.start += d.BodyOffset
		h.end += d.BodyOffset
		h.paragraphEnd += d.BodyOffset
		if !inert.contains(h.start) {
			o.entries = append(o.entries, entry{heading: h, parent: none})
		}
	}
	o.setParents()
	overlap := spanCursor{spans: elements}
	targets := 0
	for i := range o.entries {
		e := &o.entries[i]
		above := ""
		if e.parent != none && e.parent != o.title {
			if above = o.entries[e.parent].path; above == "" {
				continue
			}
			above += "/"
		}
		if i == o.title || overlap.touches(e.start, e.end) || interpolates(e.text) {
			continue
		}
		text, _ := visibleText(e.text, labels)
		e.label = normalLevel(text)
		if e.label == "" || len(above)+len(e.label) > MaxTargetPath {
			continue
		}
		path := above + encodeLevel(e.label)
		if len(path) > MaxTargetPath {
			continue
		}
		if targets++; targets > MaxTargets {
			o.overflow = true
			break
		}
		e.path = path
		if overlap.touches(e.end, e.paragraphEnd) || interpolates(e.paragraph) {
			e.paragraph = ""
		} else if text, markup := visibleText(e.paragraph, labels); markup {
			e.paragraph = ""
		} else {
			e.paragraph = strings.Join(strings.Fields(text), " ")
		}
	}
	return o
}

// setParents gives every heading the nearest earlier one of smaller depth as its
// parent, and finds the title: the only heading of the smallest depth.
func (o *outline) setParents() {
	var open []int
	outermost, count := 7, 0
	o.title = none
	for i := range o.entries {
		e := &o.entries[i]
		for len(open) > 0 && o.entries[open[len(open)-1]].depth >= e.depth {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			e.parent = open[len(open)-1]
		}
		open = append(open, i)
		switch {
		case e.depth < outermost:
			outermost, count, o.title = e.depth, 1, i
		case e.depth == outermost:
			count++
		}
	}
	if count != 1 {
		o.title = none
	}
}

// elementSpans returns the ranges of the top-level elements of the whole body.
func (d *Document) elementSpans() []span {
	var spans []span
	for _, n := range d.body {
		if e, ok := n.(*Element); ok {
			spans = append(spans, span{e.Pos.Offset, e.End})
		}
	}
	return spans
}

// blank replaces the spans of a text that starts at offset by spaces, except for
// line ends.
func blank(text string, offset int, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	b := []byte(text)
	for _, s := range spans {
		for i := s.start - offset; i < s.end-offset; i++ {
			if b[i] != '\n' {
				b[i] = ' '
			}
		}
	}
	return string(b)
}

// A spanCursor answers questions about ordered spans that do not overlap.
// Questions come in ascending order.
type spanCursor struct {
	spans []span
}

// contains reports whether offset lies inside a span, its first byte excluded.
func (c *spanCursor) contains(offset int) bool {
	for len(c.spans) > 0 && c.spans[0].end <= offset {
		c.spans = c.spans[1:]
	}
	return len(c.spans) > 0 && c.spans[0].start < offset
}

// touches reports whether a span shares a byte with the range.
func (c *spanCursor) touches(start, end int) bool {
	for len(c.spans) > 0 && c.spans[0].end <= start {
		c.spans = c.spans[1:]
	}
	return len(c.spans) > 0 && c.spans[0].start < end
}

// interpolates reports whether text has an interpolation form that is not
// escaped: {meta.…}, {props.…} or names joined by dots (language 3.3, 3.4).
func interpolates(text string) bool {
	text = text[:strings.LastIndexByte(text, '}')+1]
	for i := 0; ; i++ {
		n := strings.IndexByte(text[i:], '{')
		if n < 0 {
			return false
		}
		i += n
		if i > 0 && text[i-1] == '\\' {
			continue
		}
		rest := text[i+1:]
		for _, root := range [...]string{"meta.", "props."} {
			if path, ok := strings.CutPrefix(rest, root); ok && strings.IndexByte(path, '}') > 0 {
				return true
			}
		}
		if isReference(rest) {
			return true
		}
	}
}

// isReference reports whether s starts with name} or name.name}.
func isReference(s string) bool {
	start := true
	for i := range len(s) {
		c := s[i]
		switch {
		case start && (isAlpha(c) || c == '_' || c == '$'):
			start = false
		case start:
			return false
		case c == '.':
			start = true
		case c == '}':
			return true
		case !isAlnum(c) && c != '_' && c != '$':
			return false
		}
	}
	return false
}

// normalLevel is the form in which labels are compared (language 8.3.1). A NUL is
// shown as U+FFFD, as CommonMark demands.
func normalLevel(s string) string {
	s = strings.ReplaceAll(s, "\x00", "\ufffd")
	return strings.Join(strings.Fields(norm.NFC.String(s)), " ")
}

// encodeLevel percent-encodes a label (language 8.3.2).
func encodeLevel(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if isAlnum(c) || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

// decodePercent decodes percent-encoding. ok is false for a bad escape, for NUL
// and for what is no UTF-8 afterwards.
func decodePercent(s string) (text string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if i+2 >= len(s) {
				return "", false
			}
			high, low := hexValue(s[i+1]), hexValue(s[i+2])
			if high < 0 || low < 0 {
				return "", false
			}
			c = byte(high<<4 | low)
			i += 2
		}
		if c == 0 {
			return "", false
		}
		b.WriteByte(c)
	}
	return b.String(), utf8.ValidString(b.String())
}

func hexValue(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
