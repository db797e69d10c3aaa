package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/executable-markdown/xmd/agent/acp"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/audit"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/suite"
)

func (c *command) auditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show what generated text may do, and what it did",
		Long: `Show what generated text may do, and what it did. Nothing is run, and no directory
a profile names is opened.`,
		Example: `  xmd audit profile observer.yaml
  xmd audit fragment reply.md --profile observer.yaml
  xmd audit journal run.jsonl
  xmd audit diff observer.yaml proposed.yaml --format sarif`,
		Args: func(_ *cobra.Command, words []string) error {
			if len(words) > 0 {
				return usage("there is no audit of %q; xmd audit --help lists them", words[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.auditProfileCommand(), c.auditFragmentCommand(), c.auditJournalCommand(), c.auditDiffCommand())
	return cmd
}

// formatHelp ends the help of every audit.
const formatHelp = `

--format is text for a person; json; sarif (2.1.0) for a code host that shows the
findings beside the lines they are about; html for one page that needs nothing else.`

// auditFormats are what --format may be.
var auditFormats = [...]string{"text", "json", "sarif", "html"}

// reportFormat adds --format and refuses one that does not exist.
func reportFormat(cmd *cobra.Command) *string {
	format := cmd.Flags().String("format", "text", "text, json, sarif or html")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		for _, known := range auditFormats {
			if *format == known {
				return nil
			}
		}
		return usage("--format is text, json, sarif or html, not %q", *format)
	}
	complete(cmd, "format", cobra.FixedCompletions(auditFormats[:], cobra.ShellCompDirectiveNoFileComp))
	return format
}

func (c *command) auditProfileCommand() *cobra.Command {
	var schema, asJSON bool
	var agent string
	cmd := &cobra.Command{
		Use:   "profile [FILE | -]",
		Short: "Show what a profile allows, and where it is wide",
		Long: `Show what a profile allows: each operation a fragment may name with its form, its
pinned identity, its class and what it reaches, the roots and the limits; and where
it is wide. Without a file, the ordinary profile of xmd run.

Values of header fields that look like credentials are not shown.

With --agent it shows instead what holds that agent while it plans: what the kernel
enforces on this machine, what rests on the agent's adapter, and what nothing keeps.
The agent's program is started the way planning starts it, asked who it is, and ended;
no conversation begins.

The exit status is 0 whatever is found, 2 for a profile that cannot be used, and 3 for
an agent that cannot be held.` + formatHelp,
		Example: `  xmd audit profile observer.yaml
  xmd audit profile
  xmd audit profile --agent claude
  xmd audit profile --schema > profile.schema.json`,
		Args: atMostOne("a profile file"),
	}
	format := reportFormat(cmd)
	cmd.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of a profile file")
	cmd.Flags().StringVar(&agent, "agent", "", "show what holds the agent of this `name` while it plans")
	cmd.Flags().BoolVar(&asJSON, "json", false, "short for --format json")
	cmd.ValidArgsFunction = completeProfiles
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if asJSON && cmd.Flags().Changed("format") && *format != "json" {
			return usage("--json and --format %s contradict each other; give one", *format)
		}
		if asJSON {
			*format = "json"
		}
		ofAgent := cmd.Flags().Changed("agent")
		switch {
		case ofAgent && agent == "":
			return usage("--agent needs a name, not an empty one")
		case ofAgent && (schema || len(args) > 0):
			return usage("--agent shows what holds an agent; leave out the file and --schema")
		case ofAgent:
			return c.auditAgent(cmd.Context(), agent, *format)
		case schema && asJSON, schema && (len(args) > 0 || cmd.Flags().Changed("format")):
			return usage("--schema prints the schema of every profile file; leave out the file and --format")
		case schema:
			return c.write(string(capability.Schema()))
		}
		name := ""
		if len(args) > 0 {
			name = args[0]
		}
		s, err := c.profileToAudit(cmd.Context(), name)
		if err != nil {
			return err
		}
		p, err := s.Profile()
		if err != nil {
			return err
		}
		return c.report(p, *format)
	}
	return cmd
}

