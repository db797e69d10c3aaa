package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/executable-markdown/xmd/agent/acp"
	"github.com/executable-markdown/xmd/internal/contain"
)

// containment is what the kernel of this machine holds agents with.
func (c *command) containment() acp.Containment { return contain.New() }

// agentExecCommand is the shim that this program puts before an agent (agents 17.1).
// It says no more than it must: what it writes is taken for the agent's.
func (c *command) agentExecCommand() *cobra.Command {
	var descriptor int
	cmd := &cobra.Command{
		Use:    contain.Command + " --" + contain.SpecFlag + " N -- PROGRAM...",
		Short:  "Run an agent contained; xmd starts this itself",
		Hidden: true,
		Args:   cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, argv []string) error {
			status, err := contain.Enter(descriptor, argv)
			if err != nil {
				note(c.err, "%s", strings.TrimSpace(err.Error()))
			}
			if status == exitOK {
				return nil
			}
			return &statusError{status}
		},
	}
	cmd.Flags().IntVar(&descriptor, contain.SpecFlag, -1, "the `number` of the descriptor the orders are read from")
	return cmd
}
