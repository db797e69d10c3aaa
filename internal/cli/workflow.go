package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/executable-markdown/xmd/internal/catalog"
	"github.com/executable-markdown/xmd/internal/component"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/property"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/internal/workflow"
	"github.com/executable-markdown/xmd/internal/workflow/sqlite"
	"github.com/executable-markdown/xmd/plan"
)

// Exit statuses of a run that goes on later, and of one that does not (workflow 16).
const (
	exitSuspended = 5
	exitCancelled = 6
)

// errNoValue keeps what has not ended from being shown as a value.
var errNoValue = errors.New("the run has not ended")

// workflowSettings are the options of xmd workflow start and resume.
type workflowSettings struct {
	id       string
	store    string
	verbose  bool
	raw      bool
	noDetect onlySwitch
}

func (s *workflowSettings) flags(start bool) *pflag.FlagSet {
	f := pflag.NewFlagSet("workflow", pflag.ContinueOnError)
	f.SortFlags = false
	if start {
		f.StringVar(&s.id, "id", "", "the `run` is called this; one of that name with the same document and properties is taken up")
	}
	f.BoolVarP(&s.verbose, "verbose", "V", false, "report every recorded event on standard error")
	f.BoolVar(&s.raw, "raw", false, "print text as it is, also on a terminal")
	f.Var(&s.noDetect, "no-secret-detection", "keep a history without looking for secrets")
	f.Lookup("no-secret-detection").NoOptDefVal = "true"
	return f
}

func storeFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "store", "", "runs are kept at this `url`, sqlite:DIR; default the variable XMD_STORE, else the program's own directory")
}

func (c *command) workflowCommand() *cobra.Command {
	s := new(workflowSettings)
	cmd := &cobra.Command{
		Use:   "workflow",
		Short: "Run documents that outlive the process",
		Long: `A workflow run is kept: its document, everything that happened, and where it
stands. When the process ends, whatever the reason, another one takes the run up
where its history ends, and nothing that is recorded happens twice.

A question that no <Answers> region answers suspends the run. It waits, with no
process at all, until xmd workflow answer answers it and xmd workflow resume goes on.`,
		Example: `  xmd workflow start release.md --props-version 1.4
  xmd workflow start --id release-1.4 'release.md#Publish' --props-version 1.4
  xmd workflow status release-1.4
  xmd workflow answer release-1.4 SUSPENSION '"approved"'
  xmd workflow resume release-1.4
  xmd workflow list --status suspended`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	storeFlag(cmd.PersistentFlags(), &s.store)
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usage("there is no action %q of xmd workflow; xmd workflow --help lists them", args[0])
		}
		return nil
	}
	cmd.AddCommand(c.workflowStart(), c.workflowResume(s), c.workflowStatus(s), c.workflowList(s), c.workflowHistory(s),
		c.workflowAnswer(s), c.workflowCancel(s), c.workflowDelete(s))
	return cmd
}

