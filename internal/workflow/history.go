package workflow

import (
	"errors"
	"fmt"
	"strings"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// The effects of a workflow.
const (
	effectRun     = "workflow_run"
	effectRequest = "suspension_request"
	effectAnswer  = "suspension_answer"
	effectImport  = "import_component"
)

// An Ending is what a history says became of its run: Completed, Failed, or nothing.
type Ending struct {
	Status Status // empty: the document has not ended
	Reason Reason
}

// Judge reads the end of a history (workflow 23). A history in which a root close is not
// the one last event, or cannot be read, is damaged, whatever the status of its run says.
func Judge(run string, events []StoredEvent) (Ending, error) {
	for i, e := range events {
		if e.Event.Type != journal.TypeClose || e.Event.CoroutineID != "root" {
			continue
		}
		if i != len(events)-1 {
			return Ending{}, damaged(run, errors.New("events follow the end of its history"))
		}
		imports := 0
		for _, e := range events[:i] {
			if isImport(e.Event, engine.RootName) {
				imports++
			}
		}
		return judgeClose(run, e, events, imports)
	}
	return Ending{}, nil
}

func judgeClose(run string, e StoredEvent, events []StoredEvent, imports int) (Ending, error) {
	failed := Ending{Failed, Reason{Event: lastFailure(events)}}
	switch e.Event.Result.Status {
	case journal.StatusErr:
		if imports > 1 {
			break
		}
		return failed, nil
	case journal.StatusOk:
		o, _ := e.Event.Result.Value.(*value.Object)
		status, _ := o.String("status")
		_, hasOutput := o.String("output")
		switch {
		case imports != 1 || !hasOutput:
		case status == journal.StatusOk:
			return Ending{Status: Completed}, nil
		case status == journal.StatusErr:
			return failed, nil
		}
	}
	return Ending{}, damaged(run, errors.New("the end of its history cannot be read"))
}

// lastFailure is the last record that says something failed; the end of a history is the
// last when no effect did.
func lastFailure(events []StoredEvent) string {
	for i := len(events) - 1; i >= 0; i-- {
		if e := events[i].Event; e.Type == journal.TypeYield && e.Result.Status == journal.StatusErr {
			return events[i].ID
		}
	}
	return events[len(events)-1].ID
}

func isEffect(e journal.Event, typ string) bool {
	if e.Type != journal.TypeYield {
		return false
	}
	name, _ := e.Description.String("type")
	return name == typ
}

func isImport(e journal.Event, name string) bool {
	imported, _ := e.Description.String("name")
	return isEffect(e, effectImport) && imported == name
}

// runRecord is the value of a run's first event.
func runRecord(id string, p *Program) *value.Object {
	return value.Of("runId", id, "base", p.Base, "pinnedCommit", p.commit())
}

// admit judges the history of a run before anything is answered from it (workflow 17). It
// names members, never their values.
func admit(id string, p *Program, events []journal.Event) error {
	stale := func(format string, args ...any) error {
		return &journal.StaleInputError{Coroutine: "root", Effect: journal.Identity{Type: effectRun, Name: effectRun}, Cause: fmt.Errorf(format, args...)}
	}
	roots := 0
	for i, e := range events {
		switch {
		case i == 0 && !isEffect(e, effectRun):
			return stale("the history does not begin with the record of its run")
		case isEffect(e, effectRun):
			o, _ := e.Result.Value.(*value.Object)
			if i != 0 || e.CoroutineID != "root" || e.Result.Status != journal.StatusOk {
				return stale("the history has a record of a run where none belongs")
			}
			if !value.Equal(o, runRecord(id, p)) {
				return stale("the record of the run does not agree with it: %s", strings.Join(unequal(o, runRecord(id, p)), ", "))
			}
		case isImport(e, engine.RootName):
			if roots++; roots > 1 || e.CoroutineID != "root" {
				return stale("the history imports the document where it may not")
			}
			if err := p.Root.Owns([]journal.Event{e}); err != nil {
				return err
			}
		case isEffect(e, effectImport):
			if err := p.admitImport(e); err != nil {
				return stale("%v", err)
			}
		}
	}
	return nil
}

// admitImport holds an import against the bundle: what a run declares is that, and
// nothing it does not declare is a file.
func (p *Program) admitImport(e journal.Event) error {
	name, _ := e.Description.String("name")
	o, _ := e.Result.Value.(*value.Object)
	kind, _ := o.String("kind")
	text, declared := p.bundle[bundlePath(name)]
	content, _ := o.String("content")
	switch {
	case e.Result.Status != journal.StatusOk:
		return nil
	case declared && (kind != "repository" || content != string(text)):
		return fmt.Errorf("the component %s was not imported from the retained text", name)
	case !declared && kind == "repository":
		return fmt.Errorf("the history imports a component %s that the workflow does not declare", name)
	}
	return nil
}

func unequal(a, b *value.Object) []string {
	var names []string
	for name, v := range b.All() {
		if other, _ := a.Get(name); !value.Equal(other, v) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		names = append(names, "an unknown member")
	}
	return names
}

// Verify judges everything of a run that the store does not: its sources against its
// definition, its history against both, and its end.
func Verify(s Snapshot) error {
	p, err := Pinned(s)
	if err != nil {
		return err
	}
	ending, err := Judge(s.ID, s.Events)
	if err != nil {
		return err
	}
	if ended := s.Status == Completed || s.Status == Failed; s.Status != Running && (ended || ending.Status != "") && s.Status != ending.Status {
		return damaged(s.ID, errors.New("its status is not the one its history ends with"))
	}
	if err := admit(s.ID, p, plain(s.Events)); err != nil {
		return damaged(s.ID, err)
	}
	return nil
}

func plain(events []StoredEvent) []journal.Event {
	out := make([]journal.Event, len(events))
	for i, e := range events {
		out[i] = e.Event
	}
	return out
}

func damaged(run string, err error) error {
	return &StoreError{Condition: Corrupt, Run: run, Err: err,
		Message: fmt.Sprintf("the run %s cannot be trusted, and nothing of it was changed: %v", run, err)}
}

func refused(run, format string, args ...any) error {
	return &StoreError{Condition: Refused, Run: run, Message: fmt.Sprintf(format, args...)}
}
