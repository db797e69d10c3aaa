package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/internal/expr"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// A scope is where code runs. It is immutable: a construct that changes something
// for its content works on a copy (see with).
//
// The lexical part travels with the text: whose definition it is, which bindings
// it sees, which loop a Break means and which body a Return settles. The rest is
// the place of the expansion and follows the projecting component.
type scope struct {
	// lexical
	def       *definition
	surface   *surface // what its component names may mean
	env       *env
	body      *body       // whose Content this text may project; nil in a root
	loop      *loop       // the loop a Break ends
	ret       *returnSlot // the value body a Return settles
	names     *names      // component names being expanded, for cycles
	projected bool        // text a caller wrote, projected by a Markdown component

	// contextual
	mode     mode
	printing bool // a PrintErrors region may recover failed commands
	strand   *strand
	dir      string
	elicitor Elicitor
	region   agent.Region
	life     *lifetime
	collect  bool // a command's standard output becomes text where it stands
	limit    time.Duration
	id       *identity
	opened   *identity   // of the innermost component expansion
	stale    string      // why no recorded effect may be used here
	narrowed *Vocabulary // what a syntax listing shows; nil: the run's vocabulary
}

// with returns a changed copy.
func (sc *scope) with(change func(*scope)) *scope {
	c := *sc
	change(&c)
	return &c
}

// stopped is the cause of a context that ended, once everything recorded has been
// answered: a coroutine that was cancelled before must arrive where it was.
func (sc *scope) stopped(ctx context.Context) error {
	if ctx.Err() == nil || sc.strand.co.Replaying() {
		return nil
	}
	return context.Cause(ctx)
}

// An env is a binding environment: frames from the innermost out. New bindings go
// to the first.
type env struct{ frames []*frame }

// A frame also holds live bindings, which only ephemeral eval blocks see
// (language 5.10.3): they are never recorded and never become text.
type frame struct{ vars, live map[string]*expr.Ref }

const propsName = "props"

func newEnv(props *expr.Ref) *env {
	return &env{[]*frame{{vars: map[string]*expr.Ref{propsName: props}}}}
}

func (e *env) lookup(name string) (*expr.Ref, bool) {
	for _, f := range e.frames {
		if v, ok := f.vars[name]; ok {
			return v, true
		}
	}
	return nil, false
}

func (e *env) bind(name string, v *expr.Ref) {
	if e.frames[0].vars == nil {
		e.frames[0].vars = make(map[string]*expr.Ref)
	}
	e.frames[0].vars[name] = v
}

// lookupLive is lookup with the live bindings.
func (e *env) lookupLive(name string) (*expr.Ref, bool) {
	for _, f := range e.frames {
		if v, ok := f.live[name]; ok {
			return v, true
		}
	}
	return e.lookup(name)
}

// bindLive publishes a live binding, in the place of an earlier one of the name.
// The error is a collision with an ordinary binding.
func (e *env) bindLive(name string, v *expr.Ref) error {
	f := e.frames[0]
	if _, taken := f.vars[name]; taken {
		return fmt.Errorf("%q already names an ordinary binding; choose another name", name)
	}
	if f.live == nil {
		f.live = make(map[string]*expr.Ref)
	}
	f.live[name] = v
	return nil
}

// copied returns an environment that sees e and keeps its own bindings apart.
func (e *env) copied() *env { return &env{append([]*frame{{}}, e.frames...)} }

// layered is what projected content sees: the callee's bindings over the
// caller's, the props the caller's (language 5.9.1).
func layered(callee, caller *env) *env {
	top := &frame{}
	if p, ok := caller.lookup(propsName); ok {
		top.vars = map[string]*expr.Ref{propsName: p}
	}
	frames := append([]*frame{top}, callee.frames...)
	for _, f := range caller.frames {
		if !slices.Contains(frames, f) {
			frames = append(frames, f)
		}
	}
	return &env{frames}
}

