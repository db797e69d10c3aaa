package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/executable-markdown/xmd/internal/ecma"
	"github.com/executable-markdown/xmd/internal/value"
)

// maxSteps is the most fuel a module can hold.
const maxSteps = math.MaxInt32

// A budget is what there is of the bounds that are used up.
type budget struct {
	steps  int // fuel
	values int // bytes
	output int // bytes
	time   time.Duration
}

// A task is one coroutine of an evaluation: one instance of the module, with all
// state its imports work on. It is used by one goroutine.
type task struct {
	*linked
	hooks Hooks
	given budget
	left  budget // values and output; steps are in fuel, time in clock

	ctx       context.Context // of the execution, for operations and hooks
	fuel      Fuel
	clock     clock
	replaying atomic.Bool
	err       error // the first failure: nothing is answered after it

	handles []ecma.Value       // by handle, less one
	text    []*strings.Builder // what is being rendered, innermost last
	popped  uint32             // the handle the last pop made
	names   *frame             // innermost
	opened  []opened           // innermost last
	rounds  map[int]int        // of the <Each> and <Loop> that are open, by element
	dir     string             // the directory cursor
	reading *region            // regions whose matchers are being read, innermost
	answers *region            // regions in force, innermost
	queue   []int              // spawned and not yet joined
	home    int                // the element all of this is inside of, -1: none

	observations []Observation
}

// An opened construct or paired element is one that something has to close.
type opened struct {
	kind    openedKind
	element int
	use     *use // of an element
	rounds  int  // of a loop: how many were entered
}

type openedKind uint8

const (
	openElement openedKind = iota
	openEach
	openLoop
	openAnswers
)

func (l *linked) task(h Hooks, given budget) *task {
	return &task{linked: l, hooks: h, given: given, left: given, home: -1, names: &frame{}, rounds: map[int]int{}, text: []*strings.Builder{{}}}
}

// execute runs one exported function of the module in an instance of its own, under
// ctx. Where there is an error, the result says only what was used.
func (t *task) execute(ctx context.Context, function string) (Result, error) {
	t.ctx = ctx
	t.replaying.Store(t.replays())
	err := t.instance(function)
	if _, stopped := uncancelled(err); err != nil && !stopped {
		err = t.failLoops(err)
	}
	r := Result{Values: t.given.values - t.left.values}
	if t.fuel != nil {
		r.Steps = t.given.steps - max(0, t.steps())
	}
	if err == nil {
		r.Output, r.Observations = t.text[0].String(), t.observations
	}
	return r, err
}

type taskKey struct{}

// instance runs one exported function to its end and closes the instance.
func (t *task) instance(function string) error {
	ctx, stop := context.WithCancel(context.WithValue(context.WithoutCancel(t.ctx), taskKey{}, t))
	defer stop()
	defer context.AfterFunc(t.ctx, func() {
		if !t.replaying.Load() {
			stop()
		}
	})()
	t.clock.start(t.given.time, stop) // making an instance is the module's time, too
	defer t.clock.stop()
	i, err := t.instantiate(ctx, function)
	if err != nil {
		if halted := t.halted(); halted != nil {
			return halted
		}
		return &LinkError{err.Error()}
	}
	defer i.Close()
	t.fuel = i.Fuel()
	t.fuel.Set(uint64(t.given.steps))
	trap := i.Call()
	t.clock.stop()
	switch {
	case t.err != nil:
		return t.err
	case trap != nil && t.steps() < 0:
		return &LimitError{"steps"}
	}
	if err := t.halted(); err != nil {
		return err
	}
	if trap != nil {
		return &TrapError{trap}
	}
	return nil
}

// steps is the fuel that is left; below zero there is none.
func (t *task) steps() int { return int(int32(t.fuel.Get())) }

// errStopped makes the module trap. What happened is in the task.
var errStopped = errors.New("the evaluation has stopped")

// serve answers one call of an import, or makes the module trap.
func (t *task) serve(f field, fuel int, stack []uint64) {
	if err := t.answer(f, fuel, stack); err != nil {
		panic(err)
	}
}

// answer answers one call of an import. After the first failure nothing is answered.
func (t *task) answer(f field, fuel int, stack []uint64) error {
	if t.err == nil {
		t.err = t.attempt(f, fuel, stack)
	}
	if t.err != nil {
		return errStopped
	}
	return nil
}

func (t *task) attempt(f field, fuel int, stack []uint64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &TrapError{panicked(p)}
		}
	}()
	if err := t.halted(); err != nil {
		return err
	}
	if err := t.take(fuel); err != nil {
		return err
	}
	return t.located(f.call(t, stack))
}

