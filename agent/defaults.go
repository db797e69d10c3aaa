package agent

import (
	"fmt"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/internal/document"
)

// DefaultSources are the places an invocation's default agent can come from; an empty
// text counts as absent.
type DefaultSources struct {
	Option      string // --default-agent
	Environment string // DEFAULT_AGENT_NAME
	Config      string // defaultAgent of the configuration file
	// BuiltIn finds an agent when nobody named one, and returns an empty name when it
	// finds none; see Registry.BuiltIn. It may be nil and is called last, at most once.
	BuiltIn func() string
}

// DefaultAgent settles the default agent of an invocation (agents 9.2): the option
// outranks the environment, which outranks the file, which outranks what is built in.
// It is empty when there is none, which is a failure only where an agent is needed.
// Elements outrank it; see Region.AgentName.
func DefaultAgent(s DefaultSources) string {
	for _, name := range []string{s.Option, s.Environment, s.Config} {
		if name != "" {
			return name
		}
	}
	if s.BuiltIn == nil {
		return ""
	}
	return s.BuiltIn()
}

// ParseDuration reads a duration that a person or a document gave as label, which may
// have blanks around it: digits and one of the units ms, s, m and min, without a unit
// milliseconds (agents 9.4). It is greater than zero.
func ParseDuration(label, text string) (time.Duration, error) {
	d, err := document.ParseDuration(strings.Trim(text, " \t\r\n"))
	if err != nil {
		return 0, fmt.Errorf("%s must be a duration like 500ms, 30s, or 5min, got %.40q", label, text)
	}
	return d, nil
}
