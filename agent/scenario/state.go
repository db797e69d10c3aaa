package scenario

import (
	"context"
	"encoding/json"
	"io/fs"
	"sync"
)

// A State keeps the positions of sessions, and knows what a test has released. It is
// safe for concurrent use.
type State interface {
	// Load returns what was saved last under a name, or fs.ErrNotExist.
	Load(name string) ([]byte, error)
	// Save keeps text under a name; an observer sees the old text or the new one. The
	// name is a safe file name that begins with a dot.
	Save(name string, text []byte) error
	// Await returns when name has been released, or with the cause of the end of ctx.
	// The name is a safe file name that does not begin with a dot.
	Await(ctx context.Context, name string) error
}

// A position is where a session stands in its script, as a State keeps it
// (agents 22.4).
type position struct {
	ScenarioSHA256 string   `json:"scenarioSha256"`
	Session        string   `json:"session"`
	Stage          int      `json:"stage"` // how many were consumed
	Captures       bindings `json:"captures"`
	SessionID      string   `json:"sessionId"`
}

func readPosition(s State, name string) (position, error) {
	var p position
	text, err := s.Load(name)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	return p, err
}

// A Memory is a State that ends with the process. The zero value is ready.
type Memory struct {
	mu       sync.Mutex
	saved    map[string][]byte
	released map[string]chan struct{}
}

// Load implements State.
func (m *Memory) Load(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, ok := m.saved[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return text, nil
}

// Save implements State.
func (m *Memory) Save(name string, text []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.saved == nil {
		m.saved = map[string][]byte{}
	}
	m.saved[name] = text
	return nil
}

// Release lets every step go on that waits for name, now or later.
func (m *Memory) Release(name string) {
	gate := m.gate(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-gate:
	default:
		close(gate)
	}
}

// Await implements State.
func (m *Memory) Await(ctx context.Context, name string) error {
	select {
	case <-m.gate(name):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *Memory) gate(name string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.released == nil {
		m.released = map[string]chan struct{}{}
	}
	if m.released[name] == nil {
		m.released[name] = make(chan struct{})
	}
	return m.released[name]
}
