package workspace

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/executable-markdown/xmd/internal/host"
)

// A selection decides which files a search answers with. Its dialect is that of the
// machine's files (components 6).
type selection struct {
	include, exclude []string // valid patterns without braces
	pruned           []string // directories that match one of these hold no answer
}

func (s selection) selects(name string) bool {
	return matchesAny(s.include, name) && !matchesAny(s.exclude, name)
}

// compile checks the patterns and writes out their alternatives.
func compile(include, exclude []string) (s selection, err error) {
	budget := host.MaxAlternatives
	if s.include, err = alternatives(include, &budget); err != nil {
		return selection{}, err
	}
	if s.exclude, err = alternatives(exclude, &budget); err != nil {
		return selection{}, err
	}
	for i, pattern := range s.exclude {
		if directory, whole := strings.CutSuffix(pattern, "/**"); whole {
			s.pruned = append(s.pruned, directory)
			s.exclude[i] = pattern + "/*" // what is below a directory, not a file of its name
		}
	}
	for i, pattern := range s.include {
		if strings.HasSuffix(pattern, "/**") {
			s.include[i] = pattern + "/*"
		}
	}
	return s, nil
}

// alternatives writes out the braces of patterns, within the budget.
func alternatives(patterns []string, budget *int) (plain []string, err error) {
	for _, pattern := range patterns {
		if err := host.CheckPattern(pattern); err != nil {
			return nil, err
		}
		for strings.HasPrefix(pattern, "./") {
			pattern = strings.TrimLeft(pattern[2:], "/")
		}
		if len(pattern) > host.MaxPattern || !doublestar.ValidatePattern(pattern) || !expand(pattern, 0, budget, &plain) {
			return nil, refuse(host.OpGlob, host.PhasePattern, host.InvalidPattern)
		}
	}
	return plain, nil
}

// expand appends the alternatives of a valid pattern, whose bytes before from hold no
// brace, and takes each from the budget; false: the budget is used up.
func expand(pattern string, from int, budget *int, to *[]string) bool {
	open := scan(pattern, from, "{")
	if open < 0 {
		*to = append(*to, pattern)
		*budget--
		return *budget >= 0
	}
	var cuts []int // the commas of this brace and its end
	for at, depth := open+1, 1; depth > 0; at++ {
		if at = scan(pattern, at, "{,}"); at < 0 {
			return false // not reached for a valid pattern
		}
		switch pattern[at] {
		case '{':
			depth++
		case '}':
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

// scan finds the first of the bytes that is neither escaped nor inside a character
// class, at or after from; -1 if there is none.
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