// snapshot copies every visible binding for a concurrent child.
func (e *env) snapshot() *env {
	vars := make(map[string]*expr.Ref)
	for _, f := range slices.Backward(e.frames) {
		for name, v := range f.vars {
			vars[name] = v
		}
	}
	for name, v := range vars {
		vars[name] = v.Snapshot()
	}
	return &env{[]*frame{{vars: vars}}}
}

// A strand is one logical thread of expansion and its counter of executable
// blocks and entered loops (language 5.13.2).
type strand struct {
	co      *journal.Coroutine
	blocks  int
	prompts map[string]int // how many prompts a place has had
}

func (s *strand) next() int {
	s.blocks++
	return s.blocks - 1
}

// names is the path of Markdown components being expanded.
type names struct {
	parent *names
	name   string
	depth  int
}

// maxComponents bounds how many Markdown components nest on one path.
const maxComponents = 64

func (n *names) push(name string) *names {
	depth := 1
	if n != nil {
		depth = n.depth + 1
	}
	return &names{n, name, depth}
}

func (n *names) contains(name string) bool {
	for ; n != nil; n = n.parent {
		if n.name == name {
			return true
		}
	}
	return false
}

func (n *names) list() []string {
	var out []string
	for ; n != nil; n = n.parent {
		out = append(out, n.name)
	}
	slices.Reverse(out)
	return out
}

// An identity is an expansion id (language 5.13.1), computed when asked for. The
// frames are canonical JSON, keys sorted.
type identity struct {
	parent *identity
	frame  func() string
	once   sync.Once
	hash   string
}

func (i *identity) child(frame func() string) *identity {
	return &identity{parent: i, frame: frame}
}

func (i *identity) String() string {
	if i == nil {
		return ""
	}
	i.once.Do(func() {
		text := append([]byte{'['}, value.AppendString(nil, i.parent.String())...)
		text = append(append(append(text, ','), i.frame()...), ']')
		sum := sha256.Sum256(text)
		i.hash = hex.EncodeToString(sum[:])
	})
	return i.hash
}

func numberFrame(kind string, n int) func() string {
	return func() string { return `{"f":"` + kind + `","i":` + strconv.Itoa(n) + `}` }
}

// contentFrame is the frame of a native component's nth request for its content.
func contentFrame(n int) func() string {
	return func() string { return `{"f":"proj","n":` + strconv.Itoa(n) + `,"req":"children"}` }
}

func plainFrame(kind string) func() string {
	return func() string { return `{"f":"` + kind + `"}` }
}

// A lifetime owns what an invocation acquires. Its context ends with it, or
// earlier when something it started fails.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	undo   []func() error
}

func newLifetime(ctx context.Context) *lifetime {
	l := &lifetime{}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	return l
}

// own registers the release of a resource.
func (l *lifetime) own(release func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.undo = append(l.undo, release)
}

// fail ends the lifetime with an error of something it started.
func (l *lifetime) fail(e *Error, mode mode) { l.cancel(&earlyEnd{&failure{err: e, mode: mode}}) }

// errEnded marks the ordinary end of a lifetime.
var errEnded = errors.New("the invocation has ended")

// end releases everything in reverse order, each whatever became of the others.
// The body's own error comes first; a failure of something the invocation started
// outranks the cancellation it caused.
func (l *lifetime) end(err error) error {
	var early *earlyEnd
	if errors.As(context.Cause(l.ctx), &early) {
		err = early
	}
	l.cancel(errEnded)
	l.mu.Lock()
	undo := l.undo
	l.undo = nil
	l.mu.Unlock()
	for _, release := range slices.Backward(undo) {
		if e := release(); e != nil && err == nil {
			err = e
		}
	}
	return err
}

// An earlyEnd is a background command that ended before its invocation did.
type earlyEnd struct{ err *failure }

func (e *earlyEnd) Error() string { return e.err.Error() }
func (e *earlyEnd) Unwrap() error { return e.err }