func (c *command) workflowStart() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "start [--id RUN] DOCUMENT.md[#TARGET] [--props-NAME VALUE]...",
		Short: "Start a run",
		Long: `Start a run of a document. The document and the components it declares under
workflow: {components: {Name: ./File.md}} are retained, byte for byte: later
changes of the files do not reach the run.

With --id, a run of that name is taken up when the document and the properties are
the same, and refused when they differ.

The outcome is the last line on standard error; the exit status is 0 completed,
1 failed, 3 refused, 4 damaged, 5 suspended, 6 cancelled, 130 interrupted.`,
		Example: `  xmd workflow start release.md --props-version 1.4
  xmd workflow start --id nightly 'report.md#Build/Linux'`,
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, args []string) error { return c.startWorkflow(cmd, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"md"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	cmd.Flags().AddFlagSet(new(workflowSettings).flags(true))
	return cmd
}

func (c *command) startWorkflow(cmd *cobra.Command, args []string) error {
	s := new(workflowSettings)
	f := s.flags(true)
	storeFlag(f, &s.store)
	if slices.Contains(args, "-h") || slices.Contains(args, "--help") {
		return cmd.Help()
	}
	early, err := scan(args, f, nil)
	switch {
	case err != nil && strings.HasPrefix(err.Error(), "name a document"):
		return usage("name a document: xmd workflow start FILE.md")
	case err != nil:
		return err
	case early.inline != nil || early.document == "-":
		return usage("a workflow is started from one file: its text and its components are retained")
	}
	name, selector, targeted, err := document.SplitReference(early.document)
	switch {
	case err != nil:
		return usage("%v", err)
	case !strings.HasSuffix(name, ".md"):
		return usage("%s is no Markdown document; a workflow is started from a file that ends in .md", name)
	}
	run := c.workflowRun(s)
	var target *string
	if targeted {
		target = &selector
	}
	p, err := workflow.Pin(host.NewSources(c.Dir), name, target, run.Taken)
	if err != nil {
		return c.unpinned(name, err)
	}
	for _, source := range p.Sources {
		c.remember(source.Path, string(source.Text))
	}
	declared, err := property.Derive(p.Root.Props())
	if err != nil {
		return err
	}
	a, err := scan(args, f, declared)
	if err != nil {
		return err
	}
	if err := f.Parse(a.known); err != nil {
		return usage("%v", err)
	}
	if f.Lookup("id").Changed {
		if err := workflow.CheckID(s.id); err != nil {
			return usage("--id: %v", err)
		}
	}
	given, err := collectProperties(declared, a.props, c.Env)
	if err != nil {
		return err
	}
	props, err := p.Props(given)
	if err != nil {
		return err
	}
	return c.carryOut(cmd.Context(), run, s, func(ctx context.Context, run workflow.Settings) (workflow.Outcome, error) {
		return workflow.Start(ctx, run, s.id, p, props)
	})
}

// unpinned says why a document cannot be pinned.
func (c *command) unpinned(name string, err error) error {
	var placed *document.Error
	var engineError *engine.Error
	var definition *workflow.DefinitionError
	if errors.As(err, &placed) || errors.As(err, &engineError) || errors.As(err, &definition) || strings.HasPrefix(err.Error(), "the component") {
		return err
	}
	return c.unreadableDocument(name, err)
}

func (c *command) workflowResume(shared *workflowSettings) *cobra.Command {
	s := new(workflowSettings)
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run where its history ends",
		Long: `Go on with a run that was interrupted, or that waits and has its answer. What is
recorded is answered from the history; only what lies beyond its end happens.

A completed run shows its outcome again and does nothing. The document is the
retained one, so the file it came from need not exist.`,
		Example:           "  xmd workflow resume release-1.4",
		Args:              words("resume", "RUN"),
		ValidArgsFunction: c.completeRuns(shared),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.store = shared.store
			return c.carryOut(cmd.Context(), c.workflowRun(s), s, func(ctx context.Context, run workflow.Settings) (workflow.Outcome, error) {
				return workflow.Resume(ctx, run, args[0])
			})
		},
	}
	cmd.Flags().AddFlagSet(s.flags(false))
	return cmd
}

// words asks for exactly these positional words.
func words(action string, names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != len(names) {
			return usage("xmd workflow %s takes %s and nothing else: xmd workflow %s %s", action, count(len(names), "word", "words"), action, strings.Join(names, " "))
		}
		if err := workflow.CheckID(args[0]); err != nil {
			return usage("%v", err)
		}
		return nil
	}
}

// workflowRun is what a run is carried out with; the store is opened later.
func (c *command) workflowRun(s *workflowSettings) *workflow.Settings {
	run := &workflow.Settings{
		Host:       c.machine(),
		Protected:  []engine.Component{catalog.Syntax(), component.Evaluate(nil), plan.Component(nil)},
		Components: component.Defaults(),
		Began:      func(id string) { note(c.err, "workflow run: %s", visible(id)) },
	}
	if !bool(s.noDetect) {
		run.Gate = c.workflowGate
	}
	return run
}

