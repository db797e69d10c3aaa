package scenario

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// maxLine is the size in bytes of the longest message a peer reads.
const maxLine = 64 << 20

// A Peer is the agent's side of the protocol, played from a scenario.
type Peer struct {
	Scenario *Scenario
	Session  string    // whose script every session of this peer follows
	State    State     // nil: positions end with the peer
	Report   io.Writer // gets one line of JSON per event; nil: nobody
	Start    *Start    // where the peer runs, for the report; nil: not reported
	Machine  Machine   // needed by a scenario with host effects
	Stderr   io.Writer // nil discards
	// IgnoreTerm is called by the step of that name, which also makes the peer stay when
	// its input ends; nil: nothing more.
	IgnoreTerm func()
}

// A Start is what a peer finds where it starts.
type Start struct {
	Cwd          string   `json:"cwd"`
	Entries      []string `json:"entries"`     // of the directory, sorted
	Environment  []string `json:"environment"` // names only, sorted
	ProcessGroup int      `json:"processGroup"`
	GroupLeader  bool     `json:"groupLeader"`
	NoNewPrivs   bool     `json:"noNewPrivs"`
}

// A Crash is how a step that crashes ends Serve: the process is to exit at once.
type Crash struct{ Status int }

// Error says so.
func (c *Crash) Error() string { return fmt.Sprintf("the scenario crashed with status %d", c.Status) }

// Pipe serves the peer in this process. The caller writes messages to in and reads
// them from out; done gives what Serve returned, once.
func (p Peer) Pipe(ctx context.Context) (in io.WriteCloser, out io.ReadCloser, done <-chan error) {
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx, fromClient, toClient) }()
	return in, out, ended
}

// Serve answers the messages of one client until its input ends, which is no error,
// until ctx ends, which gives its cause, or until a step crashes, which is a *Crash.
// Messages are lines of JSON-RPC 2.0. What is an io.Closer of in and out is closed, at
// the end or earlier when a step closes the output. When Serve returns, no turn is
// running any more.
//
// Messages are looked at in the order they arrive, so a cancellation reaches the turn
// that was asked for before it.
func (p Peer) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	if p.State == nil {
		p.State = &Memory{}
	}
	report := &reporter{w: p.Report}
	ctx, cancel := context.WithCancelCause(ctx)
	s := &server{
		Peer: p, ctx: ctx, end: cancel, out: out,
		engine:        &engine{p.Scenario, p.State, p.Machine, report},
		conversations: map[string]*conversation{}, turns: map[string]*running{}, waiting: map[int]chan answered{},
	}
	s.outCloser, _ = out.(io.Closer)
	if p.Start != nil {
		report.write("start", "start", p.Start)
	}
	lines := make(chan []byte)
	go readLines(ctx, in, lines)
	err := s.loop(lines)
	cancel(err)
	if c, is := in.(io.Closer); is {
		_ = c.Close()
	}
	s.closeOutput()
	s.work.Wait()
	s.reportExit(err)
	if err == nil {
		err = report.failure()
	}
	return err
}

// A server is one peer being served.
type server struct {
	Peer
	ctx    context.Context
	end    context.CancelCauseFunc
	engine *engine
	work   sync.WaitGroup

	writing   sync.Mutex
	out       io.Writer // nil: closed
	outCloser io.Closer // nil: there is nothing to close

	mu            sync.Mutex
	conversations map[string]*conversation
	turns         map[string]*running // by session id
	waiting       map[int]chan answered
	asked         int
	stubborn      bool
}

// running is a turn as its cancellation sees it.
type running struct {
	request string // the id of the request, as it was written
	cancel  chan struct{}
	once    sync.Once
}

func (r *running) stop() { r.once.Do(func() { close(r.cancel) }) }

// message is one line.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

type answered struct {
	result json.RawMessage
	fail   *rpcError
}

// readLines sends every line that is not blank, and closes lines at the end.
func readLines(ctx context.Context, in io.Reader, lines chan<- []byte) {
	defer close(lines)
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLine)
	for scanner.Scan() {
		line := append([]byte(nil), scanner.Bytes()...)
		if strings.TrimSpace(string(line)) == "" {
			continue
		}
		select {
		case lines <- line:
		case <-ctx.Done():
			return
		}
	}
}

