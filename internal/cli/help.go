package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/elicit"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/property"
)

// visible shows text that is not ours with every hidden character written out.
func visible(text string) string { return elicit.Visible(text) }

// path is a path as the process's working directory reads it.
func (c *command) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(c.Dir, p)
}

// documentHelp describes how a document can be run (language 9.7).
func (c *command) documentHelp(cmd *cobra.Command, root *engine.Root, targets []document.Target, declared *property.Set) error {
	var b strings.Builder
	name := root.Document.Name
	fmt.Fprintf(&b, "Usage:\n  xmd run %s [options]\n", visible(name))
	if text, ok := root.Document.Frontmatter.String("description"); ok {
		fmt.Fprintf(&b, "\n%s\n", visible(text))
	}
	fmt.Fprintf(&b, "\nOptions:\n%s", cmd.LocalFlags().FlagUsages())
	b.WriteString("\nA document is FILE, FILE#TARGET, -e TEXT, or - for standard input.\n")
	propertyHelp(&b, declared, visible(name))
	if len(targets) > 0 {
		fmt.Fprintf(&b, "\nTargets in %s\n", visible(name))
		for i, t := range targets {
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "  %s#%s\n", visible(name), t.Path)
			if t.Description != "" {
				fmt.Fprintf(&b, "      %s\n", visible(t.Description))
			}
		}
	}
	_, err := c.out.Write([]byte(b.String()))
	return err
}

// completeRun completes the document and the options it declares; cobra knows the
// others.
func (c *command) completeRun(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if !strings.HasPrefix(word, "-") {
		return []string{"md"}, cobra.ShellCompDirectiveFilterFileExt
	}
	a, err := scan(args, new(runSettings).flags(), nil)
	if err != nil || a.document == "-" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	root, _, err := c.load(cmd.Context(), a)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	if declared, err := property.Derive(root.Props()); err == nil {
		for _, o := range declared.Options() {
			if strings.HasPrefix(o.Option, word) {
				out = append(out, o.Option)
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
