package capability

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

// bench is a directory with its root, as a host opens it.
type workbench struct {
	t    *testing.T
	dir  string
	root *os.Root
}

func newWorkbench(t *testing.T, files map[string]string) *workbench {
	t.Helper()
	b := &workbench{t: t, dir: t.TempDir()}
	for name, text := range files {
		full := filepath.Join(b.dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o777))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o666))
	}
	root, err := os.OpenRoot(b.dir)
	require.NoError(t, err)
	b.root = root
	t.Cleanup(func() { root.Close() })
	return b
}

func (b *workbench) link(target, name string) {
	b.t.Helper()
	require.NoError(b.t, os.Symlink(target, filepath.Join(b.dir, name)))
}

func (b *workbench) text(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	require.NoError(b.t, err)
	return string(data)
}

// names lists every file and directory, so that a test sees what was left behind.
func (b *workbench) names() []string {
	b.t.Helper()
	list := []string{}
	require.NoError(b.t, filepath.WalkDir(b.dir, func(p string, _ fs.DirEntry, err error) error {
		if p != b.dir {
			name, _ := filepath.Rel(b.dir, p)
			list = append(list, filepath.ToSlash(name))
		}
		return err
	}))
	return list
}

// capture makes one entry a captured one.
func captured(t testing.TB, e Entry, change ...func(*Profile)) *Granted {
	t.Helper()
	p := Profile{Name: "test"}
	class := ReadClass
	if e.Effect == Read {
		p.Read = []Entry{e}
	} else {
		p.Write, class = []Entry{e}, WriteClass
	}
	for _, f := range change {
		f(&p)
	}
	c, err := Capture(context.Background(), p)
	require.NoError(t, err)
	g, err := c.Select(class)
	require.NoError(t, err)
	return g.ByIdentity(e.Identity.String())
}

func within(paths ...string) func(*Profile) {
	return func(p *Profile) {
		for _, list := range [][]Entry{p.Read, p.Write} {
			for i := range list {
				list[i].Paths = paths
			}
		}
	}
}

func under(c Control) func(*Profile) { return func(p *Profile) { p.Control = c } }

// use is a use whose props are all known.
func use(form Form, dir string, props ...any) Use {
	return Use{Form: form, Props: value.Of(props...), Dir: dir, DirKnown: true}
}

// classOf is the class a use is refused with, empty when it is admitted.
func classOf(e *Granted, u Use) string {
	if v := e.Check(u); v != nil {
		return v.Class
	}
	return ""
}

// perform checks and does, as an evaluator would.
func perform(ctx context.Context, e *Granted, c Call) (any, error) {
	if v := e.Check(Use{Form: c.Form, Props: c.Props, Dir: c.Dir, DirKnown: true}); v != nil {
		return nil, v
	}
	if err := e.Enter(ctx, c); err != nil {
		return nil, err
	}
	v, err := e.Do(ctx, c)
	if err == nil {
		err = e.CheckResult(v)
	}
	return v, err
}

func call(dir, content string, props ...any) Call {
	return Call{Form: Paired, Dir: dir, Content: content, Props: value.Of(props...), Limit: 1 << 20}
}
