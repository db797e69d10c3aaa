package workflow

import (
	"context"
	"errors"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

const effectFile = "workspace_file"

type callKey struct{}

// recording gives the files of a run the element they are used by, so that what they do
// becomes an effect of it. In an ordinary run files are no effects.
func recording(c engine.Component) engine.Component {
	switch c.Name {
	case "File", "File.Delete", "Glob", "Dir":
		run := c.Run
		c.Run = func(ctx context.Context, call *engine.Call) (any, error) {
			return run(context.WithValue(ctx, callKey{}, call), call)
		}
	}
	return c
}

// recorded are the files of a run: every operation is an effect, and what it came to is
// read from the history where it has it (workflow 32).
type recorded struct{ host.Files }

// do performs one operation. Its record says what came of it, and a refusal is one.
func (f recorded) do(ctx context.Context, op, verb, path string, members []journal.Member, live func(context.Context) (*value.Object, error)) (*value.Object, error) {
	c, ok := ctx.Value(callKey{}).(*engine.Call)
	if !ok {
		return nil, errors.New("the files of a run are used by its elements only")
	}
	ctx, withdraw := context.WithCancelCause(ctx)
	defer withdraw(nil)
	v, err := c.Effect(ctx, engine.Effect{Type: effectFile, Name: verb + ":" + c.Expansion() + ":" + path, Members: members},
		func(ctx context.Context) (any, error) {
			o, err := live(ctx)
			var refusal *host.FileError
			if errors.As(err, &refusal) {
				return value.Of("kind", "refused", "phase", refusal.Phase, "reason", refusal.Reason), nil
			}
			if err != nil { // a fault of the store is no outcome: nothing is recorded, and the run stops
				withdraw(&journal.PersistenceError{Cause: err})
				return nil, err
			}
			return o, nil
		})
	if err != nil {
		return nil, err
	}
	o, _ := v.(*value.Object)
	kind, _ := o.String("kind")
	switch kind {
	case "refused":
		phase, _ := o.String("phase")
		reason, _ := o.String("reason")
		e := &host.FileError{Operation: op, Phase: phase, Reason: reason}
		if op == host.OpWrite {
			e.Target = host.Unchanged
		}
		return nil, e
	case "content", "written", "deleted", "paths":
		return o, nil
	}
	return nil, &journal.StaleInputError{Effect: journal.Identity{Type: effectFile, Name: verb}, Cause: errors.New("its record is no outcome of a file operation")}
}

// ReadText implements host.Files.
func (f recorded) ReadText(ctx context.Context, cwd, path string) (string, error) {
	o, err := f.do(ctx, host.OpRead, "read", path, nil, func(ctx context.Context) (*value.Object, error) {
		text, err := f.Files.ReadText(ctx, cwd, path)
		return value.Of("kind", "content", "content", text), err
	})
	text, _ := o.String("content")
	return text, err
}

// WriteText implements host.Files.
func (f recorded) WriteText(ctx context.Context, cwd, path, content string) error {
	_, err := f.do(ctx, host.OpWrite, "write", path, nil, func(ctx context.Context) (*value.Object, error) {
		return value.Of("kind", "written"), f.Files.WriteText(ctx, cwd, path, content)
	})
	return err
}

// Delete implements host.Files.
func (f recorded) Delete(ctx context.Context, cwd, path string) error {
	_, err := f.do(ctx, host.OpDelete, "delete", path, nil, func(ctx context.Context) (*value.Object, error) {
		return value.Of("kind", "deleted"), f.Files.Delete(ctx, cwd, path)
	})
	return err
}

// Glob implements host.Files.
func (f recorded) Glob(ctx context.Context, cwd string, include, exclude []string) ([]string, error) {
	members := []journal.Member{{Name: "include", Value: texts(include)}, {Name: "exclude", Value: texts(exclude)}}
	o, err := f.do(ctx, host.OpGlob, "glob", cwd, members, func(ctx context.Context) (*value.Object, error) {
		found, err := f.Files.Glob(ctx, cwd, include, exclude)
		return value.Of("kind", "paths", "paths", texts(found)), err
	})
	v, _ := o.Get("paths")
	list, _ := v.([]any)
	found := make([]string, 0, len(list))
	for _, p := range list {
		if text, ok := p.(string); ok {
			found = append(found, text)
		}
	}
	return found, err
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
