package ecma

import (
	"math"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/stretchr/testify/require"
)

// binarySource is op as a function of the interpreter.
func binarySource(op BinaryOp) string {
	if op == Multiply { // it loses the sign of -2 * 0, which ECMAScript keeps
		return `(x, y) => {
			const product = x * y, negative = n => n < 0 || 1 / n < 0
			return product !== 0 ? product : negative(+x) !== negative(+y) ? -0 : 0
		}`
	}
	return "(x, y) => x " + []string{
		Equal: "===", NotEqual: "!==", Less: "<", LessEqual: "<=", Greater: ">", GreaterEqual: ">=",
		Add: "+", Subtract: "-", Divide: "/", Remainder: "%",
	}[op] + " y"
}

// wrongNumbers are the strings the interpreter reads as another number than
// ECMAScript says, with the right one: it takes white space for what it is in Go,
// knows -0 in one spelling only, and reads the digits of other bases with a sign and
// only as far as 64 bits go.
var wrongNumbers = map[String]float64{
	"-00":                          math.Copysign(0, -1),
	"\u008512":                     math.NaN(),
	"0x+1":                         math.NaN(),
	"0xffffffffffffffffffff":       0xffffffffffffffffffff,
	"\u00a0\ufeff\u20281.50\u3000": 1.5,
}

func TestToNumber(t *testing.T) {
	o := newOracle(t)
	for i, js := range mirrored(o) {
		v := samples()[i]
		s, _ := v.(String)
		want := o.call("x => -(-x)", js)
		if right, wrong := wrongNumbers[s]; wrong {
			require.NotEqual(t, describeNumber(right), want, "the interpreter has learned to read %q", s)
			want = describeNumber(right)
		}
		n, err := Unary(Negate, v)
		if err == nil {
			n, err = Unary(Negate, n)
		}
		require.Equal(t, want, describeResult(n, err), "%q", s)
	}
}

func TestBinary(t *testing.T) {
	o := newOracle(t)
	js := mirrored(o)
	for op := Equal; op <= Remainder; op++ {
		source := binarySource(op)
		for i, x := range samples() {
			for j, y := range samples() {
				v, err := Binary(op, x, y, wide)
				got := describeResult(v, err)
				want := o.call(source, o.operand(x, js[i], y, op), o.operand(y, js[j], x, op))
				if got != want {
					t.Errorf("%s with %s and %s: %s, not %s", source, describe(x), describe(y), got, want)
				}
			}
		}
	}
}

// operand is the interpreter's value of v as an operand beside other: the number
// ECMAScript reads where it reads another (see wrongNumbers).
func (o *oracle) operand(v Value, js goja.Value, other Value, op BinaryOp) goja.Value {
	s, _ := v.(String)
	right, wrong := wrongNumbers[s]
	if !wrong || op <= NotEqual || op == Add {
		return js
	}
	p, _ := primitive(other)
	if _, text := p.(String); text && op <= GreaterEqual {
		return js // compared as texts
	}
	return o.vm.ToValue(right)
}

func TestUnary(t *testing.T) {
	o := newOracle(t)
	for i, js := range mirrored(o) {
		v := samples()[i]
		not, err := Unary(Not, v)
		require.NoError(t, err)
		require.Equal(t, o.call("x => !x", js), describe(not), describe(v))
		require.Equal(t, o.call("x => !!x", js), describe(Truthy(v)), describe(v))
		require.Equal(t, o.call("x => x === undefined || x === null", js), describe(Nullish(v)), describe(v))
	}
}

func TestRemainder(t *testing.T) {
	o := newOracle(t)
	numbers := []float64{0, math.Copysign(0, -1), 1, -1, 2.5, -2.5, 4, -4, 1e308, 5e-324, 1e17, 3, math.Pi, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, x := range numbers {
		for _, y := range numbers {
			v, err := Binary(Remainder, x, y, wide)
			require.NoError(t, err)
			require.Equal(t, o.call("(x, y) => x % y", o.vm.ToValue(x), o.vm.ToValue(y)), describe(v), "%v %% %v", x, y)
		}
	}
}

func TestUnknownOperators(t *testing.T) {
	var wrong *TypeError
	_, err := Unary(2, 1.0)
	require.ErrorAs(t, err, &wrong)
	_, err = Binary(Remainder+1, 1.0, 1.0, wide)
	require.ErrorAs(t, err, &wrong)
}

func TestStrictEqualIsIdentity(t *testing.T) {
	a, b := array(1.0), array(1.0)
	require.True(t, StrictEqual(a, a))
	require.False(t, StrictEqual(a, b))
	require.True(t, StrictEqual(nil, Undefined{}))
	require.False(t, StrictEqual(Null{}, Undefined{}))
	require.False(t, StrictEqual(math.NaN(), math.NaN()))
	require.True(t, StrictEqual(0.0, math.Copysign(0, -1)))
	require.True(t, StrictEqual(concat(high, low), String("😀")))
}

func TestHidingConversionFails(t *testing.T) {
	for _, v := range []Value{object("toString", 1.0), array(1.0, array(object("toString", Null{})))} {
		var wrong *TypeError
		for op := Less; op <= Remainder; op++ {
			_, err := Binary(op, v, 1.0, wide)
			require.ErrorAs(t, err, &wrong)
			_, err = Binary(op, String("x"), v, wide)
			require.ErrorAs(t, err, &wrong)
		}
		_, err := Index(object(), v)
		require.ErrorAs(t, err, &wrong)
		require.NotContains(t, wrong.Reason, "\n")
	}
	v, err := Binary(Add, String(""), object("x", object("toString", 1.0)), wide)
	require.NoError(t, err, "only what a conversion looks at counts")
	require.Equal(t, String("[object Object]"), v)
}

func TestLongNumbersTakeNoTime(t *testing.T) {
	for s, want := range map[String]float64{
		"0x" + String(strings.Repeat("0", 1<<20)) + "10": 16,
		"0x" + String(strings.Repeat("f", 1<<20)):        math.Inf(1),
		"0b" + String(strings.Repeat("1", 1<<20)):        math.Inf(1),
		"0o1" + String(strings.Repeat("0", 341)):         math.Ldexp(1, 1023),
		"0o2" + String(strings.Repeat("0", 341)):         math.Inf(1),
		String(strings.Repeat("9", 1<<20)):               math.Inf(1),
		"0." + String(strings.Repeat("0", 1<<20)) + "1":  0,
		"1e" + String(strings.Repeat("9", 1<<20)):        math.Inf(1),
		"0x1fffffffffffff8":                              0x1fffffffffffff8,
		"0x3fffffffffffff":                               0x40000000000000, // half-way, to even
		"0x3ffffffffffffe":                               0x3ffffffffffffe,
	} {
		require.Equal(t, want, toNumber(s), "%.20q", s)
	}
}
