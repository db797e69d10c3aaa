package admission

import (
	"slices"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// The fixed refusals of a continuation. None says what was compared (F5).
var (
	// ErrUnreadable is a record that Record did not write, or that does not belong
	// to its own source.
	ErrUnreadable = error(sentence("the retained admission of a generated fragment cannot be read, so nothing of it was performed; run the document from its start."))
	// ErrCeilings is a policy that no longer holds.
	ErrCeilings = error(sentence("a generated fragment was admitted under ceilings this run no longer states. A retained admission resumes only under the exact effect classes, roots, pinned identities, forms, requests and limits it was admitted with."))
	// ErrTextChanged is a program text that is not the recorded one.
	ErrTextChanged = error(sentence("a generated fragment's text is not the text that was admitted."))
)

// A sentence is an error whose text is fixed and contract, its full stop included.
type sentence string

func (s sentence) Error() string { return string(s) }

// A Continuation is a recorded admission that holds. Its Decision is that of the
// recorded source, preflighted again.
type Continuation struct {
	Decision *Decision
	module   string
	compiler int
}

// Continue takes a recorded decision up again under g (fragments 6, F6). record is
// what Record returned, read back. current is the program text there is now, nil
// when there is none; what continues is the recorded text in either case. It
// performs nothing.
//
// The errors, in the order they are looked for: ErrUnreadable; the *Refusal that was
// recorded; ErrCeilings; ErrTextChanged; the *Refusal of a source this binary would
// not admit; ErrUnreadable again when the recorded elements are not the source's.
func Continue(id string, record any, current *string, g *capability.Grant) (*Continuation, error) {
	r, ok := readRecord(record)
	switch {
	case !ok:
		return nil, ErrUnreadable
	case r.refused != "":
		return nil, &Refusal{r.refused}
	case !holds(r.policy, g.Policy()):
		return nil, ErrCeilings
	case current != nil && *current != r.source:
		return nil, ErrTextChanged
	}
	d := Preflight(id, r.source, g)
	switch {
	case d.Refusal != nil:
		return nil, d.Refusal
	case !slices.Equal(d.Named, r.named):
		return nil, ErrUnreadable
	}
	return &Continuation{Decision: d, module: r.module, compiler: r.compiler}, nil
}

// Check compares the module compiled now with the recorded one. Another revision of
// the compiler may write the same program differently. The error is ErrUnreadable.
func (c *Continuation) Check(m *wasm.Module) error {
	if c.compiler == wasm.Revision && c.module != m.Digest {
		return ErrUnreadable
	}
	return nil
}

// holds reports whether what was admitted under one policy may continue under
// another: everything is equal, except that a run may have come to retain more
// roots.
func holds(recorded, current *capability.Object) bool {
	for _, name := range [...]string{"allow", "dialect", "allowed", "limits"} {
		then, _ := recorded.Get(name)
		now, _ := current.Get(name)
		if !value.Equal(then, now) {
			return false
		}
	}
	roots, _ := recorded.Get("roots")
	kept, _ := current.Get("roots")
	needed, _ := roots.([]any)
	retained, _ := kept.([]any)
	if selected, workspace := recorded.Get("selected"); workspace {
		needed = append(slices.Clone(needed), selected)
	}
	return recorded.Has("selected") == current.Has("selected") &&
		!slices.ContainsFunc(needed, func(name any) bool { return !slices.Contains(retained, name) })
}
