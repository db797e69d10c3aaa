package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/workflow"
	"github.com/executable-markdown/xmd/internal/workspace"
)

// change makes a change nothing keeps it from making.
func change(statements ...string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=foreign_keys(0)&_pragma=ignore_check_constraints(1)&_pragma=writable_schema(1)")
		require.NoError(t, err)
		db.SetMaxOpenConns(1)
		for _, statement := range statements {
			_, err := db.Exec(statement)
			require.NoError(t, err, statement)
		}
		require.NoError(t, db.Close())
	}
}

// unchecked takes the first check of a table away.
func unchecked(name string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		for _, statement := range schema {
			if table(statement) != name {
				continue
			}
			from := strings.Index(statement, " CHECK (")
			depth, to := 0, from+len(" CHECK ")
			for ; ; to++ {
				if statement[to] == '(' {
					depth++
				} else if statement[to] == ')' {
					if depth--; depth == 0 {
						break
					}
				}
			}
			less := statement[:from] + statement[to+1:]
			change("UPDATE sqlite_schema SET sql = '"+strings.ReplaceAll(less, "'", "''")+"' WHERE name = '"+name+"'")(t, path)
		}
	}
}

func put(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
}

// answered is a run at rest with three events, a file and an answer that waits.
func answered(t *testing.T) (store, string) {
	s, path := made(t, 3)
	snap, err := s.Inspect(t.Context(), "r", false)
	require.NoError(t, err)
	x, err := s.Acquire(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, x.Begin(t.Context(), false))
	require.NoError(t, writeFile(t.Context(), x, "dir/a.txt", "text", 3))
	require.NoError(t, x.Settle(t.Context(), workflow.Suspended, workflow.Reason{Event: snap.Events[2].ID}))
	require.NoError(t, x.Release())
	require.NoError(t, s.Deliver(t.Context(), "r", answerTo(snap.Events[2].ID), func(workflow.Snapshot) error { return nil }))
	return s, path
}

// TestF12_DamageIsNamedAndLeft: every kind of it has its condition, and the file stays
// byte for byte.
func TestF12_DamageIsNamedAndLeft(t *testing.T) {
	type row struct {
		harm func(*testing.T, string)
		want workflow.Condition
	}
	blob := workspace.Hash(workspace.KindBlob, []byte("text"))
	rows := map[string]row{
		"text file":           {put("# a document\n" + strings.Repeat("words ", 100)), workflow.Format},
		"short text file":     {put("x"), workflow.Format},
		"empty file":          {put(""), workflow.Format},
		"foreign application": {change("PRAGMA application_id = 1"), workflow.Format},
		"no version":          {change("PRAGMA user_version = 0"), workflow.Corrupt},
		"later version":       {change("PRAGMA user_version = 2"), workflow.SchemaVersion},
		"index added":         {change("CREATE INDEX more ON journal_events (record)"), workflow.Corrupt},
		"trigger added":       {change("CREATE TRIGGER more AFTER INSERT ON journal_events BEGIN DELETE FROM journal_events; END"), workflow.Corrupt},
		"view added":          {change("CREATE VIEW more AS SELECT 1"), workflow.Corrupt},
		"table added":         {change("CREATE TABLE more (a TEXT)"), workflow.Corrupt},
		"cut off": {func(t *testing.T, path string) {
			require.NoError(t, os.Truncate(path, 8192))
		}, workflow.Corrupt},
		"no run":                  {change("DELETE FROM workflow_run"), workflow.RecordMalformed},
		"two runs":                {change("INSERT INTO workflow_run SELECT 2, run_id, definition, base, props, status, stop_kind, stop_code, stop_event, epoch, created_at, updated_at FROM workflow_run"), workflow.Corrupt},
		"half a reason":           {change("UPDATE workflow_run SET stop_code = 'x'"), workflow.Corrupt},
		"consumed without a time": {change("UPDATE suspension_answers SET state = 'consumed'"), workflow.Corrupt},
		"unknown kind":            {change("UPDATE workspace_objects SET kind = 'x'"), workflow.Corrupt},
		"unknown status":          {change("UPDATE workflow_run SET status = 'asleep'"), workflow.Corrupt},
		"another run":             {change("UPDATE workflow_run SET run_id = 'other'"), workflow.IDMismatch},
		"properties":              {change(`UPDATE workflow_run SET props = '{"a":1,"a":2}'`), workflow.RecordMalformed},
		"definition":              {change(`UPDATE workflow_run SET definition = '[]'`), workflow.RecordMalformed},
		"time":                    {change(`UPDATE workflow_run SET created_at = 'yesterday'`), workflow.RecordMalformed},
		"execution":               {change(`UPDATE document_executions SET started_at = '' WHERE sequence = 1`), workflow.RecordMalformed},
		"event":                   {change(`UPDATE journal_events SET record = '{"type":"yield"}' WHERE sequence = 2`), workflow.RecordMalformed},
		"event that is no JSON":   {change(`UPDATE journal_events SET record = '{' WHERE sequence = 2`), workflow.RecordMalformed},
		"answer":                  {change(`UPDATE suspension_answers SET answer = '{"a":1,"a":2}'`), workflow.RecordMalformed},
		"answer to nothing":       {change(`UPDATE suspension_answers SET request_event = 'x'`), workflow.Corrupt},
		"reason without event":    {change(`UPDATE workflow_run SET stop_event = 'x'`), workflow.Corrupt},
		"root without tree":       {change("DELETE FROM workspace_objects WHERE kind = 'tree'"), workflow.WorkspaceDamaged},
		"event without root":      {change(`UPDATE journal_events SET workspace_root = 'x' WHERE sequence = 2`), workflow.WorkspaceDamaged},
		"no current root":         {change("DELETE FROM workspace_state"), workflow.WorkspaceDamaged},
		"missing blob":            {change("DELETE FROM workspace_objects WHERE hash = '" + blob + "'"), workflow.WorkspaceDamaged},
		"flipped blob":            {change("UPDATE workspace_objects SET bytes = x'54657874' WHERE hash = '" + blob + "'"), workflow.WorkspaceDamaged},
		"tree that is a blob":     {change("UPDATE workspace_objects SET kind = 'blob' WHERE kind = 'tree'"), workflow.WorkspaceDamaged},
		"flipped tree":            {change("UPDATE workspace_objects SET bytes = x'7b7d' WHERE kind = 'tree'"), workflow.WorkspaceDamaged},
	}
	for _, statement := range schema {
		name := table(statement)
		rows[name+" missing"] = row{change("DROP TABLE " + name), workflow.Corrupt}
		rows[name+" renamed"] = row{change("ALTER TABLE " + name + " RENAME TO other"), workflow.Corrupt}
		rows[name+" with a column"] = row{change("ALTER TABLE " + name + " ADD COLUMN more TEXT"), workflow.Corrupt}
		if strings.Contains(statement, "CHECK") {
			rows[name+" without a check"] = row{unchecked(name), workflow.Corrupt}
		}
	}
	lazily := []string{"missing blob", "flipped blob", "tree that is a blob", "flipped tree"} // looked at when read
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			s, path := answered(t)
			row.harm(t, path)
			before := files(t, s.dir)
			_, err := s.Inspect(t.Context(), "r", true)
			requireCondition(t, row.want, err)
			require.ErrorContains(t, err, filepath.Base(path))
			if !slices.Contains(lazily, name) {
				_, err = s.Inspect(t.Context(), "r", false)
				requireCondition(t, row.want, err)
				err = s.Deliver(t.Context(), "r", answerTo("x"), func(workflow.Snapshot) error { return nil })
				requireCondition(t, row.want, err)
				x, err := s.Acquire(t.Context(), "r")
				if err == nil { // its events are read with the rest
					_, err = x.Snapshot(t.Context())
					require.NoError(t, x.Release())
				}
				requireCondition(t, row.want, err)
			}
			require.Equal(t, before, files(t, s.dir), "nothing is repaired")
			removed, err := s.Delete(t.Context(), "r")
			require.NoError(t, err)
			require.Len(t, removed, 1)
			require.Len(t, files(t, s.dir), 1, "the lock stays")
		})
	}
}

