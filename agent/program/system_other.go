//go:build !unix

package program

import (
	"os"
	"os/exec"
)

// Without process groups only the process itself can be ended, and it cannot be
// asked.
func ownGroup(*exec.Cmd) {}

func askGroup(leader *os.Process) { _ = leader.Kill() }

func killGroup(leader *os.Process) { _ = leader.Kill() }

func lock(*os.File) error { return nil }
