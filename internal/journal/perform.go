package journal

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/value"
)

// A Coroutine is one logical thread of an execution. It is used by one goroutine
// at a time; different coroutines of a journal may be used at once.
type Coroutine struct {
	journal  *Journal
	id       string
	retained *retained // nil when history knows nothing of it
	position int
	children int
	ended    bool
}

// ID returns root, root.0, root.1.0 and so on.
func (c *Coroutine) ID() string { return c.id }

// Child allocates the next child coroutine. Its index is the number of children
// allocated before it, so it does not depend on scheduling: the parent's own
// goroutine calls Child, in source order and before any sibling starts.
func (c *Coroutine) Child() *Coroutine {
	index := strconv.Itoa(c.children)
	c.children++
	return &Coroutine{journal: c.journal, id: c.id + "." + index, retained: c.retained.child(index)}
}

// Position returns how many effects this coroutine has settled, replayed or live.
func (c *Coroutine) Position() int { return c.position }

// Replaying reports whether the next effect will be answered from history.
func (c *Coroutine) Replaying() bool {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	return c.retained.pending()
}

// Recorded returns a copy of the coroutine's retained close. To ask is to use:
// the coroutine is not run again, its result stands for everything beneath it,
// and Close writes nothing. At the root this is the replay of the whole. A
// coroutine that closed cancelled is restored with Restore.
func (c *Coroutine) Recorded() (Result, bool) {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	if c.retained == nil || c.retained.close == nil {
		return Result{}, false
	}
	c.retained.claimed = true
	return c.retained.close.Clone(), true
}

// Restore is Recorded for a child beside its siblings: where the recorded close
// is cancelled it returns only when ctx has ended, as it did before, with the
// cause as the error.
func (c *Coroutine) Restore(ctx context.Context) (Result, bool, error) {
	r, ok := c.Recorded()
	if ok && r.Status == StatusCancelled {
		<-ctx.Done()
		return r, true, context.Cause(ctx)
	}
	return r, ok, nil
}

// Ended returns the status of the coroutine's retained close and its place in the
// whole history, so that closes can be put in order; the status is empty when there
// is none. To ask is not to use it, as Recorded is.
func (c *Coroutine) Ended() (status string, place int) {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	if c.retained == nil || c.retained.close == nil {
		return "", 0
	}
	return c.retained.close.Status, c.retained.ended
}

// History returns copies of the retained effects of the coroutine and of those
// beneath it, in the order of the history.
func (c *Coroutine) History() []Event {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	if c.retained == nil {
		return nil
	}
	found := make(map[int]Event)
	c.retained.beneath(found)
	events := make([]Event, 0, len(found))
	for _, place := range slices.Sorted(maps.Keys(found)) {
		events = append(events, found[place].Clone())
	}
	return events
}

// A Description is the identity of an effect plus members that are stored beside
// it and never compared. Inputs belong here, outputs into the result.
type Description struct {
	Type, Name string            // the identity
	Position   document.Position // where it was authored, if anywhere
	Expansion  string            // id of the component expansion it belongs to
	Opens      string            // id of the expansion an import opens
	Binding    string            // the name its value is bound to
	Members    []Member          // in order: input, command, ...
	// Guard, when set, judges a recorded event before it is consumed; an error
	// becomes *StaleInputError. It is pure and is given a copy.
	Guard func(Event) error
}

// A Member is one more member of a description.
type Member struct {
	Name  string
	Value any
}

func (d Description) object() (*value.Object, error) {
	o := value.NewObject(6 + len(d.Members))
	o.Set("type", d.Type)
	o.Set("name", d.Name)
	for _, m := range d.Members {
		if o.Has(m.Name) {
			return nil, fmt.Errorf("the description of %s has two members %q", Identity{d.Type, d.Name}, m.Name)
		}
		o.Set(m.Name, m.Value)
	}
	if !d.Position.IsZero() {
		o.Set(MemberPosition, d.Position.JSON())
	}
	for _, m := range [...]struct{ name, text string }{
		{MemberExpansion, d.Expansion}, {MemberOpens, d.Opens}, {MemberBinding, d.Binding},
	} {
		if m.text != "" {
			o.Set(m.name, m.text)
		}
	}
	v, err := stored(o, 1)
	if err != nil {
		return nil, fmt.Errorf("the description of %s cannot be recorded: %w", Identity{d.Type, d.Name}, err)
	}
	return v.(*value.Object), nil
}

