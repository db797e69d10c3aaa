//go:build unix

package capability

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pipe nobody writes to must not make anybody wait.
func TestA22_PipesAreNoFiles(t *testing.T) {
	b := newWorkbench(t, nil)
	require.NoError(t, syscall.Mkfifo(filepath.Join(b.dir, "pipe"), 0o666))
	_, err := perform(t.Context(), captured(t, FileRead(b.root)), call("", "", "path", "pipe"))
	require.EqualError(t, err, `cannot read "pipe": it is not a regular file`)
	_, err = perform(t.Context(), captured(t, FileWrite(b.root)), call("", "", "path", "pipe"))
	require.EqualError(t, err, `cannot write "pipe": it is not a regular file; the file is unchanged`)
	_, err = perform(t.Context(), captured(t, FileDelete(b.root)), call("", "", "path", "pipe"))
	require.EqualError(t, err, `cannot delete "pipe": it is not a regular file; the file is unchanged`)
	v, err := perform(t.Context(), captured(t, Glob(b.root)), call("", "", "include", list("*")))
	require.NoError(t, err)
	require.Equal(t, list(), v)
}
