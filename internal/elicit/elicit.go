// Package elicit asks a person, at a terminal or in a browser on this machine.
//
// A question enters: a message and the JSON Schema of its answer
// (engine.Question). One JSON value leaves that the schema accepts, or the error
// that says why there is none: the person interrupted, the input ended, or the
// run was cancelled.
//
//	t := elicit.NewTerminal(os.Stdin, os.Stderr)
//	answer, err := t.Ask(ctx, engine.Question{Message: "Ship it?", Schema: schema})
//
// An object is asked field by field, a single string, number, boolean or choice
// as one field; whatever has no field of its own kind is asked for as JSON text. A
// member that only one branch of an if needs is asked for when it is needed. A choice
// that has no default has to be made: nothing is decided by pressing Enter. An
// answer the schema refuses keeps the question open and shows every issue.
//
// The invariant: what the person reads is what was written, all of it. Text of a
// document reaches a person only as a reading of it, in which no control,
// bidirectional or invisible character hides or rearranges a part, no letter of one
// alphabet passes for one of another in a name, and no mark covers its neighbours;
// blank stretches are announced, and no line can pass for something the package says
// itself. The bytes of the question are
// not touched by that: they are whoever's who asked, and what is approved (prompt 7.5).
//
// The package does not know documents, histories or options. It neither finds out
// whether its files are a terminal nor reads the environment: whoever constructs a
// Terminal has decided that.
package elicit

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/schema"
)

// ErrInterrupted is the error of a question the person left with Ctrl-C. It is a
// context.Canceled for errors.Is.
var ErrInterrupted error = interrupted{}

type interrupted struct{}

func (interrupted) Error() string        { return "the question was interrupted" }
func (interrupted) Is(target error) bool { return target == context.Canceled }

// A Terminal is an engine.Elicitor. It is safe for concurrent use: questions take
// turns.
type Terminal struct {
	// Plain asks with ordinary lines instead of a form that moves the cursor: for
	// a terminal that cannot do that (TERM=dumb) and for screen readers. Set it
	// before the first question.
	Plain bool
	// NoColor keeps colours out of forms. Set it before the first question.
	NoColor bool

	in    io.Reader
	out   io.Writer
	lines *lineReader
	turn  chan struct{} // holds a token while a question is open
}

var _ engine.Elicitor = (*Terminal)(nil)

// NewTerminal returns a Terminal that reads answers from in and writes questions
// to out. Unless Plain is set, both are the files of a terminal.
func NewTerminal(in io.Reader, out io.Writer) *Terminal {
	return &Terminal{in: in, out: out, lines: newLineReader(in), turn: make(chan struct{}, 1)}
}

// Ask shows the question until it has an answer that fits its schema. The error
// is ErrInterrupted, io.ErrUnexpectedEOF when the input ended, the cause of the
// context when that ended, a *schema.Error, or a failure to write.
func (t *Terminal) Ask(ctx context.Context, q engine.Question) (any, error) {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	accepted, err := schema.Compile(q.Schema)
	if err != nil {
		return nil, err
	}
	if message := strings.Trim(q.Message, "\r\n"); message != "" {
		if _, err := io.WriteString(t.out, t.unroll(message)); err != nil {
			return nil, err
		}
	}
	collect := t.form
	if t.Plain {
		collect = t.dialogue
	}
	form := newForm(accepted.Definition())
	for {
		if err := collect(ctx, form); err != nil {
			return nil, err
		}
		answer := form.answer()
		issues := accepted.Validate(answer)
		if len(issues) == 0 {
			return answer, nil
		}
		form.relent()
		if err := t.show("This answer does not fit:\n" + schema.Lines(issues)); err != nil {
			return nil, err
		}
	}
}

// show writes text of its own, with an empty line after it.
func (t *Terminal) show(text string) error {
	_, err := fmt.Fprintf(t.out, "%s\n\n", Visible(text))
	return err
}
