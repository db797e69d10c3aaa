package ecma

import (
	"math"
	"testing"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/stretchr/testify/require"
)

// FuzzBinary applies every operator to two values given as JSON and compares the
// result, bit by bit, with the interpreter's.
func FuzzBinary(f *testing.F) {
	for i, texts := range [][2]string{
		{"1", "2"}, {"-0", "0"}, {`"a"`, `"b"`}, {`"12"`, "12"}, {`" 0x1f\n"`, "31"}, {"[1,[2,null]]", `"1,2,"`}, {"{}", `{"toString":1}`},
		{`"\ud83d"`, `"\ude00"`}, {`"\ud83d\ude00"`, `"\uffff"`}, {"null", "true"}, {"1e308", "10"}, {"5e-324", "2"}, {`{"2":1,"1":[]}`, "[]"}, {`"1e3"`, `"Infinity"`},
	} {
		f.Add(texts[0], texts[1], uint8(i))
	}
	f.Add("-2", "0", uint8(Multiply))
	f.Add(`"-00"`, "0", uint8(Add))
	f.Add(`"a"`, `"-"`, uint8(Add))
	f.Fuzz(func(t *testing.T, a, b string, op uint8) {
		if len(a)+len(b) > 1<<12 {
			return
		}
		x, err := ParseJSON(a, wide)
		if err != nil {
			return
		}
		y, err := ParseJSON(b, wide)
		if err != nil {
			return
		}
		o := newOracle(t)
		made := map[Value]goja.Value{}
		left, right := o.js(x, made), o.js(y, made)
		require.Equal(t, o.describe(left), describe(x))

		known := ordinary(x) && ordinary(y)
		if n := BinaryOp(op % uint8(Remainder+1)); known || n <= NotEqual {
			v, err := Binary(n, x, y, wide)
			require.Equal(t, o.call(binarySource(n), left, right), describeResult(v, err))
		}
		if known {
			v, err := Unary(Negate, x)
			require.Equal(t, o.call("x => -x", left), describeResult(v, err))
		}
		v, err := Index(x, y)
		require.Equal(t, o.call(ownMember, left, right), describeResult(v, err))

		v, err = Binary(Add, String(""), x, wide)
		require.Equal(t, o.call("x => `${x}`", left), describeResult(v, err))
		require.True(t, utf8.ValidString(ToText(x)))
		require.LessOrEqual(t, len(ToText(x)), max(Size(x), 32))
		require.Equal(t, count(x), Size(x))

		text, err := JSONText(x, wide)
		require.NoError(t, err)
		require.Equal(t, o.call("x => JSON.stringify(x, null, 2)", left), describe(String(text)))
		again, err := ParseJSON(text, wide)
		require.NoError(t, err)
		require.Equal(t, Size(x), Size(again))

		out, ok := ToJSON(x)
		require.True(t, ok)
		back, err := FromJSON(out, wide)
		require.NoError(t, err)
		require.LessOrEqual(t, Size(back), Size(x))
	})
}

// ordinary reports whether the interpreter reads v as the number it is: see
// wrongNumbers.
func ordinary(v Value) bool {
	p, err := primitive(v)
	if err != nil {
		return true
	}
	s, ok := p.(String)
	if !ok {
		return true
	}
	for _, r := range string(s) {
		if r == 0x85 || r == 0xfeff {
			return false
		}
	}
	n := s.Trim()
	if f := toNumber(n); f == 0 && math.Signbit(f) && n != "-0" {
		return false
	}
	if len(n) < 3 || n[0] != '0' {
		return true
	}
	switch n[1] {
	case 'x', 'X', 'o', 'O', 'b', 'B':
		return n[2] != '+' && n[2] != '-' && len(n) < 18
	}
	return true
}

// FuzzParseJSON compares what is read with the interpreter.
func FuzzParseJSON(f *testing.F) {
	for _, text := range []string{"", "[1,2]", `{"a":"\u00e9","1":[null,true]}`, `"\ud83d\ude00"`, "-1.5e-7", "[[[", `{"a":1,"a":2}`, "1e999", "\"\t\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseJSON(text, wide)
		if !utf8.ValidString(text) || len(text) > 1<<12 {
			return
		}
		o := newOracle(t)
		js, thrown := o.value("JSON.parse", o.vm.ToValue(text))
		if err != nil {
			if thrown == nil { // what is read more strictly, or bounded
				require.Regexp(t, "number out of range|too deep|too large", err.Error())
			}
			return
		}
		require.NoError(t, thrown)
		written, err := JSONText(v, wide)
		require.NoError(t, err)
		for _, r := range written {
			if r == '\\' { // the interpreter's JSON.parse loses halves
				return
			}
		}
		require.Equal(t, o.describe(js), describe(v))
	})
}
