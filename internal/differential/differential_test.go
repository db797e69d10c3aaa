package differential

import (
	"context"
	"flag"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/sandbox"
)

// The long run: go test ./internal/differential -run TestA13 -timeout 2h -args -cases=100000
var (
	cases = flag.Int("cases", 2000, "generated fragments that TestA13 compares")
	first = flag.Uint64("first", 0, "the seed of the first of them")
)

// engines are the interpreter, which is the product, and the compiler.
func engines(t testing.TB) []Evaluator {
	t.Helper()
	ctx := context.Background()
	interpreter, err := sandbox.New(ctx)
	require.NoError(t, err)
	compiler, err := sandbox.NewWithCompiler(ctx)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, interpreter.Close(ctx))
		require.NoError(t, compiler.Close(ctx))
	})
	return []Evaluator{interpreter, compiler}
}

func bench(t testing.TB) *Bench {
	t.Helper()
	b, err := NewBench(context.Background())
	require.NoError(t, err)
	return b
}

// A tally counts what became of the cases.
type tally struct {
	refused, failures, excused map[string]int
	limited, agreed, excusable int
}

func (c *tally) count(v Verdict) {
	switch {
	case v.Refused != "":
		c.refused[v.Refused]++
	case v.Excused != "":
		c.excused[v.Excused]++
	case v.Limited:
		c.limited++
	default:
		c.agreed++
		c.failures[v.Outcome.Failure]++
	}
}

func sum(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

func TestA13_TheReadingsAgree(t *testing.T) {
	n := *cases
	if testing.Short() {
		n = min(n, 300)
	}
	b, e := bench(t), engines(t)
	total := &tally{refused: map[string]int{}, failures: map[string]int{}, excused: map[string]int{}}
	var mu sync.Mutex
	var workers sync.WaitGroup
	var wrong atomic.Int32
	seeds := make(chan uint64)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := range seeds {
				c := Generate(seed)
				v := b.Compare(t.Context(), c.Dialect, c.Source, e...)
				if v.Difference != "" {
					if n := wrong.Add(1); n <= 3 {
						c.Source = b.smallest(t, c, e)
					}
					t.Errorf("seed %d: %s\n%s", seed, v.Difference, c.Source)
				}
				f, err := b.Read(c.Dialect, c.Source)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				total.count(v)
				if f.Program != nil && Incomparable(c.Source, f.Program) != "" {
					total.excusable++
				}
				mu.Unlock()
			}
		})
	}
	for i := range uint64(n) {
		seeds <- *first + i
	}
	close(seeds)
	workers.Wait()
	t.Logf("%d cases: refused %v, excused %v, excusable %d, limited %d, agreed %d, of those by failure %v",
		n, total.refused, total.excused, total.excusable, total.limited, total.agreed, total.failures)
	require.Less(t, sum(total.refused)*5, n, "four of five are admitted")
	require.Less(t, total.excusable*50, n, "hardly any could be excused")
	require.Greater(t, total.failures[None]*5, total.agreed*2, "two of five run to their end")
}

// smallest is what is left of a case that still shows a difference.
func (b *Bench) smallest(t *testing.T, c Case, e []Evaluator) string {
	return shrink(c.Source, func(source string) bool {
		return b.Compare(t.Context(), c.Dialect, source, e...).Difference != ""
	})
}

func TestGenerateIsAFunctionOfItsSeed(t *testing.T) {
	for seed := range uint64(200) {
		require.Equal(t, Generate(seed), Generate(seed))
	}
}

// Everything of the language occurs in what is generated and admitted.
func TestGenerateCoversTheLanguage(t *testing.T) {
	b := bench(t)
	missing := map[string]bool{}
	for _, e := range b.Grant(capability.Closed).Entries() {
		for _, f := range [...]capability.Form{capability.SelfClosing, capability.Paired} {
			if e.Forms&f != 0 {
				missing[e.Identity.String()+" "+f.String()] = true
			}
		}
	}
	for _, name := range strings.Fields("Let Each If Else Switch Case Loop Break Answers Answer All Spawn") {
		missing[name] = true
	}
	for _, field := range strings.Fields(`text.emit text.show text.render text.push text.pop text.trim
		value.literal value.get value.index value.unary value.binary value.truthy value.nullish value.array value.append
		value.object value.set value.items value.length value.at value.count scope.open scope.close scope.bind scope.read
		answer.open answer.add answer.begin answer.close task.spawn task.join task.loop task.done`) {
		missing["xmd:"+field] = true
	}
	flat := false
	for seed := range uint64(1000) {
		c := Generate(seed)
		f, err := b.Read(c.Dialect, c.Source)
		require.NoError(t, err)
		if f.Refused != "" {
			continue
		}
		flat = flat || c.Dialect == capability.Flat
		for _, e := range f.Module.Elements {
			delete(missing, e.Name)
			delete(missing, e.Identity+" "+[...]string{"self-closing", "paired"}[e.Form])
		}
		for _, i := range f.Module.Imports {
			delete(missing, i.Module+"."+i.Field)
		}
	}
	require.Empty(t, missing)
	require.True(t, flat)
}

