package audit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
)

const wide = `version: 1
name: "wide \u202e one"
roots: { all: /, repo: . }
dialect: flat
read:
  - use: File
  - use: Glob
    paths: ["**/*"]
  - use: Fetch
    requests:
      - url: http://example.com/a
        headers: { authorization: Bearer abc, accept: text/plain }
      - url: http://127.0.0.1:8080/x
        timeout: 5s
write:
  - use: File
    paths: ["**/*.md", "docs/**", "./**/**"]
  - use: File.Delete
  - use: Elicit
limits: { time: 1min, steps: 2000000, output: 64KiB }
`

func TestProfile(t *testing.T) {
	p, err := state(t, "wide.yaml", wide).Profile()
	require.NoError(t, err)
	goldens(t, "profile", p)
	require.Equal(t, []Finding{
		{Warning, "root-of-system", p.Findings[0].Message, Place{"wide.yaml", 3, 10}},
		{Note, "root-unused", p.Findings[1].Message, Place{"wide.yaml", 3, 18}},
		{Warning, "wide-read", p.Findings[2].Message, Place{"wide.yaml", 6, 5}},
		{Note, "wide-list", p.Findings[3].Message, Place{"wide.yaml", 8, 13}},
		{Warning, "plain-http", p.Findings[4].Message, Place{"wide.yaml", 11, 9}},
		{Warning, "credential-header", p.Findings[5].Message, Place{"wide.yaml", 11, 9}},
		{Warning, "private-address", p.Findings[6].Message, Place{"wide.yaml", 13, 9}},
		{Warning, "broad-pattern", p.Findings[7].Message, Place{"wide.yaml", 17, 13}},
		{Warning, "wide-write", p.Findings[8].Message, Place{"wide.yaml", 17, 35}},
		{Warning, "wide-write", p.Findings[9].Message, Place{"wide.yaml", 18, 5}},
		{Note, "limit-raised", p.Findings[10].Message, Place{"wide.yaml", 20, 23}},
		{Note, "limit-raised", p.Findings[11].Message, Place{"wide.yaml", 20, 11}},
	}, p.Findings)
	for _, e := range p.Entries {
		require.NotEqual(t, "pure", e.Class, "a flat profile has no pure table")
	}
}

func TestOrdinaryProfile(t *testing.T) {
	s, err := Ordinary(t.Context(), capability.Control{})
	require.NoError(t, err)
	p, err := s.Profile()
	require.NoError(t, err)
	require.True(t, p.Assumed)
	require.Equal(t, "closed", p.Dialect)
	require.Equal(t, []string{"wide-read", "wide-list", "wide-write", "wide-write", "wide-write"}, codes(p))
	require.Equal(t, Place{}, p.Findings[0].Where)
	require.Equal(t, []string{"a person, with any question"}, p.Entries[len(p.Entries)-1].Ceiling.Lines())
}

// Narrow profiles are not warned about: a warning that is always there is not read.
func TestNarrowProfileIsQuiet(t *testing.T) {
	p, err := state(t, "p.yaml", observer).Profile()
	require.NoError(t, err)
	require.Equal(t, []string{"wide-write"}, codes(p)) // its Dir
}

func TestManyRequests(t *testing.T) {
	text := "version: 1\nread:\n  - use: Fetch\n    requests:\n"
	for i := range manyRequests {
		text += "      - url: https://example.com/" + string(rune('a'+i)) + "\n"
	}
	p, err := state(t, "p.yaml", text).Profile()
	require.NoError(t, err)
	require.Empty(t, p.Found())
	p, err = state(t, "p.yaml", text+"      - url: https://example.com/more\n").Profile()
	require.NoError(t, err)
	require.Equal(t, []string{"many-requests"}, codes(p))
}

func TestCredentialsAreNotShown(t *testing.T) {
	for name, hidden := range map[string]bool{
		"authorization": true, "proxy-authorization": true, "cookie": true, "x-api-key": true, "x-auth-token": true,
		"accept": false, "user-agent": false,
	} {
		require.Equal(t, hidden, Header{name, "v"}.String() == notShown, name)
	}
}
