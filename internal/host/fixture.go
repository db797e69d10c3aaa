package host

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// releasePoll is how often a folder is looked at for a file somebody waits for.
const releasePoll = 10 * time.Millisecond

// A Folder keeps small texts in the files of one directory and waits for files there.
// It is safe for concurrent use, by several processes too.
type Folder struct{ root *os.Root }

// OpenFolder opens a directory, which is made, for this user alone, when it does not
// exist. Failures are *FileError.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, failure(OpRoot, PhaseResolution, err)
	}
	root, err := OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Folder{root}, nil
}

// Load reads a file; one that does not exist is fs.ErrNotExist.
func (f *Folder) Load(name string) ([]byte, error) { return f.root.ReadFile(name) }

// Save makes text the content of a file: an observer sees the old one or the new one.
func (f *Folder) Save(name string, text []byte) error {
	temporary := ".xmd-" + rand.Text() + ".tmp"
	err := f.root.WriteFile(temporary, text, 0o600)
	if err == nil {
		err = f.root.Rename(temporary, name)
	}
	if err != nil {
		_ = f.root.Remove(temporary) // the failure is told already
	}
	return err
}

// Await returns when the directory has the file, or with the cause of the end of ctx.
func (f *Folder) Await(ctx context.Context, name string) error {
	tick := time.NewTicker(releasePoll)
	defer tick.Stop()
	for {
		if _, err := f.root.Lstat(name); err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close closes the directory.
func (f *Folder) Close() error { return f.root.Close() }

// AppendTo opens a file to add to, and makes it when it does not exist. Failures are
// *FileError.
func AppendTo(path string) (io.WriteCloser, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, failure(OpOutput, PhaseTarget, err)
	}
	return file, nil
}

// A Standing is what can be said of this process from inside.
type Standing struct {
	Entries    []string // of its directory, sorted
	Group      int      // id of its process group; 0 where there are none
	Leader     bool     // it leads the group
	NoNewPrivs bool     // the kernel grants it nothing it does not have
}

// Stand looks at this process. dir is its working directory; what cannot be read of it
// has no entries.
func Stand(dir string) Standing {
	entries, _ := os.ReadDir(dir)
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	group := processGroup()
	return Standing{names, group, group != 0 && group == os.Getpid(), noNewPrivs()}
}

// Unguarded reaches the machine with all the rights of this process: it is for
// programs that try what a process may do, and for nothing else. Relative paths are
// those of Dir.
type Unguarded struct {
	Dir string
	Env []string // of programs, KEY=value
}

func (u Unguarded) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(u.Dir, p)
}

// Write makes content the content of a file.
func (u Unguarded) Write(path, content string) error {
	return os.WriteFile(u.path(path), []byte(content), 0o600)
}

// Read reads a file, or lists a directory, to the end.
func (u Unguarded) Read(path string) error {
	file, err := os.Open(u.path(path))
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		_, err = file.ReadDir(-1)
		return err
	}
	_, err = io.Copy(io.Discard, file)
	return err
}

// Spawn runs a program in the process group of this process, with no input and no
// output, until it ends or ctx does. It fails when the program does not end with
// status 0.
func (u Unguarded) Spawn(ctx context.Context, argv []string) error {
	if len(argv) == 0 {
		return &StartError{"", errors.New("the command is empty")}
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = u.Dir, u.Env
	return cmd.Run()
}
