package document

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

func TestDelimiters(t *testing.T) {
	for _, test := range []struct{ src, frontmatter, body string }{
		{"---\na: 1\n---\nx", `{"a":1}`, "x"},
		{"---\r\na: 1\r\n---\r\nx", `{"a":1}`, "x"},
		{"---yaml \na: 1\n---\nx", `{"a":1}`, "x"},
		{"--- json\n{\"a\": 1}\n---\nx", `{"a":1}`, "x"},
		{"---\na: 1\n---x\ny", `{"a":1}`, "x\ny"},
		{"---\na: 1\n----\ny", `{"a":1}`, "-\ny"},
		{"---\na: 1\n---\n\nx", `{"a":1}`, "\nx"},
		{"---\na: 1\n---\r\r\nx", `{"a":1}`, "\r\nx"},
		{"---\na: 1", `{"a":1}`, ""},
		{"---\na: 1\n---", `{"a":1}`, ""},
		{"---\n---\nx", "null", "x"},
		{"---json\n---\nx", "null", "x"},
		{"---\n# only\n\n---\nx", "null", "x"},
		{"---", "null", ""},
		{"---\n", "null", ""},
		{"----\na: 1\n---\n", "null", "----\na: 1\n---\n"},
		{"\n---\na: 1\n---\n", "null", "\n---\na: 1\n---\n"},
		{"--\n", "null", "--\n"},
		{"---\na: {}\n b: 1\n---\nx", "error", ""},
		{"---\n---\n---\nx", "null", "---\nx"},
		{"---\n{}\n---\nx", "{}", "x"},
	} {
		d, err := Parse("", []byte(test.src))
		if test.frontmatter == "error" {
			require.Error(t, err, test.src)
			continue
		}
		require.NoError(t, err, test.src)
		require.Equal(t, test.body, d.Source[d.BodyOffset:], test.src)
		if test.frontmatter == "null" {
			require.Nil(t, d.Frontmatter, test.src)
			continue
		}
		require.Equal(t, test.frontmatter, jsonText(t, d.Frontmatter), test.src)
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	text, err := value.JSON(v)
	require.NoError(t, err)
	return text
}

func TestScalars(t *testing.T) {
	for written, want := range map[string]string{
		"yes": `"yes"`, "no": `"no"`, "on": `"on"`, "off": `"off"`, "y": `"y"`,
		"true": "true", "True": "true", "TRUE": "true", "tRUE": `"tRUE"`, "false": "false", "False": "false", "FALSE": "false",
		"null": "null", "Null": "null", "NULL": "null", "~": "null", "": "null", "nULL": `"nULL"`,
		"0x1F": "31", "0b11": "3", "010": "8", "1_000": "1000", "+5": "5", "-5": "-5", "12:30": "750", "1:2:3": "3723",
		"-1:30": "-90", "1:60": `"1:60"`, "1:5x": `"1:5x"`, "1:": `{"1":null}`, "0:30": `"0:30"`, "1:30.5": "90.5", "0:30.5": "30.5",
		"0o17": `"0o17"`, "09": `"09"`, "0": "0", "-0": "0", "00": "0", "0x": `"0x"`, "0b2": `"0b2"`, "0xfg": `"0xfg"`, "0_7": "7",
		"1e3": "1000", "1E+3": "1000", "1e": `"1e"`, ".5": "0.5", "-.5": `"-.5"`, "1.": "1", "1.5": "1.5", "0.5": "0.5", "0e1": "0",
		"1.2.3": `"1.2.3"`, "1_": `"1_"`, "_1": `"_1"`, "+": `"+"`, "+-1": `"+-1"`, ".": `"."`, "..": `".."`, "-": `[null]`, "1-2": `"1-2"`,
		"99999999999999999999": "100000000000000000000", "0xffffffffffffffffffff": "1.2089258196146292e+24",
		`"12"`: `"12"`, "'true'": `"true"`, "|\n  x\n": `"x\n"`, ">\n  a\n  b": `"a b\n"`, `"\u00e9"`: `"é"`,
		"2020-1-1": `"2020-1-1"`, "2020-01": `"2020-01"`, "20200101": "20200101", "2020-01-01x": `"2020-01-01x"`,
		"2020-01-01 10:00": `"2020-01-01 10:00"`, "é": `"é"`,
	} {
		t.Run(written, func(t *testing.T) {
			d, err := Parse("", []byte("---\nk:\n  "+written+"\n---\n"))
			require.NoError(t, err)
			v, _ := d.Frontmatter.Get("k")
			require.Equal(t, want, jsonText(t, v))
		})
	}
}

func TestFrontmatterRefused(t *testing.T) {
	deep := func(n int) string { return "a: " + strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, test := range []struct {
		name, block  string
		message      string
		line, column int // in the file
	}{
		{"list", "- one", "must be an object", 2, 1},
		{"scalar", "word", "must be an object", 2, 1},
		{"null", "null", "must be an object", 2, 1},
		{"syntax", "title: [unclosed", "not valid YAML", 2, 1},
		{"syntax below", "a: 1\nb: 2\n  c: 3", "not valid YAML", 4, 3},
		{"date", "day: 2024-03-01", "$.day is a date", 2, 6},
		{"date in a list", "é:\n  - {x: [1, 2024-03-01T10:00:00Z]}", `$["é"][0].x[1] is a date`, 3, 13},
		{"time stamps", "a: 2024-3-1 1:00:00.25 +1:30", "is a date", 2, 4},
		{"infinite", "a: -.inf", "$.a is an infinite number", 2, 4},
		{"nan", "a: .NaN", "$.a is not a number", 2, 4},
		{"overflow", "a: 1e999", "$.a is a number too large", 2, 4},
		{"duplicate", "a: 1\n'a': 2", "$.a is written twice", 3, 1},
		{"duplicate after reading", "x: {1: a, 0x1: b}", `$.x["1"] is written twice`, 2, 11},
		{"anchor", "a: &x 1", "$.a has a YAML anchor", 2, 4},
		{"alias", "a: &x 1\nb: *x", "anchor", 2, 4},
		{"anchored mapping", "&x a: 1", "$ has a YAML anchor", 2, 1},
		{"anchored key", "{&x a: 1}", "$ has a YAML anchor", 2, 2},
		{"tag", "a: !!str 1", "$.a has a YAML tag", 2, 4},
		{"foreign tag", "a: !!python/object/apply:os.system [id]", "$.a has a YAML tag", 2, 4},
		{"bare tag", "a: ! 1", "$.a has a YAML tag", 2, 4},
		{"merge", "a: {<<: {b: 1}}", "merges", 2, 5},
		{"mapping as key", "? {a: 1}\n: 2", "write a plain name", 2, 3},
		{"second document", "a: 1\r---\rb: 2", "second YAML document", 2, 6},
		{"text after the end", "a: 1\n...\nb: 2", "not valid YAML", 3, 1},
		{"too deep", deep(MaxFrontmatterDepth), "deeper than 64 levels", 2, 67},
		{"too large", "a: " + strings.Repeat("x", MaxFrontmatter), "the limit is 65536", 2, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("f.md", []byte("---\n"+test.block+"\n---\n"))
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, "frontmatter-invalid", e.Code)
			require.Contains(t, e.Message, test.message)
			require.Equal(t, [2]int{test.line, test.column}, [2]int{e.Pos.Line, e.Pos.Column}, e.Message)
			require.Equal(t, "f.md", e.Pos.Source)
		})
	}
	_, err := Parse("", []byte("---\n"+deep(MaxFrontmatterDepth-1)+"\n---\n"))
	require.NoError(t, err)

	for src, message := range map[string]string{
		"---js\n({})\n---\n":                "no frontmatter language",
		"---toml\na = 1\n---\n":             "no frontmatter language",
		"--- a text\n":                      "no frontmatter language",
		"---json\n{\"a\": 1,}\n---\n":       "not valid JSON",
		"---json\n{\"a\":1,\"a\":2}\n---\n": "member twice",
		"---json\n[1]\n---\n":               "must be an object",
		"---json\n{\"a\": " + strings.Repeat("[", 64) + strings.Repeat("]", 64) + "}\n---\n": "deeper than 64",
	} {
		_, err := Parse("", []byte(src))
		var e *Error
		require.ErrorAs(t, err, &e, src)
		require.Equal(t, "frontmatter-invalid", e.Code)
		require.Contains(t, e.Message, message)
		require.Positive(t, e.Pos.Line)
	}
}

