package workspace

import (
	"context"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/internal/host"
)

// A Store runs operations against the current root of a Workspace.
type Store interface {
	// Do calls body once with the objects and the current root. When mutate is set and
	// body succeeds, the root it returns becomes the current one, together with the
	// objects it put, or not at all. An error of body comes back as it is, and then
	// nothing of what it did remains (workflow 22).
	Do(ctx context.Context, mutate bool, body func(objects Objects, root string) (newRoot string, err error)) error
}

// Files makes a Workspace the files of a run. A path or pattern that is refused by
// its text alone never reaches the Store. Files is safe for concurrent use when its
// Store is.
type Files struct {
	store   Store
	extents extents
}

// NewFiles returns the files of a Workspace.
func NewFiles(store Store) *Files { return &Files{store: store} }

var _ host.Files = (*Files)(nil)

// do runs an operation on the current root.
func (f *Files) do(ctx context.Context, mutate bool, body func(*view) (string, error)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return f.store.Do(ctx, mutate, func(objects Objects, root string) (string, error) {
		return body(newView(objects, root, &f.extents))
	})
}

// CheckPath implements host.Files.
func (f *Files) CheckPath(operation, _, path string) error {
	_, err := checkPath(operation, path)
	return err
}

// ReadText implements host.Files.
func (f *Files) ReadText(ctx context.Context, cwd, path string) (text string, err error) {
	if err := f.CheckPath(host.OpRead, cwd, path); err != nil {
		return "", err
	}
	err = f.do(ctx, false, func(v *view) (string, error) {
		data, err := v.read(cwd, path)
		if err == nil && !utf8.Valid(data) {
			err = refuse(host.OpRead, host.PhaseTarget, host.OperationFailed)
		}
		if err != nil {
			return "", err
		}
		text = string(data)
		return v.root, nil
	})
	return text, err
}

// WriteText implements host.Files.
func (f *Files) WriteText(ctx context.Context, cwd, path, content string) error {
	if err := f.CheckPath(host.OpWrite, cwd, path); err != nil {
		return err
	}
	return f.do(ctx, true, func(v *view) (string, error) {
		if !utf8.ValidString(content) {
			return "", refuse(host.OpWrite, host.PhaseTarget, host.OperationFailed)
		}
		return v.write(cwd, path, []byte(content))
	})
}

// Delete implements host.Files.
func (f *Files) Delete(ctx context.Context, cwd, path string) error {
	if err := f.CheckPath(host.OpDelete, cwd, path); err != nil {
		return err
	}
	return f.do(ctx, true, func(v *view) (string, error) { return v.remove(cwd, path) })
}

// Glob implements host.Files.
func (f *Files) Glob(ctx context.Context, cwd string, include, exclude []string) (found []string, err error) {
	s, err := host.CompileSelection(include, exclude)
	if err != nil {
		return nil, err
	}
	err = f.do(ctx, false, func(v *view) (string, error) {
		var err error
		found, err = v.glob(cwd, s)
		return v.root, err
	})
	return found, err
}

// EnsureDir implements host.Files.
func (f *Files) EnsureDir(ctx context.Context, cwd, path string) error {
	if err := f.CheckPath(host.OpEnsure, cwd, path); err != nil {
		return err
	}
	return f.do(ctx, true, func(v *view) (string, error) { return v.ensure(cwd, path) })
}

// TempDir implements host.Files: a run has no directory outside its Workspace, so
// there is none to give (workflow 32).
func (f *Files) TempDir(ctx context.Context) (string, func() error, error) {
	if ctx.Err() != nil {
		return "", nil, context.Cause(ctx)
	}
	return "", nil, refuse(host.OpTemp, host.PhaseAcquire, host.PermissionDenied)
}
