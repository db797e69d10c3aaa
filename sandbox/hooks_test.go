package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

// shown writes a site in one line.
func shown(s sandbox.Site) string {
	steps := make([]string, len(s.Path))
	for i, step := range s.Path {
		switch step.Kind {
		case sandbox.Element:
			steps[i] = fmt.Sprintf("%s#%d", step.Name, step.Offset)
		case sandbox.Content:
			steps[i] = "content"
		case sandbox.Item:
			steps[i] = fmt.Sprintf("item %d", step.Index)
		case sandbox.Iteration:
			steps[i] = fmt.Sprintf("iteration %d", step.Index)
		case sandbox.AnswersBody:
			steps[i] = "answers"
		case sandbox.Spawned:
			steps[i] = fmt.Sprintf("spawned %d", step.Index)
		}
	}
	line := strings.Join(steps, " ")
	if s.Entering {
		line += " entering"
	}
	return line
}

func TestSites(t *testing.T) {
	var sites []string
	h := sandbox.Hooks{Effect: func(ctx context.Context, s sandbox.Site, e *capability.Granted, c capability.Call, do func(context.Context) (any, error)) (any, error) {
		require.Equal(t, c.Element, s.Name)
		require.Equal(t, e.Name, s.Name)
		require.Equal(t, s.Path[len(s.Path)-1].Offset, s.Offset)
		sites = append(sites, shown(s))
		return do(ctx)
	}}
	_, err := newWorld().evaluate(t, capability.Limits{}, h, func(d *draft) []wasm.Node {
		return nodes(
			d.peek("", lit("a")),
			d.into("x", func() []wasm.Node { return nodes(d.put("f", func() []wasm.Node { return nil })) }),
			d.each(json("[1,2]"), "i", "", func() []wasm.Node {
				return nodes(d.loop(json("2"), func() []wasm.Node { return nodes(d.peek("", lit("b"))) }))
			}),
			d.when(json("0"), func() []wasm.Node { return nil }, func() []wasm.Node { return nodes(d.peek("", lit("c"))) }),
			d.answers(nil, []answered{{"", "1"}}, func() []wasm.Node { return nodes(d.ask("", "q")) }),
			d.all(func() []wasm.Node { return nil }, func() []wasm.Node { return nodes(d.peek("", lit("d"))) }),
		)
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		"Peek#0",
		"Into#10 entering",
		"Into#10 content Put#20",
		"Into#10",
		"Each#30 item 0 Loop#40 iteration 0 Peek#50",
		"Each#30 item 0 Loop#40 iteration 1 Peek#50",
		"Each#30 item 1 Loop#40 iteration 0 Peek#50",
		"Each#30 item 1 Loop#40 iteration 1 Peek#50",
		"If#60 Else#70 Peek#80",
		"Answers#90 answers Ask#110",
		"All#120 Spawn#140 spawned 1 Peek#150",
	}, sites)
}

