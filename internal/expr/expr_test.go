package expr

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

// env is a set of bindings that an expression may name.
type env map[string]*Ref

func (e env) lookup(name string) (*Ref, bool) {
	r, ok := e[name]
	return r, ok
}

func parsed(t testing.TB, text string) any {
	t.Helper()
	v, err := value.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

func eval(t testing.TB, rt *Runtime, e env, source string) *Ref {
	t.Helper()
	r, err := rt.Eval(context.Background(), source, e.lookup)
	require.NoError(t, err, source)
	return r
}

func TestValues(t *testing.T) {
	for source, want := range map[string]string{
		"1 + 2":                       "3",
		"0x1f + 0b11 + 0o7 + 1_000":   "1041",
		"1e21":                        "1e+21",
		"1.0":                         "1",
		"0.1 + 0.2":                   "0.30000000000000004",
		"NaN":                         "NaN",
		"1 / 0":                       "Infinity",
		"-0":                          "0",
		"10n ** 20n":                  "100000000000000000000",
		"'a' + `b${1 + `${2}`}`":      "ab12",
		"undefined":                   "undefined",
		"null":                        "null",
		"[1, , 3]":                    "1,,3",
		"[1, [2, [null, 3]], ...[4]]": "1,2,,3,4",
		"({a: 1})":                    "[object Object]",
		"{a: 1}":                      "[object Object]",
		"new Map([[1, 2]])":           "[object Map]",
		"x => x + 1":                  "x => x + 1",
		"function f(a) { return a }":  "function f(a) { return a }",
		"((a, b = a, ...c) => [a, b, c.length])(1, undefined, 3, 4)": "1,1,2",
		"(({a, b: [c]}) => a + c)({a: 1, b: [2]})":                   "3",
		"({['k' + 1]: 2, m() { return this.k1 }, ...{z: 3}}).m()":    "2",
		"null?.a.b.c":                          "undefined",
		"({a: {b: () => 4}}).a?.['b']?.()":     "4",
		"1, 2, 3":                              "3",
		"typeof nothing":                       "undefined",
		"'a' in {a: 1} && [] instanceof Array": "true",
		"null ?? (false || 'x')":               "x",
		"[3, 1, 2].toSorted().join('')":        "123",
		"/(?<y>\\d{4})-(\\d\\d)/.exec('on 2024-05').groups.y":                              "2024",
		"'a1b22'.replace(/\\d+/g, m => `<${m}>`)":                                          "a<1>b<22>",
		"' x '.trim().length":                                                              "1",
		"Math.max(1, 2) + parseInt('12px') + parseFloat('1.5')":                            "15.5",
		"JSON.stringify({b: [1, null], a: undefined})":                                     `{"b":[1,null]}`,
		"(() => { let s = 0; for (const x of [1, 2]) s += x; return s })()":                "3",
		"(() => { try { throw new Error('e') } catch (e) { return `${e}` } })()":           "Error: e",
		"(n => { switch (n) { case 1: return 'a'; default: return 'b' } })(1)":             "a",
		"new (class A { #p = 7; get p() { return this.#p } })().p":                         "7",
		"(function () { return this })()":                                                  "undefined",
		"this":                                                                             "undefined",
		"1 /* } */":                                                                        "1",
		"1 // c\n+ 2":                                                                      "3",
		"new Array(3).length + Array.from({length: 2}).length + Array.of(1).length":        "6",
		"Array.isArray(Array(2)) && [].constructor === Array":                              "true",
		"new (class X extends Array {})(1, 2).length":                                      "2",
		"RegExp('a+').test('baa') && /x/ instanceof RegExp":                                "true",
		"'a.b'.split(/\\./).concat(['c']).join('-')":                                       "a-b-c",
		"encodeURIComponent('a b') + decodeURIComponent('%20') + isNaN('x') + isFinite(1)": "a%20b truetrue",
		"(x => { if (x) /re/.test('re'); return x / 2 / 1 })(4)":                           "2",
		"{__proto__: 1}.__proto__ + Object.keys({__proto__: 1}).join()":                    "1__proto__",
		"[].map.name + [].map.length + Array.name + String([].map)":                        "map1Arrayfunction map() { [native code] }",
		"`${[]}|${{}}|${null}`":                                                            "|[object Object]|null",
		"'ab'.repeat(2) + 'x'.padStart(3, '-') + 'x'.padEnd(2)":                            "abab--xx ",
		"'a1'.match('[0-9]')[0] + 'a1'.search('1') + [...'a1a'.matchAll(/a/g)].length":     "112",
		"((a = (b) => b) => a(1))()":                                                       "1",
		"new (class X extends Array { m() { return this.length + 1 } })(1, 2).m()":         "3",
		"new RegExp(/a/gi).flags + new RegExp('b', 'm').flags":                             "gim",
		"delete {}.a":                           "true",
		"new Set([1]).union(new Set([2])).size": "2",
	} {
		t.Run(source, func(t *testing.T) {
			if strings.HasPrefix(source, "{__proto__") {
				source = "(" + source[:14] + ")" + source[14:]
			}
			require.Equal(t, want, eval(t, New(), nil, source).Text())
		})
	}
}

func TestSyntaxErrors(t *testing.T) {
	for source, want := range map[string]string{
		"":                          "SyntaxError: Unexpected end of input",
		"1 +":                       "SyntaxError: Unexpected end of input",
		"f(1,,\n2)":                 "SyntaxError: Unexpected token ,",
		"1; 2":                      "SyntaxError: Unexpected token ;",
		"const a = 1":               "SyntaxError: Unexpected token const",
		"return 1":                  "SyntaxError: Unexpected token return",
		"1) , (2":                   "SyntaxError: unexpected )",
		"1)(2":                      "SyntaxError: unexpected )",
		"}":                         "SyntaxError: unexpected }",
		"[1":                        "SyntaxError: a [ is never closed",
		"`${1":                      "SyntaxError: a ${ is never closed",
		"`a":                        "SyntaxError: a template is never closed",
		"'a":                        "SyntaxError: a string is never closed",
		"'a\n'":                     "SyntaxError: a string is never closed",
		"/a":                        "SyntaxError: a regular expression is never closed",
		"/* a":                      "SyntaxError: a comment is never closed",
		"1 // x":                    "SyntaxError: a comment after // may not end an expression; write /* */",
		"(() => {})() / 2 + {} / 2": "SyntaxError: a / after } is ambiguous; put the operand or the pattern in parentheses",
		"1 2":                       "SyntaxError: Unexpected number",
		"a b":                       "SyntaxError: Unexpected identifier",
		"await x":                   "SyntaxError: Unexpected identifier",
		"await":                     "SyntaxError: await is not available",
		"yield":                     "SyntaxError: yield is not available",
		"async x => x":              "SyntaxError: async functions and generators are not available",
		"function* g() { yield 1 }": "SyntaxError: async functions and generators are not available",
		"({ async m() {} })":        "SyntaxError: async functions and generators are not available",
		"arguments":                 "SyntaxError: arguments is not available outside a function",
		"new.target":                "SyntaxError: new.target is not available outside a function",
		"import('x')":               "SyntaxError: Unexpected reserved word",
		"010":                       "SyntaxError: Octal literals are not allowed in strict mode",
		"() => { with (a) {} }":     "SyntaxError: with is not available",
		"1 = 2":                     "SyntaxError: Invalid left-hand side in assignment",
		`/(?=a)b/`:                  "SyntaxError: this regular expression is not available (it must be one that RE2 can run): Invalid (?=) <lookahead>",
		`/(a)\1/`:                   "SyntaxError: this regular expression is not available (it must be one that RE2 can run): Invalid \\1 <backreference>",
		`/a{2000}/`:                 "SyntaxError: this regular expression is not available (it must be one that RE2 can run): invalid repeat count: `{2000}`",
		`/\p{L}/u`:                  `SyntaxError: \p is not available in regular expressions; list the characters`,
		`/a/gg`:                     "SyntaxError: invalid flags of a regular expression: gg",
		`/a/z`:                      "SyntaxError: invalid flags of a regular expression: z",
		strings.Repeat("(", 257) + "1" + strings.Repeat(")", 257):  "SyntaxError: more than 256 open brackets; bind the parts to names",
		strings.Repeat(" ", MaxSource) + "1":                       "SyntaxError: the source is longer than 1048576 bytes; move data into props or files",
		"[" + strings.Repeat("[],", MaxBrackets) + "]":             "SyntaxError: more than 65536 brackets; move data into props or files",
		strings.Repeat("a=>", 257) + "1":                           "SyntaxError: more than 256 arrow functions inside one another",
		strings.Repeat("(a=", 9) + "1" + strings.Repeat(")=>1", 9): "SyntaxError: more than 8 arrow functions in the parameters of arrow functions",
		"() => {" + strings.Repeat("a:", 4097) + "1}":              "SyntaxError: nested deeper than 4096 levels; bind the parts to names",
		strings.Repeat("a?b:", 4097) + "1":                         "SyntaxError: nested deeper than 4096 levels; bind the parts to names",
		strings.Repeat("!", 5000) + "1":                            "SyntaxError: nested deeper than 4096 levels; bind the parts to names",
		strings.Repeat("1+", 5000) + "1":                           "SyntaxError: nested deeper than 4096 levels; bind the parts to names",
	} {
		name := source
		if len(name) > 30 {
			name = name[:30]
		}
		t.Run(name, func(t *testing.T) {
			_, err := New().Eval(context.Background(), source, nil)
			var failed *Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, want, failed.Reason)
			require.True(t, failed.Syntax)
			require.Equal(t, err, Check(source))
		})
	}
}

