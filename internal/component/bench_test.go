package component

import (
	"testing"

	"github.com/executable-markdown/xmd/internal/engine"
)

// BenchmarkDefaults is what a program pays at its start for offering the
// components.
func BenchmarkDefaults(b *testing.B) {
	for b.Loop() {
		engine.NewLibrary(nil, Defaults())
	}
}
