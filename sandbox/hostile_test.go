package sandbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

// TestA14_LargePropsAreValues: an operation that is given one large value again and
// again uses up the limit on values, so what a history keeps of it is bounded too.
func TestA14_LargePropsAreValues(t *testing.T) {
	effects := 0
	h := sandbox.Hooks{Effect: func(ctx context.Context, _ sandbox.Site, _ *capability.Granted, c capability.Call, do func(context.Context) (any, error)) (any, error) {
		effects++
		return do(ctx)
	}}
	w := newWorld()
	w.values[strings.Repeat("k", 100_000)] = true
	_, err := w.evaluate(t, capability.Limits{}, h, func(d *draft) []wasm.Node {
		return nodes(d.let("key", lit(strings.Repeat("k", 100_000))), d.loop(json("100000"), func() []wasm.Node {
			return nodes(d.peek("", name("key")))
		}))
	})
	require.Equal(t, &sandbox.LimitError{Bound: "values"}, err)
	require.LessOrEqual(t, effects, 8<<20/100_000)
}

// TestA14_MatchingTakesTime: the regions of a fragment are its own work, so their
// matchers end with its time although the question they answer stands still.
func TestA14_MatchingTakesTime(t *testing.T) {
	matchers := make([]answered, 500)
	for i := range matchers { // just below what one match may try
		matchers[i] = answered{fmt.Sprintf("{?a}x{?b}x{?a}y%d", i), "1"}
	}
	start := time.Now()
	_, err := newWorld().evaluate(t, capability.Limits{Time: 200 * time.Millisecond}, sandbox.Hooks{}, func(d *draft) []wasm.Node {
		return nodes(d.loop(json("10000"), func() []wasm.Node {
			return nodes(d.answers(nil, append(matchers, answered{"", "1"}), func() []wasm.Node {
				return nodes(d.ask("", strings.Repeat("x", 500)))
			}))
		}))
	})
	require.Equal(t, &sandbox.LimitError{Bound: "time"}, err)
	require.Less(t, time.Since(start), 20*time.Second) // it took hours
}

// TestA24_TimeStandsStillForAProviderBehindARegion: only the region's matching runs
// the clock, not the provider it passes the question on to.
func TestA24_TimeStandsStillForAProviderBehindARegion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := sandbox.Hooks{Ask: func(context.Context, capability.Question) (any, error) {
			time.Sleep(time.Hour)
			return "late", nil
		}}
		w := newWorld()
		m, g := compile(t, program(func(d *draft) []wasm.Node {
			return nodes(d.answers(json("true"), []answered{{"other", "1"}}, func() []wasm.Node { return nodes(d.ask("", "who?")) }))
		})), w.grant(t, capability.Limits{Time: time.Second})
		r, err := interpreter(t).Run(t.Context(), m, g, h)
		require.NoError(t, err)
		require.Equal(t, "late", r.Output)
	})
}

// TestA20_AChildReadsNoMoreThanItsShare: an operation is told how much its child may
// still make, so that children who read at the same time hold no more together than
// the limits say.
func TestA20_AChildReadsNoMoreThanItsShare(t *testing.T) {
	var told atomic.Int64
	entry := newWorld().peek()
	entry.Op.Do = func(_ context.Context, c capability.Call) (any, error) {
		told.Add(int64(c.Limit))
		return "x", nil
	}
	limits := capability.Limits{Value: 1 << 20, Values: 1 << 20}
	g, err := capture(t, capability.Profile{Dialect: capability.Closed, Limits: limits, Read: []capability.Entry{entry}}).Select(capability.ReadClass)
	require.NoError(t, err)
	m := compile(t, program(func(d *draft) []wasm.Node {
		spawns := make([]func() []wasm.Node, 100)
		for i := range spawns {
			spawns[i] = func() []wasm.Node { return nodes(d.peek("", lit("k"))) }
		}
		return nodes(d.all(spawns...))
	}))
	_, err = interpreter(t).Run(t.Context(), m, g, sandbox.Hooks{})
	require.NoError(t, err)
	require.LessOrEqual(t, told.Load(), int64(limits.Values))
}

// TestA14_NestingIsBoundedWhateverAHostStates: values are followed by recursion, and an
// exhausted stack would end the process.
func TestA14_NestingIsBoundedWhateverAHostStates(t *testing.T) {
	_, err := newWorld().evaluate(t, capability.Limits{Depth: 1 << 30}, sandbox.Hooks{}, func(d *draft) []wasm.Node {
		return nodes(d.let("x", json("[]")), d.loop(json("100000"), func() []wasm.Node {
			return nodes(d.let("x", &wasm.Array{Elements: []wasm.Expr{name("x")}}))
		}), show("{x}"))
	})
	require.Equal(t, &sandbox.LimitError{Bound: "depth"}, err)
}
