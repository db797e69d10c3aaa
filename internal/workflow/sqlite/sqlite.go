// Package sqlite keeps workflow runs on this machine, one SQLite database a run.
//
// What enters: the operations of a [workflow.Store], below one directory. What leaves:
// runs as they were committed, or a [workflow.StoreError] whose condition says why not.
// A run lives in HASH.sqlite, where HASH is the SHA-256 of its id, and HASH.lock says who
// carries it out. There is no index that could say something else.
//
//	store := sqlite.Open("/home/ada/.local/share/xmd/runs")
//	exec, err := store.Create(ctx, identity, sources)
//
// The invariant: every change is one transaction of the executor that holds the lock and
// whose epoch is the newest, and what it acknowledged survives a killed process. Damage
// is named and never repaired: a database that cannot be trusted stays byte for byte.
//
// The package does not know what an event means, how a document runs, or what a status is
// good for.
package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/internal/workflow"
)

// A store keeps runs below one directory.
type store struct{ dir string }

// Open names the directory of runs, an absolute path. Nothing is made or opened before a
// run is.
func Open(dir string) workflow.Store { return store{dir} }

// What a run is kept in, behind its HASH.
const (
	database = ".sqlite"
	lockFile = ".lock"
	making   = ".new"      // a database that is not one yet
	deleting = ".deleting" // a database that is none any more
	sessions = ".sessions"
)

// at is the path of a file of a run.
func (s store) at(run, kind string) string {
	sum := sha256.Sum256([]byte(run))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:])+kind)
}

// exists says whether a run has a database, which is a regular file and no link.
func (s store) exists(run string) error {
	path := s.at(run, database)
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return unreadable(run, path, err)
	case !info.Mode().IsRegular():
		return damage(workflow.Format, run, path, nil, "it is no ordinary file")
	}
	return nil
}