// loop handles lines until there is a reason to end.
func (s *server) loop(lines <-chan []byte) error {
	for {
		select {
		case line, more := <-lines:
			if !more {
				s.mu.Lock()
				stubborn := s.stubborn
				s.mu.Unlock()
				if !stubborn {
					return nil
				}
				lines = nil
				continue
			}
			s.handle(line)
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
}

func (s *server) handle(line []byte) {
	var m message
	switch err := json.Unmarshal(line, &m); {
	case err != nil:
		s.reply(json.RawMessage("null"), nil, &rpcError{Code: -32700, Message: "parse error"})
	case m.Method == "":
		s.settle(m)
	case m.ID == nil:
		s.notified(m)
	default:
		s.requested(m)
	}
}

// settle hands an answer to whoever asked.
func (s *server) settle(m message) {
	var id int
	if json.Unmarshal(m.ID, &id) != nil {
		return
	}
	s.mu.Lock()
	c := s.waiting[id]
	delete(s.waiting, id)
	s.mu.Unlock()
	if c != nil {
		c <- answered{m.Result, m.Error}
	}
}

func (s *server) notified(m message) {
	var p struct {
		SessionID string          `json:"sessionId"`
		RequestID json.RawMessage `json:"requestId"`
	}
	if m.Method != "session/cancel" && m.Method != "$/cancel_request" || json.Unmarshal(m.Params, &p) != nil {
		return
	}
	s.engine.report.write("cancel", "method", m.Method, "params", params(m))
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, t := range s.turns {
		if m.Method == "session/cancel" && id == p.SessionID || m.Method != "session/cancel" && t.request == string(p.RequestID) {
			t.stop()
		}
	}
}

// params are those of a message, for the report.
func params(m message) json.RawMessage {
	if m.Params == nil {
		return json.RawMessage("null")
	}
	return m.Params
}

func (s *server) requested(m message) {
	switch m.Method {
	case "initialize":
		s.engine.report.write("initialize", "params", params(m))
		s.shake(m, s.Scenario.initialize, func() (any, *rpcError) { return s.welcome(), nil })
	case "session/new":
		s.engine.report.write("new", "session", s.Session, "params", params(m))
		s.shake(m, s.Scenario.opening, s.opened)
	case "session/load", "session/resume":
		kind := strings.TrimPrefix(m.Method, "session/")
		s.engine.report.write(kind, "session", s.Session, "params", params(m))
		if kind == "load" && !s.Scenario.capabilities.load || kind == "resume" && !s.Scenario.capabilities.resume {
			s.unknown(m)
			return
		}
		s.shake(m, handshake{}, func() (any, *rpcError) { return s.reattached(m, kind == "load") })
	case "session/close":
		s.engine.report.write("close", "session", s.Session, "params", params(m))
		if !s.Scenario.capabilities.close {
			s.unknown(m)
			return
		}
		s.shake(m, s.Scenario.closing, func() (any, *rpcError) { return s.closed(m) })
	case "session/set_mode":
		s.engine.report.write("mode", "session", s.Session, "params", params(m))
		s.shake(m, handshake{}, func() (any, *rpcError) { return s.entered(m) })
	case "session/prompt":
		s.prompted(m)
	default:
		s.unknown(m)
	}
}

func (s *server) unknown(m message) {
	s.reply(m.ID, nil, &rpcError{Code: -32601, Message: "method not found"})
}

// shake answers a request the way a handshake says.
func (s *server) shake(m message, h handshake, result func() (any, *rpcError)) {
	s.work.Go(func() {
		timer := time.NewTimer(h.delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.ctx.Done():
			return
		}
		switch {
		case h.hang:
		case h.fail != nil:
			s.reply(m.ID, nil, h.fail)
		default:
			v, fail := result()
			s.reply(m.ID, v, fail)
		}
	})
}

type empty struct{}

// welcome is the result of initialize.
func (s *server) welcome() any {
	type sessionCapabilities struct {
		Close  *empty `json:"close,omitempty"`
		Resume *empty `json:"resume,omitempty"`
	}
	type agentCapabilities struct {
		Load     bool                `json:"loadSession"`
		Sessions sessionCapabilities `json:"sessionCapabilities"`
	}
	type info struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	c := agentCapabilities{Load: s.Scenario.capabilities.load}
	if s.Scenario.capabilities.close {
		c.Sessions.Close = &empty{}
	}
	if s.Scenario.capabilities.resume {
		c.Sessions.Resume = &empty{}
	}
	return struct {
		Version      int               `json:"protocolVersion"`
		Info         info              `json:"agentInfo"`
		Capabilities agentCapabilities `json:"agentCapabilities"`
		AuthMethods  []empty           `json:"authMethods"`
	}{s.Scenario.protocolVersion, info{s.Scenario.agentName, s.Scenario.agentVersion}, c, []empty{}}
}

// A mode as the protocol lists it.
type listedMode struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type modeState struct {
	Current   string       `json:"currentModeId"`
	Available []listedMode `json:"availableModes"`
}

func (s *server) modes(c *conversation) *modeState {
	if s.Scenario.modes == nil {
		return nil
	}
	m := &modeState{Current: c.mode}
	for _, id := range s.Scenario.modes.available {
		m.Available = append(m.Available, listedMode{id, id})
	}
	return m
}

func (s *server) opened() (any, *rpcError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, fail := s.engine.open(s.Session, slotOf(s.Session))
	if fail != nil {
		return nil, fail
	}
	s.conversations[c.id] = c
	return struct {
		ID    string     `json:"sessionId"`
		Modes *modeState `json:"modes,omitempty"`
	}{c.id, s.modes(c)}, nil
}

// reattached continues a session. A load first repeats that something was said, as
// the protocol has it.
func (s *server) reattached(m message, load bool) (any, *rpcError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, fail := s.engine.reattach(s.Session, slotOf(s.Session), sessionID(m))
	if fail != nil {
		return nil, fail
	}
	s.conversations[c.id] = c
	if load && c.consumed > 0 {
		history := fmt.Sprintf("(history: %d stage(s))", c.consumed)
		_ = s.send("session/update", nil, sessionUpdate{c.id, chunk(userChunk, history)})
		_ = s.send("session/update", nil, sessionUpdate{c.id, chunk(messageChunk, history)})
	}
	return struct {
		Modes *modeState `json:"modes,omitempty"`
	}{s.modes(c)}, nil
}

func sessionID(m message) string {
	var p struct {
		SessionID string `json:"sessionId"`
	}
	_ = json.Unmarshal(m.Params, &p) // what has none names none
	return p.SessionID
}

var errNoSession = rpcError{Code: -32602, Message: "there is no such session"}

func (s *server) closed(m message) (any, *rpcError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := sessionID(m)
	if s.conversations[id] == nil {
		return nil, &errNoSession
	}
	if t := s.turns[id]; t != nil {
		t.stop()
	}
	return empty{}, nil
}

func (s *server) entered(m message) (any, *rpcError) {
	var p struct {
		ModeID string `json:"modeId"`
	}
	_ = json.Unmarshal(m.Params, &p)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.conversations[sessionID(m)]
	if c == nil {
		return nil, &errNoSession
	}
	if s.Scenario.modes != nil {
		for _, id := range s.Scenario.modes.available {
			if id == p.ModeID {
				c.mode = id
				return empty{}, nil
			}
		}
	}
	return nil, &rpcError{Code: -32602, Message: "there is no such mode"}
}

// prompted begins a turn before the next message is looked at.
func (s *server) prompted(m message) {
	s.engine.report.write("prompt", "session", s.Session, "params", params(m))
	var p struct {
		SessionID string      `json:"sessionId"`
		Prompt    []textBlock `json:"prompt"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		s.reply(m.ID, nil, &rpcError{Code: -32602, Message: "session/prompt needs sessionId and prompt"})
		return
	}
	var text strings.Builder
	for _, block := range p.Prompt {
		if block.Type == "text" {
			text.WriteString(block.Text)
		}
	}
	s.mu.Lock()
	c, busy := s.conversations[p.SessionID], s.turns[p.SessionID] != nil
	t := &running{request: string(m.ID), cancel: make(chan struct{})}
	if c != nil && !busy {
		s.turns[p.SessionID] = t
	}
	s.mu.Unlock()
	switch {
	case c == nil:
		s.reply(m.ID, nil, &errNoSession)
	case busy:
		s.reply(m.ID, nil, &rpcError{Code: -32600, Message: "a turn is running in this session"})
	default:
		s.work.Go(func() { s.turn(m, c, text.String(), t) })
	}
}

func (s *server) turn(m message, c *conversation, text string, t *running) {
	end := s.engine.take(s.ctx, c, text, t.cancel, &wire{s, c})
	s.mu.Lock()
	delete(s.turns, c.id)
	s.mu.Unlock()
	switch {
	case end.err != nil, end.fault == neverAnswers:
	case end.fault == crashed:
		s.end(&Crash{end.status})
	case end.fault == outputClosed:
		s.closeOutput()
	case end.fail != nil:
		s.reply(m.ID, nil, end.fail)
	default:
		s.reply(m.ID, struct {
			StopReason string `json:"stopReason,omitempty"`
		}{*end.stop}, nil)
	}
}

// reply answers a request. A client that is gone needs none.
func (s *server) reply(id json.RawMessage, result any, fail *rpcError) {
	if fail != nil {
		_ = s.write(marshal(struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Error   *rpcError       `json:"error"`
		}{"2.0", id, fail}))
		return
	}
	_ = s.write(marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{"2.0", id, result}))
}

// send sends a request, or a notification when id is nil.
func (s *server) send(method string, id *int, params any) error {
	return s.write(marshal(struct {
		Version string `json:"jsonrpc"`
		ID      *int   `json:"id,omitempty"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", id, method, params}))
}

// write writes one line.
func (s *server) write(line []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.out == nil {
		return errOutputClosed
	}
	_, err := s.out.Write(append(line, '\n'))
	return err
}

var errOutputClosed = errors.New("the output is closed")

// closeOutput may find a write in its way that nobody reads; closing ends it.
func (s *server) closeOutput() {
	if s.outCloser != nil {
		_ = s.outCloser.Close()
	}
	s.writing.Lock()
	s.out = nil
	s.writing.Unlock()
}

func (s *server) reportExit(err error) {
	var members []any
	var crash *Crash
	if errors.As(err, &crash) {
		members = append(members, "status", crash.Status)
	}
	if s.Scenario.requireComplete {
		stages, _ := s.Scenario.script(s.Session)
		left := len(stages)
		for _, c := range s.conversations {
			left = min(left, c.left())
		}
		members = append(members, "unconsumed", map[string]int{s.Session: left})
	}
	s.engine.report.write("exit", members...)
}
