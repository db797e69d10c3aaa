package document

import (
	"strings"
	"testing"
)

func BenchmarkReadFragment(b *testing.B) {
	page := strings.ReplaceAll(document, "```bash exec as=\"r\"", "```bash")
	for _, shape := range []struct{ name, src string }{
		{"text", repeat(ordinary, 1<<20)},
		{"document", repeat(page, 1<<20)},
		{"elements", repeat("<File path=\"docs/a.md\" />\n", 1<<20)},
		{"one element", "<File path=\"docs/a.md\" />\n"},
	} {
		b.Run(shape.name, func(b *testing.B) {
			b.SetBytes(int64(len(shape.src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, problem := ReadFragment("g", shape.src, wide); problem != nil {
					b.Fatal(problem)
				}
			}
		})
	}
}
