package specs

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// onTerminal runs a command with both channels on one pseudo-terminal that changes
// nothing of what is written to it, and returns all of that.
func (w *world) onTerminal(args ...string) trial {
	w.t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		w.t.Skip("no pseudo-terminals here: ", err)
	}
	defer master.Close()
	fd := int(master.Fd())
	require.NoError(w.t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(w.t, err)
	terminal, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(w.t, err)
	defer terminal.Close()
	mode, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	require.NoError(w.t, err)
	mode.Oflag &^= unix.OPOST
	require.NoError(w.t, unix.IoctlSetTermios(int(terminal.Fd()), unix.TCSETS, mode))
	require.NoError(w.t, unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 200}))

	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	cmd := w.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = terminal, terminal
	require.NoError(w.t, cmd.Start())
	terminal.Close()
	var screen bytes.Buffer
	_, err = io.Copy(&screen, master)
	require.ErrorIs(w.t, err, syscall.EIO, "the terminal was closed")
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil {
		require.ErrorAs(w.t, err, &exit)
	}
	require.NoError(w.t, ctx.Err(), "the program did not end within a minute")
	state := cmd.ProcessState
	return trial{exit: state.ExitCode(), stdout: screen.String(), used: state.UserTime() + state.SystemTime()}
}

// style is a control sequence that the program itself may print.
var style = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// TestAdversarialTerminal holds that text reaches a terminal with everything that
// would drive it or hide from the reader written out, and nothing left out.
func TestAdversarialTerminal(t *testing.T) {
	t.Run("documents", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		for _, name := range []string{"18-bidi-and-zero-width", "19-ansi-review-screen"} {
			for _, candidate := range candidates(t, "adversarial/"+name+".md") {
				printed := w.run(candidate)
				plainly := w.onTerminal("run", documentName, "--no-color")
				requireShown(t, printed.stdout+printed.stderr, plainly.stdout)
				coloured := w.onTerminal("run", documentName)
				requireShown(t, printed.stdout+printed.stderr, style.ReplaceAllString(coloured.stdout, ""))
			}
		}
	})
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		for _, candidate := range candidates(t, "adversarial/17-quadratic-markdown.md") {
			requireProportion(t, candidate, func(document string) time.Duration {
				w.write("case.md", document)
				return w.onTerminal("run", documentName).used
			})
		}
	})

	const (
		hostile = "\u202e\u009b31m\x1b[2J\a"            // in text
		written = `\u202e\u009b31m\e[2J\a`              // in a quoted YAML scalar
		value   = "---\nreturns: {type: string}\n---\n" // makes a document a value
	)
	for _, surface := range []struct {
		name, document string
		args           []string
	}{
		{"failure", "text " + hostile + `<Fail message="` + hostile + `" />`, []string{"run", documentName}},
		{"printed error", `<PrintErrors><Fail message="` + hostile + `" /></PrintErrors>`, []string{"run", documentName}},
		{"code", "```" + hostile + "\n" + hostile + "\n```\n", []string{"run", documentName}},
		{"comment", "<!-- " + hostile + " -->", []string{"run", documentName}},
		{"value", value + `<Return value="` + hostile + `" />`, []string{"run", documentName}},
		{"body of a value", value + hostile + `<Return value="v" />`, []string{"run", documentName, "--verbose"}},
		{"outcome", "text " + hostile, []string{"run", documentName, "--json"}},
		{"output of a failure", "text " + hostile + "<Missing />", []string{"run", documentName, "--output", "out.txt"}},
		{"events", "```bash silent exec\n: '" + strings.ReplaceAll(hostile, "\a", "") + "'\n```\n", []string{"run", documentName, "--verbose"}},
		{"check", hostile + "<Let as=\"" + hostile + "\" value={1} />", []string{"check", documentName}},
		{"check as JSON", hostile + "<Let as=\"" + hostile + "\" value={1} />", []string{"check", documentName, "--json"}},
		{"description", "---\ndescription: \"" + written + "\"\n---\n# T\n\n## A" + hostile + "\n\nb" + hostile + "\n", []string{"run", documentName, "--help"}},
		{"properties", "---\nprops: {\"n\": {type: string, description: \"" + written + "\", default: \"" + written + "\"}, e: {enum: [\"" + written + "\"]}}\n---\n", []string{"run", documentName, "--help"}},
		{"names of properties", "---\nprops: {\"n" + written + "\": {type: string}}\n---\n", []string{"run", documentName, "--help"}},
		{"unknown option", "", []string{"run", documentName, "--" + hostile}},
		{"unknown property", "---\nprops: {\"n" + written + "\": {type: string}}\n---\n", []string{"run", documentName, "--props-m=1"}},
		{"unknown file", "", []string{"run", "a" + hostile + ".md"}},
		{"unknown target", "# T\n\n## A" + hostile, []string{"run", documentName + "#" + hostile}},
		{"unknown component", "", []string{"syntax", "A" + hostile}},
		{"component", "", []string{"syntax", "Hostile"}},
		{"components", "", []string{"syntax"}},
	} {
		t.Run(surface.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("ws/components/Hostile.md", "---\ndescription: \""+written+"\"\nas: \""+written+"\"\ncontext: \""+written+
				"\"\nprops: {n: {type: string, description: \""+written+"\", default: \""+written+"\"}}\n---\n"+hostile)
			w.write("case.md", surface.document)
			w.env = append(w.env, "NO_COLOR=1")
			screen := w.onTerminal(surface.args...).stdout
			require.Empty(t, hostileLines(screen))
			require.Regexp(t, `\\u202e|%E2%80%AE`, screen, "what is hidden is shown")
		})
	}
}

// TestAdversarialMemory holds that a frontmatter bomb costs no memory. The system
// charges a child with what its parent holds when it starts it, so the limit is
// never below that.
func TestAdversarialMemory(t *testing.T) {
	const limit = 64 << 10 // KiB
	w := newWorld(t)
	peak := func(args ...string) int64 {
		cmd := w.command(t.Context(), args...)
		cmd.Run() // the status is held by TestAdversarial
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	}
	for i, candidate := range candidates(t, "adversarial/20-frontmatter-bomb.md") {
		w.write("case.md", candidate)
		floor := peak("version")
		require.LessOrEqual(t, peak("run", documentName), max(limit, floor+limit/4), "v%d", i+1)
	}
}
