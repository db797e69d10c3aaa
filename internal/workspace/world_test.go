package workspace

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/host"
)

// A counter is Objects that says what was asked of it.
type counter struct {
	*Memory
	reads, puts int
	read        map[string]int
}

func newCounter() *counter { return &counter{Memory: NewMemory(), read: map[string]int{}} }

func (c *counter) Object(hash string) (string, []byte, error) {
	c.reads++
	c.read[hash]++
	return c.Memory.Object(hash)
}

func (c *counter) PutObject(hash, kind string, data []byte) error {
	c.puts++
	return c.Memory.PutObject(hash, kind, data)
}

// damage replaces what is under a hash, as nothing but a broken disk does.
func (m *Memory) damage(hash, kind string, data []byte) {
	m.objects[hash] = stored{kind, string(data)}
}

// plant keeps a directory made of entries and returns its hash.
func plant(t testing.TB, o Objects, entries ...entry) string {
	t.Helper()
	hash, err := newView(o, "", nil).put(entries)
	require.NoError(t, err)
	return hash
}

// world keeps a tree of files. A key ending in / is a directory, a value beginning
// with "-> " the target of a link.
func world(t testing.TB, o Objects, files map[string]string) string {
	t.Helper()
	below := map[string]map[string]string{}
	var entries []entry
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name]
		target, link := strings.CutPrefix(content, "-> ")
		head, rest, nested := strings.Cut(name, "/")
		switch {
		case nested:
			if below[head] == nil {
				below[head] = map[string]string{}
			}
			if rest != "" {
				below[head][rest] = content
			}
		case link:
			entries = append(entries, entry{name: name, kind: linkEntry, target: target})
		default:
			hash := Hash(KindBlob, []byte(content))
			require.NoError(t, o.PutObject(hash, KindBlob, []byte(content)))
			entries = append(entries, entry{name: name, kind: fileEntry, mode: plainMode, hash: hash, size: int64(len(content))})
		}
	}
	for name, files := range below {
		entries = append(entries, entry{name: name, kind: dirEntry, hash: world(t, o, files)})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return plant(t, o, entries...)
}

// contents reads a whole tree back in the form of world.
func contents(t testing.TB, o Objects, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	v := newView(o, root, nil)
	var list func(prefix, hash string)
	list = func(prefix, hash string) {
		entries, err := v.tree(hash)
		require.NoError(t, err)
		for _, e := range entries {
			switch e.kind {
			case dirEntry:
				all[prefix+e.name+"/"] = ""
				list(prefix+e.name+"/", e.hash)
			case linkEntry:
				all[prefix+e.name] = "-> " + e.target
			default:
				data, err := v.blob(e)
				require.NoError(t, err)
				all[prefix+e.name] = string(data)
			}
		}
	}
	list("", root)
	return all
}

// refusal is the phase and reason of a refusal, or "".
func refusal(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var refused *host.FileError
	require.ErrorAs(t, err, &refused)
	return refused.Phase + " " + refused.Reason
}

func damaged(err error) bool {
	var damage *DamageError
	return errors.As(err, &damage)
}
