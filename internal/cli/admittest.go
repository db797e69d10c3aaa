package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/suite"
)

// longSuite is the number of cases from which on progress is shown.
const longSuite = 200

func (c *command) admitTestCommand() *cobra.Command {
	var s admitTestSettings
	cmd := &cobra.Command{
		Use:   "test DIR...",
		Short: "Run regression suites of fragments",
		Long: `Run suites of cases: every *.txtar file below the directories, in the order of
their names. A case is an archive with these members:

  profile.yaml      the profile; without it that of xmd run, on no files
  allow             its tables, such as read,write; without it read
  fragment.md       the fragment, byte for byte
  fragment.json     or so: a JSON string, or a list of strings and byte values;
                    for what an archive cannot hold, as a text without line end
  results           what operations return, so that the fragment is evaluated:
                    {"File.read": ["text", {"error": "no such file"}]}, in the
                    order they are performed; {} where none returns anything;
                    answers stand under Elicit.ask
  want              admitted and an identity a line, or refused: and the class
  want/output       what it renders (want/output.json: as a JSON string)
  want/effects      its effects, an identity and a JSON text a line
  want/failure      how it fails: limit: NAME, operation, or fail: and a JSON string

No case reaches a file, a request or a person. The last lines say how many cases
are as wanted and which classes, features and ceilings none of them shows.

The exit status is 0 when every case is as wanted, 1 when one is not, states no
want or cannot be read, 2 when the command line is wrong.`,
		Example: `  xmd admit test fragments/
  xmd admit test --update fragments/
  xmd admit test --junit report.xml specs/admission`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("name at least one directory of cases: xmd admit test DIR...")
			}
			return s.check()
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.admitTest(cmd, args, s) },
	}
	f := cmd.Flags()
	f.BoolVar(&s.update, "update", false, "rewrite what the cases want to what came of them, and print the changes")
	f.BoolVar(&s.tap, "tap", false, "print the report as TAP version 13")
	f.StringVar(&s.junit, "junit", "", "also write the report as JUnit XML to this `file`")
	f.BoolVar(&s.json, "json", false, "print the report as JSON")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "print the cases that failed and nothing else")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return cmd
}

// admitTestSettings are the options of xmd admit test.
type admitTestSettings struct {
	update, tap, json, quiet bool
	junit                    string
}

func (s admitTestSettings) check() error {
	switch {
	case s.update && (s.tap || s.json || s.junit != ""):
		return usage("--update prints what it changed and no report; leave out --tap, --json and --junit")
	case s.tap && s.json:
		return usage("--tap and --json both print the report; give one")
	}
	return nil
}

func (c *command) admitTest(cmd *cobra.Command, dirs []string, s admitTestSettings) error {
	if s.junit == "" && cmd.Flags().Changed("junit") {
		return usage("--junit needs the name of a file, not an empty one")
	}
	cases, err := c.cases(dirs)
	if err != nil {
		return err
	}
	report, err := suite.Run(cmd.Context(), cases, c.progress(len(cases)))
	if err != nil {
		return err
	}
	if s.update {
		return c.updateCases(report, s)
	}
	if err := c.printSuite(report, s); err != nil {
		return err
	}
	if s.junit != "" {
		text, err := report.JUnit()
		if err != nil {
			return err
		}
		if err := host.WriteOutput(c.path(s.junit), text); err != nil {
			return fmt.Errorf("%s cannot be written: %w", s.junit, err)
		}
	}
	if report.Failed() > 0 {
		return &statusError{exitFailed}
	}
	return nil
}

// cases reads what the directories hold. A directory without a case is an error, so
// that a suite which moved away is not taken for one that passes.
func (c *command) cases(dirs []string) ([]*suite.Case, error) {
	var cases []*suite.Case
	sources := host.NewSources(c.Dir)
	for _, dir := range dirs {
		names, err := caseFiles(sources, filepath.ToSlash(filepath.Clean(dir)))
		if err != nil {
			return nil, unreadableDirectory(dir, err)
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("%s holds no case; cases are files whose names end in .txtar", dir)
		}
		for _, name := range names {
			text, err := sources.ReadSource(name)
			if err != nil {
				return nil, unreadable(name, err)
			}
			cases = append(cases, suite.Read(name, text))
		}
	}
	return cases, nil
}

// caseFiles lists the cases below a directory by name. No link is followed.
func caseFiles(sources *host.OSSources, dir string) ([]string, error) {
	entries, err := sources.List(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			below, err := caseFiles(sources, name)
			if err != nil {
				return nil, err
			}
			names = append(names, below...)
		case e.Type().IsRegular() && strings.HasSuffix(name, ".txtar"):
			names = append(names, name)
		}
	}
	return names, nil
}

// unreadableDirectory says why a directory cannot be listed.
func unreadableDirectory(name string, err error) error {
	var failure *host.FileError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no such directory", name)
	case errors.As(err, &failure) && failure.Reason == host.NotDirectory:
		return fmt.Errorf("%s is no directory; name the one the cases are in", name)
	}
	return unreadable(name, err)
}

// progress shows on a terminal how far a long suite is; nil where there is none.
func (c *command) progress(total int) func(done int) {
	if total < longSuite || !isTerminal(c.Stderr) || c.Env["TERM"] == "dumb" {
		return nil
	}
	shown := -1
	return func(done int) {
		percent := done * 100 / total
		switch {
		case done == total:
			fmt.Fprint(c.err, "\r\x1b[K")
		case percent != shown:
			shown = percent
			fmt.Fprintf(c.err, "\r%d of %d cases", done, total)
		}
	}
}

// printSuite prints the report to standard output.
func (c *command) printSuite(r *suite.Report, s admitTestSettings) error {
	switch {
	case s.json:
		return c.writeJSON(r.JSON())
	case s.tap:
		return c.write(c.shown(r.TAP()))
	}
	for i := range r.Outcomes {
		if err := c.printFailure(&r.Outcomes[i]); err != nil {
			return err
		}
	}
	if s.quiet {
		return nil
	}
	return c.write(c.shown(fmt.Sprintf("%s\nuncovered: %s\n", r.Summary(), r.Uncovered())))
}

// printFailure prints a case that is not as wanted and why.
func (c *command) printFailure(o *suite.Outcome) error {
	if o.Passed() {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: failed\n", o.Name)
	for _, problem := range o.Problems {
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(problem, "\n", "\n    "))
	}
	return c.write(c.shown(b.String()))
}

// updateCases rewrites the cases that came to something else than they want. What
// cannot be repaired so stays a failure.
func (c *command) updateCases(r *suite.Report, s admitTestSettings) error {
	updated, failed := 0, 0
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		switch {
		case o.Passed():
			continue
		case o.Archive == nil:
			failed++
			if err := c.printFailure(o); err != nil {
				return err
			}
			continue
		}
		if err := host.WriteOutput(c.path(o.Name), o.Archive); err != nil {
			return fmt.Errorf("%s cannot be rewritten: %w", o.Name, err)
		}
		updated++
		if err := c.write(c.shown(fmt.Sprintf("--- %s\n+++ %s\n%s\n", o.Name, o.Name, strings.Join(o.Changes, "\n")))); err != nil {
			return err
		}
	}
	if !s.quiet {
		line := fmt.Sprintf("%s: %d passed, %d updated, %d failed\n",
			count(len(r.Outcomes), "case", "cases"), len(r.Outcomes)-updated-failed, updated, failed)
		if err := c.write(line); err != nil {
			return err
		}
	}
	if failed > 0 {
		return &statusError{exitFailed}
	}
	return nil
}
