//go:build unix

package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/require"
)

func TestCheckPattern(t *testing.T) {
	for pattern, reason := range map[string]string{
		"":           EmptyPath,
		"./":         EmptyPath,
		"/etc/*":     AbsolutePath,
		"/":          AbsolutePath,
		"C:/x":       AbsolutePath,
		"c:*":        AbsolutePath,
		"..":         LexicalEscape,
		"../*.md":    LexicalEscape,
		"./../*.md":  LexicalEscape,
		".//../*.md": LexicalEscape,
		"..md":       "",
		"...":        "",
		".":          "",
		"*":          "",
		"**/../*":    "",
		`\*`:         "",
		"{":          "",
	} {
		err := CheckPattern(pattern)
		if reason == "" {
			require.NoError(t, err, pattern)
		} else {
			require.Equal(t, *failed(OpGlob, PhasePattern, reason), record(t, err), pattern)
		}
	}
}

func TestGlob(t *testing.T) {
	ws := tree(t, map[string]string{
		"b.txt": "", "B.txt": "", "note.md": "", ".hidden.md": "", "é.txt": "", "\U0001F600.txt": "", "\uFF5E.txt": "",
		"a/z.txt": "", "a/b/c.txt": "", "a/b/d.go": "", ".config/x.toml": "",
		"vendor/v.txt": "", "vendor/deep/w.txt": "", "src": "", "empty/": "",
		"link.txt": "-> b.txt", "linkdir": "-> a", "up": "-> ..", "fifo.txt": "|",
		"odd/[x].txt": "", "odd/{y}.txt": "", "odd/a*b": "", "odd/back\\slash": "", "odd/not\xffutf8.txt": "",
	})
	for _, c := range []struct {
		name             string
		include, exclude []string
		want             string
	}{
		{"one level", []string{"*.md"}, nil, ".hidden.md note.md"},
		{"code point order", []string{"*.txt"}, nil, "B.txt b.txt é.txt \uFF5E.txt \U0001F600.txt"},
		{"all levels", []string{"**/*.txt"}, []string{"odd/**"}, "B.txt a/b/c.txt a/z.txt b.txt vendor/deep/w.txt vendor/v.txt é.txt \uFF5E.txt \U0001F600.txt"},
		{"zero segments", []string{"a/**/z.txt"}, nil, "a/z.txt"},
		{"subtree", []string{"a/**"}, nil, "a/b/c.txt a/b/d.go a/z.txt"},
		{"a subtree is not a file of that name", []string{"src/**"}, nil, ""},
		{"nor does excluding it exclude the file", []string{"src"}, []string{"src/**"}, "src"},
		{"a directory is not an answer", []string{"a", "empty", "a/b"}, nil, ""},
		{"deduplicated", []string{"b.txt", "b*", "**/b.txt", "./b.txt"}, nil, "b.txt"},
		{"question mark and class", []string{"?.txt", "note.[a-m]d"}, []string{"[!bB].txt"}, "B.txt b.txt note.md"},
		{"braces", []string{"{a/{b,z},vendor}/*.{txt,go}"}, nil, "a/b/c.txt a/b/d.go vendor/v.txt"},
		{"a brace with a subtree", []string{"{a/b/**,vendor/**}"}, []string{"{vendor/deep/**,x}"}, "a/b/c.txt a/b/d.go vendor/v.txt"},
		{"a brace with an empty alternative", []string{"{,n}ote.md", "{,b}.txt"}, nil, "b.txt note.md"},
		{"dot files", []string{".config/**", "*.toml", "**/*.toml"}, nil, ".config/x.toml"},
		{"exclude by name", []string{"vendor/**"}, []string{"vendor"}, "vendor/deep/w.txt vendor/v.txt"},
		{"exclude direct files", []string{"vendor/**"}, []string{"vendor/*"}, "vendor/deep/w.txt"},
		{"exclude the subtree", []string{"vendor/**"}, []string{"vendor/**"}, ""},
		{"exclude any subtree of a name", []string{"**/w.txt"}, []string{"**/deep/**"}, ""},
		{"exclude everything", []string{"**"}, []string{"**"}, ""},
		{"links are neither files nor entered", []string{"link*", "linkdir/**", "up/**", "fifo.txt"}, nil, ""},
		{"escapes", []string{`odd/\[x\].txt`, `odd/\{y\}.txt`, `odd/a\*b`, `odd/back\\slash`}, nil, `odd/[x].txt odd/a*b odd/back\slash odd/{y}.txt`},
		{"a brace in a class", []string{"odd/[{]y[}].txt"}, nil, "odd/{y}.txt"},
		{"names that are not UTF-8", []string{"odd/not*"}, nil, ""},
		{"nothing", []string{"*.zip"}, nil, ""},
		{"no pattern", nil, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := NewFiles().Glob(t.Context(), ws, c.include, c.exclude)
			require.NoError(t, err)
			require.NotNil(t, found)
			require.Equal(t, c.want, strings.Join(found, " "))
		})
	}
}

