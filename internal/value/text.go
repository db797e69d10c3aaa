package value

import (
	"math"
	"strconv"
	"strings"
)

// FormatNumber writes f the way JavaScript converts a number to a string: the
// shortest digits that read back as f, with an exponent below 1e-6 and from
// 1e21 on.
func FormatNumber(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return "0"
	}
	if abs := math.Abs(f); abs >= 1e21 || abs < 1e-6 {
		s := strconv.FormatFloat(f, 'e', -1, 64)
		mantissa, exp, _ := strings.Cut(s, "e")
		return mantissa + "e" + exp[:1] + strings.TrimLeft(exp[1:], "0")
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// Text converts v to the text a binding shows in a document (language 3.5):
// arrays are joined with commas, null and undefined elements of an array are
// empty, an object is [object Object].
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return FormatNumber(v)
	case string:
		return v
	case []any:
		return Join(v, ",")
	case *Object:
		return "[object Object]"
	}
	return "undefined"
}

// Join converts the elements of an array and joins them with sep.
func Join(list []any, sep string) string {
	var b strings.Builder
	for i, e := range list {
		if i > 0 {
			b.WriteString(sep)
		}
		if _, absent := e.(Undefined); e != nil && !absent {
			b.WriteString(Text(e))
		}
	}
	return b.String()
}
