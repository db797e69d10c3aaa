package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every defect still applies to the code as it is.
func TestDefectsApply(t *testing.T) {
	t.Chdir("../..")
	names := map[string]bool{}
	for _, d := range defects {
		_, err := d.mutate()
		require.NoError(t, err, d.name)
		require.False(t, names[d.name], "two defects are called %s", d.name)
		names[d.name] = true
		require.NotEmpty(t, d.rows, d.name)
		require.True(t, slices.IsSortedFunc(d.rows, compareRows), d.name)
		require.NotEqual(t, d.old, d.new, d.name)
	}
}

func TestRowsInOrder(t *testing.T) {
	rows := []string{"WGAC18", "EL2", "A10", "A2", "EL1"}
	slices.SortFunc(rows, compareRows)
	require.Equal(t, []string{"A2", "A10", "EL1", "EL2", "WGAC18"}, rows)
}
