//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/host"
)

// onDisk makes the same tree a directory of the machine.
func onDisk(t *testing.T, files map[string]string) string {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	base = filepath.Join(base, "base")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		full := filepath.Join(base, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o777))
		target, link := strings.CutPrefix(files[name], "-> ")
		if link && target[0] == '/' {
			target = base + target
		}
		switch {
		case strings.HasSuffix(name, "/"):
			require.NoError(t, os.MkdirAll(full, 0o777))
		case link:
			require.NoError(t, os.Symlink(target, full))
		default:
			require.NoError(t, os.WriteFile(full, []byte(files[name]), 0o644))
		}
	}
	return base
}

// fromDisk reads it back.
func fromDisk(t *testing.T, base string) map[string]string {
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(base, func(full string, d fs.DirEntry, err error) error {
		if err != nil || full == base {
			return err
		}
		name := full[len(base)+1:]
		switch {
		case d.IsDir():
			all[name+"/"] = ""
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(full)
			if err != nil {
				return err
			}
			all[name] = "-> " + strings.TrimPrefix(target, base)
		default:
			data, err := os.ReadFile(full)
			if err != nil {
				return err
			}
			all[name] = string(data)
		}
		return nil
	}))
	return all
}

// TestAsTheMachine holds the Workspace to the files of the machine: the same
// operations on the same tree give the same answers and leave the same tree.
func TestAsTheMachine(t *testing.T) {
	files := map[string]string{
		"out/secret": "outside", "out/back": "-> ../ws/real", "ws-private/s": "sibling",
		"ws/real": "real", "ws/dir/inner": "inner", "ws/dir/deep/x": "x", "ws/empty/": "",
		"ws/rel": "-> real", "ws/abs": "-> /ws/real", "ws/around": "-> ../ws/real", "ws/through": "-> dir/../rel",
		"ws/todir": "-> dir", "ws/self": "-> ../ws", "ws/up": "-> ..", "ws/leaves": "-> ../out/secret", "ws/leavesdir": "-> /out",
		"ws/leavesfile": "-> /out/secret/x", "ws/sibling": "-> /ws-private/s", "ws/gone": "-> nothing", "ws/gonedir": "-> dir/none/x",
		"ws/dir/loop": "-> loop", "ws/dir/parent": "-> ../rel", "ws/back": "-> ../out/back", "ws/filedots": "-> real/../dir",
	}
	words := []string{"ws", "real", "dir", "inner", "deep", "x", "empty", "rel", "abs", "around", "through", "todir", "self", "up",
		"leaves", "leavesdir", "leavesfile", "sibling", "gone", "gonedir", "loop", "parent", "back", "filedots", "new", "other", ".", "..", "", "secret"}
	patterns := []string{"**", "*", "**/*", "*/*", "{ws,out}/**", "ws/d*/**", "[!a-m]*", "**/x", "real", "dir/**", "./*", "", "/x", "../x", "{", "**/{x,inner}"}
	seen := map[string]int{}
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 2))
		base, m := onDisk(t, files), NewMemory()
		m.current = world(t, m, files)
		mine, machine := NewFiles(m), host.NewFiles()
		ctx := t.Context()
		pick := func(from []string) string { return from[r.IntN(len(from))] }
		for step := range 80 {
			cwd := pick([]string{"/", "/ws", "/ws", "/ws/todir", "/ws/dir", "/ws/self", "/ws/real", "/nothing", "/ws/gone"})
			there := filepath.Join(base, cwd)
			segments := make([]string, 1+r.IntN(3))
			for i := range segments {
				segments[i] = pick(words)
			}
			path := strings.Join(segments, "/")
			var got, want error
			var answer, expected any
			operation := pick([]string{host.OpRead, host.OpWrite, host.OpDelete, host.OpEnsure, host.OpGlob})
			switch operation {
			case host.OpRead:
				answer, got = mine.ReadText(ctx, cwd, path)
				expected, want = machine.ReadText(ctx, there, path)
			case host.OpWrite:
				content := pick([]string{"", "one", "two"})
				got = mine.WriteText(ctx, cwd, path, content)
				if refusal(t, got) == "resolution resolved-escape" {
					// The machine replaces a link to where nothing is, even outside; a tree
					// refuses every link that leaves. A read shows that it does.
					operation = host.OpRead
					_, want = machine.ReadText(ctx, there, path)
					got = refuse(operation, host.PhaseResolution, host.ResolvedEscape)
				} else {
					want = machine.WriteText(ctx, there, path, content)
				}
			case host.OpDelete:
				got, want = mine.Delete(ctx, cwd, path), machine.Delete(ctx, there, path)
			case host.OpEnsure:
				got, want = mine.EnsureDir(ctx, cwd, path), machine.EnsureDir(ctx, there, path)
			default:
				include, exclude := []string{pick(patterns), pick(patterns)}, []string{pick(patterns)}[:r.IntN(2)]
				answer, got = mine.Glob(ctx, cwd, include, exclude)
				expected, want = machine.Glob(ctx, there, include, exclude)
			}
			require.Equal(t, want, got, "seed %d step %d: %s %s %q", seed, step, operation, cwd, path)
			require.Equal(t, expected, answer, "seed %d step %d: %s %s %q", seed, step, operation, cwd, path)
			var refused *host.FileError
			if errors.As(got, &refused) {
				seen[refused.Operation+" "+refused.Phase+" "+refused.Reason]++
			} else {
				seen[operation]++
			}
		}
		require.Equal(t, fromDisk(t, base), contents(t, m, m.Root()), "seed %d", seed)
		require.NoError(t, Verify(m, m.Root()))
	}
	for _, much := range []string{host.OpRead, host.OpWrite, host.OpDelete, host.OpEnsure, host.OpGlob,
		"readTextFile resolution resolved-escape", "readTextFile resolution not-directory", "readTextFile target missing",
		"writeTextFile target directory", "writeTextFile parents not-directory", "deleteFile target directory",
		"ensureDirectory target not-directory", "globFiles pattern invalid-pattern", "globFiles resolution missing"} {
		require.Positive(t, seen[much], much)
	}
}

