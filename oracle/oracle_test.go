//go:build wasmtime && cgo

package oracle

import (
	"context"
	"flag"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/differential"
	"github.com/executable-markdown/xmd/sandbox"
)

var (
	cases = flag.Int("cases", 3000, "generated fragments that are compared")
	first = flag.Uint64("first", 0, "the seed of the first of them")
)

// readings are the interpreter of the product and wasmtime.
func readings(t testing.TB) (*differential.Bench, []differential.Evaluator) {
	t.Helper()
	ctx := context.Background()
	b, err := differential.NewBench(ctx)
	require.NoError(t, err)
	interpreter, err := sandbox.New(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, interpreter.Close(ctx)) })
	return b, []differential.Evaluator{interpreter, sandbox.NewWithEngine(New())}
}

func TestA13_WasmtimeAgrees(t *testing.T) {
	n := *cases
	if testing.Short() {
		n = min(n, 300)
	}
	b, _ := readings(t)
	compared := 0
	var mu sync.Mutex
	var workers sync.WaitGroup
	seeds := make(chan uint64)
	for range runtime.GOMAXPROCS(0) {
		_, e := readings(t) // each with the module it compiled last
		workers.Go(func() {
			for seed := range seeds {
				c := differential.Generate(seed)
				v := b.Compare(t.Context(), c.Dialect, c.Source, e...)
				if v.Difference != "" {
					t.Errorf("seed %d: %s\n%s", seed, v.Difference, c.Source)
				}
				if v.Refused == "" {
					mu.Lock()
					compared++
					mu.Unlock()
				}
			}
		})
	}
	for i := range uint64(n) {
		seeds <- *first + i
	}
	close(seeds)
	workers.Wait()
	t.Logf("%d of %d cases compared", compared, n)
	require.Greater(t, compared*5, n*4)
}

func TestA18_WasmtimeAgreesInEveryRow(t *testing.T) {
	b, e := readings(t)
	for _, r := range append(differential.Lowering(), differential.Exhausting()...) {
		t.Run(r.Name, func(t *testing.T) {
			f, err := b.Read(capability.Closed, r.Source)
			require.NoError(t, err)
			o := b.Sandbox(t.Context(), f, e[1])
			require.Equal(t, r.Failure, o.Failure)
			require.Empty(t, differential.Same(b.Sandbox(t.Context(), f, e[0]), o))
			if strings.HasPrefix(r.Failure, differential.Limit) {
				return
			}
			require.Equal(t, r.Output, o.Output)
			require.Equal(t, r.Effects, o.Effects["root"])
		})
	}
}

func BenchmarkWasmtime(b *testing.B) {
	bench, e := readings(b)
	for i := 0; b.Loop(); i++ {
		c := differential.Generate(uint64(i % 1000))
		f, err := bench.Read(c.Dialect, c.Source)
		if err != nil {
			b.Fatal(err)
		}
		bench.Sandbox(b.Context(), f, e[1])
	}
}
