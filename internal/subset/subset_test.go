package subset

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/expr"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

const depth = 64

// Every rule of the closed dialect with the forms it refuses and their nearest
// neighbours it admits.
func TestA2_ExpressionFormsOfTheClosedDialect(t *testing.T) {
	vm := newWorld()
	for _, c := range []struct {
		rule     string
		refused  []string
		admitted []string
	}{
		{
			"one expression",
			[]string{"", " ", "a b", "a;", ";", "a)", "(a", "()", "a,b", "(a, b)", "return a", "{a: 1} {b: 2}", "a\nb", "[a", "]", "\x00", "@", "#a"},
			[]string{"a", " a\n", "(a)", "[a, b]", "{a: 1}", "((a))"},
		},
		{
			"white space",
			[]string{"a\u0085", "a\u200b", "a\u180e", "a\u2060+b", "a\xff", "\xc2", "a\x1f"},
			[]string{"a\u00a0+\ufeffb", "\u2028a\u2029", "\u3000a\u1680", "a\u2000.\u200ab", "\t\v\f\r\n a", "a\u202f\u205f"},
		},
		{
			"comments",
			[]string{"a // b", "a /* b */", "/* a */ 1", "// a\n1", "a/**/+b", "a <!-- b", "a --> b", "#! a"},
			[]string{"a / b", "a / b / c", "a * b", "a < !b", "a - -b"},
		},
		{
			"names",
			[]string{"if", "this", "await", "yield", "let", "static", "eval", "arguments", "enum", "new", "super", "é", "aé", `\u0061`, `a\u0062`, "\u2118", "a\u200d", "#a", "a#b", "a@b"},
			[]string{"iff", "_", "$", "$a_9", "undefined", "NaN", "Infinity", "async", "of", "get", "meta", "props", "constructor", "__proto__", "Await"},
		},
		{
			"strings",
			[]string{`"a`, `'a"`, "'a\nb'", "'a\rb'", `"\x4"`, `"\xg0"`, `"\u12"`, `"\u{}"`, `"\u{110000}"`, `"\u{12"`, `"\u{00000000000110000}"`, `"\1"`, `"\07"`, `"\08"`, `"\8"`, `"\9"`, `"\`, `"\"`, "'\xff'", "'\xed\xa0\x80'", `"a" "b"`},
			[]string{`"a"`, `'a"'`, "'a\\\nb'", "'a\\\r\nb'", `"\x41"`, `"\u0012"`, `"\u{0}"`, `"\u{10fffe}"`, `"\u{0000000000010fffe}"`, `"\0"`, `"\0a"`, `"\a"`, `"\\"`, "'a\u2028\u2029b'", `"\ud800"`, "'\\\u2028'", "'\\\U0001f600'"},
		},
		{
			"numbers",
			[]string{"010", "08", "00", "09.5", "0_1", "1_", "1__0", "_1.5.", "1._5", "1_.5", "1e", "1e+", "1e_5", "1e5_", "0x", "0xg", "0x_1", "0x1_", "0b2", "0b12", "0o8", "0o", "1n", "0x1n", "0n", "3a", "3in a", "1.a", "1$", "1_a", "1é", "1e999", "-1e999", "0x8000000000000000", "0b1" + strings.Repeat("0", 63), "0o1" + strings.Repeat("0", 21), "0x" + strings.Repeat("f", 256), ".", "1.2.3", "+1", "1 2", "0x1.5", "0b1e2."},
			[]string{"10", "8", "0", "9.5", "1_0", "1.5", ".5", "5.", "1.e5", "1e5", "1E+5", "1e-5", "1e1_0", "0x1F", "0X1_f", "0b1_0", "0O17", "3 .a", "1..a", "1.5.a", "1e308", "1e-999", "0x" + strings.Repeat("0", 2000) + "1", "0x7fffffffffffffff", "0b1" + strings.Repeat("0", 62), "0o7" + strings.Repeat("0", 20), "1" + strings.Repeat("0", 308), "1_0.5_0e0_1", ".5_5"},
		},
		{
			"templates",
			[]string{"`a", "`${a", "`${a`", "`${a}", "`${a}\\1`", "`${}`", "`${a b}`", "`${a;}`", "`\\1`", "`\\01`", "`\\8`", "`\\u{110000}`", "`\\xg`", "`${\"}`", "a`b`", "`a``b`", "`${`}`"},
			[]string{"``", "`a`", "`${a}`", "`$a {b} $`", "`${{a: 1}}`", "`${`${a}`}`", "`\\0`", "`\\``", "`\\${a}`", "`$${a}`", "`a\nb`", "`}`"},
		},
		{
			"arrays",
			[]string{"[", "[,]", "[1,,2]", "[1 2]", "[...a]", "[1;2]", "[1}", "[a = 1]", "[for (a of b) a]"},
			[]string{"[]", "[1]", "[1,]", "[1, a, [2]]", "[[], {}]"},
		},
		{
			"objects",
			[]string{"{", "{a}}", "{,}", "{a:}", "{a: 1,, b: 2}", "{...a}", "{[a]: 1}", "{a() {}}", "{get a() {}}", "{set a(b) {}}", "{async a() {}}", "{*a() {}}", "{a = 1}", "{if}", "{true}", "{eval}", `{"a"}`, "{1}", "{-1: 2}", "{1n: 2}", "{1e999: 2}", "{`a`: 1}", "{#a: 1}", "{é: 1}", "{a.b}", "{a: 1; b: 2}", "{08: 1}"},
			[]string{"{}", "{a}", "{a,}", "{a: 1}", "{a: 1, b: 2,}", "{if: 1}", "{true: 1}", "{eval: 1}", `{"a": 1}`, "{'a b': 1}", "{1: 2}", "{0x10: 1, .5: 2}", "{get: 1, set: 2}", "{get}", "{async}", "{__proto__: 1}", "{__proto__}", `{"__proto__": a, __proto__: 1}`, "{constructor: 1, prototype: 2}", "{a: {b}}"},
		},
		{
			"members",
			[]string{"a.", "a..b", "a.5", "a.1b", "a.__proto__", "a.prototype", "a.constructor", "a?.constructor", `a["__proto__"]`, `a['constr\u0075ctor']`, "a[`prototype`]", `a[("constructor")]`, `a?.["__proto__"]`, "a.#b", "a[]", "a[b", "a[b, c]", "a.b c", `a.\u0062`, "a.é", "a.[b]", "new.target"},
			[]string{"a.b", "a . b", "a.if", "a.b.c", "a[b]", "a[b].c[0]", `a["b"]`, "a.Constructor", `a["prototypes"]`, "a.b$1", `"a".length`, "[1][0]", "{a: 1}.a", "(a).b", "a[b ? 'c' : 'd']", "null.a"},
		},
		{
			"optional chains",
			[]string{"a?.", "a?.(b)", "a?.`b`", "a?.#b", "a?..b", "a ?.? b", "a?.b`c`", "a?.5", "?.a", "a? .b"},
			[]string{"a?.b", "a?.[b]", "a?.b.c?.d", "(a?.b).c", "a?.5:b", "a?.if", "a ?. b"},
		},
		{
			"unary",
			[]string{"+a", "~a", "typeof a", "void 0", "delete a.b", "--a", "++a", "a--", "a++", "- --a", "!", "-", "a!", "a --b", "a--b", "a-- - b"},
			[]string{"!a", "-a", "!!a", "- -a", "!-a", "-!a", "a - -b", "a-!b", "-1", "- 1", "-(1)", "-a.b"},
		},
		{
			"binary",
			[]string{"a ** b", "a == b", "a != b", "a & b", "a | b", "a ^ b", "a << b", "a >> b", "a >>> b", "a in b", "a instanceof b", "a +", "* a", "a + * b", "a = = = b", "a !=== b", "a < = b"},
			[]string{"a * b", "a === b", "a !== b", "a < b", "a <= b", "a > b", "a >= b", "a + b", "a - b", "a / b", "a % b", "a+b*c-d/e%f"},
		},
		{
			"comparisons do not chain",
			[]string{"a < b < c", "a<b>c", "a <= b >= c", "a + 1 > b > c", "a === b < c < d", "(a) < b < c", "a < -b < c"},
			[]string{"a < (b < c)", "(a < b) < c", "a < b === c > d", "a < b && b < c", "a < b ? b < c : c < d", "[a < b, b < c]"},
		},
		{
			"logical",
			[]string{"a ?? b || c", "a || b ?? c", "a && b ?? c", "a ?? b && c", "a ?? b ?? c || d", "a & & b", "a ? ? b", "a &&", "|| a", "a &&= b", "a ||= b", "a ??= b"},
			[]string{"a ?? b", "a ?? b ?? c", "(a ?? b) || c", "a || (b ?? c)", "(a && b) ?? c", "a ?? (b && c)", "a && b || c && d", "a || b && c", "a ?? b === c", "a ?? (b || c) ?? d", "a ?? b ? c || d : e && f"},
		},
		{
			"conditionals",
			[]string{"a ? b", "a ? : b", "a ? b :", "? b : c", "a ? b : c : d", "a ? b, c : d", "a : b"},
			[]string{"a ? b : c", "a ? b : c ? d : e", "a ? b ? c : d : e", "(a ? b : c) ? d : e", "a?b:c", "a ? [b] : {c}"},
		},
		{
			"everything else",
			[]string{"a()", "a.b()", "a(b)", "(a)(b)", "new a", "new a()", "a => a", "() => 1", "(a) => a", "function() {}", "class {}", "a = 1", "a += 1", "a.b = 1", "[a] = b", "/a/", "/a/g", "a / /b/", "import(a)", "import.meta", "async () => 1", "yield a", "await a", "a?.b()", "...a", "<a/>", "a |> b", "a :: b", "@a", "this.a", "super.a", "do { 1 }", "throw a", "var a", "debugger"},
			[]string{"a.b", "a[b]", "(a)", "a + 1", "a === 1", "a / b"},
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			require.GreaterOrEqual(t, len(c.refused), 5)
			require.GreaterOrEqual(t, len(c.admitted), 5)
			for _, text := range c.refused {
				e, err := Expression(text, false, depth)
				require.Equal(t, ErrRefused, err, "%q", text)
				require.Nil(t, e)
			}
			for _, text := range c.admitted {
				e, err := Expression(text, false, depth)
				require.NoError(t, err, "%q", text)
				require.NotNil(t, e)
				agree(t, vm, text)
			}
		})
	}
}

