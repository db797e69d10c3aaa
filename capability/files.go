package capability

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/internal/value"
)

// pathProps declares the one prop of the file entries.
const pathProps = `{"type":"object","additionalProperties":false,"required":["path"],"properties":{
	"path":{"type":"string","description":"relative to the directory in force, with slashes"}
}}`

// FileRead is the entry that reads one file of UTF-8 text beneath root:
// <File path />. root stays the caller's to close, after the profile was revoked.
func FileRead(root *os.Root) Entry {
	return Entry{
		Name:     "File",
		Identity: Identity{core, "File.read", 1},
		Forms:    SelfClosing,
		Props:    pathProps,
		Returns:  `{"type":"string"}`,
		Effect:   Read,
		Describe: "Reads one text file; renders its text, or binds it.",
		Op: Op{Do: func(ctx context.Context, c Call) (any, error) {
			clean, written, err := readRule.place(c, root)
			if err != nil {
				return nil, err
			}
			text, err := readFile(ctx, c.granted, root, clean, c.limit())
			if err != nil {
				return nil, failure("read", written, err)
			}
			return text, nil
		}},
		rule: readRule,
	}
}

// FileWrite is the entry that makes what its content rendered the whole content of
// one file beneath root, byte for byte: <File path>…</File>. Directories on the way
// are made.
func FileWrite(root *os.Root) Entry {
	return Entry{
		Name:     "File",
		Identity: Identity{core, "File.write", 1},
		Forms:    Paired,
		Props:    pathProps,
		Effect:   Write,
		Describe: "Writes exactly what its content renders to one text file, and renders nothing.",
		Op: Op{Do: func(ctx context.Context, c Call) (any, error) {
			clean, written, err := writeRule.place(c, root)
			if err != nil {
				return nil, err
			}
			return nil, failure("write", written, writeFile(ctx, root, clean, c.Content))
		}},
		rule: writeRule,
	}
}

// FileDelete is the entry that makes a path beneath root stop naming a file:
// <File.Delete path />. A path that names nothing is a success.
func FileDelete(root *os.Root) Entry {
	return Entry{
		Name:     "File.Delete",
		Identity: Identity{core, "File.delete", 1},
		Forms:    SelfClosing,
		Props:    pathProps,
		Effect:   Write,
		Describe: "Removes one file; a path that names nothing is a success, a directory is refused.",
		Op: Op{Do: func(ctx context.Context, c Call) (any, error) {
			clean, written, err := writeRule.place(c, root)
			if err != nil {
				return nil, err
			}
			return nil, failure("delete", written, deleteFile(ctx, root, clean))
		}},
		rule: writeRule,
	}
}

// EnsureDir is the entry that makes a directory beneath root before its content
// expands, and is the working directory of it: <Dir path>…</Dir>. It binds nothing
// and renders its content.
func EnsureDir(root *os.Root) Entry {
	return Entry{
		Name:     "Dir",
		Identity: Identity{core, "Dir.ensure", 1},
		Forms:    Paired,
		Props:    pathProps,
		Effect:   Write,
		Describe: "Makes a directory exist; paths in its content are relative to it. Renders its content.",
		Op: Op{Enter: func(ctx context.Context, c Call) error {
			clean, written, err := ensureRule.place(c, root)
			if err != nil {
				return err
			}
			return failure("create", written, ensureDir(ctx, root, clean))
		}},
		rule: ensureRule,
	}
}

// A pathRule judges the prop path of a file entry.
type pathRule struct {
	changes bool // control files are refused; else secret ones are
	dirs    bool // the root itself will do
}

var (
	readRule   = pathRule{}
	writeRule  = pathRule{changes: true}
	ensureRule = pathRule{changes: true, dirs: true}
)

func (r pathRule) check(e *Granted, u Use) *Violation {
	written, known := u.Props.String("path")
	if !known {
		return nil
	}
	if u.DirKnown {
		_, v := r.admit(e, u.Dir, written)
		return v
	}
	if f := pathFault(written); f != sound {
		return violation("path", written, f)
	}
	if r.changes && slices.ContainsFunc(split(fold(path.Clean(written))), isStore) {
		return violation("path", written, faultControl) // wherever it lies
	}
	return nil
}

func (r pathRule) record(e *Granted, c Call) Record {
	written, _ := c.Props.String("path")
	clean, _ := cleanPath(c.Dir, written)
	record := Record{Type: "capability", Input: value.Of("path", path.Clean(clean))}
	if r == writeRule && c.Form == Paired {
		sum := sha256.Sum256([]byte(c.Content))
		record.Extra = []RecordMember{
			{Name: "bytes", Value: float64(len(c.Content))},
			{Name: "digest", Value: "sha256:" + hex.EncodeToString(sum[:])},
		}
	}
	return record
}

// admit judges a path written in a directory and returns it clean. Everything that
// is decided about a path is decided here: in preflight, before anything is done
// (F1), when an element is entered, and again by the operation itself.
func (r pathRule) admit(e *Granted, dir, written string) (string, *Violation) {
	clean, v := cleanPath(dir, written)
	if v != nil {
		return "", v
	}
	if clean == "" && !r.dirs {
		return "", violation("path", written, faultRoot)
	}
	if f := r.covered(e, clean); f != sound {
		return "", violation("path", written, f)
	}
	return clean, nil
}

// covered judges a clean path by the ceiling of an entry, as it was captured (F7).
func (r pathRule) covered(e *Granted, clean string) fault {
	exact := false
	if e.patterns != nil {
		var ok bool
		if ok, exact = e.patterns.covers(clean); !ok {
			return faultCeiling
		}
	}
	switch {
	case r.changes && e.control.decides(clean):
		return faultControl
	case !r.changes && !exact && isSecret(clean):
		return faultSecret
	}
	return sound
}

// place is the clean path an operation may use, and the path as it was written.
func (r pathRule) place(c Call, root *os.Root) (clean, written string, err error) {
	if c.granted == nil {
		return "", "", errNotGranted
	}
	if root == nil {
		return "", "", errNoRoot
	}
	written, _ = c.Props.String("path")
	clean, v := r.admit(c.granted, c.Dir, written)
	if v != nil {
		return "", "", v
	}
	return clean, written, nil
}

var (
	errNotGranted = errors.New("this operation works only as an entry of a captured profile")
	errNoRoot     = errors.New("this host opened no root for the operation")
)

// limit is the most bytes the value of a call may have.
func (c Call) limit() int {
	if c.Limit > 0 || c.granted == nil {
		return c.Limit
	}
	return c.granted.limits.Value
}

// A pathError is an operation that failed on a path: the path as the fragment wrote
// it, a reason from a fixed list, and for a write what became of the file. Nothing
// that was resolved is in it, and it wraps nothing.
type pathError struct{ verb, written, reason string }

func (e *pathError) Error() string {
	return "cannot " + e.verb + " " + quote(e.written) + ": " + e.reason
}

// failure makes the error of an operation on a path. The end of a context, and what
// the ceiling does not cover, stay what they are.
func failure(verb, written string, err error) error {
	var f *fileFailure
	if !errors.As(err, &f) {
		return err
	}
	return &pathError{verb, written, strings.Join(slices.DeleteFunc([]string{f.reason, f.outcome}, func(s string) bool { return s == "" }), "; ")}
}
