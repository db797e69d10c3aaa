package capability

import (
	"context"
	"errors"
	"time"
)

// An Op performs an operation. Both functions may be called from several
// goroutines at once.
type Op struct {
	// Enter, for a paired entry that makes the place its content works in, makes
	// it; the content's paths are then relative to the path prop. Nil: nothing.
	Enter func(ctx context.Context, c Call) error
	// Do performs the operation. The value must satisfy Returns. Beside Enter it may
	// be nil: the element then renders its content and has no second effect.
	Do func(ctx context.Context, c Call) (any, error)
}

// A Call is one use of an operation.
type Call struct {
	Element string
	Form    Form
	Props   *Object // validated; do not change them
	Content string  // what the content of a paired element rendered
	Dir     string  // the directory cursor, relative to the selected root; empty: the root
	Limit   int     // the most bytes its value may have
	// Ask asks the nearest person or answering region. Nil: nobody.
	Ask func(ctx context.Context, q Question) (any, error)

	// granted is set by Granted.Enter and Granted.Do: the ceiling the operations of
	// this package work under. Nil: nothing is covered.
	granted *Granted
}

// A Question is what a person is asked.
type Question struct {
	Message string
	Schema  any // a draft-07 definition
}

// A Violation is a use that a ceiling does not cover.
type Violation struct {
	Class  string // props, path, request or encoding
	Reason string // a sentence for a failure at run time; may name what the fragment wrote
}

func (v *Violation) Error() string { return v.Reason }

// ErrRevoked is the answer of every operation whose execution has ended.
var ErrRevoked = errors.New("the execution this operation was granted for has ended")

// A rule judges the props of one entry beyond their schema: paths, patterns,
// requests, questions. The entries of a host have none.
type rule interface {
	// check judges what is known of a use whose props their schema accepts.
	check(e *Granted, u Use) *Violation
	// record describes the effect for a history.
	record(e *Granted, c Call) Record
}

// A Use is what is known of one use of an entry: in preflight the literal props,
// at run time all of them.
type Use struct {
	Form     Form
	Props    *Object
	Computed []string // names of props whose value is not known yet
	Dir      string   // the directory cursor
	DirKnown bool
}

// A Record is how an effect is written into a history: its type, the members that
// say what was asked (never content), and the part of its name that tells two
// effects of one element apart.
type Record struct {
	Type  string // fetch, elicit or capability
	Input any    // the normal form of what was asked
	Extra []RecordMember
}

// A RecordMember is one more member of an effect's description.
type RecordMember struct {
	Name  string
	Value any
}

// A Request is one HTTP request, stated or asked for.
type Request struct {
	Method  string // GET or HEAD; empty: GET
	URL     string
	Headers map[string]string
	Timeout time.Duration // 0: the run's default
}

// A Client performs requests: exactly the one it is given, once.
type Client interface {
	Do(ctx context.Context, r Normal, limit int) (Response, error)
}

// A Normal is a request in normal form. Two requests are the same when their
// normal forms are equal.
type Normal struct {
	Method  string
	URL     string
	Headers []Header // lower-case names, sorted
	Timeout time.Duration
	Private bool // the stated host is a literal loopback, link-local or private address
}

// A Header is one header field.
type Header struct{ Name, Value string }

// A Response is a received answer, whatever its status.
type Response struct {
	Status  int
	Headers []Header
	Body    string
}
