package wasm

import (
	"context"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// A recorder stands where the host would: it writes every call down, and answers by
// rules that need nothing but the calls before. So whoever makes the same calls gets
// the same answers, and two who ever differ differ from there on.
type recorder struct {
	calls []string
	rule  func(call string) int // of truthy, nullish, length and count; nil: by hash
}

// enough is how many calls are compared; loops that multiply end there.
const enough = 5000

type stopped struct{}

func (stopped) Error() string { return "enough calls" }

// call records a call and answers it: handles count up.
func (r *recorder) call(name string, args ...string) int {
	if len(r.calls) == enough {
		panic(stopped{})
	}
	call := name + "(" + strings.Join(args, ", ") + ")"
	r.calls = append(r.calls, call)
	rule := r.rule
	if rule == nil {
		rule = byHash
	}
	switch strings.TrimPrefix(name, "value.") {
	case "truthy", "nullish":
		return rule(call) % 2
	case "length":
		return rule(call)
	case "count":
		return 1 + rule(call)
	}
	return len(r.calls)
}

func byHash(call string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(call))
	return int(h.Sum32()>>16) % 4
}

// until runs f until it ends or has made enough calls, and reports which.
func (r *recorder) until(f func()) (whole bool) {
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(stopped); !ok {
				panic(v)
			}
		}
	}()
	f()
	return true
}

// name is how a record calls a field.
func callName(module, field string) string {
	return strings.TrimPrefix(module, "xmd:") + "." + field
}

// execute runs a function a module exports against a recorder, with fuel enough, and
// returns the fuel it used, and whether it came to its end.
func execute(t *testing.T, rt wazero.Runtime, m *Module, function string, r *recorder) (fuel int, whole bool) {
	t.Helper()
	const given = 1 << 30
	left, err := executeWith(t, rt, m, function, r, given)
	if err != nil {
		require.ErrorIs(t, err, stopped{})
	}
	return int(given - left), err == nil
}

// executeWith runs a function with so much fuel, and returns what is left and the
// error of the call.
func executeWith(t *testing.T, rt wazero.Runtime, m *Module, function string, r *recorder, fuel int64) (left int64, err error) {
	t.Helper()
	modules := map[string]wazero.HostModuleBuilder{}
	for _, in := range m.Imports {
		if modules[in.Module] == nil {
			modules[in.Module] = rt.NewHostModuleBuilder(in.Module)
		}
		modules[in.Module].NewFunctionBuilder().WithGoFunction(api.GoFunc(func(_ context.Context, stack []uint64) {
			result := r.call(callName(in.Module, in.Field), arguments(m, in, stack)...)
			if in.Results > 0 {
				stack[0] = uint64(uint32(result))
			}
		}), values(in.Params), values(in.Results)).Export(in.Field)
	}
	for _, b := range modules {
		host, err := b.Instantiate(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, host.Close(t.Context())) }()
	}
	instance, err := rt.Instantiate(t.Context(), m.Bytes)
	require.NoError(t, err)
	defer func() { require.NoError(t, instance.Close(t.Context())) }()
	tank, ok := instance.ExportedGlobal("fuel").(api.MutableGlobal)
	require.True(t, ok)
	tank.Set(uint64(fuel))
	result, err := instance.ExportedFunction(function).Call(t.Context())
	if err == nil {
		require.Equal(t, []uint64{0}, result)
	}
	return int64(int32(uint32(tank.Get()))), err
}

func values(n int) []api.ValueType {
	types := make([]api.ValueType, n)
	for i := range types {
		types[i] = api.ValueTypeI32
	}
	return types
}

// arguments are those of a call as a record has them.
func arguments(m *Module, in Import, stack []uint64) []string {
	params := "ch"
	for _, f := range fields {
		if f.module == in.Module && f.name == in.Field {
			params = f.params
		}
	}
	args := make([]string, len(params))
	for i, kind := range params {
		v := int(int32(uint32(stack[i])))
		if args[i] = strconv.Itoa(v); kind == 's' {
			args[i] = strconv.Quote(m.Strings[v])
		}
	}
	return args
}

// A walker makes the calls a program stands for by walking its tree. It is the
// second opinion on what Compile writes.
type walker struct {
	*recorder
	program *Program
	spawns  map[*Spawn]int
	fuel    int // without what entering functions costs
}

func newWalker(p *Program, r *recorder) *walker {
	w := &walker{recorder: r, program: p, spawns: map[*Spawn]int{}}
	w.number(p.Body)
	return w
}

