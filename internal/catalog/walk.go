package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
)

// Bounds of the search for component files. Reaching one fails the request.
const (
	// MaxSegments is how many segments a component name in a listing may have.
	MaxSegments = 32
	// MaxCandidates is how many component files and directories of them one
	// listing may look at.
	MaxCandidates = 100_000
)

// candidates lists the names that component files in the include directories
// could answer to, in no particular order and with repetitions. Only segments a
// component name can have are entered, so the search of a large repository stays
// small.
func candidates(in Inputs) ([]string, error) {
	if in.Sources == nil {
		return nil, nil
	}
	w := &walk{sources: in.Sources}
	for _, dir := range in.Include {
		if err := w.directory(path.Clean(dir), nil); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(w.names, engine.ProtectedName), nil // no file answers to these
}

type walk struct {
	sources Lister
	names   []string
	seen    int
}

// directory visits one directory whose path adds the segments to an include. One
// that does not exist holds nothing.
func (w *walk) directory(dir string, segments []string) error {
	entries, err := w.sources.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("component directory %s: %w (a symbolic link is not followed)", dir, err)
	}
	for _, e := range entries {
		if err := w.entry(dir, e, segments); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entry(dir string, e fs.DirEntry, segments []string) error {
	name := e.Name()
	stem, isFile := componentFile(name)
	isIndex := isFile && stem == "index" && len(segments) > 0
	if !isIndex && (strings.Contains(stem, ".") || !document.DeclarableName(stem)) {
		return nil
	}
	location := path.Join(dir, name)
	if w.seen++; w.seen > MaxCandidates {
		return fmt.Errorf("the component directories hold more than %d files; name narrower ones with --include", MaxCandidates)
	}
	mode := e.Type()
	if mode&fs.ModeSymlink != 0 {
		is, err := w.sources.IsFile(location)
		if err != nil {
			return fmt.Errorf("cannot follow the link %s: %w", location, err)
		}
		if !is {
			return fmt.Errorf("%s is a link to something that is no file; a component directory must not be a link", location)
		}
		mode = 0
	}
	switch {
	case isIndex && mode.IsRegular():
		w.names = append(w.names, strings.Join(segments, "."))
	case isFile && mode.IsRegular():
		w.names = append(w.names, join(segments, stem))
	case !isFile && mode.IsDir():
		if len(segments) == MaxSegments {
			return fmt.Errorf("%s lies deeper than the %d segments a component name may have", location, MaxSegments)
		}
		return w.directory(location, append(segments[:len(segments):len(segments)], stem))
	}
	return nil
}

// componentFile returns the name without the ending a component file has, and
// whether it had one.
func componentFile(name string) (stem string, ok bool) {
	for _, ending := range [...]string{".md", ".ts"} {
		if stem, ok = strings.CutSuffix(name, ending); ok {
			return stem, true
		}
	}
	return name, false
}

func join(segments []string, last string) string {
	if len(segments) == 0 {
		return last
	}
	return strings.Join(segments, ".") + "." + last
}
