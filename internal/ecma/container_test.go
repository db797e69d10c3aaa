package ecma

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/stretchr/testify/require"
)

// count is Size by its definition.
func count(v Value) int {
	n := 0
	switch v := v.(type) {
	case String:
		return len(v)
	case *Array:
		for i := range v.Len() {
			n += count(v.At(i)) + Overhead
		}
	case *Object:
		for name, m := range v.All() {
			n += len(name) + count(m) + Overhead
		}
	}
	return n
}

func depth(v Value) int {
	n := 0
	switch v := v.(type) {
	case *Array:
		for i := range v.Len() {
			n = max(n, depth(v.At(i)))
		}
	case *Object:
		for _, m := range v.All() {
			n = max(n, depth(m))
		}
	default:
		return 0
	}
	return n + 1
}

func TestSize(t *testing.T) {
	for _, v := range samples() {
		require.Equal(t, count(v), Size(v), describe(v))
		require.Equal(t, depth(v), shapeOf(v).depth, describe(v))
	}
	require.Equal(t, 0, Size(nil))
	o := object("a", String("long text"), "b", 1.0)
	require.Equal(t, 2+9+64, Size(o))
	must(o.Set("a", String("x"), wide))
	require.Equal(t, 2+1+64, Size(o), "what was replaced counts no more")
}

func TestLimitsAreExact(t *testing.T) {
	l := Limits{Value: 100, Depth: 3}
	var limit *LimitError

	a := NewArray()
	require.NoError(t, a.Append(String(strings.Repeat("x", 36)), l))
	require.NoError(t, a.Append(1.0, l))
	require.Equal(t, 100, Size(a))
	require.ErrorAs(t, a.Append(Null{}, l), &limit)
	require.Equal(t, LimitError{Bound: "value"}, *limit)
	require.Equal(t, 100, Size(a))
	require.Equal(t, 2, a.Len(), "a refused element leaves the array as it was")

	o := NewObject()
	require.NoError(t, o.Set(strings.Repeat("n", 68), 1.0, l))
	require.ErrorAs(t, o.Set("m", 1.0, l), &limit)
	require.NoError(t, o.Set(strings.Repeat("n", 68), Null{}, l))
	require.ErrorAs(t, o.Set(strings.Repeat("n", 68), String("x"), l), &limit)
	require.Equal(t, 1, o.Len())

	two := NewArray()
	require.NoError(t, two.Append(NewArray(), l))
	three := NewObject()
	require.NoError(t, three.Set("a", two, l))
	require.ErrorAs(t, NewArray().Append(three, l), &limit)
	require.Equal(t, LimitError{Bound: "depth"}, *limit)
	require.ErrorAs(t, NewObject().Set("a", three, l), &limit)

	s := String(strings.Repeat("x", 50))
	v, err := Binary(Add, s, s, l)
	require.NoError(t, err)
	require.Equal(t, 100, Size(v))
	_, err = Binary(Add, s, s+"x", l)
	require.ErrorAs(t, err, &limit)
	require.Equal(t, LimitError{Bound: "value"}, *limit)
	_, err = Binary(Add, v, 1.0, l)
	require.ErrorAs(t, err, &limit)
	require.Contains(t, (&LimitError{Bound: "depth"}).Error(), "limit depth")
	require.Contains(t, (&LimitError{Bound: "value"}).Error(), "limit value")
}

func TestHugeLimitsDoNotOverflow(t *testing.T) {
	l := Limits{Value: math.MaxInt, Depth: 1000}
	var v Value = String("x")
	var err error
	for range 100 {
		a := NewArray()
		if err = a.Append(v, l); err == nil {
			err = a.Append(v, l)
		}
		if err != nil {
			break
		}
		require.Positive(t, Size(a))
		v = a
	}
	require.Error(t, err, "2^100 bytes are more than any limit")
}

func TestSealed(t *testing.T) {
	inner := array(1.0)
	outer := array(inner)
	require.ErrorIs(t, inner.Append(2.0, wide), ErrSealed)
	require.NoError(t, outer.Append(2.0, wide))
	require.ErrorIs(t, outer.Append(outer, wide), ErrSealed, "a value cannot be inside itself")
	require.ErrorIs(t, outer.Append(3.0, wide), ErrSealed)

	o := object("a", 1.0)
	require.ErrorIs(t, o.Set("self", o, wide), ErrSealed)
	require.ErrorIs(t, o.Set("b", 1.0, wide), ErrSealed)
	require.Equal(t, 1, o.Len())

	for _, text := range []string{"[]", `{"a":[{}]}`} {
		v, err := ParseJSON(text, wide)
		require.NoError(t, err)
		switch v := v.(type) {
		case *Array:
			require.ErrorIs(t, v.Append(1.0, wide), ErrSealed)
		case *Object:
			require.ErrorIs(t, v.Set("b", 1.0, wide), ErrSealed)
		}
	}
	Seal(nil)
	Seal(String("x"))
}

// TestSharedBetweenGoroutines is for the race detector: using a sealed value writes
// nothing.
func TestSharedBetweenGoroutines(t *testing.T) {
	shared := object("b", array(1.0), "1", 2.0, "0", 3.0)
	Seal(shared)
	texts := make(chan string)
	for range 4 {
		go func() {
			o := NewObject()
			must(o.Set("x", shared, wide))
			Seal(shared)
			text, err := JSONText(o, wide)
			must(err)
			texts <- text
		}()
	}
	for range 4 {
		require.Equal(t, "{\n  \"x\": {\n    \"0\": 3,\n    \"1\": 2,\n    \"b\": [\n      1\n    ]\n  }\n}", <-texts)
	}
}

func TestMemberOrder(t *testing.T) {
	o := newOracle(t)
	names := []string{"0", "1", "2", "10", "9", "4294967294", "4294967295", "4294967296", "01", "-0", "-1", "1.5", "1e3", "a", "b", "", "99999999999", "__proto__", string(high), "٣"}
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		v := NewObject()
		for range r.IntN(16) {
			must(v.Set(names[r.IntN(len(names))], float64(r.IntN(100)), wide))
		}
		js := o.js(v, map[Value]goja.Value{})
		require.Equal(t, o.describe(js), describe(v))
	}
}

func TestManyMembersDescending(t *testing.T) {
	const n = 20000
	v := NewObject()
	for i := range n {
		must(v.Set(strconv.Itoa(n-i), float64(i), wide))
	}
	must(v.Set("x", true, wide))
	i := 0
	for name := range v.All() {
		i++
		if i <= n {
			require.Equal(t, strconv.Itoa(i), name)
		}
		if i == 3 {
			break
		}
	}
	m, ok := v.Get(strconv.Itoa(n))
	require.True(t, ok)
	require.Equal(t, 0.0, m)
	_, ok = v.Get("0")
	require.False(t, ok)
}

func TestKind(t *testing.T) {
	for want, v := range map[string]Value{
		"undefined": Undefined{}, "null": Null{}, "a boolean": true, "a number": 1.0, "a string": String(""), "an array": array(), "an object": object(),
	} {
		require.Equal(t, want, Kind(v))
	}
	require.Equal(t, "undefined", Kind(nil))
}
