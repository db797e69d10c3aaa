package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// A history is the journal of one run and the file it may be written to.
type history struct {
	journal *journal.Journal
	lines   *journal.Lines
	file    *os.File
}

// openHistory reads the history a run answers from and creates the file it is
// written to, in this order, so that a wrong --replay leaves no file behind.
func (c *command) openHistory(ctx context.Context, root *engine.Root, props *value.Object, s *runSettings) (*history, error) {
	var retained []journal.Event
	if s.replay != "" {
		data, err := host.ReadFile(c.path(s.replay))
		if err != nil {
			return nil, usage("--replay: %v", unreadable(s.replay, err))
		}
		events, torn, err := journal.ParseLines(data)
		if err != nil {
			return nil, &historyError{fmt.Errorf("%s: %w", s.replay, err)}
		}
		if len(torn) > 0 {
			note(c.err, "%s ends in an unfinished record of %d bytes, which was never acknowledged and is ignored", s.replay, len(torn))
		}
		if _, err := journal.Open(ctx, journal.NewMemory(events...), journal.Options{}); err != nil {
			return nil, &historyError{fmt.Errorf("%s: %w", s.replay, err)}
		}
		if err := root.Owns(events); err != nil {
			return nil, &historyError{fmt.Errorf("%s: %w", s.replay, err)}
		}
		retained = events
	}
	h := &history{}
	stream := journal.Discard()
	if s.replay != "" {
		stream = journal.NewMemory(retained...)
	}
	var options journal.Options
	if s.verbose {
		options.Observe = c.observe
	}
	if s.journal != "" {
		if !s.noDetect {
			options.Gate = journal.NewGate(c.secrets(props)...)
		}
		copied, err := copyOf(retained, options.Gate)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be continued in %s: %w", s.replay, s.journal, err)
		}
		file, err := host.CreateTrace(c.path(s.journal))
		if errors.Is(err, fs.ErrExist) {
			return nil, usage("Journal trace already exists: %s. Remove it or choose another path.", s.journal)
		}
		if err != nil {
			return nil, usage("--journal: %s cannot be created: %v", s.journal, reason(err))
		}
		h.file, h.lines = file, journal.NewLines(file, retained...)
		if _, err := file.Write(copied); err != nil {
			h.close()
			return nil, fmt.Errorf("--journal: %s cannot be written: %v", s.journal, reason(err))
		}
		stream = h.lines
	}
	var err error
	if h.journal, err = journal.Open(ctx, stream, options); err != nil {
		h.close()
		return nil, &historyError{err}
	}
	return h, nil
}

// copyOf is the text of the records a new history begins with. They cross the
// gate like every other record.
func copyOf(events []journal.Event, gate *journal.Gate) ([]byte, error) {
	var text []byte
	for _, e := range events {
		start := len(text)
		var err error
		if text, err = journal.AppendLine(text, e); err != nil {
			return nil, err
		}
		if err := gate.Check(text[start:]); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// close makes a written history durable. It may be called twice.
func (h *history) close() error {
	if h.file == nil {
		return nil
	}
	file := h.file
	h.file = nil
	return errors.Join(h.lines.Sync(), file.Close())
}

// observe reports one recorded event.
func (c *command) observe(e journal.Event) {
	if e.Type == "close" {
		status := e.Result.Status
		if o, ok := e.Result.Value.(*value.Object); ok {
			if inner, ok := o.String("status"); ok {
				status += " " + inner
			}
		}
		note(c.err, "[close] %s -> %s", e.CoroutineID, status)
		return
	}
	typ, _ := e.Description.String("type")
	name, _ := e.Description.String("name")
	note(c.err, "[yield] %s:%s -> %s", typ, short(name), e.Result.Status)
}

// short bounds a name and keeps it on one line.
func short(name string) string {
	runes := []rune(name)
	if len(runes) > 60 {
		runes = append(runes[:60], '…')
	}
	return visible(string(runes))
}

// reason is what the system said of a path, without the path.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
