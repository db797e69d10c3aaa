package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

var ctx = context.Background()

func TestFullReplayPerformsNothing(t *testing.T) { // R1
	live := &world{}
	stream := NewMemory()
	want, err := execute(ctx, stream, Options{}, live.document)
	require.NoError(t, err)
	golden := eventsOf(t, stream)
	require.Equal(t, yields(golden), live.count())

	again := &world{}
	got, err := execute(ctx, stream, Options{Observe: func(Event) { t.Error("an event was appended") }}, again.document)
	require.NoError(t, err)
	require.True(t, value.Equal(want, got))
	require.Zero(t, again.count())
	require.Equal(t, golden, eventsOf(t, stream))
}

func TestEveryCutResumesToTheSameHistory(t *testing.T) { // R2
	live := &world{}
	stream := NewMemory()
	want, err := execute(ctx, stream, Options{}, live.document)
	require.NoError(t, err)
	golden := eventsOf(t, stream)
	for cut := range len(golden) + 1 {
		resumed := &world{}
		stream := NewMemory(golden[:cut:cut]...)
		got, err := execute(ctx, stream, Options{}, resumed.document)
		require.NoError(t, err, "cut %d", cut)
		require.True(t, value.Equal(want, got), "cut %d", cut)
		require.Equal(t, yields(golden[cut:]), resumed.count(), "cut %d", cut)
		require.Equal(t, perCoroutine(t, golden), perCoroutine(t, eventsOf(t, stream)), "cut %d", cut)
	}
}

// A failingStream refuses the append after a number of them.
type failingStream struct {
	Stream
	left     int
	attempts int
}

func (s *failingStream) Append(ctx context.Context, e Event) error {
	s.attempts++
	if s.left--; s.left < 0 {
		return errDisk
	}
	return s.Stream.Append(ctx, e)
}

func TestAFailedAppendStopsTheExecution(t *testing.T) { // R3
	names := []string{"a", "b", "c", "d"}
	stubborn := func(w *world, errs *[]error) program {
		return func(ctx context.Context, c *Coroutine) (any, error) {
			for _, name := range names {
				_, err := w.effect(ctx, c, name)
				*errs = append(*errs, err)
			}
			_, err := all(ctx, c, w.sequence("child"))
			*errs = append(*errs, err)
			return "caught", nil
		}
	}
	var none []error
	golden := NewMemory()
	_, err := execute(ctx, golden, Options{}, stubborn(&world{}, &none))
	require.NoError(t, err)
	events := eventsOf(t, golden)

	for failAt := range events {
		kept := NewMemory()
		stream := &failingStream{Stream: kept, left: failAt}
		j, err := Open(ctx, stream, Options{})
		require.NoError(t, err)
		w, errs := &world{}, []error{}
		_, err = settle(ctx, j.Root(), stubborn(w, &errs))

		var stopped *PersistenceError
		require.ErrorAs(t, err, &stopped)
		require.ErrorIs(t, err, errDisk)
		require.True(t, IsDurability(err))
		require.Same(t, stopped, j.Err())
		for _, e := range errs {
			if e != nil {
				require.Same(t, stopped, e)
			}
		}
		require.Equal(t, failAt+1, stream.attempts, "no append after the failed one")
		require.LessOrEqual(t, w.count(), failAt+1, "no effect after the failed one")
		require.Same(t, stopped, j.Root().Close(ctx, Ok(nil)))
		require.Equal(t, perCoroutine(t, events[:failAt]), perCoroutine(t, eventsOf(t, kept)))
		require.Equal(t, perCoroutine(t, events[:failAt]), perCoroutine(t, j.Events()))

		_, err = execute(ctx, kept, Options{}, stubborn(&world{}, &none))
		require.NoError(t, err)
		require.Equal(t, events, eventsOf(t, kept), "the next run resumes there")
	}
}

