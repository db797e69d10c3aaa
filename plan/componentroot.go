package plan

import (
	"context"
	_ "embed"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// RootName is the source identity of the document around a single plan.
const RootName = "<plan-root>"

//go:embed componentroot.md
var singleRoot string

// A Single is one plan for a request that no document holds (prompt 18.1).
type Single struct {
	Request   string // byte for byte
	Session   string // the name given to the conversation; empty: none
	Host      *Host
	Questions Questions
	// Gate keeps secrets out of the record of the planning; nil: nothing is kept out.
	Gate *journal.Gate
}

// Run plans, and returns the source the person approved once everything that planned
// it has ended. What was recorded on the way is forgotten.
func (s Single) Run(ctx context.Context) (string, error) {
	props := value.Of("request", s.Request)
	if s.Session != "" {
		props.Set("session", s.Session)
	}
	return execution{RootName, singleRoot, s.Questions, s.Gate}.run(ctx, engine.Options{
		Library: engine.NewLibrary([]engine.Component{Component(s.Host)}, nil), Props: props,
	})
}
