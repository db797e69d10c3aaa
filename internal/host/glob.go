package host

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"unicode/utf8"
)

// maxDirectory is the length in bytes of the longest directory path a walk enters; no
// file below it could be named in another call.
const maxDirectory = 4096

// Glob implements Files. The walk never follows a link, looks at no more than
// MaxEntries entries and passes over names that are not UTF-8, which no document
// could write. A directory it may not read is a failure; one that disappears
// while it walks is not.
func (f *OSFiles) Glob(ctx context.Context, cwd string, include, exclude []string) ([]string, error) {
	s, err := CompileSelection(include, exclude)
	if err != nil {
		return nil, err
	}
	root, _, err := openDirectory(ctx, OpGlob, cwd)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	w := walk{root: root, Selection: s, left: f.maxEntries, found: []string{}, pending: []string{"."}}
	for len(w.pending) > 0 {
		last := len(w.pending) - 1
		directory := w.pending[last]
		w.pending = w.pending[:last]
		if err := w.list(ctx, directory); err != nil {
			return nil, err
		}
	}
	slices.Sort(w.found)
	return w.found, nil
}

// A walk is one search under way.
type walk struct {
	root *os.Root
	Selection
	left    int      // entries that may still be looked at
	pending []string // directories not yet listed
	found   []string
}

// list looks at the entries of one directory.
func (w *walk) list(ctx context.Context, directory string) error {
	if len(directory) > maxDirectory {
		return failed(OpGlob, PhaseTraversal, PathTooLong)
	}
	open, err := w.root.OpenFile(directory, os.O_RDONLY|openDirectoryOnly, 0)
	if err != nil {
		return vanished(err)
	}
	defer open.Close()
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		entries, err := open.ReadDir(1024)
		if w.left -= len(entries); w.left < 0 {
			return failed(OpGlob, PhaseTraversal, TooManyEntries)
		}
		for _, entry := range entries {
			w.look(path.Join(directory, entry.Name()), entry.Type())
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return vanished(err)
		}
	}
}

func (w *walk) look(name string, kind fs.FileMode) {
	switch {
	case !utf8.ValidString(name):
	case kind.IsDir():
		if !w.Prunes(name) {
			w.pending = append(w.pending, name)
		}
	case kind.IsRegular():
		if w.Selects(name) {
			w.found = append(w.found, name)
		}
	}
}

// vanished is nil when a directory stopped being one during the walk.
func vanished(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return failure(OpGlob, PhaseTraversal, err)
}
