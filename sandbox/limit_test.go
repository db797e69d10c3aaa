package sandbox_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

// TestA12_Limits runs, for every bound of an evaluation, a program at the bound and
// one over it. The bounds on source and elements are preflight's.
func TestA12_Limits(t *testing.T) {
	nested := func(depth int) func(d *draft) []wasm.Node {
		return func(d *draft) []wasm.Node {
			var x wasm.Expr = json("[]")
			program := nodes(d.let("x", x))
			for range depth - 1 {
				program = append(program, d.let("x", &wasm.Array{Elements: []wasm.Expr{name("x")}}))
			}
			return program
		}
	}
	write := func(n int) func(d *draft) []wasm.Node {
		return func(d *draft) []wasm.Node { return nodes(text(strings.Repeat("x", n))) }
	}
	bind := func(n int) func(d *draft) []wasm.Node {
		return func(d *draft) []wasm.Node { return nodes(d.let("x", lit(strings.Repeat("x", n)))) }
	}
	aside := func(n int) func(d *draft) []wasm.Node {
		return func(d *draft) []wasm.Node {
			return nodes(d.put("f", func() []wasm.Node { return nodes(text(strings.Repeat("x", n/2)), text(strings.Repeat("x", n-n/2))) }))
		}
	}
	peek := func(d *draft) []wasm.Node { return nodes(d.peek("x", lit("long"))) }
	rounds := func(n string) func(d *draft) []wasm.Node {
		return func(d *draft) []wasm.Node {
			return nodes(d.loop(json(n), func() []wasm.Node { return nodes(text("x")) }))
		}
	}
	steps := func() int { // a loop of seven rounds uses exactly this much
		r, err := newWorld().evaluate(t, capability.Limits{}, sandbox.Hooks{}, rounds("7"))
		require.NoError(t, err)
		return r.Steps
	}()
	for _, c := range []struct {
		bound  string
		limits capability.Limits
		under  func(d *draft) []wasm.Node
		over   func(d *draft) []wasm.Node
	}{
		{"output", capability.Limits{Output: 100}, write(100), write(101)},
		{"value", capability.Limits{Value: 100}, bind(100), bind(101)},
		{"value", capability.Limits{Value: 100}, aside(100), aside(101)},
		{"values", capability.Limits{Values: 132}, bind(100), bind(101)},
		{"depth", capability.Limits{Depth: 9}, nested(9), nested(10)},
		{"steps", capability.Limits{Steps: steps}, rounds("7"), rounds("8")},
	} {
		t.Run(c.bound, func(t *testing.T) {
			_, err := newWorld().evaluate(t, c.limits, sandbox.Hooks{}, c.under)
			require.NoError(t, err)
			_, err = newWorld().evaluate(t, c.limits, sandbox.Hooks{}, c.over)
			require.Equal(t, &sandbox.LimitError{Bound: c.bound}, err)
		})
	}
	for _, c := range []struct {
		bound string
		size  int
		limit capability.Limits
	}{
		{"value", 100, capability.Limits{Value: 100}},
		{"values", 100, capability.Limits{Values: 32 + 32 + 3 + 4 + (32 + 3 + 4) + 32 + 100}}, // props, what is in them, their projection, the result
	} {
		t.Run(c.bound+" of a result", func(t *testing.T) {
			w := newWorld()
			w.values["long"] = strings.Repeat("x", c.size)
			_, err := w.evaluate(t, c.limit, sandbox.Hooks{}, peek)
			require.NoError(t, err)
			w.values["long"] = strings.Repeat("x", c.size+1)
			_, err = w.evaluate(t, c.limit, sandbox.Hooks{}, peek)
			require.Equal(t, &sandbox.LimitError{Bound: c.bound}, err)
		})
	}
	t.Run("depth of a result", func(t *testing.T) {
		w := newWorld()
		w.values["long"] = []any{[]any{[]any{}}}
		_, err := w.evaluate(t, capability.Limits{Depth: 3}, sandbox.Hooks{}, peek)
		require.NoError(t, err)
		_, err = w.evaluate(t, capability.Limits{Depth: 2}, sandbox.Hooks{}, peek)
		require.Equal(t, &sandbox.LimitError{Bound: "depth"}, err)
	})
}

// TestStepsAreExact counts: the module takes one step at its function, and each call
// of the language takes one, and one more for each KiB it reads or makes.
func TestStepsAreExact(t *testing.T) {
	for size, steps := range map[int]int{0: 1, 1: 2, 1023: 2, 1024: 3, 2047: 3, 2048: 4} {
		got, err := newWorld().evaluate(t, capability.Limits{}, sandbox.Hooks{}, func(d *draft) []wasm.Node {
			if size == 0 {
				return nil
			}
			return nodes(text(strings.Repeat("x", size)))
		})
		require.NoError(t, err)
		require.Equal(t, steps, got.Steps, "%d bytes", size)
	}
}

