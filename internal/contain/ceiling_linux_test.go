package contain_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/agent/acp"
	"github.com/executable-markdown/xmd/internal/contain"
)

// A hold is a constrained provider whose one agent means harm and has no profile, so
// that nothing but the kernel holds it.
type hold struct {
	*acp.Constrained
	t           *testing.T
	cwds, homes string
	plot        plot
}

func newHold(t *testing.T, k acp.Containment) (*hold, error) {
	t.Helper()
	dir := t.TempDir()
	h := &hold{t: t, cwds: filepath.Join(dir, "cwd"), homes: filepath.Join(dir, "homes")}
	h.plot = plot{Canary: filepath.Join(dir, "outside", "canary"), Outside: filepath.Join(dir, "outside"), Pid: os.Getpid(), Tag: "xmd-" + filepath.Base(t.TempDir()) + filepath.Base(dir)}
	open := func(at string) *os.Root {
		require.NoError(t, os.Mkdir(at, 0o700))
		root, err := os.OpenRoot(at)
		require.NoError(t, err)
		t.Cleanup(func() { _ = root.Close() })
		return root
	}
	require.NoError(t, os.Mkdir(h.plot.Outside, 0o700))
	for _, name := range canaries {
		require.NoError(t, os.WriteFile(filepath.Join(h.plot.Outside, name), []byte("canary"), 0o600))
	}
	self, err := os.Executable()
	require.NoError(t, err)
	h.Constrained, err = acp.NewConstrained(acp.CeilingOptions{
		Agents:   &agent.Registry{Installed: map[string]agent.Entry{"hostile": {Command: []string{self, "hostile"}}}},
		LookPath: exec.LookPath, DefaultAgent: "hostile", Directories: open(h.cwds), Homes: open(h.homes),
		Session: "s", Instructions: "x", Version: "1", Containment: k,
		Env:      append(os.Environ(), "CANARY=in the environment"),
		Timeouts: acp.Timeouts{Cancel: 300 * time.Millisecond, Leave: 200 * time.Millisecond, Terminate: 200 * time.Millisecond},
	})
	if err == nil {
		t.Cleanup(func() { _ = h.Close(context.Background()) })
	}
	return h, err
}

func mustHold(t *testing.T, level int) *hold {
	t.Helper()
	h, err := newHold(t, need(t, level))
	require.NoError(t, err)
	return h
}

// A heard turn is what came of one.
type heard struct {
	text  string
	err   error
	begun bool
	end   *agent.Terminal
}

func (h *hold) prompt(do string, o agent.PromptOptions) heard {
	h.t.Helper()
	h.plot.Do = do
	text, err := json.Marshal(h.plot)
	require.NoError(h.t, err)
	var got heard
	got.text, got.err = h.Prompt(string(text), o).Run(h.t.Context(), func(e agent.Event) error {
		switch e := e.(type) {
		case agent.Started:
			got.begun = true
		case agent.Terminal:
			got.end = &e
		}
		return nil
	})
	return got
}

// canaries are the files of somebody else.
var canaries = [...]string{"canary", "canary2", "canary3"}

// gone asserts that nothing of the agent is left.
func (h *hold) gone() {
	h.t.Helper()
	for _, dir := range []string{h.cwds, h.homes} {
		entries, err := os.ReadDir(dir)
		require.NoError(h.t, err)
		require.Empty(h.t, entries)
	}
	entries, err := os.ReadDir(h.plot.Outside)
	require.NoError(h.t, err)
	require.Len(h.t, entries, len(canaries))
	for _, name := range canaries {
		text, err := os.ReadFile(filepath.Join(h.plot.Outside, name))
		require.NoError(h.t, err)
		require.Equal(h.t, "canary", string(text))
	}
}

// tagged lists the processes of this machine that the agent marked.
func (h *hold) tagged() []string {
	h.t.Helper()
	var found []string
	entries, err := os.ReadDir("/proc")
	require.NoError(h.t, err)
	for _, e := range entries {
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if words := strings.Split(string(line), "\x00"); len(words) > 2 && words[1] == "survive" && strings.HasPrefix(words[2], h.plot.Tag) {
			found = append(found, e.Name()+" "+words[2])
		}
	}
	return found
}

