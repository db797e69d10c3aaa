package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/internal/workflow"
	"github.com/executable-markdown/xmd/internal/workspace"
)

// sound says whether a run is what this program made, whole, and whose file it is
// (workflow 19).
func sound(ctx context.Context, q querier, path, run string) (r workflow.Record, err error) {
	if err := recognise(ctx, q, path, run); err != nil {
		return r, err
	}
	var said string
	if err := q.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&said); err != nil {
		return r, err
	}
	if said != "ok" {
		return r, damage(workflow.Corrupt, run, path, nil, said)
	}
	for _, query := range checks() {
		var broken int
		if err := q.QueryRowContext(ctx, query).Scan(&broken); err != nil {
			return r, err
		}
		if broken > 0 {
			return r, damage(workflow.Corrupt, run, path, nil, "a row holds what its table does not allow")
		}
	}
	rows, err := q.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return r, err
	}
	defer rows.Close()
	if rows.Next() {
		var table, parent string
		var row sql.NullInt64
		var key int
		if err := rows.Scan(&table, &row, &parent, &key); err != nil {
			return r, err
		}
		c := workflow.Corrupt
		if strings.HasPrefix(parent, "workspace_") {
			c = workflow.WorkspaceDamaged
		}
		return r, damage(c, run, path, nil, "a row of "+table+" needs one of "+parent+" that is missing")
	}
	if err := rows.Err(); err != nil {
		return r, err
	}
	return record(ctx, q, path, run)
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
	if err := times(path, r.ID, map[*time.Time]string{&r.Created: created, &r.Updated: updated}); err != nil {
		return r, err
	}
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

// times reads what stamp wrote.
func times(path, run string, into map[*time.Time]string) (err error) {
	for t, text := range into {
		if *t, err = time.Parse(stampFormat, text); err != nil {
			return damage(workflow.RecordMalformed, run, path, nil, "it holds a time that is none")
		}
	}
	return nil
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
		if err := rows.Scan(&e.ID, &e.Epoch, &started, &stopped, &status, &code, &event); err != nil {
			return err
		}
		at := map[*time.Time]string{&e.Started: started}
		if stopped.Valid {
			at[&e.Stopped] = stopped.String
		}
		e.Status = workflow.Status(status.String)
		e.Reason = workflow.Reason{Code: code.String, Event: event.String}
		if err := times(path, snap.ID, at); err != nil {
			return err
		}
		snap.Executions = append(snap.Executions, e)
		return nil
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

// verifyObjects reads and hashes every object of the Workspace.
func verifyObjects(ctx context.Context, q querier, path, run string) error {
	rows, err := q.QueryContext(ctx, `SELECT root_id FROM workspace_roots ORDER BY sequence`)
	if err != nil {
		return err
	}
	var roots []string
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
	if err := workspace.Verify(objects{ctx, q}, roots...); err != nil {
		if code(err) != 0 {
			return err
		}
		return damage(workflow.WorkspaceDamaged, run, path, err, "its files")
	}
	return nil
}

func short(hash string) string { return hash[:min(12, len(hash))] }

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
