package engine

import (
	"context"

	"github.com/executable-markdown/xmd/internal/document"
)

// branch expands the side of an If its condition selects (language 6.6).
func (r *run) branch(ctx context.Context, sc *scope, el *document.Element, out *buffer) error {
	then, otherwise, wrong := splitIf(el)
	if len(wrong) > 0 {
		return r.raiseAll(sc, out, wrong)
	}
	a, _ := attr(el, "condition")
	cond, err := r.raw(ctx, sc, el, a)
	if err != nil {
		return r.raiseEval(sc, out, err)
	}
	if cond.Truthy() {
		return r.expand(ctx, sc, then, out)
	}
	if otherwise == nil {
		return nil
	}
	inner := sc.with(func(c *scope) { c.id = elementID(sc.id, otherwise) })
	return r.expand(ctx, inner, otherwise.Children, out)
}

// splitIf separates the branches of an If and lists what is wrong with it.
func splitIf(el *document.Element) (then []document.Node, otherwise *document.Element, wrong []*Error) {
	refuse := func(el *document.Element, format string, args ...any) {
		e := at(el, format, args...)
		e.Code = "structural-usage-invalid"
		wrong = append(wrong, e)
	}
	if err := only(el, "condition"); err != nil {
		refuse(el, "%s", err.Message)
	}
	if _, ok := attr(el, "condition"); !ok {
		refuse(el, "<If> needs condition={…}")
	}
	then = el.Children
	for i, n := range el.Children {
		child, isElement := n.(*document.Element)
		if isElement && child.Name == "Else" {
			if otherwise != nil {
				refuse(child, "<If> has a second <Else>; it takes one")
				continue
			}
			then, otherwise = el.Children[:i], child
			if err := only(child); err != nil {
				refuse(child, "%s", err.Message)
			}
			if child.SelfClosing || len(child.Children) == 0 {
				refuse(child, "<Else> needs content: write <Else>…</Else>")
			}
			continue
		}
		if otherwise != nil && substantive(n) {
			refuse(otherwise, "<Else> must come last in <If>, but %s follows it", shown(n))
		}
	}
	return then, otherwise, wrong
}

// raiseAll raises each error; under a failing mode the first one leaves.
func (r *run) raiseAll(sc *scope, out *buffer, wrong []*Error) error {
	for _, e := range wrong {
		if err := r.raise(sc, out, e); err != nil {
			return err
		}
	}
	return nil
}

// choose expands the first case whose value is the selector (language 6.7).
func (r *run) choose(ctx context.Context, sc *scope, el *document.Element, out *buffer) error {
	cases, wrong := splitSwitch(el)
	if len(wrong) > 0 {
		return r.raiseAll(sc, out, wrong)
	}
	a, _ := attr(el, "value")
	selector, err := r.raw(ctx, sc, el, a)
	if err != nil {
		return r.raiseEval(sc, out, err)
	}
	for _, c := range cases {
		a, matches := attr(c, "value")
		if matches {
			v, err := r.raw(ctx, sc, c, a)
			if err != nil {
				return r.raiseEval(sc, out, err)
			}
			matches = selector.StrictEqual(v)
		} else {
			matches = true // default
		}
		if matches {
			inner := sc.with(func(s *scope) { s.id = elementID(sc.id, c) })
			return r.expand(ctx, inner, c.Children, out)
		}
	}
	return nil
}

// splitSwitch returns the cases in order and lists what is wrong.
func splitSwitch(el *document.Element) (cases []*document.Element, wrong []*Error) {
	refuse := func(el *document.Element, format string, args ...any) {
		e := at(el, format, args...)
		e.Code = "structural-usage-invalid"
		wrong = append(wrong, e)
	}
	if err := only(el, "value"); err != nil {
		refuse(el, "%s", err.Message)
	}
	if _, ok := attr(el, "value"); !ok {
		refuse(el, "<Switch> needs value={…}")
	}
	if el.SelfClosing {
		refuse(el, "<Switch> is written as a pair around its cases")
	}
	var fallback *document.Element
	for _, n := range el.Children {
		c, ok := n.(*document.Element)
		if !ok || c.Name != "Case" {
			if substantive(n) {
				refuse(el, "<Switch> holds only <Case> elements, not %s", shown(n))
			}
			continue
		}
		cases = append(cases, c)
		if fallback != nil {
			refuse(c, "<Case default> must be the last case")
		}
		if err := only(c, "value", "default"); err != nil {
			refuse(c, "%s", err.Message)
		}
		_, hasValue := attr(c, "value")
		d, hasDefault := attr(c, "default")
		switch {
		case hasDefault && d.Form != document.Bare:
			refuse(c, "default of <Case> is the bare word, without a value")
		case hasValue == hasDefault:
			refuse(c, "<Case> has either value={…} or the bare word default")
		case hasDefault:
			fallback = c
		}
		if c.SelfClosing {
			refuse(c, "<Case> is written as a pair: <Case …></Case>")
		}
	}
	if len(cases) == 0 {
		refuse(el, "<Switch> needs at least one <Case>")
	}
	return cases, wrong
}
