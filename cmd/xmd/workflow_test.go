//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A kept is a directory with a document whose second command waits for a file.
type kept struct {
	t   *testing.T
	dir string
}

func newKept(t *testing.T) *kept {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the document runs bash commands")
	}
	k := &kept{t, t.TempDir()}
	text := "```bash exec\necho one >> \"$KEPT/log\"\n```\n\n```bash exec\necho two >> \"$KEPT/log\"\ntouch \"$KEPT/reached\"\nwhile [ ! -e \"$KEPT/go\" ]; do sleep 0.02; done\n```\n\nDone.\n"
	require.NoError(t, os.WriteFile(k.path("main.md"), []byte(text), 0o600))
	return k
}

func (k *kept) path(name string) string { return filepath.Join(k.dir, name) }

func (k *kept) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(k.t.Context(), "xmd", append([]string{"workflow"}, args...)...)
	cmd.Dir = k.dir
	cmd.Env = append(os.Environ(), "KEPT="+k.dir, "XMD_STORE=sqlite:"+k.path("runs"))
	return cmd
}

// stopped starts the run and ends its process with a signal once it is under way.
func (k *kept) stopped(sig syscall.Signal) (code int, stderr string) {
	k.t.Helper()
	cmd := k.command("start", "--id", "r", "main.md")
	var text bytes.Buffer
	cmd.Stderr = &text
	require.NoError(k.t, cmd.Start())
	require.Eventually(k.t, func() bool { _, err := os.Stat(k.path("reached")); return err == nil }, 20*time.Second, 5*time.Millisecond)
	live := k.command("resume", "r")
	out, _ := live.CombinedOutput()
	require.Equal(k.t, 3, live.ProcessState.ExitCode(), "a run in use is refused: %s", out)
	require.NoError(k.t, cmd.Process.Signal(sig))
	var exit *exec.ExitError
	require.True(k.t, errors.As(cmd.Wait(), &exit))
	require.NoError(k.t, os.WriteFile(k.path("go"), nil, 0o600))
	require.NoError(k.t, os.Remove(k.path("main.md")))
	return exit.ExitCode(), text.String()
}

// completes takes the run up in a new process, without the document's file.
func (k *kept) completes() {
	k.t.Helper()
	resume := k.command("resume", "r")
	out, err := resume.CombinedOutput()
	require.NoError(k.t, err, "%s", out)
	require.Contains(k.t, string(out), "Done.")
	require.Contains(k.t, string(out), "workflow status: completed\n")
	log, err := os.ReadFile(k.path("log"))
	require.NoError(k.t, err)
	require.Equal(k.t, "one\ntwo\ntwo\n", string(log), "what was recorded is not done again; what was under way is")
}

// R20, with a real kill.
func TestR20_KilledRunIsResumed(t *testing.T) {
	k := newKept(t)
	k.stopped(syscall.SIGKILL)
	out, err := k.command("status", "r").Output()
	require.NoError(t, err)
	require.Regexp(t, `(?m)^status +running$`, string(out))
	k.completes()
	out, err = k.command("status", "--json", "--verify", "r").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), `"stopStatus": "interrupted"`)
}

func TestInterruptedRunIsResumed(t *testing.T) {
	k := newKept(t)
	code, stderr := k.stopped(syscall.SIGINT)
	require.Equal(t, 130, code)
	require.Contains(t, stderr, "workflow status: interrupted\n")
	k.completes()
}
