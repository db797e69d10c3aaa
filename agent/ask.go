package agent

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// maxShown is how many characters of a title, a kind or a name are put to a person.
const maxShown = 200

// A LineAsker asks in lines of text (agents 7.2): what is to be allowed, the options
// with numbers, and one line that holds a number; anything else chooses nothing. One
// question is open at a time, in arrival order.
type LineAsker struct {
	out  io.Writer
	line func(ctx context.Context) (string, error)
	turn chan struct{}
}

// NewLineAsker returns an asker that writes questions to out and takes the answers
// from line, which returns one line with or without its line end and gives up at the
// end of its context. The caller makes sure that a person is there.
func NewLineAsker(out io.Writer, line func(ctx context.Context) (string, error)) *LineAsker {
	return &LineAsker{out: out, line: line, turn: make(chan struct{}, 1)}
}

// Ask implements [Asker].
func (a *LineAsker) Ask(ctx context.Context, r PermissionRequest) (PermissionOutcome, bool) {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return PermissionOutcome{}, false
	}
	if ctx.Err() != nil {
		return PermissionOutcome{}, false
	}
	if _, err := io.WriteString(a.out, question(r)); err != nil {
		return PermissionOutcome{}, false
	}
	answer, err := a.line(ctx)
	if err != nil {
		return PermissionOutcome{}, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(answer), 10, 31)
	if err != nil || n < 1 || n > uint64(len(r.Options)) {
		return PermissionOutcome{}, false
	}
	return PermissionOutcome{r.Options[n-1].ID}, true
}

// question is what a person reads. Titles and names are the peer's text.
func question(r PermissionRequest) string {
	title := Shown(r.Tool.Title)
	if title == "" {
		title = Shown(r.Tool.ID)
	}
	kind := Shown(r.Tool.Kind)
	if kind == "" {
		kind = "unknown kind"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The agent asks to use a tool: %s (%s)\n", title, kind)
	for i, o := range r.Options {
		fmt.Fprintf(&b, "  %d. %s (%s)\n", i+1, Shown(o.Name), o.Kind)
	}
	b.WriteString("Number, or anything else to deny: ")
	return b.String()
}

// Shown is a peer's text as a person may see it on a line: without controls and
// characters that change the direction of text, and no longer than 200 characters.
func Shown(text string) string {
	var b strings.Builder
	count := 0
	for _, r := range text {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			continue
		}
		if count == maxShown {
			break
		}
		b.WriteRune(r)
		count++
	}
	return b.String()
}
