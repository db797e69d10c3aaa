package ecma

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/stretchr/testify/require"
)

// ownMember is v[k] for own members only. The interpreter panics where a string is
// asked for "-".
const ownMember = `(v, k) => {
	if (v === undefined || v === null) throw new TypeError()
	k = String(k)
	if (typeof v === "string" && k === "-") return undefined
	return Object.prototype.hasOwnProperty.call(v, k) ? v[k] : undefined
}`

func TestIndex(t *testing.T) {
	o := newOracle(t)
	js := mirrored(o)
	for i, v := range samples() {
		for j, key := range samples() {
			got, err := Index(v, key)
			if want := o.call(ownMember, js[i], js[j]); want != describeResult(got, err) {
				t.Errorf("%s[%s]: %s, not %s", describe(v), describe(key), describeResult(got, err), want)
			}
		}
		for _, k := range []float64{0, math.Copysign(0, -1), 1, 2, 3, 0.5, -1, 1e21, math.MaxInt32, math.MaxUint32} {
			got, err := Index(v, k)
			require.Equal(t, o.call(ownMember, js[i], o.vm.ToValue(k)), describeResult(got, err), "%s[%v]", describe(v), k)
		}
	}
}

func TestGet(t *testing.T) {
	o := newOracle(t)
	js := mirrored(o)
	for i, v := range samples() {
		for _, name := range []string{"length", "0", "1", "00", "a", "b", "", "__proto__", "constructor", "toString", "valueOf", string(high), "join", "x"} {
			got, err := Get(v, name)
			key := goja.StringFromUTF16(unitsOf(String(name)))
			require.Equal(t, o.call(ownMember, js[i], key), describeResult(got, err), "%s.%s", describe(v), name)
			if err != nil {
				var wrong *TypeError
				require.ErrorAs(t, err, &wrong)
			}
		}
	}
}

func TestMemberErrorsNameTheMember(t *testing.T) {
	for _, c := range []struct {
		v, key Value
		want   string
	}{
		{Undefined{}, String("a"), `cannot read "a" of undefined: ask with ?. where it may be absent`},
		{nil, 1.0, `cannot read "1" of undefined: ask with ?. where it may be absent`},
		{Null{}, String("\x1b[2J\u202e" + high), `cannot read "\x1b[2J\u202e` + "�" + `" of null: ask with ?. where it may be absent`},
		{Null{}, object("toString", 1.0), `cannot read "[object Object]" of null: ask with ?. where it may be absent`},
		{Null{}, String(strings.Repeat("é", 1<<19)), `cannot read "` + strings.Repeat("é", 30) + `"… of null: ask with ?. where it may be absent`},
		{Null{}, String("x" + strings.Repeat("é", 40)), `cannot read "x` + strings.Repeat("é", 29) + `"… of null: ask with ?. where it may be absent`},
		{object(), array(object("toString", 1.0)), "an array with a member toString cannot be converted to text or a number: use one of its members"},
	} {
		_, err := Index(c.v, c.key)
		require.EqualError(t, err, c.want)
	}
}

func TestShow(t *testing.T) {
	v := object("a", object("b", array(1.0, Null{}, array(2.0, Undefined{})), "u", Undefined{}, "n", Null{}, "toString", 5.0), "s", "text", "half", high)
	must(v.Set("s", String("text"), wide))
	for path, want := range map[string]string{
		"":              "[object Object]",
		"a":             "[object Object]",
		"a.b":           "1,,2,",
		"a.b.length":    "3",
		"a.b.2":         "2,",
		"a.b.7":         "undefined",
		"a.b.01":        "undefined",
		"a.u":           "undefined",
		"a.n":           "null",
		"a.missing":     "undefined",
		"a.toString":    "5",
		"a.hasOwn":      "undefined",
		"a.missing.x":   "verbatim",
		"a.missing.x.y": "verbatim",
		"a.n.x":         "verbatim",
		"a.u.x":         "verbatim",
		"a.b.length.x":  "verbatim",
		"s":             "text",
		"s.length":      "verbatim",
		"half":          "\ufffd",
	} {
		var names []string
		if path != "" {
			names = strings.Split(path, ".")
		}
		text, ok := Show(v, names)
		if !ok {
			text += "verbatim"
		}
		require.Equal(t, want, text, path)
	}
	text, ok := Show(Undefined{}, nil)
	require.True(t, ok)
	require.Equal(t, "undefined", text)
	for _, v := range []Value{Undefined{}, nil, Null{}, 1.0, true, String("s")} {
		_, ok := Show(v, []string{"length"})
		require.False(t, ok, "%v", v)
	}
}

