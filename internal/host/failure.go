package host

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// The operations of a failure record (components 3.3), and the two of this
// package that serve the command line.
const (
	OpCheck  = "checkFilePath"
	OpRead   = "readTextFile"
	OpWrite  = "writeTextFile"
	OpDelete = "deleteFile"
	OpGlob   = "globFiles"
	OpEnsure = "ensureDirectory"
	OpTemp   = "temporaryDirectory"
	OpSource = "readSource"
	OpOutput = "writeOutput"
)

// The phases in which an operation can fail. Parents, temporary, commit, cleanup
// and transaction belong to writing.
const (
	PhaseLexical     = "lexical"
	PhaseResolution  = "resolution"
	PhaseTarget      = "target"
	PhaseAccess      = "access"
	PhasePattern     = "pattern"
	PhaseTraversal   = "traversal"
	PhaseAcquire     = "acquire"
	PhaseParents     = "parents"
	PhaseTemporary   = "temporary"
	PhaseCommit      = "commit"
	PhaseCleanup     = "cleanup"
	PhaseTransaction = "transaction"
)

// The reasons of a failure. The list is closed; the last three are bounds of
// this implementation (see MaxFileSize and MaxEntries) and its insistence on
// UTF-8.
const (
	EmptyPath         = "empty-path"
	AbsolutePath      = "absolute-path"
	LexicalEscape     = "lexical-escape"
	ResolvedEscape    = "resolved-escape"
	Missing           = "missing"
	Directory         = "directory"
	SpecialFile       = "special-file"
	NotDirectory      = "not-directory"
	PermissionDenied  = "permission-denied"
	ReadOnly          = "read-only"
	TooManySymlinks   = "too-many-symlinks"
	PathTooLong       = "path-too-long"
	NoSpace           = "no-space"
	QuotaExhausted    = "quota-exhausted"
	CrossDevice       = "cross-device"
	Busy              = "busy"
	TooManyOpenFiles  = "too-many-open-files"
	DirectoryNotEmpty = "directory-not-empty"
	InvalidPattern    = "invalid-pattern"
	OperationFailed   = "operation-failed"
	NotText           = "not-text"
	TooLarge          = "too-large"
	TooManyEntries    = "too-many-entries"
)

// What a failed write left at its target.
const (
	Unchanged     = "unchanged"
	CommitUnknown = "commit-unknown"
	Committed     = "committed"
	RolledBack    = "rolled-back"
)

// A FileError is a failure record: operation, phase and reason (components 3.3)
// and, for writes, the state of the target and the reason why a temporary file
// could not be removed. It names no path.
type FileError struct {
	Operation string
	Phase     string
	Reason    string
	Target    string // writes only
	Cleanup   string // writes only; empty when nothing was left behind
}

// Error says what was being done, what is wrong and what became of the target.
func (e *FileError) Error() string {
	text := "cannot " + action(e.Operation)
	if e.Phase == PhaseCleanup {
		text = "cannot clean up after a write"
	} else {
		text += ": " + e.Phrase()
	}
	if outcome := e.Outcome(); outcome != "" {
		text += "; " + outcome
	}
	return text
}

// Phrase gives the reason in words, for a message that names the path itself.
// An unknown reason has a general phrase.
func (e *FileError) Phrase() string { return phrase(e.Reason) }

// Outcome tells what a failed write left behind: a sentence without capital or
// full stop, empty when there is nothing to tell.
func (e *FileError) Outcome() string {
	var facts []string
	switch {
	case e.Target == Unchanged && e.Phase == PhaseTemporary:
		facts = append(facts, "the previous file is as it was")
	case e.Target == CommitUnknown:
		facts = append(facts, "the file holds either all of its old content or all of the new, and it is not known which")
	case e.Target == Committed:
		facts = append(facts, "the file was written")
	case e.Target == RolledBack:
		facts = append(facts, "the workspace change was rolled back")
	}
	if e.Cleanup != "" {
		facts = append(facts, "cleaning up failed ("+phrase(e.Cleanup)+")", "a temporary file may remain beside the target")
	}
	return strings.Join(facts, "; ")
}

