package host

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpenRoot(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("A"), 0o666))
	root, err := OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	text, err := root.ReadFile("a")
	require.NoError(t, err)
	require.Equal(t, "A", string(text))
	t.Chdir(dir)
	here, err := OpenRoot(".")
	require.NoError(t, err)
	require.NoError(t, here.Close())
	for _, row := range [][2]string{{"", EmptyPath}, {filepath.Join(dir, "none"), Missing}, {filepath.Join(dir, "a"), NotDirectory}} {
		_, err := OpenRoot(row[0])
		var f *FileError
		require.ErrorAs(t, err, &f)
		require.Equal(t, row[1], f.Reason)
		require.NotContains(t, err.Error(), dir)
	}
	_, err = root.ReadFile("none")
	require.Equal(t, "no such file or directory", Phrase(err))
	_, err = root.ReadFile("../x")
	require.Equal(t, "the path passes through a link that leaves the working directory", Phrase(err))
	require.Equal(t, "the filesystem operation failed", Phrase(fs.ErrClosed))
}
