package value

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestObjectKeepsOrder(t *testing.T) {
	for _, n := range []int{3, indexed, indexed + 1, 100} {
		o := NewObject(0)
		for i := range n {
			o.Set(fmt.Sprint("k", i), float64(i))
		}
		o.Set("k1", "again")
		o.Delete("k0")
		o.Delete("none")
		require.Equal(t, n-1, o.Len())
		require.Equal(t, "k1", o.Keys()[0])
		v, ok := o.Get("k1")
		require.True(t, ok)
		require.Equal(t, "again", v)
		require.False(t, o.Has("k0"))
		o.Set("k0", nil)
		require.Equal(t, "k0", o.Keys()[n-1])
		require.True(t, o.Has(fmt.Sprint("k", n-1)))
	}
	var none *Object
	require.Zero(t, none.Len())
	require.False(t, none.Has("a"))
	require.Empty(t, none.Keys())
	for range none.All() {
		t.Fatal("a nil object has no members")
	}
}

func TestParseIsStrict(t *testing.T) {
	for text, reason := range map[string]string{
		``:                                 "ends too early",
		`[1`:                               "ends too early",
		`{"a":1,"a":2}`:                    "twice",
		`1 2`:                              "after the JSON value",
		`1e999`:                            "out of range",
		`nul`:                              "ends too early",
		`{a:1}`:                            "not JSON",
		`"` + "\xff" + `"`:                 "not JSON",
		`[` + "\x00" + `]`:                 "not JSON",
		`'a'`:                              "not JSON",
		`01`:                               "",
		strings.Repeat("[", MaxDepth+2):    "levels",
		`"\ud800"`:                         "not JSON",
		`[1,]`:                             "not JSON",
		`{"secretvalue":1,"secretvalue":2`: "",
	} {
		_, err := Parse([]byte(text))
		require.Error(t, err, text)
		require.Contains(t, err.Error(), reason)
		require.NotContains(t, err.Error(), "secretvalue")
	}
}

func TestText(t *testing.T) {
	for want, v := range map[string]any{
		"null": nil, "true": true, "1": 1.0, "3.5": 3.5, "s": "s", "1,2,3,": []any{1.0, []any{2.0, 3.0}, nil},
		"[object Object]": Of("a", 1.0), "undefined": Undefined{}, ",x": []any{Undefined{}, "x"},
	} {
		require.Equal(t, want, Text(v))
	}
	for want, f := range map[string]float64{
		"0": math.Copysign(0, -1), "NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1), "1e+21": 1e21,
		"123456789012345680000": 123456789012345680000, "0.000001": 1e-6, "1e-7": 1e-7, "-1.5e-9": -1.5e-9, "5e-324": 5e-324,
		"1.7976931348623157e+308": math.MaxFloat64, "100": 100, "0.1": 0.1,
	} {
		require.Equal(t, want, FormatNumber(f))
	}
}

func TestAppend(t *testing.T) {
	v := Of("z", []any{}, "a", NewObject(0), "u", Undefined{}, "l", []any{Undefined{}, "é\u2028<&>\x01\b\f\n\r\t\"\\"})
	text, err := JSON(v)
	require.NoError(t, err)
	require.Equal(t, `{"z":[],"a":{},"l":[null,"é`+"\u2028"+`<&>\u0001\b\f\n\r\t\"\\"]}`, text)
	indented, err := AppendIndent(nil, Of("a", []any{1.0, Of("b", nil)}, "e", []any{}))
	require.NoError(t, err)
	require.Equal(t, "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ],\n  \"e\": []\n}", string(indented))
	for _, bad := range []any{math.NaN(), math.Inf(1), Undefined{}, 1, []any{int64(1)}} {
		_, err := JSON(bad)
		require.Error(t, err)
	}
	deep := any(nil)
	for range MaxDepth + 2 {
		deep = []any{deep}
	}
	_, err = JSON(deep)
	require.ErrorIs(t, err, ErrDepth)
}

func TestCloneAndEqual(t *testing.T) {
	v := Of("a", []any{Of("b", 1.0)}, "c", nil)
	c := Clone(v).(*Object)
	require.True(t, Equal(v, c))
	list, _ := c.Get("a")
	list.([]any)[0].(*Object).Set("b", 2.0)
	require.False(t, Equal(v, c))
	require.True(t, Equal(Of("a", 1.0, "b", 2.0), Of("b", 2.0, "a", 1.0)))
	require.False(t, Equal(Of("a", 1.0), Of("a", 1.0, "b", nil)))
	require.False(t, Equal([]any{1.0}, []any{1.0, 2.0}))
	require.False(t, Equal("1", 1.0))
}

// FuzzRoundTrip: what Parse accepts, Append writes back as equal JSON, compact and
// indented.
func FuzzRoundTrip(f *testing.F) {
	for _, seed := range []string{`null`, `{"a":[1,2.5e-7,"\u00e9\ud83d\ude00"],"b":{}}`, `[[],{},"",0,-0,1e21]`, `"\u2028"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse([]byte(text))
		if err != nil {
			return
		}
		for _, write := range []func([]byte, any) ([]byte, error){Append, AppendIndent} {
			again, err := write(nil, v)
			require.NoError(t, err)
			w, err := Parse(again)
			require.NoError(t, err)
			require.True(t, Equal(v, w), "%s became %s", text, again)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	line := []byte(`{"type":"yield","coroutineId":"root","description":{"type":"exec","name":"exec:echo hi","command":["bash","-c","echo hi\n"],"executablemd.source-position":{"path":"d.md","offset":137,"line":11,"column":1}},"result":{"status":"ok","value":{"exitCode":0,"stdout":"hi\n","stderr":""}}}`)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(line); err != nil {
			b.Fatal(err)
		}
	}
}
