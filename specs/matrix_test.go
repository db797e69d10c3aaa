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

var rowName = regexp.MustCompile("`(Test[^`]+)`")

// TestMatrices: the matrix of each page names exactly the tests there are for each row,
// and each row with a D has a deliberate defect that names it.
func TestMatrices(t *testing.T) {
	for _, page := range []struct {
		file, rows string
		count      int
	}{
		{"fragments.md", `(?:A|EL)[0-9]+|WGAC18`, 34},
		{"prompt-command-spec.md", `PR[0-9]+`, 15},
		{"acp-client-spec.md", `AG[0-9]+`, 22},
	} {
		t.Run(page.file, func(t *testing.T) { compareMatrix(t, page.file, page.rows, page.count) })
	}
}

func compareMatrix(t *testing.T, file, pattern string, count int) {
	rowTest := regexp.MustCompile(`(?m)^func (Test(` + pattern + `)_\w+)\(`)
	rowLine := regexp.MustCompile(`(?m)^\| (` + pattern + `)( D)? \| [^|]+ \| ([^|]+) \|$`)
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
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	defects, err := os.ReadFile("../internal/defects/list.go")
	require.NoError(t, err)
	rows := rowLine.FindAllStringSubmatch(string(page), -1)
	require.Len(t, rows, count)
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
