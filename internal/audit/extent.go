package audit

import (
	"context"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/capability"
)

// An extentOf is the paths an entry covers, to be compared with those of another.
type extentOf struct {
	paths  []string
	whole  bool                // everything below the root
	judge  *capability.Granted // answers for single paths
	stated [][]string          // segments of the patterns with wildcards
}

// newExtent reads the paths of an entry. An entry without paths covers what the
// pattern ** does.
func newExtent(ctx context.Context, e Entry) (*extentOf, error) {
	x := &extentOf{paths: e.Ceiling.Paths, whole: e.Ceiling.Reach == ReachRoot}
	if x.whole {
		x.paths = []string{"**"}
	}
	for _, p := range x.paths {
		if isWild(p) {
			x.stated = append(x.stated, segmentsOf(p))
		}
	}
	var err error
	if shippedAs(e.Identity).takesPath {
		x.judge, err = alone(ctx, e)
	} else {
		x.judge, err = readerOf(ctx, e.Ceiling.Paths)
	}
	return x, err
}

// holds reports whether everything other covers is shown to be covered here, and if
// not, by which of its patterns it is not.
//
// A pattern without wildcards is one path, and it is asked whether it is covered.
// That is not what the patterns alone say: naming a place where secrets are kept
// exactly admits it, and a wildcard never does, so .env lies outside of **.
func (x *extentOf) holds(other *extentOf) (pattern string, ok bool) {
	for _, p := range other.paths {
		if isWild(p) && x.spans(segmentsOf(p)) {
			continue
		}
		if !isWild(p) && (covers(x.judge, p) || !covers(other.judge, p)) {
			continue
		}
		return p, false
	}
	return "", true
}

// spans reports whether a stated pattern covers what another one does: because it is
// the same, or because it is a directory and ** and the other begins with the
// directory. No other relation of two patterns is tried.
func (x *extentOf) spans(segments []string) bool {
	return slices.ContainsFunc(x.stated, func(stated []string) bool {
		if slices.Equal(stated, segments) {
			return true
		}
		last := len(stated) - 1
		return stated[last] == "**" && len(segments) >= last && slices.Equal(stated[:last], segments[:last]) &&
			!slices.ContainsFunc(stated[:last], isWild)
	})
}

// isWild reports whether a pattern, or a segment of one, may cover several paths.
func isWild(pattern string) bool { return strings.ContainsAny(pattern, "*?[{") }
