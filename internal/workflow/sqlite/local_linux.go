package sqlite

import (
	"errors"

	"golang.org/x/sys/unix"
)

// local refuses file systems of another machine, on which the memory a log needs is not
// shared.
func local(dir string) error {
	var info unix.Statfs_t
	if err := unix.Statfs(dir, &info); err != nil {
		return err
	}
	switch uint32(info.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC:
		return errors.New("it is on a network file system, on which a run could be damaged; choose a directory of this machine")
	}
	return nil
}