func TestAtTheBounds(t *testing.T) {
	for name, source := range map[string]string{
		"brackets": strings.Repeat("(", 256) + "1" + strings.Repeat(")", 256),
		"arrows":   strings.Repeat("a=>", 256) + "1",
		"terms":    strings.Repeat("1+", 4000) + "1",
		"list":     "[" + strings.Repeat("a=>1,", 3000) + "].length",
		"members":  "({" + strings.Repeat("a: 1,", 5000) + "})",
		"lines":    "() => { let f\n" + strings.Repeat("f = () => 1\n{ const g = a => 1 }\n", 300) + "}",
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, Check(source))
			eval(t, New(), nil, source)
		})
	}
}

func TestThrown(t *testing.T) {
	for source, want := range map[string]string{
		"x":             "ReferenceError: x is not defined",
		"x = 1":         "ReferenceError: x is not defined",
		"missing.value": "ReferenceError: missing is not defined",
		"undefined.a":   "TypeError: Cannot read property 'a' of undefined",
		"null.a.b":      "TypeError: Cannot read property 'a' of undefined",
		"(() => { throw new Error('at <eval>:1:2(3)') })()":                      "Error: at <eval>:1:2(3)",
		"(() => { throw new RangeError('r') })()":                                "ReferenceError: RangeError is not defined",
		"(() => { throw 'text' })()":                                             "text",
		"(() => { throw 7 })()":                                                  "7",
		"(() => { throw null })()":                                               "null",
		"(() => { throw {toString() { return 'own' }} })()":                      "own",
		"(() => { throw {toString() { throw 1 }} })()":                           "an object without text was thrown",
		"(() => { throw Object.create(null) })()":                                "an object without text was thrown",
		"(() => { throw new Error() })()":                                        "Error",
		"(f => f(f))(f => f(f))":                                                 "RangeError: too much recursion; at most 2000 calls may be open",
		"'x'.repeat(1 << 28)":                                                    "RangeError: the text would be longer than 16777216 characters",
		"'x'.padEnd(1e9)":                                                        "RangeError: the text would be longer than 16777216 characters",
		"Array(10).join('x'.repeat(1 << 23))":                                    "RangeError: the text would be longer than 16777216 characters",
		"[...Array(1e9).keys()]":                                                 "RangeError: the array is longer than 1048576 elements",
		"new Array(4294967295)":                                                  "RangeError: the array is longer than 1048576 elements",
		"Array.from({length: 1e9})":                                              "RangeError: the array is longer than 1048576 elements",
		"(a => { a.length = 1e9; return a.fill(0) })([])":                        "RangeError: the array is longer than 1048576 elements",
		"(a => { a.length = 1e9; return a })([])":                                "the result is longer than 1048576 elements",
		"(() => { let s = 'x'; while (s.length < 1 << 25) s += s; return s })()": "the result is longer than 16777216 characters",
		"(() => { let a = []; for (let i = 0; i < 5e3; i++) a = [a]; return String(a) })()": "RangeError: too much recursion; at most 1000 built-in functions may be open",
		"new RegExp('(?=a)')":  "SyntaxError: this regular expression is not available (it must be one that RE2 can run): Invalid (?=) <lookahead>",
		"'a'.match('(?=a)')":   "SyntaxError: this regular expression is not available (it must be one that RE2 can run): Invalid (?=) <lookahead>",
		`'a'.search('\\p{L}')`: `SyntaxError: \p is not available in regular expressions; list the characters`,
		"undefined = 1":        "TypeError: Cannot assign to read only property 'undefined'",
		"Array = 1":            "TypeError: Cannot assign to read only property 'Array'",
	} {
		t.Run(source, func(t *testing.T) {
			_, err := New().Eval(context.Background(), source, nil)
			var failed *Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, want, failed.Reason)
			require.False(t, failed.Syntax)
		})
	}
}

