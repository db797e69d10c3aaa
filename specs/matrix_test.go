package specs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	rowTest = regexp.MustCompile(`(?m)^func (Test((?:A|EL)[0-9]+|WGAC18)_\w+)\(`)
	rowLine = regexp.MustCompile(`(?m)^\| ((?:A|EL)[0-9]+|WGAC18)( D)? \| [^|]+ \| ([^|]+) \|$`)
	rowName = regexp.MustCompile("`(Test[^`]+)`")
)

// TestFragmentMatrix: section 15 of fragments.md names exactly the tests there are
// for each row, and each row with a D has a deliberate defect that names it.
func TestFragmentMatrix(t *testing.T) {
	there := map[string][]string{}
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range rowTest.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(there[m[2]], m[1]) {
				there[m[2]] = append(there[m[2]], m[1])
			}
		}
		return err
	}))
	page, err := os.ReadFile("fragments.md")
	require.NoError(t, err)
	defects, err := os.ReadFile("../internal/defects/list.go")
	require.NoError(t, err)
	rows := rowLine.FindAllStringSubmatch(string(page), -1)
	require.Len(t, rows, 34)
	for _, row := range rows {
		var named []string
		for _, m := range rowName.FindAllStringSubmatch(row[3], -1) {
			named = append(named, m[1])
		}
		require.NotEmpty(t, named, row[1])
		require.ElementsMatch(t, there[row[1]], named, "row %s", row[1])
		if row[2] != "" {
			require.Contains(t, string(defects), `"`+row[1]+`"`, "row %s has no deliberate defect", row[1])
		}
		delete(there, row[1])
	}
	require.Empty(t, there, "tests named after rows that the page does not have")
}
