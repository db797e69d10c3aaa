package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/internal/catalog"
	"github.com/executable-markdown/xmd/internal/component"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// A frame is one planning of one <Plan>: its inputs, frozen, and the private elements
// that only the packaged body can name while it expands.
type frame struct {
	host       *Host
	id         string // expansion id of the element
	request    string
	syntax     string
	session    string
	name       string             // of the conversation, as the document gave it; empty: none
	vocabulary *engine.Vocabulary // of the evaluation around the element; nil: none
	checks     int                // drafts judged so far
}

// describe lists the elements a plan may use: those of the evaluation the plan is
// written for, else all of the run's.
func (f *frame) describe() (string, error) {
	if f.vocabulary == nil {
		return f.host.Syntax()
	}
	listing, err := catalog.Build(catalog.Inputs{Library: f.vocabulary.Library, Constructs: f.vocabulary.Constructs})
	if err != nil {
		return "", err
	}
	return listing.Text(), nil
}

// author expands the packaged body under the ceiling and returns the approved source.
// It returns when everything the ceiling held has ended; a failure of that leaves
// nothing to be admitted.
func (f *frame) author(ctx context.Context, c *engine.Call) (source any, err error) {
	agents := &held{establish: func(ctx context.Context) (Runtime, error) {
		runtime, err := f.host.Runtime(ctx, f.session, f.name != "")
		if f.name != "" && errors.Is(err, agent.ErrSessionBusy) {
			err = &busyError{f.name, err}
		}
		return runtime, err
	}}
	defer func() {
		if e := agents.Close(context.WithoutCancel(ctx)); e != nil {
			source, err = nil, errors.Join(err, &engine.Infrastructure{Err: e})
		}
	}()
	if !c.Replaying() {
		if _, err := agents.provider(ctx); err != nil {
			return nil, &engine.Infrastructure{Err: err}
		}
	}
	props := value.Of("request", f.request, "syntax", f.syntax, "session", f.session)
	// The ceiling asks no policy, and what a turn came to decides about the whole
	// planning; nothing in the document says otherwise (prompt 6.3, 6.5).
	return c.Expand(ctx, f.private(), props, engine.InRegion(agent.Region{Provider: terse{agents}, Mode: agent.DenyAll, FailPrompts: true}))
}

// A busyError is a conversation that is in use elsewhere. It is named as its author named
// it; what it is kept under means nothing to a person (prompt 6.4).
type busyError struct {
	name  string
	cause error
}

func (e *busyError) Error() string {
	return fmt.Sprintf("another command uses the planning session %q; give another name, or wait until it has ended", e.name)
}

func (e *busyError) Unwrap() error { return e.cause }

// private is all the packaged body may name.
func (f *frame) private() *engine.Library {
	judge := ValidateCandidate(nil)
	judge.Run = f.check
	return engine.NewLibrary(nil, append(component.Planning(), judge, engine.Component{
		Name: "Progress", Origin: origin, Forms: engine.SelfClosing, Effect: "none",
		Props: `{"message":{"type":"string"}}`, Required: []string{"message"},
		Run: f.progress,
	}))
}

// check judges a draft and records the assessment, so that a continuation judges it
// no more.
func (f *frame) check(ctx context.Context, c *engine.Call) (any, error) {
	n := f.checks
	f.checks++
	return c.Effect(ctx, engine.Effect{
		Type: checkRecord, Name: fmt.Sprintf("%s:%s#%d", checkRecord, f.id, n),
		Guard: func(e journal.Event) error {
			o, _ := e.Result.Value.(*value.Object)
			valid, _ := o.Get("valid")
			diagnostics, _ := o.Get("diagnostics")
			_, judged := valid.(bool)
			if _, ok := diagnostics.(*value.Object); !ok || !judged || o.Len() != 2 {
				return errors.New("the recorded check of a draft is no assessment")
			}
			return nil
		},
	}, func(context.Context) (any, error) { return f.assess(c.Text("source")) })
}

// assess judges the structure of a draft, and then whether the evaluation the plan is
// written for would admit it: nobody is to approve what is refused afterwards. What
// refuses is the profile's fixed sentence and nothing of the draft (D-18).
func (f *frame) assess(source string) (*value.Object, error) {
	a, err := f.host.Check(source)
	switch {
	case err != nil:
		return nil, &engine.Infrastructure{Err: err}
	case !a.Valid():
		return value.Of("valid", false, "diagnostics", a.Diagnostics), nil
	}
	if f.vocabulary != nil && f.vocabulary.Judge != nil {
		if class, message := f.vocabulary.Judge(source); class != "" {
			refusal := value.Of("class", class, "message", message)
			return value.Of("valid", false, "diagnostics", value.Of("admission", refusal)), nil
		}
	}
	return value.Of("valid", true, "diagnostics", value.NewObject(0)), nil
}

// progress tells what is going on now; what a history answers has gone on before.
func (f *frame) progress(_ context.Context, c *engine.Call) (any, error) {
	if f.host.Progress != nil && !c.Replaying() {
		f.host.Progress(c.Text("message"))
	}
	return nil, nil
}