// auditAgent shows what holds an agent, from the ceiling that planning would put over it
// (agents 15.5).
func (c *command) auditAgent(ctx context.Context, name, format string) (err error) {
	settled, err := c.settleAgents(&agentSettings{defaultAgent: agentWord(name)})
	if err != nil {
		return err
	}
	runtime, err := c.ceiling(settled, "xmd-audit:"+uuid(), false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runtime.Close(ctx)) }()
	if _, err := runtime.Provider.Agent(ctx, name); err != nil {
		return err
	}
	held, ok := runtime.Provider.(interface{ Ceiling() []acp.Report })
	if !ok {
		return errors.New("the provider of agents does not say what it holds them to")
	}
	for _, r := range held.Ceiling() {
		if err := c.report(audit.InspectAgent(r), format); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) auditFragmentCommand() *cobra.Command {
	var profile, allow, module string
	cmd := &cobra.Command{
		Use:   "fragment FILE | -",
		Short: "Show what a fragment could do at most",
		Long: `Show what a fragment could do at most under a profile: what its module imports, each
element with its position and how often it can take effect, and what it reaches: the
path or request that is written down, or what a computed one is bounded by. Nothing
of it runs.

FILE may also be a module that --wasm wrote; then what the module says of itself is
shown, and no profile is asked.

The exit status is 1 when the file cannot be read or is a module this program did not
write, 2 for a wrong command line or profile, and 3 when the fragment is refused; then
its class is shown and nothing of the fragment.` + formatHelp,
		Example: `  xmd audit fragment reply.md --profile observer.yaml
  xmd audit fragment reply.md --allow read,write --wasm reply.wasm
  xmd audit fragment reply.wasm`,
		Args: exactly(1, "one fragment: xmd audit fragment FILE"),
	}
	format := reportFormat(cmd)
	f := cmd.Flags()
	f.StringVar(&profile, "profile", "", "decide under the profile in this `file` instead of the ordinary one")
	f.StringVar(&allow, "allow", "read", "the `tables` of the profile that are granted: read, write or read,write")
	f.StringVar(&module, "wasm", "", "also write the compiled module to this `file`")
	cmd.ValidArgsFunction = completeDocuments
	complete(cmd, "profile", completeProfiles)
	complete(cmd, "allow", cobra.FixedCompletions([]string{"read", "write", "read,write"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, name := range [...]string{"profile", "wasm"} {
			if option := f.Lookup(name); option.Changed && option.Value.String() == "" {
				return usage("--%s needs the name of a file, not an empty one", name)
			}
		}
		name, data, err := c.auditInput(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if audit.IsModule(name, data) {
			for _, option := range [...]string{"profile", "allow", "wasm"} {
				if f.Changed(option) {
					return usage("%s is a compiled module, which has been decided about; leave out --%s", name, option)
				}
			}
			return c.auditModule(name, data, *format)
		}
		if module != "" && host.SameFile(c.path(module), c.path(args[0])) {
			return usage("--wasm and the fragment are the same file, %s; the module would replace it", module)
		}
		s, err := c.profileToAudit(cmd.Context(), profile)
		if err != nil {
			return err
		}
		return c.auditFragment(name, string(data), s, allow, module, *format)
	}
	return cmd
}

func (c *command) auditFragment(name, source string, s *audit.Stated, allow, module, format string) error {
	r, m, err := audit.InspectFragment(name, source, s, suite.Classes(allow))
	var selection *audit.SelectionError
	if errors.As(err, &selection) {
		return usage("--allow: %v", err)
	}
	if err != nil {
		return err
	}
	if m != nil && module != "" {
		if err := host.WriteOutput(c.path(module), m.Bytes); err != nil {
			return fmt.Errorf("%s cannot be written: %w", module, err)
		}
	}
	if err := c.report(r, format); err != nil {
		return err
	}
	if r.Refused != "" {
		return &statusError{exitRefused}
	}
	return nil
}

func (c *command) auditModule(name string, data []byte, format string) error {
	r, err := audit.InspectModule(name, data)
	if err != nil {
		return fmt.Errorf("%s: %w; this program reads only modules it compiled, with --wasm", name, err)
	}
	return c.report(r, format)
}

func (c *command) auditJournal(ctx context.Context, name, format string) error {
	data, err := host.ReadFile(c.path(name))
	if err != nil {
		return unreadable(name, err)
	}
	j, err := audit.InspectJournal(ctx, name, data)
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		return &historyError{fmt.Errorf("%s: %w", name, err)}
	}
	if err := c.report(j, format); err != nil {
		return err
	}
	if audit.Worst(j.Found()) == audit.Error {
		return &statusError{exitRefused}
	}
	return nil
}

func (c *command) auditJournalCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journal FILE",
		Short: "Check that everything in a history stayed inside what was admitted",
		Long: `Show every decision in a history that xmd run --journal wrote, which identities were
used and how often, and each effect of generated text with what it was asked for and
the SHA-256 of what came back.

Nothing the history says is believed. Each decision is made again from its recorded
source under its recorded policy, and each effect is held against the decision that
admitted it: its identity, its element, its ceiling, what the source asks for, how
often, and its result. Whatever cannot be shown to lie inside is named.

The exit status is 3 when something lies outside, 4 for a file that is no history, and
1 for one that cannot be read. An unfinished record at the end is no fault.` + formatHelp,
		Example: `  xmd run report.md --journal run.jsonl
  xmd audit journal run.jsonl
  xmd audit journal run.jsonl --format html > audit.html`,
		Args: exactly(1, "one history: xmd audit journal FILE"),
	}
	format := reportFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.auditJournal(cmd.Context(), args[0], *format)
	}
	return cmd
}

