// Package acp answers agent operations with programs that speak the Agent Client
// Protocol.
//
// What enters is a name that resolves to a command, a place for a conversation and
// the text of a prompt; what leaves is the text the program answers with and how its
// turn ended. Each conversation has a process of its own, started when somebody first
// prompts in it and never before, in a process group that ends with it. One turn at a
// time runs in a conversation, in the order they were asked for, and a small record
// on disk lets a later run take the conversation up again.
//
// Two providers are made here, of two types that cannot be taken for each other. The
// ordinary [Provider] gives an agent the caller's directory and asks the policy of
// the turn about its tools. The [Constrained] one holds an agent to a ceiling: an
// empty directory, a private home, no tool, no file, no permission, no server, and a
// turn that fails the moment the agent reaches for one of them.
//
// The invariant: a conversation exists for the rest of the program only from the
// moment the peer has accepted a prompt and a record of that is on disk. Whatever
// fails before leaves nothing behind, and the place can be tried again.
//
// The room does not know what a document is, what a reply means, or where a flag, a
// variable or a configuration file came from: it is handed the settled answers.
package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/executable-markdown/xmd/agent"
)

// Timeouts bound what is waited for. A zero one has the default of the field.
type Timeouts struct {
	Cancel    time.Duration // for a cancelled turn to be answered: 5 s
	Close     time.Duration // for the answer to session/close: 2 s
	Leave     time.Duration // for a process to leave at the end of its input: 2 s
	Terminate time.Duration // for it to leave when it is asked to terminate: 3 s
	Kill      time.Duration // for it to be gone when it was killed: 2 s
}

func (t Timeouts) settled() Timeouts {
	for _, f := range []struct {
		at       *time.Duration
		standard time.Duration
	}{{&t.Cancel, 5 * time.Second}, {&t.Close, 2 * time.Second}, {&t.Leave, 2 * time.Second}, {&t.Terminate, 3 * time.Second}, {&t.Kill, 2 * time.Second}} {
		if *f.at == 0 {
			*f.at = f.standard
		}
	}
	return t
}

// Options make an ordinary provider.
type Options struct {
	Agents   *agent.Registry
	LookPath agent.LookPath
	// Env is the invoker's environment, as NAME=value.
	Env          []string
	DefaultAgent string // empty: what BuiltIn finds
	// BuiltIn finds an agent when nobody named one; it is asked once, where one is
	// needed, and returns an empty name when there is none. Nil: there is none.
	BuiltIn func() string
	Version string // of this program, told to agents
	// Sessions keeps named conversations between runs. Nil: each ends with its run.
	Sessions *Store
	// Stderr gets what agents write to their standard error. Nil: it is only kept for
	// diagnostics.
	Stderr io.Writer
	// Secrets are values that no diagnostic shows, and Homes directories it shortens.
	Secrets, Homes []string
	Timeouts       Timeouts
	// Hurry ends when nothing is to be waited for any longer: steps are still taken, one
	// right after the other. Nil: never.
	Hurry context.Context
	// Now is the clock of the records; nil: the system's.
	Now func() time.Time
	// Dial connects to an agent somebody else runs; nil: a process is started.
	Dial func(Launch) (io.ReadWriteCloser, error)
}

// A Provider is the ordinary provider. It is an [agent.Provider].
type Provider struct{ *core }

// New returns an ordinary provider. It starts and opens nothing yet.
func New(o Options) *Provider {
	return &Provider{newCore(&core{
		resolve:      func(name string) (agent.Command, error) { return o.Agents.Resolve(name, o.LookPath) },
		defaultAgent: o.DefaultAgent, builtIn: o.BuiltIn, store: o.Sessions, env: o.Env, version: o.Version, stderr: o.Stderr,
		secrets: o.Secrets, homes: o.Homes, limits: o.Timeouts, now: o.Now, dial: o.Dial, contain: Uncontained{}, rush: o.Hurry,
	})}
}

