package document

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// plainScalar reads an unquoted YAML scalar as YAML 1.1 readers do, with the
// changes of language 2.2.2: yes, no, on and off are strings. wrong names what
// the text is when that is no JSON value.
func plainScalar(s string) (v any, wrong string) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil, ""
	case "true", "True", "TRUE":
		return true, ""
	case "false", "False", "FALSE":
		return false, ""
	}
	if isDate(s) {
		return nil, "a date"
	}
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || digits == "" {
		return s, ""
	}
	switch digits {
	case ".inf", ".Inf", ".INF":
		return nil, "an infinite number"
	case ".nan", ".NaN", ".NAN":
		if digits == s {
			return nil, "not a number"
		}
	}
	f, ok := unsignedNumber(digits, len(digits) != len(s))
	if !ok {
		return s, ""
	}
	if math.IsInf(f, 0) {
		return nil, "a number too large"
	}
	if s[0] == '-' && f != 0 {
		f = -f
	}
	return f, ""
}

// unsignedNumber reads the number forms, of which the ones starting with a dot
// take no sign.
func unsignedNumber(s string, signed bool) (float64, bool) {
	if s[len(s)-1] == '_' || s[0] == '_' {
		return 0, false
	}
	if s[0] == '.' {
		if signed {
			return 0, false
		}
		return decimal(s)
	}
	if !isDigit(s[0]) {
		return 0, false
	}
	if strings.IndexByte(s, ':') > 0 {
		return sexagesimal(s)
	}
	if s[0] == '0' && len(s) > 1 {
		switch s[1] {
		case 'b':
			return integer(s[2:], 2)
		case 'x':
			return integer(s[2:], 16)
		case '.', 'e', 'E':
			return decimal(s)
		}
		return integer(s, 8)
	}
	return decimal(s)
}

// integer reads digits of a base that is a power of two, and underscores.
func integer(s string, base int) (float64, bool) {
	s = strings.ReplaceAll(s, "_", "")
	if s == "" || !isAlnum(s[0]) {
		return 0, false
	}
	n, ok := new(big.Int).SetString(s, base)
	if !ok {
		return 0, false
	}
	f, _ := new(big.Float).SetInt(n).Float64()
	return f, true
}

// decimal reads digits, a fraction and an exponent: 12, 1_000, 1., .5, 1e3.
func decimal(s string) (float64, bool) {
	s = strings.ReplaceAll(s, "_", "")
	mantissa, exponent := s, ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent = s[:i], s[i+1:]
		if len(exponent) > 0 && (exponent[0] == '+' || exponent[0] == '-') {
			exponent = exponent[1:]
		}
		if !allDigits(exponent) {
			return 0, false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if !allDigits(whole + fraction) {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil || math.IsInf(f, 0)
}

// sexagesimal reads numbers of base 60: 12:30 is 750. Only the last place may
// have a fraction, and only then may the first start with a zero.
func sexagesimal(s string) (float64, bool) {
	whole, fraction, dotted := strings.Cut(s, ".")
	fraction = strings.ReplaceAll(fraction, "_", "")
	if dotted && fraction != "" && !allDigits(fraction) || !dotted && s[0] == '0' {
		return 0, false
	}
	total := 0.0
	for i, place := range strings.Split(whole, ":") {
		if i == 0 {
			place = strings.ReplaceAll(place, "_", "")
		} else if len(place) > 2 || len(place) == 2 && place[0] > '5' {
			return 0, false
		}
		if !allDigits(place) {
			return 0, false
		}
		n, err := strconv.ParseFloat(place, 64)
		if err != nil && !math.IsInf(n, 0) {
			return 0, false
		}
		total = total*60 + n
	}
	if fraction != "" {
		part, err := strconv.ParseFloat("0."+fraction, 64)
		if err != nil {
			return 0, false
		}
		total += part
	}
	return total, true
}

// isDate reports whether s is a YAML date or time stamp.
func isDate(s string) bool {
	m := matcher{rest: s}
	m.digits(4, 4)
	m.one("-")
	month := m.digits(1, 2)
	m.one("-")
	day := m.digits(1, 2)
	if m.failed || m.rest == "" {
		return !m.failed && month == 2 && day == 2
	}
	if !m.any(" \t") {
		m.one("Tt")
	}
	m.digits(1, 2)
	m.one(":")
	m.digits(2, 2)
	m.one(":")
	m.digits(2, 2)
	if strings.HasPrefix(m.rest, ".") {
		m.any(".0123456789")
	}
	if m.failed || m.rest == "" {
		return !m.failed
	}
	m.any(" \t")
	if m.rest == "Z" {
		return true
	}
	m.one("+-")
	m.digits(1, 2)
	if m.rest != "" {
		m.one(":")
		m.digits(2, 2)
	}
	return !m.failed && m.rest == ""
}

// A matcher takes a text apart from the left and remembers whether it failed.
type matcher struct {
	rest   string
	failed bool
}

// digits takes between least and most digits and returns how many.
func (m *matcher) digits(least, most int) int {
	n := 0
	for n < most && n < len(m.rest) && isDigit(m.rest[n]) {
		n++
	}
	m.rest = m.rest[n:]
	m.failed = m.failed || n < least
	return n
}

// one takes one character of the set.
func (m *matcher) one(set string) {
	if m.rest == "" || strings.IndexByte(set, m.rest[0]) < 0 {
		m.failed = true
		return
	}
	m.rest = m.rest[1:]
}

// any takes as many characters of the set as there are and reports whether there
// was one.
func (m *matcher) any(set string) bool {
	rest := strings.TrimLeft(m.rest, set)
	taken := len(rest) < len(m.rest)
	m.rest = rest
	return taken
}
