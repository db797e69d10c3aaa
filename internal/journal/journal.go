// Package journal keeps the durable history of one execution.
//
// A document's prose is free to be rendered again; its effects are not free to
// happen again. So every effect goes through [Coroutine.Perform], which either
// performs it and appends one event, or answers it from the event an earlier
// execution appended. The journal is that list of events, and the only durable
// truth about what happened.
//
// What enters: the description of an effect, a function that performs it, and a
// [Stream] that keeps events. What leaves: the effect's value or failure, and an
// [Event] in the stream. There are two kinds of event, and none marks a start: a
// yield says that an effect settled, a close says that a coroutine ended after
// everything beneath it had.
//
//	j, err := journal.Open(ctx, journal.NewMemory(), journal.Options{})
//	root := j.Root()
//	v, err := root.Perform(ctx, journal.Description{Type: "exec", Name: "exec:date"},
//		func(ctx context.Context) (any, error) { return run(ctx, "date") })
//	err = root.Close(ctx, journal.Ok(v))
//
// The one invariant is persist before resume: nothing that follows an effect
// runs before the effect's event is durable. An effect before the frontier of a
// history is therefore performed exactly once, one at the frontier at least once.
//
// When the history cannot be kept or no longer fits the program, the execution
// stops for good: the first [PersistenceError], [DivergenceError] or
// [StaleInputError] is what every later effect of every coroutine returns, even
// if the program catches it, and nothing more is written.
//
// The package does not know what an effect does, what a component is, what a run
// is called or where a file lies. It opens nothing: files arrive opened.
package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/executable-markdown/xmd/internal/value"
)

// The two types of an event.
const (
	TypeYield = "yield" // an effect was performed and settled
	TypeClose = "close" // a coroutine ended
)

// The three statuses of a result.
const (
	StatusOk        = "ok"
	StatusErr       = "err"
	StatusCancelled = "cancelled"
)

// An Event is one entry of a history. Events are handed over, never edited: who
// receives one may keep it and must not change what it points to.
type Event struct {
	Type        string        // TypeYield or TypeClose
	CoroutineID string        // "root", "root.0", ...
	Description *value.Object // yields only; type and name are the identity
	Result      Result
}

// Clone returns a copy that shares nothing mutable with e.
func (e Event) Clone() Event {
	if e.Description != nil {
		e.Description = value.Clone(e.Description).(*value.Object)
	}
	e.Result = e.Result.Clone()
	return e
}

// identity is what replay compares; it is empty for a close.
func (e Event) identity() Identity {
	kind, _ := e.Description.String("type")
	name, _ := e.Description.String("name")
	return Identity{kind, name}
}

// A Result is how an effect or coroutine settled.
type Result struct {
	Status   string // StatusOk, StatusErr or StatusCancelled
	HasValue bool   // an absent value and a null one differ; StatusOk only
	Value    any
	Error    *Failure // StatusErr only
}

// Clone returns a copy that shares nothing mutable with r.
func (r Result) Clone() Result {
	r.Value = value.Clone(r.Value)
	if r.Error != nil {
		failure := *r.Error
		r.Error = &failure
	}
	return r
}

// A Failure is a recorded error: its message, and its name where it had one.
type Failure struct{ Message, Name string }

// Ok is the result of success with a value, which may be nil for JSON's null.
func Ok(v any) Result { return Result{Status: StatusOk, HasValue: true, Value: v} }

// Err is the result of a failure. Its name is that of the first error in err's
// tree with a method Name() string. No stack is kept.
func Err(err error) Result {
	f := &Failure{Message: validText(err.Error())}
	var named interface {
		error
		Name() string
	}
	if errors.As(err, &named) {
		f.Name = validText(named.Name())
	}
	return Result{Status: StatusErr, Error: f}
}

// Cancelled is the result of a coroutine its parent stopped.
func Cancelled() Result { return Result{Status: StatusCancelled} }

