package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/catalog"
	"github.com/executable-markdown/xmd/internal/component"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/elicit"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/property"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/plan"
)

// runSettings are the options of xmd run, apart from those a document declares.
type runSettings struct {
	include      []string
	journal      string
	replay       string
	profile      string
	noEvaluate   bool
	ask          string
	agents       agentSettings
	output       string
	raw          bool
	strict       bool
	verbose      bool
	quiet        bool
	json         bool
	noColor      bool
	detect       onlySwitch
	noDetect     onlySwitch
	timeout      duration
	timeoutExec  duration
	timeoutFetch duration
}

// flags declares the options once, for parsing, help and completion.
func (s *runSettings) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringP("eval", "e", "", "run this `text` instead of a file")
	f.StringArrayVar(&s.include, "include", nil, "search this `dir` for components instead of components and . (repeatable)")
	f.StringArrayVar(&s.include, "component-dir", nil, "the same as --include")
	f.StringVarP(&s.journal, "journal", "j", "", "write the history of the run to a new `file`")
	f.StringVar(&s.replay, "replay", "", "answer effects from the history in this `file`, and go on live where it ends")
	f.Var((*profileOption)(&s.profile), "profile", "let generated text do what the profile in this `file` states, instead of the ordinary one")
	f.StringVar(&s.ask, "ask", "", "`where` questions are asked: terminal, web (a page on this machine; its address is printed) or none; default the terminal, where there is one")
	f.BoolVar(&s.noEvaluate, "no-evaluate", false, "run no generated text: <Evaluate> refuses")
	s.agents.declare(f)
	f.StringVarP(&s.output, "output", "o", "", "write the rendered text or value to this `file`")
	f.BoolVar(&s.raw, "raw", false, "print text as it is, also on a terminal")
	f.BoolVar(&s.strict, "strict", false, "fail when an error was printed into the document")
	f.BoolVarP(&s.verbose, "verbose", "V", false, "report every recorded event on standard error")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "do not report the count of printed errors")
	f.BoolVar(&s.json, "json", false, "print the outcome as JSON")
	f.BoolVar(&s.noColor, "no-color", false, "print no colours")
	f.Var(&s.timeout, "timeout", "stop the run after this `duration` (20s, 500ms, 2min)")
	f.Var(&s.timeoutExec, "timeout-exec", "stop a command after this `duration`")
	f.Var(&s.timeoutFetch, "timeout-fetch", "give up a request after this `duration`")
	f.Var(&s.detect, "secret-detection", "refuse to write secrets into a journal (the default)")
	f.Var(&s.noDetect, "no-secret-detection", "write a journal without looking for secrets")
	f.BoolP("help", "h", false, "show this help, with the properties and targets of a document")
	for _, name := range []string{"secret-detection", "no-secret-detection"} {
		f.Lookup(name).NoOptDefVal = "true"
	}
	f.Lookup("component-dir").Hidden = true
	return f
}

// A duration is an option in the grammar of language 1.10.5.
type duration struct{ time.Duration }

func (d *duration) String() string {
	if d.Duration == 0 {
		return ""
	}
	return d.Duration.String()
}
func (d *duration) Type() string { return "duration" }
func (d *duration) Set(text string) (err error) {
	d.Duration, err = document.ParseDuration(text)
	return err
}

// An onlySwitch is an option that takes no value in any spelling; scan refuses one.
type onlySwitch bool

func (s *onlySwitch) String() string { return "" }
func (s *onlySwitch) Type() string   { return "bool" }
func (s *onlySwitch) Set(string) error {
	*s = true
	return nil
}

func (c *command) runCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run FILE[#TARGET] | -e TEXT | -",
		Short: "Run a document",
		Long: `Run an Executable Markdown document: a file, one section of it, text given with
-e, or standard input.

Options that a document declares follow it; --help after a document lists them,
and the sections it can be run for.`,
		Example: `  xmd run report.md
  xmd run 'guide.md#Build/Linux' --props-name Ada
  xmd run -e 'Two plus two is <Let as="n" value={2 + 2} />{n}.'
  xmd run deploy.md --journal deploy.jsonl
  xmd run deploy.md --replay deploy.jsonl`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmd, args)
		},
	}
	cmd.Flags().AddFlagSet(new(runSettings).flags())
	cmd.ValidArgsFunction = c.completeRun
	return cmd
}

