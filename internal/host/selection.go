package host

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds on what the patterns of one Glob may cost.
const (
	// MaxPattern is the length in bytes of the longest pattern.
	MaxPattern = 1024
	// MaxAlternatives is how many patterns the include and exclude lists of one
	// call may come to once their braces are written out.
	MaxAlternatives = 1024
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

// A Selection decides which files a search answers with (components 6). It is made by
// CompileSelection and not changed.
type Selection struct {
	include, exclude []string // valid patterns without braces
	pruned           []string // directories that match one of these hold no answer
}

// CompileSelection checks the patterns and writes out their alternatives. The error is a
// *FileError with the phase "pattern".
func CompileSelection(include, exclude []string) (Selection, error) {
	var s Selection
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

// Selects says whether a file, by its path relative to the directory searched, is an
// answer.
func (s Selection) Selects(name string) bool {
	return matchesAny(s.include, name) && !matchesAny(s.exclude, name)
}

// Prunes says whether no answer lies in a directory.
func (s Selection) Prunes(directory string) bool { return matchesAny(s.pruned, directory) }
