package ecma

import (
	"strings"
	"testing"

	"github.com/executable-markdown/xmd/internal/value"
)

func BenchmarkBinary(b *testing.B) {
	long := String(strings.Repeat("wörter ", 1000))
	for _, c := range []struct {
		name string
		op   BinaryOp
		x, y Value
	}{
		{"numbers", Add, 1.5, 2.5},
		{"strings", Add, String("hello, "), String("world")},
		{"mixed", Add, String("n = "), 12.0},
		{"array", Add, array(1.0, 2.0, 3.0), String("")},
		{"less", Less, long + "a", long + "b"},
		{"equal", Equal, long + "a", long + "b"},
		{"remainder", Remainder, 1e17, 7.0},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Binary(c.op, c.x, c.y, wide); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMember(b *testing.B) {
	list := array(1.0, 2.0, 3.0)
	o := object("a", 1.0, "b", 2.0)
	for name, c := range map[string][2]Value{
		"array": {list, 2.0}, "object": {o, String("b")}, "unit": {String(strings.Repeat("a", 1<<10)), 1000.0}, "length": {String(strings.Repeat("é", 1<<10)), String("length")},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Index(c[0], c[1]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// report is a JSON value of some 100 KB.
func report() any {
	list := make([]any, 1000)
	for i := range list {
		list[i] = value.Of("path", "docs/some/directory/file.md", "size", float64(i), "tags", []any{"a", "b", nil}, "text", strings.Repeat("word ", 8))
	}
	return list
}

func BenchmarkJSON(b *testing.B) {
	wide := Limits{Value: 4 << 20, Depth: 64}
	in := report()
	v, err := FromJSON(in, wide)
	if err != nil {
		b.Fatal(err)
	}
	text, err := value.JSON(in)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"parse", func() error { _, err := ParseJSON(text, wide); return err }},
		{"from", func() error { _, err := FromJSON(in, wide); return err }},
		{"to", func() error { _, _ = ToJSON(v); return nil }},
		{"text", func() error { _, err := JSONText(v, wide); return err }},
		{"items", func() error { _, err := Items(v, wide); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
