//go:build unix

package interop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/executable-markdown/xmd/internal/cli" // what the command is made of: a change of it runs these tests again
)

// patience is how long a test waits for something that takes seconds on an idle machine.
const patience = 90 * time.Second

// modules is a folder of an installed program; the test is skipped where the folders are
// not there, as on a machine nobody prepared.
func modules(t *testing.T, folder string) string {
	t.Helper()
	root := os.Getenv("XMD_INTEROP_MODULES")
	if root == "" {
		t.Skip("XMD_INTEROP_MODULES names no folder of packages: run interop/install DIR, and set it to DIR")
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(root, folder))
	require.NoError(t, err, "XMD_INTEROP_MODULES lacks a package: run interop/install again")
	return dir
}

// node is the program the agents run in; the test is skipped where it is older than they
// need, as the one of some distributions is.
func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	require.NoError(t, err, "the packages are installed, and node is not")
	version, err := exec.Command(path, "-p", "process.versions.node.split('.')[0]").Output()
	require.NoError(t, err)
	if major, err := strconv.Atoi(strings.TrimSpace(string(version))); err != nil || major < 20 {
		t.Skipf("these agents need node 20 or later, and this is %s", version)
	}
	return path
}

// xmd is the command, built once as it is released.
var xmd = sync.OnceValues(func() (string, error) {
	path := filepath.Join(built, "xmd")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "github.com/executable-markdown/xmd/cmd/xmd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// built is where the command is put.
var built string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if built, err = os.MkdirTemp("", "xmd-interop-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(built)
		return m.Run()
	}())
}

// A desk is where one person works: a directory, a home, and agents to name.
type desk struct {
	t    *testing.T
	dir  string // the working directory
	root string // above everything that is this person's
	env  []string
}

// newDesk sets a desk up. Each agent is an entry of agents.yaml, without its name.
func newDesk(t *testing.T, agents map[string]any) *desk {
	t.Helper()
	root := t.TempDir()
	d := &desk{t: t, root: root, dir: filepath.Join(root, "work")}
	for _, name := range []string{"work", "home", "tmp"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, name), 0o700))
	}
	config, err := json.Marshal(map[string]any{"version": 1, "agents": agents})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "agents.yaml"), config, 0o600))
	d.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "home"), "TMPDIR=" + filepath.Join(root, "tmp"),
		"XDG_DATA_HOME=" + filepath.Join(root, "data"), "XMD_AGENTS_FILE=" + filepath.Join(root, "agents.yaml"),
	}
	return d
}

// entry is how agents.yaml writes an agent of a command alone.
func entry(argv ...string) map[string]any { return map[string]any{"command": argv} }

// A running command.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout bytes.Buffer // complete once it ended
	stderr follower
	ended  chan struct{}
}

// start starts a command at the desk; the test ends it if nothing else does.
func (d *desk) start(program string, args ...string) *running {
	d.t.Helper()
	r := &running{t: d.t, cmd: exec.Command(program, args...), ended: make(chan struct{})}
	r.stderr.more = make(chan struct{}, 1)
	r.cmd.Dir, r.cmd.Env, r.cmd.Stdout, r.cmd.Stderr = d.dir, d.env, &r.stdout, &r.stderr
	r.cmd.WaitDelay = time.Second // something that outlives it may hold the streams open
	require.NoError(d.t, r.cmd.Start())
	go func() {
		_ = r.cmd.Wait() // the state tells
		close(r.ended)
	}()
	d.t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.ended
	})
	return r
}

// xmd starts the command of that name.
func (d *desk) xmd(args ...string) *running {
	d.t.Helper()
	path, err := xmd()
	require.NoError(d.t, err)
	return d.start(path, args...)
}

// wait returns the exit status, -1 when a signal ended the command.
func (r *running) wait() int {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(patience):
		require.FailNow(r.t, "the command did not end", r.stderr.String())
	}
	return r.cmd.ProcessState.ExitCode()
}

