package capability

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/internal/host"
)

// The operations beneath a root. A path is walked segment by segment with a handle
// of each directory, and every handle is compared with what the name stood for when
// it was looked at: a link swapped in between leads nowhere, and what a ceiling
// matched is what is opened. Writing crosses no link at all; reading follows one
// that stays inside, if the ceiling covers where it leads.

// A fileFailure is why an operation failed, in words of a fixed list, and what became
// of the target of a write.
type fileFailure struct{ reason, outcome string }

func (e *fileFailure) Error() string { return e.reason }

// Reasons that are not the system's.
const (
	reasonLink      = "the path passes through a symbolic link"
	reasonLeaves    = "the path passes through a link that leaves the root"
	reasonElsewhere = "the path passes through a link to what this host did not state"
	reasonLinks     = "too many symbolic links"
	reasonDirectory = "it is a directory"
	reasonSpecial   = "it is not a regular file"
	reasonNoDir     = "something that has to be a directory is not one"
	reasonText      = "it is not UTF-8 text"
	reasonLarge     = "it is larger than a value may be"
)

// What became of the target of a write that failed.
const (
	unchanged = "the file is unchanged"
	replaced  = "the file was replaced, and a power failure may undo that"
	unknown   = "it is not known whether the file was replaced; it is whole either way"
)

func failed(reason string) error { return &fileFailure{reason: reason} }

// because makes a failure of what the system said. A failure stays what it is.
func because(err error) error {
	var f *fileFailure
	if err == nil || errors.As(err, &f) {
		return err
	}
	return failed(host.Phrase(err))
}

// maxLinks bounds the links of one path, as Linux does.
const maxLinks = 40

// chunk is how much is read or written between two looks at the context.
const chunk = 256 << 10

// readFile reads a regular file of text of at most limit bytes.
func readFile(ctx context.Context, e *Granted, root *os.Root, clean string, limit int) (string, error) {
	resolved, err := resolve(root, clean)
	if err != nil {
		return "", because(err)
	}
	if resolved != clean && readRule.covered(e, resolved) != sound {
		return "", failed(reasonElsewhere)
	}
	parent, err := descend(root, path.Dir(resolved), false)
	if err != nil {
		return "", because(err)
	}
	defer parent.Close()
	looked, err := regular(parent, path.Base(resolved))
	if err != nil {
		return "", because(err)
	}
	// What was swapped in since may be a pipe, which must not make anybody wait.
	file, err := parent.OpenFile(path.Base(resolved), os.O_RDONLY|host.NonBlocking, 0)
	if err != nil {
		return "", because(err)
	}
	defer file.Close()
	opened, err := file.Stat()
	switch {
	case err != nil:
		return "", because(err)
	case !opened.Mode().IsRegular():
		return "", failed(reasonSpecial)
	case !os.SameFile(looked, opened):
		return "", failed(reasonLink)
	case opened.Size() > int64(limit):
		return "", failed(reasonLarge)
	}
	var text strings.Builder
	text.Grow(int(opened.Size()))
	for buffer := make([]byte, min(chunk, opened.Size()+1)); ; {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		n, err := file.Read(buffer)
		if text.Write(buffer[:n]); text.Len() > limit { // it grew meanwhile
			return "", failed(reasonLarge)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", because(err)
		}
	}
	if !utf8.ValidString(text.String()) {
		return "", failed(reasonText)
	}
	return text.String(), nil
}

// writeFile makes content the whole content of a file: a new file beside it is
// written, synced and renamed, so that whoever looks sees the old file or the new
// one. A file that exists keeps its permissions.
func writeFile(ctx context.Context, root *os.Root, clean, content string) error {
	parent, err := descend(root, path.Dir(clean), true)
	if err != nil {
		return outcome(unchanged, err)
	}
	defer parent.Close()
	base := path.Base(clean)
	old, err := regular(parent, base)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return outcome(unchanged, err)
	}
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600 // until it has the mode of the file it replaces
	}
	temporary := ".xmd-" + rand.Text() + ".tmp"
	file, err := parent.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return outcome(unchanged, err)
	}
	err = fill(ctx, file, old, content)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		// A link that took the name meanwhile is refused like one that was there.
		if _, err = regular(parent, base); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		_ = parent.Remove(temporary)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return outcome(unchanged, err)
	}
	if err := parent.Rename(temporary, base); err != nil {
		_ = parent.Remove(temporary)
		return outcome(unknown, err)
	}
	if err := syncDirectory(parent); err != nil {
		return outcome(replaced, err)
	}
	return nil
}

