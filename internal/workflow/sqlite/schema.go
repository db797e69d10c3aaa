package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/internal/workflow"
	"github.com/executable-markdown/xmd/internal/workspace"
)

// What says that a database is one of ours, and which version.
const (
	applicationID = 0x584D4447
	schemaVersion = 1
)

// schema is every table, as the database keeps their definitions (workflow 19).
var schema = []string{
	`CREATE TABLE workflow_run (
  id INTEGER PRIMARY KEY CHECK (id = 1), run_id TEXT NOT NULL CHECK (length(run_id) > 0),
  definition TEXT NOT NULL CHECK (json_valid(definition)), base TEXT NOT NULL,
  props TEXT NOT NULL CHECK (json_valid(props) AND json_type(props) = 'object'),
  status TEXT NOT NULL CHECK (status IN ('running','suspended','interrupted','completed','failed','cancelled')),
  stop_kind TEXT CHECK (stop_kind IN ('host','journal')), stop_code TEXT, stop_event TEXT REFERENCES journal_events(event_id),
  epoch INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  CHECK ((stop_kind IS NULL AND stop_code IS NULL AND stop_event IS NULL)
      OR (stop_kind = 'host' AND stop_code IS NOT NULL AND stop_event IS NULL)
      OR (stop_kind = 'journal' AND stop_code IS NULL AND stop_event IS NOT NULL))) STRICT`,
	`CREATE TABLE definition_source (path TEXT PRIMARY KEY, role TEXT NOT NULL CHECK (role IN ('root','component','profile')), bytes BLOB NOT NULL) STRICT`,
	`CREATE TABLE document_executions (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, execution_id TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL UNIQUE,
  started_at TEXT NOT NULL, stopped_at TEXT, stop_status TEXT, stop_kind TEXT, stop_code TEXT, stop_event TEXT,
  CHECK ((stopped_at IS NULL) = (stop_status IS NULL))) STRICT`,
	`CREATE TABLE workspace_objects (hash TEXT PRIMARY KEY CHECK (length(hash) = 64), kind TEXT NOT NULL CHECK (kind IN ('tree','blob')), size INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT`,
	`CREATE TABLE workspace_roots (root_id TEXT PRIMARY KEY REFERENCES workspace_objects(hash), format INTEGER NOT NULL CHECK (format = 1), sequence INTEGER NOT NULL UNIQUE) STRICT`,
	`CREATE TABLE workspace_state (id INTEGER PRIMARY KEY CHECK (id = 1), current_root TEXT NOT NULL REFERENCES workspace_roots(root_id)) STRICT`,
	`CREATE TABLE journal_events (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, event_id TEXT NOT NULL UNIQUE,
  record TEXT NOT NULL CHECK (json_valid(record)), workspace_root TEXT NOT NULL REFERENCES workspace_roots(root_id)) STRICT`,
	`CREATE TABLE suspension_answers (
  suspension_id TEXT PRIMARY KEY, request_event TEXT NOT NULL REFERENCES journal_events(event_id),
  request_fingerprint TEXT NOT NULL CHECK (length(request_fingerprint) = 64), answer TEXT NOT NULL CHECK (json_valid(answer)),
  state TEXT NOT NULL CHECK (state IN ('pending','consumed')), created_at TEXT NOT NULL, consumed_at TEXT,
  CHECK ((state = 'consumed') = (consumed_at IS NOT NULL))) STRICT`,
}

