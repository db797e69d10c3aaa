package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/elicit"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/plan"
)

// A usageError is a command line that is wrong.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// A deadlineError is the cause of a run, or a whole command, that took longer than it
// may.
type deadlineError struct {
	limit time.Duration
	what  string
}

func (e *deadlineError) Error() string {
	return fmt.Sprintf("the deadline of %d ms (--timeout) was exceeded and the %s was cancelled", e.limit.Milliseconds(), e.what)
}

// A refusal is an error whose kind alone would not say that something was refused.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// A statusError carries an exit status for something already reported.
type statusError struct{ status int }

func (e *statusError) Error() string { return fmt.Sprintf("status %d", e.status) }

// A historyError is a history that cannot be trusted.
type historyError struct{ err error }

func (e *historyError) Error() string { return e.err.Error() }
func (e *historyError) Unwrap() error { return e.err }

// finish reports how a command ended and gives its exit status.
func (c *command) finish(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	var reported *statusError
	if errors.As(err, &reported) {
		return reported.status
	}
	if context.Cause(ctx) == ErrInterrupted {
		err = ErrInterrupted
	}
	if !errors.Is(err, ErrInterrupted) {
		c.print(err)
	}
	return status(err)
}

// status is the exit status an error means.
func status(err error) int {
	var usage *usageError
	var props *engine.PropsError
	var history *historyError
	var recorded *journal.RecordedError
	var source *document.Error
	var agents *agent.Error
	var caller *plan.CallerError
	var gate *plan.GateError
	switch {
	case errors.Is(err, ErrInterrupted):
		return exitInterrupted
	case errors.As(err, new(refusal)):
		return exitRefused
	case errors.As(err, &source) && source.Code == "target-invalid":
		return exitUsage
	case errors.As(err, &usage), errors.As(err, &props), errors.As(err, &caller),
		errors.As(err, &recorded) && recorded.Name() == engine.PropsErrorName:
		return exitUsage
	case errors.As(err, &history), journal.IsDurability(err) && !isPersistence(err):
		return exitDamaged
	case errors.As(err, &agents):
		return agents.Code.Exit()
	case refused(err), errors.As(err, &gate):
		return exitRefused
	}
	return exitFailed
}

func isPersistence(err error) bool {
	var e *journal.PersistenceError
	return errors.As(err, &e)
}

// print writes an error once: the message, and where it is with the line and a
// caret.
func (c *command) print(err error) {
	if c.midLine && isTerminal(c.Stdout) {
		fmt.Fprintln(c.out)
	}
	fmt.Fprintln(c.err, elicit.Visible(err.Error()))
	if errors.As(err, new(placeless)) {
		return
	}
	pos := engine.PositionOf(err)
	if refused(err) && !pos.IsZero() { // the line may hold the refused text (F5)
		fmt.Fprintf(c.err, "  --> %s\n", elicit.Visible(pos.String()))
		return
	}
	c.excerpt(pos)
}

// refused reports whether an error is a refusal of generated text, made now or
// recorded.
func refused(err error) bool {
	var now *admission.Refusal
	var recorded *journal.RecordedError
	return errors.As(err, &now) || errors.As(err, &recorded) && recorded.Name() == engine.RefusedName
}

// excerpt shows the line a position is on.
func (c *command) excerpt(pos document.Position) {
	if pos.IsZero() {
		return
	}
	fmt.Fprintf(c.err, "  --> %s\n", elicit.Visible(pos.String()))
	text, ok := c.sources[pos.Source]
	if !ok {
		read, err := c.machine().Sources.ReadSource(pos.Source)
		if err != nil {
			return
		}
		text = strings.TrimPrefix(string(read), "\ufeff")
	}
	line, column := document.LineText(text, pos.Offset)
	line, before := clip(line, column)
	gutter := fmt.Sprint(pos.Line)
	fmt.Fprintf(c.err, "  %s | %s\n", gutter, elicit.Visible(line))
	fmt.Fprintf(c.err, "  %s | %s^\n", strings.Repeat(" ", len(gutter)), blanks(elicit.Visible(before)))
}

// excerptRunes bounds how much of a long line an excerpt shows on either side.
const excerptRunes = 60

// clip shortens a line around the byte column it is shown for; before is what is
// left of that place.
func clip(line string, column int) (clipped, before string) {
	lead, after := []rune(line[:column]), []rune(line[column:])
	head, tail := "", ""
	if len(lead) > excerptRunes {
		lead, head = lead[len(lead)-excerptRunes:], "…"
	}
	if len(after) > excerptRunes {
		after, tail = after[:excerptRunes], "…"
	}
	before = head + string(lead)
	return before + string(after) + tail, before
}

// blanks keeps the tabs of a text and makes everything else a space, so that a
// caret below it stands in the same column.
func blanks(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, text)
}

// note writes one line to a channel for diagnostics.
func note(w io.Writer, format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
