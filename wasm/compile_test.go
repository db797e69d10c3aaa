package wasm

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// observing is a fragment that names three identities, one in two forms and one
// twice, the last inside a branch that is never taken.
func observing() *Program {
	var b builder
	read := b.add("File", "xmd.core/File.read@1", SelfClosing, false, -1)
	list := b.add("Glob", "xmd.core/Glob@2", SelfClosing, true, -1)
	dir := b.add("Dir", "xmd.core/Dir.ensure@1", Paired, false, -1)
	again := b.add("File", "xmd.core/File.read@1", SelfClosing, true, dir)
	never := b.structural("If", -1)
	write := b.add("File", "xmd.core/File.write@1", Paired, false, never)
	path := []Prop{{"path", &Literal{`"a.md"`}}}
	return b.program(
		&Invoke{Element: read, Props: path},
		&Invoke{Element: list, As: "all"},
		&Invoke{Element: dir, Props: path, Body: []Node{&Invoke{Element: again, Props: path, As: "b"}}},
		&If{Element: never, Condition: &Literal{"false"}, Then: []Node{&Invoke{Element: write, Props: path}}, ElseElement: -1},
	)
}

func TestA6_TheImportsAreTheGrant(t *testing.T) {
	m, err := Compile(observing())
	require.NoError(t, err)
	granted := []string{
		"xmd.core/File.read@1.invoke",
		"xmd.core/Glob@2.invoke",
		"xmd.core/Dir.ensure@1.enter", "xmd.core/Dir.ensure@1.leave",
		"xmd.core/File.write@1.enter", "xmd.core/File.write@1.leave",
	}
	var said, found []string
	for _, in := range m.Imports {
		if strings.Contains(in.Module, "/") {
			said = append(said, in.Module+"."+in.Field)
		}
	}
	require.Equal(t, granted, said)

	// Another reader finds the same in the bytes, and nothing else that could act.
	compiled, err := engines(t)["interpreter"].CompileModule(t.Context(), m.Bytes)
	require.NoError(t, err)
	known := map[string]bool{"xmd:text": true, "xmd:value": true, "xmd:scope": true, "xmd:answer": true, "xmd:task": true}
	for _, f := range compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		if !known[module] {
			found = append(found, module+"."+name)
		}
	}
	require.Equal(t, granted, found)
	require.Empty(t, compiled.ImportedMemories())
	require.Empty(t, compiled.ExportedMemories())
}

func TestA6_AGrantThatIsMissingStopsTheInstance(t *testing.T) {
	m, err := Compile(observing())
	require.NoError(t, err)
	for missing := -1; missing < len(m.Imports); missing++ {
		rt := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV1))
		modules := map[string]wazero.HostModuleBuilder{}
		for i, in := range m.Imports {
			if modules[in.Module] == nil {
				modules[in.Module] = rt.NewHostModuleBuilder(in.Module)
			}
			if i != missing {
				nothing := api.GoFunc(func(_ context.Context, _ []uint64) {})
				modules[in.Module].NewFunctionBuilder().WithGoFunction(nothing, values(in.Params), values(in.Results)).Export(in.Field)
			}
		}
		for _, h := range modules {
			_, err := h.Instantiate(t.Context())
			require.NoError(t, err)
		}
		_, err := rt.Instantiate(t.Context(), m.Bytes)
		if missing < 0 {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, m.Imports[missing].Module)
		}
		require.NoError(t, rt.Close(t.Context()))
	}
}

func TestA6_TheSameProgramNamesTheSameGrant(t *testing.T) {
	one, err := Compile(observing())
	require.NoError(t, err)
	two, err := Compile(observing())
	require.NoError(t, err)
	require.Equal(t, one, two)
}

const determinism = "XMD_WASM_TEST_DETERMINISM"

// digests are those of many modules, one a line.
func digests(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	programs := []*Program{observing(), handwrittenProgram(), shapes["flat"](500)}
	for seed := range uint64(50) {
		programs = append(programs, generate(choices(seed)))
	}
	for _, p := range programs {
		m, err := Compile(p)
		require.NoError(t, err)
		fmt.Fprintln(&all, m.Digest)
	}
	return all.String()
}

