// Package workflow carries out documents that outlive the process that runs them.
//
// An ordinary run ends with its process. A workflow run is kept by a [Store]: what it is
// (its identity), what happened (its history) and where it stands (its status). Any later
// process can take it up where the history ends, and nothing that is recorded happens a
// second time.
//
// What enters: a document and the components it declares, pinned byte for byte by [Pin],
// and a Store. What leaves: events in the store, and an [Outcome] that says what was
// retained. [Start] and [Resume] carry a run out; [Deliver] answers one that waits,
// [Cancel] ends one that nobody carries out.
//
//	p, err := workflow.Pin(files, "review.md", nil, settings.Taken)
//	o, err := workflow.Start(ctx, settings, "", p, props)
//
// The one invariant: a status that is reported was committed, and the history outranks
// it. What the two say differently is damage, and damage is never repaired.
//
// The package refuses to know how a store keeps its bytes, how a command line looks and
// what is printed. A run reads its document from what was retained, never from where it
// came from.
package workflow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/internal/workspace"
)

// Settings are what runs of one process are carried out with.
type Settings struct {
	Store Store
	// Host is the machine: its Process and HTTP are used, and its Files for the empty
	// directories of commands. Nothing else of it reaches a document.
	Host host.Host
	// Protected and Components are the elements of ordinary runs; a workflow replaces or
	// withholds some.
	Protected, Components []engine.Component
	// Gate looks for secrets, given the properties of the run; nil turns that off.
	Gate func(props *value.Object) *journal.Gate

	Began          func(run string)    // the run exists; may be nil
	Observe        func(journal.Event) // told of each new event; may be nil
	Emit           func(text string) error
	Body           func(text string) error
	Stdout, Stderr io.Writer
	// Root is told which document is about to run, so that output can be directed.
	Root func(*engine.Root, *Settings)

	ExecTimeout, FetchTimeout time.Duration
}

// An Outcome is what became of a run, as it was retained.
type Outcome struct {
	Run        string
	Status     Status // empty: nothing could be retained
	Suspension string // what a suspended run waits for
	Root       *engine.Root
	Result     engine.Result
}

// Start makes a run of a program, or takes up the one of that id with the same identity
// (workflow 17). Without an id a new one is made. The error is a *StoreError, the
// document's own failure or what stopped it; the outcome stands in either case.
func Start(ctx context.Context, s Settings, id string, p *Program, props *value.Object) (Outcome, error) {
	// What is retained beside the history passes the gate like what is in it.
	gate := s.gate(props)
	if err := gate.Check(value.AppendCanonical(nil, props)); err != nil {
		return Outcome{}, fmt.Errorf("the properties of a run are retained: %w", err)
	}
	for _, source := range p.Sources {
		if err := gate.Check(value.AppendString(nil, string(source.Text))); err != nil {
			return Outcome{}, fmt.Errorf("the text of %s would be retained: %w", source.Path, err)
		}
	}
	named := id != ""
	if !named {
		id = NewID()
	}
	identity := Identity{ID: id, Definition: p.Definition, Base: p.Base, Props: props}
	exec, err := s.Store.Create(ctx, identity, p.Sources)
	var refusal *StoreError
	switch {
	case err == nil:
		return s.hold(ctx, exec, func(snap Snapshot) (Outcome, error) { return s.live(ctx, exec, snap, p) })
	case !named || !errors.As(err, &refusal) || refusal.Condition != Conflict:
		return Outcome{}, err
	}
	if exec, err = s.Store.Acquire(ctx, id); err != nil {
		return Outcome{}, err
	}
	return s.hold(ctx, exec, func(snap Snapshot) (Outcome, error) {
		if fields := differs(identity, snap.Identity); len(fields) > 0 {
			return Outcome{}, &StoreError{Condition: Conflict, Run: id,
				Message: fmt.Sprintf("the run %s exists and differs in its %s; start it with what it was started with, or choose another id", id, list(fields))}
		}
		return s.takeUp(ctx, exec, snap, true)
	})
}

