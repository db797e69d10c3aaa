package sandbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/ecma"
	"github.com/executable-markdown/xmd/internal/markdown"
	"github.com/executable-markdown/xmd/wasm"
)

// operation are the fields of a granted entry: those of the forms it has.
func operation(g *capability.Granted) []field {
	var fields []field
	if g.Forms&capability.SelfClosing != 0 {
		fields = append(fields, field{"invoke", 2, 1, func(t *task, a []uint64) error { return t.invoke(g, a) }})
	}
	if g.Forms&capability.Paired != 0 {
		fields = append(fields,
			field{"enter", 2, 0, func(t *task, a []uint64) error { return t.enter(g, a) }},
			field{"leave", 2, 1, func(t *task, a []uint64) error { return t.leave(g, a) }})
	}
	return fields
}

// fieldsOf are the fields an element of a form imports.
func fieldsOf(f wasm.Form) []string {
	if f == wasm.SelfClosing {
		return []string{"invoke"}
	}
	return []string{"enter", "leave"}
}

// A use is one element of a capability that is being evaluated.
type use struct {
	entry   *capability.Granted
	element int
	call    capability.Call
	props   ecma.Value // as they were computed
}

// use reads the arguments of invoke and enter. The element must be one that the
// import was decided for (F3, F4).
func (t *task) use(g *capability.Granted, a []uint64, form wasm.Form) (*use, error) {
	e, err := t.element(a[0])
	if err != nil {
		return nil, err
	}
	el := t.module.Elements[e]
	if el.Identity != g.Identity.String() || el.Form != form {
		return nil, broken("<%s> is not an element of %s", el.Name, g.Identity)
	}
	props, err := t.value(a[1])
	if err != nil {
		return nil, err
	}
	u := &use{entry: g, element: e, props: props, call: capability.Call{
		Element: el.Name, Form: capability.SelfClosing, Dir: t.dir, Limit: min(t.limits.Value, t.left.values), Ask: t.asker(),
	}}
	if form == wasm.Paired {
		u.call.Form = capability.Paired
	}
	return u, nil
}

// check crosses the props to JSON and judges them: what preflight could not know is
// judged here by the same rules (F1). Their projection is a value that is made, also
// where the props share one that was made before: operations read it whole, and
// histories keep it (F8).
func (t *task) check(u *use) error {
	size := ecma.Size(u.props)
	if err := t.work(size); err != nil {
		return err
	}
	if err := spend(&t.left.values, size, "values"); err != nil {
		return err
	}
	projected, _ := ecma.ToJSON(u.props)
	props, ok := projected.(*capability.Object)
	if !ok {
		return broken("props are %s", ecma.Kind(u.props))
	}
	u.call.Props = props
	if v := u.entry.Check(capability.Use{Form: u.call.Form, Props: props, Dir: t.dir, DirKnown: true}); v != nil {
		return t.at(u.element, v)
	}
	return nil
}

// invoke performs a self-closing element.
func (t *task) invoke(g *capability.Granted, a []uint64) error {
	u, err := t.use(g, a, wasm.SelfClosing)
	if err != nil {
		return err
	}
	if g.Effect == capability.Pure {
		v, err := t.compute(u)
		if err != nil {
			return t.at(u.element, err)
		}
		return t.keep(a, v)
	}
	if err := t.check(u); err != nil {
		return err
	}
	return t.perform(u, a)
}

// enter judges a paired element before any of its content expands, and makes the
// place its content works in.
func (t *task) enter(g *capability.Granted, a []uint64) error {
	u, err := t.use(g, a, wasm.Paired)
	if err != nil {
		return err
	}
	if err := t.check(u); err != nil {
		return err
	}
	t.open(opened{kind: openElement, element: u.element, use: u})
	if !g.Moves() {
		return nil
	}
	_, err = t.effect(u, true, func(ctx context.Context) (any, error) { return nil, g.Enter(ctx, u.call) })
	if err != nil {
		return err
	}
	t.dir = g.Target(t.dir, u.call.Props)
	return nil
}

