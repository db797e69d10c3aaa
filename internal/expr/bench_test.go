package expr

import (
	"context"
	"testing"

	"github.com/executable-markdown/xmd/internal/value"
)

func cart() *value.Object {
	items := make([]any, 20)
	for i := range items {
		items[i] = value.Of("price", float64(i), "name", "item")
	}
	return value.Of("items", items)
}

const total = "cart.items.map((i) => i.price).reduce((a, b) => a + b, 0)"

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New().Ref("x").Text()
	}
}

func BenchmarkFirstEval(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		rt := New()
		if _, err := rt.Eval(context.Background(), total, env{"cart": rt.Ref(cart())}.lookup); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCachedEval(b *testing.B) {
	for name, source := range map[string]string{"sum": total, "name": "cart"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			rt := New()
			names := env{"cart": rt.Ref(cart())}.lookup
			for b.Loop() {
				if _, err := rt.Eval(context.Background(), source, names); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseExpression(total); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := Check(total); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(total)))
	for b.Loop() {
		if err := scan(total, false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCrossing(b *testing.B) {
	b.Run("in", func(b *testing.B) {
		b.ReportAllocs()
		js, v := newInterpreter(), cart()
		for b.Loop() {
			js.fromJSON(v)
		}
	})
	b.Run("out", func(b *testing.B) {
		b.ReportAllocs()
		rt := New()
		r := rt.Ref(cart())
		if _, err := rt.Eval(context.Background(), "cart", env{"cart": r}.lookup); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := r.JSON(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
