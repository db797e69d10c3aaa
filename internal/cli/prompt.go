package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/internal/catalog"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/plan"
)

// promptSettings are the options of xmd prompt: those of a run, without the ones that
// are about a document or a history there already is, and two of its own.
type promptSettings struct {
	runSettings
	save    string
	session string
}

// ofRunAlone lists the options of xmd run that a prompt does not have.
var ofRunAlone = []string{"eval", "replay", "output", "json"}

func (s *promptSettings) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("prompt", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVar(&s.save, "save", "", "write the approved document to a new `file` before it runs")
	f.StringVar(&s.session, "session", "", "continue the planning conversation of this `name`, or begin it")
	// Help only: these are found by the scan, and what they mean a document says.
	f.String("props", "", "give the document its properties as one `json` object (also XMD_PROPS)")
	s.runSettings.flags().VisitAll(func(option *pflag.Flag) {
		if !slices.Contains(ofRunAlone, option.Name) {
			f.AddFlag(option)
		}
	})
	f.Lookup("help").Usage = "show this help"
	f.Lookup("timeout").Usage = "stop the whole command, planning included, after this `duration` (20s, 500ms, 2min)"
	f.Lookup("ask").Usage = "`where` you are asked: terminal or web (a page on this machine; its address is printed); default the terminal, where there is one, else web"
	return f
}

func (c *command) promptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prompt REQUEST",
		Short: "Have an Agent write a document for a request, read it, approve it, run it",
		Long: `Have an Agent write an Executable Markdown document for a request, read exactly what
it wrote, and run those bytes once you approve them.

The request is exactly one text, in quotes; it is not a path. -- ends the options, so
that a request may begin with a dash.

What happens: the Agent writes a document. What is definitely wrong with it goes back,
three times at most. Then you read it and approve it, have it revised, or abort. Only
what you approved is saved and run, byte for byte.

While it plans, the Agent has no tools, an empty directory, and every permission it
asks for is denied, whatever the options say: --approve-all, --approve-reads,
--deny-all, --timeout-exec and --timeout-fetch are about the approved document.

Properties of the document are given after the request, as --props-NAME VALUE. Which
there are, the document says when it is written, so they are not listed here; --props
JSON and XMD_PROPS give several at once.`,
		Example: `  xmd prompt "ask me for my age and write the result to a file"
  xmd prompt "greet somebody by name" --props-name Ada
  xmd prompt "summarise notes.md" --save summary.md --default-agent claude
  xmd prompt --session trip "plan a packing list"`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.prompt(cmd, args)
		},
	}
	cmd.Flags().AddFlagSet(new(promptSettings).flags())
	cmd.ValidArgsFunction = completePlanned
	return cmd
}

// completePlanned completes what the option before the word takes. A request nobody can
// complete, and which properties there are no document says yet; cobra knows the options.
func completePlanned(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var before string
	if len(args) > 0 {
		before = args[len(args)-1]
	}
	if !strings.HasPrefix(before, "-") || lookup(cmd.Flags(), before) == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	switch lookup(cmd.Flags(), before).Name {
	case "save", "journal", "profile":
		return nil, cobra.ShellCompDirectiveDefault
	case "include", "component-dir":
		return nil, cobra.ShellCompDirectiveFilterDirs
	case "ask":
		return []string{"terminal", "web"}, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// prompt carries out xmd prompt. Whatever is wrong with the command line or with a file
// it is configured by is found before anything else happens (prompt 2.6).
func (c *command) prompt(cmd *cobra.Command, args []string) error {
	line, err := scanPrompt(args, new(promptSettings).flags())
	if err != nil {
		return err
	}
	if line.help {
		return cmd.Help()
	}
	s, err := parsePrompt(line.fixed)
	if err != nil {
		return err
	}
	if err := c.reviewable(&s.runSettings); err != nil {
		return err
	}
	if s.save != "" && s.journal != "" && host.SameFile(c.path(s.save), c.path(s.journal)) {
		return usage("--save and --journal are the same file, %s; the run could not begin once the document is saved", s.save)
	}
	settled, err := c.settleInvocation(&s.runSettings)
	if err != nil {
		return err
	}
	return c.plan(cmd.Context(), line, s, settled)
}

func parsePrompt(fixed []string) (*promptSettings, error) {
	s := &promptSettings{}
	f := s.flags()
	if err := f.Parse(fixed); err != nil {
		return nil, usage("%v", err)
	}
	if err := checkSession(f); err != nil {
		return nil, err
	}
	switch {
	case f.Lookup("save").Changed && s.save == "":
		return nil, usage("--save needs a path, not an empty one")
	case s.save != "" && os.IsPathSeparator(s.save[len(s.save)-1]):
		return nil, usage("--save needs the path of a file, and %s is one of a directory", s.save)
	}
	return s, s.check(f)
}

// checkSession refuses a name no conversation can have. An agent is told it, so it is
// text.
func checkSession(f *pflag.FlagSet) error {
	switch session := f.Lookup("session"); {
	case session.Changed && session.Value.String() == "":
		return usage("--session needs a name, not an empty one")
	case !utf8.ValidString(session.Value.String()):
		return usage("--session needs a name that is UTF-8 text")
	}
	return nil
}

// reviewable refuses an invocation in which nobody could read what is to be approved:
// that is known before there is anything to read (prompt 2.6).
func (c *command) reviewable(s *runSettings) error {
	switch s.ask {
	case "none":
		return usage("--ask none leaves nobody to approve the document; give --ask terminal or --ask web")
	case "terminal":
		_, _, err := c.questions(s) // makes nothing, and refuses without a terminal
		return err
	case "":
		s.ask = askAnywhere
	}
	return nil
}

// plan plans, and runs what was approved (prompt 4).
func (c *command) plan(ctx context.Context, line *promptLine, s *promptSettings, settled *settlement) error {
	if s.timeout.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.timeout.Duration, &deadlineError{s.timeout.Duration, "command"})
		defer cancel()
		s.timeout.Duration = 0 // one deadline spans the whole command
	}
	in := c.inputs(s.include)
	authoring := c.authoring(&s.runSettings, settled, s.session)
	authoring.Request = line.request
	authoring.Check = plan.NewAssessor(in, plan.Supplied{Words: line.words, Aggregate: line.aggregate, Env: c.Env}).Assess
	c.remember(plan.ProgramName, plan.Program)
	command := plan.Command{
		Authoring: authoring,
		Catalog: func() (string, error) {
			listing, err := catalog.Build(in)
			if err != nil {
				return "", err
			}
			return listing.Text(), nil
		},
		Execute: func(ctx context.Context, source string, props *value.Object) error {
			return c.approved(ctx, source, props, settled)
		},
	}
	if s.save != "" {
		command.Save = func(source string) error { return c.save(s.save, source) }
	}
	return withoutPlace(command.Run(ctx))
}

