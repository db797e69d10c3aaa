package acp

import "os/exec"

// Paths are what an agent needs of the file system under a ceiling.
type Paths struct {
	Home    string   // private, read and written
	Cwd     string   // empty, listed only
	Runtime []string // directories of the adapter and what runs it, read and executed
}

// A Containment is what the kernel, not the adapter, prevents (agents 17).
type Containment interface {
	// Level is 0 for none up to 3, with the version of the kernel's interface that
	// enforces it, 0 when none does.
	Level() (level, abi int)
	// Contain changes the command so that it runs contained. An error refuses it.
	Contain(cmd *exec.Cmd, paths Paths) error
}

// Uncontained is the absence of a containment, level 0.
type Uncontained struct{}

// Level is 0.
func (Uncontained) Level() (level, abi int) { return 0, 0 }

// Contain changes nothing.
func (Uncontained) Contain(*exec.Cmd, Paths) error { return nil }
