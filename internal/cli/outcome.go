package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/termdown"
	"github.com/executable-markdown/xmd/internal/value"
)

// screen prints chunks of prose on a terminal, as they finish.
func (c *command) screen(s *runSettings) func(string) error {
	if s.raw {
		return func(text string) error { return c.write(text) }
	}
	var tidy engine.Normalizer
	options := termdown.Options{Width: width(c.Stdout), Color: c.colour(c.Stdout, s.noColor)}
	return func(text string) error { return c.write(termdown.Render(tidy.Chunk(text), options)) }
}

func (c *command) write(text string) error {
	if text != "" {
		c.midLine = !strings.HasSuffix(text, "\n")
	}
	if _, err := io.WriteString(c.out, text); err != nil {
		return fmt.Errorf("standard output cannot be written: %w", err)
	}
	return nil
}

// body prints the rendered body of a value document for --verbose.
func (c *command) body(text string) error {
	if isTerminal(c.Stderr) {
		text = visible(text)
	}
	_, err := io.WriteString(c.err, text)
	return err
}

// deliver hands over the result: text, or one line of JSON for a value, to
// standard output or a file. A run that failed leaves the file as it was.
func (c *command) deliver(root *engine.Root, res engine.Result, failed error, s *runSettings, streamed bool) error {
	text := res.Output
	if root.ReturnsValue() {
		text = ""
		if failed == nil {
			line, err := value.JSON(res.Value)
			if err != nil {
				return err
			}
			text = line
			if s.output == "" {
				text = c.safeJSON(line)
			}
			text += "\n"
		}
	}
	if s.output != "" && failed == nil {
		if err := host.WriteOutput(c.path(s.output), []byte(text)); err != nil {
			return fmt.Errorf("%s cannot be written: %w", s.output, err)
		}
	}
	switch {
	case s.json:
		c.delivered = true
		return c.deliverJSON(res, failed)
	case s.output != "" && failed == nil:
		return nil
	case streamed || text == "":
		return nil
	case isTerminal(c.Stdout) && !root.ReturnsValue():
		return c.screen(s)(text)
	}
	return c.write(text)
}

// shown is text that is not ours as standard output takes it: on a terminal with
// every hidden character written out.
func (c *command) shown(text string) string {
	if isTerminal(c.Stdout) {
		return visible(text)
	}
	return text
}

// deliverJSON prints the outcome of a run for a program (version 1).
func (c *command) deliverJSON(res engine.Result, failed error) error {
	outcome := value.Of("version", 1.0, "status", "ok", "output", res.Output, "printedErrors", float64(res.Printed))
	if res.IsValue && failed == nil {
		outcome.Set("value", res.Value)
	}
	if failed != nil {
		outcome.Set("status", "failed")
		outcome.Set("exit", float64(status(failed)))
		problem := value.Of("message", failed.Error())
		var e *engine.Error
		if errors.As(failed, &e) && e.Code != "" {
			problem.Set("code", e.Code)
		}
		if pos := engine.PositionOf(failed); !pos.IsZero() {
			problem.Set("position", pos.JSON())
		}
		outcome.Set("error", problem)
	}
	return c.writeJSON(outcome)
}
