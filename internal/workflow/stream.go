package workflow

import (
	"context"
	"errors"
	"sync"

	"github.com/executable-markdown/xmd/internal/journal"
)

// errStopped is why a run that waits appends nothing: it reached a question nobody has
// answered, and everything else of it is being taken down.
var errStopped = errors.New("the run waits for an answer")

// A stream is the history of a run for the journal, kept by the run's executor. Once the
// run is stopped to wait it refuses every event, so that no coroutine closes (workflow 25).
type stream struct {
	exec Executor
	id   string
	p    *Program

	turn     sync.Mutex    // of the executor
	mutating chan struct{} // of who changes the Workspace, until that is recorded

	mu       sync.Mutex
	stored   []StoredEvent
	requests map[string]string // event of a request, by suspension
	pending  map[string]Answer
	waiting  string // the suspension the run stopped for
}

func newStream(exec Executor, s Snapshot, p *Program) *stream {
	st := &stream{exec: exec, id: s.ID, p: p, mutating: make(chan struct{}, 1), requests: map[string]string{}, pending: map[string]Answer{}}
	for _, e := range s.Events {
		st.keep(e)
	}
	for _, a := range s.Answers {
		if !a.Consumed {
			st.pending[a.Suspension] = a
		}
	}
	return st
}

func (s *stream) keep(e StoredEvent) {
	s.stored = append(s.stored, e)
	if isEffect(e.Event, effectRequest) {
		id, _ := e.Event.Description.String("name")
		s.requests[id] = e.ID
	}
}

// Load implements journal.Stream.
func (s *stream) Load(context.Context) ([]journal.Event, error) {
	events := plain(s.stored)
	return events, admit(s.id, s.p, events)
}

// Append implements journal.Stream. An answer is taken and recorded at once.
func (s *stream) Append(ctx context.Context, e journal.Event) error {
	s.mu.Lock()
	stopped := s.waiting != ""
	s.mu.Unlock()
	if stopped {
		return errStopped
	}
	var stored StoredEvent
	var err error
	s.turn.Lock()
	switch staged, changes := journal.Attached(ctx).(*stage); {
	case isEffect(e, effectAnswer):
		stored, err = s.take(ctx, e)
	case changes:
		stored, err = s.exec.Transact(ctx, func(tx Tx) (*journal.Event, error) { return &e, staged.commit(tx) })
	default:
		stored, err = s.exec.Append(ctx, e)
	}
	s.turn.Unlock()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(stored)
	return nil
}

func (s *stream) take(ctx context.Context, e journal.Event) (StoredEvent, error) {
	id, _ := e.Description.String("name")
	s.mu.Lock()
	request := s.requests[id]
	s.mu.Unlock()
	return s.exec.Transact(ctx, func(tx Tx) (*journal.Event, error) {
		_, ok, err := tx.Consume(id, request)
		if err == nil && !ok {
			err = errors.New("the answer is no longer there")
		}
		return &e, err
	})
}

// answered returns the answer that waits for a suspension's request.
func (s *stream) answered(id string) (Answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.pending[id]
	return a, ok && a.Request == s.requests[id]
}

// stop makes the run one that waits; the first suspension reached is the one.
func (s *stream) stop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == "" {
		s.waiting = id
	}
}

// stoppedFor returns the suspension a run waits for and its request, or nothing.
func (s *stream) stoppedFor() (id, request string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting, s.requests[s.waiting]
}

// events returns the history so far.
func (s *stream) events() []StoredEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored[:len(s.stored):len(s.stored)]
}
