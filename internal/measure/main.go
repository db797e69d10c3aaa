// Command measure prints what running generated text costs, each figure beside the
// bound or the peer it is judged by, all from one run on one machine.
//
//	go run ./internal/measure
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/component"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// prose is ordinary text with what fragments are written in.
var prose = strings.Repeat("Some prose about *what* was seen, a `code span`, and 3 < 4 of them.\n\n<Probe name=\"a\" as=\"x\" />\nIt said {x}.\n\n", 600)

const oneRead = "Before I answer:\n\n<Probe name=\"notes/monday.md\" as=\"monday\" />\nMonday: {monday}\n"

// tenElements is a fragment of ten elements as an ordinary document means it too.
const tenElements = `<Let as="list" value={["a", "b", "c"]} />
<Each in={list} let="name"><Probe name={name} as="seen" />- {seen}
</Each>
<If condition={list.length > 2}><Probe name="many" /><Else><Probe name="few" /></Else></If>
<Let as="n" value={list.length * 2} />
<Loop max={2}><Probe name="again" /></Loop>
<Probe name="last" as="last" />{n} {last}
`

func run(ctx context.Context) error {
	grant, err := probing(ctx, func() {})
	if err != nil {
		return err
	}
	rt, err := sandbox.New(ctx)
	if err != nil {
		return err
	}
	defer rt.Close(ctx)

	scan := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			document.ReadFragment("x", prose, document.FragmentLimits{Source: len(prose), Elements: 1 << 20, Depth: 64})
		}
	})
	preflight := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			admission.Preflight("x", prose, grant)
		}
	})
	rate := func(r testing.BenchmarkResult) float64 {
		return float64(len(prose)) / (float64(r.NsPerOp()) / 1e9) / 1e6
	}
	fmt.Printf("bare scan of a fragment                %8.1f MB/s\n", rate(scan))
	fmt.Printf("preflight                              %8.1f MB/s   %.2f of the scan\n", rate(preflight), rate(preflight)/rate(scan))

	decision := admission.Preflight("x", tenElements, grant)
	if decision.Refusal != nil {
		return decision.Refusal
	}
	compile := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			_, _ = wasm.Compile(decision.Program)
		}
	})
	fmt.Printf("compile, 10 elements                   %8.1f us\n", us(compile))

	cold := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if err := evaluate(ctx, rt, oneRead, grant); err != nil {
				b.Fatal(err)
			}
		}
	})
	fmt.Printf("one read, source to closed instance    %8.1f us     target 200\n", us(cold))

	whole := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if err := evaluate(ctx, rt, tenElements, grant); err != nil {
				b.Fatal(err)
			}
		}
	})
	ordinary := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if err := asDocument(ctx, tenElements); err != nil {
				b.Fatal(err)
			}
		}
	})
	fmt.Printf("10 elements, source to closed instance %8.1f us\n", us(whole))
	fmt.Printf("the same as an ordinary document       %8.1f us     %.2fx, target 3\n", us(ordinary), us(whole)/us(ordinary))

	each, err := waiting(ctx, rt, 1000)
	if err != nil {
		return err
	}
	fmt.Printf("an instance waiting in an import       %8.1f KiB    target 64, of 1000 at once\n", each)
	return nil
}

func us(r testing.BenchmarkResult) float64 { return float64(r.NsPerOp()) / 1e3 }

// probing grants one entry that reads nothing and calls before when it is used.
func probing(ctx context.Context, before func()) (*capability.Grant, error) {
	captured, err := capability.Capture(ctx, capability.Profile{
		Name:    "measure",
		Dialect: capability.Closed,
		Limits:  capability.Limits{Elements: 1 << 20, Source: 1 << 20},
		Read: []capability.Entry{{
			Name:     "Probe",
			Identity: capability.Identity{Origin: "test.measure", Key: "Probe", Revision: 1},
			Forms:    capability.SelfClosing,
			Props:    `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`,
			Returns:  `{"type":"string"}`,
			Effect:   capability.Read,
			Op: capability.Op{Do: func(_ context.Context, c capability.Call) (any, error) {
				before()
				name, _ := c.Props.String("name")
				return "read " + name, nil
			}},
		}},
	})
	if err != nil {
		return nil, err
	}
	return captured.Select(capability.ReadClass)
}

func evaluate(ctx context.Context, rt *sandbox.Runtime, source string, g *capability.Grant) error {
	d := admission.Preflight("x", source, g)
	if d.Refusal != nil {
		return d.Refusal
	}
	m, err := wasm.Compile(d.Program)
	if err != nil {
		return err
	}
	_, err = rt.Run(ctx, m, g, sandbox.Hooks{})
	return err
}

// asDocument runs the source as an ordinary document.
func asDocument(ctx context.Context, source string) error {
	d, err := document.Parse("x.md", []byte(source))
	if err != nil {
		return err
	}
	root, err := engine.Load(d, nil)
	if err != nil {
		return err
	}
	j, err := journal.Open(ctx, journal.Discard(), journal.Options{})
	if err != nil {
		return err
	}
	result, err := engine.Run(ctx, root, engine.Options{Library: ordinaryLibrary, Journal: j})
	if err == nil {
		err = result.Err
	}
	return err
}

var ordinaryLibrary = engine.NewLibrary(nil, append(component.Defaults(), engine.Component{
	Name: "Probe", Origin: "test", Forms: engine.SelfClosing,
	Props: `{"name":{"type":"string"}}`, Required: []string{"name"},
	Run: func(_ context.Context, c *engine.Call) (any, error) { return "read " + c.Text("name"), nil },
}))

// waiting returns the memory, in KiB each, of n programs that wait in an operation,
// beyond one that has run.
func waiting(ctx context.Context, rt *sandbox.Runtime, n int) (float64, error) {
	var arrived sync.WaitGroup
	leave := make(chan struct{})
	arrived.Add(n)
	g, err := probing(ctx, func() {
		arrived.Done()
		<-leave
	})
	if err != nil {
		return 0, err
	}
	before := used()
	var ended sync.WaitGroup
	failed := make(chan error, n)
	for range n {
		ended.Go(func() { failed <- evaluate(ctx, rt, oneRead, g) })
	}
	arrived.Wait()
	each := float64(used()-before) / 1024 / float64(n)
	close(leave)
	ended.Wait()
	for range n {
		if err := <-failed; err != nil {
			return 0, err
		}
	}
	return each, nil
}

// used is the memory in use, stacks included, in bytes.
func used() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
