package host

import (
	"context"
	"os"
	"path/filepath"
)

// OpRoot is the operation of [OpenRoot] in a failure record.
const OpRoot = "openRoot"

// NonBlocking is the flag with which a file that may turn out to be a pipe or a
// device is opened, so that opening it does not wait; 0 where there is none.
const NonBlocking = openNonblock

// OpenRoot opens a directory so that operations on what it returns never leave it.
// dir is a path a person stated, absolute or relative to the process's own
// directory; a link in it is followed. Failures are *FileError and name no path.
func OpenRoot(dir string) (*os.Root, error) {
	if dir == "" {
		return nil, failed(OpRoot, PhaseLexical, EmptyPath)
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, failure(OpRoot, PhaseResolution, err)
	}
	root, _, err := openDirectory(context.Background(), OpRoot, absolute)
	return root, err
}

// Phrase says in words, from the list every failure record uses, why an operation
// on an opened root failed. It repeats no path and nothing the system said.
func Phrase(err error) string { return phrase(reason(err)) }
