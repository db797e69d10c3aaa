//go:build unix

package host

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func shell(script string) Command {
	return Command{Args: []string{"bash", "-c", script}, Env: EnvList(Environ())}
}

// impatient gives processes a short time to stop.
func impatient() *Programs { return &Programs{grace: 50 * time.Millisecond} }

// patience is how long a test waits for what should happen at once.
const patience = 20 * time.Second

// ended waits until a pipe has no writer left: until every process that holds it
// is gone.
func ended(t *testing.T, r *os.File) {
	t.Helper()
	require.NoError(t, r.SetReadDeadline(time.Now().Add(patience)))
	_, err := io.Copy(io.Discard, r)
	require.NoError(t, err, "a process is still there")
}

// fifo makes a named pipe that the script of a command can hold open, and opens
// its reading end.
func fifo(t *testing.T) (path string, r *os.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "alive")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	return path, r
}

// conversation makes a named pipe that a script can read, and opens its writing
// end: opening either end waits for nobody.
func conversation(t *testing.T) (path string, w *os.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "talk")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	w, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	return path, w
}

// start starts a command whose group has all the time it may want. Its output is
// read from lines, which end when everything has.
func start(t *testing.T, ctx context.Context, c Command) (started *running, lines *bufio.Reader) {
	t.Helper()
	r, w := io.Pipe()
	c.Stdout = w
	command, err := (&Programs{grace: patience}).Start(ctx, c)
	require.NoError(t, err)
	t.Cleanup(func() {
		r.Close()
		require.NoError(t, command.Stop())
	})
	go func() {
		_, _ = command.Wait()
		w.Close()
	}()
	return command.(*running), bufio.NewReader(r)
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		script, stdout, stderr string
		status                 int
	}{
		{script: "echo out; echo err >&2; exit 3", stdout: "out\n", stderr: "err\n", status: 3},
		{script: "true"},
		{script: "cat", stdout: ""},
		{script: "kill -KILL $$", status: 128 + 9},
		{script: "kill -TERM $$", status: 128 + 15},
		{script: "head -c 300000 /dev/zero | tr '\\0' x", stdout: strings.Repeat("x", 300000)},
		{script: "exit 255", status: 255},
	} {
		t.Run(c.script, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			command := shell(c.script)
			command.Stdout, command.Stderr = &stdout, &stderr
			status, err := NewProcess().Run(t.Context(), command)
			require.NoError(t, err)
			require.Equal(t, c.status, status)
			require.True(t, c.stdout == stdout.String())
			require.Equal(t, c.stderr, stderr.String())
		})
	}
}

func TestRunHasExactlyItsEnvironmentAndDirectory(t *testing.T) {
	t.Setenv("XMD_HOST_TEST", "inherited")
	directory, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, env := range [][]string{nil, {"A=1"}} {
		var stdout bytes.Buffer
		status, err := NewProcess().Run(t.Context(), Command{
			Args: []string{"sh", "-c", `pwd; echo "[$A][$XMD_HOST_TEST]"`}, Dir: directory, Env: env, Stdout: &stdout,
		})
		require.NoError(t, err)
		require.Zero(t, status)
		value := strings.TrimPrefix(strings.Join(env, ""), "A=")
		require.Equal(t, directory+"\n["+value+"][]\n", stdout.String())
	}
}

