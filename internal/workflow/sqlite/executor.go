package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/internal/workflow"
	"github.com/executable-markdown/xmd/internal/workspace"
)

// An executor holds a run: its lock, and the one connection that writes, from the first
// change on.
type executor struct {
	run, path string
	lock      *os.File
	nested    atomic.Bool // while the body of Transact is carried out

	mu    sync.Mutex // one transaction at a time
	epoch int64
	db    *sql.DB
	conn  *sql.Conn
	file  fs.FileInfo // the one that is open
	ready map[string]*sql.Stmt
}

// exec runs a statement, which is compiled once.
func (x *executor) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := x.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

func (x *executor) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := x.ready[query]; ok {
		return s, nil
	}
	s, err := x.conn.PrepareContext(ctx, query)
	if err == nil {
		x.ready[query] = s
	}
	return s, err
}

// open opens the run for writing.
func (x *executor) open(ctx context.Context) (err error) {
	if x.file, err = os.Lstat(x.path); err != nil {
		return unreadable(x.run, x.path, err)
	}
	if x.db, err = connect(x.path, "mode=rw", "synchronous(FULL)"); err != nil {
		return err
	}
	x.ready = map[string]*sql.Stmt{}
	var mode string
	x.conn, err = x.db.Conn(ctx)
	for patience := 500; err == nil; patience-- {
		err = x.conn.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode)
		if code(err) != codeBusy || patience == 0 {
			break
		}
		err = nil // an answer is being delivered, which this statement does not wait for
		time.Sleep(10 * time.Millisecond)
	}
	if err == nil && mode != "wal" {
		err = fail(workflow.Refused, x.run, nil, "the run in %s cannot have a log, which it needs; keep runs in another directory", filepath.Base(x.path))
	}
	if err != nil {
		return errors.Join(unkept(x.run, x.path, err), x.shut())
	}
	return nil
}

// shut closes the connection.
func (x *executor) shut() (err error) {
	for _, s := range x.ready {
		err = errors.Join(err, s.Close())
	}
	if x.conn != nil {
		err = x.conn.Close()
	}
	if x.db != nil {
		err = errors.Join(err, x.db.Close())
	}
	x.conn, x.db, x.ready = nil, nil, nil
	return err
}

// inPlace says whether the file that is open still is the run's. Without that, what is
// committed would go into a file nobody finds again.
func (x *executor) inPlace(ctx context.Context) error {
	now, err := os.Lstat(x.path)
	switch {
	case err != nil:
		return unreadable(x.run, x.path, err)
	case os.SameFile(now, x.file):
		return nil
	case !now.Mode().IsRegular():
		return damage(workflow.Format, x.run, x.path, nil, "something that is no ordinary file was put in its place")
	}
	// The log beside it is not its own, so it is read without one.
	err = read(ctx, x.path, "immutable=1", func(tx *sql.Tx) error { _, err := sound(ctx, tx, x.path, x.run); return err })
	if err = broken(x.run, x.path, err); err == nil {
		err = damage(workflow.Corrupt, x.run, x.path, nil, "another file was put in its place while it was carried out")
	}
	return err
}

// newID is the name of an event or an execution, which nobody can guess.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// transaction carries body out, all of it or nothing. It does not begin once ctx has
// ended, and what it began is then rolled back.
func (x *executor) transaction(ctx context.Context, name string, body func(ctx context.Context) (keep bool, err error)) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	calm := context.WithoutCancel(ctx) // a statement is not interrupted in the middle
	if x.conn == nil {
		if err := x.open(calm); err != nil {
			return err
		}
	}
	err := x.attempt(ctx, calm, name, body)
	reached(name, "committed")
	return unkept(x.run, x.path, err)
}