func TestA16_TheSameBytesInEveryProcess(t *testing.T) {
	if path := os.Getenv(determinism); path != "" {
		require.NoError(t, os.WriteFile(path, []byte(digests(t)), 0o600))
		return
	}
	here := digests(t)
	require.Equal(t, here, digests(t))
	for i, env := range [][]string{
		{"GOMAXPROCS=1", "TZ=Asia/Tokyo", "LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8", "GOGC=10"},
		{"GOMAXPROCS=7", "TZ=America/St_Johns", "LANG=C", "LC_ALL=C", "GOGC=off"},
	} {
		out := fmt.Sprintf("%s/%d", t.TempDir(), i)
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestA16_TheSameBytesInEveryProcess$")
		cmd.Env = append(append(os.Environ(), determinism+"="+out), env...)
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, string(said))
		there, err := os.ReadFile(out)
		require.NoError(t, err)
		require.Equal(t, here, string(there))
	}
}

// pieces are the functions a program is divided into.
func pieces(t *testing.T, p *Program) []piece {
	t.Helper()
	c := &compiler{elements: p.Elements, claimed: make([]bool, len(p.Elements)), interned: map[string]int32{}}
	c.function(c.body(p.Body, false))
	require.NoError(t, c.err)
	return c.functions
}

func TestEveryFunctionIsSmallHoweverLongTheProgram(t *testing.T) {
	rt := engines(t)["interpreter"]
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 2, 31, 32, 33, 64, 65, 1000, 3000} {
				p := shape(max(n, 2))
				for _, f := range pieces(t, p) {
					require.LessOrEqual(t, f.units, maxUnits)
					require.LessOrEqual(t, f.high-f.base, int32(maxLocals))
					require.LessOrEqual(t, f.nesting, maxNesting)
					require.LessOrEqual(t, len(f.code), maxCode)
				}
				m := requireRoundTrip(t, p)
				compiled, err := rt.CompileModule(t.Context(), m.Bytes)
				require.NoError(t, err)
				require.NoError(t, compiled.Close(t.Context()))
				if name != "nested breaks" || n < 100 {
					requireSameCalls(t, rt, p)
				}
			}
		})
	}
}

func TestTheSizeOfAModuleGrowsLinearly(t *testing.T) {
	for name, shape := range shapes {
		one, err := Compile(shape(1000))
		require.NoError(t, err)
		two, err := Compile(shape(2000))
		require.NoError(t, err)
		require.Less(t, len(two.Bytes), len(one.Bytes)*21/10, name)
	}
}

// One expression stays in one function, whatever its size, and needs one local.
func TestLargeExpressions(t *testing.T) {
	all := engines(t)
	deep := func(n int, wrap func(Expr) Expr) Expr {
		var e Expr = &Name{"a"}
		for range n {
			e = wrap(e)
		}
		return e
	}
	manyOptional := &Chain{Base: &Name{"a"}}
	for range 256 {
		manyOptional.Steps = append(manyOptional.Steps, Step{Property: "b", Optional: true})
	}
	long := &ObjectLiteral{}
	for i := range 3000 {
		long.Members = append(long.Members, Prop{fmt.Sprint("m", i), &Name{"a"}})
	}
	for name, e := range map[string]Expr{
		"and":         deep(256, func(e Expr) Expr { return &Logical{And, e, &Name{"b"}} }),
		"or":          deep(256, func(e Expr) Expr { return &Logical{Or, &Name{"b"}, e} }),
		"coalesce":    deep(256, func(e Expr) Expr { return &Logical{Coalesce, &Name{"b"}, e} }),
		"conditional": deep(256, func(e Expr) Expr { return &Conditional{&Name{"b"}, &Name{"c"}, e} }),
		"test":        deep(256, func(e Expr) Expr { return &Conditional{e, &Name{"b"}, &Name{"c"}} }),
		"sum":         deep(256, func(e Expr) Expr { return &Binary{Add, e, &Name{"b"}} }),
		"not":         deep(256, func(e Expr) Expr { return &Unary{Not, e} }),
		"array":       deep(256, func(e Expr) Expr { return &Array{[]Expr{e, &Literal{"1"}}} }),
		"object":      deep(256, func(e Expr) Expr { return &ObjectLiteral{[]Prop{{"m", e}}} }),
		"index":       deep(256, func(e Expr) Expr { return &Chain{&Name{"b"}, []Step{{Index: e, Optional: true}}} }),
		"steps":       manyOptional,
		"members":     long,
	} {
		t.Run(name, func(t *testing.T) {
			var b builder
			body := []Node{&Let{Element: b.structural("Let", -1), As: "x", Value: e}}
			for i := range 64 {
				body = []Node{&If{Element: b.structural("If", i), Condition: &Name{"a"}, Then: body, ElseElement: -1}}
			}
			p := b.program(body...)
			requireSameCalls(t, all["interpreter"], p)
			m := requireRoundTrip(t, p)
			_, err := all["compiler"].CompileModule(t.Context(), m.Bytes)
			require.NoError(t, err)
			for _, f := range pieces(t, p) {
				require.Zero(t, f.high)
			}
		})
	}
}

