package host

import (
	"errors"
	"os"
)

// SaveNew makes a new file with exactly this content, written through to the disk and
// closed. The file must not exist in any form, a link to nowhere included: creating it
// is the test, and fs.ErrExist its answer. A file that could not be written whole is
// taken away again. Parents are not made. The error names the path and the system's
// reason.
func SaveNew(path string, content []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// OpenPrivate opens a directory below which a program keeps what is nobody else's, and
// makes it with its parents, for this user alone, when it does not exist. The error
// names the path and the system's reason.
func OpenPrivate(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}