func TestGlobRefusals(t *testing.T) {
	ws := tree(t, map[string]string{"a.txt": ""})
	for _, pattern := range []string{"[", "[]", "[a", "{", "}", "{a", "a}", `\`, `{\`, "a/[b", strings.Repeat("a", MaxPattern+1)} {
		for _, lists := range [][2][]string{{{pattern}, nil}, {{"*"}, {pattern}}} {
			_, err := NewFiles().Glob(t.Context(), ws, lists[0], lists[1])
			require.Equal(t, *failed(OpGlob, PhasePattern, InvalidPattern), record(t, err), pattern)
		}
	}
	_, err := NewFiles().Glob(t.Context(), ws, []string{"*", "../x"}, nil)
	require.Equal(t, *failed(OpGlob, PhasePattern, LexicalEscape), record(t, err))
}

func TestGlobBounds(t *testing.T) {
	ws := tree(t, map[string]string{"a": "", "b": "", "sub/c": "", "sub/d": ""})
	f := NewFiles()
	f.maxEntries = 5
	found, err := f.Glob(t.Context(), ws, []string{"**"}, nil)
	require.NoError(t, err)
	require.Len(t, found, 4)
	f.maxEntries = 4
	_, err = f.Glob(t.Context(), ws, []string{"**"}, nil)
	require.Equal(t, *failed(OpGlob, PhaseTraversal, TooManyEntries), record(t, err))
	found, err = f.Glob(t.Context(), ws, []string{"**"}, []string{"sub/**"})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, found, "what is pruned is not counted")

	all := strings.Repeat("{a,b}", 10) // 1024 alternatives
	_, err = NewFiles().Glob(t.Context(), ws, []string{all}, nil)
	require.NoError(t, err)
	_, err = NewFiles().Glob(t.Context(), ws, []string{all, "a"}, nil)
	require.Equal(t, InvalidPattern, record(t, err).Reason)
}

// Hostile patterns are answered in a time that depends on their number only.
func TestGlobHostilePatterns(t *testing.T) {
	ws := tree(t, map[string]string{strings.Repeat("a", 200): "", strings.Repeat("a/", 100) + "x": ""})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, pattern := range []string{
		strings.Repeat("*a", 500) + "b",
		strings.Repeat("**/", 300) + "b",
		strings.Repeat("**/*a", 200) + "b",
		strings.Repeat("{", 500) + "a" + strings.Repeat("}", 500),
		strings.Repeat("{a,b}", 200),
		strings.Repeat("{a,", 300) + "b" + strings.Repeat("}", 300),
		"{" + strings.Repeat(",", 300) + "}" + strings.Repeat("{a}", 200),
		strings.Repeat("[a]", 300),
	} {
		_, err := NewFiles().Glob(ctx, ws, []string{pattern}, []string{pattern})
		if err != nil {
			require.Equal(t, InvalidPattern, record(t, err).Reason)
		}
	}
}

func TestGlobUnreadableDirectory(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may read every directory")
	}
	ws := tree(t, map[string]string{"shut/a": "", "open/b": ""})
	require.NoError(t, os.Chmod(filepath.Join(ws, "shut"), 0))
	t.Cleanup(func() { os.Chmod(filepath.Join(ws, "shut"), 0o700) })
	_, err := NewFiles().Glob(t.Context(), ws, []string{"**"}, nil)
	require.Equal(t, *failed(OpGlob, PhaseTraversal, PermissionDenied), record(t, err))
	found, err := NewFiles().Glob(t.Context(), ws, []string{"**"}, []string{"shut/**"})
	require.NoError(t, err)
	require.Equal(t, []string{"open/b"}, found)
}

// A directory that was found may be something else by the time it is opened.
func TestGlobWhileTheTreeChanges(t *testing.T) {
	_, ws := world(t)
	root, err := os.OpenRoot(ws)
	require.NoError(t, err)
	defer root.Close()
	for _, c := range []struct{ directory, reason string }{
		{"gone", ""},
		{"fifo", NotDirectory},
		{"real.txt", NotDirectory},
		{"leavesdir", ResolvedEscape},
		{strings.Repeat("x/", maxDirectory), PathTooLong},
	} {
		w := walk{root: root, Selection: Selection{include: []string{"**"}}, left: 10}
		err := w.list(t.Context(), c.directory)
		require.Empty(t, w.found)
		if c.reason == "" {
			require.NoError(t, err)
		} else {
			require.Equal(t, *failed(OpGlob, PhaseTraversal, c.reason), record(t, err))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, (&walk{root: root, left: 10}).list(ctx, "dir"), context.Canceled)
}

// Writing out the braces of a pattern loses none of what it matches.
func FuzzExpand(f *testing.F) {
	for _, seed := range [][2]string{
		{"{a,b}/*.{txt,go}", "a/x.go"}, {"a{,b{c,d}}e", "abde"}, {"[{]{a,[}]}", "{}"}, {`\{a,b}`, "{a,b}"},
		{"{a,b,}**/c", "b/c"}, {"{**/a,x}", "y/a"}, {"{{{a}}}", "a"}, {"*{*,/}b", "ab"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 64 || len(name) > 64 || !doublestar.ValidatePattern(pattern) {
			return
		}
		if !utf8.ValidString(pattern) { // patterns come from values, which are text
			return
		}
		budget := MaxAlternatives
		var flat []string
		if !expand(pattern, 0, &budget, &flat) {
			require.Negative(t, budget)
			return
		}
		require.NotEmpty(t, flat)
		for _, p := range flat {
			require.Less(t, scan(p, 0, "{}"), 0, "%q still has a brace", p)
			require.True(t, doublestar.ValidatePattern(p), "%q came from %q", p, pattern)
		}
		// The library misses some matches at the end of a name; it invents none.
		if doublestar.MatchUnvalidated(pattern, name) {
			require.True(t, matchesAny(flat, name), "%q comes to %q", pattern, flat)
		}
	})
}