// succeeds waits for the end and returns what was written to standard output.
func (r *running) succeeds() string {
	r.t.Helper()
	require.Zero(r.t, r.wait(), r.stderr.String())
	return r.stdout.String()
}

// A follower keeps what is written and tells that there is more.
type follower struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (f *follower) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text.Write(b)
	select {
	case f.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (f *follower) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.String()
}

// until polls for what nobody announces.
func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !happened(); <-tick.C {
		if time.Now().After(deadline) {
			require.FailNow(t, "waited in vain for "+what)
		}
	}
}

// nobodyLeft checks that no process is left of those that were started at the desk: all
// of them, and their children, have a home below it.
func (d *desk) nobodyLeft() {
	d.t.Helper()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		return // processes cannot be looked at here
	}
	until(d.t, "every process to be gone", func() bool { return len(processesWith(d.root)) == 0 })
}

// processesWith lists the processes whose environment mentions a text. Those that ended
// and were not waited for have none.
func processesWith(text string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var found []string
	for _, file := range files {
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte(text)) {
			found = append(found, file)
		}
	}
	return found
}

// file reads a file of the working directory; none has no text.
func (d *desk) file(name string) string {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, name))
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(d.t, err)
	}
	return string(text)
}

// turns reads the records of turns in a history.
func (d *desk) turns(history string) []turnRecord {
	d.t.Helper()
	var list []turnRecord
	for line := range strings.Lines(d.file(history)) {
		var event struct {
			Description struct {
				Type string `json:"type"`
			} `json:"description"`
			Result struct {
				Value turnRecord `json:"value"`
			} `json:"result"`
		}
		if strings.Contains(line, `"agent_prompt"`) {
			require.NoError(d.t, json.Unmarshal([]byte(line), &event))
			list = append(list, event.Result.Value)
		}
	}
	return list
}

type turnRecord struct {
	Status         string `json:"status"`
	StopReason     string `json:"stopReason"`
	Text           string `json:"text"`
	AgentSessionID string `json:"agentSessionId"`
	Permissions    []json.RawMessage
}

// A wiretap is what an agent that is run under it read and wrote. What it writes is told
// as it is written, so that a test knows how far the agent is.
type wiretap struct {
	t         *testing.T
	in        string
	out       chan string
	mentioned strings.Builder
}

// tap returns the entry of an agent under a wiretap. Its programs are one process group.
func tap(t *testing.T, argv ...string) (map[string]any, *wiretap) {
	t.Helper()
	dir := t.TempDir()
	w := &wiretap{t: t, in: filepath.Join(dir, "in"), out: make(chan string, 10_000)}
	pipe := filepath.Join(dir, "out")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	// Held open at both ends here, so that the agents, a probe first, may come and go.
	held, err := os.OpenFile(pipe, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { held.Close() })
	go func() {
		defer close(w.out)
		for rest := ""; ; {
			b := make([]byte, 1<<16)
			n, err := held.Read(b)
			if err != nil {
				return
			}
			lines := strings.SplitAfter(rest+string(b[:n]), "\n")
			rest = lines[len(lines)-1]
			for _, line := range lines[:len(lines)-1] {
				w.out <- line
			}
		}
	}()
	script := fmt.Sprintf(`tee -a %q | "$@" | tee -a %q`, w.in, pipe)
	return entry(append([]string{"/bin/sh", "-c", script, "agent"}, argv...)...), w
}

// says waits for a line of the agent that holds a text.
func (w *wiretap) says(text string) {
	w.t.Helper()
	for {
		select {
		case line, ok := <-w.out:
			require.True(w.t, ok)
			w.mentioned.WriteString(line)
			if strings.Contains(line, text) {
				return
			}
		case <-time.After(patience):
			require.FailNow(w.t, "the agent never said "+text, w.mentioned.String())
		}
	}
}

// heard is everything that was said to the agent.
func (w *wiretap) heard() string {
	w.t.Helper()
	text, err := os.ReadFile(w.in)
	require.NoError(w.t, err)
	return string(text)
}