func TestToText(t *testing.T) {
	o := newOracle(t)
	for i, js := range mirrored(o) {
		v := samples()[i]
		text := ToText(v)
		require.LessOrEqual(t, len(text), max(Size(v), 32), describe(v))
		want, err := o.value("x => `${x}`", js)
		p, failed := primitive(v)
		if err != nil { // shown all the same
			require.Error(t, failed, describe(v))
			require.Contains(t, text, "[object Object]")
			continue
		}
		require.NoError(t, failed)
		require.Equal(t, o.describe(want), describe(toString(p)), describe(v))
		require.Equal(t, want.String(), text, describe(v))
	}
	require.Equal(t, "1,[object Object]", ToText(array(1.0, object("toString", 1.0))))
	require.Equal(t, "undefined", ToText(nil))
}

func TestCount(t *testing.T) {
	for _, v := range []float64{1, 2, math.MaxInt32} {
		n, err := Count(v)
		require.NoError(t, err)
		require.EqualValues(t, v, n)
	}
	for want, v := range map[string]Value{
		"must be a positive integer, not undefined":          nil,
		"must be a positive integer, not null":               Null{},
		"must be a positive integer, not a boolean":          true,
		"must be a positive integer, not a string":           String("3"),
		"must be a positive integer, not an array":           array(3.0),
		"must be a positive integer, not an object":          object(),
		"must be a positive integer, not 0":                  math.Copysign(0, -1),
		"must be a positive integer, not -1":                 -1.0,
		"must be a positive integer, not 1.5":                1.5,
		"must be a positive integer, not NaN":                math.NaN(),
		"must be below 2147483648, not 2147483648":           2147483648.0,
		"must be below 2147483648, not Infinity":             math.Inf(1),
		"must be below 2147483648, not 1e+21":                1e21,
		"must be a positive integer, not -Infinity":          math.Inf(-1),
		"must be a positive integer, not 5e-324":             5e-324,
		"must be a positive integer, not 1.0000000000000002": math.Nextafter(1, 2),
	} {
		_, err := Count(v)
		var wrong *TypeError
		require.ErrorAs(t, err, &wrong)
		require.EqualError(t, err, "the number of rounds "+want)
	}
}

func TestItems(t *testing.T) {
	inner := array(1.0)
	list := array(inner, inner, Undefined{}, math.Inf(1), object("u", Undefined{}, "10", 1.0, "9", high))
	items, err := Items(list, wide)
	require.NoError(t, err)
	require.Equal(t, "[[1/3ff0000000000000;];[1/3ff0000000000000;];null;null;{[39]:[fffd];[31 30]:1/3ff0000000000000;};]", describe(items))
	require.False(t, StrictEqual(items.At(0), inner), "items are copies")
	require.False(t, StrictEqual(items.At(0), items.At(1)), "each on its own")
	require.LessOrEqual(t, Size(items), Size(list))
	require.Equal(t, Undefined{}, items.At(-1))
	require.Equal(t, Undefined{}, items.At(5))
	for _, v := range []Value{nil, Null{}, String("abc"), 1.0, object("length", 1.0)} {
		_, err := Items(v, wide)
		var wrong *TypeError
		require.True(t, errors.As(err, &wrong))
		require.EqualError(t, err, "the items must be an array, not "+Kind(v))
	}
	var limit *LimitError
	_, err = Items(list, Limits{Value: 100, Depth: 64})
	require.ErrorAs(t, err, &limit)
}