func TestDivergence(t *testing.T) { // R4
	w := &world{}
	original := func(ctx context.Context, c *Coroutine) (any, error) {
		if _, err := w.effect(ctx, c, "a"); err != nil {
			return nil, err
		}
		if _, err := all(ctx, c, w.sequence("c0", "c1"), w.sequence("d0")); err != nil {
			return nil, err
		}
		return w.effect(ctx, c, "b")
	}
	boom := errors.New("boom")
	fails := func(context.Context, *Coroutine) (any, error) { return nil, boom }
	returns := func(context.Context, *Coroutine) (any, error) { return "early", nil }
	then := func(name string, next program) program {
		return func(ctx context.Context, c *Coroutine) (any, error) {
			if _, err := w.effect(ctx, c, name); err != nil {
				return nil, err
			}
			return next(ctx, c)
		}
	}
	skipsAll := then("a", w.sequence("b"))

	for _, c := range []struct {
		name    string
		drop    int // events cut off the end of the history
		edited  program
		want    DivergenceError
		message string
	}{
		{"another name", 1, w.sequence("other"),
			DivergenceError{Kind: Mismatch, Coroutine: "root", Expected: Identity{"test", "a"}, Got: Identity{"test", "other"}, Total: 2},
			`at position 0: expected test("a"), got test("other")`},
		{"another child", 1, then("a", func(ctx context.Context, c *Coroutine) (any, error) {
			c.Child()
			return nil, errors.Join(c.Child().performed(ctx, "zzz"))
		}),
			DivergenceError{Kind: Mismatch, Coroutine: "root.1", Expected: Identity{"test", "d0"}, Got: Identity{"test", "zzz"}, Total: 1},
			`coroutine root.1 at position 0: expected test("d0"), got test("zzz")`},
		{"returns first", 1, returns,
			DivergenceError{Kind: EarlyReturn, Coroutine: "root", Total: 2}, "returned after 0 of 2 recorded effects"},
		{"returns midway", 1, then("a", returns),
			DivergenceError{Kind: EarlyReturn, Coroutine: "root", Position: 1, Consumed: 1, Total: 2}, "returned after 1 of 2 recorded effects"},
		{"leaves children unclaimed", 1, skipsAll,
			DivergenceError{Kind: EarlyReturn, Coroutine: "root", Position: 2, Consumed: 2, Total: 2}, "returned after 2 of 2 recorded effects"},
		{"fails first", 1, then("a", fails),
			DivergenceError{Kind: EarlyFailure, Coroutine: "root", Position: 1, Consumed: 1, Total: 2}, "failed after 1 of 2 recorded effects: boom"},
		{"goes on past a close", 0, func(ctx context.Context, c *Coroutine) (any, error) {
			_, err := then("a", func(ctx context.Context, c *Coroutine) (any, error) {
				_, err := all(ctx, c, w.sequence("c0", "c1"), w.sequence("d0"))
				return nil, err
			})(ctx, c)
			if err != nil {
				return nil, err
			}
			return w.sequence("b", "more")(ctx, c)
		},
			DivergenceError{Kind: PastClose, Coroutine: "root", Position: 2, Got: Identity{"test", "more"}, Consumed: 2, Total: 2},
			`goes on with test("more") after its recorded end, which follows 2 effects`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.performed = nil
			stream := NewMemory()
			_, err := execute(ctx, stream, Options{}, original)
			require.NoError(t, err)
			golden := eventsOf(t, stream)
			history := golden[:len(golden)-c.drop]
			kept := NewMemory(history...)
			w.performed = nil

			j, err := Open(ctx, kept, Options{})
			require.NoError(t, err)
			v, err := c.edited(ctx, j.Root())
			if err == nil || !IsDurability(err) {
				result := Ok(v)
				if err != nil {
					result = Err(err)
				}
				err = j.Root().Close(ctx, result)
			}
			var diverged *DivergenceError
			require.ErrorAs(t, err, &diverged)
			require.ErrorContains(t, err, c.message)
			require.True(t, IsDurability(err))
			if c.want.Kind == EarlyFailure {
				require.EqualError(t, diverged.Cause, "boom")
				diverged.Cause = nil
			}
			require.Equal(t, c.want, *diverged)
			require.Zero(t, w.count())

			_, err = w.effect(ctx, j.Root(), "a")
			require.Same(t, diverged, err, "the error stays")
			require.Same(t, diverged, j.Root().Close(ctx, Ok(nil)))
			require.Equal(t, history, eventsOf(t, kept), "nothing is appended")
			_, err = execute(ctx, kept, Options{}, original)
			require.NoError(t, err, "a compatible definition still continues")
		})
	}
}

