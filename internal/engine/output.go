package engine

import (
	"io"
	"strings"
	"sync"

	"github.com/executable-markdown/xmd/internal/value"
)

// A buffer collects what nodes render, and which errors were printed into it.
type buffer struct {
	b    strings.Builder
	errs []printed
}

// A printed error is text in the document and data beside it.
type printed struct {
	text string
	err  error
	at   int // offset in the buffer
}

func (o *buffer) WriteString(s string)        { o.b.WriteString(s) }
func (o *buffer) Write(p []byte) (int, error) { return o.b.Write(p) }
func (o *buffer) String() string              { return o.b.String() }
func (o *buffer) Len() int                    { return o.b.Len() }

// print writes an error as the comment a document shows (language 10.1, D-6).
func (o *buffer) print(err error) {
	message := err.Error()
	if e, ok := asError(err); ok && e.Authored {
		message = "<" + e.Component + ">: " + message + " (" + e.Pos.String() + ")"
	}
	o.put("<!-- ERROR: "+strings.ReplaceAll(message, "-->", "--&gt;")+" -->", err)
}

// put writes the text of a printed error.
func (o *buffer) put(text string, err error) {
	o.errs = append(o.errs, printed{text, err, o.b.Len()})
	o.b.WriteString(text)
}

// take appends everything another buffer holds.
func (o *buffer) take(other *buffer) {
	for _, p := range other.errs {
		o.errs = append(o.errs, printed{p.text, p.err, o.b.Len() + p.at})
	}
	o.b.WriteString(other.b.String())
}

// record is the buffer as the close of a child keeps it: a list of {text, exact}
// runs. A printed error is three: an empty exact one, which never occurs otherwise,
// its message, and its comment.
func (o *buffer) record() []any {
	runs := []any{}
	add := func(text string, exact bool) { runs = append(runs, value.Of("text", text, "exact", exact)) }
	text, done := o.b.String(), 0
	for _, p := range o.errs {
		if p.at > done {
			add(text[done:p.at], false)
		}
		add("", true)
		add(p.err.Error(), true)
		add(p.text, false)
		done = p.at + len(p.text)
	}
	if done < len(text) {
		add(text[done:], false)
	}
	return runs
}

// restore adds what record made, and reports whether it was that.
func (o *buffer) restore(recorded any) bool {
	list, ok := recorded.([]any)
	if !ok {
		return false
	}
	var pending []string // of a printed error: the marker, then the message
	for _, v := range list {
		r, _ := v.(*value.Object)
		text, isText := r.String("text")
		exact, _ := r.Get("exact")
		isExact, isBool := exact.(bool)
		if !isText || !isBool || r.Len() != 2 {
			return false
		}
		switch {
		case len(pending) == 1 || isExact && text == "":
			pending = append(pending, text)
		case len(pending) == 2:
			o.put(text, &Error{Message: pending[1]})
			pending = nil
		default:
			o.b.WriteString(text)
		}
	}
	return len(pending) == 0
}

// takeErrors appends only the printed errors another buffer holds: what a capture
// leaves behind when it refuses its text (language 5.7.4).
func (o *buffer) takeErrors(other *buffer) {
	for _, p := range other.errs {
		o.put(p.text, p.err)
	}
}

// contentError makes the failure of a content request from printed errors.
func (o *buffer) contentError() *ContentError {
	c := &ContentError{}
	for _, p := range o.errs {
		e, ok := asError(p.err)
		if !ok {
			e = &Error{Message: p.err.Error(), Cause: p.err}
		}
		c.Errors = append(c.Errors, e)
		c.texts = append(c.texts, p.text)
	}
	return c
}

// A serial writer takes turns with the others of its mutex: concurrent children
// print to the same channels.
type serial struct {
	turn *sync.Mutex
	to   io.Writer
}

func serialize(turn *sync.Mutex, to io.Writer) io.Writer {
	if to == nil {
		return io.Discard
	}
	return &serial{turn, to}
}

func (s *serial) Write(p []byte) (int, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	return s.to.Write(p)
}

// A Normalizer tidies prose for a terminal (language 11.3): no blanks before line
// ends, at most one empty line in a row. Chunks are given in order.
type Normalizer struct{ trailing int }

// Chunk returns the tidied chunk.
func (n *Normalizer) Chunk(text string) string {
	if text == "" {
		n.trailing = 0
		return ""
	}
	var b strings.Builder
	b.Grow(len(text))
	newlines, started := 0, false
	for line := range strings.Lines(text) {
		body, ended := strings.CutSuffix(line, "\n")
		if ended {
			body = strings.TrimRight(body, " \t")
		}
		if body != "" {
			started, newlines = true, 0
			b.WriteString(body)
		}
		if !ended {
			continue
		}
		newlines++
		limit := 2
		if !started && n.trailing >= 2 {
			limit = 1
		}
		if newlines <= limit {
			b.WriteByte('\n')
		}
	}
	n.trailing = min(newlines, 2)
	return b.String()
}
