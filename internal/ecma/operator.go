package ecma

import "math"

// A UnaryOp is an operator on one value. The numbers are those a module uses
// (fragments 8).
type UnaryOp uint8

const (
	Not    UnaryOp = iota // !
	Negate                // -
)

// A BinaryOp is an operator on two values. The numbers are those a module uses
// (fragments 8).
type BinaryOp uint8

const (
	Equal        BinaryOp = iota // ===
	NotEqual                     // !==
	Less                         // <
	LessEqual                    // <=
	Greater                      // >
	GreaterEqual                 // >=
	Add                          // +
	Subtract                     // -
	Multiply                     // *
	Divide                       // /
	Remainder                    // %
)

// Unary applies op to v. It reads v once. The error is a *TypeError: an operand
// without a primitive value, or a number that is no operator.
func Unary(op UnaryOp, v Value) (Value, error) {
	switch op {
	case Not:
		return !Truthy(v), nil
	case Negate:
		p, err := primitive(v)
		if err != nil {
			return nil, err
		}
		return -toNumber(p), nil
	}
	return nil, typeError("there is no unary operator %d", op)
}

// Binary applies op to two values that are already evaluated. It reads each once,
// except that === and !== read only strings. The error is a *TypeError as of Unary,
// or a *LimitError when + would make too long a string.
func Binary(op BinaryOp, x, y Value, l Limits) (Value, error) {
	switch op {
	case Equal:
		return StrictEqual(x, y), nil
	case NotEqual:
		return !StrictEqual(x, y), nil
	}
	if op > Remainder {
		return nil, typeError("there is no binary operator %d", op)
	}
	x, err := primitive(x)
	if err != nil {
		return nil, err
	}
	if y, err = primitive(y); err != nil {
		return nil, err
	}
	s, text := x.(String)
	t, other := y.(String)
	switch {
	case op == Add && (text || other):
		return join(toString(x), toString(y), l)
	case op <= GreaterEqual && text && other:
		return ordered(op, compare(s, t), 0), nil
	case op <= GreaterEqual:
		return ordered(op, toNumber(x), toNumber(y)), nil
	}
	return arithmetic(op, toNumber(x), toNumber(y)), nil
}

func join(s, t String, l Limits) (Value, error) {
	if len(s) > l.Value-len(t) {
		return nil, &LimitError{Bound: "value"}
	}
	return concat(s, t), nil
}

func ordered[N int | float64](op BinaryOp, a, b N) bool {
	switch op {
	case Less:
		return a < b
	case LessEqual:
		return a <= b
	case Greater:
		return a > b
	}
	return a >= b
}

func arithmetic(op BinaryOp, a, b float64) float64 {
	switch op {
	case Add:
		return a + b
	case Subtract:
		return a - b
	case Multiply:
		return a * b
	case Divide:
		return a / b
	}
	return math.Mod(a, b)
}

// Truthy reports whether v counts as true in a condition (language 6.6).
func Truthy(v Value) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v != 0 && v == v
	case String:
		return v != ""
	case *Array, *Object:
		return true
	}
	return false
}

// Nullish reports whether v is undefined or null.
func Nullish(v Value) bool {
	switch v.(type) {
	case nil, Undefined, Null:
		return true
	}
	return false
}

// StrictEqual reports whether x === y: NaN equals nothing, arrays and objects only
// themselves.
func StrictEqual(x, y Value) bool {
	if x == nil {
		x = Undefined{}
	}
	if y == nil {
		y = Undefined{}
	}
	return x == y
}
