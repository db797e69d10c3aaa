//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A desk is a directory to work in and, outside of it, everything else of an xmd
// prompt: the scripted agent, what is kept for the person, and the pipe the agent
// reports to.
type desk struct {
	t    *testing.T
	base string
	dir  string // the working directory; prepare makes tmp in it
	env  []string
	said int // replies that were written down

	mu     sync.Mutex
	events []event
	moved  chan struct{} // closed, and replaced, with every event
	pipe   *os.File
	marks  int
}

// An event is a line of the agent's report.
type event struct {
	Event   string
	Session string
	Actual  string // of a mismatch
	Mark    int    // of a line of the test's own
	Params  json.RawMessage
	Start   struct {
		Entries     []string
		Environment []string
	}
	raw string
}

// A scene is one turn of the scripted agent, as the scenario writes it.
type scene map[string]any

// A script is a scenario beside its sessions: capabilities, new, close, ….
type script map[string]any

var anyPrompt = map[string]any{"any": true}

// turn is a turn that carries out steps, whatever it was sent.
func turn(steps ...any) scene { return scene{"prompt": anyPrompt, "do": append([]any{}, steps...)} }

// say is a step that replies with exactly this text.
func (d *desk) say(text string) map[string]any {
	d.t.Helper()
	d.said++
	name := "reply-" + strconv.Itoa(d.said) + ".md"
	require.NoError(d.t, os.WriteFile(filepath.Join(d.base, name), []byte(text), 0o600))
	return map[string]any{"say": map[string]any{"file": name}}
}

// replies are turns with these answers.
func (d *desk) replies(texts ...string) []scene {
	d.t.Helper()
	var scenes []scene
	for _, text := range texts {
		scenes = append(scenes, turn(d.say(text)))
	}
	return scenes
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, base: t.TempDir(), moved: make(chan struct{})}
	d.dir = filepath.Join(d.base, "work")
	require.NoError(t, os.Mkdir(d.dir, 0o777))
	require.NoError(t, os.Mkdir(d.path("released"), 0o777))
	d.env = []string{"XDG_DATA_HOME=" + d.path("data"), "XMD_AGENTS_FILE=" + d.path("agents.yaml")}

	require.NoError(t, syscall.Mkfifo(d.path("report"), 0o600))
	pipe, err := os.OpenFile(d.path("report"), os.O_RDWR, 0) // both ends, so that agents come and go
	require.NoError(t, err)
	d.pipe = pipe
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewReader(pipe); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			e := event{raw: line}
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				e.Event = "unreadable"
			}
			d.mu.Lock()
			d.events = append(d.events, e)
			close(d.moved)
			d.moved = make(chan struct{})
			d.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		pipe.Close()
		await(t, "the report to end", read)
		for _, pid := range d.processes() { // whatever a failed test left behind
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	d.agent("fixture")
	return d
}

func (d *desk) path(parts ...string) string {
	return filepath.Join(append([]string{d.base}, parts...)...)
}

// self is the program the tests run as xmd.
func self(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("xmd")
	require.NoError(t, err)
	return path
}

// agent makes the configuration: the scripted agent, with an adapter or none.
func (d *desk) agent(adapter string) {
	d.t.Helper()
	entry := map[string]any{"command": []string{
		self(d.t), "agent-fixture", "--scenario", d.path("scenario.json"), "--report", d.path("report"), "--state", d.path("released"),
	}}
	if adapter != "" {
		entry["adapter"] = adapter
	}
	if race, ok := os.LookupEnv("GORACE"); ok { // of the test's own build; an agent inherits nothing
		entry["env"] = map[string]string{"GORACE": race}
	}
	d.agents(entry)
}

// agents makes the configuration with an entry of its own.
func (d *desk) agents(entry map[string]any) {
	d.t.Helper()
	text, err := json.Marshal(map[string]any{"version": 1, "defaultAgent": "scripted", "agents": map[string]any{"scripted": entry}})
	require.NoError(d.t, err)
	require.NoError(d.t, os.WriteFile(d.path("agents.yaml"), text, 0o600))
}

// scenario makes what the agent does in every session of a name it is not told here.
func (d *desk) scenario(top script, scenes ...scene) {
	d.t.Helper()
	all := script{"version": 1}
	for k, v := range top {
		all[k] = v
	}
	if scenes != nil {
		// The name of a conversation is random, unless it is given.
		all["sessions"] = map[string][]scene{"*": scenes}
	}
	d.write(all)
}

// plays makes what the agent does in sessions of these names; "" is that of a
// document that names none.
func (d *desk) plays(sessions map[string][]scene) {
	d.t.Helper()
	d.write(script{"version": 1, "sessions": sessions})
}

func (d *desk) write(all script) {
	d.t.Helper()
	text, err := json.Marshal(all)
	require.NoError(d.t, err)
	require.NoError(d.t, os.WriteFile(d.path("scenario.json"), text, 0o600))
}

