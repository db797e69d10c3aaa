package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks bounds the symbolic links that one path may cross, as Linux does.
const maxLinks = 40

// checkPath judges a path by its text and returns its shortest form, with
// slashes. Spellings that are absolute on Windows (a drive, a share, a device)
// are absolute everywhere, so a document is refused alike on every system; a
// path that climbs out is refused even when the directory's own name would lead
// back in.
func checkPath(operation, authored string) (string, error) {
	switch {
	case authored == "":
		return "", failed(operation, PhaseLexical, EmptyPath)
	case authored[0] == '/' || authored[0] == '\\' || hasDrive(authored):
		return "", failed(operation, PhaseLexical, AbsolutePath)
	}
	clean := path.Clean(filepath.ToSlash(authored))
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", failed(operation, PhaseLexical, LexicalEscape)
	}
	return clean, nil
}

// hasDrive reports whether s begins with a drive letter and a colon.
func hasDrive(s string) bool {
	return len(s) >= 2 && s[1] == ':' && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
}

// openDirectory opens a working directory and returns it with its canonical
// path.
func openDirectory(ctx context.Context, operation, cwd string) (*os.Root, string, error) {
	if ctx.Err() != nil {
		return nil, "", context.Cause(ctx)
	}
	if !filepath.IsAbs(cwd) {
		return nil, "", errors.New("the working directory of a file operation must be an absolute path")
	}
	canonical, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return nil, "", failure(operation, PhaseResolution, err)
	}
	// Opening what is not a directory could block, so look first.
	switch info, err := os.Lstat(canonical); {
	case err != nil:
		return nil, "", failure(operation, PhaseResolution, err)
	case !info.IsDir():
		return nil, "", failed(operation, PhaseResolution, NotDirectory)
	}
	root, err := os.OpenRoot(canonical)
	if err != nil {
		return nil, "", failure(operation, PhaseResolution, err)
	}
	return root, canonical, nil
}

// A place is where a path leads inside a working directory.
type place struct {
	root *os.Root    // the working directory; to be closed
	name string      // the path below root, crossing no link
	info fs.FileInfo // what is there; nil: nothing
	// dangling: a link that leads nowhere was met. It is the last segment of name
	// when final is set; leaves says that it points out of the directory.
	dangling, final, leaves bool
}

// find checks, opens and resolves. Links whose destination lies inside the
// working directory are followed, absolute ones too; a link leading out is
// refused. With keepLast the last segment is taken as written, link or not.
func find(ctx context.Context, operation, cwd, authored string, keepLast bool) (place, error) {
	clean, err := checkPath(operation, authored)
	if err != nil {
		return place{}, err
	}
	root, canonical, err := openDirectory(ctx, operation, cwd)
	if err != nil {
		return place{}, err
	}
	p, err := resolve(canonical, filepath.FromSlash(clean), keepLast)
	if err != nil {
		root.Close()
		return place{}, failure(operation, PhaseResolution, err)
	}
	p.root = root
	return p, nil
}

// resolve walks a clean relative path from a canonical directory, segment by
// segment. It stops at the first segment that does not exist.
func resolve(directory, clean string, keepLast bool) (place, error) {
	if clean == "." {
		info, err := os.Lstat(directory)
		return place{name: ".", info: info}, err
	}
	var info fs.FileInfo
	var err error
	at, links, rest := directory, 0, clean
	for rest != "" {
		segment, after, _ := strings.Cut(rest, string(filepath.Separator))
		here := filepath.Join(at, segment)
		final := after == ""
		if final && keepLast {
			if info, err = os.Lstat(here); errors.Is(err, fs.ErrNotExist) {
				info, err = nil, nil
			}
			at = here
			break
		}
		at, info, err = follow(at, segment, &links)
		leaves := !within(directory, at)
		if leaves && (err != nil || info != nil || !final) {
			return place{}, errLeaves // before any other finding: it would tell about the outside
		}
		if err != nil {
			return place{}, err
		}
		if info == nil {
			name := filepath.Join(here, after)
			return place{name: below(directory, name), dangling: at != here, final: final, leaves: leaves}, nil
		}
		rest = after
	}
	return place{name: below(directory, at), info: info}, err
}

// follow goes from a canonical directory along a path that may consist of links,
// and returns where it ends and what is there; info is nil when nothing is.
func follow(at, rest string, links *int) (string, fs.FileInfo, error) {
	var info fs.FileInfo
	for rest != "" {
		var segment string
		segment, rest, _ = strings.Cut(rest, string(filepath.Separator))
		switch segment {
		case "", ".":
			continue
		case "..":
			at, info = filepath.Dir(at), nil
			continue
		}
		at = filepath.Join(at, segment)
		var err error
		if info, err = os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
			return filepath.Join(at, rest), nil, nil
		} else if err != nil {
			return at, nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if *links++; *links > maxLinks {
			return at, nil, syscall.ELOOP
		}
		target, err := os.Readlink(at)
		if err != nil {
			return at, nil, err
		}
		target = filepath.FromSlash(target)
		at = filepath.Dir(at)
		if volume := filepath.VolumeName(target); filepath.IsAbs(target) {
			at = volume + string(filepath.Separator)
			target = target[len(volume):]
		}
		rest = target + string(filepath.Separator) + rest
	}
	if info == nil { // the last step was ".."
		var err error
		if info, err = os.Lstat(at); err != nil {
			return at, nil, err
		}
	}
	return at, info, nil
}

// within reports whether a clean absolute path is directory or lies below it.
func within(directory, name string) bool {
	below, inside := strings.CutPrefix(name, directory)
	return inside && (below == "" || below[0] == filepath.Separator || directory[len(directory)-1] == filepath.Separator)
}

// below returns a path inside directory relative to it.
func below(directory, name string) string {
	rest := strings.TrimPrefix(name[len(directory):], string(filepath.Separator))
	if rest == "" {
		return "."
	}
	return rest
}