func TestA2_ExpressionFormsOfTheFlatDialect(t *testing.T) {
	vm := newWorld()
	for text, json := range map[string]string{
		`"a"`:                         `"a"`,
		`'a"b'`:                       `"a\"b"`,
		" 1 ":                         "1",
		"-1.50":                       "-1.5",
		"- 0":                         "-0",
		"0xff":                        "255",
		"1e21":                        "1e+21",
		"1e-7":                        "1e-7",
		"123456789012345680000":       "123456789012345680000",
		"9007199254740993":            "9007199254740992",
		"0x20000000000001":            "9007199254740992",
		"0b11":                        "3",
		"0o17":                        "15",
		"1_000.5":                     "1000.5",
		"true":                        "true",
		"false":                       "false",
		"null":                        "null",
		"`a\r\nb\rc`":                 `"a\nb\nc"`,
		"`\\\r\na`":                   `"a"`,
		"`a$b`":                       `"a$b"`,
		"[]":                          "[]",
		"[1, -2, [`x`,],]":            `[1,-2,["x"]]`,
		"{}":                          "{}",
		"{b: 1, 'a': -0, 2: [], 1:0}": `{"1":0,"2":[],"b":1,"a":-0}`,
		"{a: 1, b: 2, a: 3}":          `{"a":3,"b":2}`,
		"{2: 1, 1: 2, 2: 3}":          `{"1":2,"2":3}`,
		"{if: {true: null}}":          `{"if":{"true":null}}`,
		"{__proto__: 1, __proto__: 2, constructor: 3}":           `{"__proto__":2,"constructor":3}`,
		"{0x10: 1, 1e3: 2, .5: 3, 1e21: 4}":                      `{"16":1,"1000":2,"0.5":3,"1e+21":4}`,
		"{'01': 1, 4294967295: 2, 4294967294: 3, '-1': 4, 0: 5}": `{"0":5,"4294967294":3,"01":1,"4294967295":2,"-1":4}`,
		`"\ud800"`:                     `"\ud800"`,
		`"a\udfffb\ud83d"`:             `"a\udfffb\ud83d"`,
		`"\ud83d\ude00"`:               `"😀"`,
		`"\ud83d\u{de00}\ud83d\ude00"`: `"😀😀"`,
		`"\u{1f600}"`:                  `"😀"`,
		`"\ude00\ud83d"`:               `"\ude00\ud83d"`,
		`"\ud83d\` + "\n" + `\ude00"`:  `"😀"`,
		`"\ud83d\ud83d\ude00"`:         `"\ud83d😀"`,
		`"\ufffd\ud800"`:               `"` + "\ufffd" + `\ud800"`,
		`{"\udabc": "\udabc\n"}`:       `{"\udabc":"\udabc\n"}`,
		`"\0\b\t\n\v\f\r\x1f\x7f\/"`:   `"\u0000\b\t\n\u000b\f\r\u001f` + "\x7f" + `/"`,
		"'\u2028\u2029<>&'":            "\"\u2028\u2029<>&\"",
	} {
		for _, flat := range []bool{true, false} {
			e, err := Expression(text, flat, depth)
			require.NoError(t, err, text)
			require.Equal(t, &wasm.Literal{JSON: json}, e, text)
		}
		agree(t, vm, text)
	}
	for _, text := range []string{
		"a", "undefined", "NaN", "-Infinity", "[a]", "{a}", "{a: b}", "(1)", "-(1)", "- -1", "!1", "-'1'", "-a",
		"-true", "1 + 1", "1 - 1", "'a'.length", "[1][0]", "'a' 'b'", "`${1}`", "`a${'b'}`", "1 ? 2 : 3", "null ?? 1",
		"{a: 1}.a", "true && false", "[1 + 1]", "[...[]]", "-", "{true}", "[1].length", "{a: (1)}", "",
	} {
		_, err := Expression(text, true, depth)
		require.Equal(t, ErrRefused, err, text)
	}
}

