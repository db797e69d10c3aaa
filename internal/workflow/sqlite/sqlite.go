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
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite" // and the driver of this name

	"github.com/executable-markdown/xmd/internal/workflow"
)

// A store keeps runs below one directory.
type store struct{ dir string }

// Open names the directory of runs, an absolute path. Nothing is made or opened before a
// run is.
func Open(dir string) workflow.Store { return store{dir} }

// What a run is kept in, beside its HASH.
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

func fail(c workflow.Condition, run string, cause error, format string, args ...any) error {
	return &workflow.StoreError{Condition: c, Run: run, Message: fmt.Sprintf(format, args...), Err: cause}
}

func notFound(run string) error {
	return fail(workflow.NotFound, run, nil, "there is no run %s; xmd workflow list shows those there are", run)
}

// damage is a condition of a stored run that cannot be trusted.
func damage(c workflow.Condition, run, path string, cause error, what string) error {
	if cause != nil {
		what += ": " + cause.Error()
	}
	return fail(c, run, cause, "the run in %s cannot be trusted (%s): %s; it was left as it is. Restore the file from a copy, or delete the run", filepath.Base(path), c, what)
}

// broken is what an error of the database means; any other stays what it is.
func broken(run, path string, err error) error {
	var known *workflow.StoreError
	var engine *sqlite.Error
	if err == nil || errors.As(err, &known) || !errors.As(err, &engine) {
		return err
	}
	switch engine.Code() & 0xff {
	case 26: // SQLITE_NOTADB
		return damage(workflow.Format, run, path, nil, "it is no database")
	case 11: // SQLITE_CORRUPT
		return damage(workflow.Corrupt, run, path, err, "the database is damaged")
	}
	return fmt.Errorf("the run in %s could not be read or written: %w", filepath.Base(path), err)
}

// exists says whether a run has a database: a regular file, no link.
func (s store) exists(run string) (bool, error) {
	info, err := os.Lstat(s.at(run, database))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, damage(workflow.Format, run, s.at(run, database), nil, "it is no ordinary file")
	}
	return true, nil
}

// connect opens a database. Nothing is read yet.
func connect(path string, readOnly bool, pragmas ...string) (*sql.DB, error) {
	query := url.Values{"_pragma": append([]string{"busy_timeout(5000)", "foreign_keys(1)", "trusted_schema(0)"}, pragmas...)}
	mode := "rw"
	if readOnly {
		mode = "ro"
	}
	query.Set("mode", mode)
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// Create implements workflow.Store. The database is made aside and gets its name when it
// is whole, so that a killed process leaves a run or none.
func (s store) Create(ctx context.Context, id workflow.Identity, sources []workflow.Source) (workflow.Executor, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	lock, err := s.lock(id.ID)
	if err != nil {
		return nil, err
	}
	x, err := s.create(ctx, id, sources, lock)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return x, nil
}

func (s store) create(ctx context.Context, id workflow.Identity, sources []workflow.Source, lock *os.File) (*executor, error) {
	path, aside := s.at(id.ID, database), s.at(id.ID, making)
	there, err := s.exists(id.ID)
	switch {
	case err != nil:
		return nil, err
	case there:
		return nil, fail(workflow.Conflict, id.ID, nil, "the run %s exists already", id.ID)
	}
	for _, stray := range []string{path + "-wal", path + "-shm", path + "-journal"} {
		if _, err := os.Lstat(stray); err == nil {
			return nil, damage(workflow.Corrupt, id.ID, path, nil, filepath.Base(stray)+" lies there without its database, and would be taken for a part of the new one; delete the run first")
		}
	}
	for _, leftover := range []string{aside, aside + "-journal", s.at(id.ID, deleting)} {
		if err := os.Remove(leftover); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := write(ctx, aside, id, sources); err != nil {
		return nil, errors.Join(broken(id.ID, path, err), ignoreMissing(os.Remove(aside)))
	}
	if err := os.Rename(aside, path); err != nil {
		return nil, errors.Join(err, ignoreMissing(os.Remove(aside)))
	}
	if err := syncDir(s.dir); err != nil {
		return nil, err
	}
	return s.hold(ctx, id.ID, lock)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// prepare makes the directory of runs and refuses one that others can write to or that a
// database cannot live in.
func (s store) prepare() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("the directory of runs cannot be used: %w", err)
	}
	if err := suitable(s.dir); err != nil {
		return fmt.Errorf("runs cannot be kept in %s: %w", s.dir, err)
	}
	return nil
}

// lock takes the lock of a run without waiting. The file is never taken away.
func (s store) lock(run string) (*os.File, error) {
	f, err := os.OpenFile(s.at(run, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the lock of the run %s cannot be taken: %w", run, err)
	}
	held, err := tryLock(f)
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("the lock of the run %s cannot be taken: %w", run, err), f.Close())
	case !held:
		return nil, errors.Join(fail(workflow.Live, run, nil, "the run %s is being carried out by another process; wait for it to end, or interrupt it", run), f.Close())
	}
	return f, nil
}

