package ecma

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dop251/goja"
	"github.com/stretchr/testify/require"
)

// wide are limits nothing in these tests reaches by accident.
var wide = Limits{Value: 1 << 20, Depth: 64}

// An oracle evaluates the same operations in the interpreter of ordinary documents.
type oracle struct {
	t  testing.TB
	vm *goja.Runtime
	fn map[string]goja.Callable
}

func newOracle(t testing.TB) *oracle {
	return &oracle{t: t, vm: goja.New(), fn: map[string]goja.Callable{}}
}

// call runs a function written in JavaScript and describes what it returns. A
// thrown error is "throws".
func (o *oracle) call(source string, args ...goja.Value) string {
	v, err := o.value(source, args...)
	if err != nil {
		return "throws"
	}
	return o.describe(v)
}

func (o *oracle) value(source string, args ...goja.Value) (goja.Value, error) {
	fn, ok := o.fn[source]
	if !ok {
		v, err := o.vm.RunString("(" + source + ")")
		require.NoError(o.t, err, source)
		fn, ok = goja.AssertFunction(v)
		require.True(o.t, ok, source)
		o.fn[source] = fn
	}
	return fn(goja.Undefined(), args...)
}

// describe names a value down to the bits of its numbers, the units of its strings
// and the order of its members.
func (o *oracle) describe(v goja.Value) string {
	switch {
	case v == nil || goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "null"
	case goja.IsString(v):
		s := v.ToString().(goja.String)
		units := make([]uint16, s.Length())
		for i := range units {
			units[i] = s.CharAt(i)
		}
		return describeUnits(units)
	case goja.IsNumber(v):
		return describeNumber(v.ToFloat())
	}
	object, ok := v.(*goja.Object)
	if !ok {
		return v.String()
	}
	var b strings.Builder
	if object.ClassName() == "Array" {
		for i := range int(object.Get("length").ToInteger()) {
			b.WriteString(o.describe(object.Get(strconv.Itoa(i))) + ";")
		}
		return "[" + b.String() + "]"
	}
	keys, err := o.value("Object.keys", v)
	require.NoError(o.t, err)
	list := keys.(*goja.Object)
	for i := range int(list.Get("length").ToInteger()) {
		key := list.Get(strconv.Itoa(i))
		member, err := o.value("(o, k) => o[k]", v, key)
		require.NoError(o.t, err)
		b.WriteString(o.describe(key) + ":" + o.describe(member) + ";")
	}
	return "{" + b.String() + "}"
}

func describeNumber(f float64) string {
	if math.IsNaN(f) {
		return "NaN"
	}
	return fmt.Sprintf("%v/%x", f, math.Float64bits(f))
}

func describeUnits(units []uint16) string { return fmt.Sprintf("%x", units) }

func unitsOf(s String) []uint16 {
	out := []uint16{}
	for u := (units{rest: string(s)}); ; {
		unit := u.next()
		if unit < 0 {
			return out
		}
		out = append(out, uint16(unit))
	}
}

// describe names a Value the way the oracle does.
func describe(v Value) string {
	switch v := v.(type) {
	case nil, Undefined:
		return "undefined"
	case Null:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return describeNumber(v)
	case String:
		return describeUnits(unitsOf(v))
	case *Array:
		var b strings.Builder
		for i := range v.Len() {
			b.WriteString(describe(v.At(i)) + ";")
		}
		return "[" + b.String() + "]"
	case *Object:
		var b strings.Builder
		for name, m := range v.All() {
			b.WriteString(describe(String(name)) + ":" + describe(m) + ";")
		}
		return "{" + b.String() + "}"
	}
	return fmt.Sprintf("%T", v)
}

func describeResult(v Value, err error) string {
	if err != nil {
		return "throws"
	}
	return describe(v)
}

