//go:build unix

package interop

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const asks = `
        - toolCall: { id: t1, title: Look, kind: read, status: pending }
        - permission:
            toolCall: t1
            options: [ { id: a, name: Allow, kind: allow_once }, { id: r, name: Reject, kind: reject_once } ]
            on: { r: [ { say: " Denied." } ], a: [ { say: " Allowed." } ] }
`

// TestAG24_AnotherClient: the scripted agent is driven by a client of the protocol that
// is not ours, and writes down what that client sent.
func TestAG24_AnotherClient(t *testing.T) {
	for name, c := range map[string]struct {
		does, mode string
		status     int
		says       string
	}{
		"a turn":  {"\n", "--deny-all", 0, "Somebody is."},
		"denied":  {asks, "--deny-all", 5, "Denied."}, // the client's status of a denial
		"allowed": {asks, "--approve-all", 0, "Allowed."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			acpx := filepath.Join(modules(t, "acpx"), "node_modules/acpx/dist/cli.js")
			d := newDesk(t, nil)
			path, err := xmd()
			require.NoError(t, err)
			scenario, report := filepath.Join(d.root, "scenario.yaml"), filepath.Join(d.root, "report.jsonl")
			require.NoError(t, os.WriteFile(scenario, []byte(`
version: 1
sessions:
  "":
    - prompt: "Is anybody there?"
      do:
        - say: { chunks: ["Somebody ", "is."] }`+c.does), 0o600))
			r := d.start(node(t), acpx, "--agent", path+" agent-fixture --scenario "+scenario+" --report "+report,
				c.mode, "--no-fs", "--no-terminal", "--allowed-tools", "", "--system-prompt", "Be brief", "exec", "Is anybody there?")
			require.Equal(t, c.status, r.wait(), r.stderr.String())
			require.Contains(t, r.stdout.String(), "Somebody is.")
			require.Contains(t, r.stdout.String(), c.says)
			require.Contains(t, r.stdout.String(), "[done] end_turn")

			text, err := os.ReadFile(report)
			require.NoError(t, err)
			params := map[string]string{}
			for line := range strings.Lines(string(text)) {
				var event struct {
					Event  string
					Params json.RawMessage
				}
				require.NoError(t, json.Unmarshal([]byte(line), &event))
				require.NotContains(t, []string{"mismatch", "exhausted"}, event.Event)
				params[event.Event] = string(event.Params)
			}
			require.JSONEq(t, `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},
				"clientInfo":{"name":"acpx","version":"0.19.1"}}`, params["initialize"])
			require.JSONEq(t, `{"cwd":"`+d.dir+`","mcpServers":[],"_meta":{"claudeCode":{"options":{"allowedTools":[]}},"systemPrompt":"Be brief"}}`, params["new"])
			d.nobodyLeft()
		})
	}
}