// panicked describes a panic of Go code.
func panicked(p any) error { return fmt.Errorf("panic: %v", p) }

// halted says why the evaluation cannot go on, if it cannot: its time is used up, or
// its context has ended and no history is left to be followed.
func (t *task) halted() error {
	switch {
	case t.clock.over.Load():
		return &LimitError{"time"}
	case t.ctx.Err() != nil && !t.replaying.Load():
		return &cancellation{context.Cause(t.ctx)}
	}
	return nil
}

func (t *task) replays() bool { return t.hooks.Replaying != nil && t.hooks.Replaying() }

// A cancellation is the end of the context on its way out.
type cancellation struct{ cause error }

func (c *cancellation) Error() string { return c.cause.Error() }
func (c *cancellation) Unwrap() error { return c.cause }

// located gives a failure without a place the innermost one that is known.
func (t *task) located(err error) error {
	element := t.home
	if len(t.opened) > 0 {
		element = t.opened[len(t.opened)-1].element
	}
	return t.at(element, err)
}

// at gives a failure without a place an element, where it is 0 or more.
func (t *task) at(element int, err error) error {
	if err == nil {
		return nil
	}
	switch err := err.(type) {
	case *LimitError, *OperationError, *FailError, *TrapError, *LinkError, *cancellation:
		return err
	case *ecma.LimitError:
		return &LimitError{err.Bound}
	}
	failed := &OperationError{Err: err}
	if element >= 0 {
		el := t.module.Elements[element]
		failed.Element, failed.Offset = el.Name, el.Offset
	}
	return failed
}

// broken is a call no compiled module makes.
func broken(format string, args ...any) error {
	return &TrapError{fmt.Errorf(format, args...)}
}

// work takes fuel for the bytes a call reads or makes: one for each KiB.
func (t *task) work(bytes int) error { return t.take(bytes >> 10) }

// take takes fuel (F8).
func (t *task) take(fuel int) error {
	if fuel == 0 {
		return nil
	}
	left := t.steps() - fuel
	t.fuel.Set(uint64(uint32(int32(max(-1, left)))))
	if left < 0 {
		return &LimitError{"steps"}
	}
	return nil
}

// spend counts bytes against a bound that is used up (F8).
func spend(left *int, bytes int, bound string) error {
	if bytes > *left {
		return &LimitError{bound}
	}
	*left -= bytes
	return nil
}

// made counts a value that was made, with everything in it.
func (t *task) made(v ecma.Value) error {
	return spend(&t.left.values, ecma.Overhead+ecma.Size(v), "values")
}

// hold returns a handle of a value.
func (t *task) hold(v ecma.Value) uint64 {
	switch v.(type) {
	case nil, ecma.Undefined:
		return 0
	}
	t.handles = append(t.handles, v)
	return uint64(len(t.handles))
}

// value returns the value of a handle.
func (t *task) value(handle uint64) (ecma.Value, error) {
	n := uint32(handle)
	switch {
	case n == 0:
		return ecma.Undefined{}, nil
	case uint64(n) > uint64(len(t.handles)):
		return nil, broken("%d is no handle", n)
	}
	return t.handles[n-1], nil
}

// str returns a string of the string table.
func (t *task) str(index uint64) (string, error) {
	if n := uint32(index); uint64(n) < uint64(len(t.module.Strings)) {
		return t.module.Strings[n], nil
	}
	return "", broken("%d is no string", uint32(index))
}

// element returns an index into the element table.
func (t *task) element(index uint64) (int, error) {
	if n := uint32(index); uint64(n) < uint64(len(t.module.Elements)) {
		return int(n), nil
	}
	return 0, broken("%d is no element", uint32(index))
}

// open notes what something has to close.
func (t *task) open(o opened) { t.opened = append(t.opened, o) }

// innermost returns what is to be closed next, which must be of one kind.
func (t *task) innermost(kind openedKind) (*opened, error) {
	if n := len(t.opened); n > 0 && t.opened[n-1].kind == kind {
		return &t.opened[n-1], nil
	}
	return nil, broken("nothing like this is open")
}

// close removes what innermost returned.
func (t *task) close() {
	n := len(t.opened) - 1
	t.opened[n] = opened{}
	t.opened = t.opened[:n]
}

// one is the bounds of one value. No value nests deeper than JSON may, however much
// more a host states: everything that reads one follows its nesting by recursion.
func (t *task) one() ecma.Limits {
	return ecma.Limits{Value: t.limits.Value, Depth: min(t.limits.Depth, value.MaxDepth)}
}
