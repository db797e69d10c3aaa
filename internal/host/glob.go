package host

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds on what the patterns of one Glob may cost.
const (
	// MaxPattern is the length in bytes of the longest pattern.
	MaxPattern = 1024
	// MaxAlternatives is how many patterns the include and exclude lists of one
	// call may come to once their braces are written out.
	MaxAlternatives = 1024
	// maxDirectory is the length in bytes of the longest directory path a walk
	// enters; no file below it could be named in another call.
	maxDirectory = 4096
)

// CheckPattern refuses a pattern that, by its text alone and on every system
// alike, cannot select anything below the working directory (components 6). The
// *FileError has the phase "pattern" and the reason "empty-path",
// "absolute-path" or "lexical-escape".
func CheckPattern(pattern string) error {
	local := trimDots(pattern)
	switch {
	case local == "":
		return failed(OpGlob, PhasePattern, EmptyPath)
	case pattern[0] == '/' || hasDrive(pattern):
		return failed(OpGlob, PhasePattern, AbsolutePath)
	case local == ".." || strings.HasPrefix(local, "../"):
		return failed(OpGlob, PhasePattern, LexicalEscape)
	}
	return nil
}

// trimDots removes leading segments that say "here".
func trimDots(pattern string) string {
	for strings.HasPrefix(pattern, "./") {
		pattern = strings.TrimLeft(pattern[2:], "/")
	}
	return pattern
}

// A selection decides which files a search answers with.
type selection struct {
	include, exclude []string // valid patterns without braces
	pruned           []string // directories that match one of these hold no answer
}

// compile checks the patterns and writes out their alternatives.
func compile(include, exclude []string) (selection, error) {
	var s selection
	budget := MaxAlternatives
	for _, list := range [...]struct {
		patterns []string
		to       *[]string
	}{{include, &s.include}, {exclude, &s.exclude}} {
		for _, pattern := range list.patterns {
			if err := CheckPattern(pattern); err != nil {
				return s, err
			}
			if len(pattern) > MaxPattern || !doublestar.ValidatePattern(pattern) {
				return s, failed(OpGlob, PhasePattern, InvalidPattern)
			}
			if !expand(trimDots(pattern), 0, &budget, list.to) {
				return s, failed(OpGlob, PhasePattern, InvalidPattern)
			}
		}
	}
	for _, pattern := range s.exclude {
		if directory, whole := strings.CutSuffix(pattern, "/**"); whole {
			s.pruned = append(s.pruned, directory)
		}
	}
	for _, list := range [...][]string{s.include, s.exclude} {
		for i, pattern := range list {
			if strings.HasSuffix(pattern, "/**") {
				list[i] = pattern + "/*" // what is below a directory, not a file of its name
			}
		}
	}
	return s, nil
}

// expand appends the alternatives of a valid pattern, whose bytes before from
// hold no brace, and takes each from the budget; false: the budget is used up.
func expand(pattern string, from int, budget *int, to *[]string) bool {
	open := scan(pattern, from, "{")
	if open < 0 {
		*to = append(*to, pattern)
		*budget--
		return *budget >= 0
	}
	var cuts []int // the commas of this brace and its end
	for at, depth := open+1, 1; depth > 0; at++ {
		at = scan(pattern, at, "{,}")
		switch {
		case at < 0:
			return false // not reached for a valid pattern
		case pattern[at] == '{':
			depth++
		case pattern[at] == '}':
			depth--
		}
		if depth == 0 || depth == 1 && pattern[at] == ',' {
			cuts = append(cuts, at)
		}
	}
	rest := pattern[cuts[len(cuts)-1]+1:]
	start := open + 1
	for _, end := range cuts {
		if !expand(pattern[:open]+pattern[start:end]+rest, open, budget, to) {
			return false
		}
		start = end + 1
	}
	return true
}

// scan finds the first of the bytes that is neither escaped nor inside a
// character class, at or after from; -1 if there is none.
func scan(pattern string, from int, bytes string) int {
	class := false
	for i := from; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case strings.IndexByte(bytes, c) >= 0:
			return i
		}
	}
	return -1
}

func matchesAny(patterns []string, name string) bool {
	for _, pattern := range patterns {
		if doublestar.MatchUnvalidated(pattern, name) {
			return true
		}
	}
	return false
}

// Glob implements Files. The walk never follows a link, looks at no more than
// MaxEntries entries and passes over names that are not UTF-8, which no document
// could write. A directory it may not read is a failure; one that disappears
// while it walks is not.
func (f *OSFiles) Glob(ctx context.Context, cwd string, include, exclude []string) ([]string, error) {
	s, err := compile(include, exclude)
	if err != nil {
		return nil, err
	}
	root, _, err := openDirectory(ctx, OpGlob, cwd)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	w := walk{root: root, selection: s, left: f.maxEntries, found: []string{}, pending: []string{"."}}
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
	selection
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
		if !matchesAny(w.pruned, name) {
			w.pending = append(w.pending, name)
		}
	case kind.IsRegular():
		if matchesAny(w.include, name) && !matchesAny(w.exclude, name) {
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
