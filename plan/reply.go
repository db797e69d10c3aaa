package plan

import (
	"context"
	"errors"

	"github.com/executable-markdown/xmd/agent"
)

// maxReply is the length in bytes of the longest reply that is taken for a draft: some
// 20,000 lines. Nobody reads more before approving it, and what is wrong with a draft
// takes a multiple of its size to say.
const maxReply = 1 << 20

var errLongReply = errors.New("the agent's reply is longer than 1 MiB, which nobody could read and approve, so nothing was approved. " +
	"Try again with a more specific request")

// A terse provider ends a turn that says more than maxReply, whatever the agent goes on
// to say, so that an agent cannot use up the memory of its host.
type terse struct{ agent.Provider }

// Prompt implements agent.Provider.
func (t terse) Prompt(text string, o agent.PromptOptions) agent.Turn {
	return terseTurn{t.Provider.Prompt(text, o)}
}

type terseTurn struct{ agent.Turn }

// Run implements agent.Turn.
func (t terseTurn) Run(ctx context.Context, sink func(agent.Event) error) (string, error) {
	said := 0
	return t.Turn.Run(ctx, func(e agent.Event) error {
		if part, ok := e.(agent.TextDelta); ok {
			if said += len(part.Text); said > maxReply {
				return errLongReply
			}
		}
		return sink(e)
	})
}