func TestNoAmbientAuthority(t *testing.T) {
	for _, name := range []string{
		"Date", "eval", "Function", "Symbol", "BigInt", "Promise", "Proxy", "Reflect", "console",
		"require", "globalThis", "window", "process", "WeakRef", "WeakMap", "SharedArrayBuffer",
		"ArrayBuffer", "TypeError", "GoError", "escape", "encodeURI", "meta", "output", "setTimeout",
		"toString", "valueOf", "constructor", "hasOwnProperty", "__proto__",
	} {
		_, err := New().Eval(context.Background(), name, nil)
		require.EqualError(t, err, "ReferenceError: "+name+" is not defined")
	}
	for _, source := range []string{
		"Math.random()",
		"eval('1')",
		"(() => {}).constructor('return 7')()",
		"[].map.constructor('return 7')()",
		"Math.max.constructor('return 7')()",
		"(class {}).constructor('return 7')()",
		"/a/.compile('(?=a)')",
		"(function () { return arguments.callee })()",
		"(function f() { return f.caller })()",
	} {
		_, err := New().Eval(context.Background(), source, nil)
		require.Error(t, err, source)
	}
	for source, want := range map[string]string{
		"(() => {}).__proto__": "undefined",
		"Object.getOwnPropertySymbols(Array.prototype)[0].constructor === Object": "true",
		"10n.constructor === Object": "true",
	} {
		require.Equal(t, want, eval(t, New(), nil, source).Text(), source)
	}
}

