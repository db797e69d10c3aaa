package elicit

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

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

func newScreen(t *testing.T) *screen {
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
	require.NoError(t, unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}))
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

// expect waits until the text appears after what was expected before.
func (s *screen) expect(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if i := strings.Index(s.seen.String()[s.read:], text); i >= 0 {
			s.read += i + len(text)
			return
		}
		s.grew.Wait()
	}
}

func (s *screen) press(keys string) {
	_, err := s.keyboard.WriteString(keys)
	require.NoError(s.t, err)
}

// ask starts a question and returns where its answer arrives.
func (s *screen) ask(ctx context.Context, definition string) <-chan outcome {
	answered := make(chan outcome, 1)
	q := engine.Question{Message: "Which \u202eone?", Schema: parse(s.t, definition)}
	term := NewTerminal(s.terminal, s.terminal)
	go func() {
		v, err := term.Ask(ctx, q)
		answered <- outcome{v, err}
	}()
	s.expect(`Which \u202eone?`)
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
	s.press("\x1b[B" + enter)
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
