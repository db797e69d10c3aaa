package capability

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

func TestFileRead(t *testing.T) {
	b := newWorkbench(t, map[string]string{"docs/a.txt": "A\r\nü", "bin": "\xff\xfe", "big": strings.Repeat("x", 300_000), "empty": ""})
	e := captured(t, FileRead(b.root))
	require.Equal(t, "xmd.core/File.read@1", e.Identity.String())
	require.Equal(t, SelfClosing, e.Forms)
	read := func(dir, path string, limit int) (any, error) {
		c := call(dir, "", "path", path)
		c.Form, c.Limit = SelfClosing, limit
		return perform(t.Context(), e, c)
	}
	for path, want := range map[string]string{"docs/a.txt": "A\r\nü", "empty": "", "./docs//a.txt": "A\r\nü"} {
		v, err := read("", path, 1<<20)
		require.NoError(t, err)
		require.Equal(t, want, v)
	}
	v, err := read("docs", "a.txt", 5)
	require.NoError(t, err, "exactly the limit")
	require.Equal(t, "A\r\nü", v)
	v, err = read("", "big", 0)
	require.NoError(t, err, "the limit of the profile")
	require.Len(t, v, 300_000)
	for path, reason := range map[string]string{
		"missing/x": "no such file or directory", "docs": "it is a directory", "bin": "it is not UTF-8 text",
		"docs/a.txt/x": "something that has to be a directory is not one", "docs/../big": "it is larger than a value may be",
	} {
		_, err := read("", path, 200_000)
		require.EqualError(t, err, `cannot read "`+path+`": `+reason)
	}
	require.True(t, value.Equal(value.Of("path", "docs/a.txt"), e.Record(call("docs/x", "", "path", "../a.txt")).Input))
	require.Equal(t, "capability", e.Record(call("", "", "path", "a")).Type)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = perform(ctx, e, call("", "", "path", "big"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = FileRead(nil).Op.Do(t.Context(), call("", "", "path", "a"))
	require.ErrorIs(t, err, errNotGranted)
	_, err = captured(t, FileRead(nil)).Do(t.Context(), call("", "", "path", "a"))
	require.ErrorIs(t, err, errNoRoot)
}

// A ceiling is about what is opened, not about what it is called.
func TestA22_LinksOfReads(t *testing.T) {
	needsLinks(t)
	b := newWorkbench(t, map[string]string{"docs/a.txt": "A", "other/b.txt": "B", ".env": "E", "sub/x/c.txt": "C"})
	outside := newWorkbench(t, map[string]string{"s.txt": "S"})
	b.link("a.txt", "docs/inside")
	b.link("../docs/../docs/inside", "docs/twice")
	b.link("../other", "docs/dir")
	b.link("../.env", "docs/env")
	b.link(filepath.Join(outside.dir, "s.txt"), "docs/absolute")
	b.link("../../"+filepath.Base(outside.dir)+"/s.txt", "docs/relative")
	b.link("loop", "docs/loop")
	b.link("nowhere", "docs/dangling")
	b.link("../docs", "docs/self")
	narrow, wide := captured(t, FileRead(b.root), within("docs/**")), captured(t, FileRead(b.root))
	for _, row := range []struct{ path, narrow, wide string }{
		{"docs/inside", "A", "A"},
		{"docs/twice", "A", "A"},
		{"docs/self/self/a.txt", "A", "A"},
		{"docs/dir/b.txt", reasonElsewhere, "B"},
		{"docs/dir", reasonElsewhere, reasonDirectory},
		{"docs/env", reasonElsewhere, reasonElsewhere},
		{"docs/absolute", reasonLeaves, reasonLeaves},
		{"docs/relative", reasonLeaves, reasonLeaves},
		{"docs/loop", reasonLinks, reasonLinks},
		{"docs/dangling", "no such file or directory", "no such file or directory"},
	} {
		for e, want := range map[*Granted]string{narrow: row.narrow, wide: row.wide} {
			v, err := perform(t.Context(), e, call("", "", "path", row.path))
			if len(want) == 1 {
				require.NoError(t, err, row.path)
				require.Equal(t, want, v)
				continue
			}
			require.EqualError(t, err, `cannot read "`+row.path+`": `+want)
		}
	}
}

func needsLinks(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("making a symbolic link needs a privilege on Windows")
	}
}

func TestFileWrite(t *testing.T) {
	b := newWorkbench(t, map[string]string{"old.sh": "old", "dir/x": ""})
	require.NoError(t, os.Chmod(filepath.Join(b.dir, "old.sh"), 0o750))
	e := captured(t, FileWrite(b.root))
	require.Equal(t, "xmd.core/File.write@1", e.Identity.String())
	require.False(t, e.Binds())
	for path, text := range map[string]string{"new.txt": " a\n", "old.sh": strings.Repeat("new", chunk), "a/b/c.txt": "", "a/../a/d": "d"} {
		v, err := perform(t.Context(), e, call("", text, "path", path))
		require.NoError(t, err)
		require.Nil(t, v)
		require.Equal(t, text, b.text(path))
	}
	_, err := perform(t.Context(), e, call("a/b", "e", "path", "../e"))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "a/b", "a/b/c.txt", "a/d", "a/e", "dir", "dir/x", "new.txt", "old.sh"}, b.names())
	if runtime.GOOS != "windows" {
		info, err := os.Stat(filepath.Join(b.dir, "old.sh"))
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o750), info.Mode())
	}
	for path, reason := range map[string]string{"dir": "it is a directory", "new.txt/x": "something that has to be a directory is not one"} {
		_, err := perform(t.Context(), e, call("", "text", "path", path))
		require.EqualError(t, err, `cannot write "`+path+`": `+reason+`; the file is unchanged`)
	}
	r := e.Record(call("", "hello", "path", "./x/../new.txt"))
	require.Equal(t, "capability", r.Type)
	require.True(t, value.Equal(value.Of("path", "new.txt"), r.Input))
	require.Equal(t, []RecordMember{{"bytes", 5.0}, {"digest", "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}}, r.Extra)
}

func TestA22_WritesCrossNoLink(t *testing.T) {
	needsLinks(t)
	b := newWorkbench(t, map[string]string{"real/a.txt": "A", "components/X.md": "X"})
	outside := newWorkbench(t, map[string]string{"s.txt": "S"})
	b.link("real/a.txt", "final")
	b.link("nowhere", "dangling")
	b.link("components", "alias")
	b.link(outside.dir, "out")
	before := b.names()
	write, remove, ensure := captured(t, FileWrite(b.root)), captured(t, FileDelete(b.root)), captured(t, EnsureDir(b.root))
	for _, path := range []string{"final", "dangling", "alias/X.md", "alias/new/Y.md", "out/s.txt", "out/new.txt"} {
		_, err := perform(t.Context(), write, call("", "text", "path", path))
		require.EqualError(t, err, `cannot write "`+path+`": `+reasonLink+`; the file is unchanged`)
		_, err = perform(t.Context(), remove, call("", "", "path", path))
		require.EqualError(t, err, `cannot delete "`+path+`": `+reasonLink+`; the file is unchanged`)
	}
	for _, path := range []string{"alias", "alias/new", "out/new", "final", "dangling/x"} {
		_, err := perform(t.Context(), ensure, call("", "", "path", path))
		require.EqualError(t, err, `cannot create "`+path+`": `+reasonLink)
	}
	require.Equal(t, before, b.names())
	require.Equal(t, "A", b.text("real/a.txt"))
	require.Equal(t, []string{"s.txt"}, outside.names())
}

// A meddler changes the directory when the operation looks at its context for the
// n-th time, that is while it runs.
type meddler struct {
	context.Context
	n      int
	meddle func()
}

func (m *meddler) Err() error {
	if m.n--; m.n == 0 {
		m.meddle()
	}
	return m.Context.Err()
}

func TestA22_LinkSwappedInUnderAWrite(t *testing.T) {
	needsLinks(t)
	content := strings.Repeat("x", 3*chunk)
	for name, row := range map[string]struct {
		path   string
		meddle func(b, outside *workbench)
		wrote  bool // in the directory that was opened, wherever it is now
	}{
		"the target becomes a link out": {"out.txt", func(b, outside *workbench) {
			b.link(filepath.Join(outside.dir, "s.txt"), "out.txt")
		}, false},
		"the target becomes a link to a control file": {"out.txt", func(b, _ *workbench) {
			b.link("xmd.yaml", "out.txt")
		}, false},
		"the parent becomes a link out": {"sub/out.txt", func(b, outside *workbench) {
			require.NoError(b.t, os.Rename(filepath.Join(b.dir, "sub"), filepath.Join(b.dir, "moved")))
			b.link(outside.dir, "sub")
		}, true},
		"the parent becomes a link inside": {"sub/out.txt", func(b, _ *workbench) {
			require.NoError(b.t, os.Rename(filepath.Join(b.dir, "sub"), filepath.Join(b.dir, "moved")))
			b.link("components", "sub")
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newWorkbench(t, map[string]string{"xmd.yaml": "version: 1", "components/out.txt": "C", "sub/y": ""})
			outside := newWorkbench(t, map[string]string{"s.txt": "S"})
			swapped := false
			ctx := &meddler{t.Context(), 2, func() { swapped = true; row.meddle(b, outside) }}
			_, err := perform(ctx, captured(t, FileWrite(b.root)), call("", content, "path", row.path))
			require.True(t, swapped)
			if row.wrote {
				require.NoError(t, err)
				require.Equal(t, content, b.text("moved/out.txt"))
			} else {
				require.EqualError(t, err, `cannot write "`+row.path+`": `+reasonLink+`; the file is unchanged`)
			}
			require.Equal(t, "version: 1", b.text("xmd.yaml"))
			require.Equal(t, "C", b.text("components/out.txt"))
			require.Equal(t, []string{"s.txt"}, outside.names())
			require.Equal(t, "S", outside.text("s.txt"))
			for _, left := range b.names() {
				require.NotContains(t, left, ".tmp")
			}
		})
	}
}

func TestWriteCancelled(t *testing.T) {
	b := newWorkbench(t, map[string]string{"a.txt": "old"})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := perform(&meddler{ctx, 2, cancel}, captured(t, FileWrite(b.root)), call("", strings.Repeat("x", 3*chunk), "path", "a.txt"))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "old", b.text("a.txt"))
	require.Equal(t, []string{"a.txt"}, b.names())
}

func TestFileDelete(t *testing.T) {
	b := newWorkbench(t, map[string]string{"a.txt": "", "dir/b.txt": ""})
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "empty"), 0o777))
	e := captured(t, FileDelete(b.root))
	require.Equal(t, "xmd.core/File.delete@1", e.Identity.String())
	for _, path := range []string{"a.txt", "a.txt", "never", "never/b.txt"} {
		v, err := perform(t.Context(), e, call("", "", "path", path))
		require.NoError(t, err)
		require.Nil(t, v)
	}
	for _, path := range []string{"dir", "empty"} {
		_, err := perform(t.Context(), e, call("", "", "path", path))
		require.EqualError(t, err, `cannot delete "`+path+`": it is a directory; the file is unchanged`)
	}
	_, err := perform(t.Context(), e, call("", "", "path", "dir/b.txt/c"))
	require.ErrorContains(t, err, reasonNoDir)
	require.Equal(t, []string{"dir", "dir/b.txt", "empty"}, b.names())
	c := call("dir", "", "path", "b.txt")
	c.Form = SelfClosing
	_, err = perform(t.Context(), e, c)
	require.NoError(t, err)
	require.Equal(t, []string{"dir", "empty"}, b.names())
	require.Empty(t, e.Record(c).Extra)
}