// run carries out xmd run. With --json, what keeps a document from running is an
// outcome like any other.
func (c *command) run(cmd *cobra.Command, args []string) error {
	early, err := scan(args, new(runSettings).flags(), nil)
	if err != nil {
		return err
	}
	err = c.settle(cmd, args, early)
	var delivered *statusError
	if err == nil || c.delivered || !slices.Contains(early.known, "--json") || errors.As(err, &delivered) {
		return err
	}
	return errors.Join(err, c.deliverJSON(engine.Result{}, err))
}

// settle settles the invocation and carries it out.
func (c *command) settle(cmd *cobra.Command, args []string, early *arguments) error {
	if early.certain {
		if _, err := parseSettings(early.known); err != nil {
			return err
		}
	}
	if early.help && early.document == "" && early.inline == nil {
		return cmd.Help()
	}
	root, targets, err := c.load(cmd.Context(), early)
	if err != nil {
		return err
	}
	declared, err := property.Derive(root.Props())
	if err != nil {
		return err
	}
	if early.help {
		return c.documentHelp(cmd, root, targets, declared)
	}
	a, err := scan(args, new(runSettings).flags(), declared)
	if err != nil {
		return err
	}
	s, err := parseSettings(a.known)
	if err != nil {
		return err
	}
	props, err := collectProperties(declared, a.props, c.Env)
	if err != nil {
		return err
	}
	settled, err := c.settleInvocation(s)
	if err != nil {
		return err
	}
	return c.execute(cmd.Context(), root, props, settled)
}

// A settlement is what a command line and the person's own files come to, before
// anything is run.
type settlement struct {
	*runSettings
	profile *capability.File // as --profile stated it; nil: the ordinary one
	agents  *agentSettlement
}

// settleInvocation reads the files an invocation is configured by. It starts and makes
// nothing.
func (c *command) settleInvocation(s *runSettings) (*settlement, error) {
	agents, err := c.settleAgents(&s.agents)
	if err != nil {
		return nil, err
	}
	settled := &settlement{runSettings: s, agents: agents}
	if s.profile != "" {
		if settled.profile, err = c.profileFile(s.profile); err != nil {
			return nil, err
		}
	}
	return settled, nil
}

func parseSettings(known []string) (*runSettings, error) {
	s := &runSettings{}
	f := s.flags()
	if err := f.Parse(known); err != nil {
		return nil, usage("%v", err)
	}
	return s, s.check(f)
}

// check refuses options that mean nothing, or nothing together, and settles what was
// left out. f is what they were parsed from.
func (s *runSettings) check(f *pflag.FlagSet) error {
	for _, name := range []string{"journal", "replay", "output", "profile"} {
		if option := f.Lookup(name); option != nil && option.Changed && option.Value.String() == "" {
			return usage("--%s needs the name of a file, not an empty one", name)
		}
	}
	if s.noEvaluate && s.profile != "" {
		return usage("--profile states what generated text may do and --no-evaluate that none runs; give one of them")
	}
	switch s.ask {
	case "", "terminal", "web", "none":
	default:
		return usage("--ask is terminal, web or none, not %q", s.ask)
	}
	s.include = defaultInclude(s.include)
	return nil
}

