package plan

import (
	"context"
	"errors"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
)

// Questions installs who asks the person, and returns how that is ended. A person who
// leaves a question calls interrupt, which stops the planning.
type Questions func(interrupt context.CancelCauseFunc) (who engine.Elicitor, end func() error, err error)

// An execution runs a program of this package under the plan profile: it reaches
// nothing of the machine, searches no directory, and its history is forgotten when it
// has ended (prompt 6).
type execution struct {
	name      string // source identity
	program   string
	questions Questions
	gate      *journal.Gate
}

// run returns the text the program comes to. The options lack what every such
// execution has.
func (e execution) run(ctx context.Context, o engine.Options) (source string, err error) {
	parsed, err := document.Parse(e.name, []byte(e.program))
	if err != nil {
		return "", err
	}
	root, err := engine.Load(parsed, nil)
	if err != nil {
		return "", err
	}
	ctx, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	who, end, err := e.questions(interrupt)
	if err != nil {
		return "", err
	}
	defer func() {
		if failure := end(); failure != nil {
			source, err = "", errors.Join(err, failure)
		}
	}()
	o.Host, o.Elicitor = refusing(), who
	if o.Journal, err = journal.Open(ctx, journal.NewMemory(), journal.Options{Gate: e.gate}); err != nil {
		return "", err
	}
	result, err := engine.Run(ctx, root, o)
	switch {
	case ctx.Err() != nil && result.Err == nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", err
	case result.Err != nil:
		return "", result.Err
	}
	source, ok := result.Value.(string)
	if !ok {
		return "", errors.New("the program returned no source")
	}
	return source, nil
}