// What a comparison is for: each way two outcomes can part is seen.
func TestDifferencesAreSeen(t *testing.T) {
	whole := func() Outcome {
		return Outcome{
			Output: "text", Observations: []string{"Probe 1"}, Steps: 9, Values: 9,
			Effects: map[string][]string{"root": {"a", "b"}, "root.0": {"c"}},
		}
	}
	require.Empty(t, Same(whole(), whole()))
	require.Empty(t, Means(whole(), whole()))
	for name, change := range map[string]func(o *Outcome){
		"output":       func(o *Outcome) { o.Output = "Text" },
		"failure":      func(o *Outcome) { o.Failure = Failed },
		"observations": func(o *Outcome) { o.Observations = nil },
		"order":        func(o *Outcome) { o.Effects["root"] = []string{"b", "a"} },
		"one less":     func(o *Outcome) { o.Effects["root"] = []string{"a"} },
		"one more":     func(o *Outcome) { o.Effects["root.0"] = []string{"c", "d"} },
		"no child":     func(o *Outcome) { delete(o.Effects, "root.0") },
	} {
		other := whole()
		change(&other)
		require.NotEmpty(t, Same(whole(), other), name)
		require.NotEmpty(t, Means(whole(), other), name)
	}
	other := whole()
	other.Steps++
	require.NotEmpty(t, Same(whole(), other))
	require.Empty(t, Means(whole(), other))
}

// Where one of several children fails, a document may have come less far, and failed
// as another child would have.
func TestWhatIsOpenInConcurrentFailures(t *testing.T) {
	fragment := Outcome{
		Failure: Operation, Failures: map[string]bool{Operation: true, Failed: true},
		Effects: map[string][]string{"root": {"a"}, "root.0": {"b", "c"}, "root.1": {"d"}},
	}
	require.Empty(t, Means(fragment, Outcome{Failure: Failed, Effects: map[string][]string{"root": {"a"}, "root.0": {"b"}}}))
	require.NotEmpty(t, Means(fragment, Outcome{Failure: None, Effects: map[string][]string{"root": {"a"}}}))
	require.NotEmpty(t, Means(fragment, Outcome{Failure: Failed, Effects: map[string][]string{"root.0": {"c"}}}))
	require.NotEmpty(t, Means(fragment, Outcome{Failure: Failed, Effects: map[string][]string{"root.2": {"b"}}}))
}

// The differences that are known are still there, and each is excused by its reason.
func TestIncomparable(t *testing.T) {
	b, e := bench(t), engines(t)
	for source, reason := range map[string]string{
		`<Let as="n" value={4294967296} /><Loop max={n}><Break /></Loop>`:                                                              "rounds",
		`<If condition={false}><Let as="props" value="x" /></If>{props}`:                                                               "props",
		`<Let as="a" value={[]} /><Let as="b" value={a} /><All><Spawn><If condition={a === b}>same</If></Spawn><Spawn>x</Spawn></All>`: "identity",
		`<Let as="x" value={1 / (-2 * 0)} />{x}`:                                                                                       "zero",
		`<Let as="x" value={"abc".toString === [][0]} />{x}`:                                                                           "prototype",
		"<Let as=\"s\" value=\"😀\" /><Let as=\"a\" value={s[0]} /><Json value={[a]} />":                                                "surrogate",
		`<Let as="x" value={"abc"["-"]} />{x}`:                                                                                         "panics",
		`<Let as="x" value={"0x+1" * 1} />{x}`:                                                                                         "numerals",
		`<Let as="x" value={{} / 2} />{x}`:                                                                                             "slash",
	} {
		v := b.Compare(t.Context(), capability.Closed, source, e...)
		require.Empty(t, v.Difference, source)
		require.Contains(t, v.Excused, reason, source)
	}
}

func FuzzDifferential(f *testing.F) {
	b, e := bench(f), engines(f)
	for seed := range uint64(60) {
		f.Add(Generate(seed).Source)
	}
	for _, row := range Lowering() {
		f.Add(row.Source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if v := b.Compare(t.Context(), capability.Closed, source, e...); v.Difference != "" {
			t.Fatalf("%s\n%q", v.Difference, source)
		}
	})
}

func BenchmarkCompare(b *testing.B) {
	readings, e := bench(b), engines(b)
	for i := 0; b.Loop(); i++ {
		c := Generate(uint64(i % 1000))
		readings.Compare(b.Context(), c.Dialect, c.Source, e...)
	}
}

func BenchmarkGenerate(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		Generate(uint64(i % 1000))
	}
}