// load reads the root a command line names and selects its target.
func (c *command) load(ctx context.Context, a *arguments) (*engine.Root, []document.Target, error) {
	name, selector, targeted := "<eval>", "", false
	var text []byte
	var err error
	switch {
	case a.inline != nil:
		text = []byte(*a.inline)
	case a.document == "-":
		name = "<stdin>"
		if text, err = c.standardInput(ctx); err != nil {
			return nil, nil, err
		}
	default:
		if name, selector, targeted, err = document.SplitReference(a.document); err != nil {
			return nil, nil, usage("%v", err)
		}
		if text, err = host.NewSources(c.Dir).ReadSource(name); err != nil {
			return nil, nil, c.unreadableDocument(name, err)
		}
	}
	d, err := document.Parse(name, text)
	if err != nil {
		c.remember(name, string(text))
		return nil, nil, err
	}
	c.remember(name, d.Source)
	var target *document.Target
	if targeted {
		t, err := d.Select(selector)
		if err != nil {
			return nil, nil, err
		}
		target = &t
	}
	root, err := engine.Load(d, target)
	if err != nil {
		return nil, nil, err
	}
	if a.inline != nil || a.document == "-" {
		return root, nil, nil
	}
	if !a.help {
		return root, nil, nil
	}
	return root, d.Targets(), nil
}

// standardInput reads the whole of it, unless the program is told to stop first.
func (c *command) standardInput(ctx context.Context) ([]byte, error) {
	type input struct {
		text []byte
		err  error
	}
	read := make(chan input, 1)
	go func() { // left behind when the program ends before its input does
		text, err := io.ReadAll(io.LimitReader(c.Stdin, document.MaxSource+1))
		read <- input{text, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case in := <-read:
		if in.err != nil {
			return nil, errors.New("standard input could not be read")
		}
		return in.text, nil
	}
}

// remember keeps a source for excerpts.
func (c *command) remember(name, text string) {
	if c.sources == nil {
		c.sources = make(map[string]string)
	}
	c.sources[name] = strings.TrimPrefix(text, "\ufeff")
}

// unreadableDocument is unreadable for a file that a document reference names.
func (c *command) unreadableDocument(name string, err error) error {
	err = unreadable(name, err)
	switch near := nearCommand(name); {
	case near != "":
		return fmt.Errorf("%w; did you mean the command %s?", err, near)
	case strings.ContainsAny(name, "#%"):
		return fmt.Errorf("%w; in a document's path # is written %%23 and %% is written %%25", err)
	}
	return err
}

// unreadable says why a file cannot be read.
func unreadable(name string, err error) error {
	var failure *host.FileError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no such file", name)
	case errors.As(err, &failure):
		return fmt.Errorf("%s cannot be read: %s", name, failure.Phrase())
	}
	return fmt.Errorf("%s cannot be read: %w", name, err)
}

// library is the components of a person's own run. Generated text runs under the
// profile and is planned with the planner; with nil it is not.
func library(profile *capability.Captured, planner *plan.Host) *engine.Library {
	return engine.NewLibrary([]engine.Component{catalog.Syntax(), component.Evaluate(profile), plan.Component(planner)}, component.Defaults())
}

