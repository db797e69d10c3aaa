package scenario

import (
	"encoding/json"
	"io"
)

// wire is the client of a turn that is being served.
type wire struct {
	server *server
	at     *conversation
}

type sessionUpdate struct {
	SessionID string `json:"sessionId"`
	Update    update `json:"update"`
}

func (w *wire) update(u update) error {
	return w.server.send("session/update", nil, sessionUpdate{w.at.id, u})
}

// ask sends a request whose answer arrives on the channel.
func (w *wire) ask(method string, params any) (<-chan answered, error) {
	s := w.server
	c := make(chan answered, 1)
	s.mu.Lock()
	s.asked++
	id := s.asked
	s.waiting[id] = c
	s.mu.Unlock()
	return c, s.send(method, &id, params)
}

func (w *wire) await(c <-chan answered) (answered, error) {
	select {
	case a := <-c:
		return a, nil
	case <-w.server.ctx.Done():
		return answered{}, w.server.ctx.Err()
	}
}

func (w *wire) permission(asks []ask) ([]reply, error) {
	type toolCall struct {
		ID       string          `json:"toolCallId"`
		Title    string          `json:"title,omitempty"`
		Kind     string          `json:"kind,omitempty"`
		Status   string          `json:"status,omitempty"`
		RawInput json.RawMessage `json:"rawInput,omitempty"`
	}
	type request struct {
		SessionID string   `json:"sessionId"`
		Call      toolCall `json:"toolCall"`
		Options   []option `json:"options"`
	}
	answers := make([]<-chan answered, len(asks))
	for i, a := range asks {
		call := toolCall{a.call.ToolCallID, a.call.Title, a.call.ToolKind, a.call.Status, a.call.RawInput}
		c, err := w.ask("session/request_permission", request{w.at.id, call, a.options})
		if err != nil {
			return nil, err
		}
		answers[i] = c
	}
	replies := make([]reply, len(asks))
	for i, c := range answers {
		a, err := w.await(c)
		if err != nil {
			return nil, err
		}
		replies[i] = permissionReply(a)
	}
	return replies, nil
}

func permissionReply(a answered) reply {
	var r struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
	switch err := json.Unmarshal(a.result, &r); {
	case a.fail != nil:
		return reply{fail: a.fail}
	case err == nil && r.Outcome.Outcome == "selected" && r.Outcome.OptionID != "":
		return reply{option: r.Outcome.OptionID}
	case err == nil && r.Outcome.Outcome == "cancelled":
		return reply{}
	}
	return reply{fail: &rpcError{Code: -32602, Message: "the answer to a permission request is neither selected nor cancelled"}}
}

func (w *wire) request(method string, params json.RawMessage) (*rpcError, error) {
	c, err := w.ask(method, params)
	if err != nil {
		return nil, err
	}
	a, err := w.await(c)
	return a.fail, err
}

func (w *wire) noise(n noise) error {
	if n.kind != stderrText {
		return w.server.write([]byte(n.line()))
	}
	if w.server.Stderr != nil {
		_, _ = io.WriteString(w.server.Stderr, n.text) // nobody has to listen
	}
	return nil
}

func (w *wire) ignoreTerm() {
	w.server.mu.Lock()
	w.server.stubborn = true
	w.server.mu.Unlock()
	if w.server.IgnoreTerm != nil {
		w.server.IgnoreTerm()
	}
}
