package capability

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/require"
)

func TestPatternsCover(t *testing.T) {
	for _, row := range []struct {
		pattern string
		covers  []string
		not     []string
	}{
		{"docs/a.txt", []string{"docs/a.txt"}, []string{"docs/A.txt", "docs/a.txt/x", "docs", "xdocs/a.txt", ""}},
		{"./docs//a.txt", []string{"docs/a.txt"}, nil},
		{"docs/*", []string{"docs/a", "docs/.b"}, []string{"docs", "docs/a/b"}},
		{"docs/**", []string{"docs", "docs/a", "docs/a/b"}, []string{"docs-private/s.txt", "doc"}},
		{"**", []string{"", "a", "a/b"}, nil},
		{"**/*.go", []string{"a.go", "x/y/a.go"}, []string{"a.gox"}},
		{"**/x/**/y", []string{"x/y", "a/x/b/c/y", "x/x/y"}, []string{"y", "x/z"}},
		{"**/**/a", []string{"a", "b/a"}, nil},
		{"a/?.txt", []string{"a/é.txt"}, []string{"a/xx.txt", "a/.txt"}},
		{"[ab].txt", []string{"a.txt", "b.txt"}, []string{"c.txt"}},
		{"a[!x]b", []string{"ayb"}, []string{"axb", "a/b"}},
		{"{a,b}/{c,d{e,f}}", []string{"a/c", "b/de", "b/df"}, []string{"a/d", "{a,b}/c"}},
		{"a{,b}", []string{"a", "ab"}, nil},
		{"{a/b,c}/d", []string{"a/b/d", "c/d"}, nil},
		{"a**b", []string{"ab", "axb"}, []string{"a/b"}},
	} {
		p, err := compilePatterns([]string{row.pattern})
		require.NoError(t, err, row.pattern)
		for _, name := range row.covers {
			ok, _ := p.covers(name)
			require.True(t, ok, "%s covers %q", row.pattern, name)
		}
		for _, name := range row.not {
			ok, _ := p.covers(name)
			require.False(t, ok, "%s does not cover %q", row.pattern, name)
		}
	}
}

func TestPatternsNameExactly(t *testing.T) {
	p, err := compilePatterns([]string{"**", "./conf/.env", "{x,y}/.env", "z/[.]env"})
	require.NoError(t, err)
	for name, want := range map[string]bool{"conf/.env": true, "x/.env": false, "z/.env": false, "other/.env": false} {
		ok, exact := p.covers(name)
		require.True(t, ok)
		require.Equal(t, want, exact, name)
	}
	require.True(t, p.names("conf"))
	require.False(t, p.names("con"))
	none, err := compilePatterns(nil)
	require.NoError(t, err)
	require.Nil(t, none)
}

func TestA22_PatternSpellings(t *testing.T) {
	glob := captured(t, Glob(newWorkbench(t, nil).root))
	for _, row := range []struct{ written, class string }{
		{"", "path"}, {"/a", "path"}, {"{/a,b}", "path"}, {"C:/a", "path"}, {`a\b`, "path"}, {"a|b", "path"}, {`"a"`, "path"}, {"<a>", "path"},
		{"..", "path"}, {"../*", "path"}, {"a/../b", "path"}, {"{..,a}/b", "path"}, {"a/{b,..}", "path"},
		{"docs/NUL", "path"}, {"docs/{nul,a}.txt", "path"}, {"docs/a~1*", "path"}, {"docs/a.", "path"}, {"*.", "path"}, {"docs /a", "path"},
		{"[", "path"}, {"[]", "path"}, {"{a", "path"}, {"a}", "path"}, {"a[/]b", "path"}, {"{,a}", "path"},
		{"a\u200b*", "encoding"}, {"a\n*", "encoding"}, {"\u202e*", "encoding"},
		{"docs/..notes*", ""}, {"**/*.md", ""}, {"{a,b}", ""}, {"[a-z]*", ""}, {"docs/%2e%2e/*", ""}, {".", ""},
	} {
		require.Equal(t, row.class, classOf(glob, use(SelfClosing, "", "include", []any{row.written})), row.written)
		require.Equal(t, row.class, classOf(glob, use(SelfClosing, "", "include", []any{"**"}, "exclude", []any{row.written})), row.written)
		_, err := compilePatterns([]string{row.written})
		require.Equal(t, row.class != "", err != nil, row.written)
	}
	require.Equal(t, "props", classOf(glob, use(SelfClosing, "", "include", []any{})))
	require.Equal(t, "props", classOf(glob, use(SelfClosing, "", "include", "**")))
	require.Equal(t, "path", classOf(glob, Use{Props: use(0, "", "include", []any{"../*"}).Props, Computed: []string{"exclude"}}))
}

