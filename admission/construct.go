package admission

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/executable-markdown/xmd/internal/answer"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/subset"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// Each construct is judged in the order every element is (fragments 5): its shape,
// what it binds, its attributes, and last what it holds. Shapes are what ordinary
// documents accept (language 6): what they would refuse while running is refused
// here where the source decides it.

// let admits a Let. It has no select: that reads Markdown, which nobody does to
// generated text.
func (w *walker) let(el *document.Element, p place) (wasm.Node, *fault) {
	if a, ok := find(el, "select"); ok {
		return nil, &fault{Construct, a.Pos.Offset}
	}
	as, named := find(el, "as")
	direct := has(el, "value")
	if !only(el, "as", "value") || !named || direct == (len(el.Children) > 0) {
		return nil, &fault{Structure, el.Pos.Offset}
	}
	name, f := w.name(as)
	if f != nil {
		return nil, f
	}
	props, f := w.attributes(el, "as")
	if f != nil {
		return nil, f
	}
	n := &wasm.Let{Element: w.row(el, "", true, p), As: name}
	if direct {
		n.Value = prop(props, "value")
	} else if n.Body, f = w.body(el.Children, p.captured(n.Element)); f != nil {
		return nil, f
	}
	w.scope.bind(name)
	return n, nil
}

// branch admits an If with its Else. Both arms start from the same names, and
// afterwards the names of both are visible.
func (w *walker) branch(el *document.Element, p place) (wasm.Node, *fault) {
	then, otherwise, ok := splitIf(el)
	if !ok || !only(el, "condition") || !has(el, "condition") {
		return nil, &fault{Structure, el.Pos.Offset}
	}
	props, f := w.attributes(el)
	if f != nil {
		return nil, f
	}
	n := &wasm.If{Element: w.row(el, "", false, p), Condition: prop(props, "condition"), ElseElement: -1}
	mark := w.scope.mark()
	if n.Then, f = w.body(then, p.in(n.Element)); f != nil || otherwise == nil {
		return n, f
	}
	if !only(otherwise) || len(otherwise.Children) == 0 {
		return nil, &fault{Structure, otherwise.Pos.Offset}
	}
	if _, f = w.attributes(otherwise); f != nil {
		return nil, f
	}
	n.ElseElement = w.row(otherwise, "", false, p.in(n.Element))
	w.scope.hide(mark)
	n.Else, f = w.body(otherwise.Children, p.in(n.ElseElement))
	w.scope.show()
	return n, f
}

// splitIf separates the arms of an If. ok is false when there is a second Else, or
// anything that counts after the first.
func splitIf(el *document.Element) (then []document.Node, otherwise *document.Element, ok bool) {
	i := slices.IndexFunc(el.Children, func(n document.Node) bool { return isElement(n, "Else") })
	if i < 0 {
		return el.Children, nil, true
	}
	return el.Children[:i], el.Children[i].(*document.Element), !slices.ContainsFunc(el.Children[i+1:], substantive)
}

// choose admits a Switch. Its matchers are all evaluated before any case runs, and
// each case starts from the names there were before the Switch.
func (w *walker) choose(el *document.Element, p place) (wasm.Node, *fault) {
	cases, ok := parts(el, "Case")
	if !ok || !only(el, "value") || !has(el, "value") || el.SelfClosing || len(cases) == 0 ||
		slices.ContainsFunc(cases[:len(cases)-1], isDefault) {
		return nil, &fault{Structure, el.Pos.Offset}
	}
	props, f := w.attributes(el)
	if f != nil {
		return nil, f
	}
	n := &wasm.Switch{Element: w.row(el, "", false, p), Value: prop(props, "value"), DefaultElement: -1}
	mark := w.scope.mark()
	for _, c := range cases {
		if !only(c, "value", "default") || has(c, "value") == isDefault(c) || c.SelfClosing {
			return nil, &fault{Structure, c.Pos.Offset}
		}
		if a, ok := find(c, "default"); ok && a.Form != document.Bare {
			return nil, &fault{Structure, a.Pos.Offset}
		}
		w.scope.hide(mark)
		props, f := w.attributes(c, "default")
		if f != nil {
			return nil, f
		}
		row := w.row(c, "", false, p.in(n.Element))
		body, f := w.body(c.Children, p.in(row))
		if f != nil {
			return nil, f
		}
		w.scope.show()
		if isDefault(c) {
			n.DefaultElement, n.Default = row, body
		} else {
			n.Cases = append(n.Cases, wasm.Case{Element: row, Value: prop(props, "value"), Body: body})
		}
	}
	return n, nil
}

