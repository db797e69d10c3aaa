package journal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
)

// NewMemory returns a stream that keeps events in this process. It starts with
// the given ones; Load returns everything appended so far, so a second journal can
// continue where a first one stopped.
func NewMemory(events ...Event) Stream { return &memory{events: slices.Clone(events)} }

type memory struct{ events []Event }

func (m *memory) Load(context.Context) ([]Event, error) { return slices.Clone(m.events), nil }

func (m *memory) Append(_ context.Context, e Event) error {
	m.events = append(m.events, e)
	return nil
}

// Discard returns a stream that keeps nothing: for an execution whose history
// nobody will read. A journal over it keeps no appended events either.
func Discard() Stream { return discard{} }

type discard struct{}

func (discard) Load(context.Context) ([]Event, error) { return nil, nil }
func (discard) Append(context.Context, Event) error   { return nil }

// A LineFile is where a line stream writes; its owner opened it, for appending,
// and closes it.
type LineFile interface {
	io.Writer
	Sync() error
}

// Lines is a stream of one record a line. Each event is one Write of its whole
// line, so a killed process leaves whole lines and at most one torn tail.
type Lines struct {
	file     LineFile
	retained []Event
	synced   bool
	err      error
}

// NewLines returns a stream that appends to file and is durable when a line is
// written: the owner calls Sync once, at the end and on a failure path. retained
// is what Load hands out; for a file that is continued it comes from ParseLines.
func NewLines(file LineFile, retained ...Event) *Lines {
	return &Lines{file: file, retained: retained}
}

// NewSyncedLines is NewLines with a Sync after every line, for a history that
// will be continued.
func NewSyncedLines(file LineFile, retained ...Event) *Lines {
	return &Lines{file: file, retained: retained, synced: true}
}

// Load returns the retained events.
func (l *Lines) Load(context.Context) ([]Event, error) { return slices.Clone(l.retained), nil }

// Append writes one line. After a failed or short write the end of the file is
// unknown, so every later Append fails in the same way and writes nothing.
func (l *Lines) Append(_ context.Context, e Event) error {
	if l.err != nil {
		return l.err
	}
	line, err := AppendLine(nil, e)
	if err != nil {
		return err
	}
	l.err = l.write(line)
	return l.err
}

func (l *Lines) write(line []byte) error {
	n, err := l.file.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("write a record: %w", err)
	}
	if l.synced {
		return l.Sync()
	}
	return nil
}

// Sync makes what was written survive a crash of the machine.
func (l *Lines) Sync() error {
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("sync the journal: %w", err)
	}
	return nil
}

// ParseLines reads the records of a whole file. Bytes after the last line feed
// are an unfinished record: they come back as torn and are not looked at. A
// complete line that is no record, an empty one included, is damage; the error
// wraps a *MalformedError and names the line, counted from 1, and events are
// those before it.
func ParseLines(data []byte) (events []Event, torn []byte, err error) {
	for number := 1; ; number++ {
		line, rest, complete := bytes.Cut(data, []byte{'\n'})
		if !complete {
			return events, line, nil
		}
		e, err := ParseLine(line)
		if err != nil {
			return events, nil, fmt.Errorf("line %d of the journal is damaged: %w", number, err)
		}
		events = append(events, e)
		data = rest
	}
}
