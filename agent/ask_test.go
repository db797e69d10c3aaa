package agent

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLineAskerAsksAndReadsANumber(t *testing.T) {
	r := PermissionRequest{
		Tool:    ToolCall{ID: "t1", Title: "Run\x1b[2J make", Kind: "execute"},
		Options: []PermissionOption{{"a", "Allow", AllowOnce}, {"r", "Reject\n9. Allow", RejectOnce}},
	}
	for answer, want := range map[string]string{"1": "a", " 2 \r\n": "r", "0": "", "3": "", "-1": "", "+1": "", "": "", "y": "", "1 2": "", "99999999999": ""} {
		var out strings.Builder
		asker := NewLineAsker(&out, func(context.Context) (string, error) { return answer, nil })
		outcome, ok := asker.Ask(t.Context(), r)
		require.Equal(t, want, outcome.OptionID, answer)
		require.Equal(t, want != "", ok, answer)
		require.Equal(t, "The agent asks to use a tool: Run[2J make (execute)\n  1. Allow (allow_once)\n  2. Reject9. Allow (reject_once)\n"+
			"Number, or anything else to deny: ", out.String())
	}
	var out strings.Builder
	asker := NewLineAsker(&out, func(context.Context) (string, error) { return "1", errors.New("no more lines") })
	_, ok := asker.Ask(t.Context(), PermissionRequest{Tool: ToolCall{ID: "t9"}, Options: r.Options})
	require.False(t, ok)
	require.Contains(t, out.String(), "t9 (unknown kind)")
	_, ok = NewLineAsker(brokenWriter{}, func(context.Context) (string, error) { return "1", nil }).Ask(t.Context(), r)
	require.False(t, ok, "a question nobody saw is not answered")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestLineAskerHasOneQuestionOpen(t *testing.T) {
	var out strings.Builder
	reading, line := make(chan struct{}), make(chan string)
	asker := NewLineAsker(&out, func(ctx context.Context) (string, error) {
		reading <- struct{}{}
		return <-line, nil
	})
	r := PermissionRequest{Tool: ToolCall{ID: "first"}, Options: options(AllowOnce)}
	var all sync.WaitGroup
	var first, second, cancelled bool
	all.Go(func() { _, first = asker.Ask(t.Context(), r) })
	<-reading
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, cancelled = asker.Ask(gone, r) // waits behind the first and leaves
	require.False(t, cancelled)
	require.Equal(t, 1, strings.Count(out.String(), "asks to use"))
	all.Go(func() { _, second = asker.Ask(t.Context(), r) })
	line <- "1"
	<-reading
	line <- "1"
	all.Wait()
	require.True(t, first)
	require.True(t, second)
	require.Equal(t, 2, strings.Count(out.String(), "asks to use"))
}
