//go:build unix

package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var benchText = strings.Repeat("0123456789abcdef", 256) // 4 KiB

func BenchmarkReadText(b *testing.B) {
	for name, path := range map[string]string{"flat": "a.txt", "deep": "d/d/d/a.txt", "link": "link"} {
		b.Run(name, func(b *testing.B) {
			ws := tree(b, map[string]string{"a.txt": benchText, "d/d/d/a.txt": benchText, "link": "-> a.txt"})
			f := NewFiles()
			b.SetBytes(int64(len(benchText)))
			b.ReportAllocs()
			for b.Loop() {
				_, err := f.ReadText(b.Context(), ws, path)
				require.NoError(b, err)
			}
		})
	}
	b.Run("unconfined", func(b *testing.B) { // what reading costs without any rule
		ws := tree(b, map[string]string{"a.txt": benchText})
		b.SetBytes(int64(len(benchText)))
		b.ReportAllocs()
		for b.Loop() {
			_, err := os.ReadFile(filepath.Join(ws, "a.txt"))
			require.NoError(b, err)
		}
	})
}

func BenchmarkWriteText(b *testing.B) {
	for _, size := range []int{4 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			ws, text := b.TempDir(), strings.Repeat("x", size)
			f := NewFiles()
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, f.WriteText(b.Context(), ws, "out/a.txt", text))
			}
		})
	}
}

func BenchmarkGlob1000Files(b *testing.B) {
	files := map[string]string{}
	for i := range 1000 {
		files[fmt.Sprintf("d%d/e%d/f%03d.%s", i%10, i%50/10, i, []string{"go", "md"}[i%2])] = ""
	}
	ws := tree(b, files)
	f := NewFiles()
	for name, include := range map[string][]string{"all": {"**"}, "suffix": {"**/*.go"}, "braces": {"**/*.{go,md,txt}"}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := f.Glob(b.Context(), ws, include, []string{"**/testdata/**"})
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkRun(b *testing.B) {
	command := Command{Args: []string{"true"}, Env: EnvList(Environ())}
	for b.Loop() {
		_, err := NewProcess().Run(b.Context(), command)
		require.NoError(b, err)
	}
}
