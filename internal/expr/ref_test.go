package expr

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

// both returns a JSON value as it came and as the interpreter holds it.
func both(t *testing.T, v any) map[string]*Ref {
	t.Helper()
	plain, touched := New(), New()
	r := touched.Ref(v)
	eval(t, touched, env{"x": r}, "x")
	return map[string]*Ref{"plain": plain.Ref(v), "touched": r}
}

func TestJSONValues(t *testing.T) {
	doc := value.Of(
		"s", "text", "n", 1.5, "t", true, "z", nil, "u", value.Undefined{},
		"list", []any{1.0, nil, []any{2.0, value.Undefined{}, "x"}, value.Of("k", "v")},
		"o", value.Of("d", value.Of("e", 7.0), "a b", "sp"),
		"__proto__", "ordinary", "length", 9.0)
	for state, r := range both(t, doc) {
		t.Run(state, func(t *testing.T) {
			require.Equal(t, "object", r.Kind())
			require.True(t, r.Truthy())
			require.Equal(t, "[object Object]", r.Text())

			for path, want := range map[string]string{
				"s": "text", "n": "1.5", "t": "true", "z": "null", "u": "undefined",
				"list": "1,,2,,x,[object Object]", "list.length": "4", "list.nope": "undefined",
				"o": "[object Object]", "o.d.e": "7", "o.nope": "undefined", "__proto__": "ordinary",
				"toString": "undefined", "length": "9",
			} {
				text, ok := r.Member(strings.Split(path, "."))
				require.True(t, ok, path)
				require.Equal(t, want, text, path)
			}
			for _, path := range []string{"s.length", "z.x", "nope.x", "o.toString.name", "u.x", "n.x", "list.map.name"} {
				_, ok := r.Member(strings.Split(path, "."))
				require.False(t, ok, path)
			}
			text, ok := r.Member(nil)
			require.True(t, ok)
			require.Equal(t, "[object Object]", text)

			for path, want := range map[string]string{
				"s": "text", "n": "1.5", "z": "", "u": "", "nope": "", "nope.x": "", "s.length": "",
				"list": "1, , 2,,x, [object Object]", "list.0": "1", "list.2": "2, , x", "list.3.k": "v",
				"list.9": "", "list.01": "", "o.a b": "sp", "o": "[object Object]", "toString": "",
			} {
				require.Equal(t, want, r.Property(strings.Split(path, ".")), path)
			}

			v, err := r.JSON()
			require.NoError(t, err)
			text, err = value.JSON(v)
			require.NoError(t, err)
			require.Equal(t, `{"s":"text","n":1.5,"t":true,"z":null,"list":[1,null,[2,null,"x"],{"k":"v"}],`+
				`"o":{"d":{"e":7},"a b":"sp"},"__proto__":"ordinary","length":9}`, text)

			_, err = r.Strict()
			require.EqualError(t, err, "$.u is undefined")

			copied := r.Snapshot()
			require.False(t, r.StrictEqual(copied))
			again, err := copied.JSON()
			require.NoError(t, err)
			require.True(t, value.Equal(v, again))
			undefined, _ := copied.Member([]string{"u"})
			require.Equal(t, "undefined", undefined)
		})
	}
}

func TestPrimitives(t *testing.T) {
	for _, c := range []struct {
		v          any
		kind, text string
		truthy     bool
	}{
		{nil, "null", "null", false},
		{value.Undefined{}, "undefined", "undefined", false},
		{true, "boolean", "true", true},
		{false, "boolean", "false", false},
		{0.0, "number", "0", false},
		{math.NaN(), "number", "NaN", false},
		{1e21, "number", "1e+21", true},
		{"", "string", "", false},
		{"a long text with ünïcode 😀", "string", "a long text with ünïcode 😀", true},
	} {
		for state, r := range both(t, c.v) {
			require.Equal(t, c.kind, r.Kind(), state)
			require.Equal(t, c.text, r.Text(), state)
			require.Equal(t, c.truthy, r.Truthy(), state)
			_, isBool := r.Bool()
			require.Equal(t, c.kind == "boolean", isBool)
			_, isText := r.Str()
			require.Equal(t, c.kind == "string", isText)
			result := eval(t, r.rt, env{"x": r}, "x")
			require.Equal(t, c.kind, result.Kind())
			require.Equal(t, c.text, result.Text())
			require.Equal(t, c.text != "NaN", r.StrictEqual(result))
			_, ok := r.Member([]string{"length"})
			require.False(t, ok)
			require.Same(t, r, r.Snapshot())
		}
	}
}

