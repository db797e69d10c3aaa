package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/expr"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// invoke runs a component where its element stands (language 5.4, 5.5).
func (r *run) invoke(ctx context.Context, sc *scope, el *document.Element, out *buffer) error {
	if sc.names.contains(el.Name) {
		e := problem(el, "<%s> is being expanded already: %s → %s", el.Name, strings.Join(sc.names.list(), " → "), el.Name)
		return r.raise(sc, out, e)
	}
	s, err := r.resolve(ctx, sc, el)
	if err != nil {
		return r.raiseOwn(sc, out, err)
	}
	if s.def != nil && sc.names != nil && sc.names.depth >= maxComponents {
		return r.raise(sc, out, problem(el, "<%s> would be component %d on this path; at most %d may nest", el.Name, maxComponents+1, maxComponents))
	}
	if s.def != nil {
		if err := s.def.structure(); err != nil {
			return r.raise(sc, out, err)
		}
	}
	_, captured := attr(el, "as")
	if _, isString, _ := static(el, "as"); captured && !isString {
		_, err := bindingName(el, "as")
		return r.raise(sc, out, err)
	}
	props, err := r.props(ctx, sc, el, s)
	if err != nil {
		return r.raiseOwn(sc, out, err)
	}
	as := ""
	if captured {
		if as, err = bindingName(el, "as"); err != nil {
			return r.raise(sc, out, err)
		}
	}
	contract := s.contract()
	props = contract.Props.Fill(props).(*value.Object)
	if issues := contract.Props.Validate(props); len(issues) > 0 {
		e := problem(el, "<%s /> was given props its schema refuses:\n%s", el.Name, schema.Lines(issues))
		e.Code, e.Issues = "props-invalid", issues
		return r.raise(sc, out, e)
	}
	if contract.Returns != nil && as == "" {
		e := problem(el, "<%s> returns a value, so it needs a name for it: write <%s as=\"name\" … />", el.Name, el.Name)
		e.Code = "binding-invalid"
		return r.raise(sc, out, e)
	}
	if s.native != nil {
		return r.native(ctx, sc, el, s.native, props, as, out)
	}
	return r.markdown(ctx, sc, el, s.def, props, as, out)
}

// raiseOwn raises a document's error; anything else passes through.
func (r *run) raiseOwn(sc *scope, out *buffer, err error) error {
	if e, ok := err.(*Error); ok {
		return r.raise(sc, out, e)
	}
	return err
}

func (s selection) contract() Contract {
	if s.native != nil {
		return s.native.contract()
	}
	return Contract{s.def.props, s.def.returns}
}

// props evaluates an element's props in authored order, leaving out as, slot and
// captures. Where a name is written twice, see attr.
func (r *run) props(ctx context.Context, sc *scope, el *document.Element, s selection) (*value.Object, error) {
	props := value.NewObject(len(el.Attrs))
	for _, a := range el.Attrs {
		if a.Name == "as" || s.native != nil && slices.Contains(s.native.Captures, a.Name) {
			continue
		}
		if props.Has(a.Name) {
			continue
		}
		a, _ := attr(el, a.Name)
		v, err := r.projected(ctx, sc, el, a)
		if err != nil {
			return nil, err
		}
		if _, absent := v.(value.Undefined); !absent && a.Name != "slot" {
			props.Set(a.Name, v)
		}
	}
	return props, nil
}

// markdown expands a Markdown component's body in its own frame.
func (r *run) markdown(ctx context.Context, sc *scope, el *document.Element, def *definition, props *value.Object, as string, out *buffer) error {
	life := newLifetime(ctx)
	inner := sc.with(func(c *scope) {
		c.def, c.env = def, newEnv(r.exprs.Ref(props))
		c.body = &body{caller: sc, nodes: el.Children}
		c.loop, c.ret, c.projected = nil, nil, false
		c.names = sc.names.push(el.Name)
		c.life, c.opened = life, sc.id
	})
	if def.returns != nil {
		v, err := r.valueBody(life.ctx, inner, &buffer{})
		if err = life.end(err); err != nil {
			var f *failure
			if errors.As(err, &f) && f.ret != nil && f.ret.def == def {
				return r.raise(sc, out, f.err)
			}
			return err
		}
		sc.env.bind(as, r.exprs.Ref(v))
		return nil
	}
	text := out
	if as != "" {
		text = &buffer{}
	}
	expand := r.expandBody
	if def.regions {
		expand = r.expandRegions
	}
	if err := life.end(expand(life.ctx, inner, text)); err != nil {
		return err
	}
	if as != "" {
		r.capture(sc, as, text, out)
	}
	return nil
}

func (r *run) expandBody(ctx context.Context, sc *scope, out *buffer) error {
	return r.expand(ctx, sc, sc.def.nodes, out)
}

// native runs a library component and settles what its failure means where it
// stands (language 5.5, 10.4).
func (r *run) native(ctx context.Context, sc *scope, el *document.Element, e *entry, props *value.Object, as string, out *buffer) error {
	life := newLifetime(ctx)
	c := &Call{run: r, scope: sc, el: el, entry: e, props: props, as: as, life: life}
	result, err := c.start(life.ctx)
	if err = life.end(err); err == nil {
		err = c.deliver(result, out)
	}
	if err == nil {
		return nil
	}
	if content, ok := err.(*ContentError); ok {
		for i, text := range content.texts {
			out.put(text, content.Errors[i])
		}
		return nil
	}
	var f *failure
	if errors.As(err, &f) {
		if as == "" {
			out.WriteString(f.partial)
		}
		f.partial = ""
		if sc.mode == modePrint && !unprintable(ctx, err) && r.ledger.failure() == nil {
			out.print(err)
			return nil
		}
		return err
	}
	if fatal(ctx, err) {
		return err
	}
	own, ok := err.(*Error)
	if !ok {
		own = &Error{Message: err.Error(), Cause: err}
	}
	if own.Component == "" {
		own.Component = el.Name
	}
	if !own.Authored && !strings.Contains(own.Message, "<"+el.Name) {
		own.Message = "<" + el.Name + ">: " + own.Message
	}
	if own.Pos.IsZero() {
		own.Pos = el.Pos
	}
	if e.Soft && sc.mode != modeThrow {
		out.print(own)
		return nil
	}
	return r.raise(sc, out, own)
}

// deliver renders a result or binds it.
func (c *Call) deliver(result any, out *buffer) error {
	if c.as == "" {
		if s, ok := result.(string); ok {
			out.WriteString(s)
		}
		return nil
	}
	ref, ok := result.(*expr.Ref)
	if !ok {
		ref = c.run.exprs.Ref(result)
	}
	if returns := c.entry.contract().Returns; returns != nil {
		v, err := ref.Strict()
		if err != nil {
			return fmt.Errorf("<%s> returned no JSON: %w", c.el.Name, err)
		}
		if issues := returns.Validate(v); len(issues) > 0 {
			return &Error{Issues: issues, Message: fmt.Sprintf("<%s> returned a value its declaration refuses:\n%s", c.el.Name, schema.Lines(issues))}
		}
	}
	c.scope.env.bind(c.as, ref)
	return nil
}