func (c *command) workflowGate(props *value.Object) *journal.Gate {
	return journal.NewGate(c.secrets(props)...)
}

// workflowStore is where runs are kept. Nothing is made or opened by naming it.
func (c *command) workflowStore(url string) (workflow.Store, error) {
	where := "--store"
	if url == "" {
		url, where = c.Env["XMD_STORE"], "XMD_STORE"
	}
	if url == "" {
		data := c.dataRoot()
		if data == "" {
			return nil, usage("there is no directory to keep runs in: give --store sqlite:DIR or set HOME")
		}
		return sqlite.Open(filepath.Join(data, "xmd", "runs")), nil
	}
	dir, ok := strings.CutPrefix(url, "sqlite:")
	switch {
	case !ok:
		return nil, usage("%s is sqlite:DIR; no other store is known", where)
	case !filepath.IsAbs(dir):
		return nil, usage("%s names an absolute directory: sqlite:/path/to/runs", where)
	}
	return sqlite.Open(filepath.Clean(dir)), nil
}

// carryOut carries a run out and reports what was retained of it.
func (c *command) carryOut(ctx context.Context, run *workflow.Settings, s *workflowSettings, do func(context.Context, workflow.Settings) (workflow.Outcome, error)) error {
	store, err := c.workflowStore(s.store)
	if err != nil {
		return err
	}
	if s.noDetect {
		note(c.err, "WARNING: secret detection is disabled; credentials may be persisted.")
	}
	run.Store = store
	shown := &runSettings{raw: s.raw, verbose: s.verbose}
	if s.verbose {
		run.Observe = c.observe
	}
	streamed := false
	run.Stderr = c.err
	run.Root = func(root *engine.Root, run *workflow.Settings) {
		c.remember(root.Document.Name, root.Document.Source)
		run.Stdout = c.out
		switch {
		case root.ReturnsValue():
			run.Stdout = c.err
			if s.verbose {
				run.Body = c.body
			}
		case isTerminal(c.Stdout):
			streamed = true
			run.Emit = c.screen(shown)
		}
	}
	o, err := do(ctx, *run)
	if o.Root != nil && o.Status != workflow.Cancelled {
		failed := err
		if failed == nil && o.Status != workflow.Completed {
			failed = errNoValue
		}
		if e := c.deliver(o.Root, o.Result, failed, shown, streamed); e != nil && err == nil {
			err = e
		}
	}
	if o.Suspension != "" {
		note(c.err, "workflow suspension: %s", o.Suspension)
	}
	if err != nil {
		err = c.reportRun(ctx, err)
	}
	if o.Status != "" {
		note(c.err, "workflow status: %s", o.Status)
	}
	switch {
	case err != nil:
		return err
	case o.Status == workflow.Suspended:
		return &statusError{exitSuspended}
	case o.Status == workflow.Cancelled:
		return &statusError{exitCancelled}
	}
	return nil
}

// reportRun prints why a run did not complete, before the line that says what was
// retained, and is its exit status. A signal's is 130 whatever else went wrong.
func (c *command) reportRun(ctx context.Context, err error) error {
	stopped := context.Cause(ctx) == ErrInterrupted
	var store *workflow.StoreError
	if !stopped || errors.As(err, &store) {
		c.print(err)
	}
	if stopped {
		return &statusError{exitInterrupted}
	}
	return &statusError{status(stored(err))}
}

// stored gives an error of a store the exit status it means.
func stored(err error) error {
	var e *workflow.StoreError
	switch {
	case !errors.As(err, &e):
		return err
	case e.Condition.Damage():
		return &historyError{err}
	}
	return refusal{err}
}

// completeRuns completes the id of a run.
func (c *command) completeRuns(s *workflowSettings) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		store, err := c.workflowStore(s.store)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		records, err := store.List(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []string
		for _, r := range records {
			if strings.HasPrefix(r.ID, word) && visible(r.ID) == r.ID {
				ids = append(ids, fmt.Sprintf("%s\t%s", r.ID, r.Status))
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
