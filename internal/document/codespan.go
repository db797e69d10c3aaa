package document

import (
	"slices"
	"strings"
)

// A runIndex lists the runs of backticks of a text by their length, so that the
// partner of a run is found without looking for it (language 1.8). Questions come
// in ascending order of place.
type runIndex struct {
	lengths []int         // the lengths there are, ascending
	starts  map[int][]int // where the runs of a length start; passed ones are dropped
}

// newRunIndex lists the runs of s from lo to its end.
func newRunIndex(s string, lo int) *runIndex {
	r := &runIndex{starts: map[int][]int{}}
	for i := lo; ; {
		j := strings.IndexByte(s[i:], '`')
		if j < 0 {
			break
		}
		i += j
		n := runLength(s, i)
		r.starts[n] = append(r.starts[n], i)
		i += n
	}
	for n := range r.starts {
		r.lengths = append(r.lengths, n)
	}
	slices.Sort(r.lengths)
	return r
}

// spanEnd returns the end of the code span that the run of n backticks at p, or
// the longest tail of it that has a partner, opens. Without a span it is the end
// of the run.
func (r *runIndex) spanEnd(p, n int) int {
	i, found := slices.BinarySearch(r.lengths, n)
	if found {
		i++
	}
	// There are at most n lengths below n, so this costs no more than the run did.
	for i--; i >= 0; i-- {
		if start, ok := r.next(p+n, r.lengths[i]); ok {
			return start + r.lengths[i]
		}
	}
	return p + n
}

// next returns the place of the first run of exactly n backticks at or after p.
func (r *runIndex) next(p, n int) (start int, ok bool) {
	starts := r.starts[n]
	for len(starts) > 0 && starts[0] < p {
		starts = starts[1:]
	}
	r.starts[n] = starts
	if len(starts) == 0 {
		return 0, false
	}
	return starts[0], true
}
