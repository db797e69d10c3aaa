package ecma

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// Get reads v.name: an own member, or the length of a string or array; undefined
// where there is none. It reads v only where v is a string. Undefined and null have
// no members: a *TypeError that names the member.
func Get(v Value, name string) (Value, error) {
	if Nullish(v) {
		return nil, noMember(v, name)
	}
	member, _ := own(v, name)
	return member, nil
}

// Index reads v[key]. A key is converted to a member name the way ECMAScript does
// it; a string has its UTF-16 units under their numbers. It reads v only where v is
// a string, and the key. The error is a *TypeError: of Get, or a key without a
// primitive value.
func Index(v, key Value) (Value, error) {
	if i, ok := wholeNumber(key); ok && !Nullish(v) {
		switch v := v.(type) {
		case String:
			return v.index(i), nil
		case *Array:
			return v.At(i), nil
		}
	}
	p, err := primitive(key)
	if err != nil && !Nullish(v) {
		return nil, err
	}
	if err != nil {
		return nil, noMember(v, "[object Object]")
	}
	return Get(v, string(toString(p)))
}

// wholeNumber returns a number that may be the place of an element or unit.
func wholeNumber(v Value) (int, bool) {
	f, ok := v.(float64)
	if !ok || !(f >= 0 && f < math.MaxInt32) || f != math.Trunc(f) {
		return 0, false
	}
	return int(f), true
}

func (s String) index(i int) Value {
	if unit, ok := s.at(i); ok {
		return unit
	}
	return Undefined{}
}

// own returns the own member of v called name and whether there is one.
func own(v Value, name string) (Value, bool) {
	switch v := v.(type) {
	case *Object:
		return v.Get(name)
	case *Array:
		if name == "length" {
			return float64(len(v.elements)), true
		}
		if i, ok := arrayIndex(name); ok && uint64(i) < uint64(len(v.elements)) {
			return v.elements[i], true
		}
	case String:
		if name == "length" {
			return float64(v.Length()), true
		}
		if i, ok := arrayIndex(name); ok && uint64(i) < uint64(len(v)) {
			if unit, ok := v.at(int(i)); ok {
				return unit, true
			}
		}
	}
	return Undefined{}, false
}

func noMember(v Value, name string) error {
	return typeError("cannot read %s of %s: ask with ?. where it may be absent", quoteName(name), Kind(v))
}

// quoteName shows the name of a member in a message.
func quoteName(name string) string {
	const longest = 60
	text := String(name).Text()
	if len(text) <= longest {
		return strconv.Quote(text)
	}
	end := longest
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return strconv.Quote(text[:end]) + "…"
}

// Show resolves a reference in text (language 3.4.2), v being what its first name is
// bound to and path the names after it, and returns its text. ok is false when the
// reference stays as written: something before the last name is missing or is no
// array or object. A missing last member shows as undefined; strings have no
// members here.
func Show(v Value, path []string) (text string, ok bool) {
	for i, name := range path {
		switch v.(type) {
		case *Array, *Object:
		default:
			return "", false
		}
		member, found := own(v, name)
		if !found && i < len(path)-1 {
			return "", false
		}
		v = member
	}
	return ToText(v), true
}
