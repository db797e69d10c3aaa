package workflow

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/internal/workspace"
)

// A memory is a store for tests. clone is what another process finds of it after the
// first was killed.
type memory struct {
	mu      sync.Mutex
	runs    map[string]*Snapshot
	held    map[string]bool
	events  int
	limit   int // appends that succeed; 0: all
	appends int
	objects *workspace.Memory // of all runs, and shared by clones
	settles error             // what every settlement answers
}

func newMemory() *memory {
	return &memory{runs: map[string]*Snapshot{}, held: map[string]bool{}, objects: workspace.NewMemory()}
}

func (m *memory) clone() *memory {
	n := newMemory()
	n.events, n.objects = m.events, m.objects
	for id, s := range m.runs {
		n.runs[id] = ptr(copySnapshot(*s))
	}
	return n
}

func ptr[T any](v T) *T { return &v }

func copySnapshot(s Snapshot) Snapshot {
	s.Executions, s.Events, s.Answers, s.Sources = slices.Clone(s.Executions), slices.Clone(s.Events), slices.Clone(s.Answers), slices.Clone(s.Sources)
	return s
}

// shape is a run as text, without what names its events.
func (m *memory) shape(id string) string {
	var b strings.Builder
	s := m.runs[id]
	fmt.Fprintln(&b, s.Status)
	for _, e := range s.Events {
		line, _ := journal.AppendLine(nil, e.Event)
		b.Write(line)
	}
	return b.String()
}

func missing(id string) error {
	return &StoreError{Condition: NotFound, Run: id, Message: "there is no run " + id}
}

func (m *memory) Create(_ context.Context, id Identity, sources []Source) (Executor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs[id.ID] != nil {
		return nil, &StoreError{Condition: Conflict, Run: id.ID, Message: "exists"}
	}
	now := time.Unix(0, 0)
	m.runs[id.ID] = &Snapshot{
		Record: Record{Identity: id, Status: Running, Epoch: 1, Created: now, Updated: now}, Sources: sources,
		Executions: []Execution{{ID: "x1", Epoch: 1, Started: now}}, Root: workspace.EmptyRoot,
	}
	m.held[id.ID] = true
	return &memoryExecutor{m: m, id: id.ID}, nil
}

func (m *memory) Acquire(_ context.Context, id string) (Executor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.runs[id] == nil:
		return nil, missing(id)
	case m.held[id]:
		return nil, &StoreError{Condition: Live, Run: id, Message: "the run is in use"}
	}
	m.held[id] = true
	return &memoryExecutor{m: m, id: id}, nil
}

func (m *memory) Inspect(_ context.Context, id string, _ bool) (Snapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs[id] == nil {
		return Snapshot{}, missing(id)
	}
	return copySnapshot(*m.runs[id]), nil
}

func (m *memory) List(context.Context) ([]Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Record
	for _, id := range slices.Sorted(maps.Keys(m.runs)) {
		all = append(all, m.runs[id].Record)
	}
	return all, nil
}

func (m *memory) Deliver(_ context.Context, id string, a Answer, judge func(Snapshot) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.runs[id]
	if err := judge(copySnapshot(*s)); err != nil {
		return err
	}
	a.Value = value.Clone(a.Value)
	s.Answers = append(s.Answers, a)
	return nil
}

func (m *memory) Delete(_ context.Context, id string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs[id] == nil {
		return nil, missing(id)
	}
	delete(m.runs, id)
	return []string{"run-storage"}, nil
}

type memoryExecutor struct {
	m        *memory
	id       string
	released bool
}

func (x *memoryExecutor) with(body func(s *Snapshot) error) error {
	x.m.mu.Lock()
	defer x.m.mu.Unlock()
	return body(x.m.runs[x.id])
}

func (x *memoryExecutor) Snapshot(ctx context.Context) (Snapshot, error) {
	return x.m.Inspect(ctx, x.id, false)
}

func (x *memoryExecutor) end(s *Snapshot, status Status, reason Reason) error {
	last := &s.Executions[len(s.Executions)-1]
	if !last.Stopped.IsZero() {
		return fmt.Errorf("no execution is open")
	}
	last.Stopped, last.Status, last.Reason = time.Unix(1, 0), status, reason
	s.Status, s.Reason = status, reason
	return nil
}

func (x *memoryExecutor) Reconcile(_ context.Context, status Status, reason Reason) error {
	return x.with(func(s *Snapshot) error { return x.end(s, status, reason) })
}

func (x *memoryExecutor) Begin(_ context.Context, replay bool) error {
	return x.with(func(s *Snapshot) error {
		if last := s.Executions[len(s.Executions)-1]; last.Stopped.IsZero() {
			return fmt.Errorf("an execution is open")
		}
		s.Epoch++
		s.Executions = append(s.Executions, Execution{ID: fmt.Sprint("x", s.Epoch), Epoch: s.Epoch, Started: time.Unix(2, 0)})
		if !replay {
			s.Status, s.Reason = Running, Reason{}
		}
		return nil
	})
}

func (x *memoryExecutor) append(s *Snapshot, e journal.Event) (StoredEvent, error) {
	if x.m.appends++; x.m.limit > 0 && x.m.appends > x.m.limit {
		return StoredEvent{}, fmt.Errorf("the disk is full")
	}
	x.m.events++
	stored := StoredEvent{ID: fmt.Sprintf("event-%d", x.m.events), Event: e.Clone(), Root: s.Root}
	s.Events = append(s.Events, stored)
	return stored, nil
}

func (x *memoryExecutor) Append(_ context.Context, e journal.Event) (stored StoredEvent, err error) {
	err = x.with(func(s *Snapshot) error { stored, err = x.append(s, e); return err })
	return stored, err
}

func (x *memoryExecutor) Transact(_ context.Context, body func(Tx) (*journal.Event, error)) (stored StoredEvent, err error) {
	err = x.with(func(s *Snapshot) error {
		before := copySnapshot(*s)
		e, err := body(memoryTx{x.m, s})
		if err == nil && e != nil {
			stored, err = x.append(s, *e)
		}
		if err != nil {
			*s = before
		}
		return err
	})
	return stored, err
}

func (x *memoryExecutor) Settle(_ context.Context, status Status, reason Reason) error {
	if x.m.settles != nil {
		return x.m.settles
	}
	return x.with(func(s *Snapshot) error { return x.end(s, status, reason) })
}

func (x *memoryExecutor) Release() error {
	x.m.mu.Lock()
	defer x.m.mu.Unlock()
	if !x.released {
		x.released, x.m.held[x.id] = true, false
	}
	return nil
}

type memoryTx struct {
	m *memory
	s *Snapshot
}

func (t memoryTx) Root() string              { return t.s.Root }
func (t memoryTx) SetRoot(root string) error { t.s.Root = root; return nil }
func (t memoryTx) Object(hash string) (string, []byte, error) {
	return t.m.objects.Object(hash)
}
func (t memoryTx) PutObject(hash, kind string, data []byte) error {
	return t.m.objects.PutObject(hash, kind, data)
}
func (t memoryTx) Consume(id, request string) (Answer, bool, error) {
	for i := range t.s.Answers {
		if a := &t.s.Answers[i]; a.Suspension == id && a.Request == request && !a.Consumed {
			a.Consumed = true
			return *a, true, nil
		}
	}
	return Answer{}, false, nil
}
