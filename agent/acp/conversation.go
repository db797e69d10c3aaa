package acp

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/executable-markdown/xmd/agent"
)

// A conversation is one session key and what is known of it. Its slot is held by
// whoever reads or changes it.
type conversation struct {
	core    *core
	agent   string
	command agent.Command
	name    string
	profile Profile
	session *agent.Session

	slot     queue
	link     *link // nil: no process
	lock     io.Closer
	known    bool         // an earlier run began it, and its private home is kept
	cleanup  func() error // removes the private home; nil: there is none to remove
	id       string       // of the conversation at the peer
	accepted bool         // it is established
	record   record
}

// disposable says that the conversation ends with the provider.
func (v *conversation) disposable() bool {
	return v.core.ceiling != nil && !v.core.ceiling.directory.keep
}

// kept says that the conversation has a record that outlives the provider. One that
// is not kept has its record in memory.
func (v *conversation) kept() bool {
	if v.core.ceiling != nil {
		return v.core.store != nil && v.core.ceiling.directory.keep
	}
	return v.core.store != nil && v.name != ""
}

func (v *conversation) save() error {
	if !v.kept() {
		return nil
	}
	return v.core.store.write(v.record)
}

// recorded returns the accepted record that is to be continued, nil when the
// conversation is still to be made. It fails when a record contradicts the session.
func (v *conversation) recorded() (*record, error) {
	if !v.kept() {
		if v.accepted {
			return &v.record, nil
		}
		return nil, nil
	}
	r, err := v.core.store.read(v.session.Key)
	if err != nil {
		return nil, err
	}
	if r == nil || r.State != stateAccepted {
		if v.accepted {
			return nil, &agent.Error{Code: agent.ErrSessionMissing, Agent: v.agent, Session: v.session.Key}
		}
		return nil, nil
	}
	other := ""
	switch {
	case r.CommandDigest != v.command.Digest():
		other = "command"
	case r.Cwd != v.session.Cwd:
		other = "directory"
	case r.Policy != v.policy():
		other = "ceiling"
	case r.Containment > v.core.level():
		other = "containment, which was stronger"
	case v.accepted && r.SessionID != v.id:
		return nil, &agent.Error{Code: agent.ErrSessionConflict, Agent: v.agent, Session: v.session.Key}
	}
	if other != "" {
		return nil, &agent.Error{Code: agent.ErrSessionIncompatible, Agent: v.agent, Session: v.session.Key,
			Message: fmt.Sprintf("the agent session was made under another %s; start one of another name", other)}
	}
	return r, nil
}

func (v *conversation) policy() string {
	if v.core.ceiling == nil {
		return ""
	}
	return v.core.ceiling.fingerprint(v.profile)
}

// attach makes sure that a process serves the conversation (agents 12.3). When it
// fails, nothing it began is left.
func (v *conversation) attach(ctx context.Context) (err error) {
	if v.link != nil {
		select {
		case <-v.link.conn.Done():
			// The failure of ending a process that ended by itself is told where it
			// was noticed; this only clears the place.
			_ = v.detach()
		default:
			return nil
		}
	}
	c := v.core
	if v.kept() {
		if v.lock, err = c.store.lock(v.session.Key); err != nil {
			return err
		}
	}
	defer func() {
		if err != nil {
			err = single(errors.Join(err, v.abandon()))
		}
	}()
	known, err := v.recorded()
	if err != nil {
		return err
	}
	v.known = known != nil
	l, cleanup, err := c.launch(v.command, v.name, "home-"+digest(v.session.Key)[:32])
	if err != nil {
		return err
	}
	v.cleanup = cleanup
	l.Dir, l.Paths.Cwd = v.session.Cwd, v.session.Cwd
	if v.link, err = c.connect(ctx, v.command, l); err != nil {
		return c.ceiling.refused(v.agent, err)
	}
	var opened sessionResult
	if known != nil {
		opened, err = v.reattach(ctx, *known)
	} else {
		opened, err = v.create(ctx)
	}
	if err != nil {
		return err
	}
	if c.ceiling != nil {
		if err = v.pin(ctx, opened); err != nil {
			return err
		}
		c.ceiling.established(v, opened)
	}
	return nil
}

// params are those of opening a session; id is empty for a new one.
func (v *conversation) params(id string) sessionParams {
	p := sessionParams{SessionID: id, Cwd: v.session.Cwd, MCPServers: []struct{}{}}
	if v.core.ceiling != nil {
		p.Meta = newMeta(v.core.ceiling.instructions)
	}
	return p
}

