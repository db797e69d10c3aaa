package engine

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
)

// BenchmarkRun runs documents of 1,000 and 10,000 elements of one kind, from
// source to output; the time of an element must not grow with their number.
func BenchmarkRun(b *testing.B) {
	for _, kind := range []struct{ name, line string }{
		{"text", "A line of prose with a {reference}.\n"},
		{"if", "A <If condition={true}>line</If>.\n"},
		{"let", "<Let as=\"x\" value={1} />{x}\n"},
		{"eval", "<Let as=\"x\" value={1 + 2} />{x}\n"},
		{"component", "<Wrap>line</Wrap>\n"},
		{"native", "<Touch name=\"x\" />\n"},
	} {
		for _, n := range []int{1000, 10000} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				source := []byte(strings.Repeat(kind.line, n))
				b.ReportAllocs()
				for b.Loop() {
					runSource(b, source)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/element")
			})
		}
	}
}

func runSource(b *testing.B, source []byte) {
	doc, err := document.Parse("main.md", source)
	if err != nil {
		b.Fatal(err)
	}
	root, err := Load(doc, nil)
	if err != nil {
		b.Fatal(err)
	}
	j, err := journal.Open(b.Context(), journal.NewMemory(), journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	res, err := Run(b.Context(), root, Options{
		Host:    host.Host{Sources: helpers, Dir: "/home/doc"},
		Library: NewLibrary(nil, testLibrary), Journal: j, Include: []string{"."},
		Stdout: io.Discard, Stderr: io.Discard,
	})
	if err != nil || res.Err != nil {
		b.Fatal(err, res.Err)
	}
}