func (c *Coroutine) performed(ctx context.Context, name string) error {
	_, err := (&world{}).effect(ctx, c, name)
	return err
}

func TestAChildCancelledBeforeItsHistoryEndedDiverges(t *testing.T) { // R4
	w := &world{}
	stream := NewMemory()
	j, err := Open(ctx, stream, Options{})
	require.NoError(t, err)
	child := j.Root().Child()
	_, err = w.sequence("a", "b")(ctx, child)
	require.NoError(t, err)

	j, err = Open(ctx, stream, Options{})
	require.NoError(t, err)
	child = j.Root().Child()
	_, err = w.effect(ctx, child, "a")
	require.NoError(t, err)
	err = child.Close(ctx, Cancelled())
	var diverged *DivergenceError
	require.ErrorAs(t, err, &diverged)
	require.Equal(t, DivergenceError{Kind: ChildCancelledEarly, Coroutine: "root.0", Position: 1, Consumed: 1, Total: 2}, *diverged)
	require.ErrorContains(t, err, "was cancelled after 1 of 2 recorded effects")
}

func TestNamesInMessagesAreBoundedAndEscaped(t *testing.T) {
	got := Identity{"exec", "a\x1b[2J\n\u202e" + strings.Repeat("ä", 200)}.String()
	require.Less(t, len(got), 250)
	require.True(t, strings.HasPrefix(got, `exec("a\x1b[2J\n\u202eä`), got)
	require.True(t, strings.HasSuffix(got, `ä…")`), got)
}

func TestAncestryGoesBySegment(t *testing.T) { // R5
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"root", "root", true},
		{"root", "root.0", true},
		{"root", "root.1.0", true},
		{"root.1", "root.1", true},
		{"root.1", "root.1.0", true},
		{"root.1", "root.10", false},
		{"root.1", "root.10.1", false},
		{"root.1", "root", false},
		{"root.1.0", "root.1", false},
		{"root.1", "root.2", false},
		{"root", "rooted", false},
	} {
		require.Equal(t, c.want, Encloses(c.a, c.b), "%s encloses %s", c.a, c.b)
	}

	event := func(id string, result Result, name string) Event {
		e := Event{Type: TypeClose, CoroutineID: id, Result: result}
		if name != "" {
			e.Type, e.Description = TypeYield, value.Of("type", "test", "name", name)
		}
		return e
	}
	stream := NewMemory(event("root.10", Ok(nil), "ten"), event("root.1", Ok(nil), "one"))
	j, err := Open(ctx, stream, Options{})
	require.NoError(t, err)
	j.Root().Child()
	one := j.Root().Child()
	require.NoError(t, one.performed(ctx, "one"))
	require.NoError(t, one.Close(ctx, Ok(nil)), "what root.10 still has to replay is not beneath root.1")
}

func TestSchedulingDoesNotShow(t *testing.T) { // R6
	var want map[string][]string
	var wantValue any
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 0))
		var mu sync.Mutex
		dawdle := func() {
			mu.Lock()
			n := random.IntN(4)
			mu.Unlock()
			for range n {
				runtime.Gosched()
			}
		}
		w := &world{}
		slow := func(names ...string) program {
			return func(ctx context.Context, c *Coroutine) (any, error) {
				for _, name := range names {
					dawdle()
					if _, err := w.effect(ctx, c, name); err != nil {
						return nil, err
					}
				}
				return c.ID(), nil
			}
		}
		stream := NewMemory()
		got, err := execute(ctx, stream, Options{}, func(ctx context.Context, c *Coroutine) (any, error) {
			one, err := all(ctx, c, slow("a", "b"), func(ctx context.Context, c *Coroutine) (any, error) {
				return all(ctx, c, slow("c"), slow("d", "e"))
			}, slow())
			if err != nil {
				return nil, err
			}
			two, err := all(ctx, c, slow("f"), slow("g", "h"))
			return []any{one, two}, err
		})
		require.NoError(t, err)
		events := perCoroutine(t, eventsOf(t, stream))
		if want == nil {
			want, wantValue = events, got
			require.Contains(t, events, "root.1.1")
			require.Contains(t, events, "root.4")
			continue
		}
		require.Equal(t, want, events, "seed %d", seed)
		require.Equal(t, wantValue, got, "seed %d", seed)
	}
}

