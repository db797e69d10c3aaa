package plan

import (
	"context"
	_ "embed"
	"errors"

	"github.com/executable-markdown/xmd/internal/document"
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
	Request string // byte for byte
	Session string // the name given to the conversation; empty: none
	Host    *Host
	// Questions installs who asks the person, and returns how that is ended.
	Questions func(interrupt context.CancelCauseFunc) (engine.Elicitor, func() error, error)
	// Gate keeps secrets out of the record of the planning; nil: nothing is kept out.
	Gate *journal.Gate
}

// Run plans, and returns the source the person approved once everything that planned
// it has ended. What was recorded on the way is forgotten.
func (s Single) Run(ctx context.Context) (source string, err error) {
	parsed, err := document.Parse(RootName, []byte(singleRoot))
	if err != nil {
		return "", err
	}
	root, err := engine.Load(parsed, nil)
	if err != nil {
		return "", err
	}
	ctx, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	who, end, err := s.Questions(interrupt)
	if err != nil {
		return "", err
	}
	defer func() {
		if e := end(); e != nil {
			source, err = "", errors.Join(err, e)
		}
	}()
	history, err := journal.Open(ctx, journal.NewMemory(), journal.Options{Gate: s.Gate})
	if err != nil {
		return "", err
	}
	props := value.Of("request", s.Request)
	if s.Session != "" {
		props.Set("session", s.Session)
	}
	result, err := engine.Run(ctx, root, engine.Options{
		Host: refusing(), Library: engine.NewLibrary([]engine.Component{Component(s.Host)}, nil),
		Journal: history, Props: props, Elicitor: who,
	})
	switch {
	case ctx.Err() != nil && result.Err == nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", err
	case result.Err != nil:
		return "", result.Err
	}
	source, ok := result.Value.(string)
	if !ok {
		return "", errors.New("the planning returned no source")
	}
	return source, nil
}
