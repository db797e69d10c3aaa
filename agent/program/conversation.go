package program

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/executable-markdown/xmd/agent"
)

// A conversation is one process and the connection to it.
type conversation struct {
	provider *Provider
	agent    string
	process  *process
	peer     *peer
	id       string // the conversation it opened; empty: none, or an untold one
}

// errTimeout is the cause of a handshake that took longer than it may.
var errTimeout = errors.New("no answer in time")

// codeAuth is how agents say that nobody is logged in (agents 10.1).
const codeAuth = -32000

// connect starts the agent in dir and exchanges the first messages. The process has
// ended when it fails. session is the logical name, told to scripted agents.
func (p *Provider) connect(ctx context.Context, command agent.Command, dir, session string) (*conversation, error) {
	argv := command.ForSession(session).Argv
	started, err := start(argv, dir, p.environment(command), p.Stderr)
	if err != nil {
		return nil, agent.Unavailable(command.Agent, agent.ReasonSpawnFailed, "its program could not be started; check its installation", err)
	}
	c := &conversation{provider: p, agent: command.Agent, process: started, peer: newPeer(started.stdin, started.stdout)}
	bounded, cancel := context.WithTimeoutCause(ctx, command.Timeouts.Initialize, errTimeout)
	defer cancel()
	c.peer.info, err = call[initializeResult](bounded, c.peer, methodInitialize, initializeParams{
		ProtocolVersion: 1, ClientInfo: clientInfo{"xmd", p.Version},
	})
	switch {
	case err == nil && c.peer.info.ProtocolVersion != 1:
		err = agent.Unavailable(c.agent, agent.ReasonVersion,
			fmt.Sprintf("it speaks version %d of the protocol; use one that speaks 1", c.peer.info.ProtocolVersion), nil)
	case err != nil && ctx.Err() == nil:
		err = c.unavailable(err)
	}
	if err != nil {
		return nil, errors.Join(err, c.end(ctx))
	}
	return c, nil
}

// environment is what an agent starts with: the invoker's, plus what its entry says.
func (p *Provider) environment(c agent.Command) []string {
	env := append([]string(nil), p.Env...)
	for name, text := range c.Env {
		env = append(env, name+"="+text)
	}
	return env
}

// unavailable says why an agent could not be used, with the end of what it wrote to
// its standard error.
func (c *conversation) unavailable(err error) error {
	var answered *sdk.RequestError
	reason, text := agent.ReasonProtocol, "it does not speak the Agent Client Protocol"
	switch {
	case errors.As(err, &answered) && answered.Code == codeAuth:
		return c.loginNeeded()
	case errors.As(err, &answered):
		text = rpcText(answered)
	case errors.Is(err, errTimeout):
		reason, text = agent.ReasonTimeout, "it did not answer in time"
	case errors.Is(err, errGone):
		reason, text = agent.ReasonExited, "it ended before it answered"
	}
	if said := c.said(); said != "" {
		text += "; it wrote: " + said
	}
	return agent.Unavailable(c.agent, reason, text, err)
}

func (c *conversation) said() string {
	return tail(c.process.stderr.bytes(), c.provider.Secrets, c.provider.Homes)
}

func (c *conversation) loginNeeded() error {
	text := agent.ErrAuthRequired.Error()
	if ways := c.peer.info.logins(); ways != "" {
		text += " (it offers: " + ways + ")"
	}
	return &agent.Error{Code: agent.ErrAuthRequired, Agent: c.agent, Message: text}
}

// rpcText is an error answer in words. Its data is dropped: it may hold anything.
func rpcText(e *sdk.RequestError) string {
	return fmt.Sprintf("the agent answered with error %d: %s", e.Code, printable(e.Message, 500))
}

// open begins a conversation in dir, or takes up the one called known.
func (c *conversation) open(ctx context.Context, dir, known string, limit time.Duration) error {
	method, params := methodNew, sessionParams{Cwd: dir, MCPServers: []struct{}{}}
	if known != "" {
		params.SessionID = known
		switch {
		case c.peer.info.resumes():
			method = methodResume
		case c.peer.info.AgentCapabilities.LoadSession:
			method = methodLoad
		default:
			return &agent.Error{Code: agent.ErrSessionNotResumable, Agent: c.agent}
		}
	}
	bounded, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	result, err := call[sessionResult](bounded, c.peer, method, params)
	var answered *sdk.RequestError
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &answered) && answered.Code == codeAuth:
		return c.loginNeeded()
	case err != nil && known != "":
		return &agent.Error{Code: agent.ErrSessionUnresumable, Agent: c.agent, Err: err}
	case errors.As(err, &answered):
		return &agent.Error{Code: agent.ErrProtocol, Agent: c.agent, Message: rpcText(answered), Err: err}
	case errors.Is(err, errTimeout):
		return &agent.Error{Code: agent.ErrPromptTimeout, Agent: c.agent, Message: "the agent did not begin a conversation in time", Err: err}
	case err != nil:
		return c.gone(err)
	case known == "" && result.SessionID == "":
		return &agent.Error{Code: agent.ErrProtocol, Agent: c.agent, Message: "the agent began a conversation without a name for it"}
	}
	if c.id = known; known == "" {
		c.id = result.SessionID
	}
	return nil
}

// gone is the failure of a connection that ended or broke the protocol.
func (c *conversation) gone(err error) error {
	code := agent.ErrPeerGone
	if errors.Is(err, errProtocol) || errors.Is(err, errLineTooLong) {
		code = agent.ErrProtocol
	}
	text := code.Error()
	if said := c.said(); said != "" {
		text += "; it wrote: " + said
	}
	return &agent.Error{Code: code, Agent: c.agent, Message: text, Err: err}
}

// end closes the conversation where the peer offers that, and ends the process and
// whatever it started. It is not abandoned when ctx ends.
func (c *conversation) end(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var refused error
	if c.id != "" && c.peer.info.closes() {
		bounded, cancel := context.WithTimeoutCause(ctx, closeGrace, errTimeout)
		_, err := call[struct{}](bounded, c.peer, methodClose, sessionID{c.id})
		cancel()
		var answered *sdk.RequestError
		if errors.As(err, &answered) {
			refused = &agent.Error{Code: agent.ErrTeardown, Agent: c.agent, Message: rpcText(answered), Err: err}
		}
	}
	return errors.Join(refused, c.process.end(c.agent))
}
