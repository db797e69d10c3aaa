package sqlite

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/internal/workflow"
	"github.com/executable-markdown/xmd/internal/workspace"
)

func identity(id string) workflow.Identity {
	return workflow.Identity{ID: id, Definition: value.Of("kind", "content", "version", 1.0), Base: "content", Props: value.Of("name", "Ada")}
}

var sources = []workflow.Source{{Path: "a.md", Role: "root", Text: []byte("# A\n")}}

func event(n int) journal.Event {
	return journal.Event{Type: journal.TypeYield, CoroutineID: "root", Description: value.Of("type", "exec", "name", fmt.Sprint("exec:", n)), Result: journal.Ok(float64(n))}
}

func requireCondition(t *testing.T, want workflow.Condition, err error) {
	t.Helper()
	var e *workflow.StoreError
	require.ErrorAs(t, err, &e)
	require.Equal(t, want, e.Condition, "%v", err)
}

// made is a store with one run at rest that holds some events.
func made(t *testing.T, events int) (store, string) {
	t.Helper()
	s := store{filepath.Join(t.TempDir(), "runs")}
	x, err := s.Create(t.Context(), identity("r"), sources)
	require.NoError(t, err)
	for n := range events {
		_, err := x.Append(t.Context(), event(n))
		require.NoError(t, err)
	}
	require.NoError(t, x.Settle(t.Context(), workflow.Interrupted, workflow.Reason{Code: workflow.ExecutorInterrupted}))
	require.NoError(t, x.Release())
	require.NoError(t, x.Release())
	return s, s.at("r", database)
}

func files(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	all := map[string][32]byte{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		all[e.Name()] = sha256.Sum256(text)
	}
	return all
}

func TestARunIsKept(t *testing.T) {
	s, path := made(t, 3)
	before := files(t, s.dir)
	require.Len(t, before, 2, "the database and its lock")
	snap, err := s.Inspect(t.Context(), "r", true)
	require.NoError(t, err)
	require.Equal(t, identity("r"), snap.Identity)
	require.Equal(t, workflow.Interrupted, snap.Status)
	require.Equal(t, workflow.Reason{Code: workflow.ExecutorInterrupted}, snap.Reason)
	require.Equal(t, sources, snap.Sources)
	require.Equal(t, workspace.EmptyRoot, snap.Root)
	require.Len(t, snap.Executions, 1)
	require.Len(t, snap.Events, 3)
	for n, e := range snap.Events {
		require.Equal(t, event(n), e.Event)
		require.Equal(t, workspace.EmptyRoot, e.Root)
	}
	list, err := s.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, before, files(t, s.dir), "R27: looking changes nothing and leaves nothing")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())

	_, err = s.Create(t.Context(), identity("r"), nil)
	requireCondition(t, workflow.Conflict, err)
	_, err = s.Inspect(t.Context(), "other", false)
	requireCondition(t, workflow.NotFound, err)
	_, err = s.Acquire(t.Context(), "other")
	requireCondition(t, workflow.NotFound, err)
	require.Equal(t, before, files(t, s.dir), "what is not there is not made")
}

func TestTransitionsAndFencing(t *testing.T) {
	s, _ := made(t, 0)
	ctx := t.Context()
	x, err := s.Acquire(ctx, "r")
	require.NoError(t, err)
	_, err = s.Acquire(ctx, "r")
	requireCondition(t, workflow.Live, err)
	_, err = s.Delete(ctx, "r")
	requireCondition(t, workflow.Live, err)
	require.NoError(t, x.Begin(ctx, false))
	require.Error(t, x.Begin(ctx, false))
	snap, err := s.Inspect(ctx, "r", false)
	require.NoError(t, err)
	require.Equal(t, workflow.Running, snap.Status)
	require.Equal(t, workflow.Reason{}, snap.Reason)
	require.EqualValues(t, 2, snap.Epoch)

	// Another executor was there: nothing of this one is kept any more.
	_, err = x.(*executor).conn.ExecContext(ctx, `UPDATE workflow_run SET epoch = 9`)
	require.NoError(t, err)
	_, err = x.Append(ctx, event(0))
	requireCondition(t, workflow.Fenced, err)
	requireCondition(t, workflow.Fenced, x.Settle(ctx, workflow.Completed, workflow.Reason{}))
	require.NoError(t, x.Release())
	snap, err = s.Inspect(ctx, "r", false)
	require.NoError(t, err)
	require.Empty(t, snap.Events)
	require.Equal(t, workflow.Running, snap.Status)

	x, err = s.Acquire(ctx, "r")
	require.NoError(t, err)
	require.NoError(t, x.Reconcile(ctx, workflow.Interrupted, workflow.Reason{Code: workflow.ExecutorInterrupted}))
	require.NoError(t, x.Begin(ctx, true))
	require.NoError(t, x.Settle(ctx, workflow.Completed, workflow.Reason{}))
	require.NoError(t, x.Release())
}