// core is what the two providers share.
type core struct {
	resolve      func(string) (agent.Command, error)
	defaultAgent string
	builtIn      func() string // nil once it was asked
	store        *Store        // nil: nothing is kept
	env          []string
	secrets      []string
	homes        []string
	version      string
	stderr       io.Writer
	limits       Timeouts
	now          func() time.Time
	dial         func(Launch) (io.ReadWriteCloser, error)
	contain      Containment
	ceiling      *ceiling // nil: an ordinary provider

	life  context.Context // ends when the provider is closed
	die   context.CancelCauseFunc
	rush  context.Context // ends when processes are to be ended without waits
	hurry context.CancelFunc

	mu            sync.Mutex
	closed        bool
	turns         sync.WaitGroup
	conversations map[string]*conversation
	probes        map[string]*probe
}

// A probe remembers that a command answered.
type probe struct {
	slot queue
	ok   bool
}

var errClosed = errors.New("the agent provider is closed")

func newCore(c *core) *core {
	c.limits = c.limits.settled()
	if c.now == nil {
		c.now = time.Now
	}
	c.life, c.die = context.WithCancelCause(context.Background())
	if c.rush == nil {
		c.rush = context.Background()
	}
	c.rush, c.hurry = context.WithCancel(c.rush)
	c.conversations = map[string]*conversation{}
	c.probes = map[string]*probe{}
	return c
}

// enter begins an operation. The context it returns ends with ctx and with the
// provider; leave must be called.
func (c *core) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, &agent.Error{Code: agent.ErrTeardown, Message: errClosed.Error(), Err: errClosed}
	}
	c.turns.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.life, func() { cancel(errClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
		c.turns.Done()
	}, nil
}

// Agent resolves a name, the default for the empty one, and makes sure once that its
// program starts and speaks the protocol (agents 10.1). The error is an [agent.Error].
func (c *core) Agent(ctx context.Context, name string) (string, error) {
	ctx, leave, err := c.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	command, err := c.available(ctx, name)
	return command.Agent, err
}

// byDefault is the agent of whoever names none.
func (c *core) byDefault() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.defaultAgent == "" && c.builtIn != nil {
		c.defaultAgent, c.builtIn = c.builtIn(), nil
	}
	return c.defaultAgent
}

// command resolves a name and holds it to the ceiling.
func (c *core) command(name string) (agent.Command, error) {
	if name == "" {
		name = c.byDefault()
	}
	if name == "" {
		return agent.Command{}, &agent.Error{Code: agent.ErrNoDefaultAgent}
	}
	command, err := c.resolve(name)
	if err == nil && c.ceiling != nil {
		err = c.ceiling.admits(command)
	}
	command.Agent = name
	return command, err
}

// available is command with the probe. A probe under a ceiling runs in its own private
// home, so that the directory of the conversation is not touched.
func (c *core) available(ctx context.Context, name string) (agent.Command, error) {
	command, err := c.command(name)
	if err != nil {
		return command, err
	}
	c.mu.Lock()
	p := c.probes[command.Identity()]
	if p == nil {
		p = &probe{}
		c.probes[command.Identity()] = p
	}
	c.mu.Unlock()
	if err := p.slot.acquire(ctx); err != nil {
		return command, err
	}
	defer p.slot.release()
	if p.ok {
		return command, nil
	}
	if c.ceiling != nil {
		if err := c.ceiling.prepare(ctx, command); err != nil {
			return command, err
		}
	}
	l, cleanup, err := c.launch(command, "", c.ceiling.probeHome(command))
	if err == nil {
		l.Dir = l.Paths.Cwd
		var link *link
		if link, err = c.connect(ctx, command, l); err == nil {
			c.ceiling.met(link)
			err = link.end(c.rush)
		}
		err = errors.Join(err, cleanup())
	}
	p.ok = err == nil
	return command, single(err)
}