func TestPatternsAreBounded(t *testing.T) {
	for _, written := range []string{
		strings.Repeat("{a,b}", 9),
		strings.Repeat("{", 65) + strings.Repeat("}", 65),
		"{" + strings.Repeat(",", 1000) + "}x",
		strings.Repeat("{a,b}", 64),
	} {
		_, err := compilePatterns([]string{written})
		require.ErrorContains(t, err, string(faultWide))
	}
	_, err := compilePatterns([]string{strings.Repeat("{a,b}", 8)})
	require.NoError(t, err)
	_, err = compilePatterns([]string{strings.Repeat("{a,b}", 8), "c"})
	require.ErrorContains(t, err, string(faultWide))
	many := make([]string, 5)
	for i := range many {
		many[i] = strings.Repeat("a", 4000)
	}
	_, err = compilePatterns(many)
	require.ErrorContains(t, err, string(faultWide))
}

func TestPatternsMatchInBoundedTime(t *testing.T) {
	p, err := compilePatterns([]string{strings.Repeat("**/*a*a*a*a*a*/", 100) + "x", strings.Repeat("*a", 200) + "b"})
	require.NoError(t, err)
	start := time.Now()
	ok, _ := p.covers(strings.Repeat(strings.Repeat("a", 200)+"/", 19) + strings.Repeat("a", 200))
	require.False(t, ok)
	require.Less(t, time.Since(start), 2*time.Second)
}

func TestPatternsReach(t *testing.T) {
	p, err := compilePatterns([]string{"docs/*/a.txt", "src/**"})
	require.NoError(t, err)
	for dir, want := range map[string]bool{"": true, "docs": true, "docs/x": true, "docs/x/y": false, "src": true, "src/a/b": true, "other": false} {
		require.Equal(t, want, p.reaches(dir), dir)
	}
	x, err := compilePatterns([]string{"vendor/**", "out/*"})
	require.NoError(t, err)
	x = x.below()
	require.True(t, x.prunes("vendor"))
	require.True(t, x.prunes("vendor/a"))
	require.False(t, x.prunes("out"))
	require.False(t, x.prunes("x"))
}

// The segment matcher is doublestar's, apart from classes, which match no slash.
func FuzzPatterns(f *testing.F) {
	for _, seed := range [][2]string{{"**/*.go", "a/b.go"}, {"a/{b,c}/**", "a/b"}, {"**/x/**/y", "x/x/y"}, {"a[!x]b", "a/b"}, {"{a,b{c,d}}*", "bcx"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, written, name string) {
		p, v := readPatterns([]string{written})
		clean, fault := cleanPath("", name)
		if v != nil || fault != nil || clean == "" {
			return
		}
		ok, exact := p.covers(clean)
		if exact {
			require.Equal(t, path.Clean(written), clean)
		}
		if strings.Contains(written, "[") || path.Clean(written) != written || strings.Contains(written, "/./") || strings.ContainsAny(written, "{}") {
			return // doublestar cleans nothing
		}
		require.Equal(t, doublestar.MatchUnvalidated(written, clean), ok)
		if ok {
			for dir := path.Dir(clean); dir != "."; dir = path.Dir(dir) {
				require.True(t, p.reaches(dir), "%q reaches %q", written, dir)
			}
		}
	})
}
