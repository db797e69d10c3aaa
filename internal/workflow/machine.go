package workflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
)

// withheld are the elements of ordinary runs that a workflow does not have, and why.
var withheld = map[string]string{
	"TempDir":       "a run keeps no directory that could be temporary; state the content where it is needed",
	"Agent":         "agents are not available in a workflow yet",
	"AgentProvider": "agents are not available in a workflow yet",
	"Session":       "agents are not available in a workflow yet",
	"Prompt":        "agents are not available in a workflow yet",
	"Plan":          "agents are not available in a workflow yet",
	"Evaluate":      "generated text is not run in a workflow yet",
}

// withhold makes an element refuse itself where the program's own may not be used.
func withhold(c engine.Component) engine.Component {
	why, ok := withheld[c.Name]
	if !ok {
		return c
	}
	c.Body, c.Soft = nil, false
	c.Run = func(context.Context, *engine.Call) (any, error) {
		return nil, &engine.Error{Component: c.Name, Message: fmt.Sprintf("<%s> cannot be used in a workflow: %s", c.Name, why)}
	}
	return c
}

// library is the elements of a run.
func (s *Settings) library(w *waiter) *engine.Library {
	adapt := func(all []engine.Component) []engine.Component {
		out := make([]engine.Component, len(all))
		for i, c := range all {
			if out[i] = recording(withhold(c)); c.Name == "Elicit" {
				out[i] = w.elicit(c)
			}
		}
		return out
	}
	return engine.NewLibrary(adapt(s.Protected), adapt(s.Components))
}

// Taken reports whether a component name is one of the program's own.
func (s *Settings) Taken(name string) bool {
	for _, list := range [][]engine.Component{s.Protected, s.Components} {
		for _, c := range list {
			if c.Name == name {
				return true
			}
		}
	}
	return false
}

// programs runs each command in an empty directory of its own, which goes with it
// (workflow 32).
type programs struct {
	host.Process
	files host.Files // of the machine
}

// Run implements host.Process.
func (p programs) Run(ctx context.Context, c host.Command) (status int, err error) {
	dir, remove, err := p.files.TempDir(ctx)
	if err != nil {
		return 0, fmt.Errorf("no directory for the command could be made: %w", err)
	}
	defer func() {
		if e := remove(); e != nil {
			err = errors.Join(err, fmt.Errorf("the directory of the command could not be removed: %w", e))
		}
	}()
	c.Dir = dir
	return p.Process.Run(ctx, c)
}

var errBackground = errors.New("a workflow starts no daemon and no service, since nothing of it runs on between two executions")

// Start implements host.Process.
func (programs) Start(context.Context, host.Command) (host.Running, error) { return nil, errBackground }

// Port implements host.Process.
func (programs) Port() (int, error) { return 0, errBackground }