func TestRunLooksProgramsUpInItsOwnPath(t *testing.T) {
	directory := tree(t, map[string]string{"hello": "#!/bin/sh\necho hello", "plain": "", "sub/": ""})
	require.NoError(t, os.Chmod(filepath.Join(directory, "hello"), 0o755))
	var stdout bytes.Buffer
	_, err := NewProcess().Run(t.Context(), Command{Args: []string{"hello"}, Env: []string{"PATH=/nowhere:" + directory}, Stdout: &stdout})
	require.NoError(t, err)
	require.Equal(t, "hello\n", stdout.String())

	for _, c := range []struct {
		name    string
		command Command
		is      error
		says    string
	}{
		{"unknown", Command{Args: []string{"no-such-program"}}, fs.ErrNotExist, `cannot start "no-such-program": no such program; install it or put its directory on PATH`},
		{"not in this path", Command{Args: []string{"sh"}, Env: []string{"PATH=" + directory}}, fs.ErrNotExist, "no such program"},
		{"not executable", Command{Args: []string{"plain"}, Env: []string{"PATH=" + directory}}, fs.ErrPermission, "permission denied"},
		{"a directory", Command{Args: []string{"sub"}, Env: []string{"PATH=" + directory}}, fs.ErrPermission, "permission denied"},
		{"by path", Command{Args: []string{directory + "/plain"}}, fs.ErrPermission, "permission denied"},
		{"no such path", Command{Args: []string{directory + "/nothing"}}, fs.ErrNotExist, "no such program"},
		{"no directory", Command{Args: []string{"sh"}, Dir: directory + "/nothing"}, nil, "working directory cannot be entered"},
		{"a file as directory", Command{Args: []string{"sh"}, Dir: directory + "/plain"}, nil, "working directory cannot be entered"},
		{"empty", Command{}, nil, "the command is empty"},
		{"too long", Command{Args: []string{"sh", "-c", strings.Repeat("x", 8<<20)}}, nil, "argument list too long"},
		{"a zero byte", Command{Args: []string{"sh", "a\x00b"}}, nil, "invalid argument"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewProcess().Run(t.Context(), c.command)
			var start *StartError
			require.ErrorAs(t, err, &start)
			require.ErrorContains(t, err, c.says)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		})
	}
}

// A relative entry of PATH names nothing, wherever this process and the command
// are; the absolute ones behind it still count.
func TestRunPassesOverRelativeEntriesOfPath(t *testing.T) {
	here := tree(t, map[string]string{"hello": "#!/bin/sh\necho here", "sub/hello": "#!/bin/sh\necho below"})
	elsewhere := tree(t, map[string]string{"hello": "#!/bin/sh\necho elsewhere"})
	for _, program := range []string{here + "/hello", here + "/sub/hello", elsewhere + "/hello"} {
		require.NoError(t, os.Chmod(program, 0o755))
	}
	t.Chdir(here)
	for _, relative := range []string{".", "", "sub", "./sub", "../" + filepath.Base(here)} {
		var stdout bytes.Buffer
		command := Command{Args: []string{"hello"}, Dir: here, Env: []string{"PATH=" + relative + ":"}, Stdout: &stdout}
		_, err := NewProcess().Run(t.Context(), command)
		require.ErrorIs(t, err, fs.ErrNotExist, relative)

		command.Env = []string{"PATH=" + relative + ":" + elsewhere}
		_, err = NewProcess().Run(t.Context(), command)
		require.NoError(t, err, relative)
		require.Equal(t, "elsewhere\n", stdout.String(), relative)
	}
}

// What waits on the standard input of this program is not for its commands. The
// test runs itself again, since that input has to hold something.
func TestCommandsReadAnEmptyInput(t *testing.T) {
	const inner = "XMD_HOST_TEST_INPUT"
	if os.Getenv(inner) != "" {
		var stdout bytes.Buffer
		command := shell("cat")
		command.Stdout = &stdout
		_, err := NewProcess().Run(t.Context(), command)
		require.NoError(t, err)
		left, err := io.ReadAll(os.Stdin)
		require.NoError(t, err)
		fmt.Printf("read %q, left %q\n", stdout.String(), left)
		return
	}
	self, err := os.Executable()
	require.NoError(t, err)
	again := exec.Command(self, "-test.run=^TestCommandsReadAnEmptyInput$")
	again.Env = append(os.Environ(), inner+"=1", "GORACE=atexit_sleep_ms=0")
	again.Stdin = strings.NewReader("for the run")
	output, err := again.CombinedOutput()
	require.NoError(t, err, string(output))
	require.Contains(t, string(output), `read "", left "for the run"`)
}