// A Stream is where events are kept: append-only and without gaps.
//
// Load is called once, before the first Append. Append returns after the event
// is durable for that backend; it is called by one goroutine at a time, never
// again once it has failed, and with a context that is not cancelled.
type Stream interface {
	Load(ctx context.Context) ([]Event, error)
	Append(ctx context.Context, e Event) error
}

// Options of a journal.
type Options struct {
	// Gate looks for secrets in every record before it is appended. Nil turns
	// secret detection off.
	Gate *Gate
	// Observe, when set, is told of each event this execution appended, in the
	// order of the stream, and never of a replayed one. It must not perform
	// effects and may keep what it is given.
	Observe func(Event)
	// Check, when set, judges every retained yield in order before anything is
	// replayed. It may do I/O; its error becomes a *StaleInputError.
	Check func(context.Context, Event) error
}

// A Journal performs effects durably for one execution. Its methods are safe for
// concurrent use.
type Journal struct {
	stream  Stream
	options Options
	fence   fence

	mu     sync.Mutex
	err    error // the first durability error; set once
	events []Event
	root   *Coroutine
}

// Open loads and validates the retained history of a stream. A history that
// breaks the protocol is refused with a *MalformedError, one that cannot be
// loaded with a *PersistenceError, and one that Options.Check objects to with a
// *StaleInputError.
func Open(ctx context.Context, s Stream, o Options) (*Journal, error) {
	events, err := s.Load(ctx)
	if err != nil {
		var malformed *MalformedError
		if errors.As(err, &malformed) || IsDurability(err) {
			return nil, err
		}
		return nil, &PersistenceError{Cause: fmt.Errorf("load the history: %w", err)}
	}
	history, err := index(events)
	if err != nil {
		return nil, err
	}
	if o.Check != nil {
		for _, e := range events {
			if e.Type != TypeYield {
				continue
			}
			if err := o.Check(ctx, e.Clone()); err != nil {
				return nil, &StaleInputError{Coroutine: e.CoroutineID, Cause: err}
			}
		}
	}
	j := &Journal{stream: s, options: o, events: slices.Clone(events)}
	j.root = &Coroutine{journal: j, id: rootID, retained: history}
	return j, nil
}

// Root returns the root coroutine; it is the same one at every call.
func (j *Journal) Root() *Coroutine { return j.root }

// Err returns the durability error the execution failed with, or nil.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Events returns a copy of the history so far: what was retained, then what this
// execution appended.
func (j *Journal) Events() []Event {
	j.mu.Lock()
	events := slices.Clone(j.events)
	j.mu.Unlock()
	for i := range events {
		events[i] = events[i].Clone()
	}
	return events
}

// fail makes the execution fail-stop, unless it already is, and returns the
// error it failed with first.
func (j *Journal) fail(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = err
	}
	return j.err
}

// append makes one event durable. It waits for its turn until ctx ends; once the
// fence is held, the append is no longer abandoned. The error is the execution's
// durability error, the gate's *SecretError, ctx's own, or that the event has no
// record; only the first stops the execution. committed runs while the fence is
// still held.
func (j *Journal) append(ctx context.Context, e Event, committed func()) error {
	if err := j.fence.acquire(ctx); err != nil {
		return err
	}
	defer j.fence.release()
	if err := j.Err(); err != nil {
		return err
	}
	record, err := AppendLine(nil, e)
	if err != nil {
		return err
	}
	if err := j.options.Gate.Check(record); err != nil {
		return err
	}
	if err := j.stream.Append(context.WithoutCancel(ctx), e); err != nil {
		return j.fail(&PersistenceError{Cause: err})
	}
	j.mu.Lock()
	if _, forgets := j.stream.(discard); !forgets {
		j.events = append(j.events, e)
	}
	committed()
	j.mu.Unlock()
	if j.options.Observe != nil {
		j.options.Observe(e.Clone())
	}
	return nil
}

// Encloses reports whether coroutine a is b or an ancestor of b. Ancestry goes
// by segment: root.1 encloses root.1.0 and has nothing to do with root.10.
func Encloses(a, b string) bool {
	return b == a || strings.HasPrefix(b, a) && b[len(a)] == '.'
}
