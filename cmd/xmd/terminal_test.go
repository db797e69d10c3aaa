//go:build unix

package main

import (
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"
)

// A screen is a pseudo-terminal with a person in front of it.
type screen struct {
	t        *testing.T
	keyboard *os.File // the person's side
	terminal *os.File // the command's side

	mu    sync.Mutex
	shown strings.Builder
	grew  chan struct{} // holds a token when shown has grown
	read  int           // how much of it was expected already
	ended chan struct{}
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	keyboard, terminal, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	require.NoError(t, pty.Setsize(keyboard, &pty.Winsize{Rows: 40, Cols: 72}))
	s := &screen{t: t, keyboard: keyboard, terminal: terminal, grew: make(chan struct{}, 1), ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		chunk := make([]byte, 4096)
		for {
			n, err := keyboard.Read(chunk)
			s.mu.Lock()
			s.shown.Write(chunk[:n])
			s.mu.Unlock()
			select {
			case s.grew <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		s.close()
		keyboard.Close()
	})
	return s
}

// close hangs up and waits for the rest of what was shown.
func (s *screen) close() {
	s.terminal.Close()
	await(s.t, "the terminal to close", s.ended)
}

// start runs the command on the screen.
func (s *screen) start(dir string, env []string, args ...string) *process {
	s.t.Helper()
	p := prepare(s.t, dir, append([]string{"TERM=xterm-256color"}, env...), args...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = s.terminal, s.terminal, s.terminal
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return p.start()
}

// text is everything shown so far.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// expect waits until the text appears after what was expected before.
func (s *screen) expect(text string) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		shown := s.text()
		if i := strings.Index(shown[s.read:], text); i >= 0 {
			s.read += i + len(text)
			return
		}
		select {
		case <-s.grew:
		case <-deadline:
			require.FailNow(s.t, "waited in vain for "+text, "shown: %q", shown[s.read:])
		}
	}
}

func (s *screen) press(keys string) {
	s.t.Helper()
	_, err := s.keyboard.WriteString(keys)
	require.NoError(s.t, err)
}

// showAll runs the command to its end, which has to be a good one, and returns
// everything it showed.
func showAll(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	s := newScreen(t)
	p := s.start(dir, env, args...)
	require.Zero(t, p.wait(), s.text())
	s.close()
	return strings.ReplaceAll(s.text(), "\r\n", "\n")
}

// TestTerminalShowsStyledText checks who gets styled text, who plain, and who the
// text as it is.
func TestTerminalShowsStyledText(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "doc.md", "# Title\n\n\n\n\nSome **bold** words.\n")
	const escape = "\x1b["
	for _, row := range []struct {
		name   string
		env    []string
		args   []string
		styled bool
	}{
		{"by_default", nil, nil, true},
		{"empty_NO_COLOR", []string{"NO_COLOR="}, nil, true},
		{"NO_COLOR", []string{"NO_COLOR=1"}, nil, false},
		{"no-color", nil, []string{"--no-color"}, false},
		{"dumb", []string{"TERM=dumb"}, nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			shown := showAll(t, dir, row.env, append([]string{"doc.md"}, row.args...)...)
			require.Contains(t, shown, "Title")
			require.Contains(t, shown, "bold")
			require.NotContains(t, shown, "**")
			require.NotContains(t, shown, "\n\n\n")
			require.Equal(t, row.styled, strings.Contains(shown, escape), "%q", shown)
		})
	}
	t.Run("raw", func(t *testing.T) {
		require.Equal(t, "# Title\n\n\n\n\nSome **bold** words.\n", showAll(t, dir, nil, "doc.md", "--raw"))
	})
	t.Run("output", func(t *testing.T) {
		require.Empty(t, showAll(t, dir, nil, "doc.md", "--output", "out.md"))
		require.Equal(t, read(t, dir, "doc.md"), read(t, dir, "out.md"))
	})
	t.Run("json", func(t *testing.T) {
		require.NotContains(t, showAll(t, dir, nil, "doc.md", "--json"), escape)
	})
	t.Run("value", func(t *testing.T) {
		write(t, dir, "value.md", "---\nreturns: { type: array }\n---\n<Return value={[1, \"**x**\"]} />\n")
		require.Equal(t, "[1,\"**x**\"]\n", showAll(t, dir, nil, "value.md"))
	})
	t.Run("hidden_characters", func(t *testing.T) {
		write(t, dir, "hidden.md", "before \x1b]0;title\x07 \u202eafter\n")
		shown := showAll(t, dir, []string{"NO_COLOR=1"}, "hidden.md")
		require.Contains(t, shown, "before")
		require.Contains(t, shown, "after")
		require.NotContains(t, shown, "\x1b]")
		require.NotContains(t, shown, "\u202e")
	})
	t.Run("help", func(t *testing.T) {
		require.Contains(t, showAll(t, dir, nil, "--help"), "Usage:")
	})
}

// TestTerminalShowsTextAsItFinishes checks that a person sees a section while the
// next one still works.
func TestTerminalShowsTextAsItFinishes(t *testing.T) {
	needsBash(t)
	dir := t.TempDir()
	life := newLifeline(t, dir)
	fenced(t, dir, `First part.

§bash exec
echo working > "$LIFE"
until [ -e go ]; do :; done
echo from the command
§

Second part.
`)
	s := newScreen(t)
	p := s.start(dir, []string{"LIFE=" + life.path}, "doc.md")
	life.expect("working")
	s.expect("First part.")
	require.NotContains(t, s.text(), "Second part.")
	write(t, dir, "go", "")
	s.expect("from the command")
	s.expect("Second part.")
	require.Zero(t, p.wait())
}

