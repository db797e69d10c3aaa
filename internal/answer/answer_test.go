package answer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func bindings(path []string) (string, bool) {
	s, ok := map[string]string{"who": "Ada", "job.title": "poet"}[strings.Join(path, ".")]
	return s, ok
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		template, message string
		want              bool
	}{
		{"Ship it?", "Ship it?", true},
		{"Ship it?", "Ship it? ", false},
		{"Ship {?what} now?", "Ship the new one now?", true},
		{"Ship {?what} now?", "Ship  now?", false},
		{"{?a} or {?a}?", "tea or tea?", true},
		{"{?a} or {?a}?", "tea or milk?", false},
		{"Hello {who}, {job.title}", "Hello Ada, poet", true},
		{"Hello {who}", "Hello Bob", false},
		{"Hello {nobody}", "Hello {nobody}", false},
		{"a { b", "a { b", true},
	} {
		tm, err := Parse(c.template, bindings)
		require.NoError(t, err, c.template)
		got, err := tm.Match(c.message)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%q against %q", c.template, c.message)
		require.Equal(t, c.template, tm.String())
	}
	all, err := (*Template)(nil).Match("anything")
	require.NoError(t, err)
	require.True(t, all)
	for _, wrong := range []string{"{?a}{?b}", "{?a", "{?1}", "{?a}{who}"} {
		_, err := Parse(wrong, bindings)
		require.Error(t, err, wrong)
	}
}

// A template with a repeated name on a long question ends.
func TestMatchIsBounded(t *testing.T) {
	tm, err := Parse("{?a}x{?b}x{?a}x{?b}x{?c}!", bindings)
	require.NoError(t, err)
	_, err = tm.Match(strings.Repeat("x", 4000))
	require.Error(t, err)
}