// The comparisons of one Switch stay in one function; the bodies of its cases leave.
func TestASwitchOfManyCases(t *testing.T) {
	var b builder
	s := &Switch{Element: b.structural("Switch", -1), Value: &Name{"a"}, DefaultElement: -1}
	for i := range 200 {
		k := Case{Element: b.structural("Case", 0), Value: &Literal{fmt.Sprint(i)}}
		k.Body = []Node{&Invoke{Element: b.add("Op", "test/Op@1", SelfClosing, false, k.Element)}}
		s.Cases = append(s.Cases, k)
	}
	p := b.program(s, &Text{"after"})
	requireRoundTrip(t, p)
	requireSameCalls(t, engines(t)["interpreter"], p)
	for _, f := range pieces(t, p) {
		require.LessOrEqual(t, f.nesting, 3)
	}
}

func TestALoneSurrogateIsAText(t *testing.T) {
	for s, valid := range map[string]bool{
		"":                                     true,
		"a\u00e9\U0001f600":                    true,
		"\xed\xa0\x80":                         true, // high
		"\xed\xb0\x80":                         true, // low
		"a\xed\xb0\x80\xed\xa0\x80b":           true, // the wrong way round
		"\xed\xa0\x80a\xed\xb0\x80":            true,
		"\xed\xa0\x80\xed\xb0\x80":             false, // a pair
		"\xed\xa0\x80\xed\xa0\x80\xed\xb0\x80": false,
		"\xed\xa0":                             false,
		"\xed\xc0\x80":                         false,
		"\xff":                                 false,
		"\xc0\x80":                             false,
	} {
		require.Equal(t, valid, isText(s), "%q", s)
		p := &Program{Digest: testDigest, Elements: []Element{{Name: "Let", Parent: -1}}, Body: []Node{
			&Let{As: "x", Value: &ObjectLiteral{[]Prop{{s, &Name{"a"}}}}},
		}}
		if valid {
			requireRoundTrip(t, p)
			continue
		}
		_, err := Compile(p)
		require.EqualError(t, err, "malformed program: a text is not UTF-8")
	}
}

func TestIdentities(t *testing.T) {
	for s, valid := range map[string]bool{
		"xmd.core/File.read@1":     true,
		"com.example/a@2147483647": true,
		"":                         false,
		"xmd:text":                 false,
		"a/b":                      false,
		"a@1":                      false,
		"/b@1":                     false,
		"a/@1":                     false,
		"a/b@":                     false,
		"a/b@0":                    false,
		"a/b@01":                   false,
		"a/b@+1":                   false,
		"a/b@-1":                   false,
		"a/b@1@1":                  false,
		"a/b@2147483648":           false,
		"a/\xff@1":                 false,
	} {
		require.Equal(t, valid, isIdentity(s), "%q", s)
	}
}