func TestLoopsAreRecorded(t *testing.T) {
	nested := func(inner func(d *draft) []wasm.Node) func(d *draft) []wasm.Node {
		return func(d *draft) []wasm.Node {
			return nodes(d.loop(json("2"), func() []wasm.Node {
				return nodes(d.loop(json("9"), func() []wasm.Node { return inner(d) }))
			}))
		}
	}
	for _, c := range []struct {
		name  string
		write func(d *draft) []wasm.Node
		want  []string
	}{
		{
			"exhausted", func(d *draft) []wasm.Node { return nodes(d.loop(json("2"), func() []wasm.Node { return nil })) },
			[]string{"Loop#0 0", "Loop#0 1", "Loop#0 ended after 2"},
		},
		{
			"broken", nested(func(d *draft) []wasm.Node { return nodes(d.stop()) }),
			[]string{
				"Loop#0 0", "Loop#0 iteration 0 Loop#10 0", "Loop#0 iteration 0 Loop#10 ended after 1 broken",
				"Loop#0 1", "Loop#0 iteration 1 Loop#10 0", "Loop#0 iteration 1 Loop#10 ended after 1 broken",
				"Loop#0 ended after 2",
			},
		},
		{
			"failed", nested(func(d *draft) []wasm.Node { return nodes(d.fail(lit("no"))) }),
			[]string{
				"Loop#0 0", "Loop#0 iteration 0 Loop#10 0",
				"Loop#0 iteration 0 Loop#10 ended after 1 failed: no", "Loop#0 ended after 1 failed: no",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			_, _ = newWorld().evaluate(t, capability.Limits{}, sandbox.Hooks{
				Iteration: func(_ context.Context, s sandbox.Site, i int) error {
					got = append(got, fmt.Sprintf("%s %d", shown(s), i))
					return nil
				},
				LoopEnd: func(_ context.Context, s sandbox.Site, iterations int, broken bool, failure error) error {
					line := fmt.Sprintf("%s ended after %d", shown(s), iterations)
					if broken {
						line += " broken"
					}
					if failure != nil {
						line += " failed: " + failure.Error()
					}
					got = append(got, line)
					return nil
				},
			}, c.write)
			require.Equal(t, c.want, got)
		})
	}
	t.Run("a record that cannot be written is the failure", func(t *testing.T) {
		broken := errors.New("the history is broken")
		loop := func(d *draft) []wasm.Node {
			return nodes(d.loop(json("2"), func() []wasm.Node { return nodes(d.fail(lit("no"))) }))
		}
		_, err := newWorld().evaluate(t, capability.Limits{}, sandbox.Hooks{Iteration: func(context.Context, sandbox.Site, int) error { return broken }}, loop)
		require.ErrorIs(t, err, broken)
		_, err = newWorld().evaluate(t, capability.Limits{}, sandbox.Hooks{LoopEnd: func(context.Context, sandbox.Site, int, bool, error) error { return broken }}, loop)
		require.ErrorIs(t, err, broken)
	})
}

func TestARecordedValueIsJudgedLikeAFreshOne(t *testing.T) {
	answer := func(v any) sandbox.Hooks {
		return sandbox.Hooks{Effect: func(context.Context, sandbox.Site, *capability.Granted, capability.Call, func(context.Context) (any, error)) (any, error) {
			return v, nil
		}}
	}
	wait := func(d *draft) []wasm.Node { return nodes(d.wait("")) }
	w := newWorld()
	got, err := w.evaluate(t, capability.Limits{}, answer("recorded"), wait)
	require.NoError(t, err)
	require.Equal(t, "recorded", got.Output)
	_, err = w.evaluate(t, capability.Limits{}, answer(1.0), wait)
	require.ErrorContains(t, err, "<Wait> at byte 0 of the fragment: the operation test/Wait@1 returned what its own schema refuses")
	_, err = w.evaluate(t, capability.Limits{Value: 10}, answer("longer than ten"), wait)
	require.Equal(t, &sandbox.LimitError{Bound: "value"}, err)
	_, err = w.evaluate(t, capability.Limits{}, answer(1.0), func(d *draft) []wasm.Node { return nodes(d.put("f", func() []wasm.Node { return nil })) })
	require.ErrorContains(t, err, "<Put> at byte 0 of the fragment: the operation test/Put@1 returned a value and declares none")
}

