//go:build wasmtime && cgo

package oracle

import (
	"fmt"
	"sync"

	"github.com/bytecodealliance/wasmtime-go/v39"

	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

// An Engine is wasmtime with what core WebAssembly 1.0 has and no more. Fuel of its
// own it has none: that of the module is what is compared. It is safe for concurrent
// use.
type Engine struct {
	wasmtime *wasmtime.Engine

	mu       sync.Mutex
	digest   string // of the module that was compiled last
	compiled *wasmtime.Module
}

// New returns an engine.
func New() *Engine {
	config := wasmtime.NewConfig()
	config.SetWasmRelaxedSIMD(false)
	config.SetWasmSIMD(false)
	config.SetWasmReferenceTypes(false)
	config.SetWasmBulkMemory(false)
	config.SetWasmMultiValue(false)
	config.SetWasmMultiMemory(false)
	config.SetWasmTailCall(false)
	config.SetCraneliftOptLevel(wasmtime.OptLevelNone)
	return &Engine{wasmtime: wasmtime.NewEngineWithConfig(config)}
}

// compile compiles a module, or returns the one it compiled last: the children of an
// All are instances of one module.
func (e *Engine) compile(m *wasm.Module) (*wasmtime.Module, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.digest == m.Digest {
		return e.compiled, nil
	}
	compiled, err := wasmtime.NewModule(e.wasmtime, m.Bytes)
	if err != nil {
		return nil, err
	}
	e.digest, e.compiled = m.Digest, compiled
	return compiled, nil
}

// Instantiate makes an instance in a store of its own.
func (e *Engine) Instantiate(m *wasm.Module, function string, host func(n int, stack []uint64) error) (sandbox.Instance, error) {
	compiled, err := e.compile(m)
	if err != nil {
		return nil, err
	}
	store := wasmtime.NewStore(e.wasmtime)
	imports := make([]wasmtime.AsExtern, len(m.Imports))
	for n, i := range m.Imports {
		imports[n] = wasmtime.NewFunc(store, signature(i), func(_ *wasmtime.Caller, args []wasmtime.Val) ([]wasmtime.Val, *wasmtime.Trap) {
			stack := make([]uint64, max(1, len(args)))
			for a, arg := range args {
				stack[a] = uint64(uint32(arg.I32()))
			}
			if err := host(n, stack); err != nil {
				return nil, wasmtime.NewTrap(err.Error())
			}
			if i.Results == 0 {
				return nil, nil
			}
			return []wasmtime.Val{wasmtime.ValI32(int32(uint32(stack[0])))}, nil
		})
	}
	made, err := wasmtime.NewInstance(store, compiled, imports)
	if err != nil {
		store.Close()
		return nil, err
	}
	i := &instance{store: store, run: made.GetFunc(store, function)}
	if x := made.GetExport(store, "fuel"); x != nil {
		i.fuel = x.Global()
	}
	if i.run == nil || i.fuel == nil {
		store.Close()
		return nil, fmt.Errorf("the module has no %s or no fuel", function)
	}
	return i, nil
}

func signature(i wasm.Import) *wasmtime.FuncType {
	return wasmtime.NewFuncType(i32s(i.Params), i32s(i.Results))
}

func i32s(n int) []*wasmtime.ValType {
	types := make([]*wasmtime.ValType, n)
	for i := range types {
		types[i] = wasmtime.NewValType(wasmtime.KindI32)
	}
	return types
}

type instance struct {
	store *wasmtime.Store // nil: closed
	run   *wasmtime.Func
	fuel  *wasmtime.Global
	left  int32 // the fuel there was when it was closed
}

func (i *instance) Fuel() sandbox.Fuel { return i }

// Get reads the fuel.
func (i *instance) Get() uint64 {
	if i.store != nil {
		i.left = i.fuel.Get(i.store).I32()
	}
	return uint64(uint32(i.left))
}

// Set panics when the global cannot be set, which no judged module causes.
func (i *instance) Set(v uint64) {
	if err := i.fuel.Set(i.store, wasmtime.ValI32(int32(uint32(v)))); err != nil {
		panic(err)
	}
}

func (i *instance) Call() error {
	_, err := i.run.Call(i.store)
	return err
}

func (i *instance) Close() {
	i.Get()
	i.store.Close()
	i.store = nil
}