func TestACancelledSiblingIsCancelledAgain(t *testing.T) { // R7
	boom := errors.New("boom")
	fresh := func() (*world, program) {
		w := &world{}
		waiting := make(chan struct{})
		patient := func(ctx context.Context, c *Coroutine) (any, error) {
			if _, err := w.effect(ctx, c, "begun"); err != nil {
				return nil, err
			}
			_, err := w.perform(ctx, c, "waits", func(ctx context.Context) (any, error) {
				close(waiting)
				<-ctx.Done()
				return nil, ctx.Err()
			})
			return nil, err
		}
		failing := func(ctx context.Context, c *Coroutine) (any, error) {
			_, err := w.perform(ctx, c, "fails", func(ctx context.Context) (any, error) {
				<-waiting
				return nil, boom
			})
			return nil, err
		}
		return w, func(ctx context.Context, c *Coroutine) (any, error) { return all(ctx, c, patient, failing) }
	}
	stream := NewMemory()
	_, p := fresh()
	_, err := execute(ctx, stream, Options{}, p)
	require.ErrorIs(t, err, boom, "the live failure is the program's own error")
	golden := eventsOf(t, stream)
	lines := perCoroutine(t, golden)
	require.Len(t, lines["root.0"], 2)
	require.Contains(t, lines["root.0"][1], `"status":"cancelled"`)
	require.Contains(t, lines["root.1"][1], `"status":"err"`)

	for cut := range len(golden) + 1 {
		w, p := fresh()
		stream := NewMemory(golden[:cut:cut]...)
		_, err := execute(ctx, stream, Options{}, p)
		require.EqualError(t, err, "boom", "cut %d", cut)
		require.Equal(t, lines, perCoroutine(t, eventsOf(t, stream)), "cut %d", cut)
		require.Equal(t, yields(golden[cut:]), w.count(), "cut %d", cut)
	}
}

func TestGuards(t *testing.T) { // R9
	stream := NewMemory()
	w := &world{}
	_, err := w.effect(ctx, mustOpen(t, stream, Options{}).Root(), "a")
	require.NoError(t, err)

	vandal := func(e Event) {
		e.Description.Set("name", "b")
		e.Result.Value.(*value.Object).Set("did", "nothing")
	}
	j := mustOpen(t, stream, Options{Check: func(_ context.Context, e Event) error { vandal(e); return nil }})
	v, err := j.Root().Perform(ctx, Description{Type: "test", Name: "a", Guard: func(e Event) error { vandal(e); return nil }}, nil)
	require.NoError(t, err)
	require.True(t, value.Equal(value.Of("did", "a"), v))
	v.(*value.Object).Set("did", "later")
	for _, e := range j.Events() {
		vandal(e)
	}
	require.True(t, value.Equal(value.Of("did", "a"), j.Events()[0].Result.Value), "what was handed out is not what is kept")

	moved := errors.New("the question is another")
	j = mustOpen(t, stream, Options{})
	_, err = j.Root().Perform(ctx, Description{Type: "test", Name: "a", Guard: func(Event) error { return moved }}, nil)
	var stale *StaleInputError
	require.ErrorAs(t, err, &stale)
	require.ErrorIs(t, err, moved)
	require.Equal(t, Identity{"test", "a"}, stale.Effect)
	require.Same(t, stale, j.Err())
	require.Zero(t, j.Root().Position())

	_, err = Open(ctx, stream, Options{Check: func(context.Context, Event) error { return moved }})
	require.ErrorAs(t, err, &stale)
	require.ErrorIs(t, err, moved)
}

func mustOpen(t testing.TB, s Stream, o Options) *Journal {
	j, err := Open(ctx, s, o)
	require.NoError(t, err)
	return j
}