func TestTrees(t *testing.T) {
	literal := func(json string) wasm.Expr { return &wasm.Literal{JSON: json} }
	a, b, c := &wasm.Name{Name: "a"}, &wasm.Name{Name: "b"}, &wasm.Name{Name: "c"}
	add := func(x, y wasm.Expr) wasm.Expr { return &wasm.Binary{Op: wasm.Add, X: x, Y: y} }
	for text, want := range map[string]wasm.Expr{
		"a + b * c": add(a, &wasm.Binary{Op: wasm.Multiply, X: b, Y: c}),
		"a - b - c": &wasm.Binary{Op: wasm.Subtract, X: &wasm.Binary{Op: wasm.Subtract, X: a, Y: b}, Y: c},
		"-a.b":      &wasm.Unary{Op: wasm.Negate, X: &wasm.Chain{Base: a, Steps: []wasm.Step{{Property: "b"}}}},
		"-1 .b":     &wasm.Unary{Op: wasm.Negate, X: &wasm.Chain{Base: literal("1"), Steps: []wasm.Step{{Property: "b"}}}},
		"-(1)":      &wasm.Unary{Op: wasm.Negate, X: literal("1")},
		"- -1":      &wasm.Unary{Op: wasm.Negate, X: literal("-1")},
		"!-1":       &wasm.Unary{Op: wasm.Not, X: literal("-1")},
		"a -1":      &wasm.Binary{Op: wasm.Subtract, X: a, Y: literal("1")},
		"a?.b[c].d": &wasm.Chain{Base: a, Steps: []wasm.Step{{Property: "b", Optional: true}, {Index: c}, {Property: "d"}}},
		"a?.['b']":  &wasm.Chain{Base: a, Steps: []wasm.Step{{Index: literal(`"b"`), Optional: true}}},
		"(a?.b).c": &wasm.Chain{
			Base:  &wasm.Chain{Base: a, Steps: []wasm.Step{{Property: "b", Optional: true}}},
			Steps: []wasm.Step{{Property: "c"}},
		},
		"a ? b : c":           &wasm.Conditional{Test: a, Then: b, Else: c},
		"a || b && c":         &wasm.Logical{Op: wasm.Or, X: a, Y: &wasm.Logical{Op: wasm.And, X: b, Y: c}},
		"a ?? b ?? c":         &wasm.Logical{Op: wasm.Coalesce, X: &wasm.Logical{Op: wasm.Coalesce, X: a, Y: b}, Y: c},
		"`${a}`":              add(literal(`""`), a),
		"`x${a}${b}y`":        add(add(add(literal(`"x"`), a), b), literal(`"y"`)),
		"[a, [1, 2], {x: 1}]": &wasm.Array{Elements: []wasm.Expr{a, literal("[1,2]"), literal(`{"x":1}`)}},
		"{b: 1, a, 1: c, b}":  &wasm.ObjectLiteral{Members: []wasm.Prop{{Name: "b", Value: literal("1")}, {Name: "a", Value: a}, {Name: "1", Value: c}, {Name: "b", Value: b}}},
		"{__proto__}":         &wasm.ObjectLiteral{Members: []wasm.Prop{{Name: "__proto__", Value: &wasm.Name{Name: "__proto__"}}}},
		`{"\ud800\ud800": a}`: &wasm.ObjectLiteral{Members: []wasm.Prop{{Name: "\xed\xa0\x80\xed\xa0\x80", Value: a}}},
		`{"\udbff\udfff": a}`: &wasm.ObjectLiteral{Members: []wasm.Prop{{Name: "\U0010ffff", Value: a}}},
		"(1)":                 literal("1"),
		"[(1), ('a')]":        literal(`[1,"a"]`),
		"undefined":           &wasm.Name{Name: "undefined"},
		"[1, 2][0]":           &wasm.Chain{Base: literal("[1,2]"), Steps: []wasm.Step{{Index: literal("0")}}},
		"a === b !== c":       &wasm.Binary{Op: wasm.StrictNotEqual, X: &wasm.Binary{Op: wasm.StrictEqual, X: a, Y: b}, Y: c},
		"a < b === b > c":     &wasm.Binary{Op: wasm.StrictEqual, X: &wasm.Binary{Op: wasm.Less, X: a, Y: b}, Y: &wasm.Binary{Op: wasm.Greater, X: b, Y: c}},
	} {
		e, err := Expression(text, false, depth)
		require.NoError(t, err, text)
		require.Equal(t, want, e, text)
	}
}

