package elicit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/value"
)

// A screen is a pseudo-terminal with a person in front of it.
type screen struct {
	t        *testing.T
	keyboard *os.File // the master side
	terminal *os.File // what the program is given

	mu   sync.Mutex
	grew *sync.Cond
	seen strings.Builder
	read int // how much of it was expected already
}

func newScreen(t *testing.T) *screen { return newScreenOf(t, 100, 40) }

func newScreenOf(t *testing.T, columns, rows uint16) *screen {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	fd := int(master.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}))
	s := &screen{t: t, keyboard: master, terminal: slave}
	s.grew = sync.NewCond(&s.mu)
	go func() {
		chunk := make([]byte, 4096)
		for {
			n, err := master.Read(chunk)
			s.mu.Lock()
			s.seen.Write(chunk[:n])
			s.mu.Unlock()
			s.grew.Broadcast()
			if err != nil {
				return
			}
		}
	}()
	// Both stay open, like a person's terminal: the form library may look at the
	// size of the one it had a moment after its program has ended.
	terminals.Store(slave, master)
	return s
}

// terminals are those of all tests.
var terminals sync.Map

// expect waits until the text appears after what was expected before, and returns
// what came before it.
func (s *screen) expect(text string) (before string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	late := false
	patience := time.AfterFunc(20*time.Second, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		late = true
		s.grew.Broadcast()
	})
	defer patience.Stop()
	for !late {
		shown := s.seen.String()[s.read:]
		if i := strings.Index(shown, text); i >= 0 {
			s.read += i + len(text)
			return shown[:i]
		}
		s.grew.Wait()
	}
	require.FailNow(s.t, "waited in vain for "+text, "shown: %q", s.seen.String()[s.read:])
	return ""
}

func (s *screen) press(keys string) {
	_, err := s.keyboard.WriteString(keys)
	require.NoError(s.t, err)
}

// sequence is a control sequence of the form or of a style.
var sequence = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]`)

// ask starts a question and returns where its answer arrives.
func (s *screen) ask(ctx context.Context, definition string) <-chan outcome {
	s.t.Helper()
	answered := s.begin(ctx, "Which \u202eone?", definition)
	s.expect("Which \x1b[7m\\u202e\x1b[27mone?")
	return answered
}

// begin starts a question with a message of its own.
func (s *screen) begin(ctx context.Context, message, definition string) <-chan outcome {
	s.t.Helper()
	answered := make(chan outcome, 1)
	q := engine.Question{Message: message, Schema: parse(s.t, definition)}
	term := NewTerminal(s.terminal, s.terminal)
	go func() {
		v, err := term.Ask(ctx, q)
		answered <- outcome{v, err}
	}()
	return answered
}

type outcome struct {
	value any
	err   error
}

func (o outcome) json(t *testing.T) string {
	require.NoError(t, o.err)
	text, err := value.JSON(o.value)
	require.NoError(t, err)
	return text
}

const enter = "\r"

func TestFormFields(t *testing.T) {
	s := newScreen(t)
	answered := s.ask(t.Context(), `{"type":"object","required":["name","count"],"properties":{
		"name":{"type":"string","title":"Full name","minLength":2},
		"count":{"type":"integer"},
		"size":{"type":"string","enum":["small","large"],"default":"large"},
		"extra":{"type":"array","items":{"type":"integer"}}}}`)
	s.expect("Full name")
	s.press("A" + enter)
	s.expect("must NOT have fewer than 2 characters")
	s.press("da" + enter)
	s.expect("back") // the help below a field that has one before it
	s.press("12" + enter)
	s.expect("filter") // below a choice
	s.press(enter)
	s.expect("new line") // below a text of several lines
	s.press("[1]" + enter)
	require.Equal(t, `{"name":"Ada","count":12,"size":"large","extra":[1]}`, (<-answered).json(t))
}

func TestFormChoice(t *testing.T) {
	s := newScreen(t)
	answered := s.ask(t.Context(), `{"type":"boolean","title":"Go on?"}`)
	s.expect("Go on?")
	s.press("\x1b[B\x1b[B" + enter)
	require.Equal(t, "false", (<-answered).json(t))
}

func TestFormAsksAgain(t *testing.T) {
	s := newScreen(t)
	answered := s.ask(t.Context(), `{"type":"object","minProperties":1,"properties":{"a":{"type":"integer","title":"First"}}}`)
	s.expect("First")
	s.press(enter)
	s.expect("This answer does not fit:")
	s.expect("First")
	s.press("5" + enter)
	require.Equal(t, `{"a":5}`, (<-answered).json(t))
}

func TestFormInterrupted(t *testing.T) {
	s := newScreen(t)
	answered := s.ask(t.Context(), `{"type":"string","title":"Word"}`)
	s.expect("Word")
	s.press("\x03")
	got := <-answered
	require.ErrorIs(t, got.err, ErrInterrupted)
	require.ErrorIs(t, got.err, context.Canceled)
}

func TestFormCancelled(t *testing.T) {
	s := newScreen(t)
	cause := errors.New("the run ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	answered := s.ask(ctx, `{"type":"string","title":"Word"}`)
	s.expect("Word")
	cancel(cause)
	require.ErrorIs(t, (<-answered).err, cause)
}

// candidate is a document of many lines, some of them longer than a screen is wide.
func candidate() string {
	var b strings.Builder
	b.WriteString("A program for: write what I say to a file\n\n```markdown\n")
	for i := range 60 {
		fmt.Fprintf(&b, "Line %d says something, %s.\n", i, strings.Repeat("and then more of it ", i%12))
	}
	b.WriteString("<F\u0435tch url=\"https://example.test/\u202e\" />\n```")
	return b.String()
}

