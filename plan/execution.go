package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
		return "", withheld(err)
	case result.Err != nil:
		return "", withheld(result.Err)
	}
	source, ok := result.Value.(string)
	if !ok {
		return "", errors.New("the program returned no source")
	}
	return source, nil
}

// A secretError is a planning that ended because something said in it holds a secret,
// which the record of no planning may, whatever counts for the run (prompt 2.3). A place
// in that record, which nobody sees, would tell a person nothing, so it says what to do.
type secretError struct{ cause *journal.SecretError }

func (e *secretError) Error() string {
	var rules []string
	for _, f := range e.cause.Findings {
		rules = append(rules, f.Rule)
	}
	if rules == nil {
		return e.cause.Error()
	}
	slices.Sort(rules)
	return fmt.Sprintf("secret detection ended the planning: the request, a draft or a change that was asked for holds what looks like a secret (%s). "+
		"Nothing was approved. Leave the secret out, and let the document read it where it runs, as from an environment variable; "+
		"no option turns this off while a document is planned", strings.Join(slices.Compact(rules), ", "))
}

func (e *secretError) Unwrap() error { return e.cause }

// withheld makes what the gate refused a secretError, unless more than that went wrong.
func withheld(err error) error {
	var cause *journal.SecretError
	var more *engine.Infrastructure
	if errors.As(err, &cause) && !errors.As(err, &more) {
		return &secretError{cause}
	}
	return err
}