// leave performs a paired element with what its content rendered.
func (t *task) leave(g *capability.Granted, a []uint64) error {
	o, err := t.innermost(openElement)
	if err != nil {
		return err
	}
	u := o.use
	content, err := t.value(a[1])
	if err != nil {
		return err
	}
	text, ok := content.(ecma.String)
	if u.entry != g || u.element != int(uint32(a[0])) || !ok {
		return broken("this is not the element that was entered")
	}
	t.dir, u.call.Content = u.call.Dir, text.Text()
	if err := t.perform(u, a); err != nil {
		return err
	}
	t.close()
	return nil
}

// perform performs the operation and returns a handle of its value in a.
func (t *task) perform(u *use, a []uint64) error {
	var v any = u.call.Content
	if u.entry.Op.Do != nil {
		var err error
		if v, err = t.effect(u, false, func(ctx context.Context) (any, error) { return u.entry.Do(ctx, u.call) }); err != nil {
			return err
		}
	}
	if err := u.entry.CheckResult(v); err != nil {
		return t.at(u.element, err)
	}
	if v == nil && !u.entry.Binds() {
		v = capability.Undefined{}
	}
	made, err := ecma.FromJSON(v, t.one())
	if err != nil {
		return t.at(u.element, err)
	}
	if err := t.keep(a, made); err != nil {
		return err
	}
	if u.entry.Effect == capability.Read && u.entry.Binds() {
		t.observations = append(t.observations, Observation{u.call.Element, v})
	}
	return nil
}

// effect performs do as an effect of the execution, while time stands still. No
// operation is reached in another way.
func (t *task) effect(u *use, entering bool, do func(context.Context) (any, error)) (any, error) {
	site := t.site(u.element)
	site.Entering = entering
	v, err := t.outside(func() (any, error) {
		if t.hooks.Effect == nil {
			return do(t.ctx)
		}
		return t.hooks.Effect(t.ctx, site, u.entry, u.call, do)
	})
	return v, t.at(u.element, err)
}

// outside calls an operation, a question or other work that is not the module's: the
// clock of the module stands still.
func (t *task) outside(call func() (any, error)) (v any, err error) {
	ran := t.clock.stop()
	defer func() {
		if ran {
			t.clock.resume()
		}
	}()
	return t.guarded(call)
}

// guarded calls code that is not the sandbox's: a panic is an error, and an error
// that is the end of the context is told apart from others.
func (t *task) guarded(call func() (any, error)) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, panicked(p)
		}
		t.replaying.Store(t.replays())
		var over *LimitError // of a region that was matching
		switch {
		case errors.As(err, &over):
			err = over
		case err != nil && t.ctx.Err() != nil && ended(t.ctx, err):
			err = &cancellation{context.Cause(t.ctx)}
		}
	}()
	return call()
}

// ended reports whether err is only the end of ctx, handed on.
func ended(ctx context.Context, err error) bool {
	return errors.Is(err, context.Cause(ctx)) || errors.Is(err, ctx.Err()) || errors.Is(err, context.Canceled)
}

// compute evaluates a pure entry: it performs nothing and reaches no hook.
func (t *task) compute(u *use) (ecma.Value, error) {
	if u.entry.Identity.Key == "Json" {
		return t.json(u)
	}
	if err := t.check(u); err != nil {
		return nil, err
	}
	switch props := u.call.Props; u.entry.Identity.Key {
	case "CodeBlock":
		text, _ := props.String("value")
		language, _ := props.String("language")
		fenced := ecma.FromText(markdown.Fence(text, language))
		if len(fenced) > t.limits.Value {
			return nil, &LimitError{"value"}
		}
		return fenced, nil
	case "Fail":
		message, _ := props.String("message")
		return nil, &FailError{Message: message, Offset: t.module.Elements[u.element].Offset}
	}
	return nil, fmt.Errorf("%s cannot be computed", u.entry.Identity)
}

// json is the text of <Json>, which takes its value as it is.
func (t *task) json(u *use) (ecma.Value, error) {
	props, ok := u.props.(*ecma.Object)
	if !ok {
		return nil, broken("props are %s", ecma.Kind(u.props))
	}
	v, _ := props.Get("value")
	text, err := ecma.JSONText(v, t.one())
	if err != nil {
		return nil, err
	}
	return ecma.String(text), nil
}