// A node of another package, which can only be made by embedding the interface.
type foreignNode struct{ Node }
type foreignExpr struct{ Expr }

func TestMalformedProgramsAreErrors(t *testing.T) {
	structural := []Element{{Name: "X", Parent: -1}}
	operation := []Element{{Name: "X", Identity: "a/b@1", Parent: -1}}
	let := func(e Expr) []Node { return []Node{&Let{As: "x", Value: e}} }
	nested := func(n int) Expr {
		var e Expr = &Name{"a"}
		for range n {
			e = &Unary{Not, e}
		}
		return e
	}
	conditional := func(n int) Expr {
		var e Expr = &Name{"a"}
		for range n {
			e = &Conditional{&Name{"a"}, &Name{"a"}, e}
		}
		return e
	}
	for _, c := range []struct {
		name     string
		elements []Element
		body     []Node
		err      string
	}{
		{"a node that is missing", nil, []Node{nil}, "a node or an expression is missing"},
		{"a text that is missing", nil, []Node{(*Text)(nil)}, "a node or an expression is missing"},
		{"a node that is no node", nil, []Node{(*Show)(nil)}, "a node or an expression is missing"},
		{"a foreign node", nil, []Node{foreignNode{}}, "an unknown node"},
		{"an expression that is missing", structural, []Node{&If{ElseElement: -1}}, "a node or an expression is missing"},
		{"an expression that is none", structural, let((*Literal)(nil)), "a node or an expression is missing"},
		{"a foreign expression", structural, let(foreignExpr{}), "an unknown expression"},
		{"a prop that is missing", operation, []Node{&Invoke{Props: []Prop{{"a", nil}}}}, "a node or an expression is missing"},
		{"a prop that is none", operation, []Node{&Invoke{Props: []Prop{{"a", (*Literal)(nil)}}}}, "a node or an expression is missing"},
		{"a prop twice", operation, []Node{&Invoke{Props: []Prop{{"a", &Name{"x"}}, {"a", &Name{"x"}}}}}, "a prop written twice"},
		{"an operator", structural, let(&Unary{2, &Name{"a"}}), "an unknown unary operator"},
		{"an operator between", structural, let(&Binary{11, &Name{"a"}, &Name{"a"}}), "an unknown binary operator"},
		{"an operator that may stop", structural, let(&Logical{3, &Name{"a"}, &Name{"a"}}), "an unknown logical operator"},
		{"no such element", structural, []Node{&Let{Element: 1, Value: &Name{"a"}}}, "there is no element 1"},
		{"an element before the first", structural, []Node{&Each{Element: -1, In: &Name{"a"}}}, "there is no element -1"},
		{"an element twice", structural, append(let(&Name{"a"}), let(&Name{"a"})...), "two nodes are element 0"},
		{"an element without a node", structural, nil, "no node is element 0"},
		{"a structural node of a capability", operation, let(&Name{"a"}), "element 0 is structural and has an identity"},
		{"a capability without an identity", structural, []Node{&Invoke{}}, "element 0 is a capability and has no identity"},
		{"a capability bound without as", operation, []Node{&Invoke{As: "x"}}, "element 0 and its row disagree about as"},
		{"an each bound without as", structural, []Node{&Each{In: &Name{"a"}, As: "x"}}, "element 0 and its row disagree about as"},
		{"content of a self-closing one", operation, []Node{&Invoke{Body: []Node{&Text{"x"}}}}, "element 0 is self-closing and has content"},
		{"a break without a loop", structural, []Node{&Break{}}, "element 0 breaks no loop it can reach"},
		{"a let of two values", structural, []Node{&Let{Value: &Name{"a"}, Body: []Node{&Text{"x"}}}}, "element 0 has a value and content"},
		{"an else without an element", structural, []Node{&If{Condition: &Name{"a"}, ElseElement: -1, Else: []Node{&Text{"x"}}}}, "element 0 has an else without an element"},
		{"a default without an element", structural, []Node{&Switch{Value: &Name{"a"}, DefaultElement: -1, Default: []Node{&Text{"x"}}}}, "element 0 has a default without an element"},
		{"an answer of two templates", []Element{{Parent: -1}, {}}, []Node{&Answers{Answers: []Answer{{Element: 1, HasTemplate: true, Children: []Node{&Text{"x"}}, Value: &Name{"a"}}}}}, "element 1 has a template and children"},
		{"a template that is no text", []Element{{Parent: -1}, {}}, []Node{&Answers{Answers: []Answer{{Element: 1, HasTemplate: true, Template: "\xff", Value: &Name{"a"}}}}}, "a text is not UTF-8"},
		{"a text that is none", nil, []Node{&Text{"\xff"}}, "a text is not UTF-8"},
		{"nested beyond every bound", structural, let(nested(1_000_000)), "nested deeper than 10000"},
		{"an expression nested too deeply", structural, let(conditional(400)), "an expression nested too deeply"},
		{"an identity that is none", []Element{{Identity: "xmd:text", Parent: -1}}, nil, "the identity of element 0 is not origin/key@revision"},
		{"a name that is no text", []Element{{Name: "\xff", Parent: -1}}, nil, "the name of element 0 is not UTF-8"},
		{"a form that is none", []Element{{Form: 2, Parent: -1}}, nil, "element 0 has an unknown form"},
		{"a parent that is itself", []Element{{Parent: 0}}, nil, "the parent of element 0 does not stand before it"},
		{"a parent above the top", []Element{{Parent: -2}}, nil, "the parent of element 0 does not stand before it"},
		{"an element out of order", []Element{{Parent: -1, Offset: 2}, {Parent: -1, Offset: 1}}, nil, "element 1 stands before the element it follows"},
		{"an element beyond every source", []Element{{Parent: -1, Offset: math.MaxInt32 + 1}}, nil, "element 0 stands before the element it follows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Compile(&Program{Digest: testDigest, Elements: c.elements, Body: c.body})
			require.Nil(t, m)
			require.EqualError(t, err, "malformed program: "+c.err)
		})
	}
	for _, d := range []string{"", "sha256:", strings.ToUpper(testDigest), testDigest[7:], testDigest + "00", testDigest[:70] + "g", "sha512:" + testDigest[7:]} {
		_, err := Compile(&Program{Digest: d})
		require.ErrorContains(t, err, "malformed program: the digest ", d)
	}
}