// execute runs a settled invocation and prints what came of it.
func (c *command) execute(ctx context.Context, root *engine.Root, props *value.Object, settled *settlement) error {
	s := settled.runSettings
	if s.noDetect {
		note(c.err, "WARNING: secret detection is disabled; credentials may be persisted.")
	}
	if err := c.separate(root, s); err != nil {
		return err
	}
	var generated *capability.Captured
	request := profileRequest{
		file: s.profile, stated: settled.profile, include: s.include, nodes: root.Document.Nodes,
		used: []string{documentFile(root), s.journal, s.replay}, timeout: s.timeoutFetch.Duration,
	}
	if !s.noEvaluate && (s.profile != "" || c.evaluates(request)) {
		profile, err := c.profile(ctx, request)
		switch {
		case err == nil:
			defer profile.revoke()
			generated = profile.captured
		case s.profile != "":
			return err
		}
		// A directory that cannot be opened is no reason to refuse a document: only
		// generated text is then refused.
	}
	stack := settled.agents.stack()
	who, end, err := c.questions(s)
	if err != nil {
		return err
	}
	defer func() { _ = end() }()
	history, err := c.openHistory(ctx, root, props, s)
	if err != nil {
		return err
	}
	defer history.close()
	ctx, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	if s.timeout.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.timeout.Duration, &deadlineError{s.timeout.Duration, "run"})
		defer cancel()
	}
	o := engine.Options{
		Host: c.machine(), Library: library(generated, c.planner(s.include, settled.agents, who != nil)), Journal: history.journal, Include: s.include, Props: props,
		Stdout: c.out, Stderr: c.err, Retain: s.journal != "" || s.replay != "",
		ExecTimeout: s.timeoutExec.Duration, FetchTimeout: s.timeoutFetch.Duration,
		Agents: stack.region, AgentProviders: stack.providers,
	}
	if root.ReturnsValue() || s.json {
		o.Stdout = c.err
	}
	if s.verbose && root.ReturnsValue() {
		o.Body = c.body
	}
	if who != nil {
		o.Elicitor = interruptible{who, interrupt}
	}
	streamed := isTerminal(c.Stdout) && s.output == "" && !s.json && !root.ReturnsValue()
	if streamed {
		o.Emit = c.screen(s)
	}
	res, err := engine.Run(ctx, root, o)
	if err == nil {
		err = res.Err
	}
	if e := stack.region.Provider.Close(context.WithoutCancel(ctx)); e != nil && err == nil {
		err = e
	}
	if e := history.close(); e != nil && err == nil {
		err = e
	}
	if err != nil && ctx.Err() != nil && res.Err == nil {
		err = context.Cause(ctx)
	}
	err = withoutPlace(err)
	counted := count(res.Printed, "error was", "errors were") + " printed into the document"
	strict := err == nil && res.Printed > 0 && s.strict
	if strict {
		err = errors.New(counted)
	}
	if e := c.deliver(root, res, err, s, streamed); e != nil && err == nil {
		err = e
	}
	if err == nil && res.Printed > 0 && !s.quiet {
		note(c.err, "%s", counted)
	}
	if strict && s.quiet {
		return &statusError{exitFailed}
	}
	return err
}

// askAnywhere asks on the terminal where there is one, and else on a page.
const askAnywhere = "anywhere"

// questions is who asks a person here; nil when nobody does. end is called when the
// run has ended.
func (c *command) questions(s *runSettings) (who engine.Elicitor, end func() error, err error) {
	end = func() error { return nil }
	terminal := isTerminal(c.Stdin) && isTerminal(c.Stderr)
	switch {
	case s.ask == "web" || s.ask == askAnywhere && !terminal:
		web := elicit.NewWeb(host.NewSite, func(address string) { note(c.err, "A question waits for its answer at %s", address) })
		return web, web.Close, nil
	case s.ask == "terminal" && !terminal:
		return nil, end, usage("--ask terminal needs a terminal on standard input and standard error; --ask web asks in a browser")
	case s.ask == "none" || !terminal:
		return nil, end, nil
	}
	form := elicit.NewTerminal(c.Stdin, c.Stderr)
	form.Plain = c.Env["TERM"] == "dumb"
	form.NoColor = !c.colour(c.Stderr, s.noColor)
	return form, end, nil
}

// separate refuses to write the result over what the run reads or writes beside it.
func (c *command) separate(root *engine.Root, s *runSettings) error {
	if s.output == "" {
		return nil
	}
	for option, other := range map[string]string{"--journal": s.journal, "--replay": s.replay, "the document": documentFile(root)} {
		if other != "" && host.SameFile(c.path(s.output), c.path(other)) {
			return usage("--output and %s are the same file, %s; the result would replace it", option, s.output)
		}
	}
	return nil
}

// documentFile is the file of the document, empty when it has none.
func documentFile(root *engine.Root) string {
	if strings.HasPrefix(root.Document.Name, "<") { // <eval> and <stdin>
		return ""
	}
	return root.Document.Name
}

// interruptible makes leaving a question with Ctrl-C an interruption of the run.
type interruptible struct {
	engine.Elicitor
	interrupt context.CancelCauseFunc
}

// Ask implements engine.Elicitor.
func (i interruptible) Ask(ctx context.Context, q engine.Question) (any, error) {
	v, err := i.Elicitor.Ask(ctx, q)
	if errors.Is(err, elicit.ErrInterrupted) {
		i.interrupt(ErrInterrupted)
	}
	return v, err
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