func TestPlainRefsNeedNoInterpreter(t *testing.T) {
	rt := New()
	r := rt.Ref(value.Of("a", []any{1.0, "x"}))
	require.Equal(t, "[object Object]", r.Text())
	require.Equal(t, "1, x", r.Property([]string{"a"}))
	text, ok := r.Member([]string{"a"})
	require.True(t, ok)
	require.Equal(t, "1,x", text)
	for _, cross := range []func() (any, error){r.JSON, r.Strict, func() (any, error) { return r.Snapshot().JSON() }} {
		_, err := cross()
		require.NoError(t, err)
	}
	require.Equal(t, "object", r.Kind())
	require.True(t, r.Truthy())
	require.True(t, r.StrictEqual(r))
	require.False(t, r.StrictEqual(rt.Ref(value.Of())))
	require.Nil(t, rt.js, "nothing started the interpreter")
}

func TestKinds(t *testing.T) {
	for source, want := range map[string]string{
		"1": "number", "'x'": "string", "null": "null", "undefined": "undefined", "true": "boolean",
		"[]": "array", "({})": "object", "new Map()": "object", "() => 1": "function", "class {}": "function",
		"1n": "bigint", "Object.getOwnPropertySymbols(Array.prototype)[0]": "symbol", "new Boolean(true)": "object",
	} {
		require.Equal(t, want, eval(t, New(), nil, source).Kind(), source)
	}
	require.False(t, eval(t, New(), nil, "0n").Truthy())
	require.Equal(t, "Symbol(Symbol.iterator)", eval(t, New(), nil, "Object.getOwnPropertySymbols(Array.prototype)[0]").Text())
}

func TestIdentity(t *testing.T) {
	rt := New()
	e := env{}
	for _, name := range []string{"f", "g", "o"} {
		e[name] = eval(t, rt, nil, map[string]string{"f": "() => 1", "g": "() => 1", "o": "({})"}[name])
	}
	require.True(t, e["f"].StrictEqual(eval(t, rt, e, "f")))
	require.False(t, e["f"].StrictEqual(e["g"]))
	require.False(t, e["o"].StrictEqual(rt.Ref(value.Of())))
	require.False(t, e["o"].StrictEqual(New().Ref(value.Of())))
	require.False(t, e["o"].StrictEqual(rt.Ref("[object Object]")))
	require.True(t, eval(t, rt, nil, "1n").StrictEqual(eval(t, rt, nil, "1n")))
	require.True(t, rt.Ref("a").StrictEqual(eval(t, rt, nil, "'a'")))
	require.False(t, rt.Ref(1.0).StrictEqual(rt.Ref("1")))
}

func TestProjection(t *testing.T) {
	for source, want := range map[string]string{
		"NaN": "null",
		"[NaN, -Infinity, undefined, () => 1, ,]":                                                            "[null,null,null,null,null]",
		"({b: 1, a: undefined, f() {}, s: Object.getOwnPropertySymbols([].constructor.prototype)[0], c: 2})": `{"b":1,"c":2}`,
		"({toJSON() { return {x: this.y} }, y: 1})":                                                          `{"x":1}`,
		"[{toJSON(k) { return 'at ' + k }}]":                                                                 `["at 0"]`,
		"({a: {toJSON() {}}})":                                                                               `{}`,
		"new Map([[1, 2]])":                                                                                  "{}",
		"[new Number(1), new String('s'), new Boolean(false)]":                                               `[1,"s",false]`,
		"({get a() { return 1 }})":                                                                           `{"a":1}`,
		"new (class { x = 1; #y = 2; m() {} })()":                                                            `{"x":1}`,
		"(o => [o, o])({a: 1})":                                                                              `[{"a":1},{"a":1}]`,
		"Object.create({inherited: 1}, {hidden: {value: 1}})":                                                "{}",
		"'\\ud83d\\ude00'":                                                                                   `"😀"`,
		"Object.assign(Object.create(null), {toJSON: 1})":                                                    `{"toJSON":1}`,
		"JSON.parse('{\"__proto__\": {\"x\": 1}}')":                                                          `{"__proto__":{"x":1}}`,
	} {
		v, err := eval(t, New(), nil, source).JSON()
		require.NoError(t, err, source)
		text, err := value.JSON(v)
		require.NoError(t, err, source)
		require.Equal(t, want, text, source)
	}
	v, err := eval(t, New(), nil, "undefined").JSON()
	require.NoError(t, err)
	require.Equal(t, value.Undefined{}, v)
}

