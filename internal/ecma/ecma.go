// Package ecma holds the values a generated fragment computes with, and every
// operation the closed expressions have on them (fragments 4).
//
// A [Value] is one of
//
//	Undefined, Null, bool, float64, String, *Array, *Object
//
// and behaves as the same value does in ECMAScript: numbers are doubles, strings
// are sequences of UTF-16 units, the members of an object come in ECMAScript's
// order, arrays and objects are equal when they are the same one. What a program
// could reach through a prototype is not here: only own members are found.
//
// What enters is JSON: the text of a literal ([ParseJSON]) or what an operation
// returned ([FromJSON]). What leaves is text ([ToText], [Show], [JSONText]) or the
// JSON projection ([ToJSON]).
//
// The one invariant (F8): no value is larger or deeper than the [Limits] it was
// made under. It is kept where values are made, so everything that walks a value
// takes time in proportion to its [Size], whatever is shared inside it, and needs
// no bound of its own; and Size itself takes no time at all.
//
// Arrays and objects are built by one goroutine and sealed by their first use
// inside another value, or by [Seal]; from then on every value is immutable and
// may be shared between goroutines.
//
// The package knows no document, no module and no interpreter. It charges nobody:
// who does can read Size of what goes in and of what comes out.
package ecma

import "fmt"

// A Value is Undefined, Null, bool, float64, String, *Array or *Object. A nil
// Value is read as undefined.
type Value any

// Undefined is the value undefined.
type Undefined struct{}

// Null is the value null.
type Null struct{}

// Limits bound one value (fragments 2). A value may be as large and as deep as they
// say; both are positive.
type Limits struct {
	Value int // Size, in bytes; the bound "value"
	Depth int // arrays and objects inside one another, itself included; the bound "depth"
}

// A LimitError is a value that would be larger or deeper than its limits. Nothing
// was made.
type LimitError struct {
	Bound string // "value" or "depth"
}

func (e *LimitError) Error() string {
	if e.Bound == "depth" {
		return "a value would be nested too deep: raise the limit depth, or nest less"
	}
	return "a value would be too large: raise the limit value, or make less of it"
}

// A TypeError is an operation that its operand does not have, where ECMAScript
// would throw. It may quote the name of a member, shortened, and no other data.
type TypeError struct {
	Reason string
}

func (e *TypeError) Error() string { return e.Reason }

func typeError(format string, args ...any) error {
	return &TypeError{Reason: fmt.Sprintf(format, args...)}
}

// Overhead is what a value counts for besides its Size: in bytes, and in every
// array and object it is in.
const Overhead = 32

// Size returns the bytes a value counts for (fragments 2): of a string its text
// in UTF-8; of an array or object the Size and the Overhead of everything in it,
// as often as it is in it, and the text of the member names; of everything else
// none. It takes constant time.
func Size(v Value) int {
	switch v := v.(type) {
	case String:
		return len(v)
	case *Array:
		return v.size
	case *Object:
		return v.size
	}
	return 0
}

// Kind names the kind of v in messages: undefined, null, a boolean, a number, a
// string, an array or an object.
func Kind(v Value) string {
	switch v.(type) {
	case Null:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	case String:
		return "a string"
	case *Array:
		return "an array"
	case *Object:
		return "an object"
	}
	return "undefined"
}
