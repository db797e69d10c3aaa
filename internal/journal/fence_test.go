package journal

import (
	"context"
	"errors"
	"runtime"
	"testing"

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