// Acquire implements workflow.Store.
func (s store) Acquire(ctx context.Context, run string) (workflow.Executor, error) {
	there, err := s.exists(run)
	if err == nil && !there {
		err = notFound(run)
	}
	if err != nil {
		return nil, err
	}
	// What cannot be trusted is found before anything is opened for writing.
	if _, err := s.read(ctx, run, true); err != nil {
		return nil, err
	}
	lock, err := s.lock(run)
	if err != nil {
		return nil, err
	}
	x, err := s.hold(ctx, run, lock)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return x, nil
}

// Inspect implements workflow.Store. Nothing is written, and no lock taken.
func (s store) Inspect(ctx context.Context, run string, verify bool) (workflow.Snapshot, error) {
	there, err := s.exists(run)
	if err == nil && !there {
		err = notFound(run)
	}
	if err != nil {
		return workflow.Snapshot{}, err
	}
	if err := wellFormed(ctx, s.at(run, database), run); err != nil {
		return workflow.Snapshot{}, err
	}
	snap, err := s.read(ctx, run, false)
	if err == nil && verify {
		err = s.verify(ctx, run)
	}
	return snap, err
}

// named matches the file of a run.
var named = func() func(string) bool {
	var pattern *regexp.Regexp
	return func(name string) bool {
		if pattern == nil {
			pattern = regexp.MustCompile(`^[0-9a-f]{64}\.sqlite$`)
		}
		return pattern.MatchString(name)
	}
}()

// List implements workflow.Store.
func (s store) List(ctx context.Context) ([]workflow.Record, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the directory of runs cannot be read: %w", err)
	}
	var all []workflow.Record
	for _, e := range entries {
		if !named(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		record, err := readRecord(ctx, filepath.Join(s.dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, record)
	}
	slices.SortStableFunc(all, func(a, b workflow.Record) int { return b.Updated.Compare(a.Updated) })
	return all, nil
}

// Delete implements workflow.Store. A crash leaves the run whole, or a leftover nobody
// sees.
func (s store) Delete(ctx context.Context, run string) (removed []string, err error) {
	there, err := s.exists(run)
	if err == nil && !there {
		err = notFound(run)
	}
	if err != nil {
		return nil, err
	}
	lock, err := s.lock(run)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	path := s.at(run, database)
	what := "run-storage"
	if err := rest(ctx, path); err != nil {
		what = "run-storage (unreadable)"
	}
	side := s.at(run, sessions)
	_, sideErr := os.Lstat(side)
	if err := os.RemoveAll(side); err != nil {
		return nil, fmt.Errorf("the sessions of the run %s could not be removed: %w", run, err)
	}
	gone := s.at(run, deleting)
	if err := os.Rename(path, gone); err != nil {
		return nil, fmt.Errorf("the run %s could not be removed: %w", run, err)
	}
	for _, leftover := range []string{gone, path + "-wal", path + "-shm", path + "-journal"} {
		if err := ignoreMissing(os.Remove(leftover)); err != nil {
			return nil, fmt.Errorf("the run %s could not be removed: %w", run, err)
		}
	}
	removed = []string{what}
	if sideErr == nil {
		removed = append(removed, "provider-sessions")
	}
	return removed, syncDir(s.dir)
}

// rest makes a run one ordinary file: nothing beside it belongs to it.
func rest(ctx context.Context, path string) error {
	db, err := connect(path, false, "synchronous(FULL)")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err == nil {
		_, err = db.ExecContext(ctx, "PRAGMA journal_mode=DELETE")
	}
	return errors.Join(err, db.Close())
}

// stamp is a time as it is kept. Times are information; no rule reads them.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func readStamp(text string) time.Time {
	t, _ := time.Parse("2006-01-02T15:04:05.000Z", text)
	return t
}

// withoutDriver is what the database said, without the driver's number behind it.
func withoutDriver(text string) string {
	text, _, _ = strings.Cut(text, " (")
	return text
}