// Resume takes a run up where its history ends (workflow 21).
func Resume(ctx context.Context, s Settings, id string) (Outcome, error) {
	exec, err := s.Store.Acquire(ctx, id)
	if err != nil {
		return Outcome{}, err
	}
	return s.hold(ctx, exec, func(snap Snapshot) (Outcome, error) { return s.takeUp(ctx, exec, snap, false) })
}

func list(fields []string) string {
	out := fields[0]
	for i, f := range fields[1:] {
		if i == len(fields)-2 {
			out += " and " + f
		} else {
			out += ", " + f
		}
	}
	return out
}

func (s *Settings) gate(props *value.Object) *journal.Gate {
	if s.Gate == nil {
		return nil
	}
	return s.Gate(props)
}

// hold gives the lock of a run back when body has ended.
func (s *Settings) hold(ctx context.Context, exec Executor, body func(Snapshot) (Outcome, error)) (o Outcome, err error) {
	defer func() {
		if e := exec.Release(); e != nil {
			err = errors.Join(err, e)
		}
	}()
	snap, err := exec.Snapshot(ctx)
	if err != nil {
		return Outcome{}, err
	}
	return body(snap)
}

// takeUp carries on with a run that exists. again is set for a start, which also shows
// what has ended.
func (s *Settings) takeUp(ctx context.Context, exec Executor, snap Snapshot, again bool) (Outcome, error) {
	ending, err := Judge(snap.ID, snap.Events)
	if err != nil {
		return Outcome{}, err
	}
	p, err := Pinned(snap)
	if err != nil {
		return Outcome{}, err
	}
	status := snap.Status
	if ending.Status != "" {
		status = ending.Status
	}
	switch {
	case status == Cancelled && again:
		s.began(snap.ID)
		return Outcome{Run: snap.ID, Status: Cancelled, Root: p.Root}, nil
	case status == Cancelled:
		return Outcome{}, refused(snap.ID, "the run %s was cancelled and cannot be resumed; start the document anew", snap.ID)
	case status == Failed && !again:
		return Outcome{}, refused(snap.ID, "the run %s failed and cannot be resumed; xmd workflow history shows why", snap.ID)
	case (status == Completed || status == Failed) && ending.Status == "":
		return Outcome{}, damaged(snap.ID, fmt.Errorf("it is %s and its history has no end", status))
	}
	if err := admit(snap.ID, p, plain(snap.Events)); err != nil {
		return Outcome{}, err
	}
	if err := reconcile(ctx, exec, snap, ending); err != nil {
		return Outcome{}, err
	}
	if err := exec.Begin(ctx, ending.Status != ""); err != nil {
		return Outcome{}, err
	}
	if ending.Status != "" {
		return s.replay(ctx, exec, snap, p, ending)
	}
	// An answer may have been delivered between the two; from here on none is accepted.
	if snap, err = exec.Snapshot(ctx); err != nil {
		return Outcome{}, err
	}
	return s.live(ctx, exec, snap, p)
}

// reconcile closes the execution that a process left open when it was killed.
func reconcile(ctx context.Context, exec Executor, snap Snapshot, ending Ending) error {
	n := len(snap.Executions)
	if n == 0 || !snap.Executions[n-1].Stopped.IsZero() {
		return nil
	}
	if ending.Status == "" {
		ending = Ending{Interrupted, Reason{Code: ExecutorInterrupted}}
	}
	return exec.Reconcile(ctx, ending.Status, ending.Reason)
}

func (s *Settings) began(run string) {
	if s.Began != nil {
		s.Began(run)
	}
}

