package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/host"
)

func TestFiles(t *testing.T) {
	ctx := t.Context()
	m := NewMemory()
	f := NewFiles(m)
	require.NoError(t, f.WriteText(ctx, "/", "notes/a.md", "one"))
	require.NoError(t, f.EnsureDir(ctx, "/notes", "deep/er"))
	require.NoError(t, f.WriteText(ctx, "/notes/deep", "b.md", "two"))
	text, err := f.ReadText(ctx, "/notes", "./deep/../a.md")
	require.NoError(t, err)
	require.Equal(t, "one", text)
	found, err := f.Glob(ctx, "/notes", []string{"**/*.md"}, []string{"a*"})
	require.NoError(t, err)
	require.Equal(t, []string{"deep/b.md"}, found)
	require.NoError(t, f.Delete(ctx, "/", "notes/a.md"))
	require.NoError(t, f.Delete(ctx, "/", "notes/a.md"))
	found, err = f.Glob(ctx, "/", []string{"*"}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{}, found)
	require.Equal(t, map[string]string{"notes/": "", "notes/deep/": "", "notes/deep/er/": "", "notes/deep/b.md": "two"}, contents(t, m, m.Root()))
	require.NoError(t, Verify(m, m.Root()))

	before := m.Root()
	require.Equal(t, "target operation-failed", refusal(t, f.WriteText(ctx, "/", "new/x", "\xff")))
	require.Equal(t, "target directory", refusal(t, f.WriteText(ctx, "/", "notes", "x")))
	require.Equal(t, before, m.Root())
	_, _, err = f.TempDir(ctx)
	require.Equal(t, "acquire permission-denied", refusal(t, err))
}

func TestOnlyTextIsReadAsText(t *testing.T) {
	m := NewMemory()
	root, err := Write(m, m.Root(), "/", "binary", []byte("\xff\xfe"))
	require.NoError(t, err)
	require.NoError(t, m.Do(t.Context(), true, func(Objects, string) (string, error) { return root, nil }))
	_, err = NewFiles(m).ReadText(t.Context(), "/", "binary")
	require.Equal(t, "target operation-failed", refusal(t, err))
}

// A scripted Store notes what reaches it.
type scripted struct {
	asked []bool
	err   error
}

func (s *scripted) Do(_ context.Context, mutate bool, body func(Objects, string) (string, error)) error {
	s.asked = append(s.asked, mutate)
	if _, err := body(NewMemory(), EmptyRoot); err != nil {
		return err
	}
	return s.err
}

// every calls each operation that reaches the Store, with a path and a pattern.
func every(ctx context.Context, f *Files, path, pattern string) map[string]error {
	_, read := f.ReadText(ctx, "/", path)
	_, glob := f.Glob(ctx, "/", []string{"x"}, []string{pattern})
	return map[string]error{
		host.OpRead: read, host.OpGlob: glob, host.OpWrite: f.WriteText(ctx, "/", path, ""),
		host.OpDelete: f.Delete(ctx, "/", path), host.OpEnsure: f.EnsureDir(ctx, "/", path),
	}
}

// What the text alone refuses begins no transaction.
func TestRefusedByItsText(t *testing.T) {
	s := &scripted{}
	f := NewFiles(s)
	for _, bad := range []string{"", "/x", "../x", "a/../../x"} {
		for operation, err := range every(t.Context(), f, bad, bad+"/{") {
			var refused *host.FileError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, operation, refused.Operation)
			if operation != host.OpGlob {
				require.Equal(t, host.NewFiles().CheckPath(operation, "/", bad), err, "the same words as elsewhere")
				require.Equal(t, err, f.CheckPath(operation, "/", bad))
			} else {
				require.Equal(t, host.PhasePattern, refused.Phase)
			}
		}
	}
	require.Equal(t, "lexical operation-failed", refusal(t, f.CheckPath(host.OpRead, "/", "a\x00")))
	require.Empty(t, s.asked)
}

func TestWhatTheStoreSays(t *testing.T) {
	down := errors.New("commit failed")
	s := &scripted{err: down}
	for operation, err := range every(t.Context(), NewFiles(s), "x", "y") {
		if operation == host.OpRead {
			require.Equal(t, "target missing", refusal(t, err))
		} else {
			require.ErrorIs(t, err, down, operation)
		}
	}
	require.Equal(t, []bool{false, false, true, true, true}, s.asked)

	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	s.asked = nil
	f := NewFiles(s)
	for operation, err := range every(ctx, f, "x", "y") {
		require.ErrorIs(t, err, stopped, operation)
	}
	_, _, err := f.TempDir(ctx)
	require.ErrorIs(t, err, stopped)
	require.Empty(t, s.asked)
}

func TestFilesAreUsedAtOnce(t *testing.T) {
	m := NewMemory()
	f := NewFiles(m)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 20 {
				if err := f.WriteText(t.Context(), "/", fmt.Sprintf("%d/%d", i, j), "x"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	found, err := f.Glob(t.Context(), "/", []string{"*/*"}, nil)
	require.NoError(t, err)
	require.Len(t, found, 160)
}

// A file more costs the directories above it, however many others there are.
func TestFilesRememberWhatTheyMeasured(t *testing.T) {
	c := newCounter()
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/x", i)] = "x"
	}
	c.current = world(t, c, files)
	f := NewFiles(counted{c})
	require.NoError(t, f.WriteText(t.Context(), "/", "d0/new", "x"))
	c.reads = 0
	for i := range 10 {
		require.NoError(t, f.WriteText(t.Context(), "/", fmt.Sprintf("d%d/y%d", i, i), "x"))
	}
	require.LessOrEqual(t, c.reads, 3*10)
}

type counted struct{ *counter }

func (c counted) Do(ctx context.Context, mutate bool, body func(Objects, string) (string, error)) error {
	return c.Memory.Do(ctx, mutate, func(_ Objects, root string) (string, error) { return body(c.counter, root) })
}

func TestMemoryKeepsOnlyWhatHashes(t *testing.T) {
	m := NewMemory()
	require.Error(t, m.PutObject(EmptyRoot, KindBlob, []byte(EmptyTree)))
	require.Error(t, m.PutObject(strings.Repeat("0", 64), KindTree, nil))
}
