package engine

import (
	"context"
	"fmt"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// loopRecords writes what a loop leaves in the history: each iteration as it is
// entered, and how the loop ended (history 12).
type loopRecords struct {
	r     *run
	sc    *scope
	el    *document.Element
	block int
	name  string
}

func (l loopRecords) members() []journal.Member {
	if l.name == "" {
		return nil
	}
	return []journal.Member{{Name: "loop", Value: l.name}}
}

func (l loopRecords) enter(ctx context.Context, iteration int) error {
	_, err := l.r.perform(ctx, l.sc, l.el.Pos, "", Effect{
		Type: "loop_iteration", Name: fmt.Sprintf("loop:%d:iteration:%d", l.block, iteration), Members: l.members(),
	}, func(context.Context) (any, error) {
		return value.Of("iteration", float64(iteration)), nil
	})
	return err
}

func (l loopRecords) leave(ctx context.Context, iterations int, outcome string) error {
	ended := value.Of("iterations", float64(iterations), "outcome", outcome)
	_, err := l.r.perform(ctx, l.sc, l.el.Pos, "", Effect{
		Type: "loop", Name: fmt.Sprintf("loop:%d", l.block), Members: l.members(),
		Guard: func(e journal.Event) error {
			if !value.Equal(e.Result.Value, ended) {
				return fmt.Errorf("the recorded loop ended differently from this one, which ended after %d iterations (%s)", iterations, outcome)
			}
			return nil
		},
	}, func(context.Context) (any, error) { return ended, nil })
	return err
}
