package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/executable-markdown/xmd/agent"
)

// A Launch is how the program of one agent is started.
type Launch struct {
	Agent   string
	Argv    []string // Argv[0] is absolute
	Dir     string
	Env     []string
	Session string // logical session name; empty: none
	Paths   Paths  // under a ceiling: what a containment has to leave reachable
}

// A program is a started agent.
type program interface {
	io.ReadWriter
	// end ends it and everything it started; ctx is the patience for its leaving.
	end(ctx context.Context) error
	// diagnosis is its exit state, where it ended by itself, and the end of its
	// standard error.
	diagnosis() (exit string, stderr []byte)
}

// patience is how long each step of ending a process waits.
type patience struct{ leave, terminate, kill, drain time.Duration }

// A process is a program of its own process group, with pipes for its three streams.
// One supervising goroutine holds its OS thread for the life of the child, because
// the kernel ties the death of a child to that of the thread it came from.
type process struct {
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr *ring
	wait   patience

	exited  chan struct{} // closed when the program has ended and was reaped
	drained chan struct{} // closed when its standard error is at its end

	mu     sync.Mutex
	pid    int // 0 once reaped
	state  *os.ProcessState
	ending bool
}

// start starts a process. Under a ceiling it has a session of its own, so that it can
// reach no terminal, and the containment may change the command before it runs.
func start(l Launch, contain Containment, tee io.Writer, wait patience) (*process, error) {
	cmd := exec.Command(l.Argv[0], l.Argv[1:]...)
	cmd.Dir, cmd.Env = l.Dir, l.Env
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would inherit
	}
	ownGroup(cmd)
	if l.Paths.Home != "" {
		ownSession(cmd)
		if err := contain.Contain(cmd, l.Paths); err != nil {
			return nil, uncontained(l.Agent, "", err)
		}
	}
	defer func() {
		for _, f := range cmd.ExtraFiles {
			_ = f.Close()
		}
	}()
	p := &process{stderr: &ring{tee: tee}, wait: wait, exited: make(chan struct{}), drained: make(chan struct{})}
	var stderr io.ReadCloser
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.stdout, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if stderr, err = cmd.StderrPipe(); err != nil {
		return nil, err
	}
	started := make(chan error)
	go p.supervise(cmd, stderr, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) supervise(cmd *exec.Cmd, stderr io.ReadCloser, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.mu.Lock()
	p.pid = cmd.Process.Pid
	p.mu.Unlock()
	go func() {
		defer close(p.drained)
		_, _ = io.Copy(p.stderr, stderr)
	}()
	started <- nil

	awaitExit(cmd.Process.Pid)
	p.mu.Lock()
	// Whatever is left of the group has lost its leader and goes with it.
	killGroup(p.pid)
	p.state, _ = cmd.Process.Wait()
	p.pid = 0
	p.mu.Unlock()
	close(p.exited)

	// Something that left the group may hold standard error open for ever.
	t := time.NewTimer(p.wait.drain)
	defer t.Stop()
	select {
	case <-p.drained:
	case <-t.C:
	}
	_ = stderr.Close()
}

func (p *process) Read(b []byte) (int, error)  { return p.stdout.Read(b) }
func (p *process) Write(b []byte) (int, error) { return p.stdin.Write(b) }

// signal sends to the group, unless the leader was reaped and its number is free.
func (p *process) signal(send func(leader int)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pid != 0 {
		send(p.pid)
	}
}

// end takes the steps of ending a process (agents 14.3): the end of its input, a
// request to terminate, the kill of its group. The end of ctx skips the waits.
func (p *process) end(ctx context.Context) error {
	p.mu.Lock()
	p.ending = p.ending || p.pid != 0
	p.mu.Unlock()
	_ = p.stdin.Close()
	gone := p.left(ctx, p.wait.leave)
	if !gone {
		p.signal(terminateGroup)
		gone = p.left(ctx, p.wait.terminate)
	}
	if !gone {
		p.signal(killGroup)
		gone = p.left(context.WithoutCancel(ctx), p.wait.kill)
	}
	_ = p.stdout.Close()
	if !gone {
		return &agent.Error{Code: agent.ErrProcessLeak}
	}
	<-p.drained
	return nil
}

func (p *process) left(ctx context.Context, patience time.Duration) bool {
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	default:
	}
	select {
	case <-p.exited:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}

func (p *process) diagnosis() (exit string, stderr []byte) {
	t := time.NewTimer(p.wait.drain)
	defer t.Stop()
	select { // a program that just closed its output is about to have a state
	case <-p.exited:
		<-p.drained
	case <-t.C:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != nil && !p.ending {
		exit = p.state.String()
	}
	return exit, p.stderr.bytes()
}

// uncontained says whether the containment ended the program before it was the agent.
func (p *process) uncontained() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state != nil && !p.ending && p.state.ExitCode() == ContainmentFailed
}

// A dialled is a program somebody else started: the two ends of its streams.
type dialled struct{ io.ReadWriteCloser }

func (d dialled) end(context.Context) error {
	if err := d.Close(); err != nil {
		return fmt.Errorf("the agent's connection did not close: %w", err)
	}
	return nil
}

func (d dialled) diagnosis() (string, []byte) { return "", nil }

// startReason says why a program could not be started.
func startReason(err error) string {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return agent.ReasonNotFound
	}
	return agent.ReasonSpawnFailed
}