// TestAHistoryIsFollowedToItsEnd evaluates under a context that has ended: what is
// recorded is answered, and what would be new is not performed.
func TestAHistoryIsFollowedToItsEnd(t *testing.T) {
	over := errors.New("the execution is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	w := newWorld()
	recorded := []string{"one", "two"}
	h := sandbox.Hooks{
		Replaying: func() bool { return len(recorded) > 0 },
		Effect: func(ctx context.Context, _ sandbox.Site, _ *capability.Granted, _ capability.Call, do func(context.Context) (any, error)) (any, error) {
			if len(recorded) == 0 {
				return do(ctx)
			}
			v := recorded[0]
			recorded = recorded[1:]
			return v, nil
		},
	}
	m := compile(t, program(func(d *draft) []wasm.Node {
		return nodes(d.loop(json("5"), func() []wasm.Node { return nodes(d.peek("", lit("a"))) }))
	}))
	_, err := interpreter(t).Run(ctx, m, w.grant(t, capability.Limits{}), h)
	require.Equal(t, over, err)
	require.Empty(t, recorded)
	require.Empty(t, w.done())
}

func TestTheEndOfTheContext(t *testing.T) {
	over := errors.New("the execution is over")
	r := interpreter(t)
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(over)
		w := newWorld()
		_, err := r.Run(ctx, compile(t, program(oneRead)), w.grant(t, capability.Limits{}), sandbox.Hooks{})
		require.Equal(t, over, err)
		require.Empty(t, w.done())
	})
	t.Run("in an operation that does not see it", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		w := newWorld()
		_, err := r.Run(ctx, compile(t, program(func(d *draft) []wasm.Node { return nodes(d.peek("", lit("a"))) })), w.grant(t, capability.Limits{}),
			sandbox.Hooks{Effect: func(ctx context.Context, _ sandbox.Site, _ *capability.Granted, _ capability.Call, do func(context.Context) (any, error)) (any, error) {
				cancel(over)
				return do(ctx)
			}})
		require.Equal(t, over, err)
	})
	t.Run("in a module that calls nothing more", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		rounds := 0
		_, err := r.Run(ctx, compile(t, program(endless)), newWorld().grant(t, capability.Limits{Steps: 1 << 30, Values: 1 << 30}),
			sandbox.Hooks{Iteration: func(context.Context, sandbox.Site, int) error {
				if rounds++; rounds == 100 {
					cancel(over)
				}
				return nil
			}})
		require.Equal(t, over, err)
		require.Equal(t, 100, rounds)
	})
}

func TestAGrantThatHasEnded(t *testing.T) {
	r := interpreter(t)
	m := compile(t, program(func(d *draft) []wasm.Node { return nodes(d.peek("", lit("a")), d.peek("", lit("b"))) }))
	w := newWorld()
	c := w.captured(t, capability.Limits{})
	g, err := c.Select(capability.ReadClass)
	require.NoError(t, err)
	_, err = r.Run(t.Context(), m, g, sandbox.Hooks{Effect: func(ctx context.Context, _ sandbox.Site, _ *capability.Granted, _ capability.Call, do func(context.Context) (any, error)) (any, error) {
		v, err := do(ctx)
		c.Revoke()
		return v, err
	}})
	require.ErrorIs(t, err, capability.ErrRevoked)
	require.Equal(t, []string{"peek a"}, w.done())
	_, err = r.Run(t.Context(), compile(t, program(func(d *draft) []wasm.Node { return nodes(text("a")) })), g, sandbox.Hooks{})
	require.ErrorIs(t, err, capability.ErrRevoked)
}

// TestA19_ADirectoryIsMadeBeforeItsContent refuses, and fails, at the first thing an
// element does.
func TestA19_ADirectoryIsMadeBeforeItsContent(t *testing.T) {
	inside := func(d *draft) func() []wasm.Node {
		return func() []wasm.Node {
			return nodes(d.put("f", func() []wasm.Node { return nodes(d.peek("", lit("a"))) }))
		}
	}
	w := newWorld()
	_, err := w.evaluate(t, capability.Limits{}, sandbox.Hooks{}, func(d *draft) []wasm.Node { return nodes(d.into("x", inside(d))) })
	require.NoError(t, err)
	require.Equal(t, []string{"make :x", "peek a", `put x:f "<a>"`}, w.done())

	w = newWorld()
	_, err = w.evaluate(t, capability.Limits{}, sandbox.Hooks{}, func(d *draft) []wasm.Node {
		return nodes(d.let("p", lit("")), d.pair("Into", intoID, "", []wasm.Prop{{Name: "path", Value: name("p")}}, inside(d)))
	})
	var failed *sandbox.OperationError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "Into", failed.Element)
	require.Equal(t, 10, failed.Offset)
	require.Empty(t, w.done(), "nothing of the content was expanded")
}

func TestAPanicInAHook(t *testing.T) {
	_, err := newWorld().evaluate(t, capability.Limits{}, sandbox.Hooks{Iteration: func(context.Context, sandbox.Site, int) error { panic("no record") }},
		func(d *draft) []wasm.Node { return nodes(d.loop(json("2"), func() []wasm.Node { return nil })) })
	require.EqualError(t, err, "<Loop> at byte 0 of the fragment: panic: no record")
}
