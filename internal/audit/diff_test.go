package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func compare(t *testing.T, before, after string) *Diff {
	t.Helper()
	d, err := Compare(t.Context(), state(t, "a.yaml", before), state(t, "b.yaml", after))
	require.NoError(t, err)
	return d
}

// changes lists what is not the same.
func changes(d *Diff) map[string]Direction {
	all := map[string]Direction{}
	for _, c := range d.Changes {
		if c.Verdict != Same {
			all[c.Item] = c.Verdict
		}
	}
	return all
}

func TestDiff(t *testing.T) {
	d := compare(t, observer, wide)
	require.True(t, d.Widened())
	goldens(t, "diff", d)
	require.Empty(t, changes(compare(t, wide, wide)))
	require.Empty(t, compare(t, observer, observer).Found())
}

// TestPathsChange compares ceilings of paths of one read entry; - is none.
func TestPathsChange(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          Direction
	}{
		{"docs/a.md", "docs/a.md", Same},
		{"docs/a.md", "./docs//a.md", Same},
		{"docs/a.md b.md", "b.md docs/a.md", Same},
		{"-", "-", Same},
		{"-", "**", Same},
		{"**", "-", Same},
		{"docs/** docs/a.md", "docs/**", Same},
		{"docs/a.md", "docs/b.md", Widened},
		{"docs/a.md", "docs/a.md b.md", Widened},
		{"docs/a.md b.md", "docs/a.md", Narrowed},
		{"docs/a.md", "docs/*", Widened},
		{"docs/*", "docs/a.md", Narrowed},
		{"docs/*", "docs/a/b.md", Widened},
		{"docs/**", "docs/a/*.md", Narrowed},
		{"docs/**", "docs/a/**", Narrowed},
		{"docs/**", "docs/{a,b}/*", Narrowed},
		{"docs/a/**", "docs/**", Widened},
		{"docs/**", "docs2/*", Widened},
		{"docs/**", "doc?/**", Widened},
		{"{docs,b}/**", "docs/*", Widened}, // true, and not shown
		{"docs/*.md", "docs/a*.md", Widened},
		{"**", "docs/*", Narrowed},
		{"-", "docs/*", Narrowed},
		{"docs/*", "-", Widened},
		// Where secrets are kept, a wildcard reaches nothing and an exact path does.
		{"**", ".env", Widened},
		{"-", ".env", Widened},
		{"-", ".ssh/config a.md", Widened},
		{"**", "**/*.pem", Narrowed},
		{".env", ".env", Same},
		{".env .e*", ".e*", Narrowed},
	} {
		profile := func(paths string) string {
			text := "version: 1\nread:\n  - use: File\n"
			if paths != "-" {
				text += `    paths: ["` + strings.ReplaceAll(paths, " ", `", "`) + "\"]\n"
			}
			return text
		}
		for _, use := range []string{"File", "Glob"} {
			before := strings.Replace(profile(c.before), "File", use, 1)
			after := strings.Replace(profile(c.after), "File", use, 1)
			want := map[string]Direction{}
			if c.want != Same {
				want["read <"+use+"> self-closing"] = c.want
			}
			d := compare(t, before, after)
			require.Equal(t, want, changes(d), "%s: %s -> %s", use, c.before, c.after)
			require.Equal(t, c.want == Widened, d.Widened())
			require.Equal(t, c.want == Widened, len(d.Found()) == 1)
		}
	}
}

func TestChanges(t *testing.T) {
	const head = "version: 1\n"
	const file = "read:\n  - use: File\n"
	requests := func(lines ...string) string {
		return head + "read:\n  - use: Fetch\n    requests:\n      - " + strings.Join(lines, "\n      - ") + "\n"
	}
	const a, b = "url: https://example.com/a", "url: https://example.com/b"
	const fetching = "read <Fetch> self-closing"
	for name, c := range map[string]struct {
		before, after string
		want          map[string]Direction
	}{
		"an entry more": {head + file, head + file + "  - use: Glob\n", map[string]Direction{"read <Glob> self-closing": Widened}},
		"an entry less": {head + file + "write:\n  - use: Elicit\n", head + file, map[string]Direction{"ask <Elicit> paired": Narrowed}},
		"the other form": {head + file, head + "write:\n  - use: File\n", map[string]Direction{
			"read <File> self-closing": Narrowed, "write <File> paired": Widened,
		}},
		"closed":                 {head + file + "dialect: flat", head + file + "dialect: closed", map[string]Direction{"dialect": Widened}},
		"flat":                   {head + file, head + file + "dialect: flat", map[string]Direction{"dialect": Narrowed}},
		"unstated dialect":       {head + file + "dialect: closed", head + file, map[string]Direction{}},
		"a name":                 {head + file, head + file + "name: x", map[string]Direction{}},
		"a root stated":          {head + file, head + file + "roots: { here: . }", map[string]Direction{}},
		"a root below":           {head + file, head + file + "roots: { here: sub }", map[string]Direction{"root": Narrowed}},
		"a root above":           {head + file, head + file + "roots: { here: .. }", map[string]Direction{"root": Widened}},
		"a root beside":          {head + file + "roots: { a: x }", head + file + "roots: { a: xy }", map[string]Direction{"root": Widened}},
		"a root that climbs":     {head + file + "roots: { a: x }", head + file + "roots: { a: x/../y }", map[string]Direction{"root": Widened}},
		"an absolute root":       {head + file, head + file + "roots: { a: /srv }", map[string]Direction{"root": Widened}},
		"below an absolute root": {head + file + "roots: { a: / }", head + file + "roots: { a: /srv }", map[string]Direction{"root": Narrowed}},
		"another selected":       {head + file + "roots: { a: ., b: .. }", head + file + "roots: { a: ., b: .. }\nselect: b", map[string]Direction{"root": Widened}},
		"a root nobody reaches":  {head + file + "roots: { a: . }", head + file + "roots: { a: ., b: / }", map[string]Direction{}},
		"a limit raised":         {head + file, head + file + "limits: { time: 11s }", map[string]Direction{"limit time": Widened}},
		"a limit lowered":        {head + file, head + file + "limits: { output: 1KiB }", map[string]Direction{"limit output": Narrowed}},
		"a limit written out":    {head + file, head + file + "limits: { depth: 64 }", map[string]Direction{}},
		"a request more":         {requests(a), requests(a, b), map[string]Direction{fetching: Widened}},
		"a request less":         {requests(a, b), requests(b), map[string]Direction{fetching: Narrowed}},
		"another request":        {requests(a), requests(b), map[string]Direction{fetching: Widened}},
		"another order":          {requests(a, b), requests(b, a), map[string]Direction{}},
		"another spelling":       {requests(a), requests("url: HTTPS://EXAMPLE.com:443/a"), map[string]Direction{}},
		"another method":         {requests(a), requests(a + "\n        method: HEAD"), map[string]Direction{fetching: Widened}},
		"a header":               {requests(a), requests(a + "\n        headers: { accept: x }"), map[string]Direction{fetching: Widened}},
		"a time where none was":  {requests(a), requests(a + "\n        timeout: 5s"), map[string]Direction{fetching: Narrowed}},
		"no time":                {requests(a + "\n        timeout: 5s"), requests(a), map[string]Direction{fetching: Widened}},
		"more time":              {requests(a + "\n        timeout: 5s"), requests(a + "\n        timeout: 6s"), map[string]Direction{fetching: Widened}},
		"less time":              {requests(a + "\n        timeout: 5s"), requests(a + "\n        timeout: 4s"), map[string]Direction{fetching: Narrowed}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, changes(compare(t, c.before, c.after)))
		})
	}
}
