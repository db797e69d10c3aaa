package host

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// writeChunk is how much is written between two looks at the context.
const writeChunk = 1 << 20

// WriteText implements Files. Parents are created; a link inside the directory
// is written through, a dangling one is replaced. A file that exists keeps its
// permission bits. Whatever happens, cancellation included, the temporary file
// beside the target is gone afterwards or the failure says that it may not be.
func (f *OSFiles) WriteText(ctx context.Context, cwd, path, content string) error {
	p, err := find(ctx, OpWrite, cwd, path, false)
	if err != nil {
		return err
	}
	defer p.root.Close()
	if p.info != nil {
		if err := regular(OpWrite, p.info); err != nil {
			return err
		}
	}
	if int64(len(content)) > f.maxSize {
		return failed(OpWrite, PhaseTarget, TooLarge)
	}
	if p.dangling && !p.final {
		return failed(OpWrite, PhaseParents, NotDirectory)
	}
	f.reached(pointResolved)
	if err := makeDirectories(p.root, filepath.Dir(p.name)); err != nil {
		return failed(OpWrite, PhaseParents, directoryReason(err))
	}
	f.reached(pointParents)
	return f.replace(ctx, OpWrite, p, content)
}

// replace puts a complete new file in the place of whatever p names, by way of a
// temporary file in the same directory and one rename.
func (f *OSFiles) replace(ctx context.Context, operation string, p place, content string) error {
	mode := fs.FileMode(0o666)
	if p.info != nil {
		mode = 0o600 // until it has the mode of the file it replaces
	}
	temporary := filepath.Join(filepath.Dir(p.name), ".xmd-"+rand.Text()+".tmp")
	file, err := p.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return failure(operation, PhaseTemporary, err)
	}
	phase, err := f.commit(ctx, file, temporary, p, content)
	if err == nil {
		return nil
	}
	removal := p.root.Remove(temporary)
	if phase == PhaseTemporary && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	record := failure(operation, phase, err)
	if removal != nil && !errors.Is(removal, fs.ErrNotExist) {
		record.Cleanup = reason(removal)
	}
	return record
}

// commit completes the temporary file and renames it; when that fails it says in
// which phase.
func (f *OSFiles) commit(ctx context.Context, file *os.File, temporary string, p place, content string) (phase string, err error) {
	err = fill(ctx, file, p.info, content)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return PhaseTemporary, err
	}
	f.reached(pointWritten)
	if ctx.Err() != nil {
		return PhaseTemporary, ctx.Err()
	}
	return PhaseCommit, p.root.Rename(temporary, p.name)
}

// fill writes and syncs the content of a new file that replaces an old one.
func fill(ctx context.Context, file *os.File, old fs.FileInfo, content string) error {
	if old != nil {
		if err := file.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	for content != "" {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := file.WriteString(content[:min(len(content), writeChunk)])
		if err != nil {
			return err
		}
		content = content[n:]
	}
	return file.Sync()
}

// WriteOutput makes data the whole content of the file that a command line
// named. Like WriteText it replaces a regular file in one step and keeps its
// mode; unlike it, path may lead anywhere, is relative to the process's own
// directory, needs an existing parent, and may name a device or a pipe, which is
// written to as it is. Failures are *FileError.
func WriteOutput(path string, data []byte) error {
	if path == "" {
		return failed(OpOutput, PhaseLexical, EmptyPath)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return failed(OpOutput, PhaseTarget, Directory)
	case err == nil && !info.Mode().IsRegular():
		return writeSpecial(path, data)
	case err == nil:
		// A link is written through, so that what it names is what changes.
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return failure(OpOutput, PhaseResolution, err)
		}
	case errors.Is(err, fs.ErrNotExist):
		info = nil
	default:
		return failure(OpOutput, PhaseResolution, err)
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return failure(OpOutput, PhaseParents, err)
	}
	defer root.Close()
	return NewFiles().replace(context.Background(), OpOutput, place{root: root, name: filepath.Base(path), info: info}, string(data))
}

func writeSpecial(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return failure(OpOutput, PhaseTarget, err)
	}
	_, err = file.Write(data)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		// It may have taken a part of the data: there is no going back.
		return failure(OpOutput, PhaseCommit, err)
	}
	return nil
}
