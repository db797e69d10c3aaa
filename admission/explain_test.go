package admission

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExplain(t *testing.T) {
	g := closed(t)
	for source, want := range map[string]Place{
		"a\n<Exec cmd=\"id\" />\nb":                {Component, 2, 2, 1, `<Exec cmd="id" />`},
		"é😀 {x}":                                   {Interpolation, 7, 1, 5, "{x}"},
		"<Pick n={1}\n  any={y} />":                {Expression, 14, 2, 3, "any={y} />"},
		"<Wrap>" + strings.Repeat("é", 100) + "{x": {Construct, 0, 1, 1, "<Wrap>" + strings.Repeat("é", 37)},
		"a\n\xff\xfe":                              {Encoding, 2, 2, 1, "\xff\xfe"},
	} {
		place := Explain(source, g)
		require.NotNil(t, place, source)
		require.Equal(t, want, *place, source)
	}
	require.Nil(t, Explain("<Probe />", g))
}
