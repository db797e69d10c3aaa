package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestARepliesLengthIsBounded: a document nobody could read is no draft, and an agent
// that never stops talking does not use up the memory of its host.
func TestARepliesLengthIsBounded(t *testing.T) {
	longest := strings.Repeat("line of text\n", 1<<20/13)
	longest += strings.Repeat("x", 1<<20-len(longest))
	p := newPlanning(t, longest)
	p.answers = []any{decide("approve")}
	source, err := p.run(t.Context())
	require.NoError(t, err)
	require.True(t, source == longest)

	p = newPlanning(t, longest+"x")
	source, err = p.run(t.Context())
	require.ErrorContains(t, err, "longer than 1 MiB")
	require.Empty(t, source)
	require.Empty(t, p.reviews)
	require.Empty(t, p.checked)
	require.Len(t, p.turns, 1)
	require.Contains(t, p.events, "teardown")
}
