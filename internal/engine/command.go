package engine

import (
	"context"
	"errors"

	"github.com/executable-markdown/xmd/internal/host"
)

// substitutes are programs that stand in for one a machine does not have.
var substitutes = map[string]string{"python": "python3", "bash": "sh"}

// runCommand runs a command; a program that is missing is replaced by its
// substitute, where there is one.
func runCommand(ctx context.Context, p host.Process, c host.Command) (status int, err error) {
	status, err = p.Run(ctx, c)
	var start *host.StartError
	if errors.As(err, &start) {
		if other := substitutes[c.Args[0]]; other != "" {
			c.Args = append([]string{other}, c.Args[1:]...)
			if s, e := p.Run(ctx, c); !errors.As(e, &start) {
				return s, e
			}
		}
	}
	return status, err
}
