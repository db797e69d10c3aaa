package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// A surface is what the component names of a text may mean. It is lexical: a
// packaged body has one of its own, and whatever else is expanded, be it the
// content somebody wrote between its tags, has the run's.
type surface struct {
	library *Library
	include []string // directories searched for components
	sealed  bool     // a packaged body's: no file answers, not even one a history holds
}

// A Packaged is a Markdown body that a component is shipped with (prompt 18). It
// declares returns: what it returns is what the component makes of it. No file and no
// other text is ever expanded in its place.
type Packaged struct {
	source, text string
	definition   func() *definition
}

// NewPackaged names a body: source is its source identity, for positions. A text that
// is no value document is a mistake in the program and panics when it is first used.
func NewPackaged(source, text string) *Packaged {
	return &Packaged{source, text, sync.OnceValue(func() *definition {
		d, err := document.Parse(source, []byte(text))
		if err != nil {
			panic("engine: " + err.Error())
		}
		def, err := define(source, d)
		if err == nil {
			err = def.structure()
		}
		if err != nil || def.returns == nil {
			panic("engine: the packaged " + source + " is no value document")
		}
		return def
	})}
}

// Digest is the revision of the body: what its exact bytes hash to.
func (p *Packaged) Digest() string {
	sum := sha256.Sum256([]byte(p.text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// selection is what the import of a packaged component records: whose it is, and the
// exact bytes.
func (p *Packaged) selection(origin string) *value.Object {
	return value.Of("kind", "declared", "origin", origin, "digest", p.Digest(), "content", p.text, "exact", true)
}

// owns reports whether a recorded selection is of these bytes. Others are refused and
// never expanded: what a history holds gets no private name.
func (p *Packaged) owns(selection *value.Object, origin string) bool {
	return p != nil && value.Equal(selection, p.selection(origin))
}

// Expand expands the body the component is shipped with and returns its value. The
// body sees its own props and, by name, the components of private and nothing else;
// nobody else sees those, because the names go with this text and with no other.
// Questions in it go to whoever answers for the run, whatever region of the document
// stands around the element (prompt 18).
func (c *Call) Expand(ctx context.Context, private *Library, props *value.Object, settings ...Setting) (any, error) {
	def := c.entry.Body.definition()
	filled := def.props.Fill(props)
	if issues := def.props.Validate(filled); len(issues) > 0 {
		return nil, &Infrastructure{&PropsError{Component: def.name, Issues: issues}}
	}
	inner := c.scope.with(func(sc *scope) {
		sc.def, sc.env = def, newEnv(c.run.exprs.Ref(filled))
		sc.surface = &surface{library: private, sealed: true}
		sc.body, sc.loop, sc.projected = nil, nil, false
		sc.names = sc.names.push(c.el.Name)
		sc.life, sc.opened = c.life, c.scope.id
		sc.elicitor, sc.printing, sc.collect, sc.narrowed = c.run.Elicitor, false, false, nil
		for _, set := range settings {
			set(sc)
		}
	})
	v, err := c.run.valueBody(ctx, inner, &buffer{})
	return v, unwrapReturn(err)
}

// An Apart is work of an element on a coroutine of its own. The end of that coroutine
// holds what the work came to, so a history that holds the end has no part of the
// work done again, and looks at nothing it depended on.
type Apart struct {
	call *Call
	co   *journal.Coroutine
}

// Apart allocates the coroutine. It is called in the order of the element's program.
func (c *Call) Apart() *Apart { return &Apart{c, c.scope.strand.co.Child()} }

// Settled reports whether the history holds the value of the work.
func (a *Apart) Settled() bool {
	status, _ := a.co.Ended()
	return status == journal.StatusOk
}

// Run does the work, or returns what a history says it came to. The call work is given
// performs its effects there, and what it owns is released before the end is recorded.
// Work that failed before is done again, answered from the history throughout, and so
// fails again as it did.
func (a *Apart) Run(ctx context.Context, work func(context.Context, *Call) (any, error)) (any, error) {
	before, _ := a.co.Ended()
	switch before {
	case journal.StatusOk:
		recorded, _ := a.co.Recorded()
		return recorded.Value, a.call.run.resume(a.co)
	case journal.StatusCancelled:
		return nil, malformed("close", a.co.ID(), "it was cancelled, and nothing cancels it")
	}
	life := newLifetime(ctx)
	inner := *a.call
	inner.scope = a.call.scope.with(func(sc *scope) { sc.strand = &strand{co: a.co} })
	inner.life, inner.slots = life, nil
	v, err := work(life.ctx, &inner)
	err = life.end(err)
	switch {
	case err == nil && before == journal.StatusErr:
		return nil, malformed("close", a.co.ID(), "it failed before and does not fail now")
	case err == nil:
		return v, a.co.Close(ctx, journal.Ok(v))
	case journal.IsDurability(err):
		return nil, err
	case ctx.Err() != nil: // a continuation goes on where this one stopped
		return nil, context.Cause(ctx)
	}
	if e := a.co.Close(ctx, journal.Err(err)); e != nil {
		return nil, e
	}
	return nil, err
}
