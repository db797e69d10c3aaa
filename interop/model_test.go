//go:build unix

package interop

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A model is a language model of three makers' protocols that runs on this machine and
// thinks nothing: it answers one text, except that a prompt with the marker is answered
// with calls of tools first. It writes down what it was sent.
type model struct {
	*httptest.Server
	answer string // the text of every answer
	calls  []call // made when a prompt holds the marker

	mu       sync.Mutex
	requests []request
}

// marker in a prompt makes the model call tools.
const marker = "use-your-tools"

// A call is a tool the model wants used, with arguments or with a text of the tool's own
// language.
type call struct {
	name      string
	arguments map[string]any
	text      string
}

// A request is what a model was sent: the tools it was offered, by name or by type where
// they have no name, and the whole text.
type request struct {
	tools []string
	body  string
}

func newModel(t *testing.T, answer string, calls ...call) *model {
	m := &model{answer: answer, calls: calls}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", m.messages)
	mux.HandleFunc("POST /v1beta/models/{action}", m.generate)
	mux.HandleFunc("POST /v1/responses", m.responses)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	m.Server = httptest.NewServer(mux)
	t.Cleanup(m.Close)
	return m
}

// about lists the requests whose text mentions something.
func (m *model) about(text string) []request {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []request
	for _, r := range m.requests {
		if strings.Contains(r.body, text) {
			list = append(list, r)
		}
	}
	return list
}

// results lists what the model was told about the calls it made, each cut short.
func (m *model) results() []string {
	var list []string
	for _, name := range []string{`"tool_result"`, `"functionResponse"`, `call_output"`} {
		for _, r := range m.about(name) {
			at := strings.Index(r.body, name)
			list = append(list, r.body[at:min(len(r.body), at+600)])
		}
	}
	return list
}

// take reads a request and says what it is to be answered with: nothing means the text.
// Tools are called once, so not when the request holds results already.
func (m *model) take(r *http.Request, results string, tools func(body []byte) []string) (calls []call, streamed bool) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, request{tools(body), string(body)})
	var asked struct{ Stream bool }
	_ = json.Unmarshal(body, &asked) // what is no JSON asks for nothing
	if strings.Contains(string(body), marker) && !strings.Contains(string(body), results) {
		calls = m.calls
	}
	return calls, asked.Stream
}

// object is JSON on its way out.
type object map[string]any

// A stream writes server-sent events.
type stream struct{ w http.ResponseWriter }

func streamTo(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	return stream{w}
}

func (s stream) data(v object) {
	text, _ := json.Marshal(v)
	fmt.Fprintf(s.w, "data: %s\n\n", text)
}

// event writes one whose name is its type as well.
func (s stream) event(name string, v object) {
	v["type"] = name
	fmt.Fprintf(s.w, "event: %s\n", name)
	s.data(v)
}

func reply(w http.ResponseWriter, v object) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// messages answers as Anthropic's models do.
func (m *model) messages(w http.ResponseWriter, r *http.Request) {
	calls, streamed := m.take(r, `"tool_result"`, func(body []byte) (names []string) {
		var sent struct{ Tools []struct{ Name, Type string } }
		_ = json.Unmarshal(body, &sent)
		for _, tool := range sent.Tools {
			names = append(names, tool.Name)
		}
		return names
	})
	usage := object{"input_tokens": 1, "output_tokens": 1}
	message := object{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}
	reason := "end_turn"
	var blocks, deltas []object
	for i, c := range calls {
		arguments, _ := json.Marshal(c.arguments)
		reason = "tool_use"
		blocks = append(blocks, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", i), "name": c.name, "input": object{}})
		deltas = append(deltas, object{"type": "input_json_delta", "partial_json": string(arguments)})
	}
	if len(calls) == 0 {
		blocks = []object{{"type": "text", "text": ""}}
		deltas = []object{{"type": "text_delta", "text": m.answer}}
	}
	if !streamed {
		message["content"], message["stop_reason"] = []object{{"type": "text", "text": m.answer}}, "end_turn"
		reply(w, message)
		return
	}
	s := streamTo(w)
	s.event("message_start", object{"message": message})
	for i := range blocks {
		s.event("content_block_start", object{"index": i, "content_block": blocks[i]})
		s.event("content_block_delta", object{"index": i, "delta": deltas[i]})
		s.event("content_block_stop", object{"index": i})
	}
	s.event("message_delta", object{"delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": usage})
	s.event("message_stop", object{})
}

// generate answers as Google's models do.
func (m *model) generate(w http.ResponseWriter, r *http.Request) {
	calls, _ := m.take(r, `"functionResponse"`, func(body []byte) (names []string) {
		var sent struct {
			Tools []struct {
				FunctionDeclarations []struct{ Name string }
			}
		}
		_ = json.Unmarshal(body, &sent)
		for _, group := range sent.Tools {
			for _, tool := range group.FunctionDeclarations {
				names = append(names, tool.Name)
			}
		}
		return names
	})
	parts := []object{{"text": m.answer}}
	if len(calls) > 0 {
		parts = nil
	}
	for _, c := range calls {
		parts = append(parts, object{"functionCall": object{"name": c.name, "args": c.arguments}})
	}
	answer := object{
		"candidates":    []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": parts}}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
	switch _, action, _ := strings.Cut(r.PathValue("action"), ":"); action {
	case "streamGenerateContent":
		streamTo(w).data(answer)
	case "countTokens":
		reply(w, object{"totalTokens": 1})
	default:
		reply(w, answer)
	}
}

// responses answers as OpenAI's models do.
func (m *model) responses(w http.ResponseWriter, r *http.Request) {
	calls, _ := m.take(r, `call_output"`, func(body []byte) (names []string) {
		var sent struct{ Tools []struct{ Name, Type string } }
		_ = json.Unmarshal(body, &sent)
		for _, tool := range sent.Tools {
			if tool.Name == "" {
				tool.Name = tool.Type
			}
			names = append(names, tool.Name)
		}
		return names
	})
	s := streamTo(w)
	s.event("response.created", object{"response": object{"id": "resp_1"}})
	for i, c := range calls {
		arguments, _ := json.Marshal(c.arguments)
		item := object{"id": fmt.Sprintf("fc_%d", i), "call_id": fmt.Sprintf("call_%d", i), "name": c.name}
		if item["type"], item["arguments"] = "function_call", string(arguments); c.text != "" {
			item["type"], item["input"] = "custom_tool_call", c.text
		}
		s.event("response.output_item.done", object{"output_index": i, "item": item})
	}
	if len(calls) == 0 {
		item := object{"type": "message", "id": "msg_1", "role": "assistant", "content": []object{}}
		s.event("response.output_item.added", object{"output_index": 0, "item": item})
		s.event("response.output_text.delta", object{"output_index": 0, "content_index": 0, "item_id": "msg_1", "delta": m.answer})
		s.event("response.output_item.done", object{"output_index": 0, "item": object{
			"type": "message", "id": "msg_1", "role": "assistant", "content": []object{{"type": "output_text", "text": m.answer, "annotations": []any{}}},
		}})
	}
	usage := object{"input_tokens": 1, "input_tokens_details": nil, "output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2}
	s.event("response.completed", object{"response": object{"id": "resp_1", "usage": usage, "output": []any{}}})
}
