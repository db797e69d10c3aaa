//go:build !linux

package contain

import (
	"errors"
	"os/exec"

	"github.com/executable-markdown/xmd/agent/acp"
)

// probe finds nothing: no other system is used to contain agents (agents 17.4).
func probe() (level, abi int) { return 0, 0 }

// Contain changes nothing, which is what level 0 says.
func (k *Kernel) Contain(*exec.Cmd, acp.Paths) error { return nil }

// Enter refuses: there is nothing it could apply.
func Enter(int, []string) (status int, err error) {
	return acp.ContainmentFailed, errors.New("this system has no containment for agents")
}