func (x *executor) attempt(ctx, calm context.Context, name string, body func(ctx context.Context) (keep bool, err error)) (err error) {
	if _, err := x.exec(calm, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	reached(name, "begun")
	open := true
	defer func() { // also when body panics
		if open {
			_, undo := x.exec(calm, "ROLLBACK")
			if err == nil {
				err = undo
			}
		}
	}()
	keep, err := body(calm)
	if err != nil || !keep {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := x.inPlace(calm); err != nil {
		return err
	}
	reached(name, "changed")
	if _, err := x.exec(calm, "COMMIT"); err != nil {
		return err
	}
	open = false
	return nil
}

// one runs a statement that changes exactly one row, which only a fenced executor finds
// changed or gone.
func (x *executor) one(ctx context.Context, query string, args ...any) error {
	result, err := x.exec(ctx, query, args...)
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
	err = reading(ctx, x.run, x.path, func(tx *sql.Tx) error {
		if err := recognise(ctx, tx, x.path, x.run); err != nil {
			return err
		}
		snap, err = snapshot(ctx, tx, x.path, x.run)
		return err
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
func (x *executor) end(ctx context.Context, name, condition string, status workflow.Status, r workflow.Reason) error {
	return x.transaction(ctx, name, func(ctx context.Context) (bool, error) {
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
	return x.end(ctx, "reconcile", "", status, r)
}

// Settle implements workflow.Executor.
func (x *executor) Settle(ctx context.Context, status workflow.Status, r workflow.Reason) error {
	return x.end(ctx, "settle", fmt.Sprintf(" AND epoch = %d", x.epoch), status, r)
}

// Begin implements workflow.Executor.
func (x *executor) Begin(ctx context.Context, replay bool) error {
	next := x.epoch + 1
	err := x.transaction(ctx, "begin", func(ctx context.Context) (bool, error) {
		now := stamp(time.Now())
		var open int
		var status workflow.Status
		if err := x.conn.QueryRowContext(ctx, `SELECT status, (SELECT count(*) FROM document_executions WHERE stopped_at IS NULL) FROM workflow_run`).Scan(&status, &open); err != nil {
			return false, err
		}
		switch {
		case open > 0:
			return false, fail(workflow.Refused, x.run, nil, "an execution of the run %s is open already", x.run)
		case !replay && status != workflow.Interrupted && status != workflow.Suspended:
			return false, fail(workflow.Refused, x.run, nil, "the run %s is %s, so it does not go on", x.run, status)
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
func (x *executor) Append(ctx context.Context, e journal.Event) (workflow.StoredEvent, error) {
	return x.transact(ctx, func(workflow.Tx) (*journal.Event, error) { return &e, nil })
}

// Transact implements workflow.Executor. Without an event nothing is kept.
func (x *executor) Transact(ctx context.Context, body func(workflow.Tx) (*journal.Event, error)) (workflow.StoredEvent, error) {
	if !x.nested.CompareAndSwap(false, true) {
		return workflow.StoredEvent{}, errors.New("a transaction of a run was begun inside another")
	}
	defer x.nested.Store(false)
	return x.transact(ctx, body)
}

func (x *executor) transact(ctx context.Context, body func(workflow.Tx) (*journal.Event, error)) (stored workflow.StoredEvent, err error) {
	err = x.transaction(ctx, "effect", func(ctx context.Context) (bool, error) {
		if err := x.fence(ctx); err != nil {
			return false, err
		}
		t := &transaction{objects: objects{ctx, x.conn}, x: x}
		current, err := x.prepared(ctx, `SELECT current_root FROM workspace_state`)
		if err == nil {
			err = current.QueryRowContext(ctx).Scan(&t.root)
		}
		if err != nil {
			return false, err
		}
		e, err := body(t)
		t.over = true
		if harm := new(workspace.DamageError); errors.As(err, &harm) {
			err = damage(workflow.WorkspaceDamaged, x.run, x.path, harm, "its files")
		}
		if err != nil || e == nil {
			return false, err
		}
		reached("effect", "mutated")
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
func (x *executor) Release() (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.lock == nil {
		return nil
	}
	if x.conn != nil && x.inPlace(context.Background()) == nil {
		err = unkept(x.run, x.path, settleLog(context.Background(), x.conn))
	}
	err = errors.Join(err, x.shut(), x.lock.Close())
	x.lock = nil
	return err
}

// A transaction is a workflow.Tx.
type transaction struct {
	objects
	x    *executor
	root string
	over bool // it is nobody's any more
}

var errOver = errors.New("the transaction is over")

// Object implements workflow.Tx.
func (t *transaction) Object(hash string) (string, []byte, error) {
	if t.over {
		return "", nil, errOver
	}
	return t.objects.Object(hash)
}

// Root implements workflow.Tx.
func (t *transaction) Root() string { return t.root }

// SetRoot implements workflow.Tx.
func (t *transaction) SetRoot(root string) error {
	switch {
	case t.over:
		return errOver
	case root == t.root:
		return nil
	}
	_, err := t.x.exec(t.ctx, `INSERT INTO workspace_roots (root_id, format, sequence) SELECT ?, 1, max(sequence) + 1 FROM workspace_roots WHERE true ON CONFLICT (root_id) DO NOTHING`, root)
	if err == nil {
		err = t.x.one(t.ctx, `UPDATE workspace_state SET current_root = ? WHERE id = 1`, root)
	}
	if err == nil {
		t.root = root
	}
	return err
}

// PutObject implements workflow.Tx.
func (t *transaction) PutObject(hash, kind string, data []byte) error {
	if t.over {
		return errOver
	}
	_, err := t.x.exec(t.ctx, `INSERT INTO workspace_objects (hash, kind, size, bytes) VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING`,
		hash, kind, len(data), append([]byte{}, data...))
	return err
}

// Consume implements workflow.Tx.
func (t *transaction) Consume(suspension, request string) (a workflow.Answer, ok bool, err error) {
	if t.over {
		return a, false, errOver
	}
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
// inside the transaction (workflow 26). It is judged before, too, so that a refusal leaves
// the file byte for byte.
func (s store) Deliver(ctx context.Context, run string, a workflow.Answer, judge func(workflow.Snapshot) error) (err error) {
	before, err := s.Inspect(ctx, run, false)
	if err == nil {
		err = judge(before)
	}
	if err != nil {
		return err
	}
	text, err := value.JSON(a.Value)
	if err != nil {
		return err
	}
	path := s.at(run, database)
	if err := suitable(s.dir); err != nil {
		return fail(workflow.Refused, run, err, "runs cannot be kept in %s: %s", s.dir, err)
	}
	file, err := os.Lstat(path)
	if err != nil {
		return unreadable(run, path, err)
	}
	db, err := connect(path, "mode=rw", "synchronous(EXTRA)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return unkept(run, path, err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	x := &executor{run: run, path: path, db: db, conn: conn, file: file, ready: map[string]*sql.Stmt{}}
	return x.transaction(ctx, "answer", func(ctx context.Context) (bool, error) {
		if err := recognise(ctx, conn, path, run); err != nil {
			return false, err
		}
		snap, err := snapshot(ctx, conn, path, run)
		if err != nil {
			return false, err
		}
		if err := judge(snap); err != nil {
			return false, err
		}
		return true, x.one(ctx, `INSERT INTO suspension_answers (suspension_id, request_event, request_fingerprint, answer, state, created_at) VALUES (?, ?, ?, ?, 'pending', ?)`,
			a.Suspension, a.Request, a.Fingerprint, text, stamp(time.Now()))
	})
}
