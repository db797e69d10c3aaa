package journal

import (
	"container/list"
	"context"
	"sync"
)

// A fence admits one holder at a time, first come first served. Unlike a mutex
// it can be waited for with a context: a waiter whose context ends leaves the
// queue without a trace. The zero fence is free.
type fence struct {
	mu    sync.Mutex
	held  bool
	queue list.List // of chan struct{}, closed when the turn has come
}

// acquire returns nil when the caller holds the fence, and otherwise why ctx
// ended.
func (f *fence) acquire(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f.mu.Lock()
	if !f.held {
		f.held = true
		f.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	place := f.queue.PushBack(turn)
	f.mu.Unlock()

	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-turn: // the turn came while the context ended: pass it on
		f.next()
	default:
		f.queue.Remove(place)
	}
	return context.Cause(ctx)
}

// release passes the fence to the longest waiter.
func (f *fence) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next()
}

func (f *fence) next() {
	first := f.queue.Front()
	if first == nil {
		f.held = false
		return
	}
	close(f.queue.Remove(first).(chan struct{}))
}
