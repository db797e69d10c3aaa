package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/value"
)

// daemon starts a background command that lives until the enclosing invocation
// ends; one that ends earlier fails the invocation (language 1.10.3).
func (r *run) daemon(ctx context.Context, sc *scope, b *document.Block, c chain) error {
	if r.Host.Process == nil {
		return &Infrastructure{errors.New("this run may not start processes")}
	}
	sc.strand.next()
	cmd := host.Command{Args: host.Interpreter(b.Language, r.script(sc, b)), Dir: sc.dir, Env: host.EnvList(r.Host.Env)}
	if !c.silent {
		cmd.Stdout, cmd.Stderr = r.Stdout, r.Stderr
	}
	p, err := r.background(ctx, sc, b, cmd)
	if err != nil {
		return err
	}
	p.mustStay()
	return nil
}

// A process is a background command that an invocation owns and stops when it
// ends.
type process struct {
	life  *lifetime
	mode  mode
	block *document.Block
	ended chan struct{} // closed when the command has; status and err are set
	stays sync.WaitGroup
	stop  func() error

	status int
	err    error
}

// background starts a command for the enclosing invocation.
func (r *run) background(ctx context.Context, sc *scope, b *document.Block, cmd host.Command) (*process, error) {
	running, err := r.Host.Process.Start(context.WithoutCancel(ctx), cmd)
	if err != nil {
		e := fault(b, "%v", err)
		e.Cause = err
		return nil, e
	}
	p := &process{life: sc.life, mode: sc.mode, block: b, ended: make(chan struct{}), stop: running.Stop}
	go func() {
		defer close(p.ended)
		p.status, p.err = running.Wait()
	}()
	p.life.own(func() error {
		err := p.stop()
		<-p.ended
		p.stays.Wait()
		return err
	})
	return p, nil
}

// abandon stops the command because of e.
func (p *process) abandon(e *Error) error {
	if err := p.stop(); err != nil {
		return err
	}
	return e
}

// early is the failure of a command that has ended before its invocation.
func (p *process) early() *Error {
	if p.err != nil {
		return fault(p.block, "the background command ended early: %v", p.err)
	}
	return fault(p.block, "the background command ended early (exit %d)", p.status)
}

// mustStay makes the command's end before its invocation's that one's failure.
func (p *process) mustStay() {
	p.stays.Go(func() {
		<-p.ended
		if p.life.ctx.Err() == nil {
			p.life.fail(p.early(), p.mode)
		}
	})
}

// A service says where it listens in one line of its output: readyPrefix and a
// JSON object with exactly these members.
const (
	readyPrefix   = "XMD_SERVICE_READY:"
	readyVersion  = 1.0
	serviceHost   = "127.0.0.1"
	maxReadyLine  = 4 << 10 // bytes
	serviceLimit  = 30 * time.Second
	serviceEnvKey = "XMD_SERVICE_"
)

// service starts a background command that listens on a loopback port it is
// given, waits for its ready line, and binds its endpoint live (components 24.5).
func (r *run) service(ctx context.Context, sc *scope, b *document.Block, c chain) error {
	if r.Host.Process == nil {
		return &Infrastructure{errors.New("this run may not start processes")}
	}
	sc.strand.next()
	port, err := r.Host.Process.Port()
	if err != nil {
		return fault(b, "no port for the service: %v", err)
	}
	env := maps.Clone(r.Host.Env)
	if env == nil {
		env = make(map[string]string)
	}
	token := rand.Text()
	env[serviceEnvKey+"HOST"], env[serviceEnvKey+"PORT"], env[serviceEnvKey+"TOKEN"] = serviceHost, strconv.Itoa(port), token

	life, mode := sc.life, sc.mode
	broken := make(chan string, 1)
	handshake := &readiness{out: r.Stdout, port: port, token: token, ready: make(chan struct{})}
	handshake.fail = func(reason string, ready bool) {
		if ready {
			life.fail(fault(b, "the service %s", reason), mode)
			return
		}
		select {
		case broken <- reason:
		default: // the first reason is enough
		}
	}
	cmd := host.Command{Args: host.Interpreter(b.Language, r.script(sc, b)), Dir: sc.dir,
		Env: host.EnvList(env), Stdout: handshake, Stderr: r.Stderr}
	p, err := r.background(ctx, sc, b, cmd)
	if err != nil {
		return err
	}
	limit := serviceLimit
	if sc.limit > 0 {
		limit = sc.limit
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-handshake.ready:
		p.mustStay()
	case reason := <-broken:
		return p.abandon(fault(b, "the service %s", reason))
	case <-p.ended:
		return p.early()
	case <-timer.C:
		return p.abandon(fault(b, "the service did not print %s{…} within %s", readyPrefix, limit))
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	endpoint := r.exprs.Ref(value.Of("hostname", serviceHost, "port", float64(port)))
	if err := sc.env.bindLive(c.binding, endpoint); err != nil {
		return fault(b, "%v", err)
	}
	return nil
}

// readiness watches a service's output for its ready line. Other bytes pass at
// once; only what may still become a ready line is held back, and ready lines are
// never shown, because they hold the token.
type readiness struct {
	out   io.Writer
	port  int
	token string
	ready chan struct{}
	fail  func(reason string, ready bool)

	mu      sync.Mutex
	held    []byte // the beginning of the current line, while it may be a ready line
	passing bool   // the current line is none
	done    bool   // ready was announced
}

// Write implements io.Writer.
func (h *readiness) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, ended := rest, false
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line, ended = rest[:i+1], true
		}
		rest = rest[len(line):]
		if err := h.part(line, ended); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// part takes one piece of a line.
func (h *readiness) part(text []byte, ended bool) error {
	if !h.passing {
		h.held = append(h.held, text...)
		n := min(len(h.held), len(readyPrefix))
		switch {
		case string(h.held[:n]) != readyPrefix[:n]:
			text, h.held, h.passing = h.held, nil, true
		case len(h.held) > maxReadyLine:
			h.fail(fmt.Sprintf("printed a ready line longer than %d bytes", maxReadyLine), h.done)
			h.held = h.held[:len(readyPrefix)]
			return nil
		case !ended:
			return nil
		default:
			h.line(h.held)
			h.held = nil
			return nil
		}
	}
	if ended {
		h.passing = false
	}
	_, err := h.out.Write(text)
	return err
}

// line judges a whole ready line.
func (h *readiness) line(line []byte) {
	if h.done {
		h.fail("announced itself twice", true)
		return
	}
	v, err := value.Parse(bytes.TrimSpace(line[len(readyPrefix):]))
	expected := value.Of("version", readyVersion, "token", h.token, "hostname", serviceHost, "port", float64(h.port))
	if err != nil || !value.Equal(v, expected) {
		h.fail("announced itself with a line that is not its own: version, token, hostname and port must be those it was given", false)
		return
	}
	h.done = true
	close(h.ready)
}
