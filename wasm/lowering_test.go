package wasm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// One fragment a row of the lowering table: the calls it makes and what they cost. An
// import answers with the number of its call; truthy and nullish answer as a row says,
// length and count with 2.
func TestLowering(t *testing.T) {
	rt := engines(t)["interpreter"]
	op := func(form Form, as bool) []Element {
		return []Element{{Name: "Op", Identity: "t/Op@1", Form: form, As: as, Parent: -1}}
	}
	named := func(names ...string) []Element {
		var all []Element
		for i, n := range names {
			all = append(all, Element{Name: n, Form: Paired, Parent: min(i, 1) - 1})
		}
		return all
	}
	text := func(s string) []Node { return []Node{&Text{s}} }
	read := func(s string) Expr { return &Name{s} }
	let := func(e Expr) []Node { return []Node{&Let{As: "x", Value: e}} }

	for _, c := range []struct {
		name     string
		elements []Element
		body     []Node
		yes      bool // what truthy and nullish answer
		calls    string
		fuel     int
	}{
		{name: "text and references", body: []Node{&Text{"a"}, &Text{"b"}, &Show{"{c}"}, &Show{"{c.d}"}, &Text{"e"}},
			calls: `text.emit("ab") text.show("{c}") text.show("{c.d}") text.emit("e")`, fuel: 3},
		{name: "literal", elements: named("Let"), body: let(&Literal{`[1,{"a":null}]`}),
			calls: `value.literal("[1,{\"a\":null}]") scope.bind("x", 1)`, fuel: 2},
		{name: "template literal", elements: named("Let"), body: let(&Binary{Add, &Binary{Add, &Literal{`""`}, read("a")}, &Literal{`"!"`}}),
			calls: `value.literal("\"\"") scope.read("a") value.binary(6, 1, 2) value.literal("\"!\"") value.binary(6, 3, 4) scope.bind("x", 5)`, fuel: 2},
		{name: "array", elements: named("Let"), body: let(&Array{[]Expr{read("a"), &Literal{"1"}}}),
			calls: `value.array() scope.read("a") value.append(1, 2) value.literal("1") value.append(1, 4) scope.bind("x", 1)`, fuel: 2},
		{name: "object", elements: named("Let"), body: let(&ObjectLiteral{[]Prop{{"k", read("a")}, {"k", &Array{}}}}),
			calls: `value.object() scope.read("a") value.set(1, "k", 2) value.array() value.set(1, "k", 4) scope.bind("x", 1)`, fuel: 2},
		{name: "members", elements: named("Let"), body: let(&Chain{read("a"), []Step{{Property: "b"}, {Index: read("c")}}}),
			calls: `scope.read("a") value.get(1, "b") scope.read("c") value.index(2, 3) scope.bind("x", 4)`, fuel: 2},
		{name: "optional member that is there", elements: named("Let"), body: let(&Chain{read("a"), []Step{{Property: "b", Optional: true}, {Index: read("c")}}}),
			calls: `scope.read("a") value.nullish(1) value.get(1, "b") scope.read("c") value.index(3, 4) scope.bind("x", 5)`, fuel: 2},
		{name: "optional member that is not", elements: named("Let"), body: let(&Chain{read("a"), []Step{{Property: "b", Optional: true}, {Index: read("c")}}}), yes: true,
			calls: `scope.read("a") value.nullish(1) scope.bind("x", 0)`, fuel: 2},
		{name: "operators", elements: named("Let"), body: let(&Binary{Less, &Unary{Negate, read("a")}, &Unary{Not, read("b")}}),
			calls: `scope.read("a") value.unary(1, 1) scope.read("b") value.unary(0, 3) value.binary(2, 2, 4) scope.bind("x", 5)`, fuel: 2},
		{name: "and, decided", elements: named("Let"), body: let(&Logical{And, read("a"), read("b")}),
			calls: `scope.read("a") value.truthy(1) scope.bind("x", 1)`, fuel: 2},
		{name: "and", elements: named("Let"), body: let(&Logical{And, read("a"), read("b")}), yes: true,
			calls: `scope.read("a") value.truthy(1) scope.read("b") scope.bind("x", 3)`, fuel: 2},
		{name: "or, decided", elements: named("Let"), body: let(&Logical{Or, read("a"), read("b")}), yes: true,
			calls: `scope.read("a") value.truthy(1) scope.bind("x", 1)`, fuel: 2},
		{name: "or", elements: named("Let"), body: let(&Logical{Or, read("a"), read("b")}),
			calls: `scope.read("a") value.truthy(1) scope.read("b") scope.bind("x", 3)`, fuel: 2},
		{name: "coalesce, decided", elements: named("Let"), body: let(&Logical{Coalesce, read("a"), read("b")}),
			calls: `scope.read("a") value.nullish(1) scope.bind("x", 1)`, fuel: 2},
		{name: "coalesce", elements: named("Let"), body: let(&Logical{Coalesce, read("a"), read("b")}), yes: true,
			calls: `scope.read("a") value.nullish(1) scope.read("b") scope.bind("x", 3)`, fuel: 2},
		{name: "conditional, then", elements: named("Let"), body: let(&Conditional{read("a"), read("b"), read("c")}), yes: true,
			calls: `scope.read("a") value.truthy(1) scope.read("b") scope.bind("x", 3)`, fuel: 2},
		{name: "conditional, else", elements: named("Let"), body: let(&Conditional{read("a"), read("b"), read("c")}),
			calls: `scope.read("a") value.truthy(1) scope.read("c") scope.bind("x", 3)`, fuel: 2},

		{name: "self-closing", elements: op(SelfClosing, false), body: []Node{&Invoke{Props: []Prop{{"a", &Literal{"1"}}, {"b", &Literal{`"é"`}}}}},
			calls: `value.literal("{\"a\":1,\"b\":\"é\"}") t/Op@1.invoke(0, 1) text.render(2)`, fuel: 2},
		{name: "computed props", elements: op(SelfClosing, true), body: []Node{&Invoke{As: "x", Props: []Prop{{"a", &Literal{"1"}}, {"b", read("c")}}}},
			calls: `value.object() value.literal("1") value.set(1, "a", 2) scope.read("c") value.set(1, "b", 4) t/Op@1.invoke(0, 1) scope.bind("x", 6)`, fuel: 2},
		{name: "paired", elements: op(Paired, false), body: []Node{&Invoke{Body: text("c")}},
			calls: `value.literal("{}") t/Op@1.enter(0, 1) text.push() text.emit("c") text.pop() t/Op@1.leave(0, 5) text.render(6)`, fuel: 2},
		{name: "paired, bound, empty", elements: op(Paired, true), body: []Node{&Invoke{As: "x"}},
			calls: `value.literal("{}") t/Op@1.enter(0, 1) text.push() text.pop() t/Op@1.leave(0, 4) scope.bind("x", 5)`, fuel: 2},

		{name: "let", elements: named("Let"), body: []Node{&Let{As: "x", Body: text("c")}},
			calls: `text.push() text.emit("c") text.pop() text.trim(3) scope.bind("x", 4)`, fuel: 2},
		{name: "if, taken", elements: named("If", "Else"), body: []Node{&If{Condition: read("a"), Then: text("t"), ElseElement: 1, Else: text("e")}}, yes: true,
			calls: `scope.read("a") value.truthy(1) text.emit("t")`, fuel: 2},
		{name: "if, not taken", elements: named("If", "Else"), body: []Node{&If{Condition: read("a"), Then: text("t"), ElseElement: 1, Else: text("e")}},
			calls: `scope.read("a") value.truthy(1) text.emit("e")`, fuel: 3},
		{name: "switch, first", elements: named("Switch", "Case", "Case", "Case"), yes: true,
			body:  []Node{&Switch{Value: read("a"), Cases: []Case{{1, &Literal{"1"}, text("1")}, {2, &Literal{"2"}, text("2")}}, DefaultElement: 3, Default: text("d")}},
			calls: `scope.read("a") value.literal("1") value.binary(0, 1, 2) value.truthy(3) text.emit("1")`, fuel: 3},
		{name: "switch, default", elements: named("Switch", "Case", "Case", "Case"),
			body:  []Node{&Switch{Value: read("a"), Cases: []Case{{1, &Literal{"1"}, text("1")}, {2, &Literal{"2"}, text("2")}}, DefaultElement: 3, Default: text("d")}},
			calls: `scope.read("a") value.literal("1") value.binary(0, 1, 2) value.truthy(3) value.literal("2") value.binary(0, 1, 5) value.truthy(6) text.emit("d")`, fuel: 5},
		{name: "each", elements: named("Each"), body: []Node{&Each{In: read("a"), Let: "i", Body: text("c")}},
			calls: `scope.read("a") value.items(1) value.length(2) ` +
				`scope.open(0, 0) value.at(2, 0) scope.bind("i", 5) text.emit("c") scope.close() ` +
				`scope.open(0, 1) value.at(2, 1) scope.bind("i", 10) text.emit("c") scope.close()`, fuel: 5},
		{name: "each, bound", elements: []Element{{Name: "Each", As: true, Parent: -1}}, body: []Node{&Each{In: read("a"), Let: "i", As: "x"}},
			calls: `scope.read("a") value.items(1) value.length(2) text.push() ` +
				`scope.open(0, 0) value.at(2, 0) scope.bind("i", 6) scope.close() ` +
				`scope.open(0, 1) value.at(2, 1) scope.bind("i", 10) scope.close() ` +
				`text.pop() scope.bind("x", 13)`, fuel: 5},
		{name: "loop", elements: named("Loop"), body: []Node{&Loop{Max: &Literal{"2"}, Body: text("c")}},
			calls: `value.literal("2") value.count(1) task.loop(0, 0) text.emit("c") task.loop(0, 1) text.emit("c") task.done(0, 2, 0)`, fuel: 4},
		{name: "break", elements: named("Loop", "Break"), body: []Node{&Loop{Max: &Literal{"2"}, Body: []Node{&Break{1}, &Text{"never"}}}, &Text{"after"}},
			calls: `value.literal("2") value.count(1) task.loop(0, 0) task.done(0, 1, 1) text.emit("after")`, fuel: 4},
		{name: "a break closes what it leaves", elements: named("Loop", "Each", "Answers", "If", "Break"), yes: true,
			body: []Node{&Loop{Max: &Literal{"2"}, Body: []Node{
				&Each{Element: 1, In: read("a"), Let: "i", Body: []Node{
					&Answers{Element: 2, Body: []Node{
						&If{Element: 3, Condition: read("b"), ElseElement: -1, Then: []Node{&Break{4}}}, &Text{"never"},
					}}, &Text{"never"},
				}}, &Text{"never"},
			}}},
			calls: `value.literal("2") value.count(1) task.loop(0, 0) scope.read("a") value.items(4) value.length(5) ` +
				`scope.open(1, 0) value.at(5, 0) scope.bind("i", 8) answer.open(2, 0) answer.begin() scope.read("b") value.truthy(12) ` +
				`answer.close() scope.close() task.done(0, 1, 1)`, fuel: 8},
		{name: "answers", elements: named("Answers", "Answer", "Answer", "Answer"),
			body: []Node{&Answers{Delegate: read("d"), Body: text("c"), Answers: []Answer{
				{Element: 1, HasTemplate: true, Template: `a "b"`, Value: &Literal{"1"}},
				{Element: 2, Children: text("t"), Value: &Literal{"2"}},
				{Element: 3, Value: read("v")},
			}}},
			calls: `scope.read("d") answer.open(0, 1) value.literal("\"a \\\"b\\\"\"") value.literal("1") answer.add(1, 3, 4) ` +
				`text.push() text.emit("t") text.pop() value.literal("2") answer.add(2, 8, 9) ` +
				`scope.read("v") answer.add(3, 0, 11) answer.begin() text.emit("c") answer.close()`, fuel: 5},
		{name: "all", elements: named("All", "Spawn", "Spawn"),
			body:  []Node{&All{Spawns: []Spawn{{1, text("a")}, {2, nil}}}},
			calls: `task.spawn(0) task.spawn(1) task.join()`, fuel: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Program{Digest: testDigest, Elements: c.elements, Body: c.body}
			m := requireRoundTrip(t, p)
			r := recorder{rule: func(call string) int {
				switch {
				case strings.HasPrefix(call, "value.length"):
					return 2
				case strings.HasPrefix(call, "value.count"):
					return 1
				case c.yes:
					return 1
				}
				return 0
			}}
			fuel, whole := execute(t, rt, m, "run", &r)
			require.True(t, whole)
			require.Equal(t, c.calls, strings.Join(r.calls, " "))
			require.Equal(t, c.fuel, fuel)
			imported := map[string]bool{}
			for _, call := range r.calls {
				name, _, _ := strings.Cut(call, "(")
				imported[name] = true
			}
			for _, in := range m.Imports {
				delete(imported, callName(in.Module, in.Field))
			}
			require.Empty(t, imported)
		})
	}
}

