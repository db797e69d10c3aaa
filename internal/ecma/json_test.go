package ecma

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

func TestParseJSON(t *testing.T) {
	o := newOracle(t)
	for _, text := range []string{
		"null", "true", " false\t\r\n", "0", "-0", "-0.0", "1", "-1.5e+3", "1E-7", "5e-324", "1e-400", "123456789012345678901234567890", "0.1",
		`""`, `"a\"\\\/\b\f\n\r\tA"`, `"\u00e9\uD83d\ude00"`, `"é😀"`, `"\u0000"`, "\"\u2028\x7f\"",
		"[]", "[ ]", "[1,2 , [3]]", `[[],{},"x",null]`, "{}", "{ }", `{"a":1,"b":{"c":[]}}`,
		`{"b":1,"a":2,"b":3}`, `{"10":1,"9":2,"x":3,"01":4,"4294967294":5,"4294967295":6,"0":7}`, `{"\ud83d\ude00":1,"__proto__":{"a":1},"":2,"constructor":3}`,
		`{"10":1,"10":2,"x":0,"2":1}`,
		// no JSON
		"", " ", "nul", "nulll", "True", "undefined", "NaN", "Infinity", "+1", "01", "-", "1.", ".5", "1e", "1e+", "0x1", "1_0", "--1", "-01",
		`"`, `"a`, `"\`, `"\x41"`, `"\u12"`, `"\u12g4"`, `"\u+123"`, "\"\n\"", "\"\x00\"", `'a'`, "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`,
		"{a:1}", "{1:1}", `{"a" 1}`, `{"a":1 "b":2}`, "1 2", "[] []", "]", "}", ",", ":", "\u00a01", "\ufeff1", "\v1", "//x\n1",
	} {
		v, err := ParseJSON(text, wide)
		want := o.call("JSON.parse", o.vm.ToValue(text))
		require.Equal(t, want, describeResult(v, err), "%q", text)
		if err != nil {
			var wrong *SyntaxError
			require.ErrorAs(t, err, &wrong, "%q", text)
		}
	}
	// The interpreter's JSON.parse loses halves, but its own literals are the same.
	for _, text := range []string{`"\uD83D"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`, `"\ud83dx\ude00"`, `["\udfff\ud800","\udbff\udc00"]`, `{"\ud83d":"\ude00"}`} {
		v, err := ParseJSON(text, wide)
		require.Equal(t, o.call("() => ("+text+")"), describeResult(v, err), "%q", text)
	}
	for _, text := range []string{"1e999", "[-1e309]", "\"\xff\"", "\"\xed\xa0\xbd\"", "\xff"} { // stricter than ECMAScript
		_, err := ParseJSON(text, wide)
		var wrong *SyntaxError
		require.ErrorAs(t, err, &wrong, "%q", text)
		require.NotContains(t, err.Error(), "999")
	}
	_, err := ParseJSON(`[1, "marker`, wide)
	require.EqualError(t, err, "not JSON at byte 11: a string has no end")
}

func TestParseJSONIsBounded(t *testing.T) {
	var limit *LimitError
	for _, text := range []string{strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 1<<18), strings.Repeat("[", 65) + strings.Repeat("]", 65)} {
		_, err := ParseJSON(text, wide)
		require.ErrorAs(t, err, &limit)
		require.Equal(t, "depth", limit.Bound)
	}
	v, err := ParseJSON(strings.Repeat("[", 64)+strings.Repeat("]", 64), wide)
	require.NoError(t, err)
	require.Equal(t, 64, depth(v))
	for text, fits := range map[string]bool{
		`"` + strings.Repeat("x", 100) + `"`:   true,
		`"` + strings.Repeat("x", 101) + `"`:   false,
		"[1,2,3]":                              true,
		"[1,2,3,4]":                            false,
		`["1234"]`:                             true,
		`{"ab":1,"cd":2,"ef":"` + "..." + `"}`: false,
		`{"ab":1,"ab":2,"ab":3,"ab":4}`:        true,
	} {
		_, err := ParseJSON(text, Limits{Value: 100, Depth: 4})
		if fits {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorAs(t, err, &limit, text)
		require.Equal(t, "value", limit.Bound)
	}
}

// project is the JSON projection, with U+FFFD for the halves JSON.stringify escapes.
const project = `v => {
	const text = JSON.stringify(v)
	return text === undefined ? undefined : JSON.parse(text.replace(/\\ud[89a-f][0-9a-f]{2}/g, "\ufffd"))
}`

// JSON.stringify writes -0 as 0; a value that passes no text keeps it.
const (
	negativeZero = "-0/8000000000000000"
	zero         = "0/0"
)

func TestProjection(t *testing.T) {
	o := newOracle(t)
	for i, js := range mirrored(o) {
		v := samples()[i]
		out, ok := ToJSON(v)
		want := o.call(project, js)
		if !ok {
			require.Equal(t, want, "undefined")
			continue
		}
		back, err := FromJSON(out, wide)
		require.NoError(t, err)
		require.Equal(t, want, strings.ReplaceAll(describe(back), negativeZero, zero), describe(v))
		require.LessOrEqual(t, Size(back), Size(v))
		text, err := value.JSON(out)
		require.NoError(t, err, "a projection has JSON text")
		require.True(t, utf8.ValidString(text))
	}
}

