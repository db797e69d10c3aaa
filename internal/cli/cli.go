// Package cli is the command line: it turns words into one settled invocation of
// the engine and reports how it ended.
//
// What enters is what the process was started with (see Process); what leaves is
// an exit status. Everything wrong with a command line is found before a file is
// created, a terminal mode is changed or a process starts.
//
// It is the only package that knows flags, environment variables and whether a
// channel is a terminal. It refuses to know what documents mean.
package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/value"
)

// Exit statuses, one table for every command.
const (
	exitOK          = 0
	exitFailed      = 1   // the document failed, a deadline included
	exitUsage       = 2   // the command line or a configuration was wrong
	exitRefused     = 3   // refused by admission
	exitDamaged     = 4   // a history cannot be trusted
	exitInterrupted = 130 // SIGINT or SIGTERM
)

// ErrInterrupted is the cause of a context that a signal ended.
var ErrInterrupted = errors.New("interrupted")

// A Process is what the program was started with. Files are the standard
// channels; the environment is a snapshot.
type Process struct {
	Args    []string // without the program's name
	Stdin   *os.File
	Stdout  *os.File
	Stderr  *os.File
	Env     map[string]string
	Dir     string // the absolute working directory; empty when it cannot be told
	Version string
	// Hurry ends when the process is asked a second time to stop; nil: never.
	Hurry context.Context
}

// ThisProcess is the process the program runs in.
func ThisProcess(version string) Process {
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	return Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Env: host.Environ(), Dir: dir, Version: version,
	}
}

// A command is one invocation being carried out.
type command struct {
	Process
	out, err  io.Writer
	sources   map[string]string // texts read so far, for excerpts
	midLine   bool              // standard output does not end with a line end
	delivered bool              // an outcome was printed as JSON
}

// Main runs the command line and returns its exit status. ctx ends when the
// process is asked to stop, with the cause ErrInterrupted.
func Main(ctx context.Context, p Process) int {
	c := &command{Process: p, out: p.Stdout, err: p.Stderr}
	if c.Dir == "" {
		note(c.err, "the working directory cannot be told; change to a directory that exists")
		return exitFailed
	}
	root := c.root()
	root.SetArgs(withDefault(root, p.Args))
	err := root.ExecuteContext(ctx)
	return c.finish(ctx, err)
}

// root builds the command tree.
func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "xmd",
		Short: "Run Executable Markdown",
		Long: `xmd runs Executable Markdown: documents whose prose is the program's story and
whose elements are its effects.

xmd FILE is short for xmd run FILE.`,
		Example: `  xmd run report.md
  xmd run report.md#Build --props-name Ada
  xmd run -e '<Each in={[1, 2, 3]} let="n">{n} </Each>'
  xmd check docs/*.md`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       c.Version,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetVersionTemplate("xmd {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage("%v", err) })
	root.SetHelpCommand(helpCommand(root))
	root.AddCommand(c.runCommand(), c.promptCommand(), c.planCommand(), c.workflowCommand(), c.checkCommand(), c.syntaxCommand(), c.admitCommand(), c.auditCommand(), c.versionCommand(), c.fixtureCommand(), c.agentExecCommand())
	return root
}

// helpCommand shows the help of a command; a word that names none is refused.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		RunE: func(_ *cobra.Command, words []string) error {
			cmd, rest, err := root.Find(words)
			if err != nil || len(rest) > 0 {
				return usage("there is no command %q; xmd --help lists them", strings.Join(words, " "))
			}
			cmd.InitDefaultHelpFlag()
			cmd.InitDefaultVersionFlag()
			return cmd.Help()
		},
	}
}

// withDefault makes run the command when the first word names none.
func withDefault(root *cobra.Command, args []string) []string {
	if len(args) == 0 {
		return args
	}
	first := args[0]
	switch first {
	case "-h", "--help", "help", "--version", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
		return args
	}
	named := slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool {
		return c.Name() == first || c.HasAlias(first)
	})
	if named {
		return args
	}
	return append([]string{"run"}, args...)
}

// noArgs refuses words a command does not take.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no arguments, so %q has no meaning", cmd.CommandPath(), args[0])
	}
	return nil
}

// isTerminal reports whether a channel is a terminal.
func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// width is the number of columns of a terminal, 80 where it does not say.
func width(f *os.File) int {
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w
	}
	return 80
}

// colour reports whether a channel takes escape sequences.
func (c *command) colour(f *os.File, off bool) bool {
	return isTerminal(f) && !off && c.Env["NO_COLOR"] == "" && c.Env["TERM"] != "dumb"
}

// secrets are the values of environment variables and properties whose names say
// that nobody else should see them: the secret gate knows them exactly.
func (c *command) secrets(props *value.Object) []string {
	var known []string
	add := func(name string, v any) {
		if text, ok := v.(string); ok && secretName(name) && len(text) >= 8 {
			known = append(known, text)
		}
	}
	for name, v := range c.Env {
		add(name, v)
	}
	for name, v := range props.All() {
		add(name, v)
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// secretName reports whether a name announces a secret.
func secretName(name string) bool {
	name = strings.NewReplacer("_", "", "-", "").Replace(strings.ToUpper(name))
	return slices.ContainsFunc([]string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "PRIVATEKEY", "CREDENTIAL"},
		func(word string) bool { return strings.Contains(name, word) })
}

// machine is the host of a person's own run: everything their command grants.
func (c *command) machine() host.Host {
	return host.Host{
		Files:   host.NewFiles(),
		Sources: host.NewSources(c.Dir),
		HTTP:    host.NewHTTP(c.Env),
		Process: host.NewProcess(),
		Env:     c.Env,
		Dir:     c.Dir,
	}
}
