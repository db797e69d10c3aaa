package ecma

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A String is text in UTF-8 in which half of a surrogate pair that stands alone is
// written as the three bytes its code point would have. Halves that stand side by
// side are always joined, so equal strings are equal bytes.
//
// Converting a Go string to String is right only when it is valid UTF-8; [FromText]
// is for the rest.
type String string

// FromText makes a string of s, with U+FFFD for every byte that is not UTF-8.
func FromText(s string) String {
	if utf8.ValidString(s) {
		return String(s)
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return String(b.String())
}

// Text returns the string as valid UTF-8 of the same length: U+FFFD stands for a
// lone half.
func (s String) Text() string {
	if utf8.ValidString(string(s)) {
		return string(s)
	}
	var b strings.Builder
	for rest := string(s); rest != ""; {
		r, n := decode(rest)
		if isHalf(r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
		rest = rest[n:]
	}
	return b.String()
}

// Length returns the number of UTF-16 units.
func (s String) Length() int {
	n := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0x80 || 0xc0 <= c && c < 0xf0:
			n++
		case c >= 0xf0:
			n += 2
		}
	}
	return n
}

// at returns the unit at i as a string.
func (s String) at(i int) (String, bool) {
	if i >= len(s) {
		return "", false
	}
	u := units{rest: string(s)}
	for ; i > 0; i-- {
		if u.next() < 0 {
			return "", false
		}
	}
	unit := u.next()
	if unit < 0 {
		return "", false
	}
	return String(appendUnit(nil, unit)), true
}

// TrimEnd removes white space and line ends after the text.
func (s String) TrimEnd() String { return String(strings.TrimRightFunc(string(s), isSpace)) }

// Trim removes white space and line ends around the text.
func (s String) Trim() String { return String(strings.TrimFunc(string(s), isSpace)) }

// isSpace reports whether r is white space or a line end of ECMAScript.
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
		return true
	}
	return 0x2000 <= r && r <= 0x200a
}

// concat joins two strings, and the halves that meet.
func concat(a, b String) String {
	if endsHigh(a) && startsLow(b) {
		high, _ := decode(string(a[len(a)-3:]))
		low, _ := decode(string(b))
		return a[:len(a)-3] + String(utf16.DecodeRune(high, low)) + b[3:]
	}
	return a + b
}

func endsHigh[T ~string | ~[]byte](s T) bool {
	n := len(s)
	return n >= 3 && s[n-3] == 0xed && 0xa0 <= s[n-2] && s[n-2] < 0xb0
}

func startsLow(s String) bool { return len(s) >= 3 && s[0] == 0xed && 0xb0 <= s[1] && s[1] < 0xc0 }

// compare orders two strings by their UTF-16 units: -1, 0 or 1.
func compare(a, b String) int {
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	for same > 0 && (same < len(a) && continues(a[same]) || same < len(b) && continues(b[same])) {
		same-- // to the start of the character they differ in
	}
	x, y := units{rest: string(a[same:])}, units{rest: string(b[same:])}
	for {
		switch u, v := x.next(), y.next(); {
		case u < v:
			return -1
		case u > v:
			return 1
		case u < 0:
			return 0
		}
	}
}

func continues(c byte) bool { return c&0xc0 == 0x80 }

// units yields the UTF-16 units of a string, then -1.
type units struct {
	rest string
	low  rune // the second half of the character before rest, or 0
}

func (u *units) next() rune {
	if low := u.low; low != 0 {
		u.low = 0
		return low
	}
	if u.rest == "" {
		return -1
	}
	r, n := decode(u.rest)
	u.rest = u.rest[n:]
	if r > 0xffff {
		r, u.low = utf16.EncodeRune(r)
	}
	return r
}

// decode reads the first character of s, which is not empty; a half is one.
func decode(s string) (rune, int) {
	if len(s) >= 3 && s[0] == 0xed && 0xa0 <= s[1] && s[1] < 0xc0 && continues(s[2]) {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return utf8.DecodeRuneInString(s)
}

func isHalf(r rune) bool { return 0xd800 <= r && r < 0xe000 }

// appendUnit appends one unit to dst and joins it with a half before it.
func appendUnit(dst []byte, unit rune) []byte {
	if !isHalf(unit) {
		return utf8.AppendRune(dst, unit)
	}
	if unit >= 0xdc00 && endsHigh(dst) {
		n := len(dst) - 3
		high, _ := decode(string(dst[n:]))
		return utf8.AppendRune(dst[:n], utf16.DecodeRune(high, unit))
	}
	return append(dst, 0xed, 0x80|byte(unit>>6&0x3f), 0x80|byte(unit&0x3f))
}
