package journal

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// enqueue starts a waiter and returns once it stands in the queue.
func enqueue(ctx context.Context, f *fence) <-chan error {
	length := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.queue.Len()
	}
	before := length()
	done := make(chan error, 1)
	go func() { done <- f.acquire(ctx) }()
	for length() == before {
		runtime.Gosched()
	}
	return done
}

func TestFenceServesInOrderOfArrival(t *testing.T) {
	var f fence
	ctx := context.Background()
	require.NoError(t, f.acquire(ctx))
	var waiters []<-chan error
	for range 5 {
		waiters = append(waiters, enqueue(ctx, &f))
	}
	for i, w := range waiters {
		for _, later := range waiters[i:] {
			require.Empty(t, later)
		}
		f.release()
		require.NoError(t, <-w)
	}
	f.release()
	require.NoError(t, f.acquire(ctx), "free again")
}

func TestACancelledWaiterLeavesNoTrace(t *testing.T) {
	var f fence
	stopped := errors.New("stopped")
	require.NoError(t, f.acquire(context.Background()))
	ctx, cancel := context.WithCancelCause(context.Background())
	cancelled := enqueue(ctx, &f)
	patient := enqueue(context.Background(), &f)
	cancel(stopped)
	require.ErrorIs(t, <-cancelled, stopped)
	f.release()
	require.NoError(t, <-patient)
	f.release()
	require.ErrorIs(t, f.acquire(ctx), stopped, "a context that has ended takes no turn")
	require.False(t, f.held)
	require.Zero(t, f.queue.Len())
}

// A leavingContext ends in the moment it is waited for, and has leave called
// just before.
type leavingContext struct {
	context.Context
	leave func()
}

func (c leavingContext) Done() <-chan struct{} {
	c.leave()
	return c.Context.Done()
}

// A turn that comes while the context ends is taken or passed on. Which of the
// two is a matter of luck, so it is tried until both have been seen, and the
// fence is where it belongs each time.
func TestATurnThatComesTooLateIsPassedOn(t *testing.T) {
	for _, behind := range []bool{false, true} {
		taken, passed := 0, 0
		for range 100 {
			var f fence
			require.NoError(t, f.acquire(context.Background()))
			ended, cancel := context.WithCancel(context.Background())
			var next <-chan error
			err := f.acquire(leavingContext{ended, func() {
				if behind {
					next = enqueue(context.Background(), &f)
				}
				f.release()
				cancel()
			}})
			if err == nil {
				taken++
				f.release()
			} else {
				passed++
				require.ErrorIs(t, err, context.Canceled)
			}
			require.Equal(t, behind, f.held, "the fence is lost")
			require.Zero(t, f.queue.Len())
			if behind {
				require.NoError(t, <-next)
			}
		}
		require.NotZero(t, taken)
		require.NotZero(t, passed)
	}
}

// Whichever comes first, the turn or the end of the context, the fence is never
// lost.
func TestFenceHammer(t *testing.T) {
	var f fence
	counter := 0
	done := make(chan struct{})
	const workers, rounds = 8, 200
	for range workers {
		go func() {
			defer func() { done <- struct{}{} }()
			for range rounds {
				ctx, cancel := context.WithCancel(context.Background())
				go cancel()
				if f.acquire(ctx) == nil {
					counter++
					f.release()
				}
			}
		}()
	}
	for range workers {
		<-done
	}
	require.NoError(t, f.acquire(context.Background()))
	require.LessOrEqual(t, counter, workers*rounds)
}

// A gatedStream fails each append once its gate is opened.
type gatedStream struct {
	Stream
	gate     chan struct{}
	attempts int
}

func (s *gatedStream) Append(context.Context, Event) error {
	s.attempts++
	<-s.gate
	return errDisk
}

// Whoever waits for the fence while the append before it fails finds the
// execution stopped, and does not append: neither an effect nor a close.
func TestWhoWaitedBehindAFailedAppendDoesNotAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stream := &gatedStream{Stream: NewMemory(), gate: make(chan struct{})}
		j := mustOpen(t, stream, Options{})
		first, second, third := j.Root().Child(), j.Root().Child(), j.Root().Child()
		outcomes := make(chan error, 3)
		begin := func(f func() error) {
			go func() { outcomes <- f() }()
			synctest.Wait()
		}
		begin(func() error { return first.performed(ctx, "fails") })
		begin(func() error { return second.performed(ctx, "waits") })
		begin(func() error { return third.Close(ctx, Ok(nil)) })
		require.Empty(t, outcomes)
		require.Equal(t, 1, stream.attempts)

		close(stream.gate)
		for range 3 {
			err := <-outcomes
			require.ErrorIs(t, err, errDisk)
			require.Same(t, j.Err(), err)
		}
		require.Equal(t, 1, stream.attempts)
	})
}

// A cancellingStream has the caller's context ended during each append, and
// gives up when its own has.
type cancellingStream struct {
	Stream
	cancel context.CancelFunc
}

func (s cancellingStream) Append(ctx context.Context, e Event) error {
	s.cancel()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.Stream.Append(ctx, e)
}

func TestAnAppendThatBeganIsNotAbandoned(t *testing.T) {
	kept := NewMemory()
	ctx, cancel := context.WithCancel(ctx)
	j := mustOpen(t, cancellingStream{kept, cancel}, Options{})
	require.NoError(t, j.Root().performed(ctx, "a"))
	require.Error(t, ctx.Err())
	require.Equal(t, 1, j.Root().Position())
	require.NoError(t, j.Root().Close(ctx, Cancelled()))
	require.NoError(t, j.Err())
	require.Len(t, eventsOf(t, kept), 2)
}
