package ecma

import (
	"math"
	"strings"

	"github.com/executable-markdown/xmd/internal/value"
)

// JSONText is v as <Json> writes it: JSON text indented by two spaces a level, an
// empty array or object in two characters, nothing escaped that JSON does not
// require but lone surrogates, which are written \udxxx. What JSON cannot say is
// left out or null as in ToJSON. The text is valid UTF-8. The error is a *TypeError
// for undefined, which has no JSON text, or a *LimitError for a text longer than
// l.Value, of which then no more than that was made.
func JSONText(v Value, l Limits) (string, error) {
	if _, absent := v.(Undefined); absent || v == nil {
		return "", typeError("undefined has no JSON text: give a value, or null")
	}
	w := writer{room: l.Value}
	w.value(v, 0)
	if w.room < 0 {
		return "", &LimitError{Bound: "value"}
	}
	return w.text.String(), nil
}

// A writer collects text until there is no room for a piece; from then on room is
// negative and nothing is collected.
type writer struct {
	text strings.Builder
	room int
}

func (w *writer) add(s string) {
	if w.room -= len(s); w.room < 0 {
		w.room = -1
		return
	}
	w.text.WriteString(s)
}

// line begins a line so many levels inside.
func (w *writer) line(depth int) {
	w.add("\n")
	for range depth {
		w.add("  ")
	}
}

func (w *writer) value(v Value, depth int) {
	if w.room < 0 {
		return
	}
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			w.add("null")
		} else {
			w.add(value.FormatNumber(v))
		}
	case bool:
		w.add(string(toString(v)))
	case String:
		w.quote(v)
	case *Array:
		w.array(v, depth)
	case *Object:
		w.object(v, depth)
	default: // null, and undefined in an array
		w.add("null")
	}
}

func (w *writer) array(a *Array, depth int) {
	w.add("[")
	for i, e := range a.elements {
		if i > 0 {
			w.add(",")
		}
		w.line(depth + 1)
		w.value(e, depth+1)
	}
	if len(a.elements) > 0 {
		w.line(depth)
	}
	w.add("]")
}

func (w *writer) object(o *Object, depth int) {
	w.add("{")
	first := true
	for name, v := range o.All() {
		if _, absent := v.(Undefined); absent || v == nil {
			continue
		}
		if !first {
			w.add(",")
		}
		first = false
		w.line(depth + 1)
		w.quote(String(name))
		w.add(": ")
		w.value(v, depth+1)
	}
	if !first {
		w.line(depth)
	}
	w.add("}")
}

// quote writes a string.
func (w *writer) quote(s String) {
	w.add(`"`)
	rest := string(s)
	for rest != "" && w.room >= 0 {
		plain := 0
		for plain < len(rest) && rest[plain] >= ' ' && rest[plain] != '"' && rest[plain] != '\\' && rest[plain] != 0xed {
			plain++
		}
		w.add(rest[:plain])
		if rest = rest[plain:]; rest == "" {
			break
		}
		r, n := decode(rest)
		w.add(escaped(r, rest[:n]))
		rest = rest[n:]
	}
	w.add(`"`)
}

// escaped returns the character r, written s, as it stands in JSON text.
func escaped(r rune, s string) string {
	if i := strings.IndexRune("\"\\\b\f\n\r\t", r); i >= 0 {
		return `\` + `"\bfnrt`[i:i+1]
	}
	if r >= ' ' && !isHalf(r) {
		return s
	}
	const hex = "0123456789abcdef"
	return `\u` + string([]byte{hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15]})
}
