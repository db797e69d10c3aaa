package agent

import "sync"

// maxToolCalls bounds the tool calls of a turn whose kind is remembered. The kind of
// a later one is unknown unless its request states it, so it is asked about.
const maxToolCalls = 1 << 14

// ToolKinds remembers what kind a peer said its tool calls have, in one turn: a
// permission request may leave the kind out (agents 7.1). The zero value is ready and
// safe for concurrent use; every turn has its own.
type ToolKinds struct {
	mu    sync.Mutex
	kinds map[string]string
}

// Report notes the kind of a tool call, or of an update to one. An empty kind says
// nothing and changes nothing.
func (k *ToolKinds) Report(id, kind string) {
	if kind == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kinds == nil {
		k.kinds = map[string]string{}
	}
	if _, seen := k.kinds[id]; seen || len(k.kinds) < maxToolCalls {
		k.kinds[id] = kind
	}
}

// Complete returns the tool call with the last reported kind when it states none
// itself. A title is never evidence of a kind.
func (k *ToolKinds) Complete(t ToolCall) ToolCall {
	if t.Kind == "" {
		k.mu.Lock()
		t.Kind = k.kinds[t.ID]
		k.mu.Unlock()
	}
	return t
}
