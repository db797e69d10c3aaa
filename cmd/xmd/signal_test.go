//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fenced writes a document whose fences are written with §.
func fenced(t *testing.T, dir, text string) {
	t.Helper()
	write(t, dir, "doc.md", strings.ReplaceAll(text, "§", "```"))
}

// TestSignalDuringCommand asks a run to stop while a command and its children
// work in a temporary directory. They are gone afterwards, and so is the
// directory; what was rendered is printed.
func TestSignalDuringCommand(t *testing.T) {
	needsBash(t)
	for _, row := range []struct {
		name       string
		signal     os.Signal
		grandchild string
	}{
		{"interrupt", os.Interrupt, "sleep 600"},
		{"terminate", syscall.SIGTERM, "sleep 600"},
		{"hang_up", syscall.SIGHUP, "sleep 600"},
		{"stubborn_grandchild", os.Interrupt, "(trap '' TERM INT; sleep 600)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			life := newLifeline(t, dir)
			fenced(t, dir, `Partial text.

<TempDir>

§bash exec
exec 9> "$LIFE"
pwd >&9
`+row.grandchild+` &
echo live
echo ready >&9
wait
§
</TempDir>

§bash exec
echo never >> ran.txt
§
`)
			p := prepare(t, dir, []string{"LIFE=" + life.path}, "run", "doc.md").start()
			temporary := life.next()
			require.DirExists(t, temporary)
			life.expect("ready")
			p.signal(row.signal)
			require.Equal(t, 130, p.wait())
			life.requireGone()
			require.NoDirExists(t, temporary)
			require.Equal(t, "live\nPartial text.\n\n", p.stdout.String())
			require.Empty(t, p.stderr.String())
			require.Empty(t, read(t, dir, "ran.txt"))
		})
	}
}

// TestReaderGone runs a document whose output nobody reads any more: that is a failed
// write, and what the run started is put away.
func TestReaderGone(t *testing.T) {
	needsBash(t)
	dir := t.TempDir()
	life := newLifeline(t, dir)
	fenced(t, dir, `
§bash daemon exec
exec 9> "$LIFE"
echo ready >&9
sleep 600
§

<TempDir>

§bash exec
exec 8> "$LIFE"
pwd >&8
cat "$GO" > /dev/null
echo text nobody reads
§
</TempDir>
`)
	read, closed, err := os.Pipe()
	require.NoError(t, err)
	proceed := filepath.Join(dir, "go")
	require.NoError(t, syscall.Mkfifo(proceed, 0o600))
	p := prepare(t, dir, []string{"LIFE=" + life.path, "GO=" + proceed}, "run", "doc.md")
	p.cmd.Stdout = closed
	p.start()
	require.NoError(t, closed.Close())
	temporary := life.next()
	if second := life.next(); temporary == "ready" { // the two commands write in either order
		temporary = second
	}
	require.NoError(t, read.Close())
	write(t, dir, "go", "")
	require.Equal(t, 1, p.wait())
	life.requireGone()
	require.NoDirExists(t, temporary)
	require.Contains(t, p.stderr.String(), "could not be passed on")
}

// TestSecondSignal ends the run at once, whatever still has to be waited for.
func TestSecondSignal(t *testing.T) {
	needsBash(t)
	dir := t.TempDir()
	life := newLifeline(t, dir)
	fenced(t, dir, `
§bash exec
exec 9> "$LIFE"
trap 'echo asked >&9' TERM
echo $$ >&9
while :; do sleep 600 & wait; done
§
`)
	p := prepare(t, dir, []string{"LIFE=" + life.path}, "run", "doc.md").start()
	group, err := strconv.Atoi(life.next())
	require.NoError(t, err)
	defer func() { _ = syscall.Kill(-group, syscall.SIGKILL) }() // nobody else is left to do it
	p.signal(os.Interrupt)
	life.expect("asked") // so the first signal has been taken
	until(t, "the second signal to be taken", func() bool {
		select {
		case <-p.ended:
			return true
		default:
			_ = p.cmd.Process.Signal(os.Interrupt)
			return false
		}
	})
	require.Equal(t, syscall.SIGINT, p.killedBy())
}

// TestSignalWhileWaiting asks a run to stop that waits for something else than a
// command.
func TestSignalWhileWaiting(t *testing.T) {
	t.Run("response", func(t *testing.T) {
		dir := t.TempDir()
		asked := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(asked)
			<-r.Context().Done()
		}))
		defer server.Close()
		p := prepare(t, dir, nil, "-e", `Before. <Fetch url="`+server.URL+`" as="page" />`).start()
		await(t, "the request", asked)
		p.signal(os.Interrupt)
		require.Equal(t, 130, p.wait())
		require.Equal(t, "Before. ", p.stdout.String())
		require.Empty(t, p.stderr.String())
	})
	t.Run("evaluation", func(t *testing.T) {
		needsBash(t)
		dir := t.TempDir()
		life := newLifeline(t, dir)
		fenced(t, dir, `
§bash exec
echo ready > "$LIFE"
§

§js eval
for (;;) {}
§
`)
		p := prepare(t, dir, []string{"LIFE=" + life.path}, "doc.md").start()
		life.expect("ready")
		p.signal(os.Interrupt)
		require.Equal(t, 130, p.wait())
	})
	t.Run("loop", func(t *testing.T) {
		needsBash(t)
		dir := t.TempDir()
		life := newLifeline(t, dir)
		fenced(t, dir, `
§bash exec
echo ready > "$LIFE"
§
<Loop max={1000000000}><Let as="x" value={1} /></Loop>
`)
		p := prepare(t, dir, []string{"LIFE=" + life.path}, "doc.md").start()
		life.expect("ready")
		p.signal(os.Interrupt)
		require.Equal(t, 130, p.wait())
	})
	t.Run("standard_input", func(t *testing.T) {
		p := prepare(t, t.TempDir(), nil, "run", "-")
		in, err := p.cmd.StdinPipe()
		require.NoError(t, err)
		p.start()
		defer in.Close()
		// More than a pipe holds: when it is written, the command is reading.
		_, err = io.WriteString(in, strings.Repeat("typed\n", 1<<16))
		require.NoError(t, err)
		p.signal(os.Interrupt)
		select {
		case <-p.ended:
		case <-time.After(5 * time.Second):
			require.Fail(t, "a run that reads its document from standard input ignores the signal")
			return
		}
		require.Equal(t, 130, p.wait())
		require.Empty(t, p.stdout.String())
	})
}