func TestBindings(t *testing.T) {
	rt := New()
	e := env{"x": rt.Ref(parsed(t, "[1]")), "n": rt.Ref(3.0), "undefined": rt.Ref("u"), "u": rt.Ref(value.Undefined{})}
	require.Equal(t, "4", eval(t, rt, e, "n += 1").Text())
	require.Equal(t, "3", e["n"].Text(), "assigning to a binding changes nothing outside")
	require.Equal(t, "2", eval(t, rt, e, "x.push(2)").Text())
	require.Equal(t, "1,2", e["x"].Text(), "mutating an object does")
	require.Equal(t, "u", eval(t, rt, e, "undefined").Text())
	require.Equal(t, "undefined", eval(t, rt, e, "u").Kind())

	e["y"] = eval(t, rt, e, "x")
	require.Equal(t, "true", eval(t, rt, e, "x === y").Text())
	require.True(t, e["x"].StrictEqual(e["y"]))

	e["f"] = eval(t, rt, e, "(n) => { const t = n % 10; return t === 1 ? `${n}st` : `${n}th`; }")
	require.Equal(t, "21st", eval(t, rt, e, "f(21)").Text())
	require.Equal(t, "(n) => { const t = n % 10; return t === 1 ? `${n}st` : `${n}th`; }", e["f"].Text())

	e["Math"] = rt.Ref("shadow")
	require.Equal(t, "shadow", eval(t, rt, e, "Math").Text())
	delete(e, "n")
	_, err := rt.Eval(context.Background(), "n += 1", e.lookup)
	require.EqualError(t, err, "ReferenceError: n is not defined")
}