// question is a document that asks for two fields and shows the answer.
const question = `Before.

<Elicit schema={{
  type: "object",
  properties: { name: { type: "string", minLength: 1 }, sure: { type: "boolean" } },
  required: ["name", "sure"]
}} as="answer">Who goes there?</Elicit>

The answer was {answer.name}, {answer.sure}.
`

// TestTerminalAsks answers a question on the screen.
func TestTerminalAsks(t *testing.T) {
	t.Run("form", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, "doc.md", question)
		s := newScreen(t)
		before, err := term.GetState(int(s.terminal.Fd()))
		require.NoError(t, err)
		p := s.start(dir, nil, "doc.md", "--raw", "--journal", "trace.jsonl")
		s.expect("Who goes there?")
		s.expect("name")
		s.press("Ada\r")
		s.expect("filter") // below a choice
		s.press("\x1b[B\r")
		s.expect("The answer was Ada, ")
		require.Zero(t, p.wait())
		after, err := term.GetState(int(s.terminal.Fd()))
		require.NoError(t, err)
		require.Equal(t, before, after, "the terminal is as it was")

		// The answer is part of the history: nobody is asked again.
		status, stdout, stderr := finish(t, dir, nil, "doc.md", "--replay", "trace.jsonl")
		require.Zero(t, status, stderr)
		require.Contains(t, stdout, "The answer was Ada, ")
		kept := eventsOf(read(t, dir, "trace.jsonl"))
		write(t, dir, "part.jsonl", strings.Join(kept[:len(kept)-1], ""))
		status, stdout, stderr = finish(t, dir, nil, "doc.md", "--replay", "part.jsonl")
		require.Zero(t, status, stderr)
		require.Contains(t, stdout, "The answer was Ada, ")
	})
	t.Run("dumb", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, "doc.md", question)
		s := newScreen(t)
		p := s.start(dir, []string{"TERM=dumb"}, "doc.md", "--raw")
		s.expect("Who goes there?")
		s.expect("name")
		s.expect("> ")
		s.press("Ada\r")
		s.expect("sure")
		s.expect("> ")
		s.press("1\r")
		s.expect("The answer was Ada, ")
		require.Zero(t, p.wait())
		require.NotContains(t, s.text(), "\x1b", "such a terminal takes no escape sequences")
	})
	t.Run("without_colours", func(t *testing.T) {
		for _, row := range []struct{ env, args []string }{
			{env: []string{"NO_COLOR=1"}},
			{args: []string{"--no-color"}},
		} {
			dir := t.TempDir()
			write(t, dir, "doc.md", question)
			s := newScreen(t)
			p := s.start(dir, row.env, append([]string{"doc.md"}, row.args...)...)
			s.expect("sure")
			s.press("Ada\r")
			s.expect("filter")
			s.press("\x1b[B\r")
			s.expect("The answer was Ada, ")
			require.Zero(t, p.wait())
			require.NotContains(t, s.text(), "\x1b[38;", "%v %v", row.env, row.args)
		}
	})
	t.Run("hidden_characters", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, "doc.md", "<Elicit schema={{ type: \"string\" }} as=\"x\">delete \u202eeverything\x1b[2K?</Elicit>\n")
		s := newScreen(t)
		p := s.start(dir, nil, "doc.md", "--raw")
		s.expect(`\u202e`)
		s.expect("everything")
		s.expect("> ")
		s.press("no\r")
		require.Zero(t, p.wait())
		require.NotContains(t, s.text(), "\u202e")
	})
}

// TestTerminalQuestionInterrupted leaves a question with Ctrl-C: the run ends as
// one that was interrupted, on a terminal that works as before.
func TestTerminalQuestionInterrupted(t *testing.T) {
	for _, row := range []struct {
		name, term string
	}{{"form", "xterm-256color"}, {"dumb", "dumb"}} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "doc.md", question)
			s := newScreen(t)
			before, err := term.GetState(int(s.terminal.Fd()))
			require.NoError(t, err)
			p := s.start(dir, []string{"TERM=" + row.term}, "doc.md", "--raw", "--journal", "trace.jsonl")
			s.expect("Who goes there?")
			s.expect("name")
			s.press("\x03")
			require.Equal(t, 130, p.wait(), s.text())
			require.Contains(t, s.text(), "Before.")
			require.NotContains(t, s.text(), "The answer was")
			after, err := term.GetState(int(s.terminal.Fd()))
			require.NoError(t, err)
			require.Equal(t, before, after, "the terminal is as it was")

			// Nothing was answered, so whoever goes on is asked.
			require.NotContains(t, read(t, dir, "trace.jsonl"), `"type":"elicit"`)
			require.NotContains(t, read(t, dir, "trace.jsonl"), `"type":"close"`)
		})
	}
	t.Run("signal", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, "doc.md", question)
		s := newScreen(t)
		before, err := term.GetState(int(s.terminal.Fd()))
		require.NoError(t, err)
		p := s.start(dir, nil, "doc.md", "--raw")
		s.expect("Who goes there?")
		s.expect("name")
		p.signal(syscall.SIGTERM)
		require.Equal(t, 130, p.wait(), s.text())
		after, err := term.GetState(int(s.terminal.Fd()))
		require.NoError(t, err)
		require.Equal(t, before, after, "the terminal is as it was")
	})
}