// A placeless error is reported without where it happened: what a packaged program says
// itself, and what an agent did in a turn of it, is no fault of its text.
type placeless struct{ error }

func (p placeless) Unwrap() error { return p.error }

// withoutPlace makes an error of a packaged program placeless where its text is not at
// fault.
func withoutPlace(err error) error {
	var said *engine.Error
	var turn *agent.PromptError
	at := engine.PositionOf(err).Source
	if (at == plan.ProgramName || at == plan.BodyName) && (errors.As(err, &said) && said.Authored || errors.As(err, &turn)) {
		return placeless{err}
	}
	return err
}

// authoring is a planning with everything but the request and the judge of drafts.
func (c *command) authoring(s *runSettings, settled *settlement, session string) plan.Authoring {
	named := session != ""
	if !named {
		session = "xmd-prompt:" + uuid()
	}
	return plan.Authoring{
		Session:  session,
		Progress: c.planningProgress(),
		Agents: func(context.Context) (plan.Runtime, error) {
			return c.ceiling(settled.agents, session, named)
		},
		Questions: func(interrupt context.CancelCauseFunc) (engine.Elicitor, func() error, error) {
			who, end, err := c.questions(s)
			if err != nil {
				return nil, nil, err
			}
			return interruptible{who, interrupt}, end, nil
		},
		Gate: journal.NewGate(c.secrets(nil)...),
	}
}

// planningProgress tells a person on a terminal what is waited for; nil where nobody
// looks.
func (c *command) planningProgress() func(string) {
	if !isTerminal(c.Stderr) {
		return nil
	}
	return func(message string) { note(c.err, "%s", message) }
}

// uuid is a random version 4 UUID.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// save keeps the approved source (prompt 11).
func (c *command) save(path, source string) error {
	err := host.SaveNew(c.path(path), []byte(source))
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("--save: %s already exists and was left as it is; nothing was run. Remove it or choose another path", path)
	case err != nil:
		return fmt.Errorf("--save: %s cannot be written: %w; nothing was run", path, reason(err))
	}
	return nil
}

// approvedName is the source identity of an approved document.
const approvedName = "<prompt>"

// approved runs the approved source as xmd run runs a text.
func (c *command) approved(ctx context.Context, source string, props *value.Object, settled *settlement) error {
	parsed, err := document.Parse(approvedName, []byte(source))
	if err != nil {
		return err
	}
	c.remember(approvedName, parsed.Source)
	root, err := engine.Load(parsed, nil)
	if err != nil {
		return err
	}
	return c.execute(ctx, root, props, settled)
}

// planningInstructions is all the host says to a planning agent: what an answer is,
// each message says itself.
const planningInstructions = "Every message states what its answer must be. Answer the message you were sent, in the shape it asks for, and write nothing else."
