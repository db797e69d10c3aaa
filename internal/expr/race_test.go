package expr

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

// Several goroutines share one runtime and its values.
func TestConcurrentUse(t *testing.T) {
	rt := New()
	shared := rt.Ref(value.Of("list", []any{}))
	e := env{"shared": shared, "text": rt.Ref("x")}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 25 {
				_, err := rt.Eval(context.Background(), "shared.list.push("+strconv.Itoa(i%5)+")", e.lookup)
				assert.NoError(t, err)
				_, err = rt.RunBlock(context.Background(), "const copy = [...shared.list]; return text", e.lookup)
				assert.NoError(t, err)
				_, err = shared.JSON()
				assert.NoError(t, err)
				_, ok := shared.Member([]string{"list", "length"})
				assert.True(t, ok)
				assert.True(t, shared.Snapshot().Truthy(), worker)
				assert.Equal(t, "object", shared.Kind())
				assert.True(t, shared.StrictEqual(shared))
				assert.Equal(t, "x", e["text"].Text())
			}
		})
	}
	group.Wait()
	text, ok := shared.Member([]string{"list", "length"})
	require.True(t, ok)
	require.Equal(t, "100", text)
}

// A lookup may use the values and even the runtime it is asked for.
func TestLookupMayEvaluate(t *testing.T) {
	rt := New()
	r, err := rt.Eval(context.Background(), "a + 1", func(name string) (*Ref, bool) {
		inner, err := rt.Eval(context.Background(), "40 + 1", nil)
		return inner, err == nil && name == "a"
	})
	require.NoError(t, err)
	require.Equal(t, "42", r.Text())
}
