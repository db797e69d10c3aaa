package acp

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/executable-markdown/xmd/agent"
)

// A directory is the host-owned, empty place a constrained agent works in (agents
// 15.2). It lives in an open root under a name that says nothing, and is never
// written or read by this room: it is made, found empty, and taken away.
type directory struct {
	root  *os.Root
	leaf  string
	path  string
	keep  bool // a named one is an address and stays
	made  fs.FileInfo
	guard io.Closer // the lock of a named one
}

// claim establishes the directory of a logical name. The caller releases it when err
// is nil; a refusal leaves everything as it was found.
func claim(root *os.Root, name string, named bool) (*directory, error) {
	d := &directory{root: root, leaf: digest(name), keep: named}
	d.path = filepath.Join(root.Name(), d.leaf)
	if named {
		f, err := root.OpenFile(d.leaf+".lock", os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		held, err := lockFile(f)
		if err != nil || !held {
			_ = f.Close()
			if err == nil {
				err = &agent.Error{Code: agent.ErrCeilingInterference, Err: agent.ErrSessionBusy,
					Message: fmt.Sprintf("another command uses the session %q; use another --session name", name)}
			}
			return nil, err
		}
		d.guard = f
	}
	err := root.Mkdir(d.leaf, 0o700)
	fresh := err == nil
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err == nil {
		d.made, err = root.Lstat(d.leaf)
	}
	if err == nil {
		err = d.check()
	}
	if err == nil {
		return d, nil
	}
	if fresh {
		err = errors.Join(err, root.Remove(d.leaf))
	}
	d.unlock()
	if errors.Is(err, errNotEmpty) {
		remedy := "look at it and remove what is in it"
		if named {
			remedy += ", or use another --session name"
		}
		err = &agent.Error{Code: agent.ErrCeilingInterference,
			Message: fmt.Sprintf("the agent's directory %s is not empty; %s", d.path, remedy)}
	}
	return nil, err
}

var errNotEmpty = errors.New("it is not the empty directory it was")

// check says whether the directory is still the one that was made, and empty.
func (d *directory) check() error {
	info, err := d.root.Lstat(d.leaf)
	if err != nil || !info.IsDir() || !os.SameFile(info, d.made) {
		return errNotEmpty
	}
	f, err := d.root.Open(d.leaf)
	if err != nil {
		return errNotEmpty
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Readdirnames(1); !errors.Is(err, io.EOF) {
		return errNotEmpty
	}
	return nil
}

// interference is the failure of a directory that gained content or vanished.
func (d *directory) interference() error {
	if d.check() == nil {
		return nil
	}
	return &agent.Error{Code: agent.ErrCeilingInterference}
}

// release gives the directory back, once, after every process has ended. One that was
// interfered with is left as it is, as evidence.
func (d *directory) release() error {
	defer d.unlock()
	if err := d.interference(); err != nil || d.keep {
		return err
	}
	return d.root.Remove(d.leaf)
}

func (d *directory) unlock() {
	if d.guard != nil {
		_ = d.guard.Close()
		d.guard = nil
	}
}

// A home is the private home of a constrained agent: it begins empty and holds what
// the profile puts there and links to the user's credentials, nothing else of theirs.
type home struct {
	root   *os.Root // holds the homes
	leaf   string
	path   string
	linked []string // the files of the user's that it links to
}

// settle makes the home, or completes the one that was kept, for a profile.
func settle(root *os.Root, leaf string, p Profile, userHome string) (*home, error) {
	h := &home{root: root, leaf: leaf, path: filepath.Join(root.Name(), leaf)}
	for _, dir := range []string{"", "tmp", ".config", ".cache", ".local/share", ".local/state"} {
		if err := h.place(filepath.Join(leaf, filepath.FromSlash(dir))); err != nil {
			return nil, err
		}
	}
	for name, text := range p.Files {
		if err := h.put(name, func(at string) error { return root.WriteFile(at, []byte(text), 0o600) }); err != nil {
			return nil, err
		}
	}
	for _, name := range p.CredentialAt {
		from := filepath.Join(userHome, filepath.FromSlash(name))
		if userHome == "" || !exists(from) {
			continue
		}
		if err := h.put(name, func(at string) error { return root.Symlink(from, at) }); err != nil {
			return nil, err
		}
		if real, err := filepath.EvalSymlinks(from); err == nil {
			h.linked = append(h.linked, real)
		}
	}
	return h, nil
}

// place makes a directory of the home. What an agent left in the way of one, such as a
// link into the home of another, goes: nothing is made or replaced through it.
func (h *home) place(dir string) error {
	if dir != h.leaf {
		if err := h.place(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	if info, err := h.root.Lstat(dir); err == nil && !info.IsDir() {
		if err := h.root.Remove(dir); err != nil {
			return err
		}
	}
	err := h.root.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return h.root.Chmod(dir, 0o700) // which an agent may have closed
	}
	return err
}

// put replaces one file of the home.
func (h *home) put(name string, write func(at string) error) error {
	at := filepath.Join(h.leaf, filepath.FromSlash(name))
	if err := h.place(filepath.Dir(at)); err != nil {
		return err
	}
	if err := h.root.RemoveAll(at); err != nil {
		return err
	}
	return write(at)
}

// remove takes the home away with all that is in it. An agent may have closed
// directories of it even to their owner; they are opened again.
func (h *home) remove() error {
	err := h.root.RemoveAll(h.leaf)
	if err == nil {
		return nil
	}
	h.unlock(h.leaf, maxDepth)
	return h.root.RemoveAll(h.leaf)
}

// maxDepth bounds how deep directories are opened again.
const maxDepth = 200

func (h *home) unlock(dir string, depth int) {
	if depth == 0 || h.root.Chmod(dir, 0o700) != nil {
		return
	}
	f, err := h.root.Open(dir)
	if err != nil {
		return
	}
	entries, _ := f.ReadDir(-1)
	_ = f.Close()
	for _, e := range entries {
		if e.IsDir() {
			h.unlock(filepath.Join(dir, e.Name()), depth-1)
		}
	}
}