// endless goes round for as long as steps and time let it.
func endless(d *draft) []wasm.Node {
	return nodes(d.loop(json("2147483647"), func() []wasm.Node { return nodes(d.let("x", json("0"))) }))
}

func TestA14_AnEndlessLoopStops(t *testing.T) {
	for engine, r := range map[string]*sandbox.Runtime{"interpreter": interpreter(t), "compiler": compiler(t)} {
		m := compile(t, program(endless))
		_, err := r.Run(t.Context(), m, newWorld().grant(t, capability.Limits{Steps: 50_000}), sandbox.Hooks{})
		require.Equal(t, &sandbox.LimitError{Bound: "steps"}, err, engine)
		_, err = r.Run(t.Context(), m, newWorld().grant(t, capability.Limits{Steps: 1 << 30}), sandbox.Hooks{})
		require.Equal(t, &sandbox.LimitError{Bound: "values"}, err, engine)
		_, err = r.Run(t.Context(), m, newWorld().grant(t, capability.Limits{Steps: 1 << 30, Values: 1 << 30, Time: time.Millisecond}), sandbox.Hooks{})
		require.Equal(t, &sandbox.LimitError{Bound: "time"}, err, engine)
	}
}

// waiting starts n evaluations that wait in an operation, calls measure while they
// do, and lets them end.
func waiting(t testing.TB, n int, measure func()) {
	r := interpreter(t)
	w := &world{hold: make(chan struct{}), held: make(chan struct{})}
	g := w.grant(t, capability.Limits{})
	m := compile(t, program(func(d *draft) []wasm.Node { return nodes(text("a"), d.wait("x"), show("{x}")) }))
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			got, err := r.Run(t.Context(), m, g, sandbox.Hooks{})
			if err != nil || got.Output != "awaited" {
				t.Errorf("got %q, %v", got.Output, err)
			}
		})
	}
	for range n {
		<-w.held
	}
	measure()
	close(w.hold)
	group.Wait()
}

func memory() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// TestA14_WaitingInstancesAreSmall holds a thousand evaluations in an operation. The
// bound is on the instance; here each has a compiled module of its own besides.
func TestA14_WaitingInstancesAreSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("memory is not measured beside other things")
	}
	const n = 1000
	before, held := memory(), uint64(0)
	waiting(t, n, func() { held = memory() })
	require.Less(t, held-before, uint64(n*64<<10))
}

func TestA24_TimeStandsStillInAnOperation(t *testing.T) {
	r := interpreter(t)
	m := compile(t, program(func(d *draft) []wasm.Node { return nodes(d.ask("x", "q"), show("{x}")) }))
	limits := capability.Limits{Time: 10 * time.Second}
	t.Run("a question may take as long as it takes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			got, err := r.Run(t.Context(), m, newWorld().grant(t, limits), sandbox.Hooks{
				Ask: func(ctx context.Context, q capability.Question) (any, error) {
					time.Sleep(24 * time.Hour)
					return "at last", ctx.Err()
				},
			})
			require.NoError(t, err)
			require.Equal(t, "at last", got.Output)
		})
	})
	t.Run("but no longer than its own bound", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, err := r.Run(t.Context(), m, newWorld().grant(t, limits), sandbox.Hooks{
				Ask: func(ctx context.Context, q capability.Question) (any, error) {
					ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("nobody came"))
					defer cancel()
					<-ctx.Done()
					return nil, context.Cause(ctx)
				},
			})
			require.EqualError(t, err, "<Ask> at byte 0 of the fragment: nobody came")
		})
	})
	t.Run("and the execution's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			late := errors.New("the execution is over")
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, late)
			defer cancel()
			_, err := r.Run(ctx, m, newWorld().grant(t, limits), sandbox.Hooks{
				Ask: func(ctx context.Context, q capability.Question) (any, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				},
			})
			require.Equal(t, late, err)
		})
	})
	t.Run("the time of children is what is left", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			both := compile(t, program(func(d *draft) []wasm.Node {
				body := func() []wasm.Node { return nodes(d.ask("x", "q"), show("{x}")) }
				return nodes(d.all(body, body))
			}))
			got, err := r.Run(t.Context(), both, newWorld().grant(t, limits), sandbox.Hooks{
				Ask: func(ctx context.Context, q capability.Question) (any, error) {
					time.Sleep(time.Hour)
					return "x", nil
				},
			})
			require.NoError(t, err)
			require.Equal(t, "xx", got.Output)
		})
	})
}
