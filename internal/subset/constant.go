package subset

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/internal/value"
)

// appendConstant appends the JSON text of a constant. Unlike that of package value
// it keeps what ECMAScript tells apart: the zero with a minus, and a lone
// surrogate, which is written \udxxx.
func appendConstant(dst []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(dst, v)
	case float64:
		if v == 0 && math.Signbit(v) {
			return append(dst, "-0"...)
		}
		return append(dst, value.FormatNumber(v)...)
	case string:
		return appendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendConstant(dst, e)
		}
		return append(dst, ']')
	case *value.Object:
		dst = append(dst, '{')
		first := true
		for name, e := range v.All() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(appendString(dst, name), ':')
			dst = appendConstant(dst, e)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// appendString appends a string in which a lone surrogate is three bytes, the only
// thing in it that is no UTF-8.
func appendString(dst []byte, s string) []byte {
	if utf8.ValidString(s) {
		return value.AppendString(dst, s)
	}
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c, size := utf8.DecodeRuneInString(s[i:])
		if c != utf8.RuneError || size > 1 {
			i += size
			continue
		}
		dst = appendUnquoted(dst, s[start:i])
		surrogate := 0xd000 | int64(s[i+1]&0x3f)<<6 | int64(s[i+2]&0x3f)
		dst = strconv.AppendInt(append(dst, `\u`...), surrogate, 16)
		i += 3
		start = i
	}
	return append(appendUnquoted(dst, s[start:]), '"')
}

func appendUnquoted(dst []byte, s string) []byte {
	quoted := value.AppendString(nil, s)
	return append(dst, quoted[1:len(quoted)-1]...)
}
