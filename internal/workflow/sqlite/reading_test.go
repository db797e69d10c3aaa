package sqlite

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/workflow"
)

// copyRun is what a killed process would have left, of a run that is still open.
func copyRun(t *testing.T, s store, kinds ...string) (store, string) {
	t.Helper()
	to := store{filepath.Join(t.TempDir(), "killed")}
	require.NoError(t, os.Mkdir(to.dir, 0o700))
	for _, kind := range kinds {
		text, err := os.ReadFile(s.at("r", database) + kind)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to.at("r", database)+kind, text, 0o600))
	}
	return to, to.at("r", database)
}

// withoutIndex is what R27 promises: the shared index is nobody's history.
func withoutIndex(all map[string][32]byte) map[string][32]byte {
	for name := range all {
		if strings.HasSuffix(name, indexFile) {
			all[name] = [32]byte{}
		}
	}
	return all
}

// TestR27_LookingChangesNothing: wherever a run stands, and whatever its process left
// beside it.
func TestR27_LookingChangesNothing(t *testing.T) {
	live, _ := made(t, 2)
	x, err := live.Acquire(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, x.Begin(t.Context(), false))
	_, err = x.Append(t.Context(), event(2))
	require.NoError(t, err)
	killed, _ := copyRun(t, live, "", logFile, indexFile)
	moved, _ := copyRun(t, live, "", logFile)
	rested, path := made(t, 3)
	unrested, _ := copyRun(t, rested, "")
	db, err := connect(unrested.at("r", database), "mode=rw")
	require.NoError(t, err)
	_, err = db.Exec("PRAGMA journal_mode=WAL")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.Len(t, files(t, unrested.dir), 1)

	half, _ := made(t, 3)
	db, err = connect(half.at("r", database), "mode=rw", "cache_size(1)")
	require.NoError(t, err)
	tx, err := db.Begin()
	require.NoError(t, err)
	for n := range 200 {
		_, err = tx.Exec(`INSERT INTO journal_events (event_id, record, workspace_root) SELECT ?, record, workspace_root FROM journal_events WHERE sequence = 1`, fmt.Sprint(n))
		require.NoError(t, err)
	}
	cut, _ := copyRun(t, half, "", rollbackFile)
	require.NoError(t, tx.Rollback())
	require.NoError(t, db.Close())

	for name, s := range map[string]store{"live": live, "killed": killed, "moved without its index": moved, "at rest": rested, "left with a log": unrested, "cut off": cut} {
		t.Run(name, func(t *testing.T) {
			before := withoutIndex(files(t, s.dir))
			for range 2 {
				snap, err := s.Inspect(t.Context(), "r", true)
				require.NoError(t, err)
				require.Len(t, snap.Events, 3)
				list, err := s.List(t.Context())
				require.NoError(t, err)
				require.Len(t, list, 1)
				require.Equal(t, snap.Record, list[0])
			}
			require.Equal(t, before, withoutIndex(files(t, s.dir)))
		})
		if name == "live" {
			continue
		}
		taken, err := s.Acquire(t.Context(), "r")
		require.NoError(t, err)
		snap, err := taken.Snapshot(t.Context())
		require.NoError(t, err)
		require.Len(t, snap.Events, 3)
		require.NoError(t, taken.Release())
	}
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	taken, err := rested.Acquire(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, taken.Release())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after, "a run that is taken and refused is not written")
	require.NoError(t, x.Settle(t.Context(), workflow.Completed, workflow.Reason{}))
	require.NoError(t, x.Release())
}

// TestReadersAndAnExecutor: whoever looks sees a committed state, and the executor is not
// disturbed by it.
func TestReadersAndAnExecutor(t *testing.T) {
	s, _ := made(t, 0)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for seen := 0; ; {
				select {
				case <-stop:
					return
				default:
				}
				snap, err := s.Inspect(context.Background(), "r", true)
				if err != nil || len(snap.Events) < seen || (len(snap.Events) > 0 && snap.Events[len(snap.Events)-1].Root != snap.Root) {
					t.Errorf("%d events, once %d: %v", len(snap.Events), seen, err)
					return
				}
				seen = len(snap.Events)
			}
		})
	}
	n := 0
	for range 15 {
		x, err := s.Acquire(t.Context(), "r")
		require.NoError(t, err)
		require.NoError(t, x.Begin(t.Context(), false))
		for range 5 {
			require.NoError(t, writeFile(t.Context(), x, fmt.Sprint("f", n), "text", n))
			n++
		}
		require.NoError(t, x.Settle(t.Context(), workflow.Interrupted, workflow.Reason{Code: workflow.ExecutorInterrupted}))
		require.NoError(t, x.Release())
	}
	close(stop)
	readers.Wait()
	snap, err := s.Inspect(t.Context(), "r", true)
	require.NoError(t, err)
	require.Len(t, snap.Events, n)
}

// TestF3_CutLog: a log that was not written to its end is a committed state before the
// cut.
func TestF3_CutLog(t *testing.T) {
	s, _ := made(t, 0)
	x, err := s.Acquire(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, x.Begin(t.Context(), false))
	type commit struct {
		size, events int
	}
	var commits []commit
	for n := range 4 {
		require.NoError(t, writeFile(t.Context(), x, "f", fmt.Sprint(n), n))
		info, err := os.Stat(s.at("r", database) + logFile)
		require.NoError(t, err)
		commits = append(commits, commit{int(info.Size()), n + 1})
	}
	killed, path := copyRun(t, s, "", logFile)
	require.NoError(t, x.Release())
	text, err := os.ReadFile(path + logFile)
	require.NoError(t, err)
	require.EqualValues(t, 0x377f0682, binary.BigEndian.Uint32(text)&^1)
	for size := commits[1].size; size <= len(text); size += 512 {
		require.NoError(t, os.WriteFile(path+logFile, text[:size], 0o600))
		want := 0
		for _, c := range commits {
			if c.size <= size {
				want = c.events
			}
		}
		snap, err := killed.Inspect(t.Context(), "r", true)
		require.NoError(t, err, "%d bytes", size)
		require.Len(t, snap.Events, want, "%d bytes", size)
		require.Equal(t, snap.Events[want-1].Root, snap.Root)
	}
	taken, err := killed.Acquire(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, taken.Reconcile(t.Context(), workflow.Interrupted, workflow.Reason{Code: workflow.ExecutorInterrupted}))
	require.NoError(t, taken.Begin(t.Context(), false))
	require.NoError(t, taken.Release())
}

// TestInspectionNeedsAPlaceForACopy: that there is none is no damage of the run.
func TestInspectionNeedsAPlaceForACopy(t *testing.T) {
	s, _ := made(t, 0)
	x, err := s.Acquire(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, x.Begin(t.Context(), false))
	moved, _ := copyRun(t, s, "", logFile)
	require.NoError(t, x.Release())
	t.Setenv("TMPDIR", filepath.Join(s.dir, "none"))
	_, err = moved.Inspect(t.Context(), "r", false)
	requireCondition(t, workflow.Inspection, err)
}
