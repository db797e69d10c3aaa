package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/executable-markdown/xmd/internal/workflow"
)

// What lies beside a database that is in use, or was when its process was killed.
const (
	logFile      = "-wal"     // what is committed and not yet in the database
	indexFile    = "-shm"     // of the logFile, for the processes that share it
	rollbackFile = "-journal" // what a change overwrites, until it is committed
)

// reading has body read a run as the last commit left it, in one read transaction. No
// lock of the run is taken, the database and its log stay byte for byte, and no file is
// made (workflow 29). body may be called again from the start.
func reading(ctx context.Context, run, path string, body func(*sql.Tx) error) error {
	for range 50 {
		before, err := look(path)
		if err != nil {
			return unreadable(run, path, err)
		}
		switch {
		case before[logFile] == nil && before[rollbackFile] == nil:
			// At rest: whoever changes it makes one of the two first. An ordinary
			// read-only connection would leave a log behind where the run was not put to
			// rest by its executor.
			err = read(ctx, path, "immutable=1", body)
		case before[logFile] != nil && before[indexFile] == nil:
			err = readCopy(ctx, run, path, before, body)
		default:
			if err = read(ctx, path, "mode=ro", body); !unopened(err) {
				return broken(run, path, err)
			}
			// A change that was cut off, or a place where the log cannot be shared.
			err = readCopy(ctx, run, path, before, body)
		}
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		after, gone := look(path)
		if gone == nil && before.same(after) {
			return broken(run, path, err)
		}
	}
	return unreadable(run, path, errors.New("it changes all the time"))
}

// read opens a database as it lies there.
func read(ctx context.Context, path, how string, body func(*sql.Tx) error) error {
	db, err := connect(path, how, "query_only(1)")
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return body(tx)
}

// A state is what can be seen of the files of a run from outside.
type state map[string]fs.FileInfo

// look says which files of a database there are. Without the database it is an error.
func look(path string) (state, error) {
	s := state{}
	for _, kind := range []string{"", logFile, indexFile, rollbackFile} {
		info, err := os.Lstat(path + kind)
		switch {
		case err == nil:
			s[kind] = info
		case kind == "" || !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return s, nil
}

// same says whether nothing was written between two looks.
func (s state) same(other state) bool {
	for _, kind := range []string{"", logFile, rollbackFile} {
		a, b := s[kind], other[kind]
		switch {
		case a == nil && b == nil:
		case a == nil || b == nil || !os.SameFile(a, b) || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()):
			return false
		}
	}
	return true
}

// readCopy reads a run that cannot be read where it lies without leaving something there:
// a copy of it in a private directory, which is gone before this returns.
func readCopy(ctx context.Context, run, path string, s state, body func(*sql.Tx) error) (err error) {
	dir, err := os.MkdirTemp("", "xmd-inspect-") // 0700
	if err != nil {
		return fail(workflow.Inspection, run, err, "a private copy of the run in %s could not be made: %s; make room in the directory for temporary files", filepath.Base(path), err)
	}
	defer func() {
		if e := os.RemoveAll(dir); e != nil {
			err = errors.Join(err, fail(workflow.Inspection, run, e, "a private copy of the run in %s could not be removed: %s; remove it", filepath.Base(path), e))
		}
	}()
	private := filepath.Join(dir, "run")
	for _, kind := range []string{"", logFile, rollbackFile} {
		if s[kind] == nil {
			continue
		}
		if err := copyFile(path+kind, private+kind); err != nil {
			return fail(workflow.Inspection, run, err, "a private copy of the run in %s could not be made: %s", filepath.Base(path), err)
		}
	}
	db, err := connect(private, "mode=rw")
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return body(tx)
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := createFile(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}

// createFile makes a file that only its owner can read.
func createFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
}