// TestR24_OneTransaction: a change of the Workspace and its event are kept together, or
// neither is.
func TestR24_OneTransaction(t *testing.T) {
	s, _ := made(t, 0)
	ctx := t.Context()
	x, err := s.Acquire(ctx, "r")
	require.NoError(t, err)
	require.NoError(t, x.Begin(ctx, false))
	write := func(text string, fails error, e *journal.Event) error {
		_, err := x.Transact(ctx, func(tx workflow.Tx) (*journal.Event, error) {
			root, err := workspace.Write(tx, tx.Root(), "/", "dir/a.txt", []byte(text))
			if err == nil {
				err = tx.SetRoot(root)
			}
			return e, errors.Join(err, fails)
		})
		return err
	}
	first, second := event(1), event(2)
	require.NoError(t, write("one", nil, &first))
	require.ErrorContains(t, write("never", errors.New("no"), &second), "no")
	require.NoError(t, write("looked at", nil, nil))
	require.NoError(t, write("two", nil, &second))
	require.NoError(t, write("two", nil, &second), "the same again is the same root")
	require.NoError(t, x.Settle(ctx, workflow.Completed, workflow.Reason{}))
	require.NoError(t, x.Release())
	snap, err := s.Inspect(ctx, "r", true)
	require.NoError(t, err)
	require.Len(t, snap.Events, 3)
	require.Equal(t, snap.Events[1].Root, snap.Events[2].Root)
	require.Equal(t, snap.Root, snap.Events[2].Root)
	require.NoError(t, reading(ctx, s.at("r", database), func(tx *sql.Tx) error {
		for i, want := range []string{"one", "two"} {
			text, err := workspace.Read(objects{ctx, tx}, snap.Events[i].Root, "/", "dir/a.txt")
			require.NoError(t, err)
			require.Equal(t, want, string(text))
		}
		return nil
	}))
}

func TestAnswersAreTakenOnce(t *testing.T) {
	s, path := made(t, 1)
	ctx := t.Context()
	snap, err := s.Inspect(ctx, "r", false)
	require.NoError(t, err)
	a := workflow.Answer{Suspension: "s1", Request: snap.Events[0].ID, Fingerprint: strings.Repeat("a", 64), Value: value.Of("ok", true)}
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.EqualError(t, s.Deliver(ctx, "r", a, func(workflow.Snapshot) error { return errors.New("not now") }), "not now")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after, "R23")
	accept := func(workflow.Snapshot) error { return nil }
	require.NoError(t, s.Deliver(ctx, "r", a, accept))
	require.Error(t, s.Deliver(ctx, "r", a, accept), "one answer to a request")

	x, err := s.Acquire(ctx, "r")
	require.NoError(t, err)
	require.NoError(t, x.Begin(ctx, false))
	take := func() (ok bool) {
		_, err := x.Transact(ctx, func(tx workflow.Tx) (*journal.Event, error) {
			got, found, err := tx.Consume("s1", a.Request)
			if ok = found; !ok || err != nil {
				return nil, err
			}
			require.Equal(t, a.Value, got.Value)
			e := event(7)
			return &e, nil
		})
		require.NoError(t, err)
		return ok
	}
	require.True(t, take())
	require.False(t, take())
	require.NoError(t, x.Settle(ctx, workflow.Completed, workflow.Reason{}))
	require.NoError(t, x.Release())
}

// TestF12_DamageIsNamedAndLeft: every kind of it has its condition, and the file stays
// byte for byte.
func TestF12_DamageIsNamedAndLeft(t *testing.T) {
	change := func(statements ...string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", "file:"+path+"?_pragma=foreign_keys(0)&_pragma=ignore_check_constraints(1)&_pragma=writable_schema(1)")
			require.NoError(t, err)
			for _, statement := range statements {
				_, err := db.Exec(statement)
				require.NoError(t, err, statement)
			}
			require.NoError(t, db.Close())
		}
	}
	put := func(text string) func(*testing.T, string) {
		return func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	}
	for name, row := range map[string]struct {
		harm func(*testing.T, string)
		want workflow.Condition
	}{
		"text file":           {put("# a document\n" + strings.Repeat("words ", 100)), workflow.Format},
		"empty file":          {put(""), workflow.Format},
		"foreign application": {change("PRAGMA application_id = 1"), workflow.Format},
		"no version":          {change("PRAGMA user_version = 0"), workflow.Corrupt},
		"later version":       {change("PRAGMA user_version = 2"), workflow.SchemaVersion},
		"table missing":       {change("DROP TABLE suspension_answers"), workflow.Corrupt},
		"table added":         {change("CREATE TABLE more (a TEXT)"), workflow.Corrupt},
		"column added":        {change("ALTER TABLE definition_source ADD COLUMN more TEXT"), workflow.Corrupt},
		"no run":              {change("DELETE FROM workflow_run"), workflow.RecordMalformed},
		"another run":         {change("UPDATE workflow_run SET run_id = 'other'"), workflow.IDMismatch},
		"properties":          {change(`UPDATE workflow_run SET props = '{"a":1,"a":2}'`), workflow.RecordMalformed},
		"definition":          {change(`UPDATE workflow_run SET definition = '[]'`), workflow.RecordMalformed},
		"event":               {change(`UPDATE journal_events SET record = '{"type":"yield"}' WHERE sequence = 2`), workflow.RecordMalformed},
		"dangling root":       {change("DELETE FROM workspace_objects"), workflow.Corrupt},
		"no current root":     {change("DELETE FROM workspace_state"), workflow.WorkspaceDamaged},
		"flipped object":      {change("UPDATE workspace_objects SET bytes = x'7b7d'"), workflow.WorkspaceDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			s, path := made(t, 3)
			row.harm(t, path)
			before := files(t, s.dir)
			_, err := s.Inspect(t.Context(), "r", true)
			requireCondition(t, row.want, err)
			if name != "flipped object" { // which is looked at when it is read
				_, err = s.Acquire(t.Context(), "r")
				requireCondition(t, row.want, err)
			}
			require.Equal(t, before, files(t, s.dir))
			removed, err := s.Delete(t.Context(), "r")
			require.NoError(t, err)
			require.Len(t, removed, 1)
			require.NoFileExists(t, path)
		})
	}
}

