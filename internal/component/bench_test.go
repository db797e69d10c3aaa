package component

import (
	"strings"
	"testing"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/value"
)

// BenchmarkDefaults is what a program pays at its start for offering the
// components.
func BenchmarkDefaults(b *testing.B) {
	for b.Loop() {
		engine.NewLibrary(nil, Defaults())
	}
}

func BenchmarkFingerprint(b *testing.B) {
	properties := value.NewObject(100)
	for _, name := range strings.Fields(strings.Repeat("b a c d ", 25)) {
		properties.Set(name+string(rune('a'+properties.Len()%26)), value.Of("type", "string", "title", "A field"))
	}
	q := engine.Question{Message: strings.Repeat("A long question. ", 100), Schema: value.Of("type", "object", "properties", properties)}
	for b.Loop() {
		fingerprint(q)
	}
}
