package journal

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

// A program stands for a document: it performs effects on its coroutine and
// returns a value.
type program func(ctx context.Context, c *Coroutine) (any, error)

// A world counts the effects that were performed in it.
type world struct {
	mu        sync.Mutex
	performed []string
}

func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.performed)
}

// effect performs the effect called name, whose value is its own name.
func (w *world) effect(ctx context.Context, c *Coroutine, name string) (any, error) {
	return w.perform(ctx, c, name, func(context.Context) (any, error) { return value.Of("did", name), nil })
}

func (w *world) perform(ctx context.Context, c *Coroutine, name string, live func(context.Context) (any, error)) (any, error) {
	return c.Perform(ctx, Description{Type: "test", Name: name}, func(ctx context.Context) (any, error) {
		v, err := live(ctx)
		if ctx.Err() == nil {
			w.mu.Lock()
			w.performed = append(w.performed, name)
			w.mu.Unlock()
		}
		return v, err
	})
}

// execute does what an engine does around a document: replay the whole where the
// root has ended, and close it where it has not.
func execute(ctx context.Context, s Stream, o Options, p program) (any, error) {
	j, err := Open(ctx, s, o)
	if err != nil {
		return nil, err
	}
	return settle(ctx, j.Root(), p)
}

func settle(ctx context.Context, c *Coroutine, p program) (any, error) {
	r, restored, err := c.Restore(ctx)
	switch {
	case err != nil:
		return nil, err
	case restored && r.Error != nil:
		return nil, &RecordedError{Failure: *r.Error}
	case restored:
		return r.Value, nil
	}
	v, failure := p(ctx, c)
	result := Ok(v)
	switch {
	case ctx.Err() != nil:
		result = Cancelled()
	case failure != nil:
		result = Err(failure)
	}
	if err := c.Close(ctx, result); err != nil {
		return nil, err
	}
	return v, failure
}

// all runs programs as children: ids first, all at once, fail-fast with the
// siblings cancelled in reverse order, and everything joined.
func all(ctx context.Context, parent *Coroutine, bodies ...program) (any, error) {
	type child struct {
		c      *Coroutine
		ctx    context.Context
		cancel context.CancelFunc
	}
	children := make([]child, len(bodies))
	for i := range bodies {
		ctx, cancel := context.WithCancel(ctx)
		children[i] = child{parent.Child(), ctx, cancel}
	}
	values := make([]any, len(bodies))
	var (
		join  sync.WaitGroup
		once  sync.Once
		first error
	)
	for i, body := range bodies {
		join.Go(func() {
			v, err := settle(children[i].ctx, children[i].c, body)
			values[i] = v
			if err != nil && children[i].ctx.Err() == nil {
				once.Do(func() {
					first = err
					for _, sibling := range slices.Backward(children) {
						sibling.cancel()
					}
				})
			}
		})
	}
	join.Wait()
	for _, c := range children {
		c.cancel()
	}
	if first == nil {
		first = ctx.Err()
	}
	return values, first
}

// perCoroutine is a history in the form that does not depend on scheduling.
func perCoroutine(t testing.TB, events []Event) map[string][]string {
	lines := make(map[string][]string)
	for _, e := range events {
		line, err := AppendLine(nil, e)
		require.NoError(t, err)
		lines[e.CoroutineID] = append(lines[e.CoroutineID], string(line))
	}
	return lines
}

func eventsOf(t testing.TB, s Stream) []Event {
	events, err := s.Load(context.Background())
	require.NoError(t, err)
	return events
}

func yields(events []Event) int {
	n := 0
	for _, e := range events {
		if e.Type == TypeYield {
			n++
		}
	}
	return n
}

// sequence performs the named effects one after the other.
func (w *world) sequence(names ...string) program {
	return func(ctx context.Context, c *Coroutine) (any, error) {
		var last any
		for _, name := range names {
			var err error
			if last, err = w.effect(ctx, c, name); err != nil {
				return nil, err
			}
		}
		return last, nil
	}
}

// document is a program with everything in it: a caught failure, two sets of
// children, nesting, and a value at the end.
func (w *world) document(ctx context.Context, c *Coroutine) (any, error) {
	if _, err := w.effect(ctx, c, "import"); err != nil {
		return nil, err
	}
	_, failure := w.perform(ctx, c, "fails", func(context.Context) (any, error) { return nil, fmt.Errorf("no such thing") })
	if failure == nil || IsDurability(failure) {
		return nil, failure
	}
	inner := func(ctx context.Context, c *Coroutine) (any, error) {
		if _, err := w.effect(ctx, c, "before"); err != nil {
			return nil, err
		}
		return all(ctx, c, w.sequence("deep 0"), w.sequence("deep 1", "deep 2"))
	}
	one, err := all(ctx, c, w.sequence("a", "b"), inner)
	if err != nil {
		return nil, err
	}
	if _, err := w.effect(ctx, c, "between"); err != nil {
		return nil, err
	}
	two, err := all(ctx, c, w.sequence("x"), w.sequence("y", "z"))
	if err != nil {
		return nil, err
	}
	return []any{failure.Error(), one, two}, nil
}
