package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/expr"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// A Call is one invocation of a native component: the validated props, the form
// it was written in, its content, and the way to perform effects. It is valid
// until the component's Run returns and belongs to that goroutine.
type Call struct {
	run   *run
	scope *scope
	el    *document.Element
	entry *entry
	props *value.Object
	as    string
	life  *lifetime
	slots *body
	asked int // how often content was asked for
}

// start checks the form and runs the component.
func (c *Call) start(ctx context.Context) (any, error) {
	if c.as != "" && c.entry.NoAs != "" {
		return nil, fmt.Errorf("<%s> %s, so as=%q is refused", c.el.Name, c.entry.NoAs, c.as)
	}
	form, written := Paired, "around content"
	if c.el.SelfClosing {
		form, written = SelfClosing, "self-closing"
	}
	if c.entry.Forms&form == 0 {
		return nil, fmt.Errorf("<%s> cannot be written %s: %s", c.el.Name, written, c.entry.FormHelp)
	}
	return c.entry.Run(ctx, c)
}

// Name is the element's name.
func (c *Call) Name() string { return c.el.Name }

// Position is where the element stands.
func (c *Call) Position() document.Position { return c.el.Pos }

// Props are the validated props with defaults; do not change them.
func (c *Call) Props() *value.Object { return c.props }

// Text returns a string prop, empty when it is absent.
func (c *Call) Text(prop string) string {
	s, _ := c.props.String(prop)
	return s
}

// Paired reports whether the element was written as a pair.
func (c *Call) Paired() bool { return !c.el.SelfClosing }

// Captured reports whether the result is bound by as.
func (c *Call) Captured() bool { return c.as != "" }

// Host is what the run may reach.
func (c *Call) Host() host.Host { return c.run.Host }

// Dir is the absolute contextual working directory.
func (c *Call) Dir() string { return c.scope.dir }

// FetchTimeout is the run's default limit of a request; 0 means none.
func (c *Call) FetchTimeout() time.Duration { return c.run.Options.FetchTimeout }

// Expansion is the invocation's expansion id.
func (c *Call) Expansion() string { return c.scope.id.String() }

// Place is where the next effect of the element stands in the history: its coroutine,
// and how many effects that settled before.
func (c *Call) Place() (coroutine string, position int) {
	co := c.scope.strand.co
	return co.ID(), co.Position()
}

// Has reports whether a prop or capture was written, whatever its value.
func (c *Call) Has(prop string) bool {
	_, ok := attr(c.el, prop)
	return ok
}

// Capture evaluates a capture where the element stands, by reference. The error
// is the component's own failure.
func (c *Call) Capture(ctx context.Context, prop string) (*expr.Ref, error) {
	a, ok := attr(c.el, prop)
	if !ok {
		return c.run.exprs.Ref(value.Undefined{}), nil
	}
	return c.run.raw(ctx, c.scope, c.el, a)
}

// A Setting changes the place content expands in.
type Setting func(*scope)

// InDir makes dir, an absolute path, the working directory of the content.
func InDir(dir string) Setting { return func(sc *scope) { sc.dir = dir } }

// NoReplay refuses to use recorded effects inside the content, for the reason
// given.
func NoReplay(reason string) Setting { return func(sc *scope) { sc.stale = reason } }

// Content expands the element's content and returns its text. Content whose
// errors were printed is a *ContentError; any other error is a decision made
// where the content was written. A component that returns such an error unchanged
// hands it on; Explain adds a sentence to it.
func (c *Call) Content(ctx context.Context, settings ...Setting) (string, error) {
	if c.slots == nil {
		c.slots = &body{caller: c.scope, nodes: c.el.Children}
	}
	s := c.slots.split()
	n := c.asked
	c.asked++
	text := &buffer{}
	var err error
	if s.invalid != nil && !s.raised {
		s.raised = true
		err = c.run.raise(c.scope, text, s.invalid)
	} else {
		inner := c.scope.with(func(sc *scope) {
			if sc.projected {
				sc.env = sc.env.copied()
			}
			sc.life = c.life
			sc.id = sc.id.child(contentFrame(n))
			for _, set := range settings {
				set(sc)
			}
		})
		err = c.run.expand(ctx, inner, s.content[""], text)
	}
	var f *failure
	if errors.As(err, &f) {
		f.partial = text.String()
	}
	if err == nil && len(text.errs) > 0 {
		err = text.contentError()
	}
	return text.String(), err
}

// Own registers the release of a resource that lives as long as the invocation: it
// goes after everything the content started has ended.
func (c *Call) Own(release func() error) { c.life.own(release) }

// Keep registers the release of a resource that lives until the scope holding the
// element ends.
func (c *Call) Keep(release func() error) { c.scope.life.own(release) }

// An Effect describes a durable effect of a component.
type Effect struct {
	Type, Name string
	Members    []journal.Member          // stored beside the identity
	Guard      func(journal.Event) error // judges a recorded event; may be nil
}

// Effect performs one durable effect: answered from the history where it has one,
// live otherwise, and recorded before it returns (history 6).
func (c *Call) Effect(ctx context.Context, e Effect, live func(context.Context) (any, error)) (any, error) {
	return c.run.perform(ctx, c.scope, c.el.Pos, c.as, e, live)
}

func (r *run) perform(ctx context.Context, sc *scope, pos document.Position, as string, e Effect, live func(context.Context) (any, error)) (any, error) {
	d := journal.Description{
		Type: e.Type, Name: e.Name, Position: pos, Binding: as,
		Members: e.Members, Guard: sc.guard(e.Type, e.Name, e.Guard),
	}
	if r.Retain {
		d.Expansion = sc.opened.String()
	}
	return sc.strand.co.Perform(ctx, d, live)
}

// guard refuses any recorded effect where none may be used.
func (sc *scope) guard(typ, name string, own func(journal.Event) error) func(journal.Event) error {
	if sc.stale == "" {
		return own
	}
	reason := sc.stale
	return func(journal.Event) error {
		return fmt.Errorf("the recorded %s %q cannot be used: %s", typ, name, reason)
	}
}

// A Question is what a person is asked: a message and the schema of its answer.
type Question struct {
	Message string
	Schema  any // a draft-07 definition; do not change it
}

// An Elicitor answers questions with JSON. Implementations are called from one
// goroutine of a run at a time, but several concurrent children may ask.
type Elicitor interface {
	Ask(ctx context.Context, q Question) (any, error)
}

// Elicitor returns who answers questions here; nil when nobody does.
func (c *Call) Elicitor() Elicitor { return c.scope.elicitor }

// Library is the components that can be named here, and Include the directories
// searched for more: what a syntax listing is made from.
func (c *Call) Library() *Library { return c.scope.surface.library }

// Include is the list of directories searched for components, in order.
func (c *Call) Include() []string { return c.scope.surface.include }
