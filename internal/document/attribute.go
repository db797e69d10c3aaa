package document

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/executable-markdown/xmd/internal/value"
)

// StaticValue reads an attribute without evaluating anything (language 1.5.2). A
// bare attribute is true and a quoted one its raw characters. The text between
// braces is read as JSON in which names may stand without quotes and member
// values in single ones, or as digits. construct tells whether the element's name
// is a structural construct: for those undefined is null. ok is false for an
// expression. Results share nothing, so a caller may change them.
func (a Attr) StaticValue(construct bool) (v any, ok bool) {
	switch a.Form {
	case Bare:
		return true, true
	case Quoted:
		return a.Text, true
	}
	if a.Text == "undefined" {
		return nil, construct
	}
	if v, ok := plainNumber(a.Text); ok {
		return v, true
	}
	strict, ok := strictJSON(a.Text)
	if !ok {
		return nil, false
	}
	v, err := value.Parse(strict)
	if err != nil || hasIndexName(v) {
		return nil, false
	}
	return v, true
}

// hasIndexName reports whether an object in v has a member whose name is an array
// index. JavaScript puts such members first, so their literal is left to it.
func hasIndexName(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, hasIndexName)
	case *value.Object:
		for name, e := range v.All() {
			if n, err := strconv.ParseUint(name, 10, 32); err == nil && strconv.FormatUint(n, 10) == name || hasIndexName(e) {
				return true
			}
		}
	}
	return false
}

// plainNumber reads -?digits(.digits)?, where JSON would refuse leading zeros.
func plainNumber(s string) (float64, bool) {
	digits := strings.TrimPrefix(s, "-")
	whole, fraction, dotted := strings.Cut(digits, ".")
	if !allDigits(whole) || dotted && !allDigits(fraction) {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// strictJSON rewrites the two liberties to JSON. ok is false when the text can
// be no JSON even then.
func strictJSON(s string) (out []byte, ok bool) {
	out = make([]byte, 0, len(s)+16)
	before := byte(0) // the last character that is not white space
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"':
			end := i + 1
			for end < len(s) && s[end] != '"' {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(s) {
				return nil, false
			}
			out = append(out, s[i:end+1]...)
			i = end + 1
		case c == '\'':
			text, _, closed := strings.Cut(s[i+1:], "'")
			if !closed || before != ':' || strings.ContainsAny(text, "\\\n\r") {
				return nil, false
			}
			out = value.AppendString(out, text)
			i += len(text) + 2
		case (before == '{' || before == ',') && (isAlpha(c) || c == '_' || c == '$'):
			end := i
			for end < len(s) && (isAlnum(s[end]) || s[end] == '_' || s[end] == '$') {
				end++
			}
			if next := skipSpace(s, end); next < len(s) && s[next] == ':' {
				out = value.AppendString(out, s[i:end])
			} else {
				out = append(out, s[i:end]...)
			}
			i = end
		default:
			out = append(out, c)
			i++
		}
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			before = c
		}
	}
	return out, true
}
