package expr

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/executable-markdown/xmd/internal/value"
)

// FuzzEval evaluates arbitrary text as an expression and as a block. Whatever it
// says, it ends in time, in a value that can be read in every way or in an *Error,
// and it leaves the runtime usable.
func FuzzEval(f *testing.F) {
	for _, seed := range []string{
		"1 + x", "x.push(2)", "`a${x}b`", "((a = (b) => b) => a(1))()", "/[a-z]+/.test('x')", "x => { for (;;) {} }",
		"({__proto__: x}).__proto__", "1) , (2", "new (class A extends Array { #p = 1 })()", "'a'.repeat(9).replace(/a/g, 'b')",
		"return x", "const {a, ...b} = {a: 1}; output(a)", "for (const i of x) output(i)", "a\n++/'/,((", "}/re/", "x?.[0]?.y ?? 1n",
		"\\u0061 + \u2028 1", "async x => await x", "[...x, , 1]", "(() => { let s = 'x'; for (;;) s += s })()",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		rt := New()
		rt.limit, rt.memory = 100*time.Millisecond, 1<<28
		names := func(name string) (*Ref, bool) {
			return rt.Ref([]any{1.0, value.Of("k", "v")}), name == "x"
		}
		started := time.Now()
		r, err := rt.Eval(context.Background(), source, names)
		check(t, source, err)
		if err == nil {
			touch(r)
		}
		result, err := rt.RunBlock(context.Background(), source, names)
		check(t, source, err)
		for _, x := range result.Exports {
			touch(x.Value)
		}
		if took := time.Since(started); took > MaxTime {
			t.Fatalf("%q took %v", source, took)
		}
		rt.limit = MaxTime
		if r, err := rt.Eval(context.Background(), "1 + 1", nil); err != nil || r.Text() != "2" {
			t.Fatalf("after %q the runtime is unusable: %v", source, err)
		}
	})
}

func check(t *testing.T, source string, err error) {
	t.Helper()
	var failed *Error
	if err != nil && !errors.As(err, &failed) {
		t.Fatalf("%q: %T %v", source, err, err)
	}
}

// touch reads a value in every way.
func touch(r *Ref) {
	_, _ = r.JSON()
	_, _ = r.Strict()
	_ = r.Snapshot()
	_ = r.Text() + r.Kind() + r.Property([]string{"k", "0"})
	_, _ = r.Member([]string{"k", "length"})
	_ = r.Truthy() && r.StrictEqual(r)
}