// Breaks that no loop of the fragment can catch, because something half made stands
// between.
func TestABreakOutOfACaptureIsMalformed(t *testing.T) {
	for name, between := range map[string]func(b *builder, inner func(parent int) Node) Node{
		"content": func(b *builder, inner func(int) Node) Node {
			e := b.add("Op", "test/Op@1", Paired, false, 0)
			return &Invoke{Element: e, Body: []Node{inner(e)}}
		},
		"let": func(b *builder, inner func(int) Node) Node {
			e := b.structural("Let", 0)
			return &Let{Element: e, As: "x", Body: []Node{inner(e)}}
		},
		"each with as": func(b *builder, inner func(int) Node) Node {
			e := b.add("Each", "", Paired, true, 0)
			return &Each{Element: e, In: &Name{"a"}, As: "x", Body: []Node{inner(e)}}
		},
		"answer": func(b *builder, inner func(int) Node) Node {
			e := b.structural("Answers", 0)
			a := b.structural("Answer", e)
			return &Answers{Element: e, Answers: []Answer{{Element: a, Children: []Node{inner(a)}, Value: &Literal{"1"}}}}
		},
		"spawn": func(b *builder, inner func(int) Node) Node {
			e := b.structural("All", 0)
			s := b.structural("Spawn", e)
			return &All{Element: e, Spawns: []Spawn{{Element: s, Body: []Node{inner(s)}}}}
		},
	} {
		var b builder
		loop := &Loop{Element: b.structural("Loop", -1), Max: &Literal{"1"}}
		loop.Body = []Node{between(&b, func(parent int) Node { return &Break{b.structural("Break", parent)} })}
		_, err := Compile(b.program(loop))
		require.ErrorContains(t, err, "breaks no loop it can reach", name)
	}
}
