//go:build unix

package interop

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An adapter is a program that makes a coding agent speak the protocol.
type adapter struct {
	folder  string
	program string // below the folder
	args    []string
	profile string
	env     map[string]string
	calls   [][]call // of tools, made whether or not they are offered; one turn each
	offered []string // what the profile cannot take away
	mode    string   // what a session is in under the ceiling; empty: it has no modes
	minute  bool     // a session it began in a minute can be taken up only in another
}

// adapters lists them. In their texts MODEL is the address of the model, CANARY and IMAGE
// are files of the caller, and LEFT is one that does not exist.
func adapters() []adapter {
	const shell = "cat CANARY; echo left > LEFT; echo left > left.txt"
	arguments := func(list ...string) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(list); i += 2 {
			m[list[i]] = list[i+1]
		}
		return m
	}
	claude := adapter{
		profile: "claude", mode: "default",
		env: map[string]string{"ANTHROPIC_BASE_URL": "MODEL", "ANTHROPIC_API_KEY": "x"},
		calls: [][]call{{
			{name: "Bash", arguments: arguments("command", shell)},
			{name: "Read", arguments: arguments("file_path", "CANARY")},
			{name: "Write", arguments: arguments("file_path", "LEFT", "content", "left")},
		}},
	}
	earlier, later := claude, claude
	earlier.folder, earlier.program = "claude-code", "node_modules/@zed-industries/claude-code-acp/dist/index.js"
	later.folder, later.program = "claude-agent", "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"
	return []adapter{earlier, later, {
		folder: "gemini", program: "node_modules/@google/gemini-cli/bundle/gemini.js", args: []string{"--acp"},
		profile: "gemini", mode: "default", minute: true,
		env: map[string]string{"GOOGLE_GEMINI_BASE_URL": "MODEL", "GEMINI_API_KEY": "x", "GEMINI_MODEL": "gemini-2.5-flash"},
		calls: [][]call{{
			{name: "run_shell_command", arguments: arguments("command", shell)},
			{name: "read_file", arguments: arguments("file_path", "CANARY")},
			{name: "write_file", arguments: arguments("file_path", "LEFT", "content", "left")},
		}},
	}, {
		// The model is one the adapter knows: of others it says so, in the text of the turn.
		folder: "codex", program: "node_modules/@zed-industries/codex-acp/bin/codex-acp.js",
		args: []string{"-c", `model="gpt-5.4"`, "-c", `model_provider="here"`,
			"-c", `model_providers.here={name="here", base_url="MODEL/v1", wire_api="responses", env_key="OPENAI_API_KEY"}`},
		profile: "codex", // its approval policy belongs to no mode, so that none is offered
		env:     map[string]string{"OPENAI_BASE_URL": "MODEL", "OPENAI_API_KEY": "x"},
		calls: [][]call{
			{{name: "exec_command", arguments: arguments("cmd", shell)}},
			{{name: "shell_command", arguments: arguments("command", shell)}},
			{{name: "view_image", arguments: arguments("path", "IMAGE")}},
			{{name: "apply_patch", text: "*** Begin Patch\n*** Add File: left.txt\n+left\n*** End Patch"}},
			{{name: "apply_patch", text: "*** Begin Patch\n*** Add File: LEFT\n+left\n*** End Patch"}},
		},
		offered: []string{"update_plan", "request_user_input"},
	}}
}

const (
	canary   = "the-canary-sings"
	document = "# A greeting\n\nThe greeting is kept in `greeting.txt`.\n\n<File path=\"greeting.txt\">Hello from a model.</File>\n\nThat is all.\n"
)

// A stand is an adapter before a model, at a desk.
type stand struct {
	*desk
	adapter
	model *model
}

func newStand(t *testing.T, a adapter, calls ...call) *stand {
	t.Helper()
	dir := modules(t, a.folder)
	s := &stand{adapter: a, model: newModel(t, document)}
	fill := strings.NewReplacer("MODEL", s.model.URL)
	argv := []string{node(t), beside(t, a.folder, "tap.mjs"), node(t), filepath.Join(dir, a.program)}
	for _, arg := range a.args {
		argv = append(argv, fill.Replace(arg))
	}
	env := map[string]string{}
	for name, text := range a.env {
		env[name] = fill.Replace(text)
	}
	s.desk = newDesk(t, map[string]any{"it": map[string]any{"command": argv, "adapter": a.profile, "env": env}})
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "canary.txt"), []byte(canary), 0o600))
	var picture bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "canary.png"), picture.Bytes(), 0o600))
	fill = strings.NewReplacer("CANARY", filepath.Join(s.dir, "canary.txt"), "IMAGE", filepath.Join(s.dir, "canary.png"), "LEFT", filepath.Join(s.dir, "left.txt"))
	for _, c := range calls {
		filled := call{name: c.name, text: fill.Replace(c.text), arguments: map[string]any{}}
		for key, text := range c.arguments {
			filled.arguments[key] = fill.Replace(text.(string))
		}
		s.model.calls = append(s.model.calls, filled)
	}
	return s
}

