package sandbox_test

import (
	"testing"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

func oneRead(d *draft) []wasm.Node {
	return nodes(text("a "), d.peek("", lit("k")), text(" b"))
}

// BenchmarkRunOneRead takes a fragment of one read from its program to the closed
// instance.
func BenchmarkRunOneRead(b *testing.B) {
	r, g, p := interpreter(b), newWorld().grant(b, capability.Limits{}), program(oneRead)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Run(b.Context(), compile(b, p), g, sandbox.Hooks{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRunAll is the same with four children.
func BenchmarkRunAll(b *testing.B) {
	r, g := interpreter(b), newWorld().grant(b, capability.Limits{})
	m := compile(b, program(func(d *draft) []wasm.Node {
		child := func() []wasm.Node { return oneRead(d) }
		return nodes(d.all(child, child, child, child))
	}))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Run(b.Context(), m, g, sandbox.Hooks{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkImport is the cost of a round of a loop with two imports.
func BenchmarkImport(b *testing.B) {
	r, g := interpreter(b), newWorld().grant(b, capability.Limits{Steps: 1 << 30, Values: 1 << 30})
	m := compile(b, program(func(d *draft) []wasm.Node {
		return nodes(d.loop(json("10000"), func() []wasm.Node { return nodes(d.let("x", json("0"))) }))
	}))
	for b.Loop() {
		if _, err := r.Run(b.Context(), m, g, sandbox.Hooks{}); err != nil {
			b.Fatal(err)
		}
	}
}
