package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/executable-markdown/xmd/internal/value"
)

func (c *command) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
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
	_, err = c.out.Write(append(b, '\n'))
	return err
}
