package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"modernc.org/sqlite" // and the driver of this name

	"github.com/executable-markdown/xmd/internal/workflow"
)

// What the database says of a failure.
const (
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

func notFound(run string) error {
	return fail(workflow.NotFound, run, nil, "there is no run %s; xmd workflow list shows those there are", run)
}

// unreadable is the condition of a run that may be sound and cannot be looked at.
func unreadable(run, path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return notFound(run)
	}
	return fail(workflow.Inspection, run, err, "the run in %s could not be read: %s; see to the file and its directory and try again", filepath.Base(path), plain(err))
}

// damage is a condition of a stored run that cannot be trusted.
func damage(c workflow.Condition, run, path string, cause error, what string) error {
	if cause != nil {
		what += ": " + plain(cause)
	}
	return fail(c, run, cause, "the run in %s cannot be trusted (%s): %s; it was left as it is. Restore the file from a copy, or delete the run", filepath.Base(path), c, what)
}

func fail(c workflow.Condition, run string, cause error, format string, args ...any) error {
	return &workflow.StoreError{Condition: c, Run: run, Message: fmt.Sprintf(format, args...), Err: cause}
}

// code is what the database calls an error, and 0 when the error is not of it.
func code(err error) int {
	var engine *sqlite.Error
	if errors.As(err, &engine) {
		return engine.Code() & 0xff
	}
	return 0
}

// unopened says whether a run can only be read after something was written beside it.
func unopened(err error) bool { return code(err) == codeCantOpen || code(err) == codeReadOnly }

// broken is what an error of the database means where a run is read; any other error
// stays what it is.
func broken(run, path string, err error) error {
	var known *workflow.StoreError
	if err == nil || errors.As(err, &known) {
		return err
	}
	switch code(err) {
	case 0:
		return err
	case codeNotADB:
		return damage(workflow.Format, run, path, nil, "it is no database")
	case codeCorrupt:
		return damage(workflow.Corrupt, run, path, err, "the database is damaged")
	}
	return unreadable(run, path, err)
}

// unkept is what an error of the database means where a run is changed.
func unkept(run, path string, err error) error {
	var known *workflow.StoreError
	if err == nil || errors.As(err, &known) {
		return err
	}
	advice := "see to the file and its directory, then resume the run"
	switch code(err) {
	case 0:
		return err
	case codeNotADB, codeCorrupt:
		return broken(run, path, err)
	case codeFull:
		advice = "make room on the disk, then resume the run"
	case codeBusy, codeLocked:
		advice = "another process uses it; try again"
	}
	return fail(workflow.Refused, run, err, "the run in %s could not be written: %s; nothing of the change was kept; %s", filepath.Base(path), plain(err), advice)
}

// plain is what an error says, without the number the driver puts behind it.
func plain(err error) string {
	text := err.Error()
	if code(err) != 0 {
		text, _, _ = strings.Cut(text, " (")
	}
	return text
}
