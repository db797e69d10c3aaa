package acp

import (
	"encoding/json"
	"strings"

	"github.com/executable-markdown/xmd/agent"
)

// The messages are written from the structures below and not from the library's,
// because the library leaves out members that are false or empty, and what is
// refused here has to be stated (agents 11, 13).

type fileCapabilities struct {
	ReadTextFile  bool `json:"readTextFile"`
	WriteTextFile bool `json:"writeTextFile"`
}

type clientCapabilities struct {
	FS       fileCapabilities `json:"fs"`
	Terminal bool             `json:"terminal"`
}

type clientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type initializeParams struct {
	ProtocolVersion    int                `json:"protocolVersion"`
	ClientCapabilities clientCapabilities `json:"clientCapabilities"`
	ClientInfo         clientInfo         `json:"clientInfo"`
}

type initializeResult struct {
	ProtocolVersion   int `json:"protocolVersion"`
	AgentCapabilities struct {
		LoadSession         bool `json:"loadSession"`
		SessionCapabilities struct {
			Resume json.RawMessage `json:"resume"`
			Close  json.RawMessage `json:"close"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	AgentInfo struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"agentInfo"`
	AuthMethods []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"authMethods"`
}

func offered(capability json.RawMessage) bool {
	return len(capability) > 0 && string(capability) != "null" && string(capability) != "false"
}

func (r initializeResult) resumes() bool {
	return offered(r.AgentCapabilities.SessionCapabilities.Resume)
}
func (r initializeResult) closes() bool {
	return offered(r.AgentCapabilities.SessionCapabilities.Close)
}

// logins lists the ways to log in that the peer advertised, for a person.
func (r initializeResult) logins() string {
	var names []string
	for _, m := range r.AuthMethods {
		name := m.Name
		if name == "" {
			name = m.ID
		}
		names = append(names, printable(name, 80))
		if len(names) == 8 {
			break
		}
	}
	return strings.Join(names, ", ")
}

// sessionParams are the parameters of session/new, session/load and session/resume.
// There is no member for further directories: leaving it out is the only way the
// wire has to say that there are none.
type sessionParams struct {
	SessionID  string     `json:"sessionId,omitempty"`
	Cwd        string     `json:"cwd"`
	MCPServers []struct{} `json:"mcpServers"`
	Meta       *meta      `json:"_meta,omitempty"`
}

// sessionResult is what the three answer. A load or resume leaves the id out.
type sessionResult struct {
	SessionID string `json:"sessionId"`
	Modes     *struct {
		CurrentModeID  string `json:"currentModeId"`
		AvailableModes []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
	ConfigOptions []struct {
		ID           string          `json:"id"`
		CurrentValue json.RawMessage `json:"currentValue"`
		Options      json.RawMessage `json:"options"`
	} `json:"configOptions"`
}

// mode gives the current mode and the ones that can be chosen; nothing when the peer
// has no modes.
func (r sessionResult) mode() (current string, choices []string) {
	if r.Modes != nil {
		for _, m := range r.Modes.AvailableModes {
			choices = append(choices, m.ID)
		}
		return r.Modes.CurrentModeID, choices
	}
	for _, o := range r.ConfigOptions {
		if o.ID != "mode" || json.Unmarshal(o.CurrentValue, &current) != nil {
			continue
		}
		var values []struct {
			Value   string `json:"value"`
			Options []struct {
				Value string `json:"value"`
			} `json:"options"` // of a group, which has no value itself
		}
		if json.Unmarshal(o.Options, &values) != nil {
			return current, nil
		}
		for _, v := range values {
			if v.Value != "" {
				choices = append(choices, v.Value)
			}
			for _, nested := range v.Options {
				choices = append(choices, nested.Value)
			}
		}
		return current, choices
	}
	return "", nil
}

type sessionID struct {
	SessionID string `json:"sessionId"`
}

type setModeParams struct {
	SessionID string `json:"sessionId"`
	ModeID    string `json:"modeId"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type promptParams struct {
	SessionID string      `json:"sessionId"`
	Prompt    []textBlock `json:"prompt"`
}

type promptResult struct {
	StopReason string `json:"stopReason"`
}

// A sessionUpdate is the part of a session/update that means something here.
type sessionUpdate struct {
	SessionID string `json:"sessionId"`
	Update    struct {
		Kind       string          `json:"sessionUpdate"`
		Content    json.RawMessage `json:"content"`
		ToolCallID string          `json:"toolCallId"`
		ToolKind   *string         `json:"kind"`
		Status     string          `json:"status"`
		Mode       string          `json:"currentModeId"`
		Meta       json.RawMessage `json:"_meta"`
	} `json:"update"`
}

// text gives the output text of the update, if it is any.
func (u sessionUpdate) text() (string, bool) {
	if u.Update.Kind != "agent_message_chunk" {
		return "", false
	}
	var block textBlock
	if json.Unmarshal(u.Update.Content, &block) != nil || block.Type != "text" {
		return "", false
	}
	return block.Text, true
}

// accepts says whether the update shows that the peer took the prompt: bookkeeping
// about commands, modes, settings and usage does not.
func (u sessionUpdate) accepts() bool {
	switch u.Update.Kind {
	case "", "available_commands_update", "current_mode_update", "config_option_update", "usage_update":
		return false
	}
	return true
}

type permissionParams struct {
	SessionID string `json:"sessionId"`
	ToolCall  struct {
		ToolCallID string          `json:"toolCallId"`
		Title      string          `json:"title"`
		Kind       string          `json:"kind"`
		RawInput   json.RawMessage `json:"rawInput"`
	} `json:"toolCall"`
	Options []struct {
		OptionID string           `json:"optionId"`
		Name     string           `json:"name"`
		Kind     agent.OptionKind `json:"kind"`
	} `json:"options"`
}

// request reads the parameters of a permission request. It is false when they are
// malformed.
func request(raw json.RawMessage) (session string, r agent.PermissionRequest, ok bool) {
	var p permissionParams
	if json.Unmarshal(raw, &p) != nil {
		return "", r, false
	}
	r.Tool = agent.ToolCall{ID: p.ToolCall.ToolCallID, Title: p.ToolCall.Title, Kind: p.ToolCall.Kind, RawInput: p.ToolCall.RawInput}
	for _, o := range p.Options {
		r.Options = append(r.Options, agent.PermissionOption{ID: o.OptionID, Name: o.Name, Kind: o.Kind})
	}
	r.Options = agent.Offered(r.Options)
	return p.SessionID, r, p.SessionID != "" && r.Tool.ID != "" && p.Options != nil
}

type permissionOutcome struct {
	Outcome  string `json:"outcome"`
	OptionID string `json:"optionId,omitempty"`
}

type permissionAnswer struct {
	Outcome permissionOutcome `json:"outcome"`
}

func answer(o agent.PermissionOutcome) permissionAnswer {
	if o.OptionID == "" {
		return permissionAnswer{permissionOutcome{Outcome: "cancelled"}}
	}
	return permissionAnswer{permissionOutcome{Outcome: "selected", OptionID: o.OptionID}}
}

// meta asks an adapter, in the words of those that know them, for no tool, no
// setting of the user's and the host's one instruction text. A peer that does not
// know a member ignores it.
type meta struct {
	SystemPrompt        string     `json:"systemPrompt,omitempty"`
	DisableBuiltInTools bool       `json:"disableBuiltInTools"`
	ClaudeCode          claudeCode `json:"claudeCode"`
}

type claudeCode struct {
	Options claudeOptions `json:"options"`
}

type claudeOptions struct {
	AllowedTools                    []string `json:"allowedTools"`
	Tools                           []string `json:"tools"`
	DisallowedTools                 []string `json:"disallowedTools"`
	SettingSources                  []string `json:"settingSources"`
	MCPServers                      struct{} `json:"mcpServers"`
	StrictMCPConfig                 bool     `json:"strictMcpConfig"`
	AdditionalDirectories           []string `json:"additionalDirectories"`
	Hooks                           struct{} `json:"hooks"`
	Agents                          struct{} `json:"agents"`
	Plugins                         []string `json:"plugins"`
	Skills                          []string `json:"skills"`
	PromptSuggestions               bool     `json:"promptSuggestions"`
	AllowDangerouslySkipPermissions bool     `json:"allowDangerouslySkipPermissions"`
}

func newMeta(instructions string) *meta {
	return &meta{
		SystemPrompt:        instructions,
		DisableBuiltInTools: true,
		ClaudeCode: claudeCode{claudeOptions{
			AllowedTools: []string{}, Tools: []string{}, DisallowedTools: []string{"TaskOutput", "TaskStop", "EnterPlanMode"},
			SettingSources: []string{}, StrictMCPConfig: true, AdditionalDirectories: []string{},
			Plugins: []string{}, Skills: []string{},
		}},
	}
}
