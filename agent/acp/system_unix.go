//go:build unix

package acp

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockFile takes an advisory lock without waiting; it is false when another holds it.
// Closing the file gives it back.
func lockFile(f *os.File) (bool, error) {
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

// syncDirectory makes the names in a directory durable.
func syncDirectory(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// ownGroup starts the program in a process group of its own.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	dieWithParent(cmd.SysProcAttr)
}

// ownSession starts the program in a session of its own instead, which has no terminal.
// Its group is its own as well.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Setsid = false, true }

func terminateGroup(leader int) { _ = unix.Kill(-leader, unix.SIGTERM) }

func killGroup(leader int) { _ = unix.Kill(-leader, unix.SIGKILL) }
