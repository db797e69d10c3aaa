package component

import (
	"context"
	"errors"
	"fmt"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
)

// filesOf returns the provider of the file elements (components 3.3).
func filesOf(c *engine.Call) (host.Files, error) {
	if f := c.Host().Files; f != nil {
		return f, nil
	}
	return nil, &engine.Infrastructure{Err: fmt.Errorf("<%s> needs a file provider, and this run was given none", c.Name())}
}

// A brokenProvider is a provider that answered with something else than a result
// or a failure record. The answer is kept for errors.As and not shown.
type brokenProvider struct {
	component string
	cause     error
}

func (e *brokenProvider) Error() string {
	return "the file provider could not serve <" + e.component + ">, so the run stopped"
}

func (e *brokenProvider) Unwrap() error { return e.cause }

// failureRecord returns what a provider said about a failed operation. Where it
// said nothing a document may see, the error is the one that ends the run: the
// cause of a cancellation, or an infrastructure error.
func failureRecord(ctx context.Context, c *engine.Call, operation string, err error) (*host.FileError, error) {
	var f *host.FileError
	if errors.As(err, &f) && conforms(f, operation) {
		return f, nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	return nil, &engine.Infrastructure{Err: &brokenProvider{c.Name(), err}}
}

// conforms reports whether a failure record is one the operation can have. For
// writes the phase settles which facts stand beside it; any other combination
// would tell the author something untrue about the file.
func conforms(f *host.FileError, operation string) bool {
	if f.Operation != operation {
		return false
	}
	if operation != host.OpWrite {
		return f.Target == "" && f.Cleanup == ""
	}
	switch f.Phase {
	case host.PhaseLexical, host.PhaseResolution, host.PhaseTarget, host.PhaseParents:
		return f.Target == host.Unchanged && f.Reason != "" && f.Cleanup == ""
	case host.PhaseTemporary:
		return f.Target == host.Unchanged && f.Reason != ""
	case host.PhaseCommit:
		return f.Target == host.CommitUnknown && f.Reason != ""
	case host.PhaseCleanup:
		return f.Target == host.Committed && f.Reason == "" && f.Cleanup != ""
	case host.PhaseTransaction:
		return f.Target == host.RolledBack && f.Reason != "" && f.Cleanup == ""
	}
	return false
}

// pathFailure makes the error of an operation on one path (components 3.4). It
// names the path the author wrote, and not even that when it is absolute.
func pathFailure(ctx context.Context, c *engine.Call, operation, verb, path string, err error) error {
	f, err := failureRecord(ctx, c, operation, err)
	if err != nil {
		return err
	}
	var text string
	switch {
	case f.Reason == host.EmptyPath || f.Reason == host.AbsolutePath:
		text = fmt.Sprintf("cannot %s a file: %s", verb, f.Phrase())
	case f.Phase == host.PhaseCleanup:
		text = fmt.Sprintf("cannot clean up after writing %q", path)
	case f.Phase == host.PhaseResolution && f.Reason != host.ResolvedEscape:
		text = fmt.Sprintf("cannot resolve %q: %s", path, f.Phrase())
	default:
		text = fmt.Sprintf("cannot %s %q: %s", verb, path, targetPhrase(f))
	}
	if outcome := f.Outcome(); outcome != "" {
		text += "; " + outcome
	}
	return fmt.Errorf("<%s> %s", c.Name(), text)
}

// targetPhrase is the reason in words, closer to the point where the target of a
// read or a write is of the wrong kind.
func targetPhrase(f *host.FileError) string {
	if f.Phase == host.PhaseTarget {
		switch {
		case f.Operation == host.OpRead && f.Reason == host.Missing:
			return "no such file"
		case f.Operation == host.OpWrite && (f.Reason == host.Directory || f.Reason == host.SpecialFile):
			return f.Phrase() + ", so it cannot hold text"
		}
	}
	return f.Phrase()
}