// outcome adds to a failure what became of the target.
func outcome(what string, err error) error {
	return &fileFailure{reason: because(err).Error(), outcome: what}
}

// fill writes and syncs a new file that replaces an old one.
func fill(ctx context.Context, file *os.File, old fs.FileInfo, content string) error {
	for content != "" {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := file.WriteString(content[:min(len(content), chunk)])
		if err != nil {
			return err
		}
		content = content[n:]
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if old != nil {
		if err := file.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	return file.Sync()
}

// syncDirectory makes a rename durable. Windows has no such thing for a directory.
func syncDirectory(at *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	directory, err := at.Open(".")
	if err != nil {
		return err
	}
	defer directory.Close()
	return directory.Sync()
}

// deleteFile removes a regular file. What is not there is removed already.
func deleteFile(ctx context.Context, root *os.Root, clean string) error {
	parent, err := descend(root, path.Dir(clean), false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return outcome(unchanged, err)
	}
	defer parent.Close()
	_, err = regular(parent, path.Base(clean))
	if err == nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err = parent.Remove(path.Base(clean))
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return outcome(unchanged, err)
}

// ensureDir makes a directory and those above it exist.
func ensureDir(ctx context.Context, root *os.Root, clean string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	directory, err := descend(root, path.Clean(clean), true)
	if err != nil {
		return because(err)
	}
	return directory.Close()
}

// regular looks at a name in a directory and refuses what is not a regular file, a
// link to one included.
func regular(at *os.Root, base string) (fs.FileInfo, error) {
	info, err := at.Lstat(base)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, failed(reasonLink)
	case info.IsDir():
		return nil, failed(reasonDirectory)
	case !info.Mode().IsRegular():
		return nil, failed(reasonSpecial)
	}
	return info, nil
}

// descend opens the directory a clean path names ("." is the root) without crossing
// a link, and makes what is missing when create is set. What it returns is to be
// closed.
func descend(root *os.Root, clean string, create bool) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil || clean == "." {
		return at, err
	}
	for segment := range strings.SplitSeq(clean, "/") {
		next, err := enter(at, segment)
		if create && errors.Is(err, fs.ErrNotExist) {
			if err = at.Mkdir(segment, 0o777); err == nil || errors.Is(err, fs.ErrExist) {
				next, err = enter(at, segment)
			}
		}
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// enter opens a directory inside another. A name that is a link, or became one while
// it was opened, is refused: what was opened has to be what the name stands for.
func enter(at *os.Root, name string) (*os.Root, error) {
	looked, err := at.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case looked.Mode()&fs.ModeSymlink != 0:
		return nil, failed(reasonLink)
	case !looked.IsDir():
		return nil, failed(reasonNoDir)
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(looked, opened) {
		err = failed(reasonLink)
	}
	if err != nil {
		next.Close()
		return nil, err
	}
	return next, nil
}

// resolve follows the links of a clean path as text, beneath the root, to a clean
// path that had none when it was looked at.
func resolve(root *os.Root, clean string) (string, error) {
	var done []string
	links := 0
	for rest := clean; rest != ""; {
		var segment string
		segment, rest, _ = strings.Cut(rest, "/")
		switch segment {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return "", failed(reasonLeaves)
			}
			done = done[:len(done)-1]
			continue
		}
		here := strings.Join(append(done, segment), "/")
		info, err := root.Lstat(here)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = append(done, segment)
			continue
		}
		if links++; links > maxLinks {
			return "", failed(reasonLinks)
		}
		target, err := root.Readlink(here)
		if err != nil {
			return "", err
		}
		if target = filepath.ToSlash(target); strings.HasPrefix(target, "/") || filepath.IsAbs(target) {
			return "", failed(reasonLeaves)
		}
		rest = target + "/" + rest
	}
	if len(done) == 0 {
		return "", failed(reasonDirectory)
	}
	return strings.Join(done, "/"), nil
}
