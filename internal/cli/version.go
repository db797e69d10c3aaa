package cli

import (
	"fmt"
	"runtime"
	"strings"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"github.com/executable-markdown/xmd/internal/value"
)

func (c *command) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return c.writeJSON(value.Of("version", c.Version, "go", runtime.Version(), "os", runtime.GOOS, "arch", runtime.GOARCH))
			}
			_, err := fmt.Fprintf(c.out, "xmd %s (%s, %s/%s)\n", c.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// writeJSON prints a value as indented JSON and a newline.
func (c *command) writeJSON(v any) error {
	b, err := value.AppendIndent(nil, v)
	if err != nil {
		return err
	}
	return c.write(c.safeJSON(string(b)) + "\n")
}

// safeJSON is a JSON text as standard output takes it: on a terminal, characters
// that would drive it or hide are spelled as JSON escapes, which mean the same.
func (c *command) safeJSON(text string) string {
	if !isTerminal(c.Stdout) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if s := string(r); visible(s) == s {
			b.WriteString(s)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