// replay shows what has ended once more. Nothing of it is run, and nothing recorded.
func (s *Settings) replay(ctx context.Context, exec Executor, snap Snapshot, p *Program, ending Ending) (Outcome, error) {
	o := Outcome{Run: snap.ID, Root: p.Root}
	s.began(snap.ID)
	// The first record is the run's own, and admitted; the rest is the document's.
	j, err := journal.Open(ctx, journal.NewMemory(plain(snap.Events)[1:]...), journal.Options{})
	if err == nil {
		o.Result, err = engine.Run(ctx, p.Root, s.options(p, snap, j, &waiter{run: snap.ID}))
	}
	if e := exec.Settle(context.WithoutCancel(ctx), ending.Status, ending.Reason); e != nil {
		return o, errors.Join(err, e)
	}
	o.Status = ending.Status
	if err == nil {
		err = o.Result.Err
	}
	return o, err
}

// live runs a document from the end of its history on and settles what came of it.
func (s *Settings) live(ctx context.Context, exec Executor, snap Snapshot, p *Program) (Outcome, error) {
	o := Outcome{Run: snap.ID, Root: p.Root}
	s.began(snap.ID)
	st := newStream(exec, snap, p)
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w := &waiter{run: snap.ID, stream: st, stop: stop}
	var err error
	o.Result, err = s.execute(inner, snap, p, st, w)
	if err == nil {
		err = o.Result.Err
	}
	ending, refusal := Judge(snap.ID, st.events())
	if refusal != nil {
		return o, errors.Join(err, refusal)
	}
	suspension, request := st.stoppedFor()
	switch {
	case ending.Status != "":
	case suspension != "":
		ending, err = Ending{Suspended, Reason{Event: request}}, nil
	default:
		ending = Ending{Interrupted, Reason{Code: ExecutorInterrupted}}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}
	if e := exec.Settle(context.WithoutCancel(ctx), ending.Status, ending.Reason); e != nil {
		return o, errors.Join(err, e)
	}
	o.Status = ending.Status
	if o.Status == Suspended {
		o.Suspension = suspension
	}
	return o, err
}

// execute records whose run it is and runs the document.
func (s *Settings) execute(ctx context.Context, snap Snapshot, p *Program, st *stream, w *waiter) (engine.Result, error) {
	j, err := journal.Open(ctx, st, journal.Options{Gate: s.gate(snap.Props), Observe: s.Observe})
	if err != nil {
		return engine.Result{}, err
	}
	_, err = j.Root().Perform(ctx, journal.Description{
		Type: effectRun, Name: effectRun, Members: []journal.Member{{Name: "base", Value: p.Base}},
	}, func(context.Context) (any, error) { return runRecord(snap.ID, p), nil })
	if err != nil {
		return engine.Result{}, err
	}
	return engine.Run(ctx, p.Root, s.options(p, snap, j, w))
}

func (s *Settings) options(p *Program, snap Snapshot, j *journal.Journal, w *waiter) engine.Options {
	if s.Root != nil {
		s.Root(p.Root, s)
	}
	var files host.Files
	if w.stream != nil { // else everything is answered from the history
		files = recorded{workspace.NewFiles(w.stream)}
	}
	return engine.Options{
		Host: host.Host{
			Files: files, Sources: p.bundle, HTTP: s.Host.HTTP, Env: s.Host.Env, Dir: "/",
			Process: programs{s.Host.Process, s.Host.Files},
		},
		Library: s.library(w), Journal: j, Include: []string{bundleDir}, Props: snap.Props, Elicitor: nobody{},
		Emit: s.Emit, Body: s.Body, Stdout: s.Stdout, Stderr: s.Stderr, Retain: true,
		ExecTimeout: s.ExecTimeout, FetchTimeout: s.FetchTimeout,
	}
}

// Deliver leaves an answer for a run that waits (workflow 26). It starts nothing. What
// keeps it from being accepted is a *StoreError that never repeats the answer.
func Deliver(ctx context.Context, s Settings, run, suspension string, answer any) error {
	snap, err := s.Store.Inspect(ctx, run, false)
	if err != nil {
		return err
	}
	gate := s.gate(snap.Props)
	request, err := s.acceptable(snap, suspension, answer, gate)
	if err != nil {
		return err
	}
	a := Answer{Suspension: suspension, Request: request.ID, Fingerprint: fingerprint(request.Event), Value: answer}
	return s.Store.Deliver(ctx, run, a, func(now Snapshot) error {
		_, err := s.acceptable(now, suspension, answer, gate)
		return err
	})
}

