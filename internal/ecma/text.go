package ecma

import (
	"strconv"

	"github.com/executable-markdown/xmd/internal/value"
)

// ToText converts v to the text it shows as in a document (language 3.5, form B):
// undefined and null by name, the elements of an array joined with commas, an
// object as [object Object]. The text is valid UTF-8 and no longer than Size(v),
// or than 32 bytes where that is more.
func ToText(v Value) string { return toString(v).Text() }

// primitive converts v as an operator does (ToPrimitive): an array or object to a
// string. What stops it is an object, at the top or in an array, with a member of
// its own called toString, which hides the conversion and cannot be called.
func primitive(v Value) (Value, error) {
	switch v.(type) {
	case *Array, *Object:
		if shapeOf(v).opaque {
			return nil, typeError("%s with a member toString cannot be converted to text or a number: use one of its members", Kind(v))
		}
		return toString(v), nil
	}
	return v, nil
}

// toString is the string conversion, without the failure primitive has.
func toString(v Value) String {
	switch v := v.(type) {
	case Null:
		return "null"
	case bool:
		return String(strconv.FormatBool(v))
	case float64:
		return String(value.FormatNumber(v))
	case String:
		return v
	case *Array:
		return String(v.appendText(make([]byte, 0, 64)))
	case *Object:
		return "[object Object]"
	}
	return "undefined"
}

// appendText appends the elements joined with commas; undefined and null are empty.
// Every element adds less than it counts for in Size, so this needs no limit.
func (a *Array) appendText(dst []byte) []byte {
	for i, e := range a.elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		if list, ok := e.(*Array); ok {
			dst = list.appendText(dst)
		} else if !Nullish(e) {
			dst = append(dst, toString(e)...)
		}
	}
	return dst
}
