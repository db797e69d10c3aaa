package capability_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/engine"
)

// TestNoEntryIsAConstruct holds the names this package refuses against the engine's
// own list, which it cannot import.
func TestNoEntryIsAConstruct(t *testing.T) {
	for _, name := range engine.Constructs() {
		_, err := capability.Capture(t.Context(), capability.Profile{Read: []capability.Entry{{
			Name:     name,
			Identity: capability.Identity{Origin: "com.example", Key: name, Revision: 1},
			Forms:    capability.Paired,
			Props:    `{"type":"object","additionalProperties":false}`,
			Effect:   capability.Read,
			Op:       capability.Op{Do: func(context.Context, capability.Call) (any, error) { return nil, nil }},
		}}})
		require.ErrorContains(t, err, "its name is a construct of the language", name)
	}
}
