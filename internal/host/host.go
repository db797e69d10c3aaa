// Package host is everything the machine offers, as interfaces a run is given.
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
	Clock   Clock
	Dir     string // the absolute working directory of the run
}

// Sources reads documents and components.
type Sources interface {
	// ReadSource reads a whole file by a path relative to the process's working
	// directory or absolute. A missing file is fs.ErrNotExist; a directory is
	// *FileError with the reason "directory".
	ReadSource(path string) ([]byte, error)
	// IsFile reports whether path is a regular file (links followed).
	IsFile(path string) (bool, error)
}

// Files is the provider of components.md 3.3. cwd is absolute. Failures are
// *FileError; any other error is an infrastructure failure.
type Files interface {
	CheckPath(operation, cwd, path string) error
	ReadText(ctx context.Context, cwd, path string) (string, error)
	WriteText(ctx context.Context, cwd, path, content string) error
	Delete(ctx context.Context, cwd, path string) error
	Glob(ctx context.Context, cwd string, include, exclude []string) ([]string, error)
	EnsureDir(ctx context.Context, cwd, path string) error
	TempDir(ctx context.Context) (path string, remove func() error, err error)
}

// A FileError is a failure record: operation, phase and reason of components.md
// 3.3, and for writes the state of the target.
type FileError struct {
	Operation string
	Phase     string
	Reason    string
	Target    string
	Cleanup   string
}

func (e *FileError) Error() string { panic("stub") }

// HTTP performs one request. Redirects are never followed: a 3xx is the response.
type HTTP interface {
	Do(ctx context.Context, r Request) (Response, error)
}

type Header struct{ Name, Value string }

type Request struct {
	Method  string
	URL     string
	Headers []Header      // lower-case names, sorted
	Timeout time.Duration // 0: none
}

type Response struct {
	Status  int
	Headers []Header // lower-case names, sorted, repeated ones joined with ", "
	Body    string
}

// A Command is one program to run.
type Command struct {
	Args   []string
	Dir    string
	Env    []string
	Stdout io.Writer // nil discards
	Stderr io.Writer
}

// Process runs programs in a process group of their own. When ctx ends the whole
// group is asked to stop, then killed, and waited for.
type Process interface {
	// Run returns the exit status (128+n for a signal n); err is set when the
	// command never settled: not started, or ctx ended.
	Run(ctx context.Context, c Command) (status int, err error)
	// Start starts a background command.
	Start(ctx context.Context, c Command) (Running, error)
}

type Running interface {
	Wait() (status int, err error)
	Stop() error // ends the group and waits
	PID() int
}

type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}
