package acp

import (
	"fmt"
	"os/exec"

	"github.com/executable-markdown/xmd/agent"
)

// Paths are what an agent needs of the file system under a ceiling. All are absolute
// and exist; a directory stands for all below it.
type Paths struct {
	Home    string   // private, read and written
	Cwd     string   // empty, listed only
	Runtime []string // the adapter and what runs it, read and executed
	Read    []string // read only: credentials
	Write   []string // read and written, as the home is
}

// A Containment is what the kernel, not the adapter, prevents (agents 17).
type Containment interface {
	// Level is 0 for none up to 3, with the version of the kernel's interface that
	// enforces it, 0 when none does.
	Level() (level, abi int)
	// Contain changes the command so that it runs contained. An error refuses it. What
	// it adds to the command's ExtraFiles is closed once the command was started.
	Contain(cmd *exec.Cmd, paths Paths) error
}

// ContainmentFailed is the status a contained program ends with when the containment
// could not be applied: the agent was then never started.
const ContainmentFailed = 97

// Uncontained is the absence of a containment, level 0.
type Uncontained struct{}

// Level is 0.
func (Uncontained) Level() (level, abi int) { return 0, 0 }

// Contain changes nothing.
func (Uncontained) Contain(*exec.Cmd, Paths) error { return nil }

// uncontained is the refusal of an agent that the kernel could not be made to hold.
func uncontained(name, text string, cause error) error {
	message := fmt.Sprintf("agent %q was not started, for the kernel could not be made to contain it", name)
	if text != "" {
		message += "; it said:\n" + text
	}
	return &agent.Error{Code: agent.ErrCeiling, Agent: name, Reason: "C10", Message: message, Err: cause}
}
