package acp

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent has the kernel kill the program when the thread that started it ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// awaitExit returns when the program has ended and leaves it unreaped: as long as it
// is, its group's number belongs to nobody else.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
