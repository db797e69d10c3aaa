package plan

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/internal/component"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// Program is the plan program: the whole policy of writing and approving a document.
// It is read from here and from nowhere else (prompt 6.1).
//
//go:embed prompt-plan.md
var Program string

// ProgramName is the source identity of the plan program.
const ProgramName = "<prompt-plan>"

// An Authoring is one execution of the plan program.
type Authoring struct {
	Request string // what the person asked for, byte for byte
	Syntax  string // the elements of the final run, described
	Session string // the logical name of the conversation

	// Check judges a draft; its error is a *CallerError.
	Check func(source string) (Assessment, error)
	// Agents establishes the ceiling. It is called before anything else of the
	// planning exists.
	Agents    func(context.Context) (Runtime, error)
	Questions Questions
	// Progress is told in a sentence what is waited for; nil: nobody is.
	Progress func(message string)
	// Gate keeps secrets out of the record of the planning; nil: nothing is kept out.
	Gate *journal.Gate
}

// vocabulary is all the plan program may name. It searches no directory, so nothing
// outside this binary answers to any of it.
func (a Authoring) vocabulary() *engine.Library {
	return engine.NewLibrary(nil, append(component.Planning(), ValidateCandidate(a.Check)))
}

// Run executes the plan program and returns the source the person approved, once
// everything that planned it has ended (prompt 4, phases 4 to 7). An error means that
// there is none: what ended the program comes first, a failed teardown is added to it
// and also stands alone (prompt 14).
func (a Authoring) Run(ctx context.Context) (source string, err error) {
	// What was acquired is given back in reverse, each whatever became of the others;
	// the directory of the conversation goes last, with the runtime (prompt 4, phase 6).
	runtime, err := a.Agents(ctx)
	if err != nil {
		return "", err
	}
	defer func() {
		if e := runtime.Close(context.WithoutCancel(ctx)); e != nil {
			source, err = "", errors.Join(err, e)
		}
	}()
	return execution{ProgramName, Program, a.Questions, a.Gate}.run(ctx, engine.Options{
		Library: a.vocabulary(),
		Props:   value.Of("request", a.Request, "syntax", a.Syntax, "session", a.Session),
		// The ceiling asks no policy; what a turn came to decides about the whole
		// planning, and no document says otherwise (prompt 6.5).
		Agents: agent.Region{Provider: a.announced(terse{runtime.Provider}), Mode: agent.DenyAll, FailPrompts: true},
	})
}

// announced is a provider whose turns are announced as they begin.
func (a Authoring) announced(p agent.Provider) agent.Provider {
	if a.Progress == nil {
		return p
	}
	return &announcing{Provider: p, say: a.Progress}
}

type announcing struct {
	agent.Provider
	say   func(string)
	turns int // of one conversation, one after the other
}

func (a *announcing) Prompt(text string, o agent.PromptOptions) agent.Turn {
	a.turns++
	a.say(fmt.Sprintf("The Agent is writing (turn %d).", a.turns))
	return a.Provider.Prompt(text, o)
}
