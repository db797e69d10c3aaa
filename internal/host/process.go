package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"time"
)

// StopGrace is how long processes get: to stop after they were asked to, and to
// close their output after the command itself has ended.
const StopGrace = 2 * time.Second

// ErrStopped is what Wait reports of a command that Stop ended.
var ErrStopped = errors.New("the command was stopped")

// A StartError says that a command did not start.
type StartError struct {
	Program string // as the command named it
	Err     error  // fs.ErrNotExist: there is no such program
}

func (e *StartError) Error() string {
	switch {
	case errors.Is(e.Err, fs.ErrNotExist):
		return fmt.Sprintf("cannot start %q: no such program; install it or put its directory on PATH", e.Program)
	case errors.Is(e.Err, fs.ErrPermission):
		return fmt.Sprintf("cannot start %q: permission denied; make it executable", e.Program)
	}
	return fmt.Sprintf("cannot start %q: %v", e.Program, e.Err)
}

// Unwrap gives the cause.
func (e *StartError) Unwrap() error { return e.Err }

// Programs is the Process provider of the real machine.
type Programs struct{ grace time.Duration }

// NewProcess returns the provider of the machine's own processes.
func NewProcess() *Programs { return &Programs{grace: StopGrace} }

// Run implements Process.
func (p *Programs) Run(ctx context.Context, c Command) (int, error) {
	r, err := p.Start(ctx, c)
	if err != nil {
		return 0, err
	}
	return r.Wait()
}

// Start implements Process. The command reads an empty standard input
// (decision D-28), has exactly the environment it is given and is looked up in
// that environment's PATH. Its output reaches the writers as it arrives, each
// writer from a goroutine of its own; a writer must not block for ever, and one
// that fails ends the command with its error.
//
// The command has ended when its process has. What it started and left running
// may finish writing for StopGrace and is then ended with the rest of the group;
// only a process that moved to another group escapes this, and its output is no
// longer read.
func (p *Programs) Start(ctx context.Context, c Command) (Running, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	cmd, err := prepareCommand(c)
	if err != nil {
		return nil, err
	}
	var out, errs channel
	if out, err = newChannel(); err != nil {
		return nil, &StartError{c.Args[0], plain(err)}
	}
	if errs, err = newChannel(); err != nil {
		out.close()
		return nil, &StartError{c.Args[0], plain(err)}
	}
	cmd.Stdout, cmd.Stderr = out.write, errs.write
	if err := cmd.Start(); err != nil {
		out.close()
		errs.close()
		return nil, &StartError{c.Args[0], plain(err)}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r := &running{
		process: cmd.Process, grace: p.grace, cancel: cancel,
		exited: make(chan struct{}), quiet: make(chan struct{}), done: make(chan struct{}),
	}
	go r.feed(out, c.Stdout, errs, c.Stderr)
	go func() {
		_ = cmd.Wait() // the state says it all
		close(r.exited)
	}()
	go func() {
		r.supervise(ctx, out, errs)
		r.status, r.err = r.outcome(ctx, cmd)
		cancel(nil)
		close(r.done)
	}()
	return r, nil
}

// Port implements Process. The port was free a moment ago; a service that cannot
// listen on it fails like any other.
func (p *Programs) Port() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// prepareCommand finds the program and makes the command that starts it.
func prepareCommand(c Command) (*exec.Cmd, error) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return nil, &StartError{"", errors.New("the command is empty")}
	}
	if c.Dir != "" {
		if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
			return nil, &StartError{c.Args[0], errors.New("its working directory cannot be entered")}
		}
	}
	path, err := findProgram(c.Args[0], c.Env)
	if err != nil {
		return nil, &StartError{c.Args[0], err}
	}
	// A nil environment would mean this process's own.
	cmd := &exec.Cmd{Path: path, Args: c.Args, Dir: c.Dir, Env: append([]string{}, c.Env...)}
	ownGroup(cmd)
	return cmd, nil
}

// plain drops the path from an error of the system.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// A channel is one output of a command. It is a pipe even when nobody listens,
// because its end tells when the last process holding it is gone.
type channel struct{ read, write *os.File }

func newChannel() (channel, error) {
	read, write, err := os.Pipe()
	return channel{read, write}, err
}

func (c channel) close() {
	c.read.Close()
	c.write.Close()
}

// running is one started command. Three goroutines serve it, and two more copy
// its output; all have returned when done is closed.
type running struct {
	process *os.Process
	grace   time.Duration
	cancel  context.CancelCauseFunc
	exited  chan struct{} // the process has been reaped
	quiet   chan struct{} // both outputs are at their end
	done    chan struct{} // nothing is left; the fields below are set

	settled bool  // the process ended on its own
	feedErr error // a writer failed
	status  int
	err     error
}

// feed passes both outputs on until they end.
func (r *running) feed(out channel, stdout io.Writer, errs channel, stderr io.Writer) {
	ended := make(chan error, 2)
	go func() { ended <- pass(stdout, out) }()
	go func() { ended <- pass(stderr, errs) }()
	for range 2 {
		if err := <-ended; err != nil {
			r.feedErr = errors.Join(r.feedErr, err)
			r.cancel(err)
		}
	}
	close(r.quiet)
}

// pass copies one output to its writer; the error is the writer's.
func pass(to io.Writer, c channel) error {
	c.write.Close() // ours; the processes hold their own
	defer c.read.Close()
	if to == nil {
		to = io.Discard
	}
	// The plain interfaces keep Copy from looking for a short cut: every chunk is
	// to be written as soon as it has been read.
	_, err := io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{c.read})
	if errors.Is(err, os.ErrDeadlineExceeded) { // supervise gave up on it
		return nil
	}
	return err
}

// supervise returns when the process and all of its group have ended.
func (r *running) supervise(ctx context.Context, out, errs channel) {
	select {
	case <-r.exited:
		await(r.grace, ctx.Done(), r.quiet)
	case <-ctx.Done():
	}
	r.settled = closed(r.exited)
	if !r.settled || !closed(r.quiet) {
		askGroup(r.process)
		await(r.grace, nil, r.exited, r.quiet)
	}
	killGroup(r.process)
	<-r.exited
	now := time.Now()
	_ = out.read.SetReadDeadline(now)
	_ = errs.read.SetReadDeadline(now)
	<-r.quiet
}

// await returns when all of the events have happened, or the limit has passed,
// or stop is closed.
func await(limit time.Duration, stop <-chan struct{}, events ...<-chan struct{}) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for _, event := range events {
		select {
		case <-event:
		case <-timer.C:
			return
		case <-stop:
			return
		}
	}
}

func closed(event <-chan struct{}) bool {
	select {
	case <-event:
		return true
	default:
		return false
	}
}

func (r *running) outcome(ctx context.Context, cmd *exec.Cmd) (int, error) {
	switch {
	case r.feedErr != nil:
		return 0, fmt.Errorf("the output of the command could not be passed on: %w", r.feedErr)
	case !r.settled:
		return 0, context.Cause(ctx)
	}
	return exitStatus(cmd.ProcessState), nil
}

// Wait implements Running.
func (r *running) Wait() (int, error) {
	<-r.done
	return r.status, r.err
}

// Stop implements Running.
func (r *running) Stop() error {
	r.cancel(ErrStopped)
	<-r.done
	return nil
}

// PID implements Running.
func (r *running) PID() int { return r.process.Pid }
