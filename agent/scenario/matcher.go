package scenario

import (
	"fmt"
	"strings"
)

// A matcher decides whether a prompt is the one a stage expects.
type matcher interface {
	// match returns what the prompt binds, which is nothing for most matchers.
	match(prompt string, b bindings) (map[string]string, bool)
	// expectation says what was expected, for reports.
	expectation(b bindings) string
}

func (t template) expectation(b bindings) string {
	var out strings.Builder
	for _, p := range t {
		switch {
		case p.capture != "":
			fmt.Fprintf(&out, "{?%s}", p.capture)
		case p.ref != "":
			out.WriteString(b[p.of][p.ref])
		default:
			out.WriteString(p.literal)
		}
	}
	return out.String()
}

// equals accepts one text.
type equals string

func (e equals) match(prompt string, _ bindings) (map[string]string, bool) {
	return nil, prompt == string(e)
}

func (e equals) expectation(bindings) string { return string(e) }

// contains accepts what has every text, one after the other.
type contains []string

func (c contains) match(prompt string, _ bindings) (map[string]string, bool) {
	for _, text := range c {
		_, after, found := strings.Cut(prompt, text)
		if !found {
			return nil, false
		}
		prompt = after
	}
	return nil, true
}

func (c contains) expectation(bindings) string { return fmt.Sprintf("contains %q", []string(c)) }

// anything accepts every prompt.
type anything struct{}

func (anything) match(string, bindings) (map[string]string, bool) { return nil, true }
func (anything) expectation(bindings) string                      { return "anything" }