func TestF6_WhatIsNoRun(t *testing.T) {
	s, path := made(t, 1)
	require.NoError(t, os.Rename(path, path+".kept"))
	require.NoError(t, os.Symlink(path+".kept", path))
	_, err := s.Inspect(t.Context(), "r", false)
	requireCondition(t, workflow.Format, err)
	list, err := s.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, list, "a link is no run")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path+"-wal", []byte("x"), 0o600))
	_, err = s.Create(t.Context(), identity("r"), sources)
	requireCondition(t, workflow.Corrupt, err)
	require.NoError(t, os.Chmod(s.dir, 0o777))
	_, err = s.Create(t.Context(), identity("q"), sources)
	require.ErrorContains(t, err, "others can write to it")
}

// TestMain also is the process that is killed: it appends for ever.
func TestMain(m *testing.M) {
	if dir := os.Getenv("XMD_TEST_APPENDS"); dir != "" {
		x, err := store{dir}.Acquire(context.Background(), "r")
		if err == nil {
			err = x.Begin(context.Background(), false)
		}
		for n := 0; err == nil; n++ {
			_, err = x.Transact(context.Background(), func(tx workflow.Tx) (*journal.Event, error) {
				root, err := workspace.Write(tx, tx.Root(), "/", fmt.Sprint("f", n%7), []byte(strconv.Itoa(n)))
				if err == nil {
					err = tx.SetRoot(root)
				}
				e := event(n)
				return &e, err
			})
			if err == nil {
				fmt.Println(n)
			}
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestF2_KilledAtAnyTime: what was acknowledged is there, nothing twice, nothing between,
// and the root of every event is whole; the lock is free at once.
func TestF2_KilledAtAnyTime(t *testing.T) {
	s, _ := made(t, 0)
	self, err := os.Executable()
	require.NoError(t, err)
	rounds := 25
	if testing.Short() {
		rounds = 5
	}
	for round := range rounds {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "XMD_TEST_APPENDS="+s.dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		acknowledged, lines := -1, bufio.NewScanner(out)
		for acknowledged < round*3%17 && lines.Scan() {
			acknowledged, err = strconv.Atoi(lines.Text())
			require.NoError(t, err)
		}
		_, err = s.Acquire(t.Context(), "r")
		requireCondition(t, workflow.Live, err)
		require.NoError(t, cmd.Process.Kill())
		for lines.Scan() {
			acknowledged, err = strconv.Atoi(lines.Text())
			require.NoError(t, err)
		}
		_ = cmd.Wait() // it was killed

		snap, err := s.Inspect(t.Context(), "r", true)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(snap.Events), acknowledged+1)
		require.LessOrEqual(t, len(snap.Events), acknowledged+2, "at most one that was not acknowledged yet")
		for n, e := range snap.Events {
			require.Equal(t, event(n), e.Event)
		}
		require.Equal(t, snap.Events[len(snap.Events)-1].Root, snap.Root)
		_, err = s.Delete(t.Context(), "r")
		require.NoError(t, err)
		x, err := s.Create(t.Context(), identity("r"), sources)
		require.NoError(t, err)
		require.NoError(t, x.Settle(t.Context(), workflow.Interrupted, workflow.Reason{Code: workflow.ExecutorInterrupted}))
		require.NoError(t, x.Release())
	}
}

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

func BenchmarkStatus(b *testing.B) {
	s := store{b.TempDir()}
	x, err := s.Create(b.Context(), identity("r"), sources)
	require.NoError(b, err)
	for n := range 2000 {
		_, err := x.Append(b.Context(), event(n))
		require.NoError(b, err)
	}
	require.NoError(b, x.Release())
	start := time.Now()
	n := 0
	for b.Loop() {
		snap, err := s.Inspect(b.Context(), "r", false)
		require.NoError(b, err)
		n += len(snap.Events)
	}
	b.ReportMetric(float64(n)/time.Since(start).Seconds(), "events/s")
}