// The whole text of a review stands on the terminal before the form, on a small
// screen and on a large one.
func TestPR9_TerminalReviewShowsTheWholeText(t *testing.T) {
	for _, size := range [][2]uint16{{80, 24}, {160, 50}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := newScreenOf(t, size[0], size[1])
			answered := s.begin(t.Context(), candidate(), review)
			shown := strings.ReplaceAll(s.expect("decision"), "\r\n", "\n")
			require.NotContains(t, shown, "\x1b[?1049h", "it stays to scroll back to")
			require.Contains(t, shown, "<F\x1b[7m\\u0435\x1b[27mtch", "an escape is told apart from text")
			parts := strings.Split(sequence.ReplaceAllString(shown, ""), "\n\n")
			require.Greater(t, len(parts), 2, "%q", shown)
			require.Equal(t, parts[0], parts[2], "what is said about it stands at both ends")
			require.Contains(t, parts[0], "The question has 65 lines.")
			text := strings.NewReplacer("│", "|", "┆", ":").Replace(parts[1])
			require.Equal(t, legible(candidate()), gathered(t, text))
			for row := range strings.SplitSeq(text, "\n") {
				require.LessOrEqual(t, displaywidth.String(row), int(size[0]))
			}
			s.press("\x1b[B" + enter)
			require.Equal(t, `{"decision":"approve"}`, (<-answered).json(t), "no feedback is asked for")
		})
	}
}

// Enter alone never approves.
func TestPR9_EnterAloneChoosesNothing(t *testing.T) {
	s := newScreen(t)
	answered := s.begin(t.Context(), "Ship it?", review)
	s.expect("(choose one)")
	for range 3 {
		s.press(enter)
	}
	s.expect("* choose one")
	require.Empty(t, answered)
	s.press("\x1b[B\x1b[B\x1b[B" + enter)
	require.Equal(t, `{"decision":"abort"}`, (<-answered).json(t))
}

func TestPR8_EmptyFeedbackKeepsTheFormOpen(t *testing.T) {
	s := newScreen(t)
	answered := s.begin(t.Context(), "Ship it?", review)
	s.expect("(choose one)")
	s.press("\x1b[B\x1b[B" + enter)
	s.expect("feedback")
	s.press(enter)
	s.expect("this is needed")
	require.Empty(t, answered)
	s.press("shorter" + enter)
	require.Equal(t, `{"decision":"revise","feedback":"shorter"}`, (<-answered).json(t))
}

func TestPR9_ALongMessageReachesTheTerminal(t *testing.T) {
	s := newScreen(t)
	answered := s.begin(t.Context(), strings.Repeat("one of many lines\n", 99_999)+"the last \u202eline", review)
	s.expect("100000 │ ")
	s.expect("the last \x1b[7m\\u202e\x1b[27mline")
	s.expect("(choose one)")
	s.press("\x1b[B" + enter)
	require.Equal(t, `{"decision":"approve"}`, (<-answered).json(t))
}
