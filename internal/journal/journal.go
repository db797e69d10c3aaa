// Package journal keeps the durable history of one execution.
package journal

import (
	"context"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/value"
)

// An Event is one entry: a yield (an effect settled) or a close (a coroutine ended).
type Event struct {
	Type        string        // "yield" or "close"
	CoroutineID string        // "root", "root.0", ...
	Description *value.Object // yields only; type and name are the identity
	Result      Result
}

// A Result is how an effect or coroutine settled.
type Result struct {
	Status   string // "ok", "err", "cancelled"
	HasValue bool   // absent and null differ
	Value    any
	Error    *Failure
}

type Failure struct{ Message, Name string }

// Ok and Err build results.
func Ok(v any) Result      { return Result{Status: "ok", HasValue: true, Value: v} }
func Err(err error) Result { panic("stub") }

// A Stream is where events are kept. Append returns after the event is durable.
type Stream interface {
	Load(ctx context.Context) ([]Event, error)
	Append(ctx context.Context, e Event) error
}

func NewMemory(events ...Event) Stream { panic("stub") }

// Options of a journal.
type Options struct {
	Gate    *Gate       // nil: secret detection off
	Observe func(Event) // called after each append (--verbose)
}

// A Journal performs effects durably for one execution.
type Journal struct{}

// Open loads and validates the retained history of a stream.
func Open(ctx context.Context, s Stream, o Options) (*Journal, error) { panic("stub") }

// Root returns the root coroutine.
func (j *Journal) Root() *Coroutine { panic("stub") }

// A Coroutine is one logical thread; used by one goroutine at a time.
type Coroutine struct{}

func (c *Coroutine) ID() string { panic("stub") }

// Child allocates the next child coroutine, before it starts.
func (c *Coroutine) Child() *Coroutine { panic("stub") }

// Position returns how many yields this coroutine has settled.
func (c *Coroutine) Position() int { panic("stub") }

// Recorded returns the coroutine's retained close, for a replay of the whole.
func (c *Coroutine) Recorded() (Result, bool) { panic("stub") }

// Replaying reports whether the next effect will be answered from history.
func (c *Coroutine) Replaying() bool { panic("stub") }

// A Description is the identity of an effect plus members that are stored and
// never compared.
type Description struct {
	Type, Name string
	Position   document.Position
	Expansion  string
	Members    []Member // in order: input, command, ...
	// Guard, when set, judges a recorded event before it is consumed; an error
	// becomes *StaleInputError.
	Guard func(Event) error
}

type Member struct {
	Name  string
	Value any
}

// Perform performs one durable effect (durability.md 6).
func (c *Coroutine) Perform(ctx context.Context, d Description, live func(context.Context) (any, error)) (any, error) {
	panic("stub")
}

// Close records the end of a coroutine.
func (c *Coroutine) Close(ctx context.Context, r Result) error { panic("stub") }

// Err returns the durability error the execution failed with, if any.
func (j *Journal) Err() error { panic("stub") }

// IsDurability reports whether err is (or wraps) one of the fail-stop errors.
func IsDurability(err error) bool { panic("stub") }

// Encloses reports whether coroutine a is b or an ancestor of b, by segment.
func Encloses(a, b string) bool { panic("stub") }

// A RecordedError is an effect's recorded failure, raised again on replay.
type RecordedError struct{ Failure Failure }

func (e *RecordedError) Error() string { return e.Failure.Message }

// A Gate finds secrets in records.
type Gate struct{}

func NewGate(known ...string) *Gate { panic("stub") }
