package engine

import (
	"context"
	"errors"
	"strings"
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
		children[i] = &spawned{el: s, ordinal: i, co: sc.strand.co.Child(), env: sc.env.snapshot(), body: sc.body.forked()}
	}
	scope, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	var once sync.Once
	var first error
	for _, c := range children {
		wait.Go(func() {
			if c.err = c.run(scope, r, sc); c.err != nil {
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
		at, closed := c.ended()
		if closed && errors.As(c.err, &f) && (place < 0 || at < place) {
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

// ended is the place of the child's recorded close, when it was there before.
func (c *spawned) ended() (place int, ok bool) { return c.co.Ended() }

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
		s.env, s.body, s.loop, s.ret = c.env, c.body, nil, nil
		s.strand = &strand{co: c.co}
		s.life = life
		s.id = elementID(parent.id, c.el).child(numberFrame("spawn", c.ordinal))
	})
	err = life.end(r.expand(life.ctx, inner, c.el.Children, c.text))
	switch {
	case err == nil:
		runs := []any{}
		for _, piece := range c.text.pieces() {
			if piece.isError {
				runs = append(runs, value.Of("text", "", "exact", true)) // the next run is a printed error
			}
			runs = append(runs, value.Of("text", piece.text, "exact", false))
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
	closing := err
	var f *failure
	if errors.As(err, &f) && f.mode == modeThrow {
		closing = thrown{err}
	}
	if e := c.co.Close(ctx, journal.Err(closing)); e != nil {
		return e
	}
	return err
}

// restore takes a closed child's outcome from its record, and shows what its
// commands had shown.
func (c *spawned) restore(r *run, recorded journal.Result, mode mode) error {
	history := c.co.History()
	for _, e := range history {
		if err := r.reshow(e); err != nil {
			return err
		}
	}
	if recorded.Status == journal.StatusErr {
		return restoredFailure(recorded, history, mode)
	}
	runs, ok := recorded.Value.([]any)
	if !ok {
		return malformed("close", c.co.ID(), "its value is not a list of text runs")
	}
	printed := false
	for _, v := range runs {
		o, _ := v.(*value.Object)
		text, ok := o.String("text")
		exact, _ := o.Get("exact")
		isExact, isBool := exact.(bool)
		if !ok || !isBool || o.Len() != 2 {
			return malformed("close", c.co.ID(), "its value is not a list of text runs")
		}
		if printed {
			c.text.put(text, &Error{Message: text})
		} else {
			c.text.WriteString(text)
		}
		printed = isExact && text == ""
	}
	return nil
}

// restoredFailure is the failure of a closed child, with the mode that decided it.
// The last effect of a child that failed by a command or a Fail was that one, which
// tells its place.
func restoredFailure(recorded journal.Result, history []journal.Event, site mode) error {
	cause := &journal.RecordedError{Failure: *recorded.Error}
	e := &Error{Message: cause.Error(), Cause: cause}
	f := &failure{err: e, mode: site}
	name, isThrown := strings.CutPrefix(recorded.Error.Name, thrownPrefix)
	if isThrown {
		f.mode = modeThrow
	}
	if name != authoredName && name != commandName || len(history) == 0 {
		return f
	}
	last := history[len(history)-1]
	if pos, ok, err := last.Position(); ok && err == nil {
		e.Pos = pos
	}
	if name == authoredName {
		e.Authored = true
		e.Component, _ = last.Description.String("name")
	}
	return f
}