// open sends one of the requests that open a session, within the time for that.
func (v *conversation) open(ctx context.Context, method, id string) (sessionResult, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, v.command.Timeouts.Session, errSlow)
	defer cancel()
	r, err := call[sessionResult](ctx, v.link.peer, method, v.params(id))
	if errors.Is(err, errSlow) {
		return r, &agent.Error{Code: agent.ErrPromptTimeout, Agent: v.agent, Session: v.session.Key,
			Message: fmt.Sprintf("agent %q did not open a session within %s", v.agent, v.command.Timeouts.Session)}
	}
	return r, v.link.failed(err, v.session.Key, agent.ErrProtocol)
}

// create opens a new session and holds its place in the store.
func (v *conversation) create(ctx context.Context) (sessionResult, error) {
	r, err := v.open(ctx, methodNew, "")
	if err == nil && r.SessionID == "" {
		err = &agent.Error{Code: agent.ErrProtocol, Agent: v.agent, Session: v.session.Key,
			Message: fmt.Sprintf("agent %q opened a session without an id", v.agent)}
	}
	if err != nil {
		return r, v.core.ceiling.refused(v.agent, err)
	}
	v.id = r.SessionID
	now := timestamp(v.core.now())
	v.record = record{
		Schema: recordSchema, Key: v.session.Key, Agent: v.agent, CommandDigest: v.command.Digest(), Cwd: v.session.Cwd,
		Name: v.name, SessionID: v.id, State: statePending, Policy: v.policy(), AdapterVersion: v.link.info.AgentInfo.Version,
		Containment: v.core.level(),
		CreatedAt:   now, LastUsedAt: now,
	}
	return r, v.save()
}

// reattach takes up the session of a record. What the peer tells meanwhile is
// history, and no exchange is there to hear it.
func (v *conversation) reattach(ctx context.Context, known record) (sessionResult, error) {
	method := ""
	switch {
	case v.link.info.resumes():
		method = methodResume
	case v.link.info.AgentCapabilities.LoadSession:
		method = methodLoad
	default:
		return sessionResult{}, &agent.Error{Code: agent.ErrSessionNotResumable, Agent: v.agent, Session: v.session.Key}
	}
	r, err := v.open(ctx, method, known.SessionID)
	var failure *agent.Error
	if errors.As(err, &failure) && failure.Code == agent.ErrProtocol {
		err = &agent.Error{Code: agent.ErrSessionUnresumable, Agent: v.agent, Session: v.session.Key, Err: err}
	}
	if err != nil {
		return r, err
	}
	if method == methodLoad {
		v.link.peer.settle(ctx)
	}
	v.record, v.id, v.accepted = known, known.SessionID, true
	v.session.ID = v.id
	return r, nil
}

// accept makes the conversation one that exists (agents 12.3, steps 8 and 9).
func (v *conversation) accept() error {
	v.record.State, v.record.LastUsedAt = stateAccepted, timestamp(v.core.now())
	if err := v.save(); err != nil {
		return err
	}
	v.accepted = true
	v.session.ID = v.id
	return nil
}

// detach ends the process, if there is one, and gives its places back. It does not
// change what the conversation is.
func (v *conversation) detach() error {
	var failures []error
	if v.link != nil {
		failures = append(failures, v.link.end(v.core.rush))
		v.link = nil
	}
	if v.lock != nil {
		failures = append(failures, v.lock.Close())
		v.lock = nil
	}
	return single(errors.Join(failures...))
}

// abandon is detach after a failure: the record of a conversation that does not exist
// yet goes too, while its lock is still held.
func (v *conversation) abandon() error {
	var failures []error
	begun := v.accepted || v.known
	if v.record.State == statePending {
		if v.kept() {
			failures = append(failures, v.core.store.remove(v.session.Key))
		}
		v.record, v.id = record{}, ""
	}
	failures = append(failures, v.detach())
	if !begun && v.cleanup != nil {
		failures = append(failures, v.cleanup())
		v.cleanup = nil
	}
	return single(errors.Join(failures...))
}

// close ends the conversation with the provider. It runs when no turn does.
func (v *conversation) close() error {
	var failures []error
	if v.link != nil && v.link.info.closes() && v.id != "" {
		ctx, cancel := context.WithTimeoutCause(v.core.rush, v.core.limits.Close, errSlow)
		_, err := call[struct{}](ctx, v.link.peer, methodClose, sessionID{v.id})
		if err != nil && ctx.Err() == nil && !errors.Is(err, errGone) {
			failures = append(failures, &agent.Error{Code: agent.ErrTeardown, Agent: v.agent, Session: v.session.Key,
				Message: fmt.Sprintf("agent %q could not close its session: %s", v.agent, v.link.failed(err, v.session.Key, agent.ErrProtocol)), Err: err})
		}
		cancel()
	}
	failures = append(failures, v.detach())
	if v.disposable() && v.cleanup != nil {
		failures = append(failures, v.cleanup())
	}
	return single(errors.Join(failures...))
}
