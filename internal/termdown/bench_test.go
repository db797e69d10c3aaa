package termdown

import (
	"os"
	"strings"
	"testing"
)

func BenchmarkRender(b *testing.B) {
	page, err := os.ReadFile("testdata/page.md")
	if err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name     string
		markdown string
	}{
		{"line", "A *short* line of prose.\n"},
		{"page", string(page)},
		{"table", "|a|b|c|\n|-|:-:|-:|\n" + strings.Repeat("|one|*two*|`3\\|3`|\n", 1000)},
		{"large", strings.Repeat(string(page)+"\n", 100)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.markdown)))
			b.ReportAllocs()
			for b.Loop() {
				Render(bench.markdown, Options{Width: 80, Color: true})
			}
		})
	}
}