// Output arrives while the command still runs: it waits for an answer to what it
// printed.
func TestRunPassesOutputOnAtOnce(t *testing.T) {
	answer := filepath.Join(t.TempDir(), "answer")
	require.NoError(t, syscall.Mkfifo(answer, 0o600))
	r, w := io.Pipe()
	command := shell(`printf ready; read line < "$ANSWER"; printf "%s" "$line"`)
	command.Env = append(command.Env, "ANSWER="+answer)
	command.Stdout = w
	running, err := NewProcess().Start(t.Context(), command)
	require.NoError(t, err)
	ready := make([]byte, 5)
	_, err = io.ReadFull(r, ready)
	require.NoError(t, err)
	require.Equal(t, "ready", string(ready))
	require.NoError(t, os.WriteFile(answer, []byte("go\n"), 0))
	reply := make([]byte, 2)
	_, err = io.ReadFull(r, reply)
	require.NoError(t, err)
	require.Equal(t, "go", string(reply))
	status, err := running.Wait()
	require.NoError(t, err)
	require.Zero(t, status)
}

// When the context ends the whole group goes: processes that listen to SIGTERM
// get the time to say so, the others are killed, grandchildren included.
func TestRunCancelled(t *testing.T) {
	for _, c := range []struct{ name, script, output string }{
		{"obedient", `trap 'echo bye; exit 0' TERM; sh -c 'echo ready; exec sleep 1000' & wait`, "ready\nbye\n"},
		{"deaf", `trap '' TERM; sh -c 'echo ready; while :; do sleep 1000; done' & wait; wait`, "ready\n"},
		{"deaf grandchild", `(trap '' TERM; echo ready; while :; do sleep 1000; done) & wait`, "ready\n"},
		{"silent grandchild", `sh -c 'exec sleep 1000' >/dev/null 2>&1 & echo ready; wait`, "ready\n"},
		{"stopped", `echo ready; kill -STOP $$`, "ready\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			alive, watch := fifo(t)
			cause := errors.New("told to stop")
			ctx, cancel := context.WithCancelCause(t.Context())
			r, w := io.Pipe()
			command := shell(`exec 9>"$ALIVE"; ` + c.script)
			command.Env = append(command.Env, "ALIVE="+alive)
			command.Stdout = w
			type outcome struct {
				err error
			}
			result := make(chan outcome, 1)
			programs := NewProcess()
			if c.name != "obedient" {
				programs = impatient()
			}
			go func() {
				_, err := programs.Run(ctx, command)
				w.Close()
				result <- outcome{err}
			}()
			lines := bufio.NewReader(r)
			first, err := lines.ReadString('\n')
			require.NoError(t, err)
			cancel(cause)
			rest, err := io.ReadAll(lines)
			require.NoError(t, err)
			require.Equal(t, c.output, first+string(rest))
			require.Equal(t, cause, (<-result).err)
			ended(t, watch)
		})
	}
}

// The whole group is asked to stop before any of it is killed: a grandchild has
// the time to say so, beside its leader and after it.
func TestTheWholeGroupIsAsked(t *testing.T) {
	const grandchild = `(trap 'echo asked; exit' TERM; sleep 1000 & echo ready; wait) & `
	told := errors.New("told to stop")
	for _, c := range []struct {
		name, script string
		leaderEnds   bool
		want         error
	}{
		{"with its leader", `trap : TERM; ` + grandchild + `wait; wait`, false, told},
		{"left behind", grandchild + `read line < "$GO"`, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, w := conversation(t)
			command := shell(c.script)
			command.Env = append(command.Env, "GO="+path)
			ctx, cancel := context.WithCancelCause(t.Context())
			started, lines := start(t, ctx, command)
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, "ready\n", line)
			if c.leaderEnds {
				_, err = w.WriteString("go\n")
				require.NoError(t, err)
				<-started.exited
			}
			cancel(told)
			line, err = lines.ReadString('\n')
			require.NoError(t, err, "not everybody was asked")
			require.Equal(t, "asked\n", line)
			_, err = started.Wait()
			require.Equal(t, c.want, err)
		})
	}
}