// Perform performs one durable effect. An effect that history holds is answered
// from it: live is not called, and a recorded failure is a *RecordedError.
// Otherwise live runs, and Perform returns once its outcome is durable: the value
// as its record will give it back, or live's own error. Values are fresh copies.
//
// What does not settle is not recorded: when ctx ends before the record is
// appended, its cause is returned; a value JSON cannot hold, a record that is too
// large and a *SecretError from the gate fail this effect alone. A durability
// error (see IsDurability) stops the execution.
//
// Recorded effects are answered even after ctx has ended, so that a coroutine
// that is being cancelled still arrives where it was cancelled before. live must
// not perform effects on the same coroutine.
func (c *Coroutine) Perform(ctx context.Context, d Description, live func(context.Context) (any, error)) (any, error) {
	j := c.journal
	if err := j.Err(); err != nil {
		return nil, err
	}
	recorded, err := c.next(Identity{d.Type, d.Name})
	if err != nil {
		return nil, err
	}
	if recorded != nil {
		return c.replay(*recorded, d.Guard)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	description, err := d.object()
	if err != nil {
		return nil, err
	}
	ctx, left := attachable(ctx)
	defer left.end()
	v, failure := live(ctx)
	if failure != nil {
		left.with = nil
	}
	if err := j.Err(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	result, err := settled(v, failure)
	if err != nil {
		return nil, fmt.Errorf("the result of %s cannot be recorded: %w", Identity{d.Type, d.Name}, err)
	}
	event := Event{Type: TypeYield, CoroutineID: c.id, Description: description, Result: result}
	if err := j.append(ctx, event, func() { c.position++ }); err != nil {
		return nil, err
	}
	if failure != nil {
		return nil, failure
	}
	return result.value(), nil
}

// settled is the result of an effect. An undefined value is recorded as an ok
// result without one.
func settled(v any, failure error) (Result, error) {
	if failure != nil {
		return Err(failure), nil
	}
	if _, absent := v.(value.Undefined); absent {
		return Result{Status: StatusOk}, nil
	}
	v, err := stored(v, 2)
	return Ok(v), err
}

// value returns a fresh copy of what an ok result gives the program.
func (r Result) value() any {
	if !r.HasValue {
		return value.Undefined{}
	}
	return value.Clone(r.Value)
}

// next returns the recorded event that answers an effect, or nil when the effect
// is to be performed.
func (c *Coroutine) next(asked Identity) (*Event, error) {
	if c.ended {
		return nil, fmt.Errorf("coroutine %s has ended and performs no %s", c.id, asked)
	}
	c.journal.mu.Lock()
	h := c.retained
	var diverged *DivergenceError
	switch {
	case h.pending():
		e := &h.yields[h.cursor]
		if recorded := e.identity(); recorded != asked {
			diverged = &DivergenceError{Kind: Mismatch, Expected: recorded, Got: asked}
			break
		}
		c.journal.mu.Unlock()
		return e, nil
	case h != nil && h.close != nil:
		diverged = &DivergenceError{Kind: PastClose, Got: asked}
	default:
		c.journal.mu.Unlock()
		return nil, nil
	}
	c.journal.mu.Unlock()
	return nil, c.diverge(diverged)
}

func (c *Coroutine) replay(e Event, guard func(Event) error) (any, error) {
	if guard != nil {
		if err := guard(e.Clone()); err != nil {
			return nil, c.journal.fail(&StaleInputError{Coroutine: c.id, Effect: e.identity(), Cause: err})
		}
	}
	c.journal.mu.Lock()
	c.retained.cursor++
	c.position++
	c.journal.mu.Unlock()
	switch r := e.Result; r.Status {
	case StatusErr:
		return nil, &RecordedError{Failure: *r.Error}
	case StatusCancelled:
		return nil, context.Canceled
	default:
		return r.value(), nil
	}
}

// diverge stops the execution. Every divergence passes here, and there is one
// answer to it.
func (c *Coroutine) diverge(e *DivergenceError) error {
	e.Coroutine, e.Position = c.id, c.position
	c.journal.mu.Lock()
	e.Consumed, e.Total = c.retained.consumed()
	c.journal.mu.Unlock()
	return c.journal.fail(e)
}

// Close records the end of a coroutine, after everything beneath it has ended.
// It is not abandoned when ctx ends, since being cancelled is an end too. A
// coroutine whose history holds its close is not closed again. A program that
// ends before its history, at or beneath the coroutine, is a *DivergenceError; a
// *SecretError leaves the coroutine open, to be closed with another result.
func (c *Coroutine) Close(ctx context.Context, r Result) error {
	j := c.journal
	if err := j.Err(); err != nil {
		return err
	}
	if c.ended {
		return fmt.Errorf("coroutine %s has already ended", c.id)
	}
	j.mu.Lock()
	h := c.retained
	claimed := h != nil && h.claimed
	aligned := claimed || h.aligned()
	if aligned && h != nil && h.close != nil {
		h.claimed, claimed = true, true
	}
	j.mu.Unlock()
	if !aligned {
		return c.diverge(early(r))
	}
	if claimed {
		c.ended = true
		return nil
	}
	if r.HasValue {
		v, err := stored(r.Value, 2)
		if err != nil {
			return fmt.Errorf("the result of coroutine %s cannot be recorded: %w", c.id, err)
		}
		r.Value = v
	}
	event := Event{Type: TypeClose, CoroutineID: c.id, Result: r.Clone()}
	return j.append(context.WithoutCancel(ctx), event, func() { c.ended = true })
}

func early(r Result) *DivergenceError {
	switch {
	case r.Status == StatusCancelled:
		return &DivergenceError{Kind: ChildCancelledEarly}
	case r.Error != nil:
		return &DivergenceError{Kind: EarlyFailure, Cause: &RecordedError{Failure: *r.Error}}
	default:
		return &DivergenceError{Kind: EarlyReturn}
	}
}
