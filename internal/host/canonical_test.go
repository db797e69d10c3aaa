package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCanonical(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "real", "file"), nil, 0o600))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("link/file", filepath.Join(dir, "name")))
	for path, want := range map[string]string{
		"real/file":         "real/file",
		"link/file":         "real/file",
		"name":              "real/file",
		"link/../real/file": "real/file",
		"link/none/deep":    "real/none/deep",
		"none/deep":         "none/deep",
		"link":              "real",
		"real/file/below":   "real/file/below",
	} {
		require.Equal(t, filepath.Join(dir, filepath.FromSlash(want)), Canonical(filepath.Join(dir, filepath.FromSlash(path))), path)
	}
	require.Equal(t, dir, Canonical(dir))
}
