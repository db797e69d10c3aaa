package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"sync"
)

// The kinds of an object.
const (
	KindTree = "tree"
	KindBlob = "blob"
)

// Every run starts with the empty tree: EmptyTree is the object, EmptyRoot its hash.
const (
	EmptyTree = `{"entries":[]}`
	EmptyRoot = "986dc0008dd1ae0f5029049601844777e6d504960b399e386248861aadf295e8"
)

// Hash is the name of an object: SHA-256 in lower-case hex over its kind, the
// version of the format and its bytes. A tree and a blob never share one.
func Hash(kind string, data []byte) string {
	h := sha256.New()
	h.Write([]byte("xmd-workspace-" + kind + "\x00v1\x00"))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// A DamageError says that what is stored cannot be trusted. Nothing is repaired.
type DamageError struct {
	Kind    string // of the object that was expected
	Hash    string // of that object
	Problem string
	Err     error // of the Objects, if there was one
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("the workspace is damaged: the %s %.64q: %s; restore the run from a copy or delete it", e.Kind, e.Hash, e.Problem)
}

func (e *DamageError) Unwrap() error { return e.Err }

const tooLarge = "it holds more, or longer paths, than a workspace may"

// object returns the bytes of an object that is of the kind and hashes to its name.
func (v *view) object(kind, hash string) ([]byte, error) {
	if !validHash(hash) {
		return nil, &DamageError{Kind: kind, Hash: hash, Problem: "that is no hash"}
	}
	is, data, err := v.objects.Object(hash)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &DamageError{Kind: kind, Hash: hash, Problem: "it is missing", Err: err}
	case err != nil:
		return nil, err
	case is != kind:
		return nil, &DamageError{Kind: kind, Hash: hash, Problem: "it is of another kind"}
	case Hash(kind, data) != hash:
		return nil, &DamageError{Kind: kind, Hash: hash, Problem: "its content is not what it was"}
	}
	return data, nil
}

// tree returns the entries of a directory. They are not to be modified.
func (v *view) tree(hash string) ([]entry, error) {
	if entries, known := v.trees[hash]; known {
		return entries, nil
	}
	data, err := v.object(KindTree, hash)
	if err != nil {
		return nil, err
	}
	entries, problem := parse(data)
	if problem != "" {
		return nil, &DamageError{Kind: KindTree, Hash: hash, Problem: problem}
	}
	v.trees[hash] = entries
	return entries, nil
}

// blob returns the content of a file.
func (v *view) blob(e entry) ([]byte, error) {
	data, err := v.object(KindBlob, e.hash)
	if err == nil && int64(len(data)) != e.size {
		return nil, &DamageError{Kind: KindBlob, Hash: e.hash, Problem: "its size is not what its directory says"}
	}
	return data, err
}

// put keeps a directory and returns its hash.
func (v *view) put(entries []entry) (string, error) {
	data := encode(entries)
	hash := Hash(KindTree, data)
	v.trees[hash] = entries
	return hash, v.objects.PutObject(hash, KindTree, data)
}

// Verify reads and hashes every object that the roots need and measures their trees
// against the limits. Each object is read once, however many names and roots it has.
func Verify(objects Objects, roots ...string) error {
	v := newView(objects, EmptyRoot, nil)
	sizes := map[string]int64{}
	for _, root := range roots {
		_, err := v.extent(root, 0, func(e entry) error {
			if size, seen := sizes[e.hash]; seen && size == e.size {
				return nil
			}
			_, err := v.blob(e)
			sizes[e.hash] = e.size
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// An extent is how much a directory holds.
type extent struct {
	entries int
	longest int // bytes of its longest path
}

// extents remembers those of trees, which never change. The zero value is ready.
type extents struct {
	mu sync.Mutex
	of map[string]extent
}

// maxExtents bounds what is remembered; it is enough for every tree of two roots
// that have as many as they may.
const maxExtents = 2 * MaxEntries

func (x *extents) get(hash string) (extent, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e, known := x.of[hash]
	return e, known
}

func (x *extents) set(hash string, e extent) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.of == nil || len(x.of) >= maxExtents {
		x.of = map[string]extent{}
	}
	x.of[hash] = e
}

// extent measures a directory, looking once at every tree below it that was not
// measured before, and shows each file there to look, when there is one. A directory
// beyond the limits is damage, found without going far beyond them: neither its
// depth nor a tree named by many others makes it cost more.
func (v *view) extent(hash string, depth int, look func(entry) error) (extent, error) {
	if known, ok := v.extents.get(hash); ok {
		return known, nil
	}
	damaged := &DamageError{Kind: KindTree, Hash: hash, Problem: tooLarge}
	if depth > MaxPath/2 {
		return extent{}, damaged
	}
	entries, err := v.tree(hash)
	if err != nil {
		return extent{}, err
	}
	var all extent
	for _, e := range entries {
		length := len(e.name)
		all.entries++
		switch {
		case e.kind == dirEntry:
			below, err := v.extent(e.hash, depth+1, look)
			if err != nil {
				return extent{}, err
			}
			all.entries += below.entries
			if below.entries > 0 {
				length += 1 + below.longest
			}
		case e.kind == fileEntry && look != nil:
			if err := look(e); err != nil {
				return extent{}, err
			}
		}
		all.longest = max(all.longest, length)
		if all.entries > MaxEntries || all.longest > MaxPath {
			return extent{}, damaged
		}
	}
	v.extents.set(hash, all)
	return all, nil
}
