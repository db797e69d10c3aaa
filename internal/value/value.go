// Package value holds the JSON values a document works with.
//
// A value is one of
//
//	nil, bool, float64, string, []any, *Object, Undefined
//
// Objects keep the order their members were written in, because a document
// prints them. Values cross every room of the house in this form: frontmatter,
// props, bindings, records and results.
//
// The package knows no file, no document and no engine. Its one invariant: what
// Parse accepts, Append writes back as equal JSON, and nothing else enters.
//
// Values are plain data and are not synchronised. A value handed to another
// goroutine is handed over, or cloned with Clone.
package value

import (
	"iter"
	"math"
	"slices"
)

// Undefined is the absent value of an expression. It is no JSON: writing it
// fails, except as a member, where it vanishes the way JavaScript lets it.
type Undefined struct{}

// An Object is a JSON object with its members in the order they were first set.
// The zero Object is empty and ready to use.
type Object struct {
	members []member
	index   map[string]int // place of a name, once there are many members
}

type member struct {
	name  string
	value any
}

// indexed is how many members make an index worth its cost.
const indexed = 12

// NewObject returns an empty object with room for n members.
func NewObject(n int) *Object {
	return &Object{members: make([]member, 0, n)}
}

// Of builds an object from alternating names and values. It panics when a name
// is not a string, which is a mistake in the program and never in its input.
func Of(pairs ...any) *Object {
	o := NewObject(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// Len returns the number of members; a nil object has none.
func (o *Object) Len() int {
	if o == nil {
		return 0
	}
	return len(o.members)
}

// find returns the place of a member, -1 when there is none.
func (o *Object) find(key string) int {
	if o == nil {
		return -1
	}
	if o.index != nil {
		if i, ok := o.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range o.members {
		if o.members[i].name == key {
			return i
		}
	}
	return -1
}

// Get returns the member called key and whether there is one.
func (o *Object) Get(key string) (any, bool) {
	if i := o.find(key); i >= 0 {
		return o.members[i].value, true
	}
	return nil, false
}

// Has reports whether there is a member called key.
func (o *Object) Has(key string) bool { return o.find(key) >= 0 }

// String returns the member called key when it is a string.
func (o *Object) String(key string) (string, bool) {
	v, _ := o.Get(key)
	s, ok := v.(string)
	return s, ok
}

// Set gives the member called key a value. A new member goes last; an existing
// one keeps its place.
func (o *Object) Set(key string, v any) {
	if i := o.find(key); i >= 0 {
		o.members[i].value = v
		return
	}
	o.members = append(o.members, member{key, v})
	switch {
	case o.index != nil:
		o.index[key] = len(o.members) - 1
	case len(o.members) > indexed:
		o.reindex()
	}
}

func (o *Object) reindex() {
	o.index = make(map[string]int, 2*len(o.members))
	for i, m := range o.members {
		o.index[m.name] = i
	}
}

// Delete removes the member called key, if there is one. It takes time in
// proportion to the number of members.
func (o *Object) Delete(key string) {
	i := o.find(key)
	if i < 0 {
		return
	}
	o.members = slices.Delete(o.members, i, i+1)
	if o.index != nil {
		o.reindex()
	}
}

// Keys returns the member names in order. The caller may keep the slice.
func (o *Object) Keys() []string {
	if o == nil {
		return nil
	}
	keys := make([]string, len(o.members))
	for i, m := range o.members {
		keys[i] = m.name
	}
	return keys
}

// All yields the members in order. The object must not change meanwhile.
func (o *Object) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if o == nil {
			return
		}
		for _, m := range o.members {
			if !yield(m.name, m.value) {
				return
			}
		}
	}
}

// Clone returns a deep copy that shares nothing mutable with v.
func Clone(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Clone(e)
		}
		return out
	case *Object:
		if v == nil {
			return v
		}
		out := NewObject(v.Len())
		for k, e := range v.All() {
			out.Set(k, Clone(e))
		}
		return out
	}
	return v
}

// Equal reports whether two values are the same JSON value: objects compare by
// members whatever their order, numbers by value.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case *Object:
		b, ok := b.(*Object)
		if !ok || a.Len() != b.Len() {
			return false
		}
		for k, v := range a.All() {
			w, ok := b.Get(k)
			if !ok || !Equal(v, w) {
				return false
			}
		}
		return true
	}
	return a == b
}

// Kind names the JSON type of v the way a schema does: null, boolean, number,
// string, array, object; undefined for Undefined.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	case *Object:
		return "object"
	}
	return "undefined"
}

// IsInteger reports whether f is a finite whole number.
func IsInteger(f float64) bool { return !math.IsInf(f, 0) && f == math.Trunc(f) }