// wire is what was written to the adapter, or by it, in the private home of a named
// planning conversation.
func (s *stand) wire(name string) string {
	s.t.Helper()
	var all []byte
	files, err := filepath.Glob(filepath.Join(s.root, "data/xmd/agents/homes/*", name))
	require.NoError(s.t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(s.t, err)
		all = append(all, text...)
	}
	require.NotEmpty(s.t, all)
	return string(all)
}

// TestAG24_Adapters: the agents people use, before a model that records what it is
// offered. Without the ceiling they have tools; under it they have none, but for what
// their profile says it cannot take away, and a call the model makes all the same has no
// effect.
func TestAG24_Adapters(t *testing.T) {
	if os.Getenv("XMD_INTEROP") != "full" {
		t.Skip("set XMD_INTEROP=full, as make interop does; it needs about 850 MB of packages")
	}
	for _, a := range adapters() {
		t.Run(a.folder+"/ordinary", func(t *testing.T) {
			s := newStand(t, a)
			require.Equal(t, document, s.xmd("run", "-e", `<Prompt text="hello there" />`, "--default-agent", "it", "--deny-all").succeeds())
			asked := s.model.about("hello there")
			require.NotEmpty(t, asked)
			offered := offeredTools(asked)
			t.Logf("%d tools: %s", len(offered), offered)
			require.Greater(t, len(offered), len(a.offered), "the tools are counted")
			s.nobodyLeft()
		})
		t.Run(a.folder+"/planning", func(t *testing.T) {
			s := newStand(t, a)
			s.approved("write a greeting", "first.md")
			s.isPinned()
			if began := time.Now(); a.minute {
				until(t, "the next minute", func() bool { return time.Now().Minute() != began.Minute() })
			}
			s.approved("write another greeting", "second.md")
			require.Regexp(t, `"session/(load|resume)"`, s.wire("wire-in"))
			require.True(t, slices.ContainsFunc(s.model.about("write another greeting"), func(asked request) bool {
				return strings.Contains(asked.body, "write a greeting")
			}), "the model was not told what was said before")
		})
		for _, calls := range a.calls {
			t.Run(a.folder+"/forced "+calls[0].name, func(t *testing.T) {
				s := newStand(t, a, calls...)
				r := s.xmd("prompt", "--ask", "web", "--default-agent", "it", "--save", "kept.md", marker+" and write a greeting")
				if page := r.review(1); page != nil {
					page.choose("approve")
				}
				switch status := r.wait(); status {
				case 0:
					came := s.model.results()
					require.NotEmpty(t, came, "the calls were not made")
					t.Log("the model was told: " + came[0])
				default: // reaching for a tool fails the turn
					require.Equal(t, 1, status, r.stderr.String())
					require.NoFileExists(t, filepath.Join(s.dir, "kept.md"))
					t.Log(r.stderr.String())
				}
				s.offersNothing()
				require.Empty(t, s.model.about(canary), "the model was told what a file holds")
				require.Empty(t, s.model.about("data:image"), "the model was shown a picture")
				require.NoFileExists(t, filepath.Join(s.dir, "left.txt"))
				s.nobodyLeft()
				s.nothingKept()
			})
		}
	}
}

// approved has a document written in the conversation called talk, and runs it.
func (s *stand) approved(request, file string) {
	s.t.Helper()
	r := s.xmd("prompt", "--ask", "web", "--default-agent", "it", "--session", "talk", "--save", file, request)
	page := r.review(1)
	require.NotNil(s.t, page, r.stderr.String())
	page.choose("approve")
	r.succeeds()
	require.Equal(s.t, document, s.file(file), "the text of the whole turn and nothing else")
	require.Equal(s.t, "Hello from a model.", s.file("greeting.txt"))
	s.offersNothing()
	s.nobodyLeft()
}

// offersNothing checks that the model was asked, and never offered a tool but those that
// are known to stay.
func (s *stand) offersNothing() {
	s.t.Helper()
	asked := s.model.about("greeting")
	require.NotEmpty(s.t, asked)
	left := offeredTools(asked)
	require.Subset(s.t, s.offered, left)
	if len(s.offered) == 0 {
		require.Empty(s.t, left)
	}
}

func offeredTools(asked []request) []string {
	var names []string
	for _, r := range asked {
		names = append(names, r.tools...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isPinned checks that the session is in the mode of the profile: it began in it or was
// put there before the first prompt.
func (s *stand) isPinned() {
	s.t.Helper()
	var begun struct {
		Result struct {
			Modes struct {
				CurrentModeID string `json:"currentModeId"`
			}
		}
	}
	for line := range strings.Lines(s.wire("wire-out")) {
		if strings.Contains(line, `"currentModeId"`) && strings.Contains(line, `"result"`) {
			require.NoError(s.t, json.Unmarshal([]byte(line), &begun))
		}
	}
	before, _, found := strings.Cut(s.wire("wire-in"), `"session/prompt"`)
	require.True(s.t, found)
	if mode := begun.Result.Modes.CurrentModeID; mode != s.mode {
		require.Contains(s.t, before, `"session/set_mode"`)
		require.Contains(s.t, before, `"modeId":"`+s.mode+`"`)
	}
}
