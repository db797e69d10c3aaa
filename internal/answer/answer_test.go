package answer

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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

// Where no name repeats, a match takes time in proportion to the question, however
// much a literal almost fits.
func TestMatchWithoutRepeatsIsLinear(t *testing.T) {
	tm, err := Parse("{?a}x{?b}xyxyxyxyxz{?c}", bindings)
	require.NoError(t, err)
	message := strings.Repeat("x", 1<<20)
	start := time.Now()
	matches, err := tm.Match(message)
	require.NoError(t, err)
	require.False(t, matches)
	matches, err = tm.Match(message + "xyxyxyxyxz!")
	require.NoError(t, err)
	require.True(t, matches)
	require.Less(t, time.Since(start), 10*time.Second) // it took minutes
}

// A name that repeats counts what it compares, not only how often.
func TestMatchOfLongRepeatsIsBounded(t *testing.T) {
	tm, err := Parse("{?a}x{?b}x{?a}x{?a}x{?b}!", bindings)
	require.NoError(t, err)
	start := time.Now()
	_, err = tm.Match(strings.Repeat("x", 4<<20))
	require.ErrorContains(t, err, "more than 1000000 ways")
	require.Less(t, time.Since(start), 5*time.Second)
}

// FuzzMatch holds templates whose names do not repeat against a regular expression.
func FuzzMatch(f *testing.F) {
	for _, seed := range [][2]string{
		{"a{?b}c", "abc"}, {"{?a}", ""}, {"{?a}", "x"}, {"{?a}x{?b}", "xx"}, {"{?a}x{?b}", "axb"}, {"x{?a}x", "xx"},
		{"{?a}x{?b}xx", "axxxx"}, {"{ {?a} {", "{ b {"}, {"{?a}ab{?b}ab", "xababab"}, {"", ""}, {"a", "ab"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, template, message string) {
		tm, err := Parse(template, bindings)
		if err != nil || tm.repeats() || tm.never || !utf8.ValidString(template) || !utf8.ValidString(message) {
			return
		}
		expression := `(?s)\A`
		for _, p := range tm.parts {
			if p.hole != "" {
				expression += ".+"
			}
			expression += regexp.QuoteMeta(p.literal)
		}
		want, err := regexp.MatchString(expression+`\z`, message)
		require.NoError(t, err)
		got, err := tm.Match(message)
		require.NoError(t, err)
		require.Equal(t, want, got, "%q against %q", template, message)
	})
}
