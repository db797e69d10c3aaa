package specs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/suite"
)

// shipped reads the suite that comes with the product.
func shipped(t *testing.T) []*suite.Case {
	t.Helper()
	var cases []*suite.Case
	err := filepath.WalkDir("admission", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		require.Equal(t, ".txtar", filepath.Ext(path), "%s is no case", path)
		text, err := os.ReadFile(path)
		cases = append(cases, suite.Read(filepath.ToSlash(path), text))
		return err
	})
	require.NoError(t, err)
	return cases
}

// TestAdmissionSuite: every case of the shipped suite is as wanted, and together they
// show every class in both dialects, every feature and every ceiling (fragments 12).
func TestAdmissionSuite(t *testing.T) {
	cases := shipped(t)
	require.GreaterOrEqual(t, len(cases), 300)
	report, err := suite.Run(t.Context(), cases, nil)
	require.NoError(t, err)
	for _, o := range report.Outcomes {
		require.True(t, o.Passed(), "%s: %s", o.Name, strings.Join(o.Problems, "\n"))
	}
	require.Equal(t, "nothing", report.Uncovered().String())
}

// TestA2_SuiteHasFiveOfEveryClass: five refused forms of every class in each dialect,
// or of those a dialect can refuse, each beside the nearest form that is admitted.
func TestA2_SuiteHasFiveOfEveryClass(t *testing.T) {
	report, err := suite.Run(t.Context(), shipped(t), nil)
	require.NoError(t, err)
	decisions := map[string]string{}
	for _, o := range report.Outcomes {
		decisions[strings.TrimSuffix(o.Name, ".txtar")] = o.Decision
	}
	refused := map[string]int{}
	for name, decision := range decisions {
		class, is := strings.CutPrefix(decision, "refused: ")
		if !is {
			continue
		}
		refused[class]++
		group := strings.Split(name, "/")
		if group[1] == "limits" {
			continue
		}
		require.Equal(t, class, group[2], name)
		require.Equal(t, "admitted", decisions[name+"-neighbour"], "%s has no neighbour", name)
		refused[group[1]+" "+class]++
	}
	for _, class := range []string{"block", "expression", "interpolation", "binding", "component", "content", "form",
		"structure", "encoding", "construct", "props", "request", "path"} {
		require.GreaterOrEqual(t, refused["closed "+class], 5, "closed %s", class)
		require.GreaterOrEqual(t, refused["flat "+class], 5, "flat %s", class)
	}
	require.GreaterOrEqual(t, refused["limit"], 5)
}