func TestEnsureDir(t *testing.T) {
	b := newWorkbench(t, map[string]string{"file": "", "a/x": ""})
	e := captured(t, EnsureDir(b.root))
	require.True(t, e.Moves())
	require.False(t, e.Binds())
	for _, row := range []struct{ dir, path, target string }{
		{"", "a/b/c", "a/b/c"}, {"a/b", "../d", "a/d"}, {"a", ".", "a"}, {"", ".", ""}, {"a/b", "../..", ""},
	} {
		v, err := perform(t.Context(), e, call(row.dir, " content\n", "path", row.path))
		require.NoError(t, err, row)
		require.Equal(t, " content\n", v)
		require.Equal(t, row.target, e.Target(row.dir, value.Of("path", row.path)))
	}
	require.Equal(t, []string{"a", "a/b", "a/b/c", "a/d", "a/x", "file"}, b.names())
	_, err := perform(t.Context(), e, call("", "", "path", "file/x"))
	require.EqualError(t, err, `cannot create "file/x": something that has to be a directory is not one`)
	require.True(t, value.Equal(value.Of("path", "."), e.Record(call("a", "", "path", "..")).Input))
	bounded := captured(t, EnsureDir(b.root), within("a/**"))
	require.Empty(t, classOf(bounded, use(Paired, "", "path", "a")))
	require.Equal(t, "path", classOf(bounded, use(Paired, "", "path", ".")))
	require.Equal(t, "path", classOf(bounded, use(Paired, "", "path", "b")))
}

