package workspace

import (
	"fmt"
	"testing"
)

// BenchmarkWrite is one more file in a directory of so many.
func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := NewMemory()
			files := map[string]string{}
			for i := range n {
				files[fmt.Sprintf("d/%06d", i)] = "x"
			}
			m.current = world(b, m, files)
			f := NewFiles(m)
			for i := 0; b.Loop(); i++ {
				if err := f.WriteText(b.Context(), "/", "d/000000", fmt.Sprint(i)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
