package subset

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const mebibyte = 1 << 20

func fill(s string) string { return strings.Repeat(s, mebibyte/len(s)) }

// Shapes that make a careless parser recurse without end or read again and again.
func TestA15_HostileExpressionsEndEarly(t *testing.T) {
	for text, want := range map[string]error{
		"(": ErrLimit, "[": ErrLimit, "!": ErrLimit, "- ": ErrLimit, "`${": ErrLimit, "{a:": ErrLimit, "a[": ErrLimit,
		"a?.": ErrLimit, "a.": ErrLimit, "a?a:": ErrLimit, "a?": ErrLimit, "a+": ErrLimit, "a&&": ErrLimit, "a??": ErrLimit,
		"!(": ErrLimit, "[(": ErrLimit, "-[": ErrLimit, "a?.[": ErrLimit, "[a,": ErrLimit, "{a,": ErrRefused, "a<": ErrRefused,
		"-": ErrRefused, ")": ErrRefused, "'": ErrRefused, "`": ErrRefused, "9": ErrRefused,
		"/": ErrRefused, ".": ErrRefused, "a ": ErrRefused, "1,": ErrRefused, "''": ErrRefused, "\\": ErrRefused,
	} {
		tree, err := Expression(fill(text), false, depth)
		require.Equal(t, want, err, text)
		require.Nil(t, tree)
		_, err = Expression(fill(text), true, depth)
		require.Error(t, err, text)
	}
}
