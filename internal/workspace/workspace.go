// Package workspace is the file tree a workflow run keeps: a tree of immutable
// objects, each stored under the hash of what it holds, in which "the files as they
// are now" is one hash, the root (workflow 31).
//
// What enters: [Objects], which keeps bytes under hashes; a root; an absolute
// working directory inside the tree and a path relative to it, as a document wrote
// it. What leaves: content, names, or the root of the tree as it is after a change.
// A change never alters an object. It writes the trees from the changed directory
// up to the root and shares everything else, so every earlier root can still be
// read, and equal content has an equal root however it came about.
//
//	root, err := workspace.Write(objects, workspace.EmptyRoot, "/", "notes/a.md", []byte("hello"))
//	text, err := workspace.Read(objects, root, "/", "notes/a.md")
//
// A refusal (there is no such file, the path leaves the working directory) is a
// [*host.FileError] with the operations, phases and reasons of the machine's own
// files, so a document reads the same words in a run as elsewhere; it is decided
// before the first object is put. Anything that is stored and should not be is a
// [*DamageError]. Every other error is one of Objects, passed on as it is.
//
// The one invariant: no operation reaches the machine. A path is arithmetic on
// names inside the tree, a symbolic link is text that is followed inside it, and
// what would leave the working directory is refused, so no path of the machine can
// be read, changed or told.
//
// What the room refuses to know: runs, transactions, histories, databases. Whoever
// has them implements Objects and, for [Files], [Store]. The functions hold no
// state; they are as safe for concurrent use as the Objects they are given.
package workspace

import (
	"slices"

	"github.com/executable-markdown/xmd/internal/host"
)

// The limits of a tree (workflow 31).
const (
	MaxFile    = host.MaxFileSize // bytes of a file
	MaxEntries = 100_000          // files, links and directories below a root
	MaxPath    = 4096             // bytes of a path below the root
	MaxName    = 255              // bytes of a name
	maxLinks   = 40               // links that one path may cross
)

// Objects keeps the objects of a Workspace. An Object that is not there is an error
// that is fs.ErrNotExist. What Object returns is not modified, nor is what was put.
type Objects interface {
	Object(hash string) (kind string, data []byte, err error)
	PutObject(hash, kind string, data []byte) error
}

// Read returns the bytes of a file. They are not to be modified.
func Read(objects Objects, root, cwd, path string) ([]byte, error) {
	return newView(objects, root, nil).read(cwd, path)
}

// Write makes content the whole content of a file and returns the new root. Parents
// that do not exist are made; a file that exists keeps its mode; a link inside the
// working directory is written through, and one that leads to nothing is replaced.
func Write(objects Objects, root, cwd, path string, content []byte) (string, error) {
	return newView(objects, root, nil).write(cwd, path, content)
}

// Delete makes path stop naming a file or a link, which is removed itself. A path
// that names nothing is a success and leaves the root as it is.
func Delete(objects Objects, root, cwd, path string) (string, error) {
	return newView(objects, root, nil).remove(cwd, path)
}

// EnsureDir makes a directory and its parents exist.
func EnsureDir(objects Objects, root, cwd, path string) (string, error) {
	return newView(objects, root, nil).ensure(cwd, path)
}

// Glob lists the files below cwd that one of include matches and none of exclude
// does: relative, sorted by code point, links neither listed nor followed.
func Glob(objects Objects, root, cwd string, include, exclude []string) ([]string, error) {
	s, err := host.CompileSelection(include, exclude)
	if err != nil {
		return nil, err
	}
	return newView(objects, root, nil).glob(cwd, s)
}

// A view is one operation on one root.
type view struct {
	objects Objects
	root    string
	trees   map[string][]entry // what was read or put
	extents *extents
}

// newView begins an operation; known may be nil.
func newView(objects Objects, root string, known *extents) *view {
	if known == nil {
		known = &extents{}
	}
	return &view{objects: objects, root: root, trees: map[string][]entry{}, extents: known}
}

func (v *view) read(cwd, path string) ([]byte, error) {
	s, err := v.locate(host.OpRead, cwd, path, false)
	switch {
	case err != nil:
		return nil, err
	case !s.found:
		return nil, refuse(host.OpRead, host.PhaseTarget, host.Missing)
	case s.entry.kind == dirEntry:
		return nil, refuse(host.OpRead, host.PhaseTarget, host.Directory)
	}
	return v.blob(s.entry)
}

