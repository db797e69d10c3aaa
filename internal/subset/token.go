package subset

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// word reads the ASCII identifier at pos, or "".
func (p *parser) word() string {
	start := p.pos
	if p.pos < len(p.text) && isLetter(p.text[p.pos]) {
		for p.pos < len(p.text) && (isLetter(p.text[p.pos]) || isDigit(p.text[p.pos])) {
			p.pos++
		}
	}
	return p.text[start:p.pos]
}

// atNumber skips white space and reports whether a number literal follows.
func (p *parser) atNumber() bool {
	p.space()
	rest := p.text[p.pos:]
	return rest != "" && (isDigit(rest[0]) || rest[0] == '.' && len(rest) > 1 && isDigit(rest[1]))
}

// number reads a number literal. One without a finite value, with a leading zero or
// with a suffix is refused.
func (p *parser) number() (f float64, err error) {
	switch p.text[p.pos:min(p.pos+2, len(p.text))] {
	case "0x", "0X":
		f, err = p.integer(16)
	case "0o", "0O":
		f, err = p.integer(8)
	case "0b", "0B":
		f, err = p.integer(2)
	default:
		f, err = p.decimal()
	}
	if c := p.first(); err != nil || isLetter(c) || isDigit(c) {
		return 0, ErrRefused
	}
	return f, nil
}

// decimal reads digits with a fraction and an exponent.
func (p *parser) decimal() (float64, error) {
	start := p.pos
	whole, ok := p.digits(10)
	if len(whole) > 1 && whole[0] == '0' {
		return 0, ErrRefused
	}
	if p.first() == '.' {
		p.pos++
		if isDigit(p.first()) || p.first() == '_' {
			_, good := p.digits(10)
			ok = ok && good
		}
	}
	if p.first()|0x20 == 'e' {
		p.pos++
		if c := p.first(); c == '+' || c == '-' {
			p.pos++
		}
		exponent, good := p.digits(10)
		ok = ok && good && exponent != ""
	}
	if !ok {
		return 0, ErrRefused
	}
	return strconv.ParseFloat(strings.ReplaceAll(p.text[start:p.pos], "_", ""), 64)
}

// integer reads the digits after 0x, 0o or 0b. They must fit 63 bits: beyond, the
// readers disagree (F10), for the interpreter of ordinary documents rounds once a
// digit or gives up.
func (p *parser) integer(base int) (float64, error) {
	p.pos += 2
	digits, ok := p.digits(base)
	if !ok {
		return 0, ErrRefused
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(digits, "_", ""), base, 64)
	return float64(n), err
}

// digits reads digits of a base. ok is false when an underscore among them does
// not stand between two.
func (p *parser) digits(base int) (s string, ok bool) {
	start := p.pos
	ok = true
	for ; p.pos < len(p.text); p.pos++ {
		if p.text[p.pos] == '_' {
			ok = ok && p.pos > start && p.text[p.pos-1] != '_'
		} else if hexDigit(p.text[p.pos]) >= base {
			break
		}
	}
	s = p.text[start:p.pos]
	return s, ok && !strings.HasSuffix(s, "_")
}

// quoted reads a string literal.
func (p *parser) quoted() (string, error) {
	quote := p.text[p.pos]
	p.pos++
	s, _, err := p.characters(quote)
	return s, err
}

// characters reads up to the end of a string or template, or up to the next
// substitution of a template (more), and consumes what ends them. The result is
// UTF-8 in which a lone surrogate is the three bytes its code point would have.
func (p *parser) characters(quote byte) (s string, more bool, err error) {
	template := quote == '`'
	var decoded []byte
	start := p.pos // of what is not yet in decoded
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		end := 0
		switch {
		case c == quote:
			end = 1
		case c == '$' && template && strings.HasPrefix(p.text[p.pos:], "${"):
			end, more = 2, true
		case c == '\\':
			decoded = append(decoded, p.text[start:p.pos]...)
			p.pos++
			if decoded, err = p.escape(decoded); err != nil {
				return "", false, err
			}
			start = p.pos
			continue
		case c == '\r' && template: // every line end of a template is a line feed
			decoded = append(append(decoded, p.text[start:p.pos]...), '\n')
			p.lineEnd()
			start = p.pos
			continue
		case (c == '\n' || c == '\r') && !template:
			return "", false, ErrRefused
		}
		if end > 0 {
			s = p.text[start:p.pos]
			if decoded != nil {
				s = string(append(decoded, s...))
			}
			p.pos += end
			return s, more, nil
		}
		p.pos++
	}
	return "", false, ErrRefused
}

// lineEnd consumes one line end.
func (p *parser) lineEnd() {
	if strings.HasPrefix(p.text[p.pos:], "\r\n") {
		p.pos++
	}
	p.pos++
}

// escape reads what follows a backslash and appends what it stands for.
func (p *parser) escape(dst []byte) ([]byte, error) {
	c, size := utf8.DecodeRuneInString(p.text[p.pos:])
	if size == 0 {
		return dst, ErrRefused
	}
	if c == '\n' || c == '\r' {
		p.lineEnd()
		return dst, nil
	}
	p.pos += size
	switch c {
	case 'n':
		return append(dst, '\n'), nil
	case 't':
		return append(dst, '\t'), nil
	case 'r':
		return append(dst, '\r'), nil
	case 'b':
		return append(dst, '\b'), nil
	case 'f':
		return append(dst, '\f'), nil
	case 'v':
		return append(dst, '\v'), nil
	case '\u2028', '\u2029':
		return dst, nil
	case 'x':
		return p.codePoint(dst, 2)
	case 'u':
		if p.first() != '{' {
			return p.codePoint(dst, 4)
		}
		p.pos++
		dst, err := p.codePoint(dst, len(p.text))
		if err != nil || p.first() != '}' {
			return dst, ErrRefused
		}
		p.pos++
		return dst, nil
	case '0':
		if isDigit(p.first()) {
			return dst, ErrRefused
		}
		return append(dst, 0), nil
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return dst, ErrRefused
	}
	return utf8.AppendRune(dst, c), nil
}

// codePoint reads width hexadecimal digits, or as many as there are when width
// reaches beyond the text.
func (p *parser) codePoint(dst []byte, width int) ([]byte, error) {
	start, c := p.pos, 0
	for p.pos < len(p.text) && p.pos-start < width {
		digit := hexDigit(p.text[p.pos])
		if digit > 15 {
			break
		}
		if c = c<<4 | digit; c > utf8.MaxRune {
			return dst, ErrRefused
		}
		p.pos++
	}
	if n := p.pos - start; n == 0 || n < width && width < len(p.text) {
		return dst, ErrRefused
	}
	return appendUnit(dst, rune(c)), nil
}

// appendUnit appends a code point. The two halves of a surrogate pair become the
// one character they are.
func appendUnit(dst []byte, c rune) []byte {
	if !utf16.IsSurrogate(c) {
		return utf8.AppendRune(dst, c)
	}
	if n := len(dst); c >= 0xdc00 && n >= 3 && dst[n-3] == 0xed && dst[n-2]&0xf0 == 0xa0 {
		high := 0xd000 | rune(dst[n-2]&0x3f)<<6 | rune(dst[n-1]&0x3f)
		return utf8.AppendRune(dst[:n-3], utf16.DecodeRune(high, c))
	}
	return append(dst, 0xed, 0x80|byte(c>>6&0x3f), 0x80|byte(c&0x3f))
}

func isLetter(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// hexDigit returns the value of a hexadecimal digit, 16 for anything else.
func hexDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 16
}
