package journal

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// IsDurability reports whether err is, or wraps, one of the errors that stop an
// execution for good. A document cannot recover from one and must not print it.
func IsDurability(err error) bool {
	var (
		persistence *PersistenceError
		divergence  *DivergenceError
		stale       *StaleInputError
	)
	return errors.As(err, &persistence) || errors.As(err, &divergence) || errors.As(err, &stale)
}

// A PersistenceError says that the stream could not keep, or hand out, events.
type PersistenceError struct{ Cause error }

func (e *PersistenceError) Error() string {
	return "the journal cannot be kept, so the execution stopped: " + e.Cause.Error()
}

func (e *PersistenceError) Unwrap() error { return e.Cause }

// A DivergenceKind says how a program left its recorded history.
type DivergenceKind string

// The kinds of divergence.
const (
	Mismatch            DivergenceKind = "mismatch"              // another effect was recorded here
	EarlyReturn         DivergenceKind = "early return"          // the program returned before its history ended
	EarlyFailure        DivergenceKind = "early failure"         // the program failed before its history ended
	PastClose           DivergenceKind = "past close"            // effects after a recorded end
	ChildCancelledEarly DivergenceKind = "child cancelled early" // cancelled before its history ended
)

// An Identity is what two performances of one effect have in common.
type Identity struct{ Type, Name string }

// String is TYPE("NAME"): bounded, with control characters escaped, because both
// come out of a file.
func (i Identity) String() string {
	kind := strconv.Quote(bounded(i.Type))
	return kind[1:len(kind)-1] + "(" + strconv.Quote(bounded(i.Name)) + ")"
}

const maxShownName = 200 // bytes of journal data in a message

func bounded(s string) string {
	if len(s) <= maxShownName {
		return s
	}
	end := maxShownName
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// A DivergenceError says that the program and its recorded history disagree.
// Nothing was written: a compatible definition can still use the history.
type DivergenceError struct {
	Kind      DivergenceKind
	Coroutine string
	Position  int      // effects of the coroutine settled before
	Expected  Identity // recorded; Mismatch only
	Got       Identity // asked for; Mismatch and PastClose
	// Consumed and Total count retained effects of Coroutine; what else is
	// unclaimed lies beneath it.
	Consumed, Total int
	Cause           error // the program's own failure; EarlyFailure only
}

func (e *DivergenceError) Error() string {
	var what string
	switch e.Kind {
	case Mismatch:
		what = fmt.Sprintf("at position %d: expected %s, got %s", e.Position, e.Expected, e.Got)
	case PastClose:
		what = fmt.Sprintf("goes on with %s after its recorded end, which follows %d effects", e.Got, e.Total)
	case EarlyReturn:
		what = fmt.Sprintf("returned after %d of %d recorded effects", e.Consumed, e.Total)
	case EarlyFailure:
		what = fmt.Sprintf("failed after %d of %d recorded effects: %v", e.Consumed, e.Total, e.Cause)
	default:
		what = fmt.Sprintf("was cancelled after %d of %d recorded effects", e.Consumed, e.Total)
	}
	return fmt.Sprintf("the document no longer fits its history (%s): coroutine %s %s; continue with the document that made the history, or start anew",
		e.Kind, bounded(e.Coroutine), what)
}

func (e *DivergenceError) Unwrap() error { return e.Cause }

// A StaleInputError says that a recorded effect is not valid for this execution.
type StaleInputError struct {
	Coroutine string
	Effect    Identity
	Cause     error
}

func (e *StaleInputError) Error() string {
	return "a recorded effect cannot be used again: " + e.Cause.Error()
}

func (e *StaleInputError) Unwrap() error { return e.Cause }

// A RecordedError is an effect's recorded failure, raised again on replay.
type RecordedError struct{ Failure Failure }

func (e *RecordedError) Error() string { return e.Failure.Message }

// Name returns the recorded name, so that recording the failure again keeps it.
func (e *RecordedError) Name() string { return e.Failure.Name }

// A MalformedError says where a record breaks the protocol. Path is like
// $.result.error.message, with members the protocol does not name written *.
// Neither it nor Reason repeats a byte of the record.
type MalformedError struct{ Path, Reason string }

func (e *MalformedError) Error() string {
	return "malformed record at " + e.Path + ": " + e.Reason
}
