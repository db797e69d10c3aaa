package capability

import (
	"errors"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// What the patterns of one list may come to (F8). Matching a name takes at most its
// length times their length.
const (
	maxBraces       = 64       // in one pattern
	maxAlternatives = 256      // once the braces are written out
	maxPatternBytes = 16 << 10 // of all alternatives
)

// patterns is a list of patterns in the dialect of doublestar: * and ? and classes
// within a segment, ** as a segment for any number of them, braces for
// alternatives. Case matters. There is no escape, because there is no backslash in
// a path, and no class matches a slash.
type patterns struct {
	list  []pattern
	bytes int
}

// A pattern is one alternative without braces.
type pattern struct {
	segments []string
	exact    string // the path it is, when it was written without wildcard or brace
}

// compilePatterns reads the paths a host states for an entry. nil stands for the
// whole root, and so has no patterns.
func compilePatterns(paths []string) (*patterns, error) {
	if paths == nil {
		return nil, nil
	}
	list, v := readPatterns(paths)
	if v != nil {
		return nil, errors.New(v.Reason)
	}
	return list, nil
}

// readPatterns judges and reads patterns (fragments 10). A pattern is spelled like a
// path apart from its wildcards, and no alternative of it climbs.
func readPatterns(written []string) (*patterns, *Violation) {
	p := &patterns{}
	for _, w := range written {
		if f := p.add(w); f != sound {
			return nil, violation("pattern", w, f)
		}
	}
	return p, nil
}

func (p *patterns) add(written string) fault {
	if f := charactersFault(written, `\:"<>|`); f != sound {
		return f
	}
	if !doublestar.ValidatePattern(written) || slashInClass(written) {
		return faultPattern
	}
	if strings.Count(written, "{") > maxBraces {
		return faultWide
	}
	pending := []string{written} // alternatives whose braces are not yet written out, the next one last
	for len(pending) > 0 {
		last := len(pending) - 1
		next := pending[last]
		pending = pending[:last]
		choices, more := choose(next)
		if more {
			if len(choices)+len(pending)+len(p.list) > maxAlternatives {
				return faultWide
			}
			slices.Reverse(choices)
			pending = append(pending, choices...)
			continue
		}
		if f := p.addAlternative(next, next == written); f != sound {
			return f
		}
	}
	return sound
}

func (p *patterns) addAlternative(text string, whole bool) fault {
	if text == "" {
		return faultEmpty
	}
	if text[0] == '/' {
		return faultStart
	}
	var segments []string
	for segment := range strings.SplitSeq(text, "/") {
		switch {
		case segment == "..":
			return faultOutside
		case segment == "" || segment == ".":
			continue
		case segment == "**" && len(segments) > 0 && segments[len(segments)-1] == "**":
			continue // twice is once
		}
		if f := segmentFault(segment); f != sound {
			return f
		}
		segments = append(segments, segment)
	}
	if p.bytes += len(text); p.bytes > maxPatternBytes || len(p.list) >= maxAlternatives {
		return faultWide
	}
	one := pattern{segments: segments}
	if whole && !strings.ContainsAny(text, "*?[") {
		one.exact = strings.Join(segments, "/")
	}
	p.list = append(p.list, one)
	return sound
}

// covers reports whether a clean path matches, and whether a pattern without
// wildcard and brace is that path.
func (p *patterns) covers(clean string) (ok, exact bool) {
	name := split(clean)
	for _, one := range p.list {
		if clean != "" && one.exact == clean {
			return true, true
		}
		ok = ok || one.matches(name)
	}
	return ok, false
}

// names reports whether a pattern without wildcard and brace is a path below dir.
func (p *patterns) names(dir string) bool {
	return slices.ContainsFunc(p.list, func(one pattern) bool { return strings.HasPrefix(one.exact, dir+"/") })
}

// reaches reports whether something below the directory dir can match.
func (p *patterns) reaches(dir string) bool {
	name := split(dir)
	return slices.ContainsFunc(p.list, func(one pattern) bool {
		for i, segment := range name {
			if i == len(one.segments) {
				return false
			}
			if one.segments[i] == "**" {
				return true
			}
			if !segmentMatches(one.segments[i], segment) {
				return false
			}
		}
		return len(one.segments) > len(name)
	})
}

// below makes of patterns that end in ** patterns of what lies below a directory,
// and not of the directory's own name: what lists of files mean by them.
func (p *patterns) below() *patterns {
	for i, one := range p.list {
		if last := len(one.segments) - 1; last >= 0 && one.segments[last] == "**" {
			p.list[i].segments = append(one.segments, "*")
		}
	}
	return p
}

// prunes reports whether, after below, everything under the directory dir matches.
func (p *patterns) prunes(dir string) bool {
	name := split(dir)
	return slices.ContainsFunc(p.list, func(one pattern) bool {
		above := len(one.segments) - 1
		return above >= 1 && one.segments[above] == "*" && one.segments[above-1] == "**" &&
			pattern{segments: one.segments[:above]}.matches(name)
	})
}

// matches compares segment by segment. It goes back only to the last **, as no
// earlier one could do better, so the work is at most the product of the lengths.
func (p pattern) matches(name []string) bool {
	at, back, from := 0, -1, 0
	for i := 0; i < len(name); {
		switch {
		case at < len(p.segments) && p.segments[at] == "**":
			at++
			back, from = at, i
		case at < len(p.segments) && segmentMatches(p.segments[at], name[i]):
			at++
			i++
		case back >= 0:
			from++
			at, i = back, from
		default:
			return false
		}
	}
	for at < len(p.segments) && p.segments[at] == "**" {
		at++
	}
	return at == len(p.segments)
}

func segmentMatches(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return pattern == name
	}
	return doublestar.MatchUnvalidated(pattern, name)
}

// split cuts a clean path into its segments; the root has none.
func split(clean string) []string {
	if clean == "" {
		return nil
	}
	return strings.Split(clean, "/")
}

// choose writes out the first brace of a valid pattern, as far as the alternatives
// can be of use; more is false when it has none.
func choose(text string) (choices []string, more bool) {
	open := scanPattern(text, 0, "{")
	if open < 0 {
		return nil, false
	}
	var cuts []int // the commas of the brace and its end
	for at, depth := open+1, 1; depth > 0; at++ {
		if at = scanPattern(text, at, "{,}"); at < 0 {
			return nil, false // not reached: the pattern is valid
		}
		switch text[at] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 || depth == 1 && text[at] == ',' {
			cuts = append(cuts, at)
		}
	}
	rest := text[cuts[len(cuts)-1]+1:]
	start := open + 1
	for _, end := range cuts[:min(len(cuts), maxAlternatives+1)] {
		choices = append(choices, text[:open]+text[start:end]+rest)
		start = end + 1
	}
	return choices, true
}

// scanPattern finds the first of the signs at or after from that is not inside a
// class; -1: none.
func scanPattern(text string, from int, signs string) int {
	class := false
	for i := from; i < len(text); i++ {
		switch c := text[i]; {
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case strings.IndexByte(signs, c) >= 0:
			return i
		}
	}
	return -1
}

// slashInClass reports whether a class of a valid pattern holds a slash, which no
// segment has.
func slashInClass(text string) bool {
	class := false
	for i := range len(text) {
		switch c := text[i]; {
		case class && c == '/':
			return true
		case c == '[':
			class = true
		case c == ']':
			class = false
		}
	}
	return false
}
