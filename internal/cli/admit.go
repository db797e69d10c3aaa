package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/suite"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// standardInputName is how a text from standard input is named in what is printed.
const standardInputName = "<stdin>"

func (c *command) admitCommand() *cobra.Command {
	var s admitSettings
	cmd := &cobra.Command{
		Use:   "admit FRAGMENT... | -",
		Short: "Judge generated text by a profile; nothing runs",
		Long: `Judge generated text the way <Evaluate> does, without running anything: what it is
is decided from its source and from a profile, which is that of xmd run unless
--profile names another. The dialect is the profile's, too.

An admitted fragment is shown with the capabilities it names, in the order of its
source, with what its module imports, which is all it could ever call, and with the
digest of the module. What a run adds is not known here: it also keeps fragments
from writing its document, its history and the components it uses. A refused one is shown with its class and nothing of its
text; --explain adds the place and the beginning of what stands there.

The exit status is 0 when every fragment is admitted, 1 when a file cannot be read
(also when another one is refused), 2 when the command line or the profile is
wrong, 3 when a fragment is refused.

With --json: {"version": 1, "fragments": [{"file": …, "decision": …}]}, where a
decision is admitted, refused or unreadable.`,
		Example: `  xmd admit reply.md
  xmd admit --profile observer.yaml reply.md other.md
  xmd admit --allow read,write --explain reply.md
  pbpaste | xmd admit --json -`,
		Args: func(_ *cobra.Command, args []string) error {
			switch stdin := slices.Index(args, "-"); {
			case len(args) == 0:
				return usage("name at least one fragment: xmd admit FRAGMENT..., or - for standard input")
			case stdin >= 0 && slices.Contains(args[stdin+1:], "-"):
				return usage("- is given twice; standard input can be read once")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.admit(cmd.Context(), args, s) },
	}
	f := cmd.Flags()
	f.Var((*profileOption)(&s.profile), "profile", "judge by the profile in this `file` instead of the ordinary one")
	f.StringVar(&s.allow, "allow", "read", "the `tables` of the profile that are granted: read, write or read,write")
	f.BoolVar(&s.json, "json", false, "print the decisions as JSON")
	f.BoolVar(&s.explain, "explain", false, "show where a fragment is refused and quote what stands there")
	cmd.ValidArgsFunction = completeDocuments
	complete(cmd, "profile", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	})
	complete(cmd, "allow", cobra.FixedCompletions([]string{"read", "write", "read,write"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(c.admitTestCommand())
	return cmd
}

// complete completes the values of an option that was declared just before.
func complete(cmd *cobra.Command, option string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(option, f); err != nil {
		panic(err) // there is no such option
	}
}

// admitSettings are the options of xmd admit.
type admitSettings struct {
	profile, allow string
	json, explain  bool
}

// admit judges every fragment, also after one could not be read or was refused.
func (c *command) admit(ctx context.Context, names []string, s admitSettings) error {
	grant, end, err := c.granted(ctx, s)
	if err != nil {
		return err
	}
	defer end()
	var unreadable, refused bool
	var fragments []any
	for _, name := range names {
		text, err := c.fragment(ctx, name)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if name == "-" {
			name = standardInputName
		}
		j := judged{name: name, unreadable: err}
		if err == nil {
			if err := j.judge(text, grant, s.explain); err != nil {
				return err
			}
		}
		unreadable = unreadable || j.unreadable != nil
		refused = refused || j.class != ""
		switch {
		case s.json:
			fragments = append(fragments, j.json())
		case j.unreadable != nil:
			note(c.err, "%s", visible(j.unreadable.Error()))
		default:
			if err := c.write(j.text()); err != nil {
				return err
			}
		}
	}
	if s.json {
		if err := c.writeJSON(value.Of("version", 1.0, "fragments", fragments)); err != nil {
			return err
		}
	}
	switch {
	case unreadable:
		return &statusError{exitFailed}
	case refused:
		return &statusError{exitRefused}
	}
	return nil
}

// granted is what the fragments of this command line are judged under; end revokes
// it.
func (c *command) granted(ctx context.Context, s admitSettings) (g *capability.Grant, end func(), err error) {
	p, err := c.profile(ctx, profileRequest{file: s.profile, include: defaultInclude(nil)})
	if err != nil {
		return nil, nil, err
	}
	if g, err = p.captured.Select(suite.Classes(s.allow)...); err != nil {
		p.revoke()
		return nil, nil, usage("--allow: %v", err)
	}
	return g, p.revoke, nil
}

// fragment reads one fragment, byte for byte.
func (c *command) fragment(ctx context.Context, name string) (string, error) {
	if name == "-" {
		text, err := c.standardInput(ctx)
		return string(text), err
	}
	text, err := host.NewSources(c.Dir).ReadSource(name)
	if err != nil {
		return "", unreadable(name, err)
	}
	return string(text), nil
}

// A judged fragment is one that a decision was made about, or that could not be read.
type judged struct {
	name       string
	unreadable error
	class      admission.Class  // of a refusal
	message    string           // of a refusal: its fixed sentence
	place      *admission.Place // of a refusal that is explained
	named      []admission.Named
	module     *wasm.Module
	digest     string // of the source
}

// judge makes the decision. The error is a fault of the program.
func (j *judged) judge(text string, g *capability.Grant, explain bool) error {
	d := admission.Preflight(j.name, text, g)
	if d.Refusal != nil {
		j.class, j.message = d.Refusal.Class, d.Refusal.Error()
		if explain {
			j.place = admission.Explain(text, g)
		}
		return nil
	}
	j.named, j.digest = d.Named, d.Digest
	var err error
	if j.module, err = wasm.Compile(d.Program); err != nil {
		return fmt.Errorf("%s was admitted and cannot be compiled: %w", j.name, err)
	}
	return nil
}

// text is a decision for a person. Of the fragment it repeats names that were granted
// and, where that was asked for, what it was refused at.
func (j *judged) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", visible(j.name))
	if j.class != "" {
		fmt.Fprintf(&b, "refused: %s\n  %s\n", j.class, j.message)
		if p := j.place; p != nil {
			fmt.Fprintf(&b, "  at %d:%d: %s\n", p.Line, p.Column, quoted(p.Excerpt))
		}
		return b.String()
	}
	b.WriteString("admitted\n")
	rows := make([]string, len(j.named))
	for i, n := range j.named {
		rows[i] = fmt.Sprintf("%s %s %d:%d", n.Identity, n.Form, n.Line, n.Column)
	}
	section(&b, "names", rows)
	section(&b, "imports", importNames(j.module))
	section(&b, "module", []string{j.module.Digest})
	return b.String()
}

// section writes rows beside one title.
func section(b *strings.Builder, title string, rows []string) {
	for _, row := range rows {
		fmt.Fprintf(b, "  %-7s  %s\n", title, row)
		title = ""
	}
}

// importNames are the imports of a module, module and field.
func importNames(m *wasm.Module) []string {
	names := make([]string, len(m.Imports))
	for i, n := range m.Imports {
		names[i] = n.Module + "." + n.Field
	}
	return names
}

// quoted is what a candidate holds as a person can read it: nothing that is not seen
// is left, also not a tab or what ends a line.
func quoted(excerpt string) string {
	return `"` + strings.NewReplacer("\t", `\t`, "\r", `\r`, "\n", `\n`).Replace(visible(excerpt)) + `"`
}

// json is a decision for a program.
func (j *judged) json() *value.Object {
	o := value.Of("file", j.name)
	switch {
	case j.unreadable != nil:
		o.Set("decision", "unreadable")
		o.Set("message", j.unreadable.Error())
	case j.class != "":
		o.Set("decision", "refused")
		o.Set("class", string(j.class))
		o.Set("message", j.message)
		if p := j.place; p != nil {
			o.Set("explain", value.Of("quotesCandidate", true,
				"offset", float64(p.Offset), "line", float64(p.Line), "column", float64(p.Column), "excerpt", visible(p.Excerpt)))
		}
	default:
		named := make([]any, len(j.named))
		for i, n := range j.named {
			named[i] = value.Of("name", n.Name, "identity", n.Identity, "form", n.Form.String(),
				"at", value.Of("offset", float64(n.Offset), "line", float64(n.Line), "column", float64(n.Column)))
		}
		imports := []any{}
		for _, name := range importNames(j.module) {
			imports = append(imports, name)
		}
		o.Set("decision", "admitted")
		o.Set("named", named)
		o.Set("imports", imports)
		o.Set("module", j.module.Digest)
		o.Set("digest", j.digest)
	}
	return o
}
