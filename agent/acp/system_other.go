//go:build !unix

package acp

import (
	"os"
	"os/exec"
)

// Where there are no advisory locks and process groups, a session is not guarded
// against another process, and only the program itself is ended.

func lockFile(*os.File) (bool, error) { return true, nil }

func syncDirectory(*os.Root) error { return nil }

func ownGroup(*exec.Cmd) {}

func ownSession(*exec.Cmd) {}

func awaitExit(int) {}

func terminateGroup(int) {}

func killGroup(int) {}
