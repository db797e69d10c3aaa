package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/internal/workflow"
	"github.com/executable-markdown/xmd/internal/workspace"
)

// reading opens a run for reading alone, in one transaction.
func reading(ctx context.Context, path string, body func(*sql.Tx) error) error {
	db, err := connect(path, true, "query_only(1)")
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return body(tx)
}

// read reads a run as the last commit left it; whole also has the database check itself.
func (s store) read(ctx context.Context, run string, whole bool) (snap workflow.Snapshot, err error) {
	path := s.at(run, database)
	if whole {
		if err := wellFormed(ctx, path, run); err != nil {
			return snap, err
		}
	}
	err = reading(ctx, path, func(tx *sql.Tx) error {
		if err := recognise(ctx, tx, path, run); err != nil {
			return err
		}
		snap, err = snapshot(ctx, tx, path, run)
		return err
	})
	return snap, broken(run, path, err)
}

// wellFormed has the database check itself.
func wellFormed(ctx context.Context, path, run string) error {
	err := reading(ctx, path, func(tx *sql.Tx) error {
		if err := recognise(ctx, tx, path, run); err != nil {
			return err
		}
		var said string
		if err := tx.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&said); err != nil {
			return err
		}
		if said != "ok" {
			return damage(workflow.Corrupt, run, path, nil, withoutDriver(said))
		}
		rows, err := tx.QueryContext(ctx, "PRAGMA foreign_key_check")
		if err != nil {
			return err
		}
		defer rows.Close()
		if rows.Next() {
			return damage(workflow.Corrupt, run, path, nil, "a row refers to one that is not there")
		}
		return rows.Err()
	})
	return broken(run, path, err)
}

// record reads the row of a run. run is empty where only the file's name says which.
func record(ctx context.Context, q querier, path, run string) (r workflow.Record, err error) {
	var definition, props, created, updated string
	var kind, code, event sql.NullString
	err = q.QueryRowContext(ctx, `SELECT run_id, definition, base, props, status, stop_kind, stop_code, stop_event, epoch, created_at, updated_at FROM workflow_run`).
		Scan(&r.ID, &definition, &r.Base, &props, &r.Status, &kind, &code, &event, &r.Epoch, &created, &updated)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r, damage(workflow.RecordMalformed, run, path, nil, "it has no run")
	case err != nil:
		return r, broken(run, path, err)
	case filepath.Base(store{}.at(r.ID, database)) != filepath.Base(path):
		return r, damage(workflow.IDMismatch, run, path, nil, "the file holds another run")
	}
	r.Reason = workflow.Reason{Code: code.String, Event: event.String}
	r.Created, r.Updated = readStamp(created), readStamp(updated)
	for _, member := range []struct {
		text string
		into **value.Object
		what string
	}{{definition, &r.Definition, "definition"}, {props, &r.Props, "properties"}} {
		v, err := value.Parse([]byte(member.text))
		o, ok := v.(*value.Object)
		if err != nil || !ok {
			return r, damage(workflow.RecordMalformed, r.ID, path, err, "its "+member.what+" cannot be read")
		}
		*member.into = o
	}
	return r, nil
}

func readRecord(ctx context.Context, path string) (r workflow.Record, err error) {
	err = reading(ctx, path, func(tx *sql.Tx) error {
		if err := recognise(ctx, tx, path, ""); err != nil {
			return err
		}
		r, err = record(ctx, tx, path, "")
		return err
	})
	return r, broken("", path, err)
}