func TestARecordIsDurableBeforeTheProgramGoesOn(t *testing.T) {
	stream := NewMemory()
	var observed []string
	j := mustOpen(t, stream, Options{Observe: func(e Event) {
		observed = append(observed, e.identity().Name)
		if e.Type == TypeYield {
			e.Description.Set("name", "changed")
		}
	}})
	root := j.Root()
	for i, name := range []string{"a", "b"} {
		require.Equal(t, i, root.Position())
		_, err := root.Perform(ctx, Description{Type: "test", Name: name}, func(context.Context) (any, error) {
			require.Len(t, eventsOf(t, stream), i, "nothing marks a start")
			return name, nil
		})
		require.NoError(t, err)
		require.Len(t, eventsOf(t, stream), i+1)
	}
	require.NoError(t, root.Close(ctx, Ok(nil)))
	require.Equal(t, []string{"a", "b", ""}, observed)
	require.Equal(t, []string{"a", "b"}, []string{j.Events()[0].identity().Name, j.Events()[1].identity().Name})
	require.Error(t, root.Close(ctx, Ok(nil)), "a coroutine ends once")
	require.Error(t, root.performed(ctx, "late"))
	require.Len(t, j.Events(), 3)
}

func TestCancelledWorkRecordsNothing(t *testing.T) {
	stopped := errors.New("stopped")
	for _, c := range []struct {
		name string
		live func(cancel func(error)) (any, error)
	}{
		{"before it fails", func(cancel func(error)) (any, error) { cancel(stopped); return nil, context.Canceled }},
		{"before it succeeds", func(cancel func(error)) (any, error) { cancel(stopped); return 1.0, nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			stream := NewMemory()
			root := mustOpen(t, stream, Options{}).Root()
			ctx, cancel := context.WithCancelCause(ctx)
			_, err := root.Perform(ctx, Description{Type: "t", Name: "n"}, func(context.Context) (any, error) { return c.live(cancel) })
			require.ErrorIs(t, err, stopped)
			_, err = root.Perform(ctx, Description{Type: "t", Name: "n"}, func(context.Context) (any, error) {
				t.Error("performed after the end of its context")
				return nil, nil
			})
			require.ErrorIs(t, err, stopped)
			require.Empty(t, eventsOf(t, stream))
			require.Zero(t, root.Position())
			require.NoError(t, root.Close(ctx, Cancelled()), "to be cancelled is an end to record")
			require.Len(t, eventsOf(t, stream), 1)
		})
	}
}

func TestAForeignCancellationIsAFailure(t *testing.T) {
	stream := NewMemory()
	root := mustOpen(t, stream, Options{}).Root()
	_, err := root.Perform(ctx, Description{Type: "t", Name: "n"}, func(context.Context) (any, error) { return nil, context.DeadlineExceeded })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, StatusErr, eventsOf(t, stream)[0].Result.Status)
}

type codedError struct{ code string }

func (e codedError) Error() string { return "coded \xff" }
func (e codedError) Name() string  { return e.code }

func TestFailuresKeepMessageAndName(t *testing.T) {
	stream := NewMemory()
	root := mustOpen(t, stream, Options{}).Root()
	original := fmt.Errorf("around: %w", codedError{"not-found"})
	_, err := root.Perform(ctx, Description{Type: "t", Name: "n"}, func(context.Context) (any, error) { return "dropped", original })
	require.Same(t, original, err, "the live path returns the original")
	_, err = root.Perform(ctx, Description{Type: "t", Name: "n"}, func(context.Context) (any, error) { return nil, fs.ErrNotExist })
	require.Equal(t, fs.ErrNotExist, err)

	root = mustOpen(t, stream, Options{}).Root()
	_, err = root.Perform(ctx, Description{Type: "t", Name: "n"}, nil)
	var recorded *RecordedError
	require.ErrorAs(t, err, &recorded)
	require.Equal(t, Failure{Message: "around: coded \ufffd", Name: "not-found"}, recorded.Failure)
	require.False(t, IsDurability(err))
	require.Equal(t, recorded.Failure, *Err(err).Error, "recording it again keeps it")
	_, err = root.Perform(ctx, Description{Type: "t", Name: "n"}, nil)
	require.EqualError(t, err, fs.ErrNotExist.Error())
}

