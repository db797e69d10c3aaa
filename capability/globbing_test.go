package capability

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

func list(texts ...string) []any {
	l := make([]any, len(texts))
	for i, text := range texts {
		l[i] = text
	}
	return l
}

func TestGlob(t *testing.T) {
	b := newWorkbench(t, map[string]string{
		"README.md": "", "docs/a.md": "", "docs/B.md": "", "docs/deep/c.md": "", "docs/deep/c.txt": "", "docs/.hidden.md": "",
		"vendor/x.md": "", "vendor/y/z.md": "", "src/a.go": "", "id_maps/a.go": "", ".env.d/a.go": "",
	})
	wide, narrow := captured(t, Glob(b.root)), captured(t, Glob(b.root), within("docs/**", "src/*"))
	require.Equal(t, "xmd.core/Glob@1", wide.Identity.String())
	for _, row := range []struct {
		dir              string
		include, exclude []any
		wide, narrow     []any
	}{
		{"", list("*"), nil, list("README.md"), list()},
		{"", list("**/*.md"), list("vendor/**"), list("README.md", "docs/.hidden.md", "docs/B.md", "docs/a.md", "docs/deep/c.md"), list("docs/.hidden.md", "docs/B.md", "docs/a.md", "docs/deep/c.md")},
		{"", list("docs/*", "docs/a.md"), nil, list("docs/.hidden.md", "docs/B.md", "docs/a.md"), list("docs/.hidden.md", "docs/B.md", "docs/a.md")},
		{"", list("vendor/**"), list("vendor"), list("vendor/x.md", "vendor/y/z.md"), list()},
		{"", list("vendor/**"), list("vendor/*"), list("vendor/y/z.md"), list()},
		{"", list("README.md/**", "none/*"), nil, list(), list()},
		{"", list("**/a.go"), nil, list("id_maps/a.go", "src/a.go"), list("src/a.go")},
		{"docs", list("**"), list("deep/**"), list(".hidden.md", "B.md", "a.md"), list(".hidden.md", "B.md", "a.md")},
		{"docs/deep", list("./c.{md,txt}"), nil, list("c.md", "c.txt"), list("c.md", "c.txt")},
	} {
		props := []any{"include", row.include}
		if row.exclude != nil {
			props = append(props, "exclude", row.exclude)
		}
		for e, want := range map[*Granted][]any{wide: row.wide, narrow: row.narrow} {
			v, err := perform(t.Context(), e, call(row.dir, "", props...))
			require.NoError(t, err, row)
			require.Equal(t, want, v, row)
		}
	}
	_, err := perform(t.Context(), wide, call("docs/none", "", "include", list("**")))
	require.EqualError(t, err, "cannot search the directory: no such file or directory")
	r := wide.Record(call("docs", "", "include", list("**")))
	require.Equal(t, "capability", r.Type)
	require.True(t, value.Equal(value.Of("include", list("**"), "exclude", []any{}), r.Input))
	_, err = wide.Do(t.Context(), call("", "", "include", list("../*")))
	require.ErrorAs(t, err, new(*Violation))
	_, err = captured(t, Glob(nil)).Do(t.Context(), call("", "", "include", list("*")))
	require.ErrorIs(t, err, errNoRoot)
}

func TestA22_GlobsFollowNoLink(t *testing.T) {
	needsLinks(t)
	b := newWorkbench(t, map[string]string{"docs/a.md": "", "ok.md": ""})
	outside := newWorkbench(t, map[string]string{"s.md": ""})
	b.link(outside.dir, "out")
	b.link("docs", "inside")
	b.link("ok.md", "alias.md")
	b.link("..", "docs/up")
	e := captured(t, Glob(b.root))
	v, err := perform(t.Context(), e, call("", "", "include", list("**", "out/*", "inside/*", "alias.md")))
	require.NoError(t, err)
	require.Equal(t, list("docs/a.md", "ok.md"), v)
	for _, dir := range []string{"out", "inside"} {
		_, err := perform(t.Context(), e, call(dir, "", "include", list("**")))
		require.EqualError(t, err, "cannot search the directory: "+reasonLink)
	}
}

// What no path could name is not listed: a name of it would mislead its reader.
func TestA22_GlobsListOnlyNamesThatCanBeWritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("such names cannot be made on Windows")
	}
	b := newWorkbench(t, map[string]string{
		"ok.md": "", "a:b.md": "", "nul.md": "", "x\u202ey.md": "", "end.": "", "a~1.md": "", `a\b.md`: "", "aux/ok.md": "", "bad\xff.md": "",
	})
	v, err := perform(t.Context(), captured(t, Glob(b.root)), call("", "", "include", list("**")))
	require.NoError(t, err)
	require.Equal(t, list("ok.md"), v)
}

func TestGlobIsBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("d/f%02d.txt", i)] = ""
	}
	b := newWorkbench(t, files)
	deep := filepath.Join(append([]string{b.dir}, strings.Split(strings.Repeat("x/", maxLevels), "/")...)...)
	require.NoError(t, os.MkdirAll(deep, 0o777))
	e := captured(t, Glob(b.root))
	c := call("", "", "include", list("d/*"))
	c.Limit = 30 * len(`"d/f00.txt",`)
	_, err := perform(t.Context(), e, c)
	require.NoError(t, err)
	c.Limit--
	_, err = perform(t.Context(), e, c)
	require.EqualError(t, err, "cannot search the directory: "+reasonMatches)
	_, err = perform(t.Context(), e, call("", "", "include", list("**")))
	require.EqualError(t, err, "cannot search the directory: "+reasonLevels)
	_, err = perform(t.Context(), e, call("", "", "include", list("d/**")))
	require.NoError(t, err, "only where something can match")

	w := &walk{ctx: t.Context(), granted: e, include: &patterns{}, exclude: &patterns{}, weight: 1, entries: 31, work: 1 << 20, bytes: 1 << 20}
	w.include, _ = readPatterns([]string{"**"})
	at, err := b.root.OpenRoot("d")
	require.NoError(t, err)
	defer at.Close()
	require.NoError(t, w.list(at, "", 1))
	require.EqualError(t, w.list(at, "", 1), reasonEntries)
	w.entries, w.work = 100, 60
	require.EqualError(t, w.list(at, "", 1), reasonWork)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = perform(ctx, e, call("", "", "include", list("**")))
	require.ErrorIs(t, err, context.Canceled)
}