func (c *command) auditDiffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Show what one profile allows that another does not",
		Long: `Compare two profile files: what the second widened, what it narrowed, and what is the
same, for each entry with its ceiling, the root, the dialect and the limits.

A ceiling of paths is called narrower only where that can be shown: each pattern is
written in the other profile too, or lies below a directory that has ** there, or is
one path that it covers. Anything else is called widened.

The exit status is 1 when something widened, so that a build can hold a change until a
person agreed to it, and 2 for a profile that cannot be used.` + formatHelp,
		Example: `  xmd audit diff observer.yaml proposed.yaml
  xmd audit diff observer.yaml proposed.yaml --format sarif > widened.sarif`,
		Args: exactly(2, "two profile files: xmd audit diff BEFORE AFTER"),
	}
	format := reportFormat(cmd)
	cmd.ValidArgsFunction = completeProfiles
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var stated [2]*audit.Stated
		for i, name := range args {
			if name == "-" {
				return usage("a comparison reads two files; write their names")
			}
			var err error
			if stated[i], err = c.profileToAudit(cmd.Context(), name); err != nil {
				return err
			}
		}
		d, err := audit.Compare(cmd.Context(), stated[0], stated[1])
		if err != nil {
			return err
		}
		if err := c.report(d, *format); err != nil {
			return err
		}
		if d.Widened() {
			return &statusError{exitFailed}
		}
		return nil
	}
	return cmd
}

// profileToAudit reads a profile to look at. Without a name it is the ordinary one. The
// files that decide are those of a run under the same profile.
func (c *command) profileToAudit(ctx context.Context, name string) (*audit.Stated, error) {
	request := profileRequest{include: defaultInclude(nil)}
	if name == "" {
		s, err := audit.Ordinary(ctx, c.control(request, ""))
		if err != nil {
			return nil, profileError("", err)
		}
		return s, nil
	}
	shown, data, err := c.auditInput(ctx, name)
	if err != nil {
		return nil, usage("%v", err)
	}
	if name != "-" {
		request.file = name
	}
	s, err := audit.State(ctx, shown, data, func(f *capability.File) capability.Control {
		return c.control(request, selectedDir(f))
	})
	if err != nil {
		return nil, profileError(shown, err)
	}
	return s, nil
}

// auditInput reads a file, or standard input for -, and says what it is called.
func (c *command) auditInput(ctx context.Context, name string) (shown string, data []byte, err error) {
	if name == "-" {
		data, err = c.standardInput(ctx)
		return standardInputName, data, err
	}
	if data, err = host.ReadFile(c.path(name)); err != nil {
		return name, nil, unreadable(name, err)
	}
	return name, data, nil
}

// report prints a report.
func (c *command) report(r audit.Report, format string) error {
	var text string
	var err error
	switch format {
	case "json":
		text, err = audit.JSON(r)
	case "sarif":
		text, err = audit.SARIF(r, c.Version)
	case "html":
		text, err = audit.HTML(r)
	default:
		text = audit.Text(r, c.colour(c.Stdout, false))
	}
	if err != nil {
		return err
	}
	return c.write(text)
}

// exactly refuses another number of words than a command takes.
func exactly(n int, wanted string) cobra.PositionalArgs {
	return func(_ *cobra.Command, words []string) error {
		if len(words) != n {
			return usage("name %s", wanted)
		}
		return nil
	}
}

func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, words []string) error {
		if len(words) > 1 {
			return usage("%s takes %s, so %q has no meaning", cmd.CommandPath(), what, words[1])
		}
		return nil
	}
}

func completeProfiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}
