package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVerify(t *testing.T) {
	files := map[string]string{"a.txt": "same", "d/b.txt": "same", "d/e/c.txt": "other", "f/e/c.txt": "other", "l": "-> nowhere", "empty/": ""}
	c := newCounter()
	root := world(t, c, files)
	c.read = map[string]int{}
	require.NoError(t, Verify(c, root))
	require.Len(t, c.read, 7) // five trees and two blobs
	for hash, times := range c.read {
		require.Equal(t, 1, times, hash)
	}
	require.NoError(t, Verify(NewMemory(), EmptyRoot))

	for hash := range c.read {
		kind, data, err := c.Memory.Object(hash)
		require.NoError(t, err)
		other := map[string]string{KindTree: KindBlob, KindBlob: KindTree}[kind]
		flipped := append([]byte(nil), data...)
		flipped[len(flipped)/2] ^= 1
		for name, harm := range map[string]func(){
			"flipped":      func() { c.damage(hash, kind, flipped) },
			"emptied":      func() { c.damage(hash, kind, nil) },
			"another kind": func() { c.damage(hash, other, data) },
			"missing":      func() { delete(c.objects, hash) },
		} {
			harm()
			err := Verify(c, root)
			var damage *DamageError
			require.ErrorAs(t, err, &damage, "%s %s", kind, name)
			require.Equal(t, hash, damage.Hash, name)
			require.Equal(t, kind, damage.Kind, name)
			c.damage(hash, kind, data)
		}
	}
	require.NoError(t, Verify(c, root))
	require.True(t, damaged(Verify(c, "no hash")))
	err := Verify(c, h1)
	require.True(t, damaged(err))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.EqualError(t, err, `the workspace is damaged: the tree "`+h1+`": it is missing; restore the run from a copy or delete it`)
}

func TestVerifyMeasuresSizes(t *testing.T) {
	m := NewMemory()
	hash := Hash(KindBlob, []byte("four"))
	require.NoError(t, m.PutObject(hash, KindBlob, []byte("four")))
	file := func(name string, size int64) entry {
		return entry{name: name, kind: fileEntry, mode: executableMode, hash: hash, size: size}
	}
	require.NoError(t, Verify(m, plant(t, m, file("a", 4), file("b", 4))))
	wrong := plant(t, m, file("a", 4), file("b", 5))
	require.True(t, damaged(Verify(m, wrong)))
	_, err := Read(m, wrong, "/", "b")
	require.True(t, damaged(err))
}

// A few objects can describe a tree without end; none of the walks follows it.
func TestTreesBeyondTheLimits(t *testing.T) {
	m := NewMemory()
	bomb := EmptyRoot
	for range 200 {
		bomb = plant(t, m, entry{name: "a", kind: dirEntry, hash: bomb}, entry{name: "b", kind: dirEntry, hash: bomb})
	}
	deep := EmptyRoot
	for range 3 * MaxPath {
		deep = plant(t, m, entry{name: "a", kind: dirEntry, hash: deep})
	}
	links := make([]entry, MaxEntries)
	for i := range links {
		links[i] = entry{name: fmt.Sprintf("%06d", i), kind: linkEntry, target: "x"}
	}
	wide := plant(t, m, entry{name: "d", kind: dirEntry, hash: plant(t, m, links...)})
	for name, root := range map[string]string{"bomb": bomb, "deep": deep, "wide": wide} {
		for i, walk := range []func(Objects) error{
			func(o Objects) error { return Verify(o, root) },
			func(o Objects) error { return second(Write(o, root, "/", "new", nil)) },
			func(o Objects) error { _, err := Glob(o, root, "/", []string{"**/*"}, nil); return err },
		} {
			c := &counter{Memory: m, read: map[string]int{}}
			require.True(t, damaged(walk(c)), "%s %d", name, i)
			require.LessOrEqual(t, c.reads, MaxPath/2+3, "%s %d", name, i)
		}
	}
	_, err := Glob(m, plant(t, m, links...), "/", []string{"**/*"}, nil)
	require.NoError(t, err)
	longest := EmptyRoot
	for range MaxPath/2 - 1 {
		longest = plant(t, m, entry{name: "a", kind: dirEntry, hash: longest})
	}
	longest = plant(t, m, entry{name: "ab", kind: dirEntry, hash: longest}) // 2 + 2047*2 bytes
	require.NoError(t, Verify(m, longest))
	_, err = Glob(m, longest, "/", []string{"**/*"}, nil)
	require.NoError(t, err)
	require.True(t, damaged(Verify(m, plant(t, m, entry{name: "abc", kind: dirEntry, hash: child(t, m, longest, "ab")}))))
}

func child(t *testing.T, m *Memory, root, name string) string {
	entries, err := newView(m, root, nil).tree(root)
	require.NoError(t, err)
	e, found := lookup(entries, name)
	require.True(t, found)
	return e.hash
}

// An error of the Objects is no damage.
func TestErrorsOfTheObjectsPass(t *testing.T) {
	down := errors.New("the store is down")
	for _, o := range []Objects{failing{NewMemory(), down, nil}, failing{NewMemory(), nil, down}} {
		_, err := Write(o, EmptyRoot, "/", "a/b", nil)
		require.ErrorIs(t, err, down)
		require.False(t, damaged(err))
	}
	require.ErrorIs(t, Verify(failing{NewMemory(), down, nil}, EmptyRoot), down)
}

type failing struct {
	*Memory
	get, put error
}

func (f failing) Object(hash string) (string, []byte, error) {
	if f.get != nil {
		return "", nil, fmt.Errorf("object: %w", f.get)
	}
	return f.Memory.Object(hash)
}

func (f failing) PutObject(hash, kind string, data []byte) error {
	if f.put != nil {
		return fmt.Errorf("put: %w", f.put)
	}
	return f.Memory.PutObject(hash, kind, data)
}
