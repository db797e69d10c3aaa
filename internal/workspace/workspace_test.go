package workspace

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/host"
)

// TestR24_EveryRootReadsItsOwnState: a root is readable for ever.
func TestR24_EveryRootReadsItsOwnState(t *testing.T) {
	m := NewMemory()
	one, err := Write(m, EmptyRoot, "/", "d/f", []byte("v1"))
	require.NoError(t, err)
	two, err := Write(m, one, "/", "d/f", []byte("v2"))
	require.NoError(t, err)
	three, err := Delete(m, two, "/", "d/f")
	require.NoError(t, err)
	for root, want := range map[string]string{one: "v1", two: "v2"} {
		data, err := Read(m, root, "/d", "f")
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}
	_, err = Read(m, three, "/", "d/f")
	require.Equal(t, "target missing", refusal(t, err))
	again, err := Write(m, three, "/", "d/f", []byte("v1"))
	require.NoError(t, err)
	require.Equal(t, one, again)
}

// TestR25_ARefusalPutsNothing: no object and no parent is left of a refused change.
func TestR25_ARefusalPutsNothing(t *testing.T) {
	c := newCounter()
	root := world(t, c, map[string]string{"file": "x", "dir/": "", "out": "-> ../x", "gone": "-> nothing", "gonedir": "-> nothing/at/all"})
	c.puts = 0
	long := strings.Repeat("n", MaxName+1)
	for _, at := range []struct{ path, refusal string }{
		{"", "lexical empty-path"},
		{"/etc/passwd", "lexical absolute-path"},
		{`C:\x`, "lexical absolute-path"},
		{"new/../../x", "lexical lexical-escape"},
		{"new/a\x00b", "lexical operation-failed"},
		{"new/\xff", "lexical operation-failed"},
		{".", "target directory"},
		{"dir", "target directory"},
		{"file/new/x", "resolution not-directory"},
		{"out", "resolution resolved-escape"},
		{"out/new", "resolution resolved-escape"},
		{"gonedir/new", "parents not-directory"},
		{"new/" + long, "resolution path-too-long"},
		{strings.Repeat("new/", 1024) + "x", "resolution path-too-long"},
	} {
		_, err := Write(c, root, "/", at.path, []byte("y"))
		require.Equal(t, at.refusal, refusal(t, err), at.path)
		var refused *host.FileError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, host.Unchanged, refused.Target)
	}
	_, err := Write(c, root, "/", "new/x", make([]byte, MaxFile+1))
	require.Equal(t, "target quota-exhausted", refusal(t, err))
	for path, want := range map[string]string{"dir": "target directory", ".": "target directory", "file/x": "resolution not-directory", "out/x": "resolution resolved-escape"} {
		_, err := Delete(c, root, "/", path)
		require.Equal(t, want, refusal(t, err), path)
	}
	for path, want := range map[string]string{"file": "target not-directory", "gone": "target not-directory", "file/x": "resolution not-directory", "out": "resolution resolved-escape"} {
		_, err := EnsureDir(c, root, "/", path)
		require.Equal(t, want, refusal(t, err), path)
	}
	require.Zero(t, c.puts)
}

// Only what changed is put, and what changed nothing puts nothing.
func TestUnchangedTreesAreShared(t *testing.T) {
	c := newCounter()
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("a/%d/b/%d", i%20, i)] = fmt.Sprint(i)
	}
	root := world(t, c, files)
	for _, step := range []struct {
		name  string
		do    func() (string, error)
		puts  int
		reads int
	}{
		{"write", func() (string, error) { return Write(c, root, "/", "a/7/b/7", []byte("new")) }, 5, 4},
		{"write the same", func() (string, error) { return Write(c, root, "/", "a/7/b/7", []byte("7")) }, 0, 4},
		{"delete", func() (string, error) { return Delete(c, root, "/", "a/7/b/7") }, 4, 4},
		{"delete nothing", func() (string, error) { return Delete(c, root, "/", "a/7/b/none/at/all") }, 0, 4},
		{"a directory that is there", func() (string, error) { return EnsureDir(c, root, "/a", "7/b") }, 0, 3},
		{"new directories", func() (string, error) { return EnsureDir(c, root, "/a", "new/dir") }, 4, 42},
		{"new parents", func() (string, error) { return Write(c, root, "/", "x/y/z", []byte("new")) }, 4, 42},
	} {
		c.puts, c.reads = 0, 0
		changed, err := step.do()
		require.NoError(t, err, step.name)
		require.Equal(t, step.puts, c.puts, step.name)
		require.Equal(t, step.reads, c.reads, step.name)
		require.Equal(t, step.puts == 0, changed == root, step.name)
	}
}