// TestRequestTimeout gives a request up after its own limit, or the run's default
// for requests.
func TestRequestTimeout(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	for _, row := range []struct {
		name, prop string
		args       []string
	}{
		{"option", "", []string{"--timeout-fetch", "100ms"}},
		{"prop", `timeout="100ms" `, []string{"--timeout-fetch", "10min"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			document := `Before. <Fetch url="` + server.URL + `" ` + row.prop + `as="page" /> After.`
			status, stdout, stderr := finish(t, t.TempDir(), nil, append([]string{"-e", document}, row.args...)...)
			require.Equal(t, 1, status)
			require.Equal(t, "Before. ", stdout)
			require.Contains(t, stderr, "<Fetch>")
			require.Contains(t, stderr, "100")
			require.Contains(t, stderr, "--> <eval>:1:9")
		})
	}
}

// TestSignalLeavesHistory interrupts a run with a history: it has no end, and the
// run can be taken up again.
func TestSignalLeavesHistory(t *testing.T) {
	needsBash(t)
	dir := t.TempDir()
	life := newLifeline(t, dir)
	fenced(t, dir, `
§bash exec as="first"
echo first >> ran.txt; echo one
§

§bash exec as="second"
[ -z "$LIFE" ] || { exec 9> "$LIFE"; echo ready >&9; sleep 600; }
echo two
§
{first.stdout}{second.stdout}`)
	p := prepare(t, dir, []string{"LIFE=" + life.path}, "doc.md", "--journal", "trace.jsonl").start()
	life.expect("ready")
	p.signal(syscall.SIGTERM)
	require.Equal(t, 130, p.wait())
	life.requireGone()
	left := read(t, dir, "trace.jsonl")
	require.Equal(t, 2, strings.Count(left, "\n"), left)
	require.True(t, strings.HasSuffix(left, "\n"))
	require.NotContains(t, left, `"close"`)

	status, stdout, stderr := finish(t, dir, nil, "doc.md", "--replay", "trace.jsonl")
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "one\ntwo\n")
	require.Equal(t, "first\n", read(t, dir, "ran.txt"))
}

// TestDaemon keeps a background command alive as long as the run, however that
// ends.
func TestDaemon(t *testing.T) {
	needsBash(t)
	const daemon = `
§bash daemon exec
exec 9> "$LIFE"
echo $$ > pid
echo up >&9
mkfifo ready; echo up > ready
sleep 600
§

§bash exec as="seen"
until [ -p ready ]; do :; done
cat ready
kill -0 "$(cat pid)" && echo alive
§
{seen.stdout}
`
	for _, row := range []struct {
		name, rest string
		status     int
	}{
		{"success", "The end.", 0},
		{"failure", `<Fail message="no good" />`, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			life := newLifeline(t, dir)
			fenced(t, dir, daemon+row.rest)
			p := prepare(t, dir, []string{"LIFE=" + life.path}, "doc.md").start()
			life.expect("up")
			require.Equal(t, row.status, p.wait(), p.stderr.String())
			require.Contains(t, p.stdout.String(), "up\nalive\n")
			life.requireGone()
		})
	}
	t.Run("interrupt", func(t *testing.T) {
		dir := t.TempDir()
		life := newLifeline(t, dir)
		fenced(t, dir, daemon+`
§bash exec
echo waiting > "$LIFE"; sleep 600
§
`)
		p := prepare(t, dir, []string{"LIFE=" + life.path}, "doc.md").start()
		life.expect("up")
		life.expect("waiting")
		p.signal(os.Interrupt)
		require.Equal(t, 130, p.wait())
		life.requireGone()
	})
	t.Run("of_a_component", func(t *testing.T) {
		dir := t.TempDir()
		life := newLifeline(t, dir)
		write(t, dir, "components/Background.md", strings.ReplaceAll(daemon, "§", "```"))
		fenced(t, dir, `<Background />

§bash exec
kill -0 "$(cat pid)" 2> /dev/null || echo gone before the next
§
`)
		p := prepare(t, dir, []string{"LIFE=" + life.path}, "doc.md").start()
		life.expect("up")
		require.Zero(t, p.wait(), p.stderr.String())
		require.Contains(t, p.stdout.String(), "gone before the next\n")
		require.Contains(t, p.stdout.String(), "alive\n")
		life.requireGone()
	})
	t.Run("early_end", func(t *testing.T) {
		dir := t.TempDir()
		fenced(t, dir, `Before.

§bash daemon exec
exit 3
§

§bash exec
sleep 600
§
After.
`)
		status, stdout, stderr := finish(t, dir, nil, "doc.md")
		require.Equal(t, 1, status)
		require.Contains(t, stdout, "Before.\n")
		require.NotContains(t, stdout, "After.")
		require.Contains(t, stderr, "the background command ended early (exit 3)")
		require.Contains(t, stderr, "--> doc.md:3:1")
	})
}