// TestF12_AnyByte: whatever byte of a run is another, it is read as it was or is damage.
func TestF12_AnyByte(t *testing.T) {
	s, path := answered(t)
	want, err := s.Inspect(t.Context(), "r", true)
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	stride, found := 211, 0
	if testing.Short() {
		stride = 2003
	}
	for at := 0; at < len(text); at += stride {
		harmed := slices.Clone(text)
		harmed[at] ^= 1 << (at % 8)
		require.NoError(t, os.WriteFile(path, harmed, 0o600))
		snap, err := s.Inspect(t.Context(), "r", true)
		if err != nil {
			var e *workflow.StoreError
			require.ErrorAs(t, err, &e, "byte %d", at)
			require.True(t, e.Condition.Damage(), "byte %d: %v", at, err)
			found++
			continue
		}
		require.Len(t, snap.Events, len(want.Events), "byte %d", at)
	}
	require.Positive(t, found)
}

// TestF12_DamageFoundByAnEffect: a flipped file is found by who reads it.
func TestF12_DamageFoundByAnEffect(t *testing.T) {
	s, path := answered(t)
	change("UPDATE workspace_objects SET bytes = x'7b7d' WHERE kind = 'tree'")(t, path)
	x, err := s.Acquire(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, x.Begin(t.Context(), false))
	requireCondition(t, workflow.WorkspaceDamaged, writeFile(t.Context(), x, "b.txt", "b", 4))
	require.NoError(t, x.Release())
}

