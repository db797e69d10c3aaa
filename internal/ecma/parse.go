package ecma

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseJSON reads JSON text the way ECMAScript does and returns a sealed value of
// its own: \udxxx may stand alone, -0 stays negative, of two members with one name
// the last counts in the place of the first, __proto__ is a name like any other.
// Text that is not JSON or not UTF-8, and a number out of range, is a *SyntaxError;
// the other error is *LimitError.
func ParseJSON(text string, l Limits) (Value, error) {
	if !utf8.ValidString(text) {
		return nil, &SyntaxError{Reason: "the text is not UTF-8"}
	}
	p := parser{text: text, limits: l}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.text) {
		return nil, p.fail("text after the value")
	}
	return v, nil
}

// A SyntaxError is text that ParseJSON cannot read. It quotes nothing of it.
type SyntaxError struct {
	Offset int // in bytes
	Reason string
}

func (e *SyntaxError) Error() string {
	return "not JSON at byte " + strconv.Itoa(e.Offset) + ": " + e.Reason
}

// A parser reads one text from left to right.
type parser struct {
	text   string
	at     int
	limits Limits
}

func (p *parser) fail(reason string) error { return &SyntaxError{Offset: p.at, Reason: reason} }

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n\r", p.text[p.at]) >= 0 {
		p.at++
	}
}

// take reads c, after white space, if it is next.
func (p *parser) take(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// value reads a value inside so many others.
func (p *parser) value(depth int) (Value, error) {
	p.space()
	if p.at == len(p.text) {
		return nil, p.fail("a value is missing")
	}
	switch c := p.text[p.at]; c {
	case '[', '{':
		if depth >= p.limits.Depth {
			return nil, &LimitError{Bound: "depth"}
		}
		p.at++
		if c == '[' {
			return p.array(depth)
		}
		return p.object(depth)
	case '"':
		s, err := p.string()
		if err != nil {
			return nil, err
		}
		if len(s) > p.limits.Value {
			return nil, &LimitError{Bound: "value"}
		}
		return s, nil
	case 'n':
		return p.word("null", Null{})
	case 't':
		return p.word("true", true)
	case 'f':
		return p.word("false", false)
	}
	return p.number()
}

func (p *parser) word(word string, v Value) (Value, error) {
	if !strings.HasPrefix(p.text[p.at:], word) {
		return nil, p.fail("no such value")
	}
	p.at += len(word)
	return v, nil
}

func (p *parser) array(depth int) (Value, error) {
	a := NewArray()
	for first := true; !p.take(']'); first = false {
		if !first && !p.take(',') {
			return nil, p.fail("a comma or ] is missing")
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if err := a.Append(v, p.limits); err != nil {
			return nil, err
		}
	}
	Seal(a)
	return a, nil
}

func (p *parser) object(depth int) (Value, error) {
	o := NewObject()
	for first := true; !p.take('}'); first = false {
		if !first && !p.take(',') {
			return nil, p.fail("a comma or } is missing")
		}
		if p.space(); p.at == len(p.text) || p.text[p.at] != '"' {
			return nil, p.fail("a member name is missing")
		}
		name, err := p.string()
		if err != nil {
			return nil, err
		}
		if !p.take(':') {
			return nil, p.fail("a colon is missing")
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if err := o.Set(string(name), v, p.limits); err != nil {
			return nil, err
		}
	}
	Seal(o)
	return o, nil
}

// string reads a string; its quote is next.
func (p *parser) string() (String, error) {
	p.at++
	plain := p.at
	var dst []byte
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			if dst == nil {
				return String(p.text[plain : p.at-1]), nil
			}
			return String(append(dst, p.text[plain:p.at-1]...)), nil
		case c < ' ':
			return "", p.fail("a control character in a string")
		case c == '\\':
			dst = append(dst, p.text[plain:p.at]...)
			unit, err := p.escape()
			if err != nil {
				return "", err
			}
			dst = appendUnit(dst, unit)
			plain = p.at
		default:
			p.at++
		}
	}
	return "", p.fail("a string has no end")
}

// escape reads one escape; its backslash is next.
func (p *parser) escape() (rune, error) {
	rest := p.text[p.at:]
	if len(rest) >= 2 {
		if i := strings.IndexByte(`"\/bfnrt`, rest[1]); i >= 0 {
			p.at += 2
			return rune("\"\\/\b\f\n\r\t"[i]), nil
		}
	}
	if len(rest) < 6 || rest[1] != 'u' {
		return 0, p.fail("no such escape")
	}
	unit := 0
	for _, c := range []byte(rest[2:6]) {
		d := digit(c)
		if d > 15 {
			return 0, p.fail("no such escape")
		}
		unit = unit<<4 | d
	}
	p.at += 6
	return rune(unit), nil
}

func (p *parser) number() (Value, error) {
	rest := p.text[p.at:]
	end := 0
	for end < len(rest) && (digit(rest[end]) < 10 || strings.IndexByte("+-.eE", rest[end]) >= 0) {
		end++
	}
	if !isJSONNumber(rest[:end]) {
		return nil, p.fail("no such value")
	}
	f, err := strconv.ParseFloat(rest[:end], 64)
	if err != nil {
		return nil, p.fail("a number out of range")
	}
	p.at += end
	return f, nil
}

// isJSONNumber reports whether s is a number of JSON: no sign but -, no digit left
// out, no zero in front.
func isJSONNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := countDigits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if s != "" && s[0] == '.' {
		fraction := countDigits(s[1:])
		if fraction == 0 {
			return false
		}
		s = s[1+fraction:]
	}
	return s == "" || isExponent(s)
}
