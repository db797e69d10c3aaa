package acp

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/agent"
)

// A Profile is what is known of one adapter (agents 16). It is data.
type Profile struct {
	Name     string // empty: nothing is known of the adapter
	Revision int    // raised with every change that alters what a session is created with

	Arguments    func(home string) []string // appended under a ceiling; may be nil
	Files        map[string]string          // of the private home, by path in it
	Variables    map[string]string          // set under a ceiling; "~" is the private home
	Credentials  []string                   // variables passed on under a ceiling
	CredentialAt []string                   // files of the user's home linked into the private one
	// Reach is what its command line has it read and write under a ceiling; may be nil.
	Reach  func(argv []string) (read, write []string)
	Mode   string                 // the session mode that is pinned; empty: none
	Notice func(meta []byte) bool // whether a chunk is the adapter's own message; may be nil
	Known  []string               // adapter versions this was measured with

	// Verified says that the tools of the adapter are suppressed by the profile,
	// measured with the known versions: a command that is verified needs no containment.
	Verified func(c agent.Command) bool
}

func always(agent.Command) bool { return true }
func never(agent.Command) bool  { return false }

// profileOf returns the profile of an adapter name.
func profileOf(name string) Profile {
	switch name {
	case "claude":
		return Profile{
			Name: name, Revision: 1, Mode: "default", Notice: claudeNotice, Verified: always,
			Credentials:  []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"},
			CredentialAt: []string{".claude/.credentials.json"},
			Variables:    map[string]string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1"},
			Known:        []string{"0.16.2", "0.101.0"},
		}
	case "gemini":
		return Profile{
			Name: name, Revision: 1, Mode: "default", Verified: always,
			Arguments: func(home string) []string {
				return []string{"--admin-policy", path.Join(home, "deny.toml"), "--extensions", "none", "--allowed-mcp-server-names", "none"}
			},
			Files:        map[string]string{"deny.toml": "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 999\n"},
			Credentials:  []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_MODEL"},
			CredentialAt: []string{".gemini/oauth_creds.json", ".gemini/google_accounts.json"},
			Variables:    map[string]string{"GEMINI_TELEMETRY_ENABLED": "false"},
			Known:        []string{"0.61.0"},
		}
	case "codex":
		return Profile{
			Name: name, Revision: 1, Mode: "read-only", Verified: never,
			Files: map[string]string{".codex/config.toml": `sandbox_mode = "read-only"
approval_policy = "untrusted"
web_search = "disabled"

[features]
shell_tool = false
unified_exec = false
multi_agent = false
goals = false
collaboration_modes = false
default_mode_request_user_input = false

[tools]
view_image = false
web_search = false
`},
			Credentials:  []string{"OPENAI_API_KEY", "CODEX_API_KEY"},
			CredentialAt: []string{".codex/auth.json"},
			Variables:    map[string]string{"CODEX_HOME": "~/.codex", "CODEX_EXEC_SERVER_URL": "none"},
			Known:        []string{"0.16.0"},
		}
	case agent.FixtureAdapter:
		return Profile{Name: name, Revision: 1, Notice: claudeNotice, Reach: fixtureReach, Verified: func(c agent.Command) bool {
			return !slices.Contains(c.Argv, "--allow-host-effects")
		}}
	}
	return Profile{Verified: never}
}

// fixtureReach is the folder of the scenario, which is read, and those of the position
// and of the report, which are written (agents 16.4).
func fixtureReach(argv []string) (read, write []string) {
	for i, word := range argv {
		name, at, inline := strings.Cut(word, "=")
		if !inline && i+1 < len(argv) {
			at = argv[i+1]
		}
		if name != "--state" {
			at = filepath.Dir(at)
		}
		if !filepath.IsAbs(at) || !exists(at) {
			continue
		}
		switch name {
		case "--scenario":
			read = append(read, at)
		case "--state", "--report":
			write = append(write, at)
		}
	}
	return read, write
}

// claudeNotice recognises a chunk the adapter marks as a message of its own.
func claudeNotice(raw []byte) bool {
	var m struct {
		ClaudeCode struct {
			Kind *string `json:"kind"`
		} `json:"claudeCode"`
	}
	return json.Unmarshal(raw, &m) == nil && m.ClaudeCode.Kind != nil
}