// snapshot reads everything but the objects of the Workspace.
func snapshot(ctx context.Context, q querier, path, run string) (snap workflow.Snapshot, err error) {
	if snap.Record, err = record(ctx, q, path, run); err != nil {
		return snap, err
	}
	each := func(query string, row func(*sql.Rows) error) {
		if err != nil {
			return
		}
		var rows *sql.Rows
		if rows, err = q.QueryContext(ctx, query); err != nil {
			return
		}
		defer rows.Close()
		for err == nil && rows.Next() {
			err = row(rows)
		}
		if err == nil {
			err = rows.Err()
		}
	}
	each(`SELECT path, role, bytes FROM definition_source ORDER BY role = 'root' DESC, path`, func(rows *sql.Rows) error {
		var s workflow.Source
		err := rows.Scan(&s.Path, &s.Role, &s.Text)
		snap.Sources = append(snap.Sources, s)
		return err
	})
	each(`SELECT execution_id, epoch, started_at, stopped_at, stop_status, stop_code, stop_event FROM document_executions ORDER BY sequence`, func(rows *sql.Rows) error {
		var e workflow.Execution
		var started string
		var stopped, status, code, event sql.NullString
		err := rows.Scan(&e.ID, &e.Epoch, &started, &stopped, &status, &code, &event)
		e.Started, e.Status = readStamp(started), workflow.Status(status.String)
		if stopped.Valid {
			e.Stopped = readStamp(stopped.String)
		}
		e.Reason = workflow.Reason{Code: code.String, Event: event.String}
		snap.Executions = append(snap.Executions, e)
		return err
	})
	each(`SELECT event_id, record, workspace_root FROM journal_events ORDER BY sequence`, func(rows *sql.Rows) error {
		var e workflow.StoredEvent
		var line sql.RawBytes
		if err := rows.Scan(&e.ID, &line, &e.Root); err != nil {
			return err
		}
		var err error
		if e.Event, err = journal.ParseLine(line); err != nil {
			return damage(workflow.RecordMalformed, snap.ID, path, nil, fmt.Sprintf("event %d of its history cannot be read", len(snap.Events)+1))
		}
		snap.Events = append(snap.Events, e)
		return nil
	})
	each(`SELECT suspension_id, request_event, request_fingerprint, answer, state = 'consumed' FROM suspension_answers ORDER BY created_at, suspension_id`, func(rows *sql.Rows) error {
		a, err := scanAnswer(rows, path, snap.ID)
		snap.Answers = append(snap.Answers, a)
		return err
	})
	if err == nil {
		err = q.QueryRowContext(ctx, `SELECT current_root FROM workspace_state`).Scan(&snap.Root)
		if errors.Is(err, sql.ErrNoRows) {
			err = damage(workflow.WorkspaceDamaged, snap.ID, path, nil, "it has no current root")
		}
	}
	return snap, broken(snap.ID, path, err)
}

// scanAnswer reads an answer of the columns of snapshot.
func scanAnswer(row interface{ Scan(...any) error }, path, run string) (a workflow.Answer, err error) {
	var text string
	if err = row.Scan(&a.Suspension, &a.Request, &a.Fingerprint, &text, &a.Consumed); err != nil {
		return a, err
	}
	if a.Value, err = value.Parse([]byte(text)); err != nil {
		return a, damage(workflow.RecordMalformed, run, path, nil, "an answer cannot be read")
	}
	return a, nil
}

// verify reads and hashes every object of the Workspace.
func (s store) verify(ctx context.Context, run string) error {
	path := s.at(run, database)
	err := reading(ctx, path, func(tx *sql.Tx) error {
		var roots []string
		rows, err := tx.QueryContext(ctx, `SELECT root_id FROM workspace_roots ORDER BY sequence`)
		if err != nil {
			return err
		}
		for rows.Next() {
			var root string
			if err := rows.Scan(&root); err != nil {
				return errors.Join(err, rows.Close())
			}
			roots = append(roots, root)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		for _, root := range roots {
			if err := workspace.Verify(objects{ctx, tx}, root); err != nil {
				return damage(workflow.WorkspaceDamaged, run, path, err, "root "+short(root))
			}
		}
		return nil
	})
	return broken(run, path, err)
}

func short(hash string) string { return strings.TrimSpace(hash[:min(12, len(hash))]) }

// objects reads the objects of a Workspace.
type objects struct {
	ctx context.Context // of the reading, which these live no longer than
	q   querier
}

func (o objects) Object(hash string) (kind string, data []byte, err error) {
	err = o.q.QueryRowContext(o.ctx, `SELECT kind, bytes FROM workspace_objects WHERE hash = ?`, hash).Scan(&kind, &data)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("the object %s is missing: %w", short(hash), fs.ErrNotExist)
	}
	return kind, data, err
}

func (o objects) PutObject(string, string, []byte) error {
	return errors.New("nothing is written here")
}
