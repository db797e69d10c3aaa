//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// tryLock takes a lock that ends with the process, whatever becomes of it. It is false
// when another process holds it.
func tryLock(f *os.File) (bool, error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}

// suitable refuses a directory of runs somebody else can write to.
func suitable(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return errors.New("it is no directory")
	case ok && int(owner.Uid) != os.Getuid():
		return errors.New("it belongs to another user; choose another directory")
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("others can write to it (mode %03o); take that from them with chmod go-w", info.Mode().Perm())
	}
	return local(dir)
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
