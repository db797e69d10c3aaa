//go:build !unix

package host

import (
	"io/fs"
	"os"
	"os/exec"
)

const (
	openNonblock      = 0
	openDirectoryOnly = 0
)

// Without process groups only the process itself can be ended, and it cannot be
// asked.
func ownGroup(*exec.Cmd) {}

func askGroup(leader *os.Process) { _ = leader.Kill() }

func killGroup(leader *os.Process) { _ = leader.Kill() }

func exitStatus(state *os.ProcessState) int { return state.ExitCode() }

func findProgram(name string, _ []string) (string, error) { return exec.LookPath(name) }

func ownerOf(fs.FileInfo) uint32 { return Invoker() }
