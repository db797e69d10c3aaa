package acp

import (
	"context"
	"slices"
	"sync"
)

// A queue hands one slot to one holder at a time, in the order they came. The zero
// value is ready.
type queue struct {
	mu      sync.Mutex
	held    bool
	waiters []chan struct{}
}

// acquire waits for the slot. It fails with the cause of ctx, and then leaves the
// others as they were.
func (q *queue) acquire(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	q.mu.Lock()
	if !q.held {
		q.held = true
		q.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	q.waiters = append(q.waiters, turn)
	q.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	i := slices.Index(q.waiters, turn)
	if i >= 0 {
		q.waiters = slices.Delete(q.waiters, i, i+1)
	}
	q.mu.Unlock()
	if i < 0 { // it was handed over meanwhile
		q.release()
	}
	return context.Cause(ctx)
}

// release hands the slot to the next waiter.
func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiters) == 0 {
		q.held = false
		return
	}
	close(q.waiters[0])
	q.waiters = slices.Delete(q.waiters, 0, 1)
}

// A mailbox is an unbounded list with one reader. ready has a value when it may hold
// something.
type mailbox[T any] struct {
	mu    sync.Mutex
	items []T
	ready chan struct{}
}

func newMailbox[T any]() *mailbox[T] { return &mailbox[T]{ready: make(chan struct{}, 1)} }

func (m *mailbox[T]) put(item T) {
	m.mu.Lock()
	m.items = append(m.items, item)
	m.mu.Unlock()
	signal(m.ready)
}

func (m *mailbox[T]) take() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	items := m.items
	m.items = nil
	return items
}
