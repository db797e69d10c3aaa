package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/executable-markdown/xmd/agent"
)

const (
	recordSchema  = "xmd.agent-session/1"
	maxRecord     = 64 << 10 // bytes of a record at most
	statePending  = "pending"
	stateAccepted = "accepted"
)

// A record is what the store keeps of one session (agents 12.2). A pending one only
// holds the place: it names no conversation to continue.
type record struct {
	Schema         string `json:"schema"`
	Key            string `json:"key"`
	Agent          string `json:"agent"`
	CommandDigest  string `json:"commandDigest"`
	Cwd            string `json:"cwd"`
	Name           string `json:"name,omitempty"`
	SessionID      string `json:"sessionId"`
	State          string `json:"state"`
	Policy         string `json:"policy"`
	AdapterVersion string `json:"adapterVersion"`
	Containment    int    `json:"containment"` // level it was made under; it may rise
	CreatedAt      string `json:"createdAt"`
	LastUsedAt     string `json:"lastUsedAt"`
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// A Store keeps one file a conversation in a directory, for its owner alone. It is
// safe for concurrent use by any number of processes.
type Store struct {
	dir string

	mu   sync.Mutex
	root *os.Root // nil: not opened yet
}

// NewStore keeps records in dir, which is made when there is one to keep.
func NewStore(dir string) *Store { return &Store{dir: dir} }

// open opens the directory, and makes it when the caller is about to write.
func (s *Store) open(write bool) (*os.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root != nil {
		return s.root, nil
	}
	if write {
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(s.dir)
	if err == nil {
		s.root = root
	}
	return root, err
}

func recordName(key string) string { return digest(key)[:32] + ".json" }

// read returns the record of a key, nil when there is none. A record that cannot be
// trusted is an error.
func (s *Store) read(key string) (*record, error) {
	root, err := s.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := root.Open(recordName(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err != nil {
		return nil, err
	}
	var r record
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if len(data) > maxRecord || d.Decode(&r) != nil || d.More() || r.Schema != recordSchema || r.Key != key ||
		(r.State != statePending && r.State != stateAccepted) || r.SessionID == "" {
		return nil, &agent.Error{Code: agent.ErrSessionDamaged, Session: key}
	}
	return &r, nil
}

// write replaces the record of a key, so that a crash leaves the old one or the new
// one. The caller holds the lock of the key.
func (s *Store) write(r record) error {
	root, err := s.open(true)
	if err != nil {
		return err
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	name := recordName(r.Key)
	temporary := name + ".tmp"
	if err := root.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Sync())
	err = errors.Join(err, f.Close())
	if err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		_ = root.Remove(temporary)
		return err
	}
	return syncDirectory(root)
}

// remove forgets a key.
func (s *Store) remove(key string) error {
	root, err := s.open(true)
	if err != nil {
		return err
	}
	if err := root.Remove(recordName(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// lock takes the key for this process until the result is closed. Another holder is
// a session-busy failure; nothing is waited for.
func (s *Store) lock(key string) (io.Closer, error) {
	root, err := s.open(true)
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(recordName(key)+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	held, err := lockFile(f)
	if err == nil && held {
		return f, nil
	}
	_ = f.Close()
	if err == nil {
		err = &agent.Error{Code: agent.ErrSessionBusy, Session: key}
	}
	return nil, err
}