func TestProjectionOfHalves(t *testing.T) {
	out, ok := ToJSON(object(string(high), low, "\ufffd", high+"\u00e9", "pair", concat(high, low)))
	require.True(t, ok)
	require.Equal(t, []string{"\ufffd", "pair"}, out.(*value.Object).Keys())
	text, err := value.JSON(out)
	require.NoError(t, err)
	require.Equal(t, `{"�":"�é","pair":"😀"}`, text)
}

func TestFromJSON(t *testing.T) {
	in := value.Of("b", []any{nil, true, 1.5, "x\xff", value.Undefined{}}, "10", value.Of(), "9", "", "\xff", math.Copysign(0, -1))
	v, err := FromJSON(in, wide)
	require.NoError(t, err)
	require.Equal(t, "{[39]:[];[31 30]:{};[62]:[null;true;1.5/3ff8000000000000;[78 fffd];undefined;];[fffd]:-0/8000000000000000;}", describe(v))
	in.Set("late", 1.0)
	require.Equal(t, 4, v.(*Object).Len(), "the value is a copy")

	_, err = FromJSON([]any{map[string]any{}}, wide)
	var wrong *TypeError
	require.ErrorAs(t, err, &wrong)

	var deep any = 1.0
	for range 65 {
		deep = []any{deep}
	}
	var limit *LimitError
	_, err = FromJSON(deep, wide)
	require.ErrorAs(t, err, &limit)
	require.Equal(t, "depth", limit.Bound)
	_, err = FromJSON(deep.([]any)[0], wide)
	require.NoError(t, err)
	for _, large := range []any{strings.Repeat("x", 101), strings.Repeat("\xff", 34), []any{1.0, 2.0, 3.0, 4.0}, value.Of(strings.Repeat("n", 70), nil), value.Of(strings.Repeat("\xff", 34), nil)} {
		_, err = FromJSON(large, Limits{Value: 100, Depth: 4})
		require.ErrorAs(t, err, &limit)
		require.Equal(t, "value", limit.Bound)
	}
}

func TestJSONText(t *testing.T) {
	o := newOracle(t)
	for i, js := range mirrored(o) {
		v := samples()[i]
		text, err := JSONText(v, wide)
		want := o.call("v => JSON.stringify(v, null, 2)", js)
		if want == "undefined" {
			var wrong *TypeError
			require.ErrorAs(t, err, &wrong)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, describe(String(text)), text)
		require.True(t, utf8.ValidString(text))
		if back, err := ParseJSON(text, wide); !strings.Contains(describe(v), "undefined") && !strings.Contains(text, "null") {
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(describe(v), negativeZero, zero), describe(back), "halves survive")
		}
		out, _ := ToJSON(v)
		indented, err := value.AppendIndent(nil, out)
		require.NoError(t, err)
		if !strings.Contains(text, `\ud`) {
			require.Equal(t, string(indented), text, "the text of an ordinary document")
		}
	}
	for c := range rune(0x120) {
		s := String(c) + "x"
		want := o.call("JSON.stringify", goja.StringFromUTF16(unitsOf(s)))
		text, err := JSONText(s, wide)
		require.NoError(t, err)
		require.Equal(t, want, describe(String(text)))
	}
	text, err := JSONText(array(high+"\ud7ff"+concat(high, low)+low, String("\xed\xa0\x80")), wide)
	require.NoError(t, err)
	require.Equal(t, "[\n  \"\\ud83d\ud7ff😀\\ude00\",\n  \"\\ud800\"\n]", text)
}

func TestJSONTextIsBounded(t *testing.T) {
	v := array(String("ab\n"), object("a", 1.0, "b", array()), high)
	whole, err := JSONText(v, wide)
	require.NoError(t, err)
	exact, err := JSONText(v, Limits{Value: len(whole), Depth: 64})
	require.NoError(t, err)
	require.Equal(t, whole, exact)
	for n := range len(whole) {
		_, err := JSONText(v, Limits{Value: n, Depth: 64})
		var limit *LimitError
		require.ErrorAs(t, err, &limit, strconv.Itoa(n))
		require.Equal(t, "value", limit.Bound)
	}
	// Six bytes for one, and no more of them are made than there is room for.
	w := writer{room: 1 << 10}
	w.value(array(String(strings.Repeat("\x01", 1<<19)), 1.0), 0)
	require.Negative(t, w.room)
	require.LessOrEqual(t, w.text.Len(), 1<<10)
}

// TestSharingIsBounded builds values whose text would be exponential in how many
// were made.
func TestSharingIsBounded(t *testing.T) {
	var v Value = String("x")
	var limit *LimitError
	for {
		a := NewArray()
		err := a.Append(v, wide)
		if err == nil {
			err = a.Append(v, wide)
		}
		if err != nil {
			require.ErrorAs(t, err, &limit)
			require.Equal(t, "value", limit.Bound)
			break
		}
		v = a
	}
	require.LessOrEqual(t, Size(v), wide.Value)
	require.Greater(t, Size(v), wide.Value/4)
	require.LessOrEqual(t, len(ToText(v)), Size(v))
	_, ok := ToJSON(v)
	require.True(t, ok)
	text, err := JSONText(v, wide)
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), wide.Value)
}