func TestLiveAndReplayedValuesAreTheSame(t *testing.T) {
	stream := NewMemory()
	for _, v := range []any{nil, true, 1.5, "x\xff", []any{value.Undefined{}, "y"}, value.Of("gone", value.Undefined{}, "kept", nil), value.Undefined{}} {
		root := mustOpen(t, stream, Options{}).Root()
		for root.Replaying() {
			_, err := root.Perform(ctx, Description{Type: "t", Name: "n"}, nil)
			require.NoError(t, err)
		}
		live, err := root.Perform(ctx, Description{Type: "t", Name: "n"}, func(context.Context) (any, error) { return v, nil })
		require.NoError(t, err)

		events := eventsOf(t, stream)
		line, err := AppendLine(nil, events[len(events)-1])
		require.NoError(t, err)
		parsed, err := ParseLine(line)
		require.NoError(t, err)
		replayed, err := mustOpen(t, NewMemory(parsed), Options{}).Root().Perform(ctx, Description{Type: "t", Name: "n"}, nil)
		require.NoError(t, err)
		require.Equal(t, live, replayed)
	}
}

func TestAnEffectThatCannotBeRecordedFailsAlone(t *testing.T) {
	stream := NewMemory()
	j := mustOpen(t, stream, Options{})
	for _, v := range []any{7, []any{func() {}}} {
		_, err := j.Root().Perform(ctx, Description{Type: "t", Name: "n"}, func(context.Context) (any, error) { return v, nil })
		require.ErrorContains(t, err, `the result of t("n") cannot be recorded`)
	}
	_, err := j.Root().Perform(ctx, Description{Type: "t", Name: "n", Members: []Member{{"input", 7}}}, func(context.Context) (any, error) {
		t.Error("performed without a description")
		return nil, nil
	})
	require.ErrorContains(t, err, `the description of t("n") cannot be recorded`)
	_, err = j.Root().Perform(ctx, Description{Type: "t", Name: "n"}, func(context.Context) (any, error) { return strings.Repeat("x", MaxRecord), nil })
	require.ErrorIs(t, err, ErrRecordSize)
	require.NoError(t, j.Err())
	require.Empty(t, eventsOf(t, stream))
	require.NoError(t, j.Root().performed(ctx, "after"))
}

func TestRecordedClosesAnswerForTheirSubtree(t *testing.T) {
	w := &world{}
	stream := NewMemory()
	_, err := execute(ctx, stream, Options{}, w.document)
	require.NoError(t, err)
	events := eventsOf(t, stream)
	open := mustOpen(t, NewMemory(events[:len(events)-1]...), Options{})
	require.True(t, open.Root().Replaying())
	_, ok := open.Root().Recorded()
	require.False(t, ok)
	inner := open.Root().Child()
	r, ok := inner.Recorded()
	require.True(t, ok)
	r.Value.(*value.Object).Set("did", "changed")
	again, _ := inner.Recorded()
	require.True(t, value.Equal(value.Of("did", "b"), again.Value), "results are handed out as copies")
	require.NoError(t, inner.Close(ctx, Ok("other")), "a recorded close is not written again")
	require.Len(t, open.Events(), len(events)-1)
}

func TestDamagedHistoriesAreRefused(t *testing.T) {
	yield := func(id string) Event { e := sampleEvent(); e.CoroutineID = id; return e }
	end := func(id string) Event { return Event{Type: TypeClose, CoroutineID: id, Result: Ok(nil)} }
	for name, events := range map[string][]Event{
		"malformed":             {{Type: "start"}},
		"second close":          {end("root.0"), end("root.0")},
		"effect after close":    {end("root.0"), yield("root.0")},
		"child after ancestor":  {end("root.0"), yield("root.0.1.2")},
		"anything after root":   {yield("root"), end("root"), yield("root.3")},
		"position of two files": {yieldWith(value.Of("path", "a", "generatedSource", "b", "offset", 0.0, "line", 1.0, "column", 1.0))},
	} {
		_, err := Open(ctx, NewMemory(events...), Options{})
		var malformed *MalformedError
		require.ErrorAs(t, err, &malformed, name)
		require.ErrorContains(t, err, fmt.Sprintf("event %d of the history", len(events)), name)
	}
	_, err := Open(ctx, brokenStream{}, Options{})
	var unkept *PersistenceError
	require.ErrorAs(t, err, &unkept)
	require.ErrorIs(t, err, errDisk)
}

func yieldWith(position any) Event {
	e := sampleEvent().Clone()
	e.Description.Set(MemberPosition, position)
	return e
}

type brokenStream struct{}

func (brokenStream) Load(context.Context) ([]Event, error) { return nil, errDisk }
func (brokenStream) Append(context.Context, Event) error   { return errDisk }
