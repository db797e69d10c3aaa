package program

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/internal/value"
)

// A Store keeps what is needed to take up named conversations in a later run: one file
// a conversation, for its owner alone (agents 12.2).
type Store struct{ dir string }

// NewStore keeps conversations in dir, which is made when there is one to keep.
func NewStore(dir string) *Store { return &Store{dir} }

const storeSchema = "xmd.agent-session/1"

func (s *Store) path(key string) string {
	return filepath.Join(s.dir, strings.ReplaceAll(key, ":", "-")+".json")
}

// has reports whether a conversation is kept.
func (s *Store) has(key string) bool {
	_, err := os.Lstat(s.path(key))
	return err == nil
}

// A record is one kept conversation, held by this process until it is released. A nil
// record keeps nothing.
type record struct {
	path   string
	locked *os.File
	key    string
	agent  string // digest of the command
	cwd    string
	name   string
	id     string // of an accepted conversation; empty: there is none yet
}

var (
	errBusy    = errors.New("another process holds the conversation")
	errDamaged = errors.New("the record of the conversation is damaged; remove it, or use a <Session> of another name")
)

// take holds a conversation, kept or to be kept.
func (s *Store) take(key, command, cwd, name string) (*record, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	r := &record{path: s.path(key), key: key, agent: command, cwd: cwd, name: name}
	var err error
	if r.locked, err = os.OpenFile(r.path+".lock", os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	if err := lock(r.locked); err != nil {
		r.release()
		return nil, errBusy
	}
	text, err := os.ReadFile(r.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return r, nil
	case err != nil:
		r.release()
		return nil, err
	}
	v, err := value.Parse(text)
	o, _ := v.(*value.Object)
	schema, _ := o.String("schema")
	kept, _ := o.String("key")
	made, _ := o.String("commandDigest")
	id, _ := o.String("sessionId")
	if err != nil || schema != storeSchema || kept != key || made != command || id == "" {
		r.release()
		return nil, errDamaged
	}
	r.id = id
	return r, nil
}

// accept keeps the conversation, from now on under the peer's own name for it. The
// file is whole or absent.
func (r *record) accept(id string) error {
	if r == nil {
		return nil
	}
	text, err := value.Append(nil, value.Of(
		"schema", storeSchema, "key", r.key, "commandDigest", r.agent, "cwd", r.cwd, "name", r.name,
		"sessionId", id, "createdAt", time.Now().UTC().Format(time.RFC3339),
	))
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(r.path), ".session-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), r.path)
	}
	if err == nil {
		r.id = id
	}
	return err
}

// release gives the conversation to whoever takes it next.
func (r *record) release() {
	if r != nil {
		r.locked.Close()
	}
}