func TestValueOfAnotherRun(t *testing.T) {
	e := env{"x": New().Ref(1.0)}
	_, err := New().Eval(context.Background(), "x", e.lookup)
	require.EqualError(t, err, "Error: a value of another run cannot be used here")
}

func TestTimeLimit(t *testing.T) {
	rt := New()
	for _, source := range []string{
		"(() => { for (;;) {} })()",
		"(() => { for (;;) try { for (;;) {} } catch (e) {} finally { continue } })()",
		"[1].map(() => { for (;;) {} })",
		"(() => { let a = ['x']; for (let i = 0; i < 60; i++) a = [a, a]; return String(a) })()",
	} {
		rt.limit = 20 * time.Millisecond
		_, err := rt.Eval(context.Background(), source, nil)
		require.EqualError(t, err, "the evaluation took longer than 20ms", source)
		rt.limit = MaxTime
		require.Equal(t, "2", eval(t, rt, nil, "1 + 1").Text(), "the next evaluation is not disturbed")
	}
	endless := eval(t, rt, nil, "({toString() { for (;;) {} }})")
	rt.limit = 20 * time.Millisecond
	require.Equal(t, "[object Object]", endless.Text())
	_, err := rt.Eval(context.Background(), "(() => { throw {toString() { for (;;) {} }} })()", nil)
	require.Error(t, err, "the text of what was thrown is bounded too")
}

func TestCancel(t *testing.T) {
	rt := New()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(5*time.Millisecond, cancel)
	_, err := rt.Eval(ctx, "(() => { for (;;) {} })()", nil)
	require.ErrorIs(t, err, context.Canceled)
	_, err = rt.Eval(ctx, "1", nil)
	require.ErrorIs(t, err, context.Canceled)
	var failed *Error
	require.True(t, errors.As(err, &failed))
	require.Equal(t, "the evaluation was stopped: context canceled", failed.Reason)
}

func TestMemoryLimit(t *testing.T) {
	rt := New()
	rt.memory = 1 << 26
	_, err := rt.Eval(context.Background(), "(() => { const l = []; for (;;) l.push({}) })()", nil)
	require.EqualError(t, err, "the evaluation used more than 67108864 bytes of memory")
}

func TestProgramIsCompiledForItsNames(t *testing.T) {
	rt := New()
	a, b := env{"a": rt.Ref(1.0)}, env{"a": rt.Ref(1.0), "b": rt.Ref(2.0)}
	const source = "typeof a + typeof b"
	require.Equal(t, "numberundefined", eval(t, rt, a, source).Text())
	require.Equal(t, "numbernumber", eval(t, rt, b, source).Text())
	require.Equal(t, "numberundefined", eval(t, rt, a, source).Text())
	require.Len(t, rt.programs, 1)
}