// A spawn runs its own body, and those inside it have later numbers.
func TestSpawnsAreNumberedInDocumentOrder(t *testing.T) {
	rt := engines(t)["interpreter"]
	var b builder
	outer := &All{Element: b.structural("All", -1)}
	first := Spawn{Element: b.structural("Spawn", outer.Element)}
	inner := &All{Element: b.structural("All", first.Element)}
	for _, s := range []string{"1", "2"} {
		inner.Spawns = append(inner.Spawns, Spawn{b.structural("Spawn", inner.Element), []Node{&Text{s}}})
	}
	first.Body = []Node{inner, &Text{"0"}}
	last := Spawn{b.structural("Spawn", outer.Element), []Node{&Text{"3"}}}
	outer.Spawns = []Spawn{first, last}
	m := requireRoundTrip(t, b.program(outer))
	require.Equal(t, 4, m.Spawns)
	for name, calls := range map[string][]string{
		"run":     {"task.spawn(0)", "task.spawn(3)", "task.join()"},
		"spawn.0": {"task.spawn(1)", "task.spawn(2)", "task.join()", `text.emit("0")`},
		"spawn.1": {`text.emit("1")`},
		"spawn.2": {`text.emit("2")`},
		"spawn.3": {`text.emit("3")`},
	} {
		var r recorder
		_, whole := execute(t, rt, m, name, &r)
		require.True(t, whole)
		require.Equal(t, calls, r.calls)
	}
}

// Without fuel nothing runs, and a loop ends when it is used up.
func TestFuelEndsEveryModule(t *testing.T) {
	m, err := Compile(&Program{Digest: testDigest, Elements: []Element{{Name: "Loop", Parent: -1}}, Body: []Node{
		&Loop{Max: &Literal{"2000000000"}},
	}})
	require.NoError(t, err)
	for fuel, loops := range map[int64]int{0: 0, 1: 0, 2: 0, 3: 1, 1000: 998} {
		for engine, rt := range engines(t) {
			r := recorder{rule: func(string) int { return 1 << 30 }}
			left, err := executeWith(t, rt, m, "run", &r, fuel)
			require.ErrorContains(t, err, "unreachable", engine)
			require.Equal(t, int64(-1), left)
			require.Equal(t, loops, strings.Count(strings.Join(r.calls, " "), "task.loop"))
		}
	}
}