// Is makes a missing file fs.ErrNotExist and a refused one fs.ErrPermission.
func (e *FileError) Is(target error) bool {
	switch e.Reason {
	case Missing:
		return target == fs.ErrNotExist
	case PermissionDenied:
		return target == fs.ErrPermission
	}
	return false
}

func action(operation string) string {
	switch operation {
	case OpRead, OpSource:
		return "read the file"
	case OpWrite, OpOutput:
		return "write the file"
	case OpDelete:
		return "delete the file"
	case OpGlob:
		return "search the working directory"
	case OpList:
		return "list the directory"
	case OpEnsure:
		return "make the directory"
	case OpTemp:
		return "provide a temporary directory"
	}
	return "use the path"
}

func phrase(reason string) string {
	switch reason {
	case EmptyPath:
		return "the path is empty; give one relative to the working directory"
	case AbsolutePath:
		return "the path is absolute; give one relative to the working directory"
	case LexicalEscape:
		return "the path ends up outside the working directory"
	case ResolvedEscape:
		return "the path passes through a link that leaves the working directory"
	case Missing:
		return "no such file or directory"
	case Directory:
		return "it is a directory"
	case SpecialFile:
		return "it is not a regular file"
	case NotDirectory:
		return "something that has to be a directory is not one"
	case PermissionDenied:
		return "permission denied"
	case ReadOnly:
		return "the file system is read-only"
	case TooManySymlinks:
		return "too many symbolic links"
	case PathTooLong:
		return "the path is too long"
	case NoSpace:
		return "no space left on the device"
	case QuotaExhausted:
		return "the disk quota is used up"
	case CrossDevice:
		return "it would cross from one file system to another"
	case Busy:
		return "it is in use"
	case TooManyOpenFiles:
		return "too many open files"
	case DirectoryNotEmpty:
		return "the directory is not empty"
	case InvalidPattern:
		return "a pattern cannot be used"
	case NotText:
		return "it is not UTF-8 text"
	case TooLarge:
		return "it is too large to be read or written whole"
	case TooManyEntries:
		return "there are too many entries; name narrower directories, or exclude some with patterns ending in /**"
	}
	return "the filesystem operation failed"
}

// failed makes the record of a failure with a known reason.
func failed(operation, phase, reason string) *FileError {
	e := &FileError{Operation: operation, Phase: phase, Reason: reason}
	if operation == OpWrite || operation == OpOutput {
		e.Target = Unchanged
		if phase == PhaseCommit {
			e.Target = CommitUnknown
		}
	}
	return e
}

// failure makes the record of what the operating system answered.
func failure(operation, phase string, err error) *FileError {
	return failed(operation, phase, reason(err))
}

// reason classifies an error of the operating system. The more particular codes
// come before the classes of package fs that contain them.
func reason(err error) string {
	for _, known := range [...]struct {
		err    error
		reason string
	}{
		{syscall.ENOTDIR, NotDirectory},
		{syscall.EISDIR, Directory},
		{syscall.ELOOP, TooManySymlinks},
		{syscall.ENAMETOOLONG, PathTooLong},
		{syscall.EROFS, ReadOnly},
		{syscall.ENOSPC, NoSpace},
		{syscall.EDQUOT, QuotaExhausted},
		{syscall.EXDEV, CrossDevice},
		{syscall.EBUSY, Busy},
		{syscall.ETXTBSY, Busy},
		{syscall.EMFILE, TooManyOpenFiles},
		{syscall.ENFILE, TooManyOpenFiles},
		{syscall.ENOTEMPTY, DirectoryNotEmpty},
		{syscall.EEXIST, Directory}, // of a rename: nothing else keeps a name from being taken
		{syscall.ENXIO, SpecialFile},
		{fs.ErrNotExist, Missing},
		{fs.ErrPermission, PermissionDenied},
	} {
		if errors.Is(err, known.err) {
			return known.reason
		}
	}
	if leavesRoot(err) {
		return ResolvedEscape
	}
	return OperationFailed
}

// errLeaves is the finding that a path leads out of its directory. os.Root has
// an error of its own for it, which it does not export; the text is the same.
var errLeaves = errors.New("path escapes from parent")

// leavesRoot reports whether err is that finding, our own or that of os.Root.
func leavesRoot(err error) bool {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err.Error() == errLeaves.Error()
}
