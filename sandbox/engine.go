package sandbox

import (
	"context"
	"errors"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/executable-markdown/xmd/wasm"
)

// An Engine makes instances of modules that were judged. That of the product is
// wazero's interpreter; another one is a test subject, a third reading of the same
// modules (F10). It is used by several goroutines at a time.
type Engine interface {
	// Instantiate makes an instance of m that calls one of its exported functions. Its
	// import n of m.Imports is host(n, stack): the arguments are in stack, the result
	// is stack[0] afterwards, and there is room for it where there is no argument.
	// An error of host makes the module trap.
	Instantiate(m *wasm.Module, function string, host func(n int, stack []uint64) error) (Instance, error)
}

// An Instance is one function of a module in an instance of its own. It is used by
// one goroutine.
type Instance interface {
	Fuel() Fuel  // also readable after Close
	Call() error // nil unless the module trapped
	Close()
}

// Fuel is the one global of a module, an i32.
type Fuel interface {
	Get() uint64
	Set(v uint64)
}

// NewWithEngine is New on another engine. It is a test subject and not for untrusted
// modules: whether anything but fuel stops them there is the engine's affair.
func NewWithEngine(e Engine) *Runtime { return &Runtime{engine: e, vocabulary: vocabulary()} }

// A served field is an import of a module, and the fuel its calls take.
type served struct {
	field
	fuel int
}

// instantiate makes an instance of the module for one of its functions.
func (t *task) instantiate(ctx context.Context, function string) (Instance, error) {
	if e := t.runtime.engine; e != nil {
		return e.Instantiate(t.module, function, func(n int, stack []uint64) error {
			return t.answer(t.imports[n].field, t.imports[n].fuel, stack)
		})
	}
	m, err := t.runtime.wazero.InstantiateModule(experimental.WithImportResolver(ctx, t.resolve), t.compiled, t.runtime.anonymous)
	if err != nil {
		return nil, err
	}
	i := &instance{ctx: ctx, module: m, run: m.ExportedFunction(function)}
	var ok bool
	if i.fuel, ok = m.ExportedGlobal("fuel").(api.MutableGlobal); !ok || i.run == nil {
		i.Close()
		return nil, errors.New("the module has no " + function + " or no fuel")
	}
	return i, nil
}

// An instance is wazero's. What it calls finds its task in the context.
type instance struct {
	ctx    context.Context
	module api.Module
	run    api.Function
	fuel   api.MutableGlobal
}

func (i *instance) Fuel() Fuel { return i.fuel }

func (i *instance) Call() error {
	_, trap := i.run.Call(i.ctx)
	return trap
}

func (i *instance) Close() { _ = i.module.Close(i.ctx) }
