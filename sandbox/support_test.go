package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

// A world is what the operations of the tests do, in the order they did it.
type world struct {
	mu     sync.Mutex
	log    []string
	values map[string]any // what Peek returns, by key
	hold   chan struct{}  // what Wait waits for
	held   chan struct{}  // told when Wait waits
}

func (w *world) did(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *world) done() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.log...)
}

const (
	peekID  = "test/Peek@1"
	putID   = "test/Put@1"
	intoID  = "test/Into@1"
	askID   = "test/Ask@1"
	waitID  = "test/Wait@1"
	jsonID  = "xmd.core/Json@1"
	blockID = "xmd.core/CodeBlock@1"
	failID  = "xmd.core/Fail@1"
)

func (w *world) peek() capability.Entry {
	return capability.Entry{
		Name: "Peek", Identity: capability.Identity{Origin: "test", Key: "Peek", Revision: 1}, Forms: capability.SelfClosing,
		Props:   `{"type":"object","properties":{"key":{"type":"string","minLength":1}},"required":["key"],"additionalProperties":false}`,
		Returns: `{}`, Effect: capability.Read, Describe: "Looks at a value.",
		Op: capability.Op{Do: func(ctx context.Context, c capability.Call) (any, error) {
			key, _ := c.Props.String("key")
			w.did("peek %s", key)
			switch key {
			case "broken":
				return nil, errors.New("there is nothing to see")
			case "panic":
				panic("the operation is broken")
			}
			if v, ok := w.values[key]; ok {
				return v, nil
			}
			return "<" + key + ">", nil
		}},
	}
}

