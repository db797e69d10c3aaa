package selector

import (
	"strings"
	"testing"
)

func BenchmarkFirst(b *testing.B) {
	for _, bench := range []struct{ name, text, query string }{
		{"reply", page, "code[lang=json]"},
		{"large", strings.Repeat(page, 100), "code[lang=none]"},
		{"has", strings.Repeat(page, 100), "list:has(> listItem:not(:has(text)))"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := First(bench.text, bench.query); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
