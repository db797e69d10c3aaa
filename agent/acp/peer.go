package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/executable-markdown/xmd/agent"
)

const (
	methodInitialize = "initialize"
	methodNew        = "session/new"
	methodLoad       = "session/load"
	methodResume     = "session/resume"
	methodSetMode    = "session/set_mode"
	methodPrompt     = "session/prompt"
	methodUpdate     = "session/update"
	methodPermission = "session/request_permission"
	methodCancel     = "session/cancel"
	methodClose      = "session/close"
)

// A peer is the program at the other end of one connection. It serves at most one
// conversation, and at most one exchange of it at a time.
type peer struct {
	conn   *sdk.Connection
	in     *inbound
	out    *outbound
	strict bool // a breach of the ceiling fails the exchange
	info   initializeResult

	skipped atomic.Int64 // lines that were no messages

	told chan struct{} // an update arrived that belongs to no exchange

	mu       sync.Mutex
	exchange *exchange
	struck   agent.Code // a breach outside an exchange, for the next one to fail with
}

// newPeer connects to a program that reads w and writes r.
func newPeer(w io.Writer, r io.Reader, strict bool) *peer {
	start := make(chan struct{})
	p := &peer{out: newOutbound(w), strict: strict, told: make(chan struct{}, 1)}
	p.in = newInbound(r, start, p.out)
	p.conn = sdk.NewConnection(p.handle, p.out, p.in)
	p.conn.SetLogger(slog.New(counter{&p.skipped}))
	close(start)
	return p
}

// A counter is a log that keeps only how many lines of the peer were unreadable: the
// library would log their content.
type counter struct{ n *atomic.Int64 }

func (c counter) Enabled(context.Context, slog.Level) bool { return true }
func (c counter) WithAttrs([]slog.Attr) slog.Handler       { return c }
func (c counter) WithGroup(string) slog.Handler            { return c }
func (c counter) Handle(_ context.Context, r slog.Record) error {
	if r.Level == slog.LevelError {
		c.n.Add(1)
	}
	return nil
}

// handle answers everything a peer asks (agents 13).
func (p *peer) handle(ctx context.Context, method string, params json.RawMessage) (any, *sdk.RequestError) {
	switch method {
	case markMethod:
		signal(p.in.marked)
		return nil, nil
	case methodUpdate:
		if x := p.current(); x != nil {
			x.update(params)
		} else {
			signal(p.told)
		}
		return nil, nil
	case methodPermission:
		p.out.owe()
		x := p.current()
		if x == nil {
			signal(p.in.entered)
			p.strike(agent.ErrToolPermissionRefused)
			return answer(agent.PermissionOutcome{}), nil
		}
		decide := x.permission(params)
		signal(p.in.entered)
		return answer(decide(ctx)), nil
	}
	if strings.HasPrefix(method, "fs/") || strings.HasPrefix(method, "terminal/") {
		p.strike(agent.ErrCapabilityUsed)
	}
	return nil, &sdk.RequestError{Code: -32601, Message: "Method not found"}
}

// strike records a breach of a strict peer against the exchange it belongs to, else
// against the next one.
func (p *peer) strike(breach agent.Code) {
	if !p.strict {
		return
	}
	p.mu.Lock()
	x := p.exchange
	if x == nil && p.struck == "" {
		p.struck = breach
	}
	p.mu.Unlock()
	if x != nil {
		x.condemn(breach)
	}
}

func (p *peer) current() *exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exchange
}

// begin makes x the exchange of the peer; with nil there is none.
func (p *peer) begin(x *exchange) {
	p.mu.Lock()
	p.exchange = x
	struck := p.struck
	if x != nil {
		p.struck = ""
	}
	p.mu.Unlock()
	if x != nil && struck != "" {
		x.condemn(struck)
	}
}

// A reply is what a request came to.
type reply[T any] struct {
	value T
	err   error
}

// send sends a request and returns where its reply will be. The goroutine behind it
// ends with the answer, with ctx, or with the connection; a peer that does not read
// holds it until it is ended.
func send[T any](ctx context.Context, p *peer, method string, params any) <-chan reply[T] {
	done := make(chan reply[T], 1)
	go func() {
		var r reply[T]
		var raw json.RawMessage
		if raw, r.err = sdk.SendRequest[json.RawMessage](p.conn, ctx, method, params); r.err != nil {
			r.err = p.failure(r.err)
		} else if len(raw) > 0 && json.Unmarshal(raw, &r.value) != nil {
			r.err = errProtocol
		}
		done <- r
	}()
	return done
}

// call sends a request and waits for the answer, the end of the connection or of ctx.
func call[T any](ctx context.Context, p *peer, method string, params any) (T, error) {
	select {
	case r := <-send[T](ctx, p, method, params):
		if r.err != nil && ctx.Err() != nil {
			return r.value, context.Cause(ctx)
		}
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// notify sends a notification, and waits no longer than ctx for the peer to read it.
func (p *peer) notify(ctx context.Context, method string, params any) {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_ = p.conn.SendNotification(ctx, method, params)
	}()
	select {
	case <-sent:
	case <-ctx.Done():
	}
}

var (
	errGone     = errors.New("the connection ended")
	errProtocol = errors.New("the agent broke the protocol")
)

// failure says what an error of the library means: the peer answered with an error
// (a *sdk.RequestError), broke the protocol, or is gone. The library reports its own
// troubles as internal errors with an object of one text, which are all of the last
// kind; a peer that imitates it is taken for gone, to nobody's loss but its own.
func (p *peer) failure(err error) error {
	if p.in.tooLong() {
		return errLineTooLong
	}
	var answered *sdk.RequestError
	if errors.As(err, &answered) {
		data, _ := answered.Data.(map[string]any)
		if _, own := data["error"].(string); !own || len(data) != 1 || answered.Code != -32603 {
			return answered
		}
	}
	return errGone
}

// cancel asks the peer to end the turn, after every permission request was answered.
func (p *peer) cancel(ctx context.Context, session string) {
	select {
	case <-p.out.settled():
	case <-p.conn.Done():
		return
	case <-ctx.Done():
	}
	p.notify(ctx, methodCancel, sessionID{session})
}

// How long a peer is silent before the history of a loaded session is taken to be at its
// end, and how long that is waited for.
const (
	silence     = 300 * time.Millisecond
	historyEnds = 5 * time.Second
)

// settle waits for the end of a history. The protocol has a peer tell it before its
// answer to session/load, and gemini-cli 0.61.0 tells it after, when it would be taken
// for the answer to the next prompt.
func (p *peer) settle(ctx context.Context) {
	quiet, enough := time.NewTimer(silence), time.NewTimer(historyEnds)
	defer quiet.Stop()
	defer enough.Stop()
	for {
		select {
		case <-p.told:
			quiet.Reset(silence)
		case <-quiet.C:
			return
		case <-enough.C:
			return
		case <-p.conn.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}
