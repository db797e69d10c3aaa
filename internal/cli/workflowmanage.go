package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/internal/workflow"
)

func (c *command) workflowAnswer(shared *workflowSettings) *cobra.Command {
	var noDetect onlySwitch
	cmd := &cobra.Command{
		Use:   "answer RUN SUSPENSION JSON",
		Short: "Answer what a suspended run waits for",
		Long: `Leave an answer for a run that waits. The answer is JSON and must fit the schema
of the question; xmd workflow status shows both. It starts nothing: the run goes on
with xmd workflow resume.`,
		Example: `  xmd workflow answer release-1.4 3f0c…9a '"approved"'
  xmd workflow answer release-1.4 3f0c…9a '{"approved": true}'`,
		Args:              words("answer", "RUN", "SUSPENSION", "JSON"),
		ValidArgsFunction: c.completeRuns(shared),
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := value.Parse([]byte(args[2]))
			if err != nil {
				return usage("the answer is not JSON (text is written '\"yes\"')")
			}
			store, err := c.workflowStore(shared.store)
			if err != nil {
				return err
			}
			run := workflow.Settings{Store: store}
			if noDetect {
				note(c.err, "WARNING: secret detection is disabled; credentials may be persisted.")
			} else {
				run.Gate = c.workflowGate
			}
			if err := workflow.Deliver(cmd.Context(), run, args[0], args[1], answer); err != nil {
				return stored(err)
			}
			return c.write("workflow answer: " + c.shown(args[0]) + " (" + c.shown(args[1]) + ")\n")
		},
	}
	cmd.Flags().Var(&noDetect, "no-secret-detection", "keep the answer without looking for secrets")
	cmd.Flags().Lookup("no-secret-detection").NoOptDefVal = "true"
	return cmd
}

func (c *command) workflowCancel(shared *workflowSettings) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run that nobody carries out",
		Long: `End a run that is suspended or interrupted. Nothing is started and nothing it did is
undone; its history stays. A run that is being carried out is interrupted where it
runs, with Ctrl-C.`,
		Example:           "  xmd workflow cancel release-1.4",
		Args:              words("cancel", "RUN"),
		ValidArgsFunction: c.completeRuns(shared),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := c.workflowStore(shared.store)
			if err != nil {
				return err
			}
			if err := workflow.Cancel(cmd.Context(), store, args[0]); err != nil {
				return stored(err)
			}
			return c.write("workflow cancel: " + c.shown(args[0]) + " (cancelled)\n")
		},
	}
}

func (c *command) workflowDelete(shared *workflowSettings) *cobra.Command {
	return &cobra.Command{
		Use:   "delete RUN",
		Short: "Delete a run and its history",
		Long: `Delete a run, with everything that is kept of it, at once and for good. A run that is
being carried out is not deleted. Storage that cannot be read can be deleted too.`,
		Example:           "  xmd workflow delete release-1.4",
		Args:              words("delete", "RUN"),
		ValidArgsFunction: c.completeRuns(shared),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := c.workflowStore(shared.store)
			if err != nil {
				return err
			}
			removed, err := store.Delete(cmd.Context(), args[0])
			if err != nil {
				return stored(err)
			}
			return c.write("workflow delete: " + c.shown(args[0]) + " (" + strings.Join(removed, ", ") + ")\n")
		},
	}
}
