package contain

import "golang.org/x/sys/unix"

// architecture is how the kernel calls it.
const architecture = unix.AUDIT_ARCH_X86_64

// seemingBefore are the calls of seeming that only this architecture still has.
var seemingBefore = []uint32{
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
}