// Session places a conversation (agents 12.2). Nothing is started: a placement that
// nobody prompted in is inert, and one that is established is only checked.
func (c *core) Session(ctx context.Context, p agent.Placement) (*agent.Session, error) {
	ctx, leave, err := c.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	command, err := c.command(p.Agent) // whether it is available, a turn asks
	if err != nil {
		return nil, err
	}
	v, err := c.conversation(command, p.Name, p.Cwd)
	if err != nil {
		return nil, err
	}
	if err := v.slot.acquire(ctx); err != nil {
		return nil, err
	}
	defer v.slot.release()
	if _, err := v.recorded(); err != nil {
		return nil, err
	}
	return v.session, nil
}

// level is the level of the containment.
func (c *core) level() int {
	level, _ := c.contain.Level()
	return level
}

// conversation returns the one conversation of a key.
func (c *core) conversation(command agent.Command, name, cwd string) (*conversation, error) {
	dir := cwd
	if c.ceiling != nil {
		dir = c.ceiling.directory.path
	} else {
		var err error
		if dir, err = c.place(command.Identity(), cwd, name); err != nil {
			return nil, err
		}
	}
	key := Key(command.Identity(), dir, name)
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.conversations[key]
	if v == nil {
		v = &conversation{
			core: c, agent: command.Agent, command: command, name: name, profile: profileOf(command.Adapter),
			session: &agent.Session{Key: key, Cwd: dir, Owner: c, Agent: command.Digest()},
		}
		c.conversations[key] = v
	}
	return v, nil
}

// placed returns the conversation behind a session this provider issued.
func (c *core) placed(s *agent.Session, command agent.Command) (*conversation, error) {
	c.mu.Lock()
	v := c.conversations[s.Key]
	c.mu.Unlock()
	if v == nil || v.session != s {
		return nil, agent.Foreign(s.Key)
	}
	if v.command.Identity() != command.Identity() {
		return nil, agent.Mismatched(command.Agent, s.Key, v.agent)
	}
	return v, nil
}

// Prompt describes a turn. Nothing is resolved, started or queued before Run.
func (c *core) Prompt(text string, o agent.PromptOptions) agent.Turn { return turn{c, text, o} }

// Close ends everything: turns first, then sessions and their processes, then
// directories, every step whatever became of the others. The end of ctx skips the
// waits, not the steps. A second call does nothing.
func (c *core) Close(ctx context.Context) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	all := make([]*conversation, 0, len(c.conversations))
	for _, v := range c.conversations {
		all = append(all, v)
	}
	c.mu.Unlock()
	stop := context.AfterFunc(ctx, c.hurry)
	defer stop()
	c.die(errClosed)
	c.turns.Wait()
	failures := make([]error, len(all)+1)
	var wait sync.WaitGroup
	for i, v := range all {
		wait.Go(func() { failures[i] = v.close() })
	}
	wait.Wait()
	if c.ceiling != nil {
		failures[len(all)] = c.ceiling.directory.release()
	}
	c.hurry()
	return single(errors.Join(failures...))
}

// single is a joined error, or its only part.
func single(err error) error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		if parts := joined.Unwrap(); len(parts) == 1 {
			return single(parts[0])
		}
	}
	return err
}

// unavailable is the failure of an agent that cannot be used, with the end of what it
// wrote to standard error.
func unavailable(name, reason, text, stderr string, cause error) error {
	if stderr != "" {
		text += "; it wrote:\n" + stderr
	}
	return agent.Unavailable(name, reason, text, cause)
}

// secrets lists the values of an environment that a diagnostic must not show.
func secrets(env []string) []string {
	var list []string
	for _, entry := range env {
		if name, v, _ := strings.Cut(entry, "="); secretName(name) || strings.HasSuffix(strings.ToUpper(name), "_KEY") {
			list = append(list, v)
		}
	}
	return list
}

func quoted(list []string) string {
	if len(list) == 0 {
		return "none is installed"
	}
	return fmt.Sprint(strings.Join(list, ", "))
}
