package journal

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A script is a random program: each byte is one step. Children run one after
// the other, so that one history is one script.
type script []byte

func (s script) run(ctx context.Context, c *Coroutine, live func() error) (any, error) {
	for i := 0; i < len(s); i++ {
		step := s[i]
		if step%8 == 7 { // the next step%4 steps are a child's
			size := min(int(step/8%4), len(s)-i-1)
			child := c.Child()
			_, restored, err := child.Restore(ctx)
			if err != nil {
				return nil, err
			}
			if !restored {
				v, err := s[i+1:i+1+size].run(ctx, child, live)
				if IsDurability(err) {
					return nil, err
				}
				r := Ok(v)
				if err != nil {
					r = Err(err)
				}
				if err := child.Close(ctx, r); err != nil {
					return nil, err
				}
			}
			i += size
			continue
		}
		_, err := c.Perform(ctx, Description{Type: "t", Name: strconv.Itoa(int(step % 8))}, func(context.Context) (any, error) {
			if err := live(); err != nil {
				return nil, err
			}
			if step%8 == 6 {
				return nil, errors.New("six")
			}
			return float64(step), nil
		})
		if IsDurability(err) {
			return nil, err
		}
	}
	return "done", nil
}

func (s script) execute(stream Stream, live func() error) error {
	j, err := Open(ctx, stream, Options{})
	if err != nil {
		return err
	}
	if _, ok := j.Root().Recorded(); ok {
		return nil
	}
	v, err := s.run(ctx, j.Root(), live)
	if err == nil {
		err = j.Root().Close(ctx, Ok(v))
	}
	if (err == nil) == (j.Err() != nil) {
		return errors.New("the journal and the program disagree about the outcome")
	}
	return err
}

// FuzzReplay runs a random script, cuts its history anywhere, and continues it
// with the same script and with another one.
func FuzzReplay(f *testing.F) {
	f.Add([]byte{0, 1, 2, 6, 3}, []byte{0, 1, 5}, byte(3))
	f.Add([]byte{0, 31, 1, 2, 6, 15, 4, 3}, []byte{0, 23, 1, 2, 3}, byte(4))
	f.Add([]byte{31, 31, 31, 1, 7, 7, 2}, []byte{31, 31, 1, 1, 1}, byte(2))
	f.Add([]byte{}, []byte{1}, byte(0))
	f.Fuzz(func(t *testing.T, program, edited []byte, cut byte) {
		program, edited = program[:min(len(program), 64)], edited[:min(len(edited), 64)]
		whole := NewMemory()
		require.NoError(t, script(program).execute(whole, func() error { return nil }))
		golden := eventsOf(t, whole)
		kept := golden[:int(cut)%(len(golden)+1)]

		performed := 0
		count := func() error { performed++; return nil }
		same := NewMemory(kept...)
		require.NoError(t, script(program).execute(same, count))
		require.Equal(t, yields(golden[len(kept):]), performed)
		require.Equal(t, golden, eventsOf(t, same))

		appended := NewMemory(kept...)
		err := script(edited).execute(appended, func() error { return nil })
		if err != nil {
			var diverged *DivergenceError
			require.ErrorAs(t, err, &diverged)
			require.LessOrEqual(t, diverged.Consumed, diverged.Total)
		}
		_, err = index(eventsOf(t, appended))
		require.NoError(t, err, "what a continuation leaves is a history")
	})
}

func TestDeepAndWideHistoriesAreIndexed(t *testing.T) {
	deep := Event{Type: TypeClose, CoroutineID: "root" + strings.Repeat(".0", MaxNesting), Result: Ok(nil)}
	events := []Event{deep}
	for i := range 5000 {
		events = append(events, Event{Type: TypeClose, CoroutineID: "root." + strconv.Itoa(i+1), Result: Ok(nil)})
	}
	j := mustOpen(t, NewMemory(events...), Options{})
	err := j.Root().Close(ctx, Ok(nil))
	var diverged *DivergenceError
	require.ErrorAs(t, err, &diverged)
	require.Equal(t, EarlyReturn, diverged.Kind)
}

// However fast a child is restored, its recorded cancellation is no answer
// before its parent cancels.
func TestARecordedCancellationWaitsForTheParent(t *testing.T) { // R7
	history := Event{Type: TypeClose, CoroutineID: "root.0", Result: Cancelled()}
	synctest.Test(t, func(t *testing.T) {
		child := mustOpen(t, NewMemory(history), Options{}).Root().Child()
		stopped := errors.New("a sibling failed")
		ctx, cancel := context.WithCancelCause(ctx)
		answers := make(chan error, 1)
		var result Result
		restore := func() {
			r, ok, err := child.Restore(ctx)
			if ok {
				result = r
			}
			answers <- err
		}
		go restore()
		synctest.Wait()
		require.Empty(t, answers, "nobody has cancelled it")
		cancel(stopped)
		require.Equal(t, stopped, <-answers)
		require.Equal(t, Cancelled(), result)
		restore()
		require.Equal(t, stopped, <-answers, "an end that has come is not waited for")
	})
}