// TestAG18_AHostileAgentReachesNothing that the kernel can refuse it.
func TestAG18_AHostileAgentReachesNothing(t *testing.T) {
	h := mustHold(t, 2)
	listen := func(network, address string) net.Listener {
		l, err := net.Listen(network, address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	short, err := os.MkdirTemp("", "s") // the path of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	h.plot.TCP = listen("tcp", "127.0.0.1:0").Addr().(*net.TCPAddr).Port
	h.plot.Path, h.plot.Name = filepath.Join(short, "s"), h.plot.Tag
	listen("unix", h.plot.Path)
	listen("unix", "@"+h.plot.Name)

	_, abi := contain.New().Level()
	got := h.prompt("reach", agent.PromptOptions{})
	require.NoError(t, got.err)
	require.Equal(t, agent.Completed, got.end.Status, "%v", got.end.Err)
	seen := 0
	for line := range strings.Lines(got.text) {
		name, outcome, _ := strings.Cut(strings.TrimSpace(line), "=")
		seen++
		switch {
		case name == "environment":
			require.NotContains(t, outcome, "in the environment")
		case abi < 4 && (name == "tcp" || name == "listen"), abi < 6 && name == "signal":
		default:
			require.Equal(t, "refused", outcome, name)
		}
	}
	require.Equal(t, len(attempts(h.plot))+1, seen)
	require.NoError(t, h.Close(t.Context()))
	h.gone()
}

// TestAG19_NothingOfAHostileAgentSurvives: neither what left its group nor what became
// nobody's child, and stderr that one of them holds open stops nobody.
func TestAG19_NothingOfAHostileAgentSurvives(t *testing.T) {
	h := mustHold(t, 3)
	got := h.prompt("leave", agent.PromptOptions{})
	require.NoError(t, got.err)
	require.Equal(t, "group=done\nsession=done\norphan=done\n", got.text)
	require.Eventually(t, func() bool { return len(h.tagged()) == 3 }, 10*time.Second, 5*time.Millisecond, "they do start")
	require.NoError(t, h.Close(t.Context()))
	require.Empty(t, h.tagged())
	h.gone()
}

// TestAG14_AHostileAgentIsGrantedNothing: whatever it asks fails its turn, and what it
// does all the same does not succeed.
func TestAG14_AHostileAgentIsGrantedNothing(t *testing.T) {
	for do, code := range map[string]agent.Code{"ask": agent.ErrToolPermissionRefused, "client": agent.ErrCapabilityUsed} {
		t.Run(do, func(t *testing.T) {
			h := mustHold(t, 2)
			got := h.prompt(do, agent.PromptOptions{Policy: agent.Answers(agent.ApproveAll, "", nil)})
			require.NoError(t, got.err)
			require.Equal(t, agent.Failed, got.end.Status)
			require.ErrorIs(t, got.end.Err, code)
			require.NoError(t, h.Close(t.Context()))
			h.gone()
		})
	}
}

// TestAG19_AHostileAgentThatDoesNotStop is ended, and the turn says that it was the
// time.
func TestAG19_AHostileAgentThatDoesNotStop(t *testing.T) {
	h := mustHold(t, 2)
	got := h.prompt("stream", agent.PromptOptions{Timeout: 300 * time.Millisecond})
	if got.begun { // what it streams after the cancellation is no acceptance of anything
		require.ErrorIs(t, got.end.Err, agent.ErrPromptTimeout)
	} else {
		require.ErrorIs(t, got.err, agent.ErrPromptTimeout)
	}
	require.NoError(t, h.Close(t.Context()))
	h.gone()
}

// TestAG15_WithoutContainmentItIsRefusedFirst: no directory, no home, no process.
func TestAG15_WithoutContainmentItIsRefusedFirst(t *testing.T) {
	h, err := newHold(t, acp.Uncontained{})
	require.ErrorIs(t, err, agent.ErrCeiling)
	h.gone()
}

// an olderKernel has less to offer than it said.
type olderKernel struct{ *contain.Kernel }

func (k olderKernel) Contain(cmd *exec.Cmd, paths acp.Paths) error {
	err := k.Kernel.Contain(cmd, paths)
	cmd.Args = append([]string{"xmd", "older-kernel"}, cmd.Args[1:]...)
	return err
}

// TestAG18_ARuleThatCannotBeAppliedRefuses: the agent is never spoken to, and the
// refusal is of the ceiling.
func TestAG18_ARuleThatCannotBeAppliedRefuses(t *testing.T) {
	h, err := newHold(t, olderKernel{need(t, 2)})
	require.NoError(t, err)
	got := h.prompt("reach", agent.PromptOptions{})
	require.ErrorIs(t, got.err, agent.ErrCeiling)
	require.ErrorContains(t, got.err, "contain")
	require.False(t, got.begun)
	require.NoError(t, h.Close(t.Context()))
	h.gone()
}

// TestAG15_TheReportSaysWhatHolds.
func TestAG15_TheReportSaysWhatHolds(t *testing.T) {
	h := mustHold(t, 2)
	_, err := h.Agent(t.Context(), "")
	require.NoError(t, err)
	level, abi := contain.New().Level()
	r := h.Ceiling()[0]
	require.Equal(t, []any{"hostile", "0", false, level, abi}, []any{r.AdapterName, r.AdapterVersion, r.Verified, r.Containment, r.ABI})
	classes := map[string]string{}
	for _, c := range r.Clauses {
		classes[c.ID] = c.Class
		require.NotEmpty(t, c.Text)
		require.NotContains(t, c.Text, h.homes)
	}
	require.Equal(t, acp.Enforced, classes["C1"])
	require.Equal(t, acp.BestEffort, classes["C5"])
	require.Equal(t, acp.Absent, classes["C6"])
	require.Equal(t, acp.Enforced, classes["C10"])
	require.Equal(t, acp.BestEffort, classes["C11"])
}
