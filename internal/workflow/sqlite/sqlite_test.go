package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

func answerTo(request string) workflow.Answer {
	return workflow.Answer{Suspension: "s1", Request: request, Fingerprint: strings.Repeat("a", 64), Value: value.Of("ok", true)}
}

// writeFile is one effect: a file and the event that says so.
func writeFile(ctx context.Context, x workflow.Executor, path, text string, n int) error {
	_, err := x.Transact(ctx, func(tx workflow.Tx) (*journal.Event, error) {
		root, err := workspace.Write(tx, tx.Root(), "/", path, []byte(text))
		if err == nil {
			err = tx.SetRoot(root)
		}
		e := event(n)
		return &e, err
	})
	return err
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
	done := snap.Executions[0]
	require.Equal(t, workflow.Interrupted, done.Status)
	require.Equal(t, snap.Reason, done.Reason)
	require.False(t, done.Started.IsZero() || done.Stopped.Before(done.Started))
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
	require.NoError(t, reading(ctx, "r", s.at("r", database), func(tx *sql.Tx) error {
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
	a := answerTo(snap.Events[0].ID)
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

// TestTransactionsDoNotNest: one inside another is an error and no wait, and one that is
// over does nothing any more.
func TestTransactionsDoNotNest(t *testing.T) {
	s, _ := made(t, 0)
	ctx := t.Context()
	x, err := s.Acquire(ctx, "r")
	require.NoError(t, err)
	require.NoError(t, x.Begin(ctx, false))
	var kept workflow.Tx
	_, err = x.Transact(ctx, func(tx workflow.Tx) (*journal.Event, error) {
		kept = tx
		_, err := x.Transact(ctx, func(workflow.Tx) (*journal.Event, error) { return nil, nil })
		require.ErrorContains(t, err, "inside another")
		e := event(0)
		return &e, nil
	})
	require.NoError(t, err)
	require.ErrorIs(t, kept.SetRoot(strings.Repeat("a", 64)), errOver)
	require.ErrorIs(t, kept.PutObject(strings.Repeat("a", 64), workspace.KindBlob, nil), errOver)
	_, _, err = kept.Object(workspace.EmptyRoot)
	require.ErrorIs(t, err, errOver)
	_, _, err = kept.Consume("s1", "x")
	require.ErrorIs(t, err, errOver)

	require.Panics(t, func() {
		_, _ = x.Transact(ctx, func(workflow.Tx) (*journal.Event, error) { panic("no") })
	})
	_, err = x.Append(ctx, event(1))
	require.NoError(t, err, "what panicked was undone")
	stopped, cancel := context.WithCancel(ctx)
	_, err = x.Transact(stopped, func(workflow.Tx) (*journal.Event, error) {
		cancel()
		e := event(2)
		return &e, nil
	})
	require.ErrorIs(t, err, context.Canceled)
	_, err = x.Append(stopped, event(2))
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, x.Settle(ctx, workflow.Completed, workflow.Reason{}))
	snap, err := x.Snapshot(ctx)
	require.NoError(t, err)
	require.Len(t, snap.Events, 2)
	requireCondition(t, workflow.Refused, x.Begin(ctx, false))
	require.NoError(t, x.Release())
}