// connect opens a database; how is its mode. Nothing is read yet.
func connect(path, how string, pragmas ...string) (*sql.DB, error) {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a volume of Windows
	}
	query := url.Values{"_pragma": append([]string{"busy_timeout(5000)", "foreign_keys(1)", "trusted_schema(0)"}, pragmas...)}
	uri := url.URL{Scheme: "file", Path: slashed, RawQuery: how + "&" + query.Encode()}
	db, err := sql.Open("sqlite", uri.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// lock takes the lock of a run without waiting; until it is given back, or the process
// ends, no other executor has it. The file is never taken away, since two processes
// could then hold the lock of one run, each of a file of its own (workflow 20).
func (s store) lock(run string) (*os.File, error) {
	if err := suitable(s.dir); err != nil {
		return nil, fail(workflow.Refused, run, err, "runs cannot be kept in %s: %s", s.dir, err)
	}
	f, err := os.OpenFile(s.at(run, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fail(workflow.Refused, run, err, "the lock of the run %s cannot be taken: %s", run, err)
	}
	held, err := tryLock(f)
	switch {
	case err != nil:
		err = fail(workflow.Refused, run, err, "the lock of the run %s cannot be taken: %s", run, err)
	case !held:
		err = fail(workflow.Live, run, nil, "the run %s is being carried out by another process; wait for it to end, or interrupt it", run)
	default:
		return f, nil
	}
	return nil, errors.Join(err, f.Close())
}

// Create implements workflow.Store. The database is made aside and gets its name when it
// is whole, so that a killed process leaves a run or none.
func (s store) Create(ctx context.Context, id workflow.Identity, sources []workflow.Source) (workflow.Executor, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fail(workflow.Refused, id.ID, err, "the directory of runs cannot be made: %s; choose another with --store", err)
	}
	if err := s.absent(id.ID); err != nil {
		return nil, err
	}
	lock, err := s.lock(id.ID)
	if err != nil {
		return nil, err
	}
	if err := s.create(ctx, id, sources); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &executor{run: id.ID, path: s.at(id.ID, database), lock: lock, epoch: 1}, nil
}

func (s store) absent(run string) error {
	var missing *workflow.StoreError
	switch err := s.exists(run); {
	case err == nil:
		return fail(workflow.Conflict, run, nil, "the run %s exists already", run)
	case errors.As(err, &missing) && missing.Condition == workflow.NotFound:
		return nil
	default:
		return err
	}
}

func (s store) create(ctx context.Context, id workflow.Identity, sources []workflow.Source) error {
	if err := s.absent(id.ID); err != nil { // now that nobody else makes it
		return err
	}
	path, aside := s.at(id.ID, database), s.at(id.ID, making)
	for _, kind := range []string{logFile, indexFile, rollbackFile} {
		if _, err := os.Lstat(path + kind); err == nil {
			return damage(workflow.Corrupt, id.ID, path, nil, filepath.Base(path)+kind+" lies there without its database and would be taken for a part of the new one; delete the run first")
		}
	}
	err := removeAll(aside, aside+rollbackFile, s.at(id.ID, deleting))
	if err == nil {
		err = write(ctx, aside, id, sources)
	}
	reached("create", "written")
	if err == nil {
		err = os.Rename(aside, path)
	}
	if err != nil {
		_ = removeAll(aside, aside+rollbackFile)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var known *workflow.StoreError
		if err = unkept(id.ID, path, err); errors.As(err, &known) {
			return err
		}
		return fail(workflow.Refused, id.ID, err, "the run %s could not be made: %s", id.ID, err)
	}
	reached("create", "named")
	if err := syncDir(s.dir); err != nil {
		return fail(workflow.Refused, id.ID, err, "the run %s could not be made durable: %s", id.ID, err)
	}
	return nil
}

// removeAll removes what is there of some files.
func removeAll(paths ...string) error {
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// Acquire implements workflow.Store. Nothing is opened for writing yet, so a run that is
// then refused stays byte for byte.
func (s store) Acquire(ctx context.Context, run string) (workflow.Executor, error) {
	if err := s.exists(run); err != nil {
		return nil, err
	}
	lock, err := s.lock(run)
	if err != nil {
		return nil, err
	}
	x := &executor{run: run, path: s.at(run, database), lock: lock}
	if err = s.exists(run); err == nil { // nobody removes it any more
		err = reading(ctx, run, x.path, func(tx *sql.Tx) error {
			r, err := sound(ctx, tx, x.path, run)
			x.epoch = r.Epoch
			return err
		})
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return x, nil
}

// Inspect implements workflow.Store.
func (s store) Inspect(ctx context.Context, run string, verify bool) (snap workflow.Snapshot, err error) {
	if err := s.exists(run); err != nil {
		return workflow.Snapshot{}, err
	}
	path := s.at(run, database)
	err = reading(ctx, run, path, func(tx *sql.Tx) error {
		if _, err := sound(ctx, tx, path, run); err != nil {
			return err
		}
		if snap, err = snapshot(ctx, tx, path, run); err == nil && verify {
			err = verifyObjects(ctx, tx, path, run)
		}
		return err
	})
	return snap, err
}

// named says whether a file is one of a run.
func named(name string) bool {
	hash, ok := strings.CutSuffix(name, database)
	return ok && len(hash) == 64 && strings.Trim(hash, "0123456789abcdef") == ""
}

// List implements workflow.Store.
func (s store) List(ctx context.Context) ([]workflow.Record, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fail(workflow.Inspection, "", err, "the directory of runs cannot be read: %s", err)
	}
	var all []workflow.Record
	for _, e := range entries {
		if !named(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(s.dir, e.Name())
		var r workflow.Record
		err := reading(ctx, "", path, func(tx *sql.Tx) error {
			if err := recognise(ctx, tx, path, ""); err != nil {
				return err
			}
			r, err = record(ctx, tx, path, "")
			return err
		})
		var gone *workflow.StoreError
		switch {
		case err == nil:
			all = append(all, r)
		case !errors.As(err, &gone) || gone.Condition != workflow.NotFound: // just removed
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b workflow.Record) int { return b.Updated.Compare(a.Updated) })
	return all, nil
}

// Delete implements workflow.Store. A crash leaves the run whole, or what the next Delete
// or Create of it removes and nobody else sees (workflow 28).
func (s store) Delete(ctx context.Context, run string) (removed []string, err error) {
	path, gone, side := s.at(run, database), s.at(run, deleting), s.at(run, sessions)
	any := func(paths ...string) bool {
		return slices.ContainsFunc(paths, func(p string) bool { _, err := os.Lstat(p); return err == nil })
	}
	if !any(path, gone, side, path+logFile, path+indexFile, path+rollbackFile) {
		return nil, notFound(run)
	}
	lock, err := s.lock(run)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	what := "run-storage"
	if any(path) {
		if s.rest(ctx, run) != nil {
			what = "run-storage (unreadable)"
		}
	}
	reached("delete", "rested")
	if any(side) {
		removed = append(removed, "provider-sessions")
	}
	err = removeAll(side)
	reached("delete", "sessions")
	if err == nil && any(path) {
		err = errors.Join(removeAll(gone), os.Rename(path, gone))
	}
	reached("delete", "renamed")
	if err == nil {
		err = removeAll(path+logFile, path+indexFile, path+rollbackFile, gone)
	}
	if err == nil {
		err = syncDir(s.dir)
	}
	if err != nil {
		return nil, fail(workflow.Refused, run, err, "the run %s could not be removed: %s", run, err)
	}
	return append([]string{what}, removed...), nil
}

// rest makes a run one ordinary file: nothing beside it belongs to it. The error says that
// it cannot be read.
func (s store) rest(ctx context.Context, run string) error {
	path := s.at(run, database)
	err := s.exists(run)
	if err == nil {
		err = reading(ctx, run, path, func(tx *sql.Tx) error { _, err := sound(ctx, tx, path, run); return err })
	}
	if err != nil {
		return err
	}
	db, err := connect(path, "mode=rw", "synchronous(EXTRA)")
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return settleLog(ctx, conn)
}

// settleLog puts what the log of a database holds into the database and does without a
// log from then on, unless somebody reads the run right now: it then keeps its log.
func settleLog(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "PRAGMA busy_timeout=50")
	if err == nil {
		_, err = conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, "PRAGMA journal_mode=DELETE")
	}
	if c := code(err); c == codeBusy || c == codeLocked {
		return nil
	}
	return err
}

// stampFormat is how a time is kept. Times are information; no rule reads them.
const stampFormat = "2006-01-02T15:04:05.000Z"

func stamp(t time.Time) string { return t.UTC().Format(stampFormat) }
