package ecma

import (
	"errors"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/executable-markdown/xmd/internal/value"
)

// ErrSealed is the error for changing an array or object that is in use. A module
// that Compile wrote never does.
var ErrSealed = errors.New("an array or object cannot be changed after it was used: build it first")

// A shape is what a container knows about everything inside it.
type shape struct {
	size   int  // see Size
	depth  int  // containers inside one another, this one included
	opaque bool // it cannot be converted to a primitive value (see primitive)
	sealed bool
}

func shapeOf(v Value) (s shape) {
	switch v := v.(type) {
	case *Array:
		return v.shape
	case *Object:
		return v.shape
	}
	return shape{size: Size(v)}
}

// admit counts v into the container, with more bytes besides. Nothing is counted
// when it does not fit (F8).
func (s *shape) admit(v Value, more int, l Limits) error {
	Seal(v)
	if s.sealed { // also where a container is put into itself
		return ErrSealed
	}
	inner := shapeOf(v)
	if inner.depth >= l.Depth {
		return &LimitError{Bound: "depth"}
	}
	if inner.size > l.Value-s.size-more-Overhead {
		return &LimitError{Bound: "value"}
	}
	s.size += inner.size + more + Overhead
	s.depth = max(s.depth, inner.depth+1)
	return nil
}

// Seal ends the building of an array or object: whoever shares a value with
// another goroutine or keeps it under a name seals it first. Other values, and
// those already sealed, are left alone; what is inside is sealed already.
func Seal(v Value) {
	switch v := v.(type) {
	case *Array:
		if !v.sealed { // what is sealed may be shared, and is not written to
			v.sealed = true
		}
	case *Object:
		if !v.sealed {
			v.order()
			v.sealed = true
		}
	}
}

// An Array is an array value.
type Array struct {
	shape
	elements []Value
}

// NewArray returns an empty array to append to.
func NewArray() *Array { return &Array{shape: shape{depth: 1}} }

// Append adds an element and seals it. The error is a *LimitError, or ErrSealed.
func (a *Array) Append(v Value, l Limits) error {
	if err := a.admit(v, 0, l); err != nil {
		return err
	}
	a.opaque = a.opaque || shapeOf(v).opaque
	a.elements = append(a.elements, v)
	return nil
}

// Len returns the number of elements.
func (a *Array) Len() int { return len(a.elements) }

// At returns an element; undefined where there is none.
func (a *Array) At(i int) Value {
	if i < 0 || i >= len(a.elements) {
		return Undefined{}
	}
	return a.elements[i]
}

// An Object is an object value: own members and nothing else.
type Object struct {
	shape
	members *value.Object // of Values
}

// NewObject returns an empty object to set members of.
func NewObject() *Object {
	return &Object{shape: shape{depth: 1}, members: value.NewObject(0)}
}

// Set gives the member called name a value and seals the value. A new member goes
// last, an existing one keeps its place; then what was there before counts no
// more. The error is a *LimitError, or ErrSealed.
func (o *Object) Set(name string, v Value, l Limits) error {
	more := len(name)
	if old, again := o.members.Get(name); again {
		more = -Size(old) - Overhead
	}
	if err := o.admit(v, more, l); err != nil {
		return err
	}
	o.opaque = o.opaque || name == "toString"
	o.members.Set(name, v)
	return nil
}

// Len returns the number of members.
func (o *Object) Len() int { return o.members.Len() }

// Get returns the own member called name and whether there is one.
func (o *Object) Get(name string) (Value, bool) {
	v, ok := o.members.Get(name)
	if !ok {
		return Undefined{}, false
	}
	return v, true
}

// All seals the object and yields its members in ECMAScript's order: those whose
// name is an array index first, ascending, then the others as they were first set.
func (o *Object) All() iter.Seq2[string, Value] {
	Seal(o)
	return func(yield func(string, Value) bool) {
		for name, v := range o.members.All() {
			if !yield(name, v) {
				return
			}
		}
	}
}

// order puts the members into ECMAScript's order.
func (o *Object) order() {
	var indexes []uint32
	inOrder := true // so far, the indexes stand at the front and ascend
	place := 0
	for name := range o.members.All() {
		if i, ok := arrayIndex(name); ok {
			inOrder = inOrder && len(indexes) == place && (place == 0 || indexes[place-1] < i)
			indexes = append(indexes, i)
		}
		place++
	}
	if inOrder {
		return
	}
	slices.Sort(indexes)
	ordered := value.NewObject(o.members.Len())
	for _, i := range indexes {
		name := strconv.FormatUint(uint64(i), 10)
		v, _ := o.members.Get(name)
		ordered.Set(name, v)
	}
	for name, v := range o.members.All() {
		if _, ok := arrayIndex(name); !ok {
			ordered.Set(name, v)
		}
	}
	o.members = ordered
}

// arrayIndex reads a name that is an array index: a whole number below 2^32-1,
// written as a number is.
func arrayIndex(name string) (uint32, bool) {
	if len(name) == 0 || len(name) > 10 || name[0] == '0' && len(name) > 1 {
		return 0, false
	}
	i := uint64(0)
	for _, c := range []byte(name) {
		if c < '0' || c > '9' {
			return 0, false
		}
		i = i*10 + uint64(c-'0')
	}
	return uint32(i), i < math.MaxUint32
}
