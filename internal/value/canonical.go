package value

import "slices"

// AppendCanonical appends compact JSON with the members of every object in order of
// their names, so that equal values have equal text. v is a value that Parse gave or
// could have given; what is no JSON is written as null.
func AppendCanonical(dst []byte, v any) []byte {
	switch v := v.(type) {
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendCanonical(dst, e)
		}
		return append(dst, ']')
	case *Object:
		names := v.Keys()
		slices.Sort(names)
		dst = append(dst, '{')
		for i, name := range names {
			if i > 0 {
				dst = append(dst, ',')
			}
			member, _ := v.Get(name)
			dst = AppendCanonical(append(AppendString(dst, name), ':'), member)
		}
		return append(dst, '}')
	}
	scalar, err := Append(dst, v)
	if err != nil {
		return append(dst, "null"...)
	}
	return scalar
}
