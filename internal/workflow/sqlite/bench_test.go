package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/journal"
)

func BenchmarkStep(b *testing.B) {
	s := store{b.TempDir()}
	x, err := s.Create(b.Context(), identity("r"), sources)
	require.NoError(b, err)
	b.Cleanup(func() { _ = x.Release() })
	for n := 0; b.Loop(); n++ {
		if _, err := x.Append(b.Context(), event(n)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend is what a step is measured against: the same bytes and a sync.
func BenchmarkAppend(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	require.NoError(b, err)
	defer f.Close()
	line, err := journal.AppendLine(nil, event(1))
	require.NoError(b, err)
	for b.Loop() {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens a run of 100,000 events for carrying it on, all of them read.
func BenchmarkOpen(b *testing.B) {
	s := store{b.TempDir()}
	x, err := s.Create(b.Context(), identity("r"), sources)
	require.NoError(b, err)
	_, err = x.Append(b.Context(), event(0))
	require.NoError(b, err)
	require.NoError(b, x.Release())
	const events = 100_000
	db, err := connect(s.at("r", database), "mode=rw")
	require.NoError(b, err)
	_, err = db.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO journal_events (event_id, record, workspace_root) SELECT lower(hex(randomblob(16))), record, workspace_root FROM n, journal_events WHERE sequence = 1`, events-1)
	require.NoError(b, err)
	require.NoError(b, db.Close())
	b.ResetTimer()
	for b.Loop() {
		x, err := s.Acquire(b.Context(), "r")
		require.NoError(b, err)
		snap, err := x.Snapshot(b.Context())
		require.NoError(b, err)
		require.Len(b, snap.Events, events)
		require.NoError(b, x.Release())
	}
}
