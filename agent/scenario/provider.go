package scenario

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/executable-markdown/xmd/agent"
)

// TestAgent is the name a scripted agent has where nobody gives it another.
const TestAgent = "test"

// ProviderOptions settle a Provider. The zero value plays for the agent TestAgent.
type ProviderOptions struct {
	Agents []string  // the names it answers to, the default one first
	State  State     // nil: positions end with the provider
	Report io.Writer // gets one line of JSON per event; nil: nobody
	// Machine is needed by a scenario with host effects.
	Machine Machine
	// Grace is how long a cancelled turn may take to end before its peer counts as
	// gone; 0: five seconds.
	Grace time.Duration
}

// A Provider is an agent.Provider whose peers are played inside this process. What a
// process would do to its client it does in spirit: a crash, closed output and a line
// the client cannot hold are a peer that is gone or breaks the protocol, and a hang
// of a handshake is a timeout at once. Junk that a client passes over has no effect;
// a raw line that is an update is one.
//
// Sessions are keyed by agent, directory and name, each key has one pointer and one
// conversation, and every key plays its script from the beginning.
type Provider struct {
	engine engine
	agents []string
	grace  time.Duration

	ctx   context.Context // ends with Close
	end   context.CancelCauseFunc
	turns sync.WaitGroup

	mu        sync.Mutex
	closed    bool
	available map[string]bool
	places    map[string]*place
}

// A place is a session, whether or not its conversation exists.
type place struct {
	session *agent.Session
	agent   string
	name    string
	slot    chan struct{} // holds the turn that is taken; the rest belongs to its holder

	talk        *conversation // nil: there is no peer
	last        *conversation // that a turn was taken in
	established bool          // the conversation outlives its peer
}

var errClosed = errors.New("the agent provider was closed")

// NewProvider plays a scenario as a provider. Nothing happens before it is asked.
func NewProvider(s *Scenario, o ProviderOptions) *Provider {
	if len(o.Agents) == 0 {
		o.Agents = []string{TestAgent}
	}
	if o.State == nil {
		o.State = &Memory{}
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	p := &Provider{
		engine: engine{s, o.State, o.Machine, &reporter{w: o.Report}},
		agents: o.Agents, grace: o.Grace, available: map[string]bool{}, places: map[string]*place{},
	}
	p.ctx, p.end = context.WithCancelCause(context.Background())
	return p
}

// Agent implements agent.Provider. Success is remembered, failure is not.
func (p *Provider) Agent(ctx context.Context, name string) (string, error) {
	if name == "" {
		name = p.agents[0]
	}
	if !slices.Contains(p.agents, name) {
		return "", agent.Unavailable(name, agent.ReasonNotFound, "the scenario plays for no agent of this name", nil)
	}
	p.mu.Lock()
	known, closed := p.available[name], p.closed
	p.mu.Unlock()
	switch {
	case closed:
		return "", errClosed
	case known:
		return name, nil
	}
	if err := p.initialize(ctx, name); err != nil {
		return "", err
	}
	p.mu.Lock()
	p.available[name] = true
	p.mu.Unlock()
	return name, nil
}

// initialize begins a peer.
func (p *Provider) initialize(ctx context.Context, name string) error {
	s := p.engine.scenario
	p.engine.report.write("initialize")
	switch hung, fail, err := shake(ctx, s.initialize); {
	case err != nil:
		return err
	case hung:
		return agent.Unavailable(name, agent.ReasonTimeout, "the scenario never answers initialize", nil)
	case fail != nil && fail.Code == codeAuth:
		return loginNeeded(name, "")
	case fail != nil:
		return agent.Unavailable(name, agent.ReasonProtocol, fail.text(), nil)
	case s.protocolVersion != 1:
		return agent.Unavailable(name, agent.ReasonVersion,
			fmt.Sprintf("it speaks version %d of the protocol; use one that speaks 1", s.protocolVersion), nil)
	}
	return nil
}

// shake waits for the answer of a handshake.
func shake(ctx context.Context, h handshake) (hung bool, fail *rpcError, err error) {
	timer := time.NewTimer(h.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return h.hang, h.fail, nil
	case <-ctx.Done():
		return false, nil, context.Cause(ctx)
	}
}

// codeAuth is the JSON-RPC error of a peer nobody has logged in to.
const codeAuth = -32000

func (e *rpcError) text() string {
	return fmt.Sprintf("the agent answered with error %d: %s", e.Code, e.Message)
}

func loginNeeded(name, session string) error {
	return &agent.Error{Code: agent.ErrAuthRequired, Agent: name, Session: session}
}

// failed is a JSON-RPC error as the error of a prompt.
func (l *place) failed(e *rpcError) error {
	if e.Code == codeAuth {
		return loginNeeded(l.agent, l.session.Key)
	}
	return l.error(agent.ErrStopReason, e.text())
}

func (l *place) error(code agent.Code, text string) error {
	return &agent.Error{Code: code, Agent: l.agent, Session: l.session.Key, Message: text}
}

// Session implements agent.Provider. The identity of a placement is not part of its
// key.
func (p *Provider) Session(ctx context.Context, placement agent.Placement) (*agent.Session, error) {
	name, err := p.Agent(ctx, placement.Agent)
	if err != nil {
		return nil, err
	}
	l, err := p.place(name, placement.Cwd, placement.Name)
	if err != nil {
		return nil, err
	}
	if err := p.acquire(ctx, l); err != nil {
		return nil, err
	}
	defer l.release()
	if l.established && l.talk == nil {
		if err := p.resumable(l); err != nil {
			return nil, err
		}
	}
	return l.session, nil
}

// place finds the session of a key, or makes it.
func (p *Provider) place(name, cwd, session string) (*place, error) {
	d := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:8])
	}
	command, last := d(string(marshal([]string{"scenario", name}))), "default"
	if session != "" {
		last = d(session)
	}
	key := "xmd:v1:" + command + ":" + d(cwd) + ":" + last
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	l := p.places[key]
	if l == nil {
		l = &place{
			session: &agent.Session{Key: key, Cwd: cwd, Owner: p, Agent: command},
			agent:   name, name: session, slot: make(chan struct{}, 1),
		}
		p.places[key] = l
	}
	return l, nil
}

