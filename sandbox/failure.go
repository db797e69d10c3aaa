package sandbox

import "fmt"

// A LimitError is an exhausted bound; Bound is its name in a profile (fragments 2).
type LimitError struct{ Bound string }

// An OperationError is a failed operation or a failed operation on values. Element
// and Offset are the innermost element that was being evaluated, as far as that is
// known; Element is empty otherwise.
type OperationError struct {
	Element string
	Offset  int // of its <, in bytes of the source
	Err     error
}

// A FailError is an authored <Fail>. Its text is the author's.
type FailError struct {
	Message string
	Offset  int // of the <Fail>, in bytes of the source
}

// A LinkError is a module the grant does not cover, or one that is not ours.
type LinkError struct{ Reason string }

// A TrapError is any other trap, a Go panic in a host function included.
type TrapError struct{ Err error }

func (e *LimitError) Error() string {
	return fmt.Sprintf("the fragment used up its limit on %s", e.Bound)
}

func (e *OperationError) Error() string {
	if e.Element == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("<%s> at byte %d of the fragment: %v", e.Element, e.Offset, e.Err)
}

func (e *OperationError) Unwrap() error { return e.Err }

func (e *FailError) Error() string { return e.Message }

func (e *LinkError) Error() string { return "the module cannot be linked: " + e.Reason }

func (e *TrapError) Error() string { return fmt.Sprintf("the module trapped: %v", e.Err) }

func (e *TrapError) Unwrap() error { return e.Err }
