package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/executable-markdown/xmd/internal/catalog"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/property"
	"github.com/executable-markdown/xmd/internal/value"
)

// defaultInclude is where components are looked for unless a command says
// otherwise.
func defaultInclude(dirs []string) []string {
	if len(dirs) == 0 {
		return []string{"components", "."}
	}
	return dirs
}

func (c *command) checkCommand() *cobra.Command {
	var include []string
	var props string
	var asJSON, quiet bool
	cmd := &cobra.Command{
		Use:   "check FILE[#TARGET]...",
		Short: "Validate documents without running them",
		Long: `Validate documents without running anything: every element in every branch, and
every Markdown component they reach.

What only a run can tell (a prop given by an expression, say) is not a problem.
The exit status is 1 when a document is invalid.

With --json, one document prints its report; several print
{"version": 1, "outcome": …, "documents": [{"document": …, "report": …}]}.`,
		Example: `  xmd check report.md
  xmd check --json docs/*.md
  xmd check report.md --props '{"name": "Ada"}'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("name at least one document: xmd check FILE...")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			in := c.inputs(include)
			var given *value.Object
			if props != "" {
				var err error
				if given, err = property.ParseAggregate("--props", props); err != nil {
					return usage("%v", err)
				}
			}
			return c.check(in, args, given, asJSON, quiet)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&include, "include", nil, "search this `dir` for components instead of components and . (repeatable)")
	f.StringVar(&props, "props", "", "also check these `json` properties of the documents")
	f.BoolVar(&asJSON, "json", false, "print the reports as JSON")
	f.BoolVarP(&quiet, "quiet", "q", false, "print nothing about valid documents")
	cmd.ValidArgsFunction = completeDocuments
	return cmd
}

func completeDocuments(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"md"}, cobra.ShellCompDirectiveFilterFileExt
}

// inputs is what a listing or a validation looks at.
func (c *command) inputs(include []string) catalog.Inputs {
	return catalog.Inputs{Sources: host.NewSources(c.Dir), Include: defaultInclude(include), Library: library(nil, nil)}
}

func (c *command) check(in catalog.Inputs, refs []string, props *value.Object, asJSON, quiet bool) error {
	valid := true
	var documents []any
	for _, ref := range refs {
		name, selector, targeted, err := document.SplitReference(ref)
		if err != nil {
			return usage("%q: %v", ref, err)
		}
		text, err := in.Sources.ReadSource(name)
		if err != nil {
			err = c.unreadableDocument(name, err)
		} else {
			c.remember(name, string(text))
		}
		source := catalog.Source{Name: name, Text: text, ReadErr: err, Props: props, CheckProps: props != nil}
		if targeted {
			source.Target = selector
		}
		report := catalog.Validate(in, source)
		valid = valid && report.Valid()
		if asJSON {
			documents = append(documents, value.Of("document", ref, "report", report.JSON()))
			continue
		}
		if err := c.printReport(ref, report, quiet); err != nil {
			return err
		}
	}
	if asJSON {
		if err := c.writeJSON(reports(documents, valid)); err != nil {
			return err
		}
	}
	if !valid {
		return &statusError{exitFailed}
	}
	return nil
}

// reports is one document's report, or the list of several.
func reports(documents []any, valid bool) any {
	if len(documents) == 1 {
		report, _ := documents[0].(*value.Object).Get("report")
		return report
	}
	outcome := catalog.Valid
	if !valid {
		outcome = catalog.Invalid
	}
	return value.Of("version", float64(catalog.ReportVersion), "outcome", outcome, "documents", documents)
}

// printReport prints what was found in one document: to standard error with the
// lines it concerns, and one line of result.
func (c *command) printReport(ref string, r catalog.Report, quiet bool) error {
	for _, d := range r.Diagnostics {
		note(c.err, "%s: %s", d.Code, visible(d.Message))
		c.excerpt(d.Position)
	}
	open := 0
	for _, i := range r.Invocations {
		if i.Outcome == catalog.NotCheckable {
			open++
		}
	}
	result := "valid"
	switch {
	case !r.Valid():
		result = "invalid, " + count(len(r.Diagnostics), "problem", "problems")
	case quiet:
		return nil
	case open > 0:
		result = fmt.Sprintf("valid (%s only a run can check)", count(open, "element", "elements"))
	}
	return c.write(fmt.Sprintf("%s: %s\n", visible(ref), result))
}

func (c *command) syntaxCommand() *cobra.Command {
	var include []string
	var asJSON bool
	var format string
	cmd := &cobra.Command{
		Use:   "syntax [NAME]...",
		Short: "List the elements a document may use here",
		Long: `List the elements a document may use in this directory: the structural
constructs, the built-in components and those of the include directories. With
names, describe these components in full.`,
		Example: `  xmd syntax
  xmd syntax File Glob
  xmd syntax --json`,
		RunE: func(_ *cobra.Command, names []string) error {
			if format != "text" && format != "json" {
				return usage("--format is text or json, not %q", format)
			}
			listing, err := catalog.Build(c.inputs(include))
			if err != nil {
				return err
			}
			switch {
			case len(names) > 0 && (asJSON || format == "json"):
				return usage("names are described as text only; leave out --json")
			case len(names) > 0:
				text, err := listing.Describe(names)
				if err != nil {
					return usage("%v", err)
				}
				return c.write(c.shown(text))
			case asJSON || format == "json":
				return c.writeJSON(listing.JSON())
			}
			return c.write(c.shown(listing.Text()))
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&include, "include", nil, "search this `dir` for components instead of components and . (repeatable)")
	f.StringVar(&format, "format", "text", "text or json")
	f.BoolVar(&asJSON, "json", false, "the same as --format json")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return library(nil, nil).Names(), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}
