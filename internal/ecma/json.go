package ecma

import (
	"math"

	"github.com/executable-markdown/xmd/internal/value"
)

// FromJSON makes a sealed value of a value of package value, which it copies. The
// members of an object come in ECMAScript's order, a byte that is not UTF-8 becomes
// U+FFFD. The error is a *LimitError, or a *TypeError for a Go value that is none of
// package value's.
func FromJSON(v any, l Limits) (Value, error) { return fromJSON(v, 0, l) }

func fromJSON(v any, depth int, l Limits) (Value, error) {
	switch v := v.(type) {
	case nil:
		return Null{}, nil
	case value.Undefined:
		return Undefined{}, nil
	case bool, float64:
		return v, nil
	case string:
		return l.text(v)
	}
	if depth >= l.Depth {
		return nil, &LimitError{Bound: "depth"}
	}
	switch v := v.(type) {
	case []any:
		a := NewArray()
		for _, e := range v {
			element, err := fromJSON(e, depth+1, l)
			if err != nil {
				return nil, err
			}
			if err := a.Append(element, l); err != nil {
				return nil, err
			}
		}
		Seal(a)
		return a, nil
	case *value.Object:
		o := NewObject()
		for name, e := range v.All() {
			member, err := fromJSON(e, depth+1, l)
			if err != nil {
				return nil, err
			}
			text, err := l.text(name)
			if err != nil {
				return nil, err
			}
			if err := o.Set(string(text), member, l); err != nil {
				return nil, err
			}
		}
		Seal(o)
		return o, nil
	}
	return nil, typeError("a Go value of type %T is no JSON value", v)
}

// text makes a string of s when it is not too long; FromText makes no text shorter.
func (l Limits) text(s string) (String, error) {
	if len(s) > l.Value {
		return "", &LimitError{Bound: "value"}
	}
	text := FromText(s)
	if len(text) > l.Value {
		return "", &LimitError{Bound: "value"}
	}
	return text, nil
}

// ToJSON is the JSON projection (language 4.4.1) as a value of package value that
// shares nothing with v: undefined members vanish and undefined elements are null,
// so are numbers that are not finite, and lone surrogates are U+FFFD (of two members
// that then have one name the last counts). ok is false for undefined, which has no
// JSON. The projection counts for no more than Size(v).
func ToJSON(v Value) (out any, ok bool) {
	switch v := v.(type) {
	case nil, Undefined:
		return nil, false
	case bool:
		return v, true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, true
		}
		return v, true
	case String:
		return v.Text(), true
	case *Array:
		list := make([]any, len(v.elements))
		for i, e := range v.elements {
			list[i], _ = ToJSON(e)
		}
		return list, true
	case *Object:
		o := value.NewObject(v.Len())
		for name, m := range v.All() {
			if projected, ok := ToJSON(m); ok {
				o.Set(String(name).Text(), projected)
			}
		}
		return o, true
	}
	return nil, true
}

// Items is what <Each> goes through (language 6.5): the JSON projection of v, which
// must be an array, as a value of its own that is equal to nothing in v. The error
// is a *TypeError, or a *LimitError where v was made under wider limits.
func Items(v Value, l Limits) (*Array, error) {
	if _, ok := v.(*Array); !ok {
		return nil, typeError("the items must be an array, not %s", Kind(v))
	}
	projected, _ := ToJSON(v)
	items, err := FromJSON(projected, l)
	if err != nil {
		return nil, err
	}
	return items.(*Array), nil
}

// Count is how often <Loop> may go round (language 6.8): v as a whole number from 1
// to 2^31-1. The error is a *TypeError.
func Count(v Value) (int, error) {
	f, ok := v.(float64)
	switch {
	case !ok:
		return 0, typeError("the number of rounds must be a positive integer, not %s", Kind(v))
	case !(f >= 1) || f != math.Trunc(f):
		return 0, typeError("the number of rounds must be a positive integer, not %s", value.FormatNumber(f))
	case f > math.MaxInt32:
		return 0, typeError("the number of rounds must be below 2147483648, not %s", value.FormatNumber(f))
	}
	return int(f), nil
}
