package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/executable-markdown/xmd/agent"
)

// A link is a started program that answered initialize.
type link struct {
	*peer
	core    *core
	agent   string
	program program
	launch  Launch
}

// launch describes how a command is started for a session of a logical name. Under a
// ceiling it makes the private home of that leaf name; cleanup removes it.
func (c *core) launch(command agent.Command, name, leaf string) (l Launch, cleanup func() error, err error) {
	started := command.ForSession(name)
	l = Launch{Agent: command.Agent, Argv: started.Argv, Session: name}
	if c.ceiling == nil {
		l.Env = ordinaryEnv(c.env, command)
		return l, func() error { return nil }, nil
	}
	return c.ceiling.launch(c, command, l, leaf)
}

// connect starts a program and has it initialized, within the time the command has
// for that. When it fails, the program is gone.
func (c *core) connect(ctx context.Context, command agent.Command, l Launch) (*link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, command.Timeouts.Initialize, errSlow)
	defer cancel()
	var p program
	if c.dial != nil {
		stream, err := c.dial(l)
		if err != nil {
			return nil, unavailable(command.Agent, startReason(err), "it cannot be reached", "", err)
		}
		p = dialled{stream}
	} else {
		wait := patience{c.limits.Leave, c.limits.Terminate, c.limits.Kill, 2 * time.Second}
		started, err := start(l, c.contain, c.stderr, wait)
		if errors.Is(err, agent.ErrCeiling) {
			return nil, err
		}
		if err != nil {
			return nil, unavailable(command.Agent, startReason(err), "its program cannot be started; check its installation", "", err)
		}
		p = started
	}
	k := &link{core: c, agent: command.Agent, program: p, launch: l, peer: newPeer(p, p, c.ceiling != nil)}
	info, err := call[initializeResult](ctx, k.peer, methodInitialize, initializeParams{
		ProtocolVersion: 1, ClientInfo: clientInfo{Name: "xmd", Version: c.version},
	})
	k.info = info
	if err == nil && info.ProtocolVersion != 1 {
		err = errVersion
	}
	if err == nil {
		return k, nil
	}
	// What it left is read before it is ended by force.
	failure := k.unavailable(err)
	return nil, single(errors.Join(failure, k.end(c.rush)))
}

var (
	errSlow    = errors.New("it did not answer in time")
	errVersion = errors.New("it speaks another version of the protocol")
)

// unavailable says why a program did not come to be initialized.
func (k *link) unavailable(err error) error {
	var answered *sdk.RequestError
	exit, stderr := "", ""
	switch {
	case errors.Is(err, errVersion):
		return unavailable(k.agent, agent.ReasonVersion,
			fmt.Sprintf("it speaks protocol version %d, not 1; update it", k.info.ProtocolVersion), "", nil)
	case errors.Is(err, errLineTooLong), errors.Is(err, errProtocol):
		return unavailable(k.agent, agent.ReasonProtocol, "it does not speak the protocol; check its command", k.tail(), err)
	case errors.As(err, &answered):
		if answered.Code == -32000 {
			return k.loginNeeded()
		}
		return unavailable(k.agent, agent.ReasonProtocol,
			fmt.Sprintf("it refused to begin with error %d: %s", answered.Code, printable(answered.Message, 500)), "", nil)
	case errors.Is(err, errSlow):
		return unavailable(k.agent, agent.ReasonTimeout, "it did not answer in time; check its installation", k.tail(), nil)
	case errors.Is(err, errGone):
		exit, stderr = k.diagnosis()
		if p, ok := k.program.(*process); ok && k.core.ceiling != nil && p.uncontained() {
			return uncontained(k.agent, stderr, nil)
		}
		if k.skipped.Load() > 0 && exit == "" {
			return unavailable(k.agent, agent.ReasonProtocol, "it does not speak the protocol; check its command", stderr, nil)
		}
		return unavailable(k.agent, agent.ReasonExited, strings.TrimSpace("it ended before it answered "+exit), stderr, nil)
	}
	return err
}

// diagnosis is the exit state and the presentable end of standard error.
func (k *link) diagnosis() (exit, stderr string) {
	exit, raw := k.program.diagnosis()
	return exit, k.presentable(raw)
}

// tail is the presentable end of the standard error of a program that still runs.
func (k *link) tail() string {
	p, ok := k.program.(*process)
	if !ok {
		return ""
	}
	return k.presentable(p.stderr.bytes())
}

func (k *link) presentable(raw []byte) string {
	homes := append([]string{k.launch.Paths.Home, environ(k.core.env)["HOME"]}, k.core.homes...)
	return tail(raw, append(secrets(k.launch.Env), k.core.secrets...), homes)
}

// loginNeeded tells a person to log in with the agent's own tool.
func (k *link) loginNeeded() error {
	text := fmt.Sprintf("agent %q asks for a login; log in with that agent's own tool and run again", k.agent)
	if ways := k.info.logins(); ways != "" {
		text += " (it offers: " + ways + ")"
	}
	return &agent.Error{Code: agent.ErrAuthRequired, Agent: k.agent, Message: text}
}

// end ends the program and waits until nothing of the connection is left.
func (k *link) end(ctx context.Context) error {
	err := k.program.end(ctx)
	if err == nil {
		<-k.conn.Done()
	}
	var failure *agent.Error
	if errors.As(err, &failure) {
		failure.Agent = k.agent
	}
	return err
}

// failed says what an error of a request means for the turn or the opening of a
// conversation; refused is the code of an error the agent answered with.
func (k *link) failed(err error, session string, refused agent.Code) error {
	var answered *sdk.RequestError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answered) && answered.Code == -32000:
		return k.loginNeeded()
	case errors.As(err, &answered):
		return &agent.Error{Code: refused, Agent: k.agent, Session: session,
			Message: fmt.Sprintf("agent %q answered with error %d: %s", k.agent, answered.Code, printable(answered.Message, 500))}
	case errors.Is(err, errLineTooLong):
		return &agent.Error{Code: agent.ErrProtocol, Agent: k.agent, Session: session, Message: fmt.Sprintf("agent %q broke the protocol: %s", k.agent, err)}
	case errors.Is(err, errProtocol):
		return &agent.Error{Code: agent.ErrProtocol, Agent: k.agent, Session: session}
	case errors.Is(err, errGone):
		exit, stderr := k.diagnosis()
		text := fmt.Sprintf("agent %q ended before it answered", k.agent)
		if exit != "" {
			text += " (" + exit + ")"
		}
		if stderr != "" {
			text += "; it wrote:\n" + stderr
		}
		return &agent.Error{Code: agent.ErrPeerGone, Agent: k.agent, Session: session, Message: text}
	}
	return err
}