// wait is a read that lasts until the test lets it end, or its context does.
func (w *world) wait() capability.Entry {
	return capability.Entry{
		Name: "Wait", Identity: capability.Identity{Origin: "test", Key: "Wait", Revision: 1}, Forms: capability.SelfClosing,
		Props:   `{"type":"object","additionalProperties":false}`,
		Returns: `{"type":"string"}`, Effect: capability.Read, Describe: "Waits.",
		Op: capability.Op{Do: func(ctx context.Context, c capability.Call) (any, error) {
			if w.held != nil {
				w.held <- struct{}{}
			}
			select {
			case <-w.hold:
				return "waited", nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}},
	}
}

func (w *world) put() capability.Entry {
	return capability.Entry{
		Name: "Put", Identity: capability.Identity{Origin: "test", Key: "Put", Revision: 1}, Forms: capability.Paired,
		Props:  `{"type":"object","properties":{"path":{"type":"string","minLength":1}},"required":["path"],"additionalProperties":false}`,
		Effect: capability.Write, Describe: "Writes.",
		Op: capability.Op{Do: func(ctx context.Context, c capability.Call) (any, error) {
			path, _ := c.Props.String("path")
			w.did("put %s:%s %q", c.Dir, path, c.Content)
			return nil, nil
		}},
	}
}

func (w *world) into() capability.Entry {
	return capability.Entry{
		Name: "Into", Identity: capability.Identity{Origin: "test", Key: "Into", Revision: 1}, Forms: capability.Paired,
		Props:  `{"type":"object","properties":{"path":{"type":"string","minLength":1}},"required":["path"],"additionalProperties":false}`,
		Effect: capability.Write, Describe: "Works in a directory.",
		Op: capability.Op{
			Enter: func(ctx context.Context, c capability.Call) error {
				path, _ := c.Props.String("path")
				w.did("make %s:%s", c.Dir, path)
				return nil
			},
			Do: func(ctx context.Context, c capability.Call) (any, error) { return c.Content, nil },
		},
	}
}

func (w *world) question() capability.Entry {
	return capability.Entry{
		Name: "Ask", Identity: capability.Identity{Origin: "test", Key: "Ask", Revision: 1}, Forms: capability.Paired,
		Props:   `{"type":"object","additionalProperties":false}`,
		Returns: `{}`, Effect: capability.Asks, Describe: "Asks.",
		Op: capability.Op{Do: func(ctx context.Context, c capability.Call) (any, error) {
			w.did("ask %q", c.Content)
			if c.Ask == nil {
				return nil, errors.New("nobody is there")
			}
			return c.Ask(ctx, capability.Question{Message: c.Content})
		}},
	}
}

// captured is a profile of everything the tests have.
func (w *world) captured(t testing.TB, limits capability.Limits) *capability.Captured {
	t.Helper()
	return capture(t, capability.Profile{
		Name: "tests", Dialect: capability.Closed, Limits: limits,
		Read:  []capability.Entry{w.peek(), w.wait()},
		Write: []capability.Entry{w.put(), w.into(), w.question()},
	})
}

func capture(t testing.TB, p capability.Profile) *capability.Captured {
	t.Helper()
	c, err := capability.Capture(t.Context(), p)
	require.NoError(t, err)
	return c
}

func (w *world) grant(t testing.TB, limits capability.Limits) *capability.Grant {
	t.Helper()
	g, err := w.captured(t, limits).Select(capability.ReadClass, capability.WriteClass)
	require.NoError(t, err)
	return g
}

// A draft is a program that is being written: every element stands where it is made.
type draft struct {
	elements []wasm.Element
	parent   int
}

func program(write func(d *draft) []wasm.Node) *wasm.Program {
	d := &draft{parent: -1}
	body := write(d)
	return &wasm.Program{Digest: "sha256:" + strings.Repeat("0", 64), Elements: d.elements, Body: body}
}

// element adds an element and calls write inside of it.
func (d *draft) element(name, identity string, form wasm.Form, as string, write func()) int {
	e := len(d.elements)
	d.elements = append(d.elements, wasm.Element{Name: name, Identity: identity, Form: form, As: as != "", Parent: d.parent, Offset: 10 * e})
	if write != nil {
		outer := d.parent
		d.parent = e
		write()
		d.parent = outer
	}
	return e
}

func (d *draft) single(name, identity, as string, props ...wasm.Prop) wasm.Node {
	return &wasm.Invoke{Element: d.element(name, identity, wasm.SelfClosing, as, nil), Props: props, As: as}
}

func (d *draft) pair(name, identity, as string, props []wasm.Prop, write func() []wasm.Node) wasm.Node {
	n := &wasm.Invoke{Props: props, As: as}
	n.Element = d.element(name, identity, wasm.Paired, as, func() { n.Body = write() })
	return n
}

func (d *draft) peek(as string, key wasm.Expr) wasm.Node {
	return d.single("Peek", peekID, as, wasm.Prop{Name: "key", Value: key})
}

func (d *draft) put(path string, write func() []wasm.Node) wasm.Node {
	return d.pair("Put", putID, "", []wasm.Prop{{Name: "path", Value: lit(path)}}, write)
}

func (d *draft) into(path string, write func() []wasm.Node) wasm.Node {
	return d.pair("Into", intoID, "", []wasm.Prop{{Name: "path", Value: lit(path)}}, write)
}

func (d *draft) ask(as, message string) wasm.Node {
	return d.pair("Ask", askID, as, nil, func() []wasm.Node { return []wasm.Node{text(message)} })
}

func (d *draft) wait(as string) wasm.Node { return d.single("Wait", waitID, as) }

func (d *draft) json(v wasm.Expr) wasm.Node {
	return d.single("Json", jsonID, "", wasm.Prop{Name: "value", Value: v})
}

func (d *draft) fail(message wasm.Expr) wasm.Node {
	return d.single("Fail", failID, "", wasm.Prop{Name: "message", Value: message})
}

func (d *draft) let(as string, v wasm.Expr) wasm.Node {
	return &wasm.Let{Element: d.element("Let", "", wasm.SelfClosing, as, nil), As: as, Value: v}
}

func (d *draft) letText(as string, write func() []wasm.Node) wasm.Node {
	n := &wasm.Let{As: as}
	n.Element = d.element("Let", "", wasm.Paired, as, func() { n.Body = write() })
	return n
}

func (d *draft) each(in wasm.Expr, let, as string, write func() []wasm.Node) wasm.Node {
	n := &wasm.Each{In: in, Let: let, As: as}
	n.Element = d.element("Each", "", wasm.Paired, as, func() { n.Body = write() })
	return n
}

func (d *draft) loop(max wasm.Expr, write func() []wasm.Node) wasm.Node {
	n := &wasm.Loop{Max: max}
	n.Element = d.element("Loop", "", wasm.Paired, "", func() { n.Body = write() })
	return n
}

func (d *draft) stop() wasm.Node {
	return &wasm.Break{Element: d.element("Break", "", wasm.SelfClosing, "", nil)}
}

func (d *draft) when(condition wasm.Expr, then, otherwise func() []wasm.Node) wasm.Node {
	n := &wasm.If{Condition: condition, ElseElement: -1}
	n.Element = d.element("If", "", wasm.Paired, "", func() {
		n.Then = then()
		if otherwise != nil {
			n.ElseElement = d.element("Else", "", wasm.Paired, "", func() { n.Else = otherwise() })
		}
	})
	return n
}

func (d *draft) all(spawns ...func() []wasm.Node) wasm.Node {
	n := &wasm.All{}
	n.Element = d.element("All", "", wasm.Paired, "", func() {
		for _, write := range spawns {
			s := wasm.Spawn{}
			s.Element = d.element("Spawn", "", wasm.Paired, "", func() { s.Body = write() })
			n.Spawns = append(n.Spawns, s)
		}
	})
	return n
}

// answered is one <Answer template value />.
type answered struct{ template, value string }

func (d *draft) answers(delegate wasm.Expr, matchers []answered, write func() []wasm.Node) wasm.Node {
	n := &wasm.Answers{Delegate: delegate}
	n.Element = d.element("Answers", "", wasm.Paired, "", func() {
		for _, m := range matchers {
			n.Answers = append(n.Answers, wasm.Answer{
				Element:     d.element("Answer", "", wasm.SelfClosing, "", nil),
				HasTemplate: m.template != "", Template: m.template, Value: &wasm.Literal{JSON: m.value},
			})
		}
		n.Body = write()
	})
	return n
}

// asked is one <Answer value>template</Answer>.
func (d *draft) asked(value string, template ...wasm.Node) wasm.Answer {
	return wasm.Answer{Element: d.element("Answer", "", wasm.Paired, "", nil), Children: template, Value: &wasm.Literal{JSON: value}}
}

func text(s string) wasm.Node { return &wasm.Text{Value: s} }

func show(s string) wasm.Node { return &wasm.Show{Source: s} }

func lit(s string) wasm.Expr { return &wasm.Literal{JSON: fmt.Sprintf("%q", s)} }

func json(s string) wasm.Expr { return &wasm.Literal{JSON: s} }

func name(s string) wasm.Expr { return &wasm.Name{Name: s} }

func binary(op wasm.BinaryOp, x, y wasm.Expr) wasm.Expr { return &wasm.Binary{Op: op, X: x, Y: y} }

func nodes(n ...wasm.Node) []wasm.Node { return n }

func compile(t testing.TB, p *wasm.Program) *wasm.Module {
	t.Helper()
	m, err := wasm.Compile(p)
	require.NoError(t, err)
	return m
}

// interpreter and compiler make the two engines.
func interpreter(t testing.TB) *sandbox.Runtime { return started(t, sandbox.New) }

func compiler(t testing.TB) *sandbox.Runtime { return started(t, sandbox.NewWithCompiler) }

func started(t testing.TB, start func(context.Context) (*sandbox.Runtime, error)) *sandbox.Runtime {
	t.Helper()
	r, err := start(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close(context.Background())) })
	return r
}

// evaluate runs one program on the interpreter.
func (w *world) evaluate(t *testing.T, limits capability.Limits, h sandbox.Hooks, write func(d *draft) []wasm.Node) (sandbox.Result, error) {
	t.Helper()
	return interpreter(t).Run(t.Context(), compile(t, program(write)), w.grant(t, limits), h)
}
