package document

import (
	"fmt"
	"math"
	"strings"

	"github.com/executable-markdown/xmd/internal/value"
)

// A Position is a place in a source. Source and Generated exclude each other; a
// position with neither belongs to text no file holds. Offset counts UTF-8 bytes
// from 0 in the original source, frontmatter included; Line counts from 1; Column
// counts UTF-16 code units from 1 (language 1.15).
type Position struct {
	Source    string
	Generated string
	Offset    int
	Line      int
	Column    int
}

// IsZero reports whether p names no place.
func (p Position) IsZero() bool { return p.Line == 0 }

// String is "source:line:column", without the source where there is none.
func (p Position) String() string {
	if p.IsZero() {
		return ""
	}
	name := p.Source
	if name == "" {
		name = p.Generated
	}
	if name == "" {
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("%s:%d:%d", name, p.Line, p.Column)
}

// JSON is the position as records and reports write it: {path?, generatedSource?,
// offset, line, column}.
func (p Position) JSON() *value.Object {
	o := value.NewObject(4)
	if p.Source != "" {
		o.Set("path", p.Source)
	}
	if p.Generated != "" {
		o.Set("generatedSource", p.Generated)
	}
	o.Set("offset", float64(p.Offset))
	o.Set("line", float64(p.Line))
	o.Set("column", float64(p.Column))
	return o
}

// ParsePosition reads what JSON writes, and nothing else. member is the one at
// fault, empty when it is the whole; reason repeats no byte of v.
func ParsePosition(v any) (p Position, member, reason string) {
	o, ok := v.(*value.Object)
	if !ok {
		return p, "", "not an object"
	}
	for _, name := range [...]string{"offset", "line", "column"} {
		if !o.Has(name) {
			return p, name, "missing"
		}
	}
	for name, v := range o.All() {
		ok := false
		switch name {
		case "path":
			p.Source, ok = v.(string)
			ok = ok && p.Source != ""
		case "generatedSource":
			p.Generated, ok = v.(string)
			ok = ok && p.Generated != ""
		case "offset":
			p.Offset, ok = count(v, 0)
		case "line":
			p.Line, ok = count(v, 1)
		case "column":
			p.Column, ok = count(v, 1)
		default:
			return p, "*", "unknown member"
		}
		if !ok {
			return p, name, "not a value of its kind"
		}
	}
	if p.Source != "" && p.Generated != "" {
		return p, "", "two sources"
	}
	return p, "", ""
}

func count(v any, least float64) (int, bool) {
	f, ok := v.(float64)
	if !ok || !value.IsInteger(f) || f < least || f > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
}

// LineText returns the line of a source that holds the byte offset, without its
// line end, and the place of the offset in it, in bytes from 0. An offset outside
// the source means the nearest one inside; a place never lies behind the line.
func LineText(source string, offset int) (line string, column int) {
	offset = min(max(offset, 0), len(source))
	start := strings.LastIndexByte(source[:offset], '\n') + 1
	line, _, _ = strings.Cut(source[start:], "\n")
	line = strings.TrimSuffix(line, "\r")
	return line, min(offset-start, len(line))
}

// position is the position of one byte offset.
func (d *Document) position(offset int) Position {
	t := tracker{name: d.Name, src: d.Source, line: 1, column: 1}
	return t.at(offset)
}

// Positions are the positions of ascending offsets in a generated text that was
// admitted under id. It reads the text once.
func Positions(id, source string, offsets []int) []Position {
	t := tracker{src: source, line: 1, column: 1}
	positions := make([]Position, len(offsets))
	for i, offset := range offsets {
		positions[i] = t.at(offset)
		positions[i].Generated = id
	}
	return positions
}

// A tracker turns offsets into positions. It remembers the last one, so asking in
// ascending order costs one walk over the source in all, whatever the length of
// its lines.
type tracker struct {
	name         string
	src          string
	offset       int
	line, column int
}

// at returns the position of an offset not before the last one asked for.
func (t *tracker) at(offset int) Position {
	passed := t.src[t.offset:offset]
	if n := strings.Count(passed, "\n"); n > 0 {
		t.line += n
		t.column = 1
		passed = passed[strings.LastIndexByte(passed, '\n')+1:]
	}
	t.column += utf16Len(passed)
	t.offset = offset
	return Position{Source: t.name, Offset: offset, Line: t.line, Column: t.column}
}

// utf16Len counts the UTF-16 code units of s. Bytes that are not UTF-8 count as
// one unit each.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
