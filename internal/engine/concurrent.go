package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/journal"
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
		children[i] = &spawned{el: s, ordinal: i, co: sc.strand.co.Child(), env: sc.env.snapshot(), body: sc.body.forked()}
	}
	scope, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	var once sync.Once
	var first error
	for _, c := range children {
		wait.Go(func() {
			if c.err = c.run(ctx, scope, r, sc); c.err != nil {
				once.Do(func() {
					first = c.err
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
		return earliest(children, first)
	}
	for _, c := range children {
		out.take(c.text)
	}
	return nil
}

// earliest is the failure that the history says came first; where it says nothing,
// the one that did.
func earliest(children []*spawned, first error) error {
	place := -1
	for _, c := range children {
		var f *failure
		status, at := c.co.Ended()
		if status == journal.StatusErr && errors.As(c.err, &f) && (place < 0 || at < place) {
			place, first = at, c.err
		}
	}
	return first
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
	body    *body
	text    *buffer
	err     error
}

// run expands the child in ctx, which ends with the first failure of a sibling. What
// it came to before is taken from its close, except a failure: that one expands
// again, answered from the history throughout, in the context of the whole All, and
// so fails again as it did.
func (c *spawned) run(all, ctx context.Context, r *run, parent *scope) error {
	c.text = &buffer{}
	status, _ := c.co.Ended()
	if status == journal.StatusErr {
		ctx = all
	} else {
		recorded, ok, err := c.co.Restore(ctx)
		if err != nil {
			return err
		}
		if ok {
			return c.restore(r, recorded)
		}
	}
	life := newLifetime(ctx)
	inner := parent.with(func(s *scope) {
		s.env, s.body, s.loop, s.ret = c.env, c.body, nil, nil
		s.strand = &strand{co: c.co}
		s.life = life
		s.id = elementID(parent.id, c.el).child(numberFrame("spawn", c.ordinal))
	})
	err := life.end(r.expand(life.ctx, inner, c.el.Children, c.text))
	switch {
	case err == nil && status == journal.StatusErr:
		return malformed("close", c.co.ID(), "it failed before and does not fail now")
	case err == nil:
		return c.co.Close(ctx, journal.Ok(c.text.record()))
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

// restore takes a closed child's text from its record, and shows what its commands
// had shown.
func (c *spawned) restore(r *run, recorded journal.Result) error {
	if err := r.resume(c.co); err != nil {
		return err
	}
	if !c.text.restore(recorded.Value) {
		return malformed("close", c.co.ID(), "its value is not a list of text runs")
	}
	return nil
}