// answers makes an agent that gives these replies.
func (d *desk) answers(texts ...string) {
	d.t.Helper()
	d.scenario(nil, d.replies(texts...)...)
}

// report is all that agents that have ended reported, and at least what happened
// before the call.
func (d *desk) report() []event {
	d.t.Helper()
	d.mu.Lock()
	d.marks++
	mark := d.marks
	d.mu.Unlock()
	d.tell("mark", mark)
	d.happened("the mark", func(e event) bool { return e.Mark == mark })
	d.mu.Lock()
	defer d.mu.Unlock()
	var events []event
	for _, e := range d.events {
		require.NotEqual(d.t, "unreadable", e.Event, e.raw)
		if e.Mark == 0 { // no line of the test's own
			events = append(events, e)
		}
	}
	return events
}

// tell adds a line of the test's own to the report.
func (d *desk) tell(name string, mark ...int) {
	line, err := json.Marshal(map[string]any{"event": name, "mark": append(mark, -1)[0]})
	if err == nil {
		_, err = d.pipe.Write(append(line, '\n'))
	}
	if err != nil {
		d.t.Error(err)
	}
}

// named are the events of a name.
func (d *desk) named(name string) (list []event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.events {
		if e.Event == name {
			list = append(list, e)
		}
	}
	return list
}

// happened waits for an event.
func (d *desk) happened(what string, is func(event) bool) event {
	d.t.Helper()
	seen := 0
	for {
		d.mu.Lock()
		moved, events := d.moved, d.events
		d.mu.Unlock()
		for _, e := range events[seen:] {
			if is(e) {
				return e
			}
		}
		seen = len(events)
		await(d.t, what, moved)
	}
}

// reaches waits until the agent reports the nth event of a name.
func (d *desk) reaches(name string, nth int) event {
	d.t.Helper()
	return d.happened(name+" of the agent", func(e event) bool {
		if e.Event == name {
			nth--
		}
		return e.Event == name && nth == 0
	})
}

// turns are the messages the agent was sent.
func (d *desk) turns() []string {
	d.t.Helper()
	var texts []string
	for _, e := range d.report() {
		if e.Event != "prompt" {
			continue
		}
		var p struct{ Prompt []struct{ Text string } }
		require.NoError(d.t, json.Unmarshal(e.Params, &p))
		require.Len(d.t, p.Prompt, 1)
		texts = append(texts, p.Prompt[0].Text)
	}
	return texts
}

// sessions are the conversations that were begun or taken up.
func (d *desk) sessions() (list []event) {
	d.t.Helper()
	for _, e := range d.report() {
		if e.Event == "new" || e.Event == "load" || e.Event == "resume" {
			list = append(list, e)
		}
	}
	return list
}

// cwd is the directory of a conversation.
func (e event) cwd(t *testing.T) string {
	t.Helper()
	var p struct{ Cwd string }
	require.NoError(t, json.Unmarshal(e.Params, &p))
	return p.Cwd
}

// names lists what is below a directory, sorted; nothing when there is no such
// directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if path != dir && err == nil {
			rel, _ := filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	return list
}

// files lists the working directory, without the place for temporary files.
func (d *desk) files() []string {
	d.t.Helper()
	list := []string{}
	for _, name := range names(d.t, d.dir) {
		if name != "tmp" {
			list = append(list, name)
		}
	}
	return list
}

// places lists the directories of planning conversations.
func (d *desk) places() []string { return names(d.t, d.path("data", "xmd", "prompt", "sessions")) }

// requireTidy checks that nothing is left but files in the working directory: no
// process, no place of a conversation, no private home, no temporary file.
func (d *desk) requireTidy(files ...string) {
	d.t.Helper()
	require.Empty(d.t, d.processes(), "a process of the agent is left")
	require.Empty(d.t, d.places(), "the place of a conversation is left")
	require.Empty(d.t, names(d.t, d.path("data", "xmd", "agents", "homes")), "a private home is left")
	if files == nil {
		files = []string{}
	}
	require.Equal(d.t, files, d.files())
}

// processes are the ids of the agent's processes, which are known by their scenario.
// An id that they report themselves may be one of a namespace of theirs.
func (d *desk) processes() (pids []int) {
	d.t.Helper()
	if entries, err := filepath.Glob("/proc/[0-9]*/cmdline"); err == nil && entries != nil {
		for _, entry := range entries {
			if text, err := os.ReadFile(entry); err == nil && strings.Contains(string(text), d.base) {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(entry)))
				pids = append(pids, pid)
			}
		}
		return pids
	}
	list, err := exec.Command("ps", "-A", "-o", "pid=,args=").Output()
	require.NoError(d.t, err)
	for line := range strings.Lines(string(list)) {
		if strings.Contains(line, d.base) {
			pid, _ := strconv.Atoi(strings.Fields(line)[0])
			pids = append(pids, pid)
		}
	}
	return pids
}