func (v *view) write(cwd, path string, content []byte) (string, error) {
	s, err := v.locate(host.OpWrite, cwd, path, false)
	switch {
	case err != nil:
		return "", err
	case s.found && s.entry.kind == dirEntry:
		return "", refuse(host.OpWrite, host.PhaseTarget, host.Directory)
	case len(content) > MaxFile:
		return "", refuse(host.OpWrite, host.PhaseTarget, host.QuotaExhausted)
	case s.dangling && !s.final:
		return "", refuse(host.OpWrite, host.PhaseParents, host.NotDirectory)
	}
	e := entry{name: s.name, kind: fileEntry, mode: plainMode, hash: Hash(KindBlob, content), size: int64(len(content))}
	if s.found {
		e.mode = s.entry.mode
		if e == s.entry {
			return v.root, nil
		}
	} else if err := v.room(host.OpWrite, s); err != nil {
		return "", err
	}
	if err := v.objects.PutObject(e.hash, KindBlob, content); err != nil {
		return "", err
	}
	return v.place(s, e)
}

func (v *view) remove(cwd, path string) (string, error) {
	s, err := v.locate(host.OpDelete, cwd, path, true)
	switch {
	case err != nil:
		return "", err
	case !s.found:
		return v.root, nil
	case s.entry.kind == dirEntry:
		return "", refuse(host.OpDelete, host.PhaseTarget, host.Directory)
	}
	return v.rewrite(s.dirs, s.name, nil)
}

func (v *view) ensure(cwd, path string) (string, error) {
	s, err := v.locate(host.OpEnsure, cwd, path, false)
	switch {
	case err != nil:
		return "", err
	case s.dangling, s.found && s.entry.kind != dirEntry:
		return "", refuse(host.OpEnsure, host.PhaseTarget, host.NotDirectory)
	case s.found:
		return v.root, nil
	}
	if err := v.room(host.OpEnsure, s); err != nil {
		return "", err
	}
	hash, err := v.put(nil)
	if err != nil {
		return "", err
	}
	return v.place(s, entry{name: s.name, kind: dirEntry, hash: hash})
}

// room refuses a new entry, with the directories it needs, that the limits of the
// whole tree forbid.
func (v *view) room(operation string, s spot) error {
	length := len(s.name)
	for _, d := range s.dirs[1:] {
		length += len(d.name) + 1
	}
	for _, name := range s.missing {
		length += len(name) + 1
	}
	if length > MaxPath {
		return refuse(operation, host.PhaseResolution, host.PathTooLong)
	}
	if s.dangling {
		return nil // it takes the place of a link
	}
	all, err := v.extent(v.root, 0, nil)
	switch {
	case err != nil:
		return err
	case all.entries+1+len(s.missing) > MaxEntries:
		return refuse(operation, host.PhaseTarget, host.QuotaExhausted)
	}
	return nil
}

// place puts an entry where a spot is, and returns the new root.
func (v *view) place(s spot, e entry) (string, error) {
	for _, name := range slices.Backward(s.missing) {
		hash, err := v.put([]entry{e})
		if err != nil {
			return "", err
		}
		e = entry{name: name, kind: dirEntry, hash: hash}
	}
	return v.rewrite(s.dirs, e.name, &e)
}

// rewrite replaces what name is in the last of dirs, or removes it, and writes the
// trees from there up to the root. Nothing else is put.
func (v *view) rewrite(dirs []level, name string, e *entry) (string, error) {
	for _, d := range slices.Backward(dirs) {
		entries, err := v.tree(d.hash)
		if err != nil {
			return "", err
		}
		hash, err := v.put(replaced(entries, name, e))
		if err != nil {
			return "", err
		}
		name, e = d.name, &entry{name: d.name, kind: dirEntry, hash: hash}
	}
	return e.hash, nil
}

func (v *view) glob(cwd string, s host.Selection) ([]string, error) {
	w, err := v.enter(host.OpGlob, cwd)
	if err != nil {
		return nil, err
	}
	type directory struct{ prefix, hash string }
	pending := []directory{{"", w.dirs[len(w.dirs)-1].hash}}
	found, left := []string{}, MaxEntries
	for len(pending) > 0 {
		d := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		entries, err := v.tree(d.hash)
		if err != nil {
			return nil, err
		}
		if left -= len(entries); left < 0 || len(d.prefix) > MaxPath+1 {
			return nil, &DamageError{Kind: KindTree, Hash: v.root, Problem: tooLarge}
		}
		for _, e := range entries {
			switch name := d.prefix + e.name; {
			case e.kind == dirEntry && !s.Prunes(name):
				pending = append(pending, directory{name + "/", e.hash})
			case e.kind == fileEntry && s.Selects(name):
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	return found, nil
}

// refuse makes the record of a refusal. A refused write has changed nothing.
func refuse(operation, phase, reason string) *host.FileError {
	e := &host.FileError{Operation: operation, Phase: phase, Reason: reason}
	if operation == host.OpWrite {
		e.Target = host.Unchanged
	}
	return e
}
