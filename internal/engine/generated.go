package engine

import (
	"context"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// A Generated is where the work of an admitted fragment is recorded: on the
// coroutine of the element that evaluates it, or on one of its own for a
// concurrent child. Every position it is given names the fragment's id, and that
// id is what owns the work (history 3).
//
// It belongs to one goroutine. Children forked from it may run at the same time.
type Generated struct {
	run   *run
	scope *scope
	id    string
}

// Generated opens the place for a fragment that was admitted under id.
func (c *Call) Generated(id string) *Generated {
	sc := c.scope.with(func(s *scope) {
		s.id = s.id.child(func() string {
			return string(append(value.AppendString([]byte(`{"f":"gen","id":`), id), '}'))
		})
	})
	return &Generated{run: c.run, scope: sc, id: id}
}

// A Frame is one step of the way to an element of a fragment: into an element, or
// into an iteration, an item, a spawn or an answering region of the element before
// it (language 5.13.1).
type Frame struct {
	Kind   FrameKind
	Name   string // of an element
	Offset int    // of an element
	Index  int    // of an iteration, an item or a spawn
}

// A FrameKind is the kind of a Frame.
type FrameKind uint8

const (
	ElementFrame FrameKind = iota
	IterationFrame
	ItemFrame
	SpawnFrame
	AnswersFrame
	ContentFrame // the content of the component entered before
)

// Expansion is the expansion id of an element of the fragment.
func (g *Generated) Expansion(way []Frame) string {
	id := g.scope.id
	for _, f := range way {
		switch f.Kind {
		case ElementFrame:
			el := &document.Element{Name: f.Name, Pos: document.Position{Generated: g.id, Offset: f.Offset}}
			id = elementID(id, el)
		case IterationFrame:
			id = id.child(numberFrame("iter", f.Index))
		case ItemFrame:
			id = id.child(numberFrame("item", f.Index))
		case SpawnFrame:
			id = id.child(numberFrame("spawn", f.Index))
		case AnswersFrame:
			id = id.child(plainFrame("answers-body"))
		case ContentFrame:
			id = id.child(contentFrame(0))
		}
	}
	return id.String()
}

// Effect performs one durable effect of the fragment (see Call.Effect).
func (g *Generated) Effect(ctx context.Context, e Effect, pos document.Position, expansion string, live func(context.Context) (any, error)) (any, error) {
	d := journal.Description{
		Type: e.Type, Name: e.Name, Position: pos, Members: e.Members,
		Guard: g.scope.guard(e.Type, e.Name, e.Guard),
	}
	if g.run.Retain {
		d.Expansion = expansion
	}
	return g.scope.strand.co.Perform(ctx, d, live)
}

// Replaying reports whether the next effect is answered by the history.
func (g *Generated) Replaying() bool { return g.scope.strand.co.Replaying() }

// A GeneratedLoop records a loop of the fragment as ordinary loops are recorded.
type GeneratedLoop struct {
	g       *Generated
	records loopRecords
}

// Loop opens the records of a loop that stands at pos.
func (g *Generated) Loop(name string, pos document.Position) *GeneratedLoop {
	return &GeneratedLoop{g, loopRecords{
		r: g.run, sc: g.scope, el: &document.Element{Name: "Loop", Pos: pos}, block: g.scope.strand.next(), name: name,
	}}
}

// Enter records the head of an iteration.
func (l *GeneratedLoop) Enter(ctx context.Context, iteration int) error {
	return l.records.enter(ctx, iteration)
}

// Leave records the end: exhausted, break or error.
func (l *GeneratedLoop) Leave(ctx context.Context, iterations int, outcome string) error {
	return l.records.leave(ctx, iterations, outcome)
}

// A GeneratedChild is a concurrent child of a fragment on a coroutine of its own.
type GeneratedChild struct{ *Generated }

// Fork allocates n children, in document order and before any of them starts.
func (g *Generated) Fork(n int) []GeneratedChild {
	children := make([]GeneratedChild, n)
	for i := range children {
		sc := g.scope.with(func(s *scope) { s.strand = &strand{co: g.scope.strand.co.Child()} })
		children[i] = GeneratedChild{&Generated{run: g.run, scope: sc, id: g.id}}
	}
	return children
}

// Recorded is how the child's history says it ended: ok, err or cancelled, empty
// when it does not say.
func (c GeneratedChild) Recorded() string {
	status, _ := c.scope.strand.co.Ended()
	return status
}

// Restore returns the recorded result of a child that ended ok, which then is not
// run again. One that was cancelled before waits for ctx to end and returns its
// cause; any other child has nothing to restore.
func (c GeneratedChild) Restore(ctx context.Context) (v any, ok bool, err error) {
	if c.Recorded() == journal.StatusErr {
		return nil, false, nil
	}
	recorded, ok, err := c.scope.strand.co.Restore(ctx)
	if err != nil || !ok {
		return nil, false, err
	}
	for _, e := range c.scope.strand.co.History() {
		if err := c.run.reshow(e); err != nil {
			return nil, false, err
		}
	}
	return recorded.Value, true, nil
}

// Malformed is the error for a recorded result of the wrong shape.
func (c GeneratedChild) Malformed() error {
	return malformed("close", c.scope.strand.co.ID(), "its value is not the result of a generated child")
}

// Close records the end of the child and returns the error it then has. stopped says
// that a sibling's failure ended it: that is recorded as cancelled. A child that
// ended with everything around it is not recorded.
func (c GeneratedChild) Close(ctx context.Context, result any, err error, stopped bool) error {
	co := c.scope.strand.co
	status, _ := co.Ended()
	switch {
	case err == nil && status == journal.StatusErr:
		return malformed("close", co.ID(), "it failed before and does not fail now")
	case err == nil:
		return co.Close(ctx, journal.Ok(result))
	case journal.IsDurability(err):
		return err
	case stopped:
		if e := co.Close(ctx, journal.Cancelled()); e != nil {
			return e
		}
		return err
	case ctx.Err() != nil:
		return err
	}
	if e := co.Close(ctx, journal.Err(err)); e != nil {
		return e
	}
	return err
}

// A Vocabulary narrows what a syntax listing inside some content shows.
type Vocabulary struct {
	Library    *Library
	Constructs []string
	// Judge says why a text would be refused as a program in this vocabulary: the class
	// and the sentence of the refusal, both empty when it would be admitted. It decides
	// nothing. Nil: nobody judges.
	Judge func(source string) (class, message string)
}

// Narrowed makes a syntax listing inside the content show v alone. It changes
// nothing about what the content may use.
func Narrowed(v *Vocabulary) Setting { return func(sc *scope) { sc.narrowed = v } }

// Narrowed is the vocabulary a syntax listing shows here; nil is the run's own.
func (c *Call) Narrowed() *Vocabulary { return c.scope.narrowed }
