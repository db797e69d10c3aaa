package schema

import (
	"slices"

	"github.com/executable-markdown/xmd/internal/value"
)

// canonical is JSON text that two values share exactly when they are equal.
type canonical string

// key turns a value into something comparable: equal values, and no others, have
// equal keys. A scalar is its own key.
func key(v any) any {
	switch v.(type) {
	case nil, bool, float64, string:
		return v
	}
	return canonical(appendCanonical(nil, v))
}

func appendCanonical(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		if v {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case float64:
		return append(dst, value.FormatNumber(v)...)
	case string:
		return value.AppendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for _, e := range v {
			dst = append(appendCanonical(dst, e), ',')
		}
		return append(dst, ']')
	case *value.Object:
		names := v.Keys()
		slices.Sort(names)
		dst = append(dst, '{')
		for _, name := range names {
			e, _ := v.Get(name)
			dst = append(value.AppendString(dst, name), ':')
			dst = append(appendCanonical(dst, e), ',')
		}
		return append(dst, '}')
	}
	return append(dst, '?') // no JSON value; two of them count as equal
}