// TestGlobAsTheMachine: the patterns mean here what they mean there.
func TestGlobAsTheMachine(t *testing.T) {
	files := map[string]string{
		"b.txt": "", "B.txt": "", ".hidden.md": "", "é.txt": "", "\U0001F600.txt": "", "\uFF5E.txt": "", "a/z.txt": "", "a/b/c.txt": "",
		".config/x.toml": "", "vendor/v.txt": "", "vendor/deep/w.txt": "", "src": "", "empty/": "", "link.txt": "-> b.txt", "linkdir": "-> a",
		"odd/[x].txt": "", "odd/{y}.txt": "", "odd/a*b": "", `odd/back\slash`: "", "vendor.txt": "",
	}
	base, m := onDisk(t, files), NewMemory()
	m.current = world(t, m, files)
	for _, c := range []struct{ include, exclude []string }{
		{[]string{"**/*.txt"}, []string{"vendor/**"}},
		{[]string{"**"}, []string{"vendor"}},
		{[]string{"**"}, []string{"vendor/*"}},
		{[]string{"**"}, []string{"{vendor,odd}/**", "*.md"}},
		{[]string{"vendor/**", "src/**"}, nil},
		{[]string{"{a,{b,B}}*", "{a/{b/,},}*.txt"}, nil},
		{[]string{`odd/\[x\].txt`, `odd/\{y\}.txt`, `odd/a\*b`, `odd/[{]y*`}, nil},
		{[]string{"?.txt", "[^b].txt", ".*"}, nil},
		{[]string{strings.Repeat("{a,b}", 11)}, nil},
		{[]string{strings.Repeat("{a,b}", 10)}, nil},
		{[]string{strings.Repeat("{a,b}", 10)}, []string{"x"}},
		{[]string{strings.Repeat("a", 1024)}, []string{strings.Repeat("a", 1025)}},
		{[]string{"[", "x"}, nil},
		{[]string{".", "./", "x"}, nil},
		{[]string{".//**", "././a/*"}, []string{"./a/**"}},
	} {
		want, refused := host.NewFiles().Glob(t.Context(), base, c.include, c.exclude)
		got, err := Glob(m, m.Root(), "/", c.include, c.exclude)
		require.Equal(t, refused, err, "%q %q", c.include, c.exclude)
		require.Equal(t, want, got, "%q %q", c.include, c.exclude)
	}
}
