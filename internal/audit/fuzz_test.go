package audit

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzJournal audits a history with some of it replaced, and whatever bytes there
// are: there is no panic, nothing hidden is shown, and an effect outside its grant is
// never without an error.
func FuzzJournal(f *testing.F) {
	good := honest(f).lines()
	f.Add(good, 0, []byte(nil))
	for _, change := range []string{`"path":"src/x"`, `root.0`, `\u202e`, "\n", `"xmd.core/Glob@1"`, `1e300`, `{}`} {
		for _, at := range []int{100, 400, 900, 2500, len(good) - 400} {
			f.Add(good, at, []byte(change))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, at int, change []byte) {
		if at >= 0 && at < len(data) {
			data = bytes.Clone(data)
			copy(data[at:], change)
		}
		j, err := InspectJournal(t.Context(), "h", data)
		if err != nil {
			return
		}
		for _, e := range j.Effects {
			if !e.Inside {
				require.Equal(t, Error, Worst(j.Found()))
			}
		}
		require.False(t, hidden.MatchString(Text(j, false)))
	})
}

// FuzzSpans compares what is shown of two patterns with what the patterns cover: a
// pattern that is said to lie inside another covers no path the other does not.
func FuzzSpans(f *testing.F) {
	for _, seed := range [][3]string{
		{"docs/**", "docs/*.md", "docs/a.md"}, {"**", "{a,b}/*", "b/c"}, {"docs/**", "docs{/a,x/b}", "docsx/b"},
		{"a/**", "a/**", "a"}, {"a/*/**", "a/b/**", "a/b"}, {"**", ".env*", ".env"}, {"a/**/**", "./a//*", "a/b"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, outer, inner, path string) {
		entry := func(pattern string) Entry {
			return Entry{Identity: fileRead, Ceiling: Ceiling{Reach: ReachPaths, Paths: []string{pattern}}}
		}
		a, err := newExtent(t.Context(), entry(outer))
		if err != nil {
			return
		}
		b, err := newExtent(t.Context(), entry(inner))
		if err != nil {
			return
		}
		if _, inside := a.holds(b); inside && covers(b.judge, path) {
			require.True(t, covers(a.judge, path), "%s is in %s and not in %s", path, inner, outer)
		}
	})
}
