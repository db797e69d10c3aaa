// Package host is the only room that touches the machine. Files, the network,
// processes, the environment and the clock are reached here and nowhere else;
// every other package is handed a [Host] and sees interfaces.
//
// What enters: paths as a document wrote them, together with the absolute
// working directory they are relative to; requests and command lines that
// somebody else has already decided to allow. What leaves: data (text, lists of
// names, responses, exit statuses), or a failure whose reason is a word from a
// closed list. A [FileError] carries no path, no link destination and no
// platform message, so whoever prints one cannot leak any.
//
// The invariant: an operation of [Files] never reads or changes anything that
// lies outside the working directory it was given, whatever links the path
// crosses. The path is judged as text first, resolved second, and the operation
// itself then goes through a descriptor of the directory ([os.Root]), so a link
// swapped in between the check and the use is refused as well. Hard links and
// mount points are not links in this sense, and a process that a document
// starts is bound by none of this: containment is not a sandbox.
//
// What the room refuses to know: documents, components, journals, permissions.
// It does not decide whether an effect may happen, only how it happens.
//
// The providers of the real machine are [NewFiles], [NewSources], [NewHTTP] and
// [NewProcess]. All of them are safe for concurrent use. A call whose context ends
// returns the context's cause, which is neither a success nor a failure record.
package host

import (
	"context"
	"io"
	"time"
)

// A Host is what a run may reach. A nil member is not granted.
type Host struct {
	Files   Files
	Sources Sources
	HTTP    HTTP
	Process Process
	Env     map[string]string // the snapshot commands start with
	Dir     string            // the absolute working directory of the run
}

// Sources reads documents and components. It is not contained: the person who
// started the program named these files.
type Sources interface {
	// ReadSource reads a whole file by a path relative to the process's working
	// directory or absolute. A missing file is fs.ErrNotExist; a directory is
	// *FileError with the reason "directory", and every other failure is a
	// *FileError too. At most MaxFileSize bytes are read.
	ReadSource(path string) ([]byte, error)
	// IsFile reports whether path is a regular file (links followed). A path that
	// cannot name anything is simply not a file.
	IsFile(path string) (bool, error)
}

// Files is the provider behind the file elements (components 3.3). cwd is
// absolute; path is relative to it, as the document wrote it. Failures are
// *FileError; any other error is an infrastructure failure or, when the context
// ended, its cause.
type Files interface {
	// CheckPath judges a path by its text alone, for the operation named (one of
	// the Op constants). It gives nothing that a later call could use: every
	// other method repeats the check (components 3.1).
	CheckPath(operation, cwd, path string) error
	// ReadText reads one regular file of UTF-8 text, at most MaxFileSize bytes.
	ReadText(ctx context.Context, cwd, path string) (string, error)
	// WriteText makes content the whole content of the file. An observer sees the
	// old file or the new one, never a mixture (components 3.2).
	WriteText(ctx context.Context, cwd, path, content string) error
	// Delete makes path stop naming a file; a path that names nothing is a
	// success (components 4).
	Delete(ctx context.Context, cwd, path string) error
	// Glob lists the regular files below cwd that one of include matches and none
	// of exclude does: relative, with slashes, sorted by code point (components 6).
	Glob(ctx context.Context, cwd string, include, exclude []string) ([]string, error)
	// EnsureDir makes a directory and its parents exist (components 5).
	EnsureDir(ctx context.Context, cwd, path string) error
	// TempDir makes a fresh directory and returns its canonical path and the
	// function that removes it with everything in it. Calling remove again
	// repeats the first answer (components 7).
	TempDir(ctx context.Context) (path string, remove func() error, err error)
}

// HTTP performs one request. Redirects are never followed: a 3xx is the response.
type HTTP interface {
	Do(ctx context.Context, r Request) (Response, error)
}

// A Header is one header field.
type Header struct{ Name, Value string }

// A Request is one HTTP read (components 8).
type Request struct {
	Method  string        // GET or HEAD
	URL     string        // absolute, http or https
	Headers []Header      // lower-case names, sorted
	Timeout time.Duration // for the whole exchange; 0: none
}

// A Response is a received answer, whatever its status.
type Response struct {
	Status  int
	Headers []Header // lower-case names, sorted, repeated ones joined with ", "
	Body    string   // UTF-8; empty for HEAD
}

// A Command is one program to run.
type Command struct {
	Args   []string  // the program and its arguments
	Dir    string    // where it starts; empty: the process's own directory
	Env    []string  // its whole environment, KEY=value
	Stdout io.Writer // nil discards
	Stderr io.Writer
}

// Process runs programs in a process group of their own. When ctx ends the whole
// group is asked to stop, then killed, and waited for.
type Process interface {
	// Run returns the exit status (128+n for a signal n); err is set when the
	// command never settled: not started, or ctx ended.
	Run(ctx context.Context, c Command) (status int, err error)
	// Start starts a background command, which ends at the latest with ctx.
	Start(ctx context.Context, c Command) (Running, error)
	// Port returns a loopback port that nobody listens on.
	Port() (int, error)
}

// Running is a started command. Its methods may be called from any goroutine
// and any number of times.
type Running interface {
	// Wait returns when the command has ended and nothing of it is left. The
	// results are those of Run; after Stop the error is ErrStopped.
	Wait() (status int, err error)
	// Stop ends the group and waits; stopping what has ended is a success.
	Stop() error
	// PID is the id of the process, which is also the id of its group.
	PID() int
}
