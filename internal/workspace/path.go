package workspace

import (
	"errors"
	pathpkg "path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/internal/host"
)

// checkPath judges a path by its text, as the machine's files do, and returns its
// shortest form. What no name can hold is refused as well (workflow 32).
func checkPath(operation, path string) (string, error) {
	if err := host.NewFiles().CheckPath(operation, "", path); err != nil {
		return "", err
	}
	if strings.IndexByte(path, 0) >= 0 || !utf8.ValidString(path) {
		return "", refuse(operation, host.PhaseLexical, host.OperationFailed)
	}
	return pathpkg.Clean(path), nil
}

// A level is a directory on the way down from the root. The first has no name.
type level struct{ name, hash string }

// A spot is where a path leads.
type spot struct {
	dirs    []level  // the directories down to the one that holds name
	missing []string // directories that would have to be made below them
	name    string   // empty: the last of dirs itself
	entry   entry    // what is there, when found
	found   bool
	// dangling: a link that leads to nothing was met, and name is that link. It is
	// the last segment of the path when final is set.
	dangling, final bool
}

// locate finds where a path leads from a working directory. Links are followed as
// long as they stay in it; one that leaves is refused before anything is told about
// where it leads. With keepLast the last segment is taken as written, link or not.
func (v *view) locate(operation, cwd, path string, keepLast bool) (spot, error) {
	clean, err := checkPath(operation, path)
	if err != nil {
		return spot{}, err
	}
	w, err := v.enter(operation, cwd)
	if err != nil {
		return spot{}, err
	}
	if clean == "." {
		return w.spot(), nil
	}
	segments := strings.Split(clean, "/")
	if len(clean) > MaxPath || slices.ContainsFunc(segments, func(s string) bool { return len(s) > MaxName }) {
		return spot{}, refuse(operation, host.PhaseResolution, host.PathTooLong)
	}
	base := slices.Clone(w.dirs)
	for i, segment := range segments {
		final := i == len(segments)-1
		reason := host.NotDirectory
		if !w.file {
			e, found, err := w.here(segment)
			if err != nil {
				return spot{}, err
			}
			if !found {
				last := len(segments) - 1
				return spot{dirs: w.dirs, missing: segments[i:last], name: segments[last]}, nil
			}
			if final && keepLast {
				return spot{dirs: w.dirs, name: segment, entry: e, found: true}, nil
			}
			var above []level
			if e.kind == linkEntry {
				above = slices.Clone(w.dirs)
			}
			if reason, err = w.follow(segment); err != nil {
				return spot{}, err
			}
			if e.kind == linkEntry && !within(w.dirs, base) {
				reason = host.ResolvedEscape
			}
			if reason == host.Missing {
				return spot{dirs: above, name: segment, dangling: true, final: final}, nil
			}
		}
		if reason != "" {
			return spot{}, refuse(operation, host.PhaseResolution, reason)
		}
	}
	return w.spot(), nil
}

// enter goes to a working directory.
func (v *view) enter(operation, cwd string) (*walk, error) {
	w := &walk{view: v, dirs: []level{{hash: v.root}}}
	if !strings.HasPrefix(cwd, "/") {
		return nil, errors.New("the working directory of a workspace operation must be an absolute path")
	}
	reason, err := w.follow(pathpkg.Clean(cwd))
	switch {
	case err != nil:
		return nil, err
	case reason == "" && w.file:
		reason = host.NotDirectory
	}
	if reason != "" {
		return nil, refuse(operation, host.PhaseResolution, reason)
	}
	return w, nil
}

// within reports whether dirs lie in base.
func within(dirs, base []level) bool {
	return len(dirs) >= len(base) && slices.Equal(dirs[:len(base)], base)
}

// A walk is a place in the tree that moves: a directory or, when file is set, the
// entry of a file in it.
type walk struct {
	*view
	dirs  []level
	file  bool
	entry entry
	links int // that were crossed
}

// here looks a name up in the directory.
func (w *walk) here(name string) (e entry, found bool, err error) {
	entries, err := w.tree(w.dirs[len(w.dirs)-1].hash)
	if err != nil {
		return entry{}, false, err
	}
	e, found = lookup(entries, name)
	return e, found, nil
}

// follow goes along a path that may cross links. A reason says why it could not; the
// walk is then where it stopped.
func (w *walk) follow(rest string) (reason string, err error) {
	for rest != "" {
		var segment string
		segment, rest, _ = strings.Cut(rest, "/")
		switch {
		case segment == "", segment == ".":
			continue
		case segment == ".." && w.file:
			w.file = false
			continue
		case segment == ".." && len(w.dirs) == 1:
			return host.ResolvedEscape, nil
		case segment == "..":
			w.dirs = w.dirs[:len(w.dirs)-1]
			continue
		case w.file:
			return host.NotDirectory, nil
		}
		e, found, err := w.here(segment)
		switch {
		case err != nil:
			return "", err
		case !found:
			return host.Missing, nil
		case e.kind == dirEntry:
			w.dirs = append(w.dirs, level{segment, e.hash})
		case e.kind == fileEntry:
			w.file, w.entry = true, e
		case w.links == maxLinks:
			return host.TooManySymlinks, nil
		default:
			w.links++
			if e.target[0] == '/' {
				w.dirs = w.dirs[:1]
			}
			rest = e.target + "/" + rest
		}
	}
	return "", nil
}

// spot is where the walk is.
func (w *walk) spot() spot {
	if w.file {
		return spot{dirs: w.dirs, name: w.entry.name, entry: w.entry, found: true}
	}
	return spot{dirs: w.dirs, entry: entry{kind: dirEntry, hash: w.dirs[len(w.dirs)-1].hash}, found: true}
}
