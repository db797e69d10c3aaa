package sandbox

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/wasm"
)

// TestA6_WhatIsNotLinkedAnswersNothing takes an operation away after a module was
// judged, and lets a module of that name stand in the runtime: the instance is not
// made, and what stands there is not called.
func TestA6_WhatIsNotLinkedAnswersNothing(t *testing.T) {
	const id = "test/Look@1"
	ctx := t.Context()
	r, err := New(ctx)
	require.NoError(t, err)
	defer r.Close(ctx)
	called := 0
	named := r.wazero.NewHostModuleBuilder(id)
	named.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(context.Context, api.Module, []uint64) { called++ }), i32s(2), i32s(1)).Export("invoke")
	compiled, err := named.Compile(ctx)
	require.NoError(t, err)
	_, err = r.wazero.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(id))
	require.NoError(t, err)

	captured, err := capability.Capture(ctx, capability.Profile{Name: "look", Dialect: capability.Flat, Read: []capability.Entry{{
		Name: "Look", Identity: capability.Identity{Origin: "test", Key: "Look", Revision: 1}, Forms: capability.SelfClosing,
		Props: `{"type":"object","additionalProperties":false}`, Returns: `{"type":"string"}`, Effect: capability.Read, Describe: "Looks.",
		Op: capability.Op{Do: func(context.Context, capability.Call) (any, error) { return "seen", nil }},
	}}})
	require.NoError(t, err)
	g, err := captured.Select(capability.ReadClass)
	require.NoError(t, err)
	m, err := wasm.Compile(&wasm.Program{
		Digest:   "sha256:" + strings.Repeat("0", 64),
		Elements: []wasm.Element{{Name: "Look", Identity: id, Form: wasm.SelfClosing, Parent: -1}},
		Body:     []wasm.Node{&wasm.Invoke{}},
	})
	require.NoError(t, err)
	l, err := r.link(ctx, m, g)
	require.NoError(t, err)
	defer l.close(ctx)
	given := budget{steps: 1000, values: 1000, output: 1000, time: l.limits.Time}

	got, err := l.task(Hooks{}, given).execute(ctx, "run")
	require.NoError(t, err)
	require.Equal(t, "seen", got.Output)

	delete(l.hosts, id)
	_, err = l.task(Hooks{}, given).execute(ctx, "run")
	var link *LinkError
	require.ErrorAs(t, err, &link)
	require.Zero(t, called)
}
