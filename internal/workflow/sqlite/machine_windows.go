package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes a lock that ends with the process, whatever becomes of it. It is false
// when another process holds it.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// suitable has nothing to look at: who may use a directory is not told by its mode.
func suitable(string) error { return nil }

// syncDir has nothing to do: a name is durable with its file.
func syncDir(string) error { return nil }
