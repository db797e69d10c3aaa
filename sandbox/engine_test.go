package sandbox_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

// A plainEngine is wazero with nothing of the product around it: a runtime for each
// instance, its imports under their own names.
type plainEngine struct{}

type plainInstance struct {
	runtime wazero.Runtime
	module  api.Module
	run     api.Function
}

func (plainEngine) Instantiate(m *wasm.Module, function string, host func(n int, stack []uint64) error) (sandbox.Instance, error) {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	modules := map[string]wazero.HostModuleBuilder{}
	for n, i := range m.Imports {
		if modules[i.Module] == nil {
			modules[i.Module] = r.NewHostModuleBuilder(i.Module)
		}
		call := api.GoModuleFunc(func(_ context.Context, _ api.Module, stack []uint64) {
			if err := host(n, stack); err != nil {
				panic(err)
			}
		})
		modules[i.Module].NewFunctionBuilder().WithGoModuleFunction(call, i32s(i.Params), i32s(i.Results)).Export(i.Field)
	}
	for _, b := range modules {
		if _, err := b.Instantiate(ctx); err != nil {
			return nil, err
		}
	}
	made, err := r.Instantiate(ctx, m.Bytes)
	if err != nil {
		return nil, err
	}
	return &plainInstance{r, made, made.ExportedFunction(function)}, nil
}

func i32s(n int) []api.ValueType {
	types := make([]api.ValueType, n)
	for i := range types {
		types[i] = api.ValueTypeI32
	}
	return types
}

func (i *plainInstance) Fuel() sandbox.Fuel {
	return i.module.ExportedGlobal("fuel").(api.MutableGlobal)
}

func (i *plainInstance) Call() error {
	_, err := i.run.Call(context.Background())
	return err
}

func (i *plainInstance) Close() { _ = i.runtime.Close(context.Background()) }

// The meaning of the imports is the same in an engine of somebody else, what they use
// included.
func TestAnotherEngine(t *testing.T) {
	own, other := interpreter(t), sandbox.NewWithEngine(plainEngine{})
	for _, m := range meanings() {
		t.Run(m.name, func(t *testing.T) {
			module := compile(t, program(m.write))
			ours, theirs := newWorld(), newWorld()
			want, failed := own.Run(t.Context(), module, ours.grant(t, capability.Limits{}), sandbox.Hooks{})
			got, err := other.Run(t.Context(), module, theirs.grant(t, capability.Limits{}), sandbox.Hooks{})
			require.Equal(t, failed, err)
			require.Equal(t, want, got)
			require.ElementsMatch(t, ours.done(), theirs.done())
		})
	}
	endless := compile(t, program(func(d *draft) []wasm.Node {
		return nodes(d.loop(json("1000000"), func() []wasm.Node { return nil }))
	}))
	_, err := other.Run(t.Context(), endless, newWorld().grant(t, capability.Limits{Steps: 1000}), sandbox.Hooks{})
	require.Equal(t, &sandbox.LimitError{Bound: "steps"}, err)
	require.NoError(t, other.Close(t.Context()))
}

// A runtime keeps nothing of a run: a host that lives long evaluates many fragments.
func TestRunsLeaveNothingBehind(t *testing.T) {
	r, g := interpreter(t), newWorld().grant(t, capability.Limits{})
	m := compile(t, program(func(d *draft) []wasm.Node { return nodes(d.into("a", func() []wasm.Node { return nil })) }))
	heap := func(runs int) int64 {
		for range runs {
			_, err := r.Run(t.Context(), m, g, sandbox.Hooks{})
			require.NoError(t, err)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap(100)
	require.Less(t, heap(1000)-before, int64(256<<10), "bytes of a thousand runs")
}