func TestA12_ExpressionNestingLimit(t *testing.T) {
	nest := func(open, close string) func(int) string {
		return func(n int) string { return strings.Repeat(open, n) + "a" + strings.Repeat(close, n) }
	}
	for name, text := range map[string]func(int) string{
		"parentheses":  nest("(", ")"),
		"not":          nest("!", ""),
		"minus":        nest("- ", ""),
		"arrays":       nest("[", "]"),
		"objects":      nest("{a:", "}"),
		"indexes":      nest("a[", "]"),
		"optional":     nest("a?.[", "]"),
		"templates":    nest("`${", "}`"),
		"conditionals": nest("a?b:", ""),
		"middles":      nest("a?", ":b"),
		"constants":    func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) },
		"counted apart": func(n int) string {
			return strings.Repeat("(", n) + strings.Repeat("[", n) + "-1" + strings.Repeat("]", n) + strings.Repeat(")", n)
		},
	} {
		for _, d := range []int{1, 7, depth} {
			_, err := Expression(text(d), false, d)
			require.NoError(t, err, "%s %d", name, d)
			_, err = Expression(text(d+1), false, d)
			require.Equal(t, ErrLimit, err, "%s %d", name, d)
		}
		_, err := Expression(text(value.MaxDepth+1), false, 1<<30)
		require.Equal(t, ErrLimit, err, name)
	}
	for _, around := range []string{"()", "[]"} {
		deep := strings.Repeat(around[:1], value.MaxDepth) + "1" + strings.Repeat(around[1:], value.MaxDepth)
		_, err := Expression(deep, false, 1<<30)
		require.NoError(t, err, around)
	}
	for _, d := range []int{0, -1} {
		_, err := Expression("a", false, d)
		require.NoError(t, err)
		_, err = Expression("[]", true, d)
		require.Equal(t, ErrLimit, err)
	}
	// Side by side is not inside one another.
	_, err := Expression("[(a), (b), [c], [!d], [`${e}`], [a ? b : c]]", false, 2)
	require.NoError(t, err)
}

