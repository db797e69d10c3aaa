//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// suiteOf writes so many passing cases and one that is not as wanted.
func suiteOf(t *testing.T, passing int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := range passing {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.txtar", i)), []byte("-- fragment.md --\nt\n-- want --\nadmitted\n"), 0o600))
	}
	last := "-- fragment.json --\n\"\\u202et\"\n-- results --\n{}\n-- want --\nadmitted\n-- want/output --\nx\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "last.txtar"), []byte(last), 0o600))
	return dir
}

// TestLongSuiteShowsProgressOnATerminal: how far it is, on a line that is gone when the
// report is printed.
func TestLongSuiteShowsProgressOnATerminal(t *testing.T) {
	s := newScreen(t)
	p := s.start(suiteOf(t, 250), nil, "admit", "test", ".")
	require.Equal(t, 1, p.wait())
	s.close()
	shown := s.text()
	require.Contains(t, shown, " of 251 cases")
	progress, report, cleared := strings.Cut(shown, "\r\x1b[K")
	require.True(t, cleared, "%q", shown)
	require.NotContains(t, progress, "failed")
	require.Contains(t, report, "last.txtar: failed")
	require.Contains(t, report, `+\u202et`, "nothing that turns the screen around is shown as it is")
	require.NotContains(t, shown, "\u202e")
	require.Contains(t, report, "251 cases: 250 passed, 1 failed")
}

// TestShortSuiteShowsNoProgress: nor does one whose diagnostics go elsewhere.
func TestShortSuiteShowsNoProgress(t *testing.T) {
	s := newScreen(t)
	p := s.start(suiteOf(t, 20), nil, "admit", "test", ".")
	require.Equal(t, 1, p.wait())
	s.close()
	require.NotContains(t, s.text(), " of 21 cases")
	require.Contains(t, s.text(), "21 cases: 20 passed, 1 failed")
}
