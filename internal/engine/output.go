package engine

import (
	"io"
	"slices"
	"strings"
	"sync"
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

// A piece is a part of a buffer's text: one printed error, or what lies between.
type piece struct {
	text    string
	isError bool
}

func (o *buffer) pieces() []piece {
	var out []piece
	text, done := o.b.String(), 0
	for _, p := range o.errs {
		out = append(out, piece{text: text[done:p.at]}, piece{p.text, true})
		done = p.at + len(p.text)
	}
	out = append(out, piece{text: text[done:]})
	return slices.DeleteFunc(out, func(p piece) bool { return p.text == "" })
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
