package expr

import (
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"strconv"
	"sync"
	"time"

	"github.com/dop251/goja"
)

// tick is how often a long evaluation is looked at. Most end before the first look.
const tick = 10 * time.Millisecond

// A watch interrupts one evaluation that was cancelled or reached its bounds.
type watch struct {
	ctx      context.Context
	rt       *Runtime
	js       *interpreter
	limit    time.Duration
	memory   uint64
	deadline time.Time
	heap     uint64 // at the first look

	mu    sync.Mutex
	timer *time.Timer
	done  bool
	err   *Error // why it was interrupted
}

// guard runs f, which may use the interpreter, under the bounds of one evaluation.
// It starts the interpreter when it is not running. Nothing that goes wrong inside
// leaves as a panic. The caller holds rt.mu.
func (rt *Runtime) guard(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return cancelled(err)
	}
	if rt.isStopped() {
		return cancelled(errStopped)
	}
	if rt.js == nil {
		rt.js = newInterpreter()
	}
	js := rt.js
	w := &watch{ctx: ctx, rt: rt, js: js, limit: rt.limit, memory: rt.memory, deadline: time.Now().Add(rt.limit)}
	w.mu.Lock()
	w.timer = time.AfterFunc(min(tick, rt.limit), w.look)
	w.mu.Unlock()
	err := shielded(f)
	if err != nil && !interrupted(err) {
		err = js.errorOf(err) // which may run the program's own toString
	}
	stopped := w.end()
	js.depth = 0
	if stopped != nil && interrupted(err) {
		return stopped
	}
	return err
}

// shielded runs f and returns a panic as an error.
func shielded(f func() error) (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case error:
			err = x
		default:
			err = fmt.Errorf("the interpreter failed: %v", x)
		}
	}()
	return f()
}

func interrupted(err error) bool {
	var i *goja.InterruptedError
	return errors.As(err, &i)
}

func cancelled(err error) *Error {
	return &Error{Reason: "the evaluation was stopped: " + err.Error(), Cause: err}
}

// end stops watching and returns why the evaluation was interrupted, if it was.
func (w *watch) end() *Error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	w.timer.Stop()
	if w.err != nil {
		w.js.vm.ClearInterrupt()
		w.js.stopping.Store(false)
	}
	return w.err
}

func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return
	}
	heap := heapBytes()
	if w.heap == 0 {
		w.heap = heap
	}
	switch {
	case w.ctx.Err() != nil:
		w.err = cancelled(w.ctx.Err())
	case w.rt.isStopped():
		w.err = cancelled(errStopped)
	case !time.Now().Before(w.deadline):
		w.err = &Error{Reason: "the evaluation took longer than " + w.limit.String()}
	case heap > w.heap+w.memory:
		w.err = &Error{Reason: "the evaluation used more than " + strconv.FormatUint(w.memory, 10) + " bytes of memory"}
	default:
		w.timer.Reset(min(tick, time.Until(w.deadline)))
		return
	}
	w.js.stopping.Store(true)
	w.js.vm.Interrupt(w.err)
}

func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
