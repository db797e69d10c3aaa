package elicit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// MaxLine is the length in bytes of the longest line a plain dialogue reads.
const MaxLine = 1 << 20

// dialogue has the fields filled in line by line.
func (t *Terminal) dialogue(ctx context.Context, asked *form) error {
	for i, f := range asked.fields {
		if !asked.asks(i) {
			continue
		}
		if err := t.converse(ctx, f); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(t.out)
	return err
}

// converse asks for one field until it is filled in.
func (t *Terminal) converse(ctx context.Context, f *field) error {
	var b strings.Builder
	b.WriteString(f.title + "\n")
	if f.help != "" {
		b.WriteString(f.help + "\n")
	}
	prompt := "> "
	if f.kind == choice {
		for i, o := range f.options {
			fmt.Fprintf(&b, "%d. %s\n", i+1, o.label)
		}
		prompt = fmt.Sprintf("1-%d> ", len(f.options))
		if f.chosen >= 0 {
			prompt = fmt.Sprintf("1-%d [%d]> ", len(f.options), f.chosen+1)
		}
	}
	if _, err := io.WriteString(t.out, b.String()); err != nil {
		return err
	}
	for {
		if _, err := io.WriteString(t.out, prompt); err != nil {
			return err
		}
		line, err := t.lines.next(ctx)
		if err != nil {
			return err
		}
		refusal := f.take(line)
		if refusal == nil {
			return nil
		}
		if _, err := fmt.Fprintln(t.out, refusal); err != nil {
			return err
		}
	}
}

// take fills a field in from a line, or says what is wrong with the line.
func (f *field) take(line string) error {
	if f.kind != choice {
		if _, _, err := f.read(line); err != nil {
			return err
		}
		f.written = line
		return nil
	}
	line = strings.TrimSpace(line)
	if line == "" && f.chosen >= 0 {
		return nil
	}
	n, err := strconv.Atoi(line)
	if err != nil || n < 1 || n > len(f.options) {
		return fmt.Errorf("write a number from 1 to %d", len(f.options))
	}
	f.chosen = n - 1
	return nil
}

// A lineReader reads lines for callers that may stop waiting. It reads no
// further than the line somebody asked for; a line whose caller left is the next
// caller's.
type lineReader struct {
	in      *bufio.Reader
	pending chan line // the read under way, nil when there is none
}

type line struct {
	text string
	err  error
}

func newLineReader(in io.Reader) *lineReader { return &lineReader{in: bufio.NewReader(in)} }

// next returns the next line without its end. One caller waits at a time.
func (r *lineReader) next(ctx context.Context) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if r.pending == nil {
		pending := make(chan line, 1)
		r.pending = pending
		go func() {
			text, err := readLine(r.in)
			pending <- line{text, err}
		}()
	}
	select {
	case l := <-r.pending:
		r.pending = nil
		return l.text, l.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

var errLongLine = errors.New("the line is longer than 1 MiB")

// readLine reads up to the end of a line. Input that ends inside one is a line
// too.
func readLine(in *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		part, err := in.ReadSlice('\n')
		if b.Len()+len(part) > MaxLine {
			return "", errLongLine
		}
		b.Write(part)
		switch {
		case err == nil:
			return strings.TrimRight(b.String(), "\r\n"), nil
		case err == bufio.ErrBufferFull:
			continue
		case err != io.EOF:
			return "", err
		case b.Len() == 0:
			return "", fmt.Errorf("the input ended before the question was answered: %w", io.ErrUnexpectedEOF)
		}
		return b.String(), nil
	}
}
