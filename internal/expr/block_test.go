package expr

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func runBlock(t *testing.T, rt *Runtime, e env, source string) (output, exports string) {
	t.Helper()
	result, err := rt.RunBlock(context.Background(), source, e.lookup)
	require.NoError(t, err, source)
	var list []string
	for _, x := range result.Exports {
		list = append(list, x.Name+"="+x.Value.Text())
	}
	return result.Output, strings.Join(list, " ")
}

func TestBlocks(t *testing.T) {
	rt := New()
	e := env{"x": rt.Ref(1.0), "list": rt.Ref([]any{1.0}), "output": rt.Ref("bound")}
	for _, c := range []struct{ source, output, exports string }{
		{"", "", ""},
		{"// only a comment", "", ""},
		{"return 1 + x", "2", ""},
		{"return null", "", ""},
		{"return undefined", "", ""},
		{"return [1, [2]]", "1,2", ""},
		{"return {}", "[object Object]", ""},
		{"output('a'); output(1); output(null); return 'ignored'", "a1null", ""},
		{"output(''); return 'ignored'", "", ""},
		{"output()", "undefined", ""},
		{"const a = 1; let b = a + 1, c; var d = 4; function e() {} class F {}", "", "a=1 b=2 c=undefined d=4 e=function e() {} F=class F {}"},
		{"const {p, q: [r, ...s], ...t} = {p: 1, q: [2, 3, 4], u: 5}; var [v = 6] = []", "", "p=1 r=2 s=3,4 t=[object Object] v=6"},
		{"let n = 1; n += 1; { const inner = 3 } for (const i of [1]) n += i", "", "n=3"},
		{"const a = 1; return; const b = 2; var c = 3", "", "a=1 c=undefined"},
		{"if (x) return 'early'; const b = 2", "early", ""},
		{"const x = 5; return x", "5", "x=5"},
		{"var x = x + 1; return x", "2", "x=2"},
		{"function x() { return 7 } return x()", "7", "x=function x() { return 7 }"},
		{"const output = 3; return output", "3", "output=3"},
		{"list.push(2); return list.length", "2", ""},
		{"x = 9; return x", "9", ""},
		{"const f = () => x + 1", "", "f=() => x + 1"},
		{"return (function () { return typeof this })()", "undefined", ""},
		{"const re = /[)}]/\nreturn 'a)'.replace(re, '') // }", "a", "re=/[)}]/"},
		{"var a; var a = 2", "", "a=2"},
		{"'use strict'\nreturn `${x}`", "1", ""},
	} {
		output, exports := runBlock(t, rt, e, c.source)
		require.Equal(t, c.output, output, c.source)
		require.Equal(t, c.exports, exports, c.source)
	}
	require.Equal(t, "1", e["x"].Text())
	require.Equal(t, "1,2", e["list"].Text())
}

func TestBlockExportsAreReferences(t *testing.T) {
	rt := New()
	result, err := rt.RunBlock(context.Background(), "const list = [1]; const add = (n) => list.push(n)", nil)
	require.NoError(t, err)
	e := env{}
	for _, x := range result.Exports {
		e[x.Name] = x.Value
	}
	eval(t, rt, e, "add(2)")
	require.Equal(t, "1,2", e["list"].Text())
}

func TestBlockErrors(t *testing.T) {
	for source, want := range map[string]string{
		"yield 1":                  "SyntaxError: Unexpected number",
		"const yield = 1":          "SyntaxError: yield is not available",
		"await 1":                  "SyntaxError: Unexpected number",
		"await(1)":                 "SyntaxError: await is not available",
		"import fs from 'fs'":      "SyntaxError: Unexpected reserved word",
		"import('fs')":             "SyntaxError: Unexpected reserved word",
		"export const a = 1":       "SyntaxError: Unexpected reserved word",
		"async function f() {}":    "SyntaxError: async functions and generators are not available",
		"} function g() {":         "SyntaxError: unexpected }",
		"return arguments.length":  "SyntaxError: arguments is not available outside a function",
		"const a = 1; const a = 2": "SyntaxError: Identifier 'a' has already been declared",
		"if (":                     "SyntaxError: a ( is never closed",
		"const a =":                "SyntaxError: Unexpected end of input",
	} {
		result, err := New().RunBlock(context.Background(), source, nil)
		var failed *Error
		require.ErrorAs(t, err, &failed, source)
		require.Equal(t, want, failed.Reason, source)
		require.True(t, failed.Syntax, source)
		require.Empty(t, result)
	}
	for source, want := range map[string]string{
		"const a = 1; output('x'); throw new Error('late')": "Error: late",
		"nope()":                      "ReferenceError: nope is not defined",
		"output(Object.create(null))": "TypeError: Cannot convert object to primitive value",
		"let t = t":                   "ReferenceError: Cannot access a variable before initialization",
		"return {toString() { throw new Error('conv') }}": "Error: conv",
		"for (;;) output('x'.repeat(1 << 20))":            "RangeError: the output is longer than 16777216 bytes",
	} {
		result, err := New().RunBlock(context.Background(), source, nil)
		var failed *Error
		require.ErrorAs(t, err, &failed, source)
		require.Equal(t, want, failed.Reason, source)
		require.False(t, failed.Syntax, source)
		require.Empty(t, result)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := New().RunBlock(ctx, "return 1", nil)
	require.ErrorIs(t, err, context.Canceled)
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"": "empty", "a b": "not an identifier", "1a": "not an identifier", "é": "not an identifier",
		"a-b": "not an identifier", "await": "a reserved word", "eval": "a reserved word",
		"arguments": "a reserved word", "static": "a reserved word", "enum": "a reserved word",
		"async": "", "of": "", "undefined": "", "NaN": "", "_$1": "", "props": "", "get": "",
	} {
		require.Equal(t, want, BindingName(name), name)
		require.Equal(t, want == "a reserved word", reservedName(name), name)
	}
}
