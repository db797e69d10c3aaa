package suite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkRun is one evaluated case, as a suite of thousands has them.
func BenchmarkRun(b *testing.B) {
	text := []byte(archive("fragment.md", `<File path="a.md" as="t" /><Each in={[1, 2, 3]} let="n">{n} {t}</Each>`,
		"results", `{"File.read": ["b"]}`, "want", "admitted\nxmd.core/File.read@1", "want/output", "1 b2 b3 b\n",
		"want/effects", `xmd.core/File.read@1 {"path":"a.md"}`))
	cases := make([]*Case, b.N)
	b.ReportAllocs()
	for i := range cases {
		cases[i] = Read("case", text)
	}
	r, err := Run(b.Context(), cases, nil)
	require.NoError(b, err)
	require.Zero(b, r.Failed())
}
