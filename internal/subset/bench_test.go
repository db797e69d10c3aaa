package subset

import (
	"strings"
	"testing"
)

func BenchmarkExpression(b *testing.B) {
	for name, text := range map[string]string{
		"name":        "item",
		"computed":    "item.prices[0] * (1 + rate / 100) >= limit && !item.hidden ? `${item.name}: ${rate} %` : null",
		"constant":    `{path: "docs/a.md", headers: {accept: "application/json"}, tags: ["a", "b"], size: -1.5}`,
		"elements":    "[" + strings.Repeat("12.5, ", 10000) + "]",
		"text":        `"` + strings.Repeat("plain text ", 10000) + `"`,
		"parentheses": strings.Repeat("(", 64) + "a" + strings.Repeat(")", 64),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Expression(text, false, 64); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReferences(b *testing.B) {
	for name, text := range map[string]string{
		"plain":      strings.Repeat("some words without a brace\n", 400),
		"references": strings.Repeat("{a} and {b.c}, not \\{d} or { e }\n", 400),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				References(text)
			}
		})
	}
}
