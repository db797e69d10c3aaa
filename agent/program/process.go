package program

import (
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/executable-markdown/xmd/agent"
)

// How long a process may take to leave by itself, to follow a request to leave, and to
// be gone after it was killed (agents 14.3).
const (
	leaveGrace = 2 * time.Second
	termGrace  = 3 * time.Second
	killGrace  = 2 * time.Second
)

// A process is an agent's program with its standard channels, in a group of its own.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *ring
	gone   chan struct{} // closed when the program has ended
}

// start starts argv in dir, empty for the current directory.
func start(argv []string, dir string, env []string, tee io.Writer) (*process, error) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		inRead.Close()
		inWrite.Close()
		return nil, err
	}
	p := &process{cmd: exec.Command(argv[0], argv[1:]...), stdin: inWrite, stdout: outRead, stderr: &ring{tee: tee}, gone: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = dir, env
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inRead, outWrite, p.stderr
	p.cmd.WaitDelay = leaveGrace // descendants may keep standard error open
	ownGroup(p.cmd)
	err = p.cmd.Start()
	inRead.Close()
	outWrite.Close()
	if err != nil {
		inWrite.Close()
		outRead.Close()
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is no matter: the connection has ended
		close(p.gone)
	}()
	return p, nil
}

// end closes the program's input and waits for it to leave; then its group is asked
// and at last killed. Nothing of the group is left afterwards, or the error says so.
func (p *process) end(name string) error {
	p.stdin.Close()
	defer p.stdout.Close()
	left := p.wait(leaveGrace)
	if !left {
		askGroup(p.cmd.Process)
		left = p.wait(termGrace)
	}
	killGroup(p.cmd.Process) // what the program left behind, too
	if !left && !p.wait(killGrace) {
		return &agent.Error{Code: agent.ErrProcessLeak, Agent: name}
	}
	return nil
}

func (p *process) wait(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.gone:
		return true
	case <-timer.C:
		return false
	}
}
