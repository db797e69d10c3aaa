package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// all runs its spawns at the same time and renders them in authored order after
// every one succeeded (components 20).
func (r *run) all(ctx context.Context, sc *scope, el *document.Element, out *buffer) error {
	spawns, wrong := splitAll(el)
	if len(wrong) > 0 {
		return r.raiseAll(sc, out, wrong)
	}
	children := make([]*spawned, len(spawns))
	for i, s := range spawns { // ids in source order, before any child starts
		children[i] = &spawned{el: s, ordinal: i, co: sc.strand.co.Child(), env: sc.env.snapshot()}
	}
	scope, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	var once sync.Once
	var first error
	for _, c := range children {
		wait.Go(func() {
			if err := c.run(scope, r, sc); err != nil {
				once.Do(func() {
					first = err
					cancel(errSiblingFailed)
				})
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if first != nil {
		return first
	}
	for _, c := range children {
		out.take(c.text)
	}
	return nil
}

var errSiblingFailed = errors.New("another <Spawn> failed")

// splitAll returns the spawns in order and lists what is wrong (from source).
func splitAll(el *document.Element) (spawns []*document.Element, wrong []*Error) {
	refuse := func(el *document.Element, format string, args ...any) {
		e := at(el, format, args...)
		e.Code = "structural-usage-invalid"
		wrong = append(wrong, e)
	}
	if err := only(el); err != nil {
		refuse(el, "%s", err.Message)
	}
	if el.SelfClosing {
		refuse(el, "<All> is written as a pair around its spawns")
	}
	for _, n := range el.Children {
		s, ok := n.(*document.Element)
		if !ok || s.Name != "Spawn" {
			if substantive(n) {
				refuse(el, "<All> holds only <Spawn> elements, not %s", shown(n))
			}
			continue
		}
		spawns = append(spawns, s)
		if err := only(s); err != nil {
			refuse(s, "%s", err.Message)
		}
		if s.SelfClosing || len(s.Children) == 0 {
			refuse(s, "<Spawn> must hold content: write <Spawn>…</Spawn>")
		}
		crossing(s.Children, false, refuse)
	}
	if len(spawns) < 2 && !el.SelfClosing {
		refuse(el, "<All> needs at least two <Spawn> elements")
	}
	return spawns, wrong
}

// crossing finds Return and Break elements that would leave a Spawn.
func crossing(nodes []document.Node, inLoop bool, refuse func(*document.Element, string, ...any)) {
	for _, n := range nodes {
		el, ok := n.(*document.Element)
		if !ok {
			continue
		}
		switch {
		case el.Name == "Return":
			refuse(el, "<Return> cannot cross a <Spawn>")
		case el.Name == "Break" && !inLoop:
			refuse(el, "<Break /> cannot leave a <Spawn>")
		case el.Name == "All":
			continue // its own spawns are checked when it is reached
		}
		crossing(el.Children, inLoop || el.Name == "Loop", refuse)
	}
}

// A spawned child is one concurrent region on a coroutine of its own.
type spawned struct {
	el      *document.Element
	ordinal int
	co      *journal.Coroutine
	env     *env
	text    *buffer
}

func (c *spawned) run(ctx context.Context, r *run, parent *scope) error {
	c.text = &buffer{}
	recorded, ok, err := c.co.Restore(ctx)
	if err != nil {
		return err
	}
	if ok {
		return c.restore(r, recorded, parent.mode)
	}
	life := newLifetime(ctx)
	inner := parent.with(func(s *scope) {
		s.env, s.loop, s.ret = c.env, nil, nil
		s.strand = &strand{co: c.co}
		s.life = life
		s.id = elementID(parent.id, c.el).child(numberFrame("spawn", c.ordinal))
	})
	err = life.end(r.expand(life.ctx, inner, c.el.Children, c.text))
	switch {
	case err == nil:
		runs := []any{}
		for _, text := range c.text.runs() {
			runs = append(runs, value.Of("text", text, "exact", false))
		}
		return c.co.Close(ctx, journal.Ok(runs))
	case journal.IsDurability(err):
		return err
	case ctx.Err() != nil:
		if context.Cause(ctx) == errSiblingFailed { // the run goes on, and so does its history
			if e := c.co.Close(context.WithoutCancel(ctx), journal.Cancelled()); e != nil {
				return e
			}
		}
		return context.Cause(ctx)
	}
	if e := c.co.Close(ctx, journal.Err(err)); e != nil {
		return e
	}
	return err
}

// restore takes a closed child's outcome from its record, and shows what its
// commands had shown.
func (c *spawned) restore(r *run, recorded journal.Result, mode mode) error {
	var last document.Position
	component := ""
	for _, e := range r.Journal.Events() {
		if e.Type != journal.TypeYield || !journal.Encloses(c.co.ID(), e.CoroutineID) {
			continue
		}
		if pos, ok, err := e.Position(); ok && err == nil {
			last = pos
		}
		component, _ = e.Description.String("name")
		if err := r.reshow(e); err != nil {
			return err
		}
	}
	if recorded.Status == journal.StatusErr {
		err := &journal.RecordedError{Failure: *recorded.Error}
		e := &Error{Message: err.Error(), Pos: last, Cause: err}
		if recorded.Error.Name == authoredName { // the last effect was to import what raised it
			e.Authored, e.Component = true, component
		}
		return &failure{err: e, mode: mode}
	}
	runs, ok := recorded.Value.([]any)
	if !ok {
		return malformed("close", c.co.ID(), "its value is not a list of text runs")
	}
	for _, v := range runs {
		o, _ := v.(*value.Object)
		text, ok := o.String("text")
		exact, _ := o.Get("exact")
		if _, isBool := exact.(bool); !ok || !isBool || o.Len() != 2 {
			return malformed("close", c.co.ID(), "its value is not a list of text runs")
		}
		c.text.restore(text)
	}
	return nil
}
