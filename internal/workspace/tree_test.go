package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	h1 = "1111111111111111111111111111111111111111111111111111111111111111"
	hf = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
)

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

func TestFormat(t *testing.T) {
	require.Equal(t, sum("xmd-workspace-tree\x00v1\x00"+`{"entries":[]}`), EmptyRoot)
	require.Equal(t, EmptyRoot, Hash(KindTree, []byte(EmptyTree)))
	require.Equal(t, EmptyTree, string(encode(nil)))

	m := NewMemory()
	root, err := Write(m, EmptyRoot, "/", "d/a\"\n\u2028<é.txt", []byte("hello"))
	require.NoError(t, err)
	blob := sum("xmd-workspace-blob\x00v1\x00hello")
	inner := `{"entries":[["a\"\n` + "\u2028" + `<é.txt","file",420,"` + blob + `",5]]}`
	outer := `{"entries":[["d","dir","` + sum("xmd-workspace-tree\x00v1\x00"+inner) + `"]]}`
	require.Equal(t, sum("xmd-workspace-tree\x00v1\x00"+outer), root)
	kind, data, err := m.Object(root)
	require.NoError(t, err)
	require.Equal(t, "tree "+outer, kind+" "+string(data))
}

// goodTrees are trees with every kind of entry; the order is that of bytes.
var goodTrees = []string{
	EmptyTree,
	`{"entries":[["A","dir","` + h1 + `"],["a","file",420,"` + hf + `",0],["b","file",493,"` + h1 + `",67108864],["é","link","../x"]]}`,
	`{"entries":[["\u0001\\\"\n","link","\t/"]]}`,
	`{"entries":[["` + "\uffff" + `","link","x"],["` + "\U0001F600" + `","link","x"]]}`,
}

func TestReadingIsStrict(t *testing.T) {
	for _, good := range goodTrees {
		entries, problem := parse([]byte(good))
		require.Empty(t, problem, good)
		require.Equal(t, good, string(encode(entries)))
	}
	one := func(entry string) string { return `{"entries":[` + entry + `]}` }
	file := func(mode, hash, size string) string {
		return one(`["a","file",` + mode + `,"` + hash + `",` + size + `]`)
	}
	link := func(name string) string { return one(`["` + name + `","link","x"]`) }
	require.Empty(t, second(parse([]byte(file("420", h1, "12")))))
	require.Empty(t, second(parse([]byte(link(strings.Repeat("n", 255))))))
	for name, bad := range map[string]string{
		"empty":              ``,
		"another value":      `[]`,
		"another member":     `{"entries":[],"x":1}`,
		"blank":              `{"entries": []}`,
		"newline at the end": EmptyTree + "\n",
		"truncated":          goodTrees[1][:len(goodTrees[1])-1],
		"trailing comma":     one(`["a","link","x"],`),
		"leading comma":      one(`,["a","link","x"]`),
		"same name":          one(`["a","link","x"],["a","link","x"]`),
		"out of order":       one(`["b","link","x"],["a","link","x"]`),
		"order of UTF-16":    one(`["` + "\U0001F600" + `","link","x"],["` + "\uffff" + `","link","x"]`),
		"no name":            link(``),
		"dot":                link(`.`),
		"dots":               link(`..`),
		"slash":              link(`a/b`),
		"NUL":                link(`\u0000`),
		"long name":          link(strings.Repeat("n", 256)),
		"not UTF-8":          link("\xff"),
		"lone surrogate":     link(`\ud800`),
		"needless escape":    link(`\u0061`),
		"escaped slash":      link(`a\/b`),
		"upper-case escape":  link(`\u001F`),
		"long escape":        link(`\u000a`),
		"control character":  link("\x01"),
		"unknown escape":     link(`\x`),
		"open text":          `{"entries":[["a`,
		"open escape":        `{"entries":[["a\`,
		"open quote":         `{"entries":[["a\"`,
		"unknown kind":       one(`["a","pipe","x"]`),
		"extra member":       one(`["a","link","x",1]`),
		"mode":               file("0", h1, "1"),
		"mode 511":           file("511", h1, "1"),
		"mode in words":      file(`"420"`, h1, "1"),
		"upper-case hash":    file("420", strings.ToUpper(hf), "1"),
		"short hash":         file("420", h1[1:], "1"),
		"long hash":          file("420", h1+"1", "1"),
		"no size":            file("420", h1, ""),
		"negative size":      file("420", h1, "-1"),
		"leading zero":       file("420", h1, "01"),
		"fraction":           file("420", h1, "1.0"),
		"exponent":           file("420", h1, "1e1"),
		"too large":          file("420", h1, "67108865"),
		"huge":               file("420", h1, "99999999999999999999"),
		"link to nothing":    one(`["a","link",""]`),
		"link with NUL":      one(`["a","link","a\u0000"]`),
		"long link":          one(`["a","link","` + strings.Repeat("x", 4097) + `"]`),
		"directory hash":     one(`["a","dir","."]`),
	} {
		_, problem := parse([]byte(bad))
		require.NotEmpty(t, problem, name)

		m := NewMemory()
		root := Hash(KindTree, []byte(bad))
		require.NoError(t, m.PutObject(root, KindTree, []byte(bad)))
		_, err := Glob(m, root, "/", []string{"**"}, nil)
		require.True(t, damaged(err), name)
	}
}

func second[A, B any](_ A, b B) B { return b }

func TestTooManyEntriesInOneDirectory(t *testing.T) {
	for n, problem := range map[int]string{MaxEntries: "", MaxEntries + 1: tooLarge} {
		entries := make([]entry, n)
		for i := range entries {
			entries[i] = entry{name: fmt.Sprintf("%06d", i), kind: linkEntry, target: "x"}
		}
		_, found := parse(encode(entries))
		require.Equal(t, problem, found)
	}
}

// FuzzTree: what is accepted is what would be written, so a tree has one form.
func FuzzTree(f *testing.F) {
	for _, good := range goodTrees {
		f.Add([]byte(good))
	}
	f.Add([]byte(`{"entries":[["\ud83d\ude00","link","\u00e9"]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, problem := parse(data)
		if problem != "" {
			require.Nil(t, entries)
			return
		}
		require.Equal(t, string(data), string(encode(entries)))
		for i, e := range entries {
			require.True(t, validName(e.name))
			require.True(t, i == 0 || entries[i-1].name < e.name)
		}
	})
}
