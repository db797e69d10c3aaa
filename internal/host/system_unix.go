//go:build unix

package host

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	openNonblock      = syscall.O_NONBLOCK  // opening a pipe must not wait for its other end
	openDirectoryOnly = syscall.O_DIRECTORY // a walk opens nothing but directories
)

// ownGroup makes the command the leader of a process group.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// askGroup asks every process of the group to stop.
func askGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGTERM) }

// killGroup ends every process of the group. The leader may be gone already.
func killGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// exitStatus gives the status of an ended process as a shell does.
func exitStatus(state *os.ProcessState) int {
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return state.ExitCode()
}

// defaultPath is where programs are looked for when the environment has no PATH.
const defaultPath = "/usr/bin:/bin"

// findProgram looks a program up in the PATH of the environment the command is
// given, not in this process's own. A name with a slash is taken as it is.
// Relative entries of PATH are passed over: what they name depends on where the
// document happens to run.
func findProgram(name string, environment []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	search := defaultPath
	for _, entry := range environment {
		if value, is := strings.CutPrefix(entry, "PATH="); is {
			search = value
		}
	}
	found := error(fs.ErrNotExist)
	for _, directory := range filepath.SplitList(search) {
		if !filepath.IsAbs(directory) {
			continue
		}
		candidate := filepath.Join(directory, name)
		info, err := os.Stat(candidate)
		switch {
		case err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0:
			return candidate, nil
		case err == nil: // there, and nobody may run it
			found = fs.ErrPermission
		}
	}
	return "", found
}

// ownerOf is the user a file belongs to.
func ownerOf(info fs.FileInfo) uint32 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Uid
	}
	return Invoker()
}