func TestLinks(t *testing.T) {
	m := NewMemory()
	files := map[string]string{
		"ws/real": "real", "ws/d/inner": "inner", "beside": "beside", "ws/l0": "-> real",
		"ws/up": "-> ../beside", "ws/around": "-> ../ws/real", "ws/top": "-> /ws/real", "ws/leaves": "-> ../../ws/real",
		"ws/etc": "-> /etc/passwd", "ws/self": "-> .", "ws/todir": "-> d", "ws/loop": "-> loop", "ws/gone": "-> d/none",
		"ws/through": "-> todir/../l0", "ws/slashes": "-> .//d///inner/",
	}
	for i := range 45 {
		files[fmt.Sprintf("ws/l%d", i+1)] = fmt.Sprintf("-> l%d", i)
	}
	root := world(t, m, files)
	for _, c := range []struct{ cwd, path, text, refusal string }{
		{"/ws", "l39", "real", ""}, // 40 links
		{"/ws", "l40", "", "resolution too-many-symlinks"},
		{"/ws", "self/self/todir/inner", "inner", ""},
		{"/ws/todir", "inner", "inner", ""},
		{"/ws/self", "l0", "real", ""},
		{"/ws", "around", "real", ""},
		{"/ws", "top", "real", ""},
		{"/ws", "through", "real", ""},
		{"/ws", "slashes", "inner", ""},
		{"/ws", "loop", "", "resolution too-many-symlinks"},
		{"/ws", "gone", "", "target missing"},
		{"/ws", "gone/x", "", "target missing"},
		{"/ws", "todir", "", "target directory"},
		{"/ws", "self", "", "target directory"},
		{"/ws", "l0/x", "", "resolution not-directory"},
		{"/ws", "up", "", "resolution resolved-escape"},
		{"/", "ws/up", "beside", ""},
		{"/", "ws/leaves", "", "resolution resolved-escape"},
		{"/ws", "etc", "", "resolution resolved-escape"},
		{"/", "ws/etc", "", "target missing"}, // of the tree: the machine is never looked at
		{"/nothing", "x", "", "resolution missing"},
		{"/ws/real", "x", "", "resolution not-directory"},
		{"/ws/leaves", "x", "", "resolution resolved-escape"},
		{"/ws/../ws/./d/", "inner", "inner", ""},
	} {
		data, err := Read(m, root, c.cwd, c.path)
		require.Equal(t, c.refusal, refusal(t, err), "%s %s", c.cwd, c.path)
		require.Equal(t, c.text, string(data))
	}
	_, err := Read(m, root, "ws", "real")
	require.ErrorContains(t, err, "absolute")

	changed := func(root string, err error) map[string]string {
		require.NoError(t, err)
		all := contents(t, m, root)
		maps.DeleteFunc(all, func(name, content string) bool {
			was, known := files[name]
			return known && was == content
		})
		return all
	}
	dirs := map[string]string{"ws/": "", "ws/d/": ""}
	with := func(name, content string) map[string]string {
		all := maps.Clone(dirs)
		all[name] = content
		return all
	}
	require.Equal(t, dirs, changed(root, nil))
	require.Equal(t, with("ws/real", "new"), changed(Write(m, root, "/ws", "l39", []byte("new"))))
	require.Equal(t, with("ws/d/new", "new"), changed(Write(m, root, "/ws", "todir/new", []byte("new"))))
	require.Equal(t, with("ws/gone", "new"), changed(Write(m, root, "/ws", "gone", []byte("new"))))
	gone, err := Delete(m, root, "/ws", "self/todir")
	require.Equal(t, dirs, changed(gone, err))
	require.NotContains(t, contents(t, m, gone), "ws/todir")
}

func TestModesAreKept(t *testing.T) {
	m := NewMemory()
	blob := Hash(KindBlob, nil)
	require.NoError(t, m.PutObject(blob, KindBlob, nil))
	root := plant(t, m, entry{name: "run", kind: fileEntry, mode: executableMode, hash: blob})
	root, err := Write(m, root, "/", "run", []byte("x"))
	require.NoError(t, err)
	_, data, err := m.Object(root)
	require.NoError(t, err)
	require.Equal(t, `{"entries":[["run","file",493,"`+Hash(KindBlob, []byte("x"))+`",1]]}`, string(data))
}