// TestF6_WhatIsNoRun: what lies where a run should is named, and nothing is written.
func TestF6_WhatIsNoRun(t *testing.T) {
	s, path := made(t, 1)
	require.NoError(t, os.Rename(path, path+".kept"))
	require.NoError(t, os.Symlink(path+".kept", path))
	_, err := s.Inspect(t.Context(), "r", false)
	requireCondition(t, workflow.Format, err)
	_, err = s.Acquire(t.Context(), "r")
	requireCondition(t, workflow.Format, err)
	_, err = s.Create(t.Context(), identity("r"), sources)
	requireCondition(t, workflow.Format, err)
	list, err := s.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, list, "a link is no run")
	_, err = s.Delete(t.Context(), "r")
	require.NoError(t, err)
	require.FileExists(t, path+".kept", "the link went, not what it leads to")

	require.NoError(t, os.Mkdir(path, 0o700))
	_, err = s.Inspect(t.Context(), "r", false)
	requireCondition(t, workflow.Format, err)
	removed, err := s.Delete(t.Context(), "r")
	require.NoError(t, err)
	require.Equal(t, []string{"run-storage (unreadable)"}, removed)

	for _, stray := range []string{logFile, indexFile, rollbackFile} {
		require.NoError(t, os.WriteFile(path+stray, []byte("x"), 0o600))
		_, err = s.Create(t.Context(), identity("r"), sources)
		requireCondition(t, workflow.Corrupt, err)
		_, err = s.Inspect(t.Context(), "r", false)
		requireCondition(t, workflow.NotFound, err)
		_, err = s.Delete(t.Context(), "r")
		require.NoError(t, err)
		require.NoFileExists(t, path+stray)
	}
	_, err = s.Delete(t.Context(), "r")
	requireCondition(t, workflow.NotFound, err)

	require.NoError(t, os.WriteFile(s.at("r", making), []byte("half"), 0o600))
	require.NoError(t, os.WriteFile(s.at("r", deleting), []byte("half"), 0o600))
	x, err := s.Create(t.Context(), identity("r"), sources)
	require.NoError(t, err, "what a crash left over is no run")
	require.NoError(t, x.Release())
	require.Len(t, files(t, s.dir), 3, "run, lock and what was put aside here")
}

// TestF6_TakenAwayWhileItRuns: nothing is acknowledged that nobody would find again.
func TestF6_TakenAwayWhileItRuns(t *testing.T) {
	for name, row := range map[string]struct {
		harm func(t *testing.T, s store, path string)
		want workflow.Condition
	}{
		"directory removed": {func(t *testing.T, s store, _ string) { require.NoError(t, os.RemoveAll(s.dir)) }, workflow.NotFound},
		"file removed":      {func(t *testing.T, _ store, path string) { require.NoError(t, os.Remove(path)) }, workflow.NotFound},
		"link": {func(t *testing.T, _ store, path string) {
			require.NoError(t, os.Rename(path, path+".kept"))
			require.NoError(t, os.Symlink("elsewhere", path))
		}, workflow.Format},
		"garbage": {func(t *testing.T, _ store, path string) {
			require.NoError(t, os.Remove(path))
			put("# words\n")(t, path)
		}, workflow.Format},
		"another run": {func(t *testing.T, s store, path string) {
			x, err := s.Create(t.Context(), identity("q"), sources)
			require.NoError(t, err)
			require.NoError(t, x.Release())
			require.NoError(t, os.Rename(s.at("q", database), path))
		}, workflow.IDMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			s, path := made(t, 1)
			x, err := s.Acquire(t.Context(), "r")
			require.NoError(t, err)
			require.NoError(t, x.Begin(t.Context(), false))
			row.harm(t, s, path)
			_, err = x.Append(t.Context(), event(1))
			requireCondition(t, row.want, err)
			requireCondition(t, row.want, x.Settle(t.Context(), workflow.Completed, workflow.Reason{}))
			_ = x.Release() // it has nothing to put to rest
		})
	}
}

// TestF6_UnsuitableDirectory: where runs cannot be kept is said before one is made.
func TestF6_UnsuitableDirectory(t *testing.T) {
	s, path := made(t, 1)
	before := files(t, s.dir)
	require.NoError(t, os.Chmod(s.dir, 0o777))
	_, err := s.Create(t.Context(), identity("q"), sources)
	requireCondition(t, workflow.Refused, err)
	require.ErrorContains(t, err, "others can write to it")
	_, err = s.Acquire(t.Context(), "r")
	requireCondition(t, workflow.Refused, err)
	require.NoError(t, os.Chmod(s.dir, 0o700))
	require.Equal(t, before, files(t, s.dir))

	other := store{path} // a file
	_, err = other.Create(t.Context(), identity("q"), sources)
	requireCondition(t, workflow.Refused, err)
	none := store{filepath.Join(s.dir, "none")}
	list, err := none.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, list)
	_, err = none.Inspect(t.Context(), "r", false)
	requireCondition(t, workflow.NotFound, err)
	require.NoDirExists(t, none.dir)
}

// TestOneDamagedRunFailsTheList: a shorter list would be a lie.
func TestOneDamagedRunFailsTheList(t *testing.T) {
	s, path := made(t, 1)
	x, err := s.Create(t.Context(), identity("q"), sources)
	require.NoError(t, err)
	require.NoError(t, x.Release())
	list, err := s.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "q", list[0].ID, "the one updated last")
	put("garbage")(t, path)
	_, err = s.List(t.Context())
	requireCondition(t, workflow.Format, err)
	require.ErrorContains(t, err, filepath.Base(path))
}
