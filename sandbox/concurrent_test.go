package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

// A schedule lets one child at a time go on from one effect to the next, and decides
// by its random numbers which.
type schedule struct {
	random *rand.Rand
	asked  chan *turn
	ended  chan int
}

type turn struct {
	child int
	taken chan struct{}
}

func (s *schedule) fork(n int) []sandbox.Child {
	children := make([]sandbox.Child, n)
	for i := range children {
		children[i].Hooks.Effect = func(ctx context.Context, _ sandbox.Site, _ *capability.Granted, _ capability.Call, do func(context.Context) (any, error)) (any, error) {
			at := &turn{i, make(chan struct{}, 1)}
			s.asked <- at
			select {
			case <-at.taken:
				return do(ctx)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		children[i].End = func(_ context.Context, _ sandbox.Result, err error) error {
			s.ended <- i
			return err
		}
	}
	go s.serve(n)
	return children
}

func (s *schedule) serve(n int) {
	var waiting []*turn
	for running := n; running+len(waiting) > 0; {
		for running > 0 {
			select {
			case at := <-s.asked:
				waiting = append(waiting, at)
				running--
			case child := <-s.ended:
				if i := indexOf(waiting, child); i >= 0 { // it was stopped while it waited
					waiting = append(waiting[:i], waiting[i+1:]...)
				} else {
					running--
				}
			}
		}
		if len(waiting) > 0 {
			i := s.random.IntN(len(waiting))
			waiting[i].taken <- struct{}{}
			waiting = append(waiting[:i], waiting[i+1:]...)
			running = 1
		}
	}
}

func indexOf(waiting []*turn, child int) int {
	for i, at := range waiting {
		if at.child == child {
			return i
		}
	}
	return -1
}

func schedules(t *testing.T) int {
	if testing.Short() {
		return 50
	}
	return 1000
}

// family is an All of four children that do different things, nested ones included.
func family(last func(d *draft) []wasm.Node) func(d *draft) []wasm.Node {
	return func(d *draft) []wasm.Node {
		return nodes(
			d.let("x", lit("x")),
			d.into("dir", func() []wasm.Node {
				return nodes(d.all(
					func() []wasm.Node { return nodes(d.peek("", lit("a")), d.peek("", lit("b")), show("{x}")) },
					func() []wasm.Node {
						return nodes(d.loop(json("3"), func() []wasm.Node { return nodes(d.peek("x", lit("c")), show("{x}")) }))
					},
					func() []wasm.Node {
						return nodes(text("-"), d.put("f", func() []wasm.Node { return nodes(show("{x}")) }))
					},
					func() []wasm.Node { return last(d) },
				))
			}), show("{x}"))
	}
}

func TestA20_EveryScheduleComesToTheSame(t *testing.T) {
	r := interpreter(t)
	m := compile(t, program(family(func(d *draft) []wasm.Node {
		return nodes(d.peek("", lit("d")), d.each(json("[1,2]"), "i", "", func() []wasm.Node { return nodes(d.peek("", lit("e"))) }))
	})))
	g := newWorld().grant(t, capability.Limits{})
	want, err := r.Run(t.Context(), m, g, sandbox.Hooks{})
	require.NoError(t, err)
	require.Equal(t, "<a><b>x<c><c><c>-<d><e><e>x", want.Output)
	for seed := range schedules(t) {
		s := &schedule{rand.New(rand.NewPCG(uint64(seed), 0)), make(chan *turn), make(chan int)}
		got, err := r.Run(t.Context(), m, g, sandbox.Hooks{Fork: s.fork})
		require.NoError(t, err, "schedule %d", seed)
		require.Equal(t, want, got, "schedule %d", seed)
	}
}

func TestA20_EveryScheduleFailsTheSame(t *testing.T) {
	r := interpreter(t)
	m := compile(t, program(family(func(d *draft) []wasm.Node { return nodes(d.peek("", lit("d")), d.peek("", lit("broken"))) })))
	g := newWorld().grant(t, capability.Limits{})
	for seed := range schedules(t) {
		s := &schedule{rand.New(rand.NewPCG(uint64(seed), 1)), make(chan *turn), make(chan int)}
		got, err := r.Run(t.Context(), m, g, sandbox.Hooks{Fork: s.fork})
		require.EqualError(t, err, "<Peek> at byte 130 of the fragment: there is nothing to see", "schedule %d", seed)
		require.Empty(t, got.Output)
	}
}

// TestA20_TheFirstInTheDocumentIsReported lets every child fail before any of them
// is told that another one has.
func TestA20_TheFirstInTheDocumentIsReported(t *testing.T) {
	var all sync.WaitGroup
	all.Add(3)
	w := newWorld()
	h := sandbox.Hooks{Effect: func(ctx context.Context, s sandbox.Site, _ *capability.Granted, c capability.Call, do func(context.Context) (any, error)) (any, error) {
		all.Done()
		all.Wait()
		return nil, fmt.Errorf("failure at %d", s.Offset)
	}}
	fails := func(d *draft) func() []wasm.Node {
		return func() []wasm.Node { return nodes(d.peek("", lit("a"))) }
	}
	_, err := w.evaluate(t, capability.Limits{}, h, func(d *draft) []wasm.Node { return nodes(d.all(fails(d), fails(d), fails(d))) })
	require.EqualError(t, err, "<Peek> at byte 20 of the fragment: failure at 20")
}

// TestA20_ChildrenShareTheLimits gives a bound out to children and takes back what
// they did not use.
func TestA20_ChildrenShareTheLimits(t *testing.T) {
	write := func(n int) func() []wasm.Node {
		return func() []wasm.Node { return nodes(text(strings.Repeat("x", n))) }
	}
	for _, c := range []struct {
		name          string
		a, b, after   int
		bound, output string
	}{
		{name: "each has its share", a: 50, b: 50},
		{name: "and no more", a: 51, b: 0, bound: "output"},
		{name: "the last one too", a: 0, b: 51, bound: "output"},
		{name: "what is not used returns", a: 10, b: 20, after: 70},
		{name: "and what is used does not", a: 10, b: 20, after: 71, bound: "output"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := newWorld().evaluate(t, capability.Limits{Output: 100}, sandbox.Hooks{}, func(d *draft) []wasm.Node {
				return append(nodes(d.all(write(c.a), write(c.b))), write(c.after)()...)
			})
			if c.bound != "" {
				require.Equal(t, &sandbox.LimitError{Bound: c.bound}, err)
				return
			}
			require.NoError(t, err)
			require.Len(t, got.Output, c.a+c.b+c.after)
		})
	}
	t.Run("steps and values", func(t *testing.T) {
		child := func(d *draft) func() []wasm.Node {
			return func() []wasm.Node {
				return nodes(d.loop(json("100"), func() []wasm.Node { return nodes(d.let("x", lit("0123456789"))) }))
			}
		}
		both := func(d *draft) []wasm.Node { return nodes(d.all(child(d), child(d))) }
		used, err := newWorld().evaluate(t, capability.Limits{}, sandbox.Hooks{}, both)
		require.NoError(t, err)
		require.Equal(t, 2*(32+100*42), used.Values)
		_, err = newWorld().evaluate(t, capability.Limits{Values: used.Values}, sandbox.Hooks{}, both)
		require.NoError(t, err)
		_, err = newWorld().evaluate(t, capability.Limits{Values: used.Values - 1}, sandbox.Hooks{}, both)
		require.Equal(t, &sandbox.LimitError{Bound: "values"}, err)
		_, err = newWorld().evaluate(t, capability.Limits{Steps: used.Steps}, sandbox.Hooks{}, both)
		require.NoError(t, err)
		_, err = newWorld().evaluate(t, capability.Limits{Steps: used.Steps - 2}, sandbox.Hooks{}, both)
		require.Equal(t, &sandbox.LimitError{Bound: "steps"}, err)
	})
}

func twoPeeks(d *draft) []wasm.Node {
	return nodes(d.all(
		func() []wasm.Node { return nodes(d.peek("", lit("a"))) },
		func() []wasm.Node { return nodes(d.peek("", lit("b"))) }))
}

func TestAChildIsRestored(t *testing.T) {
	w := newWorld()
	h := sandbox.Hooks{Fork: func(n int) []sandbox.Child {
		children := make([]sandbox.Child, n)
		children[0].Restore = func(context.Context) (sandbox.Result, bool, error) {
			return sandbox.Result{Output: "restored ", Observations: []sandbox.Observation{{Name: "Peek", Value: "r"}}, Steps: 1000, Values: 500}, true, nil
		}
		children[1].Restore = func(context.Context) (sandbox.Result, bool, error) { return sandbox.Result{}, false, nil }
		return children
	}}
	got, err := w.evaluate(t, capability.Limits{}, h, twoPeeks)
	require.NoError(t, err)
	require.Equal(t, "restored <b>", got.Output)
	require.Equal(t, []sandbox.Observation{{Name: "Peek", Value: "r"}, {Name: "Peek", Value: "<b>"}}, got.Observations)
	require.Equal(t, []string{"peek b"}, w.done())
	require.Greater(t, got.Steps, 1000)
	require.Greater(t, got.Values, 500)
}

func TestTheEndOfAChildIsTold(t *testing.T) {
	broken := errors.New("the history is broken")
	told := make([]error, 2)
	second := make(chan struct{}) // closed when the second child was told
	h := sandbox.Hooks{Fork: func(n int) []sandbox.Child {
		children := make([]sandbox.Child, n)
		for i := range children {
			children[i].End = func(ctx context.Context, r sandbox.Result, err error) error {
				told[i] = err
				if i == 0 {
					<-second
					return errors.Join(broken, err)
				}
				close(second)
				<-ctx.Done()
				return context.Cause(ctx)
			}
		}
		return children
	}}
	_, err := newWorld().evaluate(t, capability.Limits{}, h, twoPeeks)
	require.ErrorIs(t, err, broken)
	require.Equal(t, []error{nil, nil}, told)
}

// TestAFailedChildFailsAgain replays a child that failed beside one that was stopped:
// the stopped one waits for its end, and the failed one is not stopped by it.
func TestAFailedChildFailsAgain(t *testing.T) {
	h := sandbox.Hooks{Fork: func(n int) []sandbox.Child {
		children := make([]sandbox.Child, n)
		children[0].Restore = func(ctx context.Context) (sandbox.Result, bool, error) {
			<-ctx.Done()
			return sandbox.Result{}, false, context.Cause(ctx)
		}
		children[1].Failed = true
		children[1].Hooks.Effect = func(ctx context.Context, _ sandbox.Site, _ *capability.Granted, _ capability.Call, _ func(context.Context) (any, error)) (any, error) {
			return nil, errors.New("as before")
		}
		return children
	}}
	_, err := newWorld().evaluate(t, capability.Limits{}, h, twoPeeks)
	require.EqualError(t, err, "<Peek> at byte 40 of the fragment: as before")
}

func TestAPanicInAChildIsItsFailure(t *testing.T) {
	h := sandbox.Hooks{Fork: func(n int) []sandbox.Child {
		children := make([]sandbox.Child, n)
		children[1].End = func(context.Context, sandbox.Result, error) error { panic("no end") }
		return children
	}}
	_, err := newWorld().evaluate(t, capability.Limits{}, h, twoPeeks)
	require.ErrorContains(t, err, "panic: no end")
}
