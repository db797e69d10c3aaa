package elicit

import (
	"strings"
	"testing"
)

func BenchmarkVisible(b *testing.B) {
	for name, text := range map[string]string{
		"plain":  strings.Repeat("An ordinary line of a question.\n", 1000),
		"hidden": strings.Repeat("An \u202eordinary\u200b line.\x1b[2J\n", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Visible(text)
			}
		})
	}
}
