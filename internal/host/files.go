package host

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"
)

// MaxFileSize is the size in bytes of the largest file that is read or written
// as text or source: 64 MiB.
const MaxFileSize = 64 << 20

// MaxEntries is how many directory entries one Glob looks at before it gives up.
const MaxEntries = 1_000_000

// OSFiles is the Files provider of the real machine. It holds no state; every
// call opens the working directory it is given.
type OSFiles struct {
	maxSize    int64
	maxEntries int
	// reach, when set, is told how far an operation has come, so that a test can
	// change the directory under it.
	reach func(point string)
}

// NewFiles returns the provider of the machine's own files.
func NewFiles() *OSFiles { return &OSFiles{maxSize: MaxFileSize, maxEntries: MaxEntries} }

// The points an operation reaches.
const (
	pointResolved = "resolved" // the path has been resolved, nothing was touched
	pointParents  = "parents"  // the parents of the target exist
	pointWritten  = "written"  // the temporary file is complete
)

func (f *OSFiles) reached(point string) {
	if f.reach != nil {
		f.reach(point)
	}
}

// CheckPath implements Files. It needs no file system, and so no directory.
func (f *OSFiles) CheckPath(operation, _, path string) error {
	_, err := checkPath(operation, path)
	return err
}

// ReadText implements Files.
func (f *OSFiles) ReadText(ctx context.Context, cwd, path string) (string, error) {
	p, err := find(ctx, OpRead, cwd, path, false)
	if err != nil {
		return "", err
	}
	defer p.root.Close()
	switch {
	case p.leaves:
		return "", failed(OpRead, PhaseResolution, ResolvedEscape)
	case p.info == nil:
		return "", failed(OpRead, PhaseTarget, Missing)
	}
	if err := regular(OpRead, p.info); err != nil {
		return "", err
	}
	f.reached(pointResolved)
	file, err := p.root.OpenFile(p.name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return "", failure(OpRead, PhaseAccess, err)
	}
	defer file.Close()
	var text strings.Builder
	if err := readRegular(ctx, OpRead, file, &text, f.maxSize); err != nil {
		return "", err
	}
	if !utf8.ValidString(text.String()) {
		return "", failed(OpRead, PhaseTarget, NotText)
	}
	return text.String(), nil
}

// A grower is a destination of known size: a strings.Builder or a bytes.Buffer.
type grower interface {
	io.Writer
	Grow(int)
}

// readRegular copies an open file to a buffer if it is a regular file of at most
// limit bytes.
func readRegular(ctx context.Context, operation string, file *os.File, to grower, limit int64) error {
	info, err := file.Stat()
	if err != nil {
		return failure(operation, PhaseAccess, err)
	}
	if err := regular(operation, info); err != nil {
		return err
	}
	if info.Size() > limit {
		return failed(operation, PhaseTarget, TooLarge)
	}
	to.Grow(int(info.Size()))
	chunk := make([]byte, min(max(info.Size()+1, 512), 256<<10))
	for size := int64(0); ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := file.Read(chunk)
		if size += int64(n); size > limit { // it grew while it was read
			return failed(operation, PhaseTarget, TooLarge)
		}
		to.Write(chunk[:n])
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return failure(operation, PhaseAccess, err)
		}
	}
}

// regular refuses everything but a regular file.
func regular(operation string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return failed(operation, PhaseTarget, Directory)
	case !info.Mode().IsRegular():
		return failed(operation, PhaseTarget, SpecialFile)
	}
	return nil
}

// Delete implements Files. Only the parent is resolved: a link is removed as a
// link.
func (f *OSFiles) Delete(ctx context.Context, cwd, path string) error {
	p, err := find(ctx, OpDelete, cwd, path, true)
	if err != nil {
		return err
	}
	defer p.root.Close()
	if p.info == nil {
		return nil
	}
	if p.info.Mode()&fs.ModeSymlink == 0 {
		if err := regular(OpDelete, p.info); err != nil {
			return err
		}
	}
	f.reached(pointResolved)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := p.root.Remove(p.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure(OpDelete, PhaseAccess, err)
	}
	return nil
}

// EnsureDir implements Files.
func (f *OSFiles) EnsureDir(ctx context.Context, cwd, path string) error {
	p, err := find(ctx, OpEnsure, cwd, path, false)
	if err != nil {
		return err
	}
	defer p.root.Close()
	switch {
	case p.leaves:
		return failed(OpEnsure, PhaseResolution, ResolvedEscape)
	case p.dangling, p.info != nil && !p.info.IsDir():
		return failed(OpEnsure, PhaseTarget, NotDirectory)
	case p.info != nil:
		return nil
	}
	f.reached(pointResolved)
	if err := makeDirectories(p.root, p.name); err != nil {
		return failed(OpEnsure, PhaseAccess, directoryReason(err))
	}
	return nil
}

func makeDirectories(root *os.Root, name string) error {
	if name == "." {
		return nil
	}
	return root.MkdirAll(name, 0o777)
}

// directoryReason classifies a failure to make a directory, where "exists" means
// that something else has the name.
func directoryReason(err error) string {
	if errors.Is(err, fs.ErrExist) {
		return NotDirectory
	}
	return reason(err)
}

// TempDir implements Files. The directory lies in the machine's place for such
// things and can be entered by this user only.
func (f *OSFiles) TempDir(ctx context.Context) (string, func() error, error) {
	if ctx.Err() != nil {
		return "", nil, context.Cause(ctx)
	}
	made, err := os.MkdirTemp("", "xmd-")
	if err != nil {
		return "", nil, failure(OpTemp, PhaseAcquire, err)
	}
	canonical, err := filepath.EvalSymlinks(made)
	if err == nil {
		canonical, err = filepath.Abs(canonical)
	}
	if err != nil {
		os.Remove(made)
		return "", nil, failure(OpTemp, PhaseAcquire, err)
	}
	return canonical, sync.OnceValue(func() error {
		if err := os.RemoveAll(canonical); err != nil {
			return failure(OpTemp, PhaseAccess, err)
		}
		return nil
	}), nil
}
