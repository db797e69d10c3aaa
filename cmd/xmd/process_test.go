//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long a test waits for something that happens at once on an idle
// machine.
const patience = 30 * time.Second

// A process is the command, running by itself.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer // complete once it has ended
	ended          chan struct{}
}

// prepare makes a process that is to run in dir, with an environment of its own:
// PATH, a home and a place for temporary files below dir, and env.
func prepare(t *testing.T, dir string, env []string, args ...string) *process {
	t.Helper()
	temporary := filepath.Join(dir, "tmp")
	require.NoError(t, os.MkdirAll(temporary, 0o777))
	p := &process{t: t, cmd: exec.Command("xmd", args...), ended: make(chan struct{})}
	p.cmd.Dir = dir
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + temporary}, env...)
	for _, name := range []string{"GOCOVERDIR", "GORACE"} { // of the test's own build
		if v, ok := os.LookupEnv(name); ok {
			p.cmd.Env = append(p.cmd.Env, name+"="+v)
		}
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	return p
}

// start starts it; the test ends it if nothing else does.
func (p *process) start() *process {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // the state tells
		close(p.ended)
	}()
	p.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(s))
}

// wait returns the exit status, -1 when a signal ended the process.
func (p *process) wait() int {
	p.t.Helper()
	await(p.t, "the command to end", p.ended)
	return p.cmd.ProcessState.ExitCode()
}

// killedBy reports which signal ended the process; 0 when none did.
func (p *process) killedBy() syscall.Signal {
	if w, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return w.Signal()
	}
	return 0
}

func await[T any](t *testing.T, what string, event <-chan T) (T, bool) {
	t.Helper()
	select {
	case v, ok := <-event:
		return v, ok
	case <-time.After(patience):
		require.FailNow(t, "waited in vain for "+what)
		panic("unreachable")
	}
}

// finish runs the command to its end and gives its exit status and output.
func finish(t *testing.T, dir string, env []string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	p := prepare(t, dir, env, args...).start()
	status = p.wait()
	return status, p.stdout.String(), p.stderr.String()
}

// A lifeline is a named pipe that commands of a document write lines into and
// keep open: it ends when the last of them is gone.
type lifeline struct {
	t     *testing.T
	path  string
	lines chan string
}

func newLifeline(t *testing.T, dir string) *lifeline {
	t.Helper()
	l := &lifeline{t: t, path: filepath.Join(dir, "lifeline"), lines: make(chan string, 100)}
	require.NoError(t, syscall.Mkfifo(l.path, 0o600))
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(l.lines)
		f, err := os.Open(l.path) // returns when a command opens its end
		if err != nil {
			return
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			l.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		// Nobody came: this lets the other end go.
		if f, err := os.OpenFile(l.path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			f.Close()
		}
		await(t, "the lifeline to end", done)
	})
	return l
}

// next is the next line that was written.
func (l *lifeline) next() string {
	l.t.Helper()
	line, ok := await(l.t, "a line of a command", l.lines)
	require.True(l.t, ok, "every command that could have written is gone")
	return line
}

// expect waits for one line.
func (l *lifeline) expect(want string) {
	l.t.Helper()
	require.Equal(l.t, want, l.next())
}

// requireGone checks that whoever held the pipe open ends.
func (l *lifeline) requireGone() {
	l.t.Helper()
	line, open := await(l.t, "the commands to be gone", l.lines)
	require.False(l.t, open, "a command still wrote %q", line)
}

// write makes a file of a document or component.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	require.NoError(t, err)
	return string(text)
}

// until polls for a condition nobody announces.
func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			require.FailNow(t, "waited in vain for "+what)
		}
	}
}

// needsBash skips a test whose document runs bash commands where there is no bash.
func needsBash(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the document runs bash commands: ", err)
	}
}
