//go:build !unix

package sqlite

import (
	"errors"
	"os"
)

// Where there are no locks that end with their process, nothing proves that a run has one
// executor, and none is carried out.
func tryLock(*os.File) (bool, error) {
	return false, errors.New("workflow runs need a Unix system")
}

func suitable(string) error { return nil }

func syncDir(string) error { return nil }

func createFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
}