// js makes the interpreter's value of a Value. What is shared stays shared.
func (o *oracle) js(v Value, made map[Value]goja.Value) goja.Value {
	if again, ok := made[v]; ok {
		return again
	}
	var out goja.Value
	switch v := v.(type) {
	case nil, Undefined:
		return goja.Undefined()
	case Null:
		return goja.Null()
	case String:
		return goja.StringFromUTF16(unitsOf(v))
	case *Array:
		list := o.vm.NewArray()
		for i := range v.Len() {
			require.NoError(o.t, list.Set(strconv.Itoa(i), o.js(v.At(i), made)))
		}
		out = list
	case *Object:
		object := o.vm.NewObject()
		for name, m := range v.members.All() { // in the order they were set
			_, err := o.value("(o, k, value) => Object.defineProperty(o, k, {value, enumerable: true})",
				object, o.js(String(name), made), o.js(m, made))
			require.NoError(o.t, err)
		}
		out = object
	default:
		return o.vm.ToValue(v)
	}
	made[v] = out
	return out
}

func array(elements ...Value) *Array {
	a := NewArray()
	for _, e := range elements {
		must(a.Append(e, wide))
	}
	return a
}

// object makes an object of alternating names and values and leaves it unsealed.
func object(pairs ...Value) *Object {
	o := NewObject()
	for i := 0; i < len(pairs); i += 2 {
		must(o.Set(pairs[i].(string), pairs[i+1], wide))
	}
	return o
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

const (
	high = String("\xed\xa0\xbd") // U+D83D
	low  = String("\xed\xb8\x80") // U+DE00
)

// samples are the values every operation is tried on.
var samples = sync.OnceValue(func() []Value {
	shared := array(1.0, String("x"))
	return []Value{
		Undefined{}, Null{}, true, false,
		0.0, math.Copysign(0, -1), 1.0, -1.0, 2.0, -2.0, 3.5, -7.25, 0.1, 0.2, 10.0, 1e21, 1e-7, 123456789012345680000.0,
		5e-324, math.MaxFloat64, 9007199254740993.0, 4294967295.0, 4294967294.0, math.NaN(), math.Inf(1), math.Inf(-1),
		String(""), String("0"), String("1"), String("-0"), String("-00"), String("-"), String(" 12 "), String("\u00a0\ufeff\u20281.50\u3000"), String("\u008512"),
		String("0x1f"), String("-0x1f"), String("0x"), String("0x+1"), String("0b101"), String("0o17"), String("0b2"),
		String("0xffffffffffffffffffff"), String("0x20000000000001"), String("1e3"), String("1e999"), String("-1e-999"), String("1e"), String(".5"), String("5."), String("."), String("1_000"),
		String("Infinity"), String("-Infinity"), String("infinity"), String("inf"), String("NaN"), String("nan"), String("+1"), String("--1"), String("1n"), String("010"),
		String("a"), String("abc"), String("B"), String("é"), String("\uffff"), String("\ue000"), String("😀"), String("😀x"), String("a😀"), high, low, high + "x", "x" + low, low + high, high + "\uffff",
		String("length"), String("toString"), String("__proto__"), String("constructor"), String("null"), String("undefined"), String("[object Object]"), String("true"),
		String(strings.Repeat("long ", 40)),
		array(), array(7.0), array(String("8")), array(Null{}), array(Undefined{}, Undefined{}), array(array(array())), array(1.0, array(2.0, array(3.0, Null{}))),
		array(high), array(high, low), array(object()), array(object("toString", 1.0)), array(math.NaN(), math.Copysign(0, -1)), array(shared, shared), shared,
		object(), object("a", 1.0, "b", object("c", Undefined{})), object("2", 1.0, "b", 2.0, "1", 3.0, "a", 4.0, "4294967295", 5.0, "01", 6.0, "-1", 7.0),
		object("length", 3.0), object("toString", String("x")), object("valueOf", String("x")), object("toString", Undefined{}, "valueOf", 1.0), object("toJSON", 1.0, "join", 2.0),
		object("__proto__", object("q", 1.0), "constructor", Null{}), object("", String("empty"), string(high), low, "null", true, "undefined", false),
		object("x", Undefined{}), object("0", shared, "x", array(shared, Undefined{}, math.Inf(1))),
	}
})

// mirrored are the samples as the interpreter has them.
func mirrored(o *oracle) []goja.Value {
	made := map[Value]goja.Value{}
	var out []goja.Value
	for _, v := range samples() {
		out = append(out, o.js(v, made))
	}
	return out
}
