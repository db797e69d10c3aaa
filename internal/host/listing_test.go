//go:build unix

package host

import (
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// listed names what List finds in path, below directory.
func listed(directory, path string) ([]string, error) {
	entries, err := NewSources(directory).List(path)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// The entries are many and made in no order, so that no file system answers them
// sorted of its own accord.
func TestListIsInCodePointOrder(t *testing.T) {
	files := map[string]string{"\u00e9": "", "B": "", "a b": "", "a.md": "", "a/": "", "Z/": "", ".hidden": ""}
	for i := range 200 {
		files["e"+strconv.Itoa(i)] = ""
	}
	var want []string
	for name := range files {
		want = append(want, filepath.Clean(name))
	}
	slices.Sort(want)
	got, err := listed(tree(t, files), ".")
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestList(t *testing.T) {
	base := tree(t, map[string]string{
		"real/one.md": "", "real/sub/two.md": "", "real/again": "-> sub", "link": "-> $BASE/real", "file": "",
	})
	for _, c := range []struct {
		directory, path string
		want            []string
		failure         *FileError
	}{
		{directory: "real", path: ".", want: []string{"again", "one.md", "sub"}},
		{directory: "real", path: "sub", want: []string{"two.md"}},
		{directory: "real", path: base + "/real/sub", want: []string{"two.md"}},
		{directory: "link", path: ".", want: []string{"again", "one.md", "sub"}},
		{directory: "link", path: "./", want: []string{"again", "one.md", "sub"}},
		{directory: "link", path: "sub", want: []string{"two.md"}},
		{directory: "real", path: "again", failure: failed(OpList, PhaseTarget, NotDirectory)},
		{directory: ".", path: "link", failure: failed(OpList, PhaseTarget, NotDirectory)},
		{directory: ".", path: "file", failure: failed(OpList, PhaseTarget, NotDirectory)},
		{directory: ".", path: "nothing", failure: failed(OpList, PhaseResolution, Missing)},
		{directory: ".", path: "", failure: failed(OpList, PhaseLexical, EmptyPath)},
	} {
		got, err := listed(filepath.Join(base, c.directory), c.path)
		require.Equal(t, c.want, got, "%s below %s", c.path, c.directory)
		if c.failure == nil {
			require.NoError(t, err, "%s below %s", c.path, c.directory)
		} else {
			require.Equal(t, c.failure, err, "%s below %s", c.path, c.directory)
		}
	}
}
