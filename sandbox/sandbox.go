// Package sandbox evaluates compiled fragments (fragments 9).
//
// A module and a grant enter, with hooks that connect the evaluation with the
// execution around it; what leaves is the rendered text and the values that reads
// returned, or one of five typed errors. A [Runtime] is made once; [Runtime.Run]
// links a module, evaluates it in an instance of its own and closes it:
//
//   - what a module may reach is judged here again, whoever compiled it: its bytes
//     are read, every import must be a field of the language or an operation of the
//     grant, and only then is there anything to call;
//   - values, bindings, text and the regions of <Answers> live on this side, in a
//     task (one coroutine of an evaluation); the module holds handles, has no memory
//     and decides only what is called next;
//   - every bound ends the evaluation with an error that names it: steps are counted
//     by the module and by each import, bytes where they are made, and time stands
//     still while an operation runs.
//
// The one invariant (F4): nothing with an effect is called that the import section
// does not name and the grant does not cover; after the first failure nothing is
// called at all.
//
// The room knows no file, no request and no journal. What an operation does is
// package capability's, and what becomes of it in a history is the hooks'.
package sandbox

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/wasm"
)

// A Result is what an evaluation, or one concurrent child of it, came to.
type Result struct {
	Observations []Observation // in the order of their invocation
	Output       string        // what was rendered
	Steps        int           // fuel used
	Values       int           // bytes of values made
}

// An Observation is a value that an entry of effect read returned.
type Observation struct {
	Name  string // of the element
	Value any    // JSON; do not change it
}

// A Runtime evaluates modules. It is safe for concurrent use.
type Runtime struct {
	engine     Engine // nil: wazero
	wazero     wazero.Runtime
	anonymous  wazero.ModuleConfig // of every instance
	vocabulary map[string][]field
	shared     map[string]api.Module // their host modules, without authority and without state
	refusing   api.Module            // exports nothing
}

// New returns the runtime of the product, on wazero's interpreter: a fragment
// usually runs once, and the interpreter compiles every shape of module in linear
// time.
func New(ctx context.Context) (*Runtime, error) {
	return start(ctx, wazero.NewRuntimeConfigInterpreter())
}

// NewWithCompiler is New on wazero's compiler engine. It is a test subject, a second
// reading of the same modules, and not for untrusted ones: their compilation is
// unbounded there.
func NewWithCompiler(ctx context.Context) (*Runtime, error) {
	return start(ctx, wazero.NewRuntimeConfigCompiler())
}

func start(ctx context.Context, config wazero.RuntimeConfig) (*Runtime, error) {
	config = config.WithCoreFeatures(api.CoreFeaturesV1).WithCloseOnContextDone(true).WithMemoryLimitPages(0)
	r := &Runtime{
		wazero:     wazero.NewRuntimeWithConfig(ctx, config),
		anonymous:  anonymous(),
		vocabulary: vocabulary(),
		shared:     map[string]api.Module{},
	}
	refusing, err := r.host(ctx, "refusing", nil, 0)
	if err != nil {
		return nil, err
	}
	r.refusing = refusing.Module
	for name, fields := range r.vocabulary {
		h, err := r.host(ctx, name, fields, languageFuel)
		if err != nil {
			return nil, err
		}
		r.shared[name] = h.Module
	}
	return r, nil
}

// vocabulary is the fields of the language, by import module.
func vocabulary() map[string][]field {
	return map[string][]field{
		"xmd:text":   textFields(),
		"xmd:value":  valueFields(),
		"xmd:scope":  scopeFields(),
		"xmd:answer": answerFields(),
		"xmd:task":   taskFields(),
	}
}

// languageFuel is what a call of the language takes; an operation takes none
// (fragments 8).
const languageFuel = 1

// Close ends the runtime; nothing may be running in it. An engine that it was given
// stays its owner's.
func (r *Runtime) Close(ctx context.Context) error {
	if r.wazero == nil {
		return nil
	}
	return r.wazero.Close(ctx)
}

// Run evaluates a module under a grant, to its end: nothing of it is left when Run
// returns. The bounds are those of the grant; the time limit stands still while an
// operation, a question or a hook runs, whose bound is ctx and its own.
//
// The error is a *LinkError when the module was not started; *LimitError,
// *OperationError, *FailError or *TrapError for what happened in it; the cause of
// ctx when that ended; [capability.ErrRevoked], wrapped or not, once the grant has
// ended. Where there is an error, the result says how much was used and no more.
func (r *Runtime) Run(ctx context.Context, m *wasm.Module, g *capability.Grant, h Hooks) (Result, error) {
	if ctx.Err() != nil && (h.Replaying == nil || !h.Replaying()) {
		return Result{}, context.Cause(ctx)
	}
	if g != nil && !g.Live() {
		return Result{}, capability.ErrRevoked
	}
	building := context.WithoutCancel(ctx)
	l, err := r.link(building, m, g)
	if err != nil {
		return Result{}, err
	}
	defer l.close(building)
	t := l.task(h, budget{
		steps:  min(l.limits.Steps, maxSteps),
		values: l.limits.Values,
		output: l.limits.Output,
		time:   l.limits.Time,
	})
	result, err := t.execute(ctx, "run")
	err, _ = uncancelled(err)
	return result, err
}
