package capability

import (
	"os"
	"testing"

	"github.com/executable-markdown/xmd/internal/value"
)

func standard(b *testing.B) Profile {
	root, err := os.OpenRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { root.Close() })
	p, err := Standard(Machine{Root: func(string, string) (*os.Root, error) { return root, nil }})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func BenchmarkCaptureStandard(b *testing.B) {
	p := standard(b)
	for b.Loop() {
		if _, err := Capture(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	c, err := Capture(b.Context(), standard(b))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := c.Select(ReadClass, WriteClass); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	c, err := Capture(b.Context(), standard(b))
	if err != nil {
		b.Fatal(err)
	}
	g, err := c.Select(ReadClass)
	if err != nil {
		b.Fatal(err)
	}
	e, _ := g.Lookup("File", SelfClosing)
	u := Use{Form: SelfClosing, Props: value.Of("path", "docs/a.md"), DirKnown: true}
	for b.Loop() {
		if v := e.Check(u); v != nil {
			b.Fatal(v)
		}
	}
}

func BenchmarkReadProfile(b *testing.B) {
	for b.Loop() {
		if _, err := ReadProfile([]byte(observer)); err != nil {
			b.Fatal(err)
		}
	}
}