func TestProjectionErrors(t *testing.T) {
	for source, want := range map[string]string{
		"() => 1":                 "$ is a function",
		"1n":                      "$ is a big integer",
		"({a: [1, {'b c': 2n}]})": `$.a[1]["b c"] is a big integer`,
		"Object.getOwnPropertySymbols(Array.prototype)[0]":                             "$ is a symbol",
		"(a => (a.push({a}), a))([])":                                                  "$[0].a is a cycle",
		"({toJSON() { return () => 1 }})":                                              "$ is a function",
		"(() => { let a = []; for (let i = 0; i < 600; i++) a = [a]; return a })()":    "$ is nested deeper than 512 levels",
		"(() => { let a = 'x'; for (let i = 0; i < 60; i++) a = [a, a]; return a })()": "$ is larger than 33554432 bytes",
	} {
		_, err := eval(t, New(), nil, source).JSON()
		var kind *KindError
		require.ErrorAs(t, err, &kind, source)
		require.Equal(t, want, kind.Error(), source)
	}
	_, err := eval(t, New(), nil, "({toJSON() { throw new Error('no') }})").JSON()
	var failed *Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "Error: no", failed.Reason)
	_, err = eval(t, New(), nil, "({a: {get b() { return nope }}})").JSON()
	require.EqualError(t, err, "ReferenceError: nope is not defined")

	var deep any = 1.0
	for range 600 {
		deep = []any{deep}
	}
	_, err = New().Ref(deep).JSON()
	require.EqualError(t, err, "$ is nested deeper than 512 levels")
}

func TestStrict(t *testing.T) {
	for source, want := range map[string]string{
		"undefined":            "$ is undefined",
		"NaN":                  "$ is NaN",
		"({a: [1 / 0]})":       "$.a[0] is Infinity",
		"({a: [() => 1]})":     "$.a[0] is a function",
		"({a: undefined})":     "$.a is undefined",
		"[1, , 3]":             "$[1] is a missing element",
		"[undefined]":          "$[0] is undefined",
		"1n":                   "$ is a big integer",
		"(a => (a.a = a))({})": "$.a is a cycle",
		"[new Map()]":          "$[0] is an instance of Map",
		"/x/":                  "$ is an instance of RegExp",
		"new (class A {})()":   "$ is an instance of A",
		"new Number(1)":        "$ is an instance of Number",
		"Object.create({})":    "$ is an object with a prototype of its own",
	} {
		r := eval(t, New(), nil, source)
		_, err := r.Strict()
		var kind *KindError
		require.ErrorAs(t, err, &kind, source)
		require.Equal(t, want, kind.Error(), source)
	}
	v, err := eval(t, New(), nil, "({b: [1, 'x', null, true], a: Object.create(null)})").Strict()
	require.NoError(t, err)
	text, err := value.JSON(v)
	require.NoError(t, err)
	require.Equal(t, `{"b":[1,"x",null,true],"a":{}}`, text)
	_, err = New().Ref(value.Of("n", []any{math.Inf(-1)})).Strict()
	require.EqualError(t, err, "$.n[0] is -Infinity")
}

func TestSnapshot(t *testing.T) {
	rt := New()
	e := env{"x": rt.Ref([]any{1.0}), "f": eval(t, rt, nil, "({f: () => 1, l: []})")}
	e["y"] = eval(t, rt, e, "x")
	e["copy"] = e["y"].Snapshot()
	eval(t, rt, e, "x.push(2)")
	require.Equal(t, "1", e["copy"].Text())
	require.Same(t, e["f"], e["f"].Snapshot(), "what holds a function is shared")
	sparse := eval(t, rt, nil, "[1, , 2]")
	require.Same(t, sparse, sparse.Snapshot())
	require.Equal(t, ",NaN", eval(t, rt, nil, "[undefined, NaN]").Snapshot().Text())
}

func TestMembersOfProgramObjects(t *testing.T) {
	rt := New()
	o := eval(t, rt, nil, "({get g() { return 5 }, get bad() { throw 1 }, f: x => x, m: new Map(), n: null, __proto__: 'own', c: new (class { p = 'q' })()})")
	for path, want := range map[string]string{
		"g": "5", "f": "x => x", "m": "[object Map]", "m.size": "undefined", "n": "null", "__proto__": "own", "c.p": "q",
	} {
		text, ok := o.Member(strings.Split(path, "."))
		require.True(t, ok, path)
		require.Equal(t, want, text, path)
	}
	for _, path := range []string{"bad", "f.name", "n.x", "m.size.x"} {
		_, ok := o.Member(strings.Split(path, "."))
		require.False(t, ok, path)
	}
	require.Equal(t, "[object Object]", o.Property([]string{"bad"}))
	require.Equal(t, "1, 2,3, ", eval(t, rt, nil, "({l: [1, [2, 3], undefined]})").Property([]string{"l"}))
}

func TestManyMembersKeepTheirOrder(t *testing.T) {
	o := value.NewObject(100)
	for i := range 100 {
		o.Set("k"+strconv.Itoa(100-i), float64(i))
	}
	rt := New()
	r := rt.Ref(o)
	require.Equal(t, strings.Join(o.Keys(), ","), eval(t, rt, env{"o": r}, "Object.keys(o)").Text())
	v, err := r.JSON()
	require.NoError(t, err)
	require.Equal(t, o.Keys(), v.(*value.Object).Keys())
}