func isDefault(c *document.Element) bool { return has(c, "default") }

// each admits an Each. An item sees a fresh copy of the names, of which nothing
// survives.
func (w *walker) each(el *document.Element, p place) (wasm.Node, *fault) {
	in, over := find(el, "in")
	item, named := find(el, "let")
	if !only(el, "in", "let", "as") || !over || !named {
		return nil, &fault{Structure, el.Pos.Offset}
	}
	if json, ok := w.constant(in); ok && json[0] != '[' {
		return nil, &fault{Structure, in.Pos.Offset}
	}
	n := &wasm.Each{}
	var f *fault
	if n.Let, f = w.name(item); f != nil {
		return nil, f
	}
	as, captures := find(el, "as")
	if captures {
		if n.As, f = w.name(as); f != nil {
			return nil, f
		}
	}
	props, f := w.attributes(el, "let", "as")
	if f != nil {
		return nil, f
	}
	n.In, n.Element = prop(props, "in"), w.row(el, "", captures, p)
	inner := p.in(n.Element)
	if captures {
		inner = p.captured(n.Element)
	}
	mark := w.scope.mark()
	w.scope.bind(n.Let)
	if n.Body, f = w.body(el.Children, inner); f != nil {
		return nil, f
	}
	w.scope.drop(mark)
	if captures {
		w.scope.bind(n.As)
	}
	return n, nil
}

// loop admits a Loop. There is no unbounded one.
func (w *walker) loop(el *document.Element, p place) (wasm.Node, *fault) {
	bound, bounded := find(el, "max")
	if !only(el, "max", "name") || !bounded {
		return nil, &fault{Structure, el.Pos.Offset}
	}
	n := &wasm.Loop{}
	if a, ok := find(el, "name"); ok {
		if n.Name, _ = static(a); n.Name == "" {
			return nil, &fault{Structure, a.Pos.Offset}
		}
	}
	if json, ok := w.constant(bound); ok && !isCount(json) {
		return nil, &fault{Structure, bound.Pos.Offset}
	}
	props, f := w.attributes(el, "name")
	if f != nil {
		return nil, f
	}
	n.Max, n.Element = prop(props, "max"), w.row(el, "", false, p)
	inner := p.in(n.Element)
	inner.breakable = true
	n.Body, f = w.body(el.Children, inner)
	return n, f
}

// isCount reports whether a JSON text is a whole number a loop can count to.
func isCount(json string) bool {
	n, err := strconv.ParseFloat(json, 64)
	return err == nil && n >= 1 && n <= math.MaxInt32 && value.IsInteger(n)
}

// stop admits a Break that reaches a Loop of the fragment.
func (w *walker) stop(el *document.Element, p place) (wasm.Node, *fault) {
	if !only(el) || !el.SelfClosing || !p.breakable {
		return nil, &fault{Structure, el.Pos.Offset}
	}
	if _, f := w.attributes(el); f != nil {
		return nil, f
	}
	return &wasm.Break{Element: w.row(el, "", false, p)}, nil
}

// answers admits an Answers. Its matchers are read before its body runs, wherever
// they stand, so they see the names there were before it, and what their templates
// bind is theirs.
func (w *walker) answers(el *document.Element, p place) (wasm.Node, *fault) {
	body := func(n document.Node) bool { return substantive(n) && !isElement(n, "Answer") }
	if !only(el, "delegate") || !slices.ContainsFunc(el.Children, body) {
		return nil, &fault{Structure, el.Pos.Offset}
	}
	if a, ok := find(el, "delegate"); ok {
		if json, ok := w.constant(a); ok && json != "true" && json != "false" {
			return nil, &fault{Structure, a.Pos.Offset}
		}
	}
	props, f := w.attributes(el)
	if f != nil {
		return nil, f
	}
	n := &wasm.Answers{Element: w.row(el, "", false, p), Delegate: delegate(prop(props, "delegate"))}
	mark := w.scope.mark()
	var b builder
	for _, child := range el.Children {
		if !isElement(child, "Answer") {
			if f := w.node(&b, child, p.in(n.Element)); f != nil {
				return nil, f
			}
			continue
		}
		w.scope.hide(mark)
		own := w.scope.mark()
		a, f := w.answer(child.(*document.Element), p.in(n.Element))
		if f != nil {
			return nil, f
		}
		w.scope.drop(own)
		w.scope.show()
		n.Answers = append(n.Answers, a)
	}
	n.Body = b.done()
	return n, nil
}

