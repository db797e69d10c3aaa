package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"sync"
)

// Memory is a Workspace that ends with the process: Objects and a Store at once. It
// is safe for concurrent use. What Do discards stays among the objects, where
// nothing names it.
type Memory struct {
	turn    sync.Mutex // of the operations
	current string

	mu      sync.Mutex // of objects
	objects map[string]stored
}

type stored struct {
	kind string
	data string
}

// NewMemory returns a Workspace with the empty root.
func NewMemory() *Memory {
	return &Memory{current: EmptyRoot, objects: map[string]stored{EmptyRoot: {KindTree, EmptyTree}}}
}

// Object implements Objects.
func (m *Memory) Object(hash string) (kind string, data []byte, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, known := m.objects[hash]
	if !known {
		return "", nil, fmt.Errorf("no object has the hash %.64q: %w", hash, fs.ErrNotExist)
	}
	return o.kind, []byte(o.data), nil
}

// PutObject implements Objects. It refuses a hash that is not that of the object.
func (m *Memory) PutObject(hash, kind string, data []byte) error {
	if Hash(kind, data) != hash {
		return fmt.Errorf("the %s %.64q does not hash to its name", kind, hash)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.objects[hash]; !known {
		m.objects[hash] = stored{kind, string(data)}
	}
	return nil
}

// Root is the current root.
func (m *Memory) Root() string {
	m.turn.Lock()
	defer m.turn.Unlock()
	return m.current
}

// Do implements Store.
func (m *Memory) Do(_ context.Context, mutate bool, body func(objects Objects, root string) (newRoot string, err error)) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	root, err := body(m, m.current)
	if err == nil && mutate {
		m.current = root
	}
	return err
}