// number numbers the spawns in document order.
func (w *walker) number(nodes []Node) {
	for _, n := range nodes {
		switch n := n.(type) {
		case *Invoke:
			w.number(n.Body)
		case *Let:
			w.number(n.Body)
		case *If:
			w.number(n.Then)
			w.number(n.Else)
		case *Switch:
			for _, k := range n.Cases {
				w.number(k.Body)
			}
			w.number(n.Default)
		case *Each:
			w.number(n.Body)
		case *Loop:
			w.number(n.Body)
		case *Answers:
			for _, a := range n.Answers {
				w.number(a.Children)
			}
			w.number(n.Body)
		case *All:
			for i := range n.Spawns {
				w.spawns[&n.Spawns[i]] = len(w.spawns)
				w.number(n.Spawns[i].Body)
			}
		}
	}
}

func quote(s string) string            { return strconv.Quote(s) }
func decimal(n int) string             { return strconv.Itoa(n) }
func (w *walker) element(int)          { w.fuel++ }
func (w *walker) bind(s string, h int) { w.call("scope.bind", quote(s), decimal(h)) }

func (w *walker) body(nodes []Node) (broke bool) {
	text := ""
	for i, n := range nodes {
		if t, ok := n.(*Text); ok {
			text += t.Value
			if i+1 < len(nodes) {
				if _, more := nodes[i+1].(*Text); more {
					continue
				}
			}
			if text != "" {
				w.call("text.emit", quote(text))
			}
			text = ""
			continue
		}
		if w.node(n) {
			return true
		}
	}
	return false
}

func (w *walker) node(n Node) (broke bool) {
	switch n := n.(type) {
	case *Show:
		w.fuel++
		w.call("text.show", quote(n.Source))
	case *Invoke:
		w.invoke(n)
	case *Let:
		w.element(n.Element)
		if n.Value != nil {
			w.bind(n.As, w.expr(n.Value))
			return false
		}
		w.call("text.push")
		w.body(n.Body)
		w.bind(n.As, w.call("text.trim", decimal(w.call("text.pop"))))
	case *If:
		w.element(n.Element)
		if w.truthy(w.expr(n.Condition)) {
			return w.body(n.Then)
		}
		if n.ElseElement >= 0 {
			w.element(n.ElseElement)
			return w.body(n.Else)
		}
	case *Switch:
		w.element(n.Element)
		selector := w.expr(n.Value)
		for _, k := range n.Cases {
			w.element(k.Element)
			equal := w.call("value.binary", "0", decimal(selector), decimal(w.expr(k.Value)))
			if w.truthy(equal) {
				return w.body(k.Body)
			}
		}
		if n.DefaultElement >= 0 {
			w.element(n.DefaultElement)
			return w.body(n.Default)
		}
	case *Each:
		return w.each(n)
	case *Loop:
		w.element(n.Element)
		limit := w.call("value.count", decimal(w.expr(n.Max)))
		i, broken := 0, 0
		for i < limit && broken == 0 {
			w.fuel++
			w.call("task.loop", decimal(n.Element), decimal(i))
			i++
			if w.body(n.Body) {
				broken = 1
			}
		}
		w.call("task.done", decimal(n.Element), decimal(i), decimal(broken))
	case *Break:
		w.element(n.Element)
		return true
	case *Answers:
		return w.answers(n)
	case *All:
		w.element(n.Element)
		for i := range n.Spawns {
			w.element(n.Spawns[i].Element)
			w.call("task.spawn", decimal(w.spawns[&n.Spawns[i]]))
		}
		w.call("task.join")
	}
	return false
}

func (w *walker) invoke(n *Invoke) {
	w.element(n.Element)
	el := w.program.Elements[n.Element]
	var h int
	if el.Form == Paired {
		w.call(callName(el.Identity, "enter"), decimal(n.Element), decimal(w.props(n.Props)))
		w.call("text.push")
		w.body(n.Body)
		h = w.call(callName(el.Identity, "leave"), decimal(n.Element), decimal(w.call("text.pop")))
	} else {
		h = w.call(callName(el.Identity, "invoke"), decimal(n.Element), decimal(w.props(n.Props)))
	}
	if n.As != "" {
		w.bind(n.As, h)
	} else {
		w.call("text.render", decimal(h))
	}
}

func (w *walker) each(n *Each) (broke bool) {
	w.element(n.Element)
	list := w.call("value.items", decimal(w.expr(n.In)))
	length := w.call("value.length", decimal(list))
	if n.As != "" {
		w.call("text.push")
	}
	w.fuel++ // the head that ends the loop
	for i := 0; i < length && !broke; i++ {
		w.fuel++
		w.call("scope.open", decimal(n.Element), decimal(i))
		w.bind(n.Let, w.call("value.at", decimal(list), decimal(i)))
		broke = w.body(n.Body)
		w.call("scope.close")
	}
	if broke {
		w.fuel--
		return true
	}
	if n.As != "" {
		w.bind(n.As, w.call("text.pop"))
	}
	return false
}

