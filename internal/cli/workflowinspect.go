package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/internal/workflow"
)

// statuses are the six of a run, as --status spells them.
var statuses = [...]workflow.Status{
	workflow.Running, workflow.Suspended, workflow.Interrupted, workflow.Completed, workflow.Failed, workflow.Cancelled,
}

func (c *command) workflowStatus(shared *workflowSettings) *cobra.Command {
	var verify, asJSON bool
	cmd := &cobra.Command{
		Use:   "status RUN",
		Short: "Show what a run is and where it stands",
		Long: `Show what a run is, where it stands and what it waits for. Nothing is executed and
nothing is written, also while the run is being carried out.

--verify also judges everything that is kept of it, and holds it against itself.`,
		Example: `  xmd workflow status release-1.4
  xmd workflow status --verify --json release-1.4`,
		Args:              words("status", "RUN"),
		ValidArgsFunction: c.completeRuns(shared),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := c.workflowStore(shared.store)
			if err != nil {
				return err
			}
			snap, err := store.Inspect(cmd.Context(), args[0], verify)
			if err == nil && verify {
				err = workflow.Verify(snap)
			}
			switch {
			case err != nil:
				return c.inspection(err, asJSON)
			case asJSON:
				return c.writeJSON(statusJSON(snap))
			}
			return c.write(c.statusText(snap, verify))
		},
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "judge everything that is kept of the run")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *command) workflowList(shared *workflowSettings) *cobra.Command {
	var only string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the runs, the one changed last first",
		Example: `  xmd workflow list
  xmd workflow list --status suspended --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			known := make([]string, len(statuses))
			found := only == "" && !cmd.Flags().Changed("status")
			for i, s := range statuses {
				known[i] = string(s)
				found = found || only == string(s)
			}
			if !found {
				return usage("--status is one of %s, not %q", strings.Join(known, ", "), only)
			}
			store, err := c.workflowStore(shared.store)
			if err != nil {
				return err
			}
			records, err := store.List(cmd.Context())
			if err != nil {
				return c.inspection(err, asJSON)
			}
			list := []any{}
			var text strings.Builder
			table := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
			fmt.Fprintln(table, "RUN\tSTATUS\tUPDATED\tDOCUMENT")
			for _, r := range records {
				if only != "" && string(r.Status) != only {
					continue
				}
				list = append(list, recordJSON(r))
				document, _ := r.Definition.String("rootDocumentPath")
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", visible(r.ID), r.Status, moment(r.Updated), visible(document))
			}
			if asJSON {
				return c.writeJSON(list)
			}
			if len(list) == 0 {
				return c.write("no runs\n")
			}
			_ = table.Flush()
			return c.write(text.String())
		},
	}
	cmd.Flags().StringVar(&only, "status", "", "only runs with this `status`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	_ = cmd.RegisterFlagCompletionFunc("status", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, s := range statuses {
			names = append(names, string(s))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func (c *command) workflowHistory(shared *workflowSettings) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "history RUN",
		Short: "Show everything that happened in a run",
		Long: `Show every recorded event of a run in order, and its outcome below. --json has the
events exactly as they are kept.`,
		Example:           "  xmd workflow history release-1.4",
		Args:              words("history", "RUN"),
		ValidArgsFunction: c.completeRuns(shared),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := c.workflowStore(shared.store)
			if err != nil {
				return err
			}
			snap, err := store.Inspect(cmd.Context(), args[0], false)
			switch {
			case err != nil:
				return c.inspection(err, asJSON)
			case !asJSON:
				return c.write(historyText(snap))
			}
			list := make([]any, len(snap.Events))
			for i, e := range snap.Events {
				line, err := journal.AppendLine(nil, e.Event)
				if err != nil {
					return err
				}
				record, err := value.Parse(line)
				if err != nil {
					return err
				}
				o := value.Of("eventId", e.ID, "event", record, "workspaceRootId", e.Root)
				if at := source(e.Event); at != "" {
					o.Set("source", at)
				}
				list[i] = o
			}
			return c.writeJSON(list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// inspection reports what keeps a run from being shown; with --json, as JSON too.
func (c *command) inspection(err error, asJSON bool) error {
	var e *workflow.StoreError
	if asJSON && errors.As(err, &e) {
		problem := value.Of("condition", string(e.Condition), "message", e.Error())
		if e.Run != "" {
			problem.Set("runId", e.Run)
		}
		if err := c.writeJSON(value.Of("errors", []any{problem})); err != nil {
			return err
		}
	}
	return stored(err)
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func reasonJSON(r workflow.Reason) any {
	switch {
	case r.Code != "":
		return value.Of("kind", "host", "code", r.Code)
	case r.Event != "":
		return value.Of("kind", "journal", "eventId", r.Event)
	}
	return nil
}

func recordJSON(r workflow.Record) *value.Object {
	o := value.Of("runId", r.ID, "status", string(r.Status), "definition", r.Definition, "base", r.Base, "props", r.Props,
		"createdAt", moment(r.Created), "updatedAt", moment(r.Updated))
	if v := reasonJSON(r.Reason); v != nil {
		o.Set("stopReason", v)
	}
	return o
}

func statusJSON(s workflow.Snapshot) *value.Object {
	executions := make([]any, len(s.Executions))
	for i, e := range s.Executions {
		o := value.Of("executionId", e.ID, "startedAt", moment(e.Started))
		if !e.Stopped.IsZero() {
			o.Set("stoppedAt", moment(e.Stopped))
			o.Set("stopStatus", string(e.Status))
			if v := reasonJSON(e.Reason); v != nil {
				o.Set("stopReason", v)
			}
		}
		executions[i] = o
	}
	o := value.Of("record", recordJSON(s.Record), "executions", executions)
	if n := len(s.Events); n > 0 {
		o.Set("journalFrontier", value.Of("eventId", s.Events[n-1].ID, "workspaceRootId", s.Events[n-1].Root))
	}
	o.Set("currentWorkspaceRootId", s.Root)
	if e, ok := waitsFor(s); ok {
		wait := value.NewObject(4)
		for _, name := range []string{"suspensionId", "request", "responseSchema"} {
			v, _ := e.Description.Get(name)
			wait.Set(name, v)
		}
		wait.Set("answered", answered(s))
		o.Set("suspension", wait)
	}
	return o
}

// waitsFor is the request of a suspended run.
func waitsFor(s workflow.Snapshot) (journal.Event, bool) {
	for _, e := range s.Events {
		if s.Status == workflow.Suspended && e.ID == s.Reason.Event && e.Event.Description != nil {
			return e.Event, true
		}
	}
	return journal.Event{}, false
}

func answered(s workflow.Snapshot) bool {
	for _, a := range s.Answers {
		if a.Request == s.Reason.Event && !a.Consumed {
			return true
		}
	}
	return false
}

// statusText is the status of a run for a person.
func (c *command) statusText(s workflow.Snapshot, verified bool) string {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-12s%s\n", name, visible(text))
		}
	}
	line("run", s.ID)
	line("status", string(s.Status))
	line("reason", cmp.Or(s.Reason.Code, s.Reason.Event))
	document, _ := s.Definition.String("rootDocumentPath")
	if target, ok := s.Definition.String("targetPath"); ok {
		document += "#" + target
	}
	line("document", document)
	hash, _ := s.Definition.String("digest")
	commit, _ := s.Definition.String("objectId")
	line("pinned", cmp.Or(commit, hash))
	line("base", s.Base)
	if text, err := value.JSON(s.Props); err == nil {
		line("props", text)
	}
	line("created", moment(s.Created))
	line("updated", moment(s.Updated))
	line("executions", fmt.Sprint(len(s.Executions)))
	line("events", fmt.Sprint(len(s.Events)))
	line("workspace", s.Root)
	if s.Sessions > 0 {
		line("sessions", fmt.Sprint(s.Sessions))
	}
	if verified {
		line("verified", "everything that is kept agrees")
	}
	if e, ok := waitsFor(s); ok {
		id, _ := e.Description.String("suspensionId")
		request, _ := e.Description.String("request")
		definition, _ := e.Description.Get("responseSchema")
		line("suspension", id)
		line("request", strings.TrimSpace(request))
		if text, err := value.JSON(definition); err == nil {
			line("schema", text)
		}
		if answered(s) {
			line("answer", "waits to be taken; xmd workflow resume goes on")
		}
	}
	return b.String()
}

func source(e journal.Event) string {
	if e.Type != journal.TypeYield {
		return ""
	}
	pos, ok, err := e.Position()
	if !ok || err != nil {
		return ""
	}
	return pos.String()
}

// historyText is the history of a run for a person.
func historyText(s workflow.Snapshot) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "EVENT\tOPERATION\tSOURCE\tRESULT\tWORKSPACE")
	outcome := "no canonical document outcome was recorded"
	for _, e := range s.Events {
		result := e.Event.Result.Status
		operation := "close:" + e.Event.CoroutineID
		if e.Event.Type == journal.TypeYield {
			typ, _ := e.Event.Description.String("type")
			name, _ := e.Event.Description.String("name")
			operation = visible(typ) + ":" + short(strings.TrimPrefix(name, typ+":"))
		} else if e.Event.CoroutineID == "root" {
			if o, ok := e.Event.Result.Value.(*value.Object); ok {
				result, _ = o.String("status")
			}
			outcome = "outcome: " + result
			continue
		}
		fmt.Fprintf(table, "%.12s\t%s\t%s\t%s\t%.12s\n", e.ID, operation, cmp.Or(visible(source(e.Event)), "-"), result, e.Root)
	}
	_ = table.Flush()
	return b.String() + outcome + "\n"
}