// A command has ended when its process has; what it left behind is ended too.
func TestRunEndsWhatIsLeftBehind(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"holding the output", `sleep 1000 & echo done`},
		{"deaf and holding the output", `(trap '' TERM; while :; do sleep 1000; done) & echo done`},
		{"with its output elsewhere", `sleep 1000 >/dev/null 2>&1 & echo done`},
	} {
		t.Run(c.name, func(t *testing.T) {
			alive, watch := fifo(t)
			var stdout bytes.Buffer
			command := shell(`exec 9>"$ALIVE"; ` + c.script + `; exit 7`)
			command.Env = append(command.Env, "ALIVE="+alive)
			command.Stdout = &stdout
			status, err := impatient().Run(t.Context(), command)
			require.NoError(t, err)
			require.Equal(t, 7, status)
			require.Equal(t, "done\n", stdout.String())
			ended(t, watch)
		})
	}
}

// Output that a helper process is still writing when the command has ended is
// kept, and nobody asks the helper to stop meanwhile.
func TestRunWaitsForTheRestOfTheOutput(t *testing.T) {
	path, w := conversation(t)
	command := shell(`cat < "$TALK" & exit 7`)
	command.Env = append(command.Env, "TALK="+path)
	started, lines := start(t, t.Context(), command)
	<-started.exited
	for range 50 {
		_, err := w.WriteString("more\n")
		require.NoError(t, err)
		line, err := lines.ReadString('\n')
		require.NoError(t, err, "the helper was stopped")
		require.Equal(t, "more\n", line)
	}
	require.NoError(t, w.Close())
	status, err := started.Wait()
	require.NoError(t, err)
	require.Equal(t, 7, status)
}

type brokenWriter struct{}

var errBroken = errors.New("no more")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestRunEndsWhenAWriterFails(t *testing.T) {
	command := shell(`while :; do echo more || exit 0; done`)
	command.Stdout = brokenWriter{}
	_, err := NewProcess().Run(t.Context(), command)
	require.ErrorIs(t, err, errBroken)

	command = shell(`echo once >&2`)
	command.Stderr = brokenWriter{}
	_, err = NewProcess().Run(t.Context(), command)
	require.ErrorIs(t, err, errBroken)
}

func TestBackgroundCommand(t *testing.T) {
	alive, watch := fifo(t)
	r, w := io.Pipe()
	command := shell(`exec 9>"$ALIVE"; echo ready; sleep 1000`)
	command.Env = append(command.Env, "ALIVE="+alive)
	command.Stdout = w
	running, err := NewProcess().Start(t.Context(), command)
	require.NoError(t, err)
	_, err = bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err)
	group, err := syscall.Getpgid(running.PID())
	require.NoError(t, err)
	require.Equal(t, running.PID(), group)
	require.NoError(t, running.Stop())
	require.NoError(t, running.Stop())
	_, err = running.Wait()
	require.Equal(t, ErrStopped, err)
	ended(t, watch)

	running, err = NewProcess().Start(t.Context(), shell("exit 4"))
	require.NoError(t, err)
	status, err := running.Wait()
	require.NoError(t, err)
	require.Equal(t, 4, status)
	require.NoError(t, running.Stop())
	status, err = running.Wait()
	require.NoError(t, err)
	require.Equal(t, 4, status)
}

func TestStartAfterTheContextEnded(t *testing.T) {
	cause := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := NewProcess().Start(ctx, shell("true"))
	require.Equal(t, cause, err)
}

func TestInterpreter(t *testing.T) {
	for language, want := range map[string]string{
		"bash": "bash -c x", "sh": "bash -c x", "SH": "bash -c x", "python": "python -c x", "Py": "python -c x",
		"node": "node -e x", "javascript": "node -e x", "js": "node -e x", "Ruby": "ruby -e x",
		"perl": "perl -e x", "lua": "lua -e x", "php": "php -r x", "dash": "dash -c x", "Zsh": "Zsh -c x",
	} {
		require.Equal(t, want, strings.Join(Interpreter(language, "x"), " "), language)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("XMD_HOST_TEST", "a=b")
	require.Equal(t, "a=b", Environ()["XMD_HOST_TEST"])
	require.Equal(t, []string{"A=1", "B=", "a=x=y"}, EnvList(map[string]string{"a": "x=y", "B": "", "A": "1"}))
	require.Empty(t, EnvList(nil))
}
