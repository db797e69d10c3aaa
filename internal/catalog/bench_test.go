package catalog_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/catalog"
)

func BenchmarkBuild(b *testing.B) {
	text := make(map[string]string)
	for i := range 200 {
		text["components/C"+strings.Repeat("x", i)+".md"] = "---\nprops: {a: {type: string}}\n---\ntext"
	}
	in := inputs(text)
	for b.Loop() {
		c, err := catalog.Build(in)
		require.NoError(b, err)
		require.NotEmpty(b, c.Text())
	}
}

func BenchmarkValidate(b *testing.B) {
	text := []byte(strings.Repeat("<If condition={true}><File path=\"a\" as=\"b\" />text</If>\n", 5000))
	in := inputs(nil)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		require.True(b, catalog.Validate(in, catalog.Source{Name: "doc.md", Text: text}).Valid())
	}
}
