package wasm

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Time an element must not depend on how many there are.
func BenchmarkCompile(b *testing.B) {
	for _, shape := range []string{"flat", "bound", "branches", "nested content", "nested ifs", "spawns"} {
		for _, n := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("%s/%d", shape, n), func(b *testing.B) {
				p := shapes[shape](n)
				b.ReportAllocs()
				for b.Loop() {
					_, err := Compile(p)
					require.NoError(b, err)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/element")
			})
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("flat/%d", n), func(b *testing.B) {
			m, err := Compile(shapes["flat"](n))
			require.NoError(b, err)
			b.ReportAllocs()
			b.SetBytes(int64(len(m.Bytes)))
			for b.Loop() {
				_, err := Read(m.Bytes)
				require.NoError(b, err)
			}
		})
	}
}

// The engine's share: what dividing a fragment into functions is for.
func BenchmarkEngines(b *testing.B) {
	for _, n := range []int{100, 1000} {
		m, err := Compile(shapes["bound"](n))
		require.NoError(b, err)
		for _, engine := range []string{"interpreter", "compiler"} {
			b.Run(fmt.Sprintf("%s/bound/%d", engine, n), func(b *testing.B) {
				rt := engines(b)[engine]
				for b.Loop() {
					compiled, err := rt.CompileModule(b.Context(), m.Bytes)
					require.NoError(b, err)
					require.NoError(b, compiled.Close(b.Context()))
				}
			})
		}
	}
}
