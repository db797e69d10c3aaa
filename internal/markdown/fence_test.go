package markdown

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The fence is longer than any run of backticks in its text.
func FuzzFence(f *testing.F) {
	for _, seed := range []string{"", "`", "a```b", "````\n```", strings.Repeat("`", 40)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fenced := Fence(text, "md")
		fence, rest, ok := strings.Cut(fenced, "md\n")
		require.True(t, ok)
		require.Equal(t, strings.Repeat("`", len(fence)), fence)
		require.GreaterOrEqual(t, len(fence), 3)
		require.Equal(t, text+"\n"+fence, rest)
		require.NotContains(t, text, fence)
	})
}