func TestA12_ExpressionPartsLimit(t *testing.T) {
	list := func(open, each, close string) func(int) string {
		return func(n int) string { return open + strings.Repeat(each, n) + close }
	}
	for name, text := range map[string]func(int) string{
		"binary":        list("a", "+a", ""),
		"logical":       list("a", "&&a", ""),
		"members":       list("a", ".b", ""),
		"optional":      list("a", "?.b", ""),
		"indexes":       list("a", "[0]", ""),
		"substitutions": list("`", "${a}", "`"),
		"elements":      list("[", "a,", "]"),
		"shorthand":     list("{", "a,", "}"),
		"properties":    list("{", "a:b,", "}"),
		"unary":         func(n int) string { return strings.Repeat("a+", n-1) + "!1" },
		"mixed":         func(n int) string { return "[" + strings.Repeat("a,", n-2) + "!a]" },
		"constants": func(n int) string {
			return "[" + strings.Repeat("-1,'x',[{a:1}],", 10*n) + strings.Repeat("a,", n) + "]"
		},
	} {
		_, err := Expression(text(MaxParts), false, depth)
		require.NoError(t, err, name)
		_, err = Expression(text(MaxParts+1), false, depth)
		require.Equal(t, ErrLimit, err, name)
	}
	e, err := Expression("["+strings.Repeat("-1,", 10000)+"]", true, depth)
	require.NoError(t, err)
	require.Equal(t, "["+strings.Repeat("-1,", 9999)+"-1]", e.(*wasm.Literal).JSON)
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"1":                         "",
		"a":                         "a",
		"a.b.c":                     "a",
		"a[b][c]?.[d]":              "a b c d",
		"{x: a, b, 'c': c, a}":      "a b c a",
		"[a, [b], `${c}x${d}`, !e]": "a b c d e",
		"a ? b : c ?? d":            "a b c d",
		"-a + b * (c || d) - 1":     "a b c d",
		"undefined === NaN":         "undefined NaN",
		"{a: 1}.b + 'c'":            "",
	} {
		e, err := Expression(text, false, depth)
		require.NoError(t, err, text)
		var all []string
		Names(e, func(name string) bool { all = append(all, name); return true })
		require.Equal(t, want, strings.Join(all, " "), text)
		for stop := range all {
			var some []string
			Names(e, func(name string) bool { some = append(some, name); return len(some) <= stop })
			require.Equal(t, all[:stop+1], some, text)
		}
	}
}

func TestIsBindingNameAgreesWithOrdinaryDocuments(t *testing.T) {
	words := strings.Fields(`await break case catch class const continue debugger default delete do else enum export
		extends eval arguments false finally for function if implements import in instanceof interface let new null package
		private protected public return static super switch this throw true try typeof var void while with yield
		async of undefined NaN Infinity get set meta props target from as a A z Z _ $ a1 _1 $1 1 1a a-b a.b é aé \u0061 #a
		Break iF constructor __proto__ prototype a` + "\u200d a\x00 \xff")
	admitted := 0
	for _, word := range append(words, "", " a", "a ", "a\n") {
		require.Equal(t, expr.BindingName(word) == "", IsBindingName(word), "%q", word)
		if IsBindingName(word) {
			admitted++
		}
	}
	require.Greater(t, admitted, 20)
}

func TestErrorsNameNothingOfTheText(t *testing.T) {
	for _, text := range []string{"secretname()", "'secretname", "secretname secretname", "(" + strings.Repeat("!", 99) + "secretname)"} {
		_, err := Expression(text, false, depth)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "secretname")
	}
}
