package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/internal/workflow"
)

// An executor holds a run: its lock, and the one connection that writes.
type executor struct {
	run, path string
	lock      *os.File
	db        *sql.DB
	conn      *sql.Conn

	mu    sync.Mutex // one transaction at a time
	epoch int64
}

// hold opens a run whose lock is held.
func (s store) hold(ctx context.Context, run string, lock *os.File) (*executor, error) {
	x := &executor{run: run, path: s.at(run, database), lock: lock}
	var err error
	if x.db, err = connect(x.path, false, "synchronous(FULL)", "journal_mode(WAL)"); err != nil {
		return nil, err
	}
	if x.conn, err = x.db.Conn(ctx); err == nil {
		if err = recognise(ctx, x.conn, x.path, run); err == nil {
			err = x.conn.QueryRowContext(ctx, `SELECT epoch FROM workflow_run`).Scan(&x.epoch)
		}
	}
	if err != nil {
		if x.conn != nil {
			_ = x.conn.Close()
		}
		return nil, errors.Join(broken(run, x.path, err), x.db.Close())
	}
	return x, nil
}

// newID is the name of an event or an execution, which nobody can guess.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// transaction carries body out, all of it or nothing. It does not begin once ctx has
// ended, and what it began is then rolled back.
func (x *executor) transaction(ctx context.Context, body func(ctx context.Context) (keep bool, err error)) (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	calm := context.WithoutCancel(ctx) // a statement is not interrupted in the middle
	if _, err := x.conn.ExecContext(calm, "BEGIN IMMEDIATE"); err != nil {
		return broken(x.run, x.path, err)
	}
	keep, err := body(calm)
	if err == nil && keep && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil && keep {
		if _, err = x.conn.ExecContext(calm, "COMMIT"); err == nil {
			return nil
		}
	}
	if _, undo := x.conn.ExecContext(calm, "ROLLBACK"); undo != nil && err == nil {
		err = undo
	}
	return broken(x.run, x.path, err)
}

// one runs a statement that changes exactly one row, which only a fenced executor finds
// changed or gone.
func (x *executor) one(ctx context.Context, query string, args ...any) error {
	result, err := x.conn.ExecContext(ctx, query, args...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return fail(workflow.Fenced, x.run, err, "another process has taken over the run %s; nothing of this one is kept any more", x.run)
	}
	return nil
}

// fence makes a transaction fail once a newer executor was there.
func (x *executor) fence(ctx context.Context) error {
	return x.one(ctx, `UPDATE workflow_run SET updated_at = ? WHERE id = 1 AND epoch = ?`, stamp(time.Now()), x.epoch)
}

// Snapshot implements workflow.Executor.
func (x *executor) Snapshot(ctx context.Context) (snap workflow.Snapshot, err error) {
	err = x.transaction(ctx, func(ctx context.Context) (bool, error) {
		snap, err = snapshot(ctx, x.conn, x.path, x.run)
		return false, err
	})
	return snap, err
}

// reason is a reason as its three columns.
func reason(r workflow.Reason) (kind, code, event any) {
	switch {
	case r.Event != "":
		return "journal", nil, r.Event
	case r.Code != "":
		return "host", r.Code, nil
	}
	return nil, nil, nil
}

// end closes the execution that is open and states what became of the run.
func (x *executor) end(ctx context.Context, condition string, status workflow.Status, r workflow.Reason) error {
	return x.transaction(ctx, func(ctx context.Context) (bool, error) {
		now := stamp(time.Now())
		kind, code, event := reason(r)
		err := x.one(ctx, `UPDATE document_executions SET stopped_at = ?, stop_status = ?, stop_kind = ?, stop_code = ?, stop_event = ? WHERE stopped_at IS NULL`+condition,
			now, string(status), kind, code, event)
		if err == nil {
			err = x.one(ctx, `UPDATE workflow_run SET status = ?, stop_kind = ?, stop_code = ?, stop_event = ?, updated_at = ? WHERE id = 1 AND epoch = ?`,
				string(status), kind, code, event, now, x.epoch)
		}
		return true, err
	})
}

// Reconcile implements workflow.Executor.
func (x *executor) Reconcile(ctx context.Context, status workflow.Status, r workflow.Reason) error {
	return x.end(ctx, "", status, r)
}

// Settle implements workflow.Executor.
func (x *executor) Settle(ctx context.Context, status workflow.Status, r workflow.Reason) error {
	return x.end(ctx, fmt.Sprintf(" AND epoch = %d", x.epoch), status, r)
}

// Begin implements workflow.Executor.
func (x *executor) Begin(ctx context.Context, replay bool) error {
	next := x.epoch + 1
	err := x.transaction(ctx, func(ctx context.Context) (bool, error) {
		now := stamp(time.Now())
		var open int
		if err := x.conn.QueryRowContext(ctx, `SELECT count(*) FROM document_executions WHERE stopped_at IS NULL`).Scan(&open); err != nil {
			return false, err
		}
		if open > 0 {
			return false, errors.New("an execution of the run is open already")
		}
		change := `UPDATE workflow_run SET epoch = ?, updated_at = ?, status = 'running', stop_kind = NULL, stop_code = NULL, stop_event = NULL WHERE id = 1 AND epoch = ?`
		if replay {
			change = `UPDATE workflow_run SET epoch = ?, updated_at = ? WHERE id = 1 AND epoch = ?`
		}
		err := x.one(ctx, change, next, now, x.epoch)
		if err == nil {
			err = x.one(ctx, `INSERT INTO document_executions (execution_id, epoch, started_at) VALUES (?, ?, ?)`, newID(), next, now)
		}
		return true, err
	})
	if err == nil {
		x.epoch = next
	}
	return err
}