func TestEntriesAreBounded(t *testing.T) {
	m := NewMemory()
	links := make([]entry, MaxEntries-3)
	for i := range links {
		links[i] = entry{name: fmt.Sprintf("%06d", i), kind: linkEntry, target: "nothing"}
	}
	root := plant(t, m, entry{name: "d", kind: dirEntry, hash: plant(t, m, links...)})
	_, err := Write(m, root, "/", "a/b/c", nil)
	require.Equal(t, "target quota-exhausted", refusal(t, err))
	_, err = EnsureDir(m, root, "/d", "a/b/c")
	require.Equal(t, "target quota-exhausted", refusal(t, err))
	root, err = Write(m, root, "/", "a/b", nil)
	require.NoError(t, err)
	require.NoError(t, Verify(m, root))
	_, err = Write(m, root, "/", "c", nil)
	require.Equal(t, "target quota-exhausted", refusal(t, err))
	_, err = Write(m, root, "/", "a/b", []byte("what is there may change"))
	require.NoError(t, err)
	_, err = Write(m, root, "/", "d/000000", []byte("what takes a place may come"))
	require.NoError(t, err)
}

func TestPathsAreBounded(t *testing.T) {
	m := NewMemory()
	root, cwd := EmptyRoot, "/"
	name := strings.Repeat("n", MaxName)
	for range MaxPath / (MaxName + 1) { // 16 names and 16 slashes
		var err error
		root, err = EnsureDir(m, root, cwd, name)
		require.NoError(t, err)
		cwd = path.Join(cwd, name)
	}
	_, err := Write(m, root, cwd, "x", nil)
	require.Equal(t, "resolution path-too-long", refusal(t, err))
	_, err = EnsureDir(m, root, path.Dir(cwd), strings.Repeat("n", MaxName-1)+"/x")
	require.NoError(t, err)
	root, err = Write(m, root, path.Dir(cwd), strings.Repeat("n", MaxName-1), nil)
	require.NoError(t, err)
	require.NoError(t, Verify(m, root))
	found, err := Glob(m, root, "/", []string{"**"}, nil)
	require.NoError(t, err)
	require.Len(t, found, 1)
}

// A model is what the tree should be: files by path, and the directories.
type model struct {
	files map[string]string
	dirs  map[string]bool
}

func (m model) parents(name string) (fileInTheWay bool) {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if _, file := m.files[at]; file {
			return true
		}
	}
	return false
}

func (m model) make(name string) {
	for at := name; at != "."; at = path.Dir(at) {
		m.dirs[at] = true
	}
}

func (m model) write(name, content string) string {
	switch {
	case m.parents(name):
		return "resolution not-directory"
	case m.dirs[name]:
		return "target directory"
	}
	m.make(path.Dir(name))
	m.files[name] = content
	return ""
}

func (m model) remove(name string) string {
	switch {
	case m.parents(name):
		return "resolution not-directory"
	case m.dirs[name]:
		return "target directory"
	}
	delete(m.files, name)
	return ""
}

func (m model) ensure(name string) string {
	if m.parents(name) {
		return "resolution not-directory"
	}
	if _, file := m.files[name]; file {
		return "target not-directory"
	}
	m.make(name)
	return ""
}

func (m model) contents() map[string]string {
	all := maps.Clone(m.files)
	for d := range m.dirs {
		all[d+"/"] = ""
	}
	return all
}

// TestAgainstAModel: random operations do to the tree what they do to a map; equal
// content has an equal root; no later operation changes what an earlier root is.
func TestAgainstAModel(t *testing.T) {
	names := []string{"a", "b", "c", "é", "A"}
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		m, want, root := NewMemory(), model{map[string]string{}, map[string]bool{}}, EmptyRoot
		states := map[string]map[string]string{}
		for step := range 120 {
			segments := make([]string, 1+r.IntN(3))
			for i := range segments {
				segments[i] = names[r.IntN(len(names))]
			}
			name := strings.Join(segments, "/")
			var next, refused string
			var err error
			switch r.IntN(5) {
			case 0:
				next, err = Delete(m, root, "/", name)
				refused = want.remove(name)
			case 1:
				next, err = EnsureDir(m, root, "/", name)
				refused = want.ensure(name)
			default:
				content := fmt.Sprint(r.IntN(3))
				next, err = Write(m, root, "/", name, []byte(content))
				refused = want.write(name, content)
			}
			require.Equal(t, refused, refusal(t, err), "seed %d step %d: %s", seed, step, name)
			if err == nil {
				root = next
			}
			require.Equal(t, want.contents(), contents(t, m, root), "seed %d step %d: %s", seed, step, name)
			if before, known := states[root]; known {
				require.Equal(t, before, want.contents())
			}
			states[root] = want.contents()
		}
		found, err := Glob(m, root, "/", []string{"**"}, nil)
		require.NoError(t, err)
		require.Equal(t, slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(want.files)))), found)
		other := NewMemory()
		for root, state := range states {
			require.Equal(t, state, contents(t, m, root))
			require.Equal(t, root, world(t, other, state), "the root depends on how it came about")
			require.NoError(t, Verify(m, root))
		}
	}
}