// delegate makes null of undefined, which to a module is a delegate that was not
// written: both are no truth value, and fail.
func delegate(e wasm.Expr) wasm.Expr {
	if _, ok := e.(*wasm.Literal); ok || e == nil {
		return e
	}
	return &wasm.Logical{Op: wasm.Coalesce, X: e, Y: &wasm.Literal{JSON: "null"}}
}

// answer admits one matcher. Its value is JSON text where it is written as a
// string, an expression otherwise. A {hole} of its template is a reference like one
// in text: its name must be in scope, or the class is interpolation.
func (w *walker) answer(el *document.Element, p place) (wasm.Answer, *fault) {
	at := el.Pos.Offset
	template, templated := find(el, "template")
	stated, ok := find(el, "value")
	if !only(el, "template", "value") || !ok || templated && len(el.Children) > 0 {
		return wasm.Answer{}, &fault{Structure, at}
	}
	a := wasm.Answer{HasTemplate: templated}
	var holes []string
	if templated {
		if a.Template, ok = static(template); !ok {
			return a, &fault{Structure, template.Pos.Offset}
		}
		_, err := answer.Parse(a.Template, func(path []string) (string, bool) {
			holes = append(holes, path[0])
			return "", true
		})
		if err != nil {
			return a, &fault{Structure, template.Pos.Offset}
		}
	}
	text, literal := static(stated)
	if literal {
		if _, err := value.Parse([]byte(text)); err != nil {
			return a, &fault{Structure, stated.Pos.Offset}
		}
		e, err := subset.Expression(text, true, w.depth) // JSON is an expression, too
		if err != nil {
			return a, &fault{Limit, stated.Pos.Offset}
		}
		a.Value = e
	}
	for _, name := range holes {
		if !w.scope.visible(name) {
			return a, &fault{Interpolation, template.Pos.Offset}
		}
	}
	words := []string{"template"}
	if literal {
		words = append(words, "value")
	}
	props, f := w.attributes(el, words...)
	if f != nil {
		return a, f
	}
	if !literal {
		a.Value = prop(props, "value")
	}
	a.Element = w.row(el, "", false, p)
	a.Children, f = w.body(el.Children, p.captured(a.Element))
	return a, f
}

// all admits an All with its Spawns. Each child works on a copy of the names, of
// which nothing survives.
func (w *walker) all(el *document.Element, p place) (wasm.Node, *fault) {
	spawns, ok := parts(el, "Spawn")
	if !ok || !only(el) || len(spawns) < 2 {
		return nil, &fault{Structure, el.Pos.Offset}
	}
	if _, f := w.attributes(el); f != nil {
		return nil, f
	}
	n := &wasm.All{Element: w.row(el, "", false, p)}
	for _, s := range spawns {
		if !only(s) || len(s.Children) == 0 {
			return nil, &fault{Structure, s.Pos.Offset}
		}
		if _, f := w.attributes(s); f != nil {
			return nil, f
		}
		row := w.row(s, "", false, p.in(n.Element))
		mark := w.scope.mark()
		body, f := w.body(s.Children, p.captured(row))
		if f != nil {
			return nil, f
		}
		w.scope.drop(mark)
		n.Spawns = append(n.Spawns, wasm.Spawn{Element: row, Body: body})
	}
	return n, nil
}

// parts returns the children of a construct that holds nothing but elements of one
// name. ok is false where something else counts.
func parts(el *document.Element, name string) (of []*document.Element, ok bool) {
	for _, n := range el.Children {
		if isElement(n, name) {
			of = append(of, n.(*document.Element))
		} else if substantive(n) {
			return nil, false
		}
	}
	return of, true
}

func isElement(n document.Node, name string) bool {
	el, ok := n.(*document.Element)
	return ok && el.Name == name
}

// substantive reports whether a child counts as content of a construct: white space
// and comments do not.
func substantive(n document.Node) bool {
	t, ok := n.(*document.Text)
	return !ok || !t.Comment && strings.TrimSpace(t.Value) != ""
}
