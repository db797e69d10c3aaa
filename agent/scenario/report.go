package scenario

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
)

// A reporter writes one line of JSON per event, its members in a fixed order.
type reporter struct {
	mu  sync.Mutex
	w   io.Writer // nil: nobody reads it
	err error     // the first failure to write
}

// write adds a line: names and values, one after the other. A json.RawMessage is
// written byte for byte.
func (r *reporter) write(event string, members ...any) {
	if r.w == nil {
		return
	}
	line := append([]byte(`{"event":`), marshal(event)...)
	for i := 0; i+1 < len(members); i += 2 {
		line = append(line, ',')
		line = append(line, marshal(members[i])...)
		line = append(line, ':')
		if raw, is := members[i+1].(json.RawMessage); is {
			line = append(line, raw...)
			continue
		}
		line = append(line, marshal(members[i+1])...)
	}
	line = append(line, '}', '\n')
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.w.Write(line); err != nil && r.err == nil {
		r.err = fmt.Errorf("the report cannot be written: %w", err)
	}
}

func (r *reporter) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// A reported line is what Problems looks at.
type reported struct {
	Event      string         `json:"event"`
	Session    string         `json:"session"`
	Stage      int            `json:"stage"`
	Step       string         `json:"step"`
	Expected   string         `json:"expected"`
	Actual     string         `json:"actual"`
	Unconsumed map[string]int `json:"unconsumed"`
}

// Problems lists what a report says went otherwise than the scenario expects, in the
// order it happened: prompts that fit no stage, steps that came out differently, and,
// for a scenario that requires completeness, sessions of which no peer got to the
// end. A report may be that of several peers, one after the other. It is empty when a
// test may pass; it fails on what is no report.
func Problems(report io.Reader) ([]string, error) {
	var problems []string
	left := map[string]int{}
	lines := bufio.NewReader(report)
	for number := 1; ; number++ {
		text, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the report cannot be read: %w", err)
		}
		if len(bytes.TrimSpace(text)) > 0 {
			var line reported
			if err := json.Unmarshal(text, &line); err != nil {
				return nil, fmt.Errorf("line %d of the report is not JSON: %w", number, err)
			}
			if problem := line.problem(); problem != "" {
				problems = append(problems, problem)
			}
			for session, n := range line.Unconsumed {
				if least, seen := left[session]; !seen || n < least {
					left[session] = n
				}
			}
		}
		if err != nil {
			break
		}
	}
	for _, session := range slices.Sorted(maps.Keys(left)) {
		if left[session] > 0 {
			problems = append(problems, fmt.Sprintf("session %q ended with %d stage(s) left", session, left[session]))
		}
	}
	return problems, nil
}

func (l reported) problem() string {
	switch l.Event {
	case "mismatch":
		return fmt.Sprintf("session %q, stage %d: expected the prompt %q, got %q", l.Session, l.Stage, l.Expected, l.Actual)
	case "exhausted":
		return fmt.Sprintf("session %q has no stage for the prompt %q", l.Session, l.Actual)
	case "step":
		if l.Expected != "" {
			return fmt.Sprintf("session %q, stage %d: expected of %s %s, got %s", l.Session, l.Stage, l.Step, l.Expected, l.Actual)
		}
	}
	return ""
}
