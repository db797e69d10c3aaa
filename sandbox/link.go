package sandbox

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/wasm"
)

// A field is a function a module may import.
type field struct {
	name            string
	params, results int
	call            func(t *task, a []uint64) error // arguments in a, the result in a[0]
}

// i32s are n types of a signature: there is no other type.
func i32s(n int) []api.ValueType {
	types := make([]api.ValueType, n)
	for i := range types {
		types[i] = api.ValueTypeI32
	}
	return types
}

// A hostModule is what the imports of one name reach.
type hostModule struct {
	api.Module
	compiled wazero.CompiledModule
}

// close releases both, which cannot fail: the engine keeps what was compiled until then.
func (h hostModule) close(ctx context.Context) {
	_ = h.Module.Close(ctx)
	_ = h.compiled.Close(ctx)
}

// host instantiates an anonymous host module. It stays anonymous because the named
// modules of a runtime answer every import that nobody else did (F4). Every call of
// one of its functions takes so much fuel.
func (r *Runtime) host(ctx context.Context, name string, fields []field, fuel int) (h hostModule, err error) {
	b := r.wazero.NewHostModuleBuilder(name)
	for _, f := range fields {
		serve := api.GoModuleFunc(func(ctx context.Context, _ api.Module, stack []uint64) {
			ctx.Value(taskKey{}).(*task).serve(f, fuel, stack)
		})
		b.NewFunctionBuilder().WithGoModuleFunction(serve, i32s(f.params), i32s(f.results)).Export(f.name)
	}
	if h.compiled, err = b.Compile(ctx); err != nil {
		return h, err
	}
	if h.Module, err = r.wazero.InstantiateModule(ctx, h.compiled, r.anonymous); err != nil {
		_ = h.compiled.Close(ctx)
	}
	return h, err
}

// anonymous configures a module without a name, without anything that runs by itself
// and without a source of randomness, where wazero would make one for each (F9).
func anonymous() wazero.ModuleConfig {
	return wazero.NewModuleConfig().WithName("").WithStartFunctions().WithRandSource(nothing{})
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

// linked is a module with everything its imports reach.
type linked struct {
	runtime  *Runtime
	module   *wasm.Module
	compiled wazero.CompiledModule // nil on another engine
	limits   capability.Limits
	imports  []served                       // those of the module
	granted  map[string]*capability.Granted // by identity, those the module imports
	hosts    map[string]hostModule          // by identity
}

// link reads a module and builds what it imports, when the grant covers all of it.
// Nothing of the module has run when link returns (F4).
func (r *Runtime) link(ctx context.Context, m *wasm.Module, g *capability.Grant) (*linked, error) {
	if m == nil || g == nil {
		return nil, &LinkError{"there is no module or no grant"}
	}
	read, err := wasm.Read(m.Bytes)
	if err != nil {
		return nil, &LinkError{err.Error()}
	}
	l := &linked{runtime: r, module: read, limits: g.Limits(), granted: map[string]*capability.Granted{}, hosts: map[string]hostModule{}}
	if err := l.covered(g); err != nil {
		return nil, err
	}
	if r.engine != nil {
		return l, nil
	}
	if l.compiled, err = r.wazero.CompileModule(ctx, read.Bytes); err != nil {
		return nil, &LinkError{err.Error()}
	}
	if err := l.build(ctx); err != nil {
		l.close(ctx)
		return nil, err
	}
	return l, nil
}

// covered judges imports and element table against the grant.
func (l *linked) covered(g *capability.Grant) error {
	imported := map[[2]string]bool{}
	for _, i := range l.module.Imports {
		imported[[2]string{i.Module, i.Field}] = true
		if strings.HasPrefix(i.Module, "xmd:") {
			f, known := find(l.runtime.vocabulary[i.Module], i.Field)
			if !known || f.params != i.Params || f.results != i.Results {
				return &LinkError{fmt.Sprintf("%s.%s is no import of a fragment", i.Module, i.Field)}
			}
			l.imports = append(l.imports, served{f, languageFuel})
			continue
		}
		e := g.ByIdentity(i.Module)
		if e == nil {
			return &LinkError{i.Module + " is not granted"}
		}
		f, known := find(operation(e), i.Field)
		if !known || f.params != i.Params || f.results != i.Results {
			return &LinkError{fmt.Sprintf("%s is not granted as %s", i.Module, i.Field)}
		}
		l.granted[i.Module] = e
		l.imports = append(l.imports, served{f, 0})
	}
	used := map[string]bool{}
	for n, el := range l.module.Elements {
		if el.Parent < -1 || el.Parent >= n {
			return &LinkError{"the element table is not in source order"}
		}
		if el.Identity == "" {
			continue
		}
		used[el.Identity] = true
		if e := l.granted[el.Identity]; e == nil || e.Name != el.Name {
			return &LinkError{fmt.Sprintf("<%s> is not what %s grants", el.Name, el.Identity)}
		}
		for _, name := range fieldsOf(el.Form) {
			if !imported[[2]string{el.Identity, name}] {
				return &LinkError{fmt.Sprintf("<%s> has no import %s.%s", el.Name, el.Identity, name)}
			}
		}
	}
	for id := range l.granted {
		if !used[id] {
			return &LinkError{id + " is imported by no element"}
		}
	}
	return nil
}

func find(fields []field, name string) (field, bool) {
	for _, f := range fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

// build compares what the engine says the module imports with the judged imports,
// and makes the host modules of the granted identities.
func (l *linked) build(ctx context.Context) error {
	functions := l.compiled.ImportedFunctions()
	if len(functions) != len(l.module.Imports) || len(l.compiled.ImportedMemories()) > 0 {
		return &LinkError{"the imports are not the ones that were read"}
	}
	for n, i := range l.module.Imports {
		module, name, _ := functions[n].Import()
		if module != i.Module || name != i.Field || len(functions[n].ParamTypes()) != i.Params || len(functions[n].ResultTypes()) != i.Results {
			return &LinkError{"the imports are not the ones that were read"}
		}
	}
	for id, e := range l.granted {
		m, err := l.runtime.host(ctx, id, operation(e), 0)
		if err != nil {
			return &LinkError{err.Error()}
		}
		l.hosts[id] = m
	}
	return nil
}

// resolve answers the imports of the module. It never returns nil, which would ask
// the named modules of the runtime (F4).
func (l *linked) resolve(name string) api.Module {
	if m := l.runtime.shared[name]; m != nil {
		return m
	}
	if h, ok := l.hosts[name]; ok {
		return h.Module
	}
	return l.runtime.refusing
}

// close releases the module and its host modules. What it releases cannot fail.
func (l *linked) close(ctx context.Context) {
	for _, m := range l.hosts {
		m.close(ctx)
	}
	if l.compiled != nil {
		_ = l.compiled.Close(ctx)
	}
}