func (w *walker) answers(n *Answers) (broke bool) {
	w.element(n.Element)
	delegate := 0
	if n.Delegate != nil {
		delegate = w.expr(n.Delegate)
	}
	w.call("answer.open", decimal(n.Element), decimal(delegate))
	for _, a := range n.Answers {
		w.element(a.Element)
		template := 0
		switch {
		case a.HasTemplate:
			template = w.call("value.literal", quote(strconv.Quote(a.Template)))
		case len(a.Children) > 0:
			w.call("text.push")
			w.body(a.Children)
			template = w.call("text.pop")
		}
		w.call("answer.add", decimal(a.Element), decimal(template), decimal(w.expr(a.Value)))
	}
	w.call("answer.begin")
	broke = w.body(n.Body)
	w.call("answer.close")
	return broke
}

func (w *walker) truthy(h int) bool  { return w.call("value.truthy", decimal(h)) != 0 }
func (w *walker) nullish(h int) bool { return w.call("value.nullish", decimal(h)) != 0 }

func (w *walker) props(props []Prop) int {
	var constants []string
	for _, p := range props {
		if literal, ok := p.Value.(*Literal); ok {
			constants = append(constants, strconv.Quote(p.Name)+":"+literal.JSON)
		}
	}
	if len(constants) == len(props) {
		return w.call("value.literal", quote("{"+strings.Join(constants, ",")+"}"))
	}
	return w.expr(&ObjectLiteral{props})
}

func (w *walker) expr(e Expr) int {
	switch e := e.(type) {
	case *Literal:
		return w.call("value.literal", quote(e.JSON))
	case *Name:
		return w.call("scope.read", quote(e.Name))
	case *Array:
		h := w.call("value.array")
		for _, element := range e.Elements {
			w.call("value.append", decimal(h), decimal(w.expr(element)))
		}
		return h
	case *ObjectLiteral:
		h := w.call("value.object")
		for _, m := range e.Members {
			w.call("value.set", decimal(h), quote(m.Name), decimal(w.expr(m.Value)))
		}
		return h
	case *Chain:
		h := w.expr(e.Base)
		for _, s := range e.Steps {
			if s.Optional && w.nullish(h) {
				return 0
			}
			if s.Index != nil {
				h = w.call("value.index", decimal(h), decimal(w.expr(s.Index)))
			} else {
				h = w.call("value.get", decimal(h), quote(s.Property))
			}
		}
		return h
	case *Unary:
		return w.call("value.unary", decimal(int(e.Op)), decimal(w.expr(e.X)))
	case *Binary:
		x := w.expr(e.X)
		return w.call("value.binary", decimal(int(e.Op)), decimal(x), decimal(w.expr(e.Y)))
	case *Logical:
		x := w.expr(e.X)
		switch {
		case e.Op == Coalesce && !w.nullish(x), e.Op == And && !w.truthy(x), e.Op == Or && w.truthy(x):
			return x
		}
		return w.expr(e.Y)
	case *Conditional:
		if w.truthy(w.expr(e.Test)) {
			return w.expr(e.Then)
		}
		return w.expr(e.Else)
	}
	panic(fmt.Sprintf("no expression: %T", e))
}

// requireSameCalls compares what a compiled program does with what the walker does,
// for run and for some of the spawns.
func requireSameCalls(t *testing.T, rt wazero.Runtime, p *Program) {
	t.Helper()
	m, err := Compile(p)
	require.NoError(t, err)
	spawns := newWalker(p, nil).spawns
	require.Len(t, spawns, m.Spawns)
	entries := map[string][]Node{"run": p.Body}
	for s, k := range spawns {
		if k < 5 || k == m.Spawns-1 {
			entries[spawnName(k)] = s.Body
		}
	}
	for name, body := range entries {
		var executed, walked recorder
		fuel, whole := execute(t, rt, m, name, &executed)
		w := newWalker(p, &walked)
		require.Equal(t, w.until(func() { w.body(body) }), whole)
		require.Equal(t, walked.calls, executed.calls)
		if whole {
			// Beside the walker's, each function that was entered cost one.
			require.Greater(t, fuel, w.fuel)
		}
	}
}

func TestRandomProgramsMakeTheCallsOfTheirTree(t *testing.T) {
	rt := engines(t)["interpreter"]
	for seed := range uint64(150) {
		requireSameCalls(t, rt, generate(choices(seed)))
	}
}