func TestA22_CeilingsOfPaths(t *testing.T) {
	b := newWorkbench(t, nil)
	for _, e := range []*Granted{
		captured(t, FileRead(b.root), within("CHANGELOG.md", "docs/**")),
		captured(t, FileWrite(b.root), within("CHANGELOG.md", "docs/**")),
		captured(t, FileDelete(b.root), within("CHANGELOG.md", "docs/**")),
	} {
		for path, class := range map[string]string{
			"CHANGELOG.md": "", "docs/a": "", "docs/a/b/c.txt": "", "x/../docs/a": "",
			"changelog.md": "path", "Docs/a": "path", "docs-private/a": "path", "docs/../x": "path", "sub/CHANGELOG.md": "path",
		} {
			require.Equal(t, class, classOf(e, use(e.Forms, "", "path", path)), path)
		}
		require.Empty(t, classOf(e, use(e.Forms, "docs/x", "path", "../a")))
		require.Equal(t, "path", classOf(e, use(e.Forms, "docs", "path", "../x")))
	}
	_, err := captured(t, FileWrite(b.root), within("docs/**")).Do(t.Context(), call("docs", "", "path", "../x"))
	require.EqualError(t, err, `the path "../x" is outside the paths this host stated`)
	require.Empty(t, b.names())
}