// Append implements workflow.Executor.
func (x *executor) Append(ctx context.Context, e journal.Event) (stored workflow.StoredEvent, err error) {
	return x.Transact(ctx, func(workflow.Tx) (*journal.Event, error) { return &e, nil })
}

// Transact implements workflow.Executor. Without an event nothing is kept.
func (x *executor) Transact(ctx context.Context, body func(workflow.Tx) (*journal.Event, error)) (stored workflow.StoredEvent, err error) {
	err = x.transaction(ctx, func(ctx context.Context) (bool, error) {
		if err := x.fence(ctx); err != nil {
			return false, err
		}
		t := &transaction{objects: objects{ctx, x.conn}, x: x}
		if err := x.conn.QueryRowContext(ctx, `SELECT current_root FROM workspace_state`).Scan(&t.root); err != nil {
			return false, err
		}
		e, err := body(t)
		if err != nil || e == nil {
			return false, err
		}
		line, err := journal.AppendLine(nil, *e)
		if err != nil {
			return false, err
		}
		stored = workflow.StoredEvent{ID: newID(), Event: *e, Root: t.root}
		return true, x.one(ctx, `INSERT INTO journal_events (event_id, record, workspace_root) VALUES (?, ?, ?)`, stored.ID, string(line[:len(line)-1]), t.root)
	})
	if err != nil {
		return workflow.StoredEvent{}, err
	}
	return stored, nil
}

// Release implements workflow.Executor. A run at rest is one ordinary file.
func (x *executor) Release() error {
	if x.lock == nil {
		return nil
	}
	ctx := context.Background()
	_, err := x.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err == nil {
		_, err = x.conn.ExecContext(ctx, "PRAGMA journal_mode=DELETE")
	}
	err = errors.Join(broken(x.run, x.path, err), x.conn.Close(), x.db.Close(), x.lock.Close())
	x.lock = nil
	return err
}

// A transaction is a workflow.Tx.
type transaction struct {
	objects
	x    *executor
	root string
}

func (t *transaction) Root() string { return t.root }

func (t *transaction) SetRoot(root string) error {
	if root == t.root {
		return nil
	}
	_, err := t.x.conn.ExecContext(t.ctx, `INSERT INTO workspace_roots (root_id, format, sequence) SELECT ?, 1, max(sequence) + 1 FROM workspace_roots WHERE true ON CONFLICT (root_id) DO NOTHING`, root)
	if err == nil {
		err = t.x.one(t.ctx, `UPDATE workspace_state SET current_root = ? WHERE id = 1`, root)
	}
	if err == nil {
		t.root = root
	}
	return err
}

func (t *transaction) PutObject(hash, kind string, data []byte) error {
	_, err := t.x.conn.ExecContext(t.ctx, `INSERT INTO workspace_objects (hash, kind, size, bytes) VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING`,
		hash, kind, len(data), append([]byte{}, data...))
	return err
}

func (t *transaction) Consume(suspension, request string) (a workflow.Answer, ok bool, err error) {
	row := t.x.conn.QueryRowContext(t.ctx, `SELECT suspension_id, request_event, request_fingerprint, answer, state = 'consumed' FROM suspension_answers
		WHERE suspension_id = ? AND request_event = ? AND state = 'pending'`, suspension, request)
	a, err = scanAnswer(row, t.x.path, t.x.run)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return workflow.Answer{}, false, nil
	case err != nil:
		return a, false, err
	}
	a.Consumed = true
	return a, true, t.x.one(t.ctx, `UPDATE suspension_answers SET state = 'consumed', consumed_at = ? WHERE suspension_id = ? AND state = 'pending'`, stamp(time.Now()), suspension)
}

// Deliver implements workflow.Store. No lock is taken: what counts is how the run stands
// inside the transaction.
func (s store) Deliver(ctx context.Context, run string, a workflow.Answer, judge func(workflow.Snapshot) error) error {
	path := s.at(run, database)
	if _, err := s.Inspect(ctx, run, false); err != nil {
		return err
	}
	db, err := connect(path, false, "synchronous(EXTRA)")
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return broken(run, path, err)
	}
	defer conn.Close()
	x := &executor{run: run, path: path, db: db, conn: conn}
	return x.transaction(ctx, func(ctx context.Context) (bool, error) {
		snap, err := snapshot(ctx, conn, path, run)
		if err != nil {
			return false, err
		}
		if err := judge(snap); err != nil {
			return false, err
		}
		text, err := value.JSON(a.Value)
		if err != nil {
			return false, err
		}
		return true, x.one(ctx, `INSERT INTO suspension_answers (suspension_id, request_event, request_fingerprint, answer, state, created_at) VALUES (?, ?, ?, ?, 'pending', ?)`,
			a.Suspension, a.Request, a.Fingerprint, text, stamp(time.Now()))
	})
}