// write makes the database of a new run, in one transaction, with its first execution.
func write(ctx context.Context, path string, id workflow.Identity, sources []workflow.Source) error {
	f, err := createFile(path)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	db, err := connect(path, "mode=rw", "synchronous(EXTRA)")
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing, once it is committed
	exec := func(query string, args ...any) {
		if err == nil {
			_, err = tx.ExecContext(ctx, query, args...)
		}
	}
	for _, statement := range schema {
		exec(statement)
	}
	now := stamp(time.Now())
	exec(`INSERT INTO workspace_objects (hash, kind, size, bytes) VALUES (?, 'tree', ?, ?)`, workspace.EmptyRoot, len(workspace.EmptyTree), []byte(workspace.EmptyTree))
	exec(`INSERT INTO workspace_roots (root_id, format, sequence) VALUES (?, 1, 1)`, workspace.EmptyRoot)
	exec(`INSERT INTO workspace_state (id, current_root) VALUES (1, ?)`, workspace.EmptyRoot)
	exec(`INSERT INTO workflow_run (id, run_id, definition, base, props, status, epoch, created_at, updated_at) VALUES (1, ?, ?, ?, ?, 'running', 1, ?, ?)`,
		id.ID, string(value.AppendCanonical(nil, id.Definition)), id.Base, string(value.AppendCanonical(nil, id.Props)), now, now)
	for _, s := range sources {
		exec(`INSERT INTO definition_source (path, role, bytes) VALUES (?, ?, ?)`, s.Path, s.Role, append([]byte{}, s.Text...))
	}
	exec(`INSERT INTO document_executions (execution_id, epoch, started_at) VALUES (?, 1, ?)`, newID(), now)
	exec(fmt.Sprintf("PRAGMA application_id = %d", applicationID))
	exec(fmt.Sprintf("PRAGMA user_version = %d", schemaVersion))
	if err == nil {
		err = tx.Commit()
	}
	return err
}

// checks find rows that break a constraint of their table. A database that is read does
// not look at its constraints itself. What says that a text is JSON is left out: whoever
// reads the text is stricter.
var checks = sync.OnceValue(func() (queries []string) {
	for _, statement := range schema {
		var broken []string
		for rest := statement; ; {
			_, after, ok := strings.Cut(rest, "CHECK (")
			if !ok {
				break
			}
			depth, end := 1, 0
			for ; depth > 0; end++ {
				switch after[end] {
				case '(':
					depth++
				case ')':
					depth--
				}
			}
			if rest = after[end:]; !strings.HasPrefix(after, "json_valid(") {
				broken = append(broken, "NOT ("+after[:end-1]+")")
			}
		}
		if len(broken) > 0 {
			queries = append(queries, "SELECT count(*) FROM "+table(statement)+" WHERE "+strings.Join(broken, " OR "))
		}
	}
	return queries
})

// table is the name of what a statement of schema makes.
func table(statement string) string { return strings.Fields(statement)[2] }

// querier is a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// recognise says whether a database is a run of this version, as this program makes it
// (workflow 19). path and run are for what it says.
func recognise(ctx context.Context, q querier, path, run string) error {
	var id, version int64
	if err := q.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return broken(run, path, err)
	}
	if err := q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return broken(run, path, err)
	}
	switch {
	case id != applicationID:
		return damage(workflow.Format, run, path, nil, "it is no run of this program")
	case version == 0:
		return damage(workflow.Corrupt, run, path, nil, "it has no version")
	case version != schemaVersion:
		return damage(workflow.SchemaVersion, run, path, nil, fmt.Sprintf("it has version %d, and this program knows version %d; use the program that made it", version, schemaVersion))
	}
	rows, err := q.QueryContext(ctx, `SELECT coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	if err != nil {
		return broken(run, path, err)
	}
	defer rows.Close()
	missing := make(map[string]bool, len(schema))
	for _, statement := range schema {
		missing[statement] = true
	}
	for rows.Next() {
		var statement string
		if err := rows.Scan(&statement); err != nil {
			return broken(run, path, err)
		}
		if !missing[statement] {
			return damage(workflow.Corrupt, run, path, nil, "it holds something this program does not make")
		}
		delete(missing, statement)
	}
	if err := rows.Err(); err != nil {
		return broken(run, path, err)
	}
	if len(missing) > 0 {
		return damage(workflow.Corrupt, run, path, nil, "a part of it is missing or was changed")
	}
	return nil
}