// acceptable finds the request an answer is for, or says why it is not accepted.
func (s *Settings) acceptable(snap Snapshot, suspension string, answer any, gate *journal.Gate) (StoredEvent, error) {
	ending, err := Judge(snap.ID, snap.Events)
	if err != nil {
		return StoredEvent{}, err
	}
	for _, a := range snap.Answers {
		if a.Suspension != suspension {
			continue
		}
		if a.Consumed {
			return StoredEvent{}, refused(snap.ID, "the suspension %s was answered already", suspension)
		}
		return StoredEvent{}, refused(snap.ID, "an answer to the suspension %s waits already; resume the run", suspension)
	}
	if snap.Status != Suspended || ending.Status != "" {
		return StoredEvent{}, refused(snap.ID, "the run %s is %s, so it waits for no answer", snap.ID, snap.Status)
	}
	for _, e := range snap.Events {
		name, _ := e.Event.Description.String("name")
		if e.ID != snap.Reason.Event || !isEffect(e.Event, effectRequest) || name != suspension {
			continue
		}
		definition, _ := e.Event.Description.Get("responseSchema")
		compiled, err := schema.Compile(definition)
		if err != nil {
			return StoredEvent{}, damaged(snap.ID, errors.New("the schema of a request does not compile"))
		}
		if issues := compiled.Validate(answer); len(issues) > 0 {
			return StoredEvent{}, refused(snap.ID, "the answer does not fit what was asked for:\n%s", schema.Lines(issues))
		}
		record, err := journal.AppendLine(nil, journal.Event{Type: journal.TypeYield, CoroutineID: e.Event.CoroutineID,
			Description: value.Of("type", effectAnswer, "name", suspension, "suspensionId", suspension), Result: journal.Ok(answer)})
		if err == nil {
			err = gate.Check(record)
		}
		if err != nil {
			return StoredEvent{}, &StoreError{Condition: Refused, Run: snap.ID, Message: err.Error(), Err: err}
		}
		return e, nil
	}
	return StoredEvent{}, refused(snap.ID, "the run %s does not wait for %s; xmd workflow status says what it waits for", snap.ID, suspension)
}

// Cancel ends a run that nobody carries out (workflow 27). Nothing of it is started and
// nothing it did outside is undone. A run that is cancelled already stays that.
func Cancel(ctx context.Context, store Store, run string) (err error) {
	exec, err := store.Acquire(ctx, run)
	var live *StoreError
	if errors.As(err, &live) && live.Condition == Live {
		return &StoreError{Condition: Live, Run: run, Err: err,
			Message: fmt.Sprintf("the run %s is being carried out; interrupt the process that does (Ctrl-C), then cancel it", run)}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, exec.Release()) }()
	snap, err := exec.Snapshot(ctx)
	if err != nil {
		return err
	}
	ending, err := Judge(run, snap.Events)
	if err != nil {
		return err
	}
	if ending.Status != "" {
		if err := reconcile(ctx, exec, snap, ending); err != nil {
			return err
		}
		return refused(run, "the run %s has ended: it is %s, so there is nothing to cancel", run, ending.Status)
	}
	switch snap.Status {
	case Cancelled:
		return nil
	case Completed, Failed:
		return damaged(run, fmt.Errorf("it is %s and its history has no end", snap.Status))
	}
	reason := Reason{Code: RunCancelled}
	if n := len(snap.Executions); n > 0 && snap.Executions[n-1].Stopped.IsZero() {
		return exec.Reconcile(ctx, Cancelled, reason)
	}
	if err := exec.Begin(ctx, true); err != nil {
		return err
	}
	return exec.Settle(ctx, Cancelled, reason)
}