// placed finds the place of a session this provider issued, for the agent it was made
// with.
func (p *Provider) placed(s *agent.Session, name string) (*place, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.places[s.Key]
	switch {
	case p.closed, l == nil, l.session != s:
		return nil, agent.Foreign(s.Key)
	case l.agent != name:
		return nil, agent.Mismatched(name, s.Key, l.agent)
	}
	return l, nil
}

// acquire waits for the slot of a session; waiters get it in the order they came.
func (p *Provider) acquire(ctx context.Context, l *place) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case l.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	}
}

func (l *place) release() { <-l.slot }

// materialise makes sure that the place has a peer with its conversation.
func (p *Provider) materialise(ctx context.Context, l *place) error {
	if l.talk != nil {
		return nil
	}
	if err := p.initialize(ctx, l.agent); err != nil {
		return err
	}
	slot := slotOf(l.session.Key)
	id, err := p.engine.state.Load(acceptedOf(l))
	switch {
	case err == nil:
		return p.reattach(l, slot, string(id))
	case !errors.Is(err, fs.ErrNotExist):
		return l.error(agent.ErrSessionDamaged, "")
	}
	p.engine.report.write("new", "session", l.name)
	hung, fail, err := shake(ctx, p.engine.scenario.opening)
	var c *conversation
	switch {
	case err != nil:
		return err
	case hung:
		return l.error(agent.ErrProtocol, "the scenario never answers session/new")
	case fail == nil:
		c, fail = p.engine.open(l.name, slot)
	}
	switch {
	case fail != nil:
		return l.failed(fail)
	case c.id == "":
		return l.error(agent.ErrProtocol, "the agent opened a session without an identity")
	}
	l.talk, l.session.ID = c, c.id
	return nil
}

// acceptedOf names where the identity of an established conversation is kept: a
// provider made later with the same State continues it.
func acceptedOf(l *place) string { return ".accepted" + slotOf(l.session.Key) }

func (p *Provider) accept(l *place) error {
	if err := p.engine.state.Save(acceptedOf(l), []byte(l.session.ID)); err != nil {
		return l.error(agent.ErrSessionDamaged, "the identity of the session cannot be kept: "+err.Error())
	}
	return nil
}

// reattach continues a conversation whose peer is gone.
func (p *Provider) reattach(l *place, slot, id string) error {
	if err := p.resumable(l); err != nil {
		return err
	}
	kind := "load"
	if p.engine.scenario.capabilities.resume {
		kind = "resume"
	}
	p.engine.report.write(kind, "session", l.name)
	c, fail := p.engine.reattach(l.name, slot, id)
	if fail != nil {
		return l.error(agent.ErrSessionUnresumable, "")
	}
	l.talk, l.session.ID, l.established = c, c.id, true
	return nil
}

func (p *Provider) resumable(l *place) error {
	if c := p.engine.scenario.capabilities; !c.resume && !c.load {
		return l.error(agent.ErrSessionNotResumable, "")
	}
	return nil
}

// Close implements agent.Provider. Turns that run are cancelled and waited for; every
// session that exists is closed, and what the scenario answers to that with an error
// is returned.
func (p *Provider) Close(ctx context.Context) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	p.mu.Unlock()
	p.end(errClosed)
	p.turns.Wait()
	var failures []error
	for _, l := range p.placesThat(func(l *place) bool { return l.talk != nil }) {
		if !p.engine.scenario.capabilities.close {
			break
		}
		p.engine.report.write("close", "session", l.name)
		hung, fail, err := shake(ctx, p.engine.scenario.closing)
		if err != nil {
			failures = append(failures, err)
		} else if fail != nil && !hung {
			failures = append(failures, l.error(agent.ErrTeardown, fail.text()))
		}
	}
	p.reportExit()
	if err := p.engine.report.failure(); err != nil {
		failures = append(failures, err)
	}
	if len(failures) == 1 {
		return failures[0]
	}
	return errors.Join(failures...)
}

// placesThat lists the places that fit, by key.
func (p *Provider) placesThat(fits func(*place) bool) []*place {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*place
	for _, key := range slices.Sorted(maps.Keys(p.places)) {
		if l := p.places[key]; fits(l) {
			list = append(list, l)
		}
	}
	return list
}

// reportExit says what was left of every script; one that several sessions played
// has the least that any of them left.
func (p *Provider) reportExit() {
	s := p.engine.scenario
	if !s.requireComplete {
		p.engine.report.write("exit")
		return
	}
	left := map[string]int{}
	for session, stages := range s.scripts {
		if session != anySession {
			left[session] = len(stages)
		}
	}
	for _, l := range p.placesThat(func(l *place) bool { return l.last != nil }) {
		least, seen := left[l.name]
		if n := l.last.left(); !seen || n < least {
			left[l.name] = n
		}
	}
	p.engine.report.write("exit", "unconsumed", left)
}
