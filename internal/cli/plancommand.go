package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/executable-markdown/xmd/internal/catalog"
	"github.com/executable-markdown/xmd/plan"
)

// planSettings are the options of xmd plan: those of a run that are about planning, and
// the name of the conversation.
type planSettings struct {
	runSettings
	session string
}

// ofPlan lists the options of xmd run that a plan has.
var ofPlan = []string{"include", "agent-provider", "default-agent", "timeout", "ask", "help"}

func (s *planSettings) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("plan", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVar(&s.session, "session", "", "continue the planning conversation of this `name`, or begin it")
	run := s.runSettings.flags()
	for _, name := range ofPlan {
		f.AddFlag(run.Lookup(name))
	}
	f.Lookup("help").Usage = "show this help"
	f.Lookup("timeout").Usage = "stop the planning after this `duration` (20s, 500ms, 2min)"
	f.Lookup("ask").Usage = "`where` you are asked: terminal or web (a page on this machine; its address is printed); default the terminal, where there is one, else web"
	return f
}

func (c *command) planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan REQUEST",
		Short: "Have an Agent write a document for a request, read it, approve it, print it",
		Long: `Have an Agent write an Executable Markdown document for a request, read exactly what
it wrote, and print those bytes once you approve them. Nothing is saved or run.

The request is exactly one text, in quotes; it is not a path. -- ends the options, so
that a request may begin with a dash.

What is definitely wrong with a draft goes back to the Agent, three times at most. Then
you approve the draft, request changes, or stop. Standard output holds the approved
document and nothing else; it stays empty on every other ending.

While it plans, the Agent has no tools, an empty directory, and every permission it
asks for is denied.`,
		Example: `  xmd plan "ask me for my age and write the result to a file" > age.md
  xmd plan "summarise notes.md" --default-agent claude | xmd run -
  xmd plan --session trip "plan a packing list"`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.planOnly(cmd, args)
		},
	}
	cmd.Flags().AddFlagSet(new(planSettings).flags())
	cmd.ValidArgsFunction = completePlanned
	return cmd
}

// planOnly carries out xmd plan. Whatever is wrong with the command line is found
// before anything else happens.
func (c *command) planOnly(cmd *cobra.Command, args []string) error {
	line, err := scanPrompt(args, new(planSettings).flags())
	if err != nil {
		return err
	}
	if line.help {
		return cmd.Help()
	}
	s, err := parsePlan(line.fixed)
	if err != nil {
		return err
	}
	if err := c.reviewable(&s.runSettings); err != nil {
		return err
	}
	settled, err := c.settleInvocation(&s.runSettings)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	if s.timeout.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.timeout.Duration, &deadlineError{s.timeout.Duration, "command"})
		defer cancel()
	}
	planning := c.authoring(&s.runSettings, settled, s.session)
	c.remember(plan.BodyName, plan.Body)
	source, err := plan.Single{
		Request: line.request, Session: s.session, Host: c.planner(s.include, settled.agents, true),
		Questions: planning.Questions, Gate: planning.Gate,
	}.Run(ctx)
	if err != nil {
		return withoutPlace(err)
	}
	return c.write(c.shown(source))
}

func parsePlan(fixed []string) (*planSettings, error) {
	s := &planSettings{}
	f := s.flags()
	if err := f.Parse(fixed); err != nil {
		return nil, usage("%v", err)
	}
	if err := checkSession(f); err != nil {
		return nil, err
	}
	return s, s.check(f)
}

// planner is what <Plan> elements may reach in this invocation, settled before any
// document is read. asks says that somebody is there to review a plan.
func (c *command) planner(include []string, agents *agentSettlement, asks bool) *plan.Host {
	in := c.inputs(include)
	return &plan.Host{
		Progress: c.planningProgress(),
		Syntax: func() (string, error) {
			listing, err := catalog.Build(in)
			if err != nil {
				return "", err
			}
			return listing.Text(), nil
		},
		Check: plan.NewStructuralAssessor(in).Assess,
		Runtime: func(_ context.Context, session string, named bool) (plan.Runtime, error) {
			if !asks {
				return plan.Runtime{}, errors.New("nobody is there to approve a plan; run the document on a terminal, or give --ask web")
			}
			if !named { // executions of one document at a time are strangers (D-40)
				session += ":" + uuid()
			}
			return c.ceiling(agents, session, named)
		},
	}
}
