package admission

import (
	"strings"
	"testing"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/document"
)

// ordinary is what an Agent writes: mostly prose, some elements.
func ordinary() string {
	const page = "## Findings\n\nThe change log names **three** releases; `v1.2` is the last of them, and\nnothing in {braces like these} is read.\n\n" +
		"<File path=\"docs/changelog.md\" />\n\n- first, a list\n- of plain `items`\n\n```json\n{\"quoted\": [1, 2, 3]}\n```\n\n<Pick n={3} s=\"three\" list={[1, 2, 3]} />\n\n"
	return strings.Repeat(page, 200)
}

func BenchmarkPreflight(b *testing.B) {
	source, g := ordinary(), grantOf(b, raised(b, capability.Closed))
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		if d := Preflight("bench", source, g); d.Refusal != nil {
			b.Fatal(d.Refusal)
		}
	}
}

// BenchmarkScan is the part of preflight that reads markup.
func BenchmarkScan(b *testing.B) {
	source := ordinary()
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		if _, p := document.ReadFragment("bench", source, document.FragmentLimits{Source: 1 << 30, Elements: 1 << 30, Depth: 64}); p != nil {
			b.Fatal(p)
		}
	}
}

// BenchmarkPreflightOneRead is the smallest useful fragment.
func BenchmarkPreflightOneRead(b *testing.B) {
	const source = `<File path="docs/changelog.md" />`
	g := closed(b)
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		Preflight("bench", source, g)
	}
}