func TestKeys(t *testing.T) {
	d := parse(t, "---\nz: 1\na: 2\n1: x\ntrue: y\n'<<': z\n0x10: w\n~: v\n2020-01-02: u\n\"q q\": {b: [], c: {}}\n---\n")
	require.Equal(t, `{"z":1,"a":2,"1":"x","true":"y","<<":"z","16":"w","null":"v","2020-01-02":"u","q q":{"b":[],"c":{}}}`,
		jsonText(t, d.Frontmatter))
}

// TestHostileFrontmatter holds reading to a small bound for blocks of the largest
// size, whatever they are made of.
func TestHostileFrontmatter(t *testing.T) {
	stairs := func(line string) string {
		var b strings.Builder
		for i := 0; b.Len() < MaxFrontmatter-500; i++ {
			fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", i), line)
		}
		return b.String()
	}
	shapes := map[string]string{"mapping stairs": stairs("k:"), "list stairs": stairs("-")}
	for _, unit := range []string{"[", "{", "{a: ", "- ", "? ", "[? ", "a: 1\n", "- &a *a\n", "\n", " \n", "# x\n", "a:\n # x\n",
		"'", "\"\\", "!", "! ", "&", "*a ", "|", ">", ":", "a:", "---", "%", "\t", "0", "1:", "_", "-", "é ", "[a,", "{a: b,"} {
		shapes[unit] = strings.Repeat(unit, MaxFrontmatter/len(unit))
		shapes["k: "+unit] = "k: " + strings.Repeat(unit, (MaxFrontmatter-9)/len(unit))
		shapes["k: |"+unit] = "k: |\n " + strings.Repeat(unit, (MaxFrontmatter-9)/len(unit))
	}
	long := strings.Repeat("k", MaxFrontmatter/2)
	shapes["long key"] = "? " + long + "\n: [" + strings.Repeat("a,", MaxFrontmatter/4-10) + "]"
	for name, block := range shapes {
		start := time.Now()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse("", []byte("---\n"+block+"\n---\n"))
		runtime.ReadMemStats(&after)
		require.Less(t, time.Since(start), 2*time.Second, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), name)
		if err != nil {
			require.Less(t, len(err.Error()), 2*MaxFrontmatter, name)
		}
	}
}
