package sandbox

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"sync"

	"github.com/executable-markdown/xmd/wasm"
)

// ErrSiblingFailed is the cause of the end of a child's context when one of its
// siblings has failed.
var ErrSiblingFailed = errors.New("another <Spawn> failed")

// spawn queues a child.
func (t *task) spawn(a []uint64) error {
	k := uint32(a[0])
	if uint64(k) >= uint64(t.module.Spawns) {
		return broken("%d is no spawn", k)
	}
	t.queue = append(t.queue, int(k))
	return nil
}

// join runs what is queued at the same time, each child in an instance of its own
// from what its parent has now, and takes the results in document order. The first
// failure stops the siblings; every one is awaited (fragments 8).
func (t *task) join([]uint64) error {
	if len(t.queue) == 0 {
		return nil
	}
	var children []*child
	_, err := t.outside(func() (_ any, err error) {
		if children, err = t.fork(); err == nil {
			err = t.concurrently(children)
		}
		return nil, err
	})
	if err != nil {
		return err
	}
	for _, c := range children {
		if err := t.adopt(c.result); err != nil {
			return err
		}
	}
	return nil
}

// adopt takes what a child came to and what it used (F8).
func (t *task) adopt(r Result) error {
	if err := t.take(r.Steps); err != nil {
		return err
	}
	if err := spend(&t.left.values, r.Values, "values"); err != nil {
		return err
	}
	t.observations = append(t.observations, r.Observations...)
	return t.append(r.Output)
}

// A child is a task that runs beside its siblings.
type child struct {
	Child
	task      *task
	function  string
	result    Result
	err       error
	cancelled bool // err is only the end of its context
}

// fork makes the queued children: what their parent has left is shared out equally,
// so that together they never have more.
func (t *task) fork() ([]*child, error) {
	queue := t.queue
	t.queue = nil
	n := len(queue)
	given := budget{steps: t.steps() / n, values: t.left.values / n, output: t.left.output / n, time: t.clock.left}
	var forked []Child
	if t.hooks.Fork != nil {
		if forked = t.hooks.Fork(n); len(forked) != n {
			return nil, broken("%d children were made for %d", len(forked), n)
		}
	}
	children := make([]*child, n)
	for i, k := range queue {
		c := &child{Child: Child{Hooks: Hooks{Effect: t.hooks.Effect, Ask: t.hooks.Ask}}, function: "spawn." + strconv.Itoa(k)}
		if forked != nil {
			c.Child = forked[i]
		}
		c.task = t.linked.task(c.Hooks, given)
		c.task.home = spawned(t.module.Elements, k)
		c.task.names.outer = t.names
		c.task.rounds = maps.Clone(t.rounds)
		c.task.dir, c.task.answers = t.dir, t.answers
		children[i] = c
	}
	return children, nil
}

// spawned is the element of spawn k.
func spawned(table []wasm.Element, k int) int {
	for e, el := range table {
		if el.Name != "Spawn" {
			continue
		}
		if k == 0 {
			return e
		}
		k--
	}
	return -1
}

// concurrently runs the children and returns the failure of the first of them in
// the document that failed by itself.
func (t *task) concurrently(children []*child) error {
	scope, cancel := context.WithCancelCause(t.ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	for _, c := range children {
		ctx := scope
		if c.Failed {
			ctx = t.ctx
		}
		wait.Go(func() {
			c.run(ctx)
			if c.err != nil && !c.cancelled {
				cancel(ErrSiblingFailed)
			}
		})
	}
	wait.Wait()
	var failure error
	for _, c := range children {
		t.clock.left = min(t.clock.left, c.task.clock.left)
		if c.err != nil && (failure == nil || !c.cancelled) {
			if failure = c.err; !c.cancelled {
				break
			}
		}
	}
	return failure
}

// run takes the child from its beginning to its end, or its result from an earlier
// execution.
func (c *child) run(ctx context.Context) {
	c.task.clock.left = c.task.given.time
	defer func() {
		if p := recover(); p != nil {
			c.err, c.cancelled = panicked(p), false
		}
	}()
	if c.Restore != nil {
		r, ok, err := c.Restore(ctx)
		if err != nil {
			c.err, c.cancelled = err, ctx.Err() != nil && ended(ctx, err)
			return
		}
		if ok {
			c.result = r
			return
		}
	}
	c.result, c.err = c.task.execute(ctx, c.function)
	if c.End == nil {
		c.err, c.cancelled = uncancelled(c.err)
		return
	}
	err, _ := uncancelled(c.err)
	c.err = c.End(ctx, c.result, err)
	c.cancelled = c.err != nil && ctx.Err() != nil && ended(ctx, c.err)
}

// uncancelled takes the end of a context out of its wrapping, if err is one.
func uncancelled(err error) (error, bool) {
	var c *cancellation
	if errors.As(err, &c) {
		return c.cause, true
	}
	return err, false
}
