package sandbox_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

func peekAndPut(d *draft) []wasm.Node {
	return nodes(d.peek("x", lit("a")), d.put("f", func() []wasm.Node { return nodes(show("{x}")) }))
}

// profiled grants a profile of the given tables.
func profiled(t *testing.T, read, write []capability.Entry) *capability.Grant {
	t.Helper()
	var allow []capability.Class
	if len(read) > 0 {
		allow = append(allow, capability.ReadClass)
	}
	if len(write) > 0 {
		allow = append(allow, capability.WriteClass)
	}
	g, err := capture(t, capability.Profile{Name: "tests", Dialect: capability.Closed, Read: read, Write: write}).Select(allow...)
	require.NoError(t, err)
	return g
}

func TestA6_ImportsAreTheGrant(t *testing.T) {
	r := interpreter(t)
	m := compile(t, program(peekAndPut))
	w := newWorld()
	refused := func(t *testing.T, g *capability.Grant) {
		t.Helper()
		_, err := r.Run(t.Context(), m, g, sandbox.Hooks{})
		var link *sandbox.LinkError
		require.ErrorAs(t, err, &link)
		require.Empty(t, w.done(), "nothing was performed")
	}
	t.Run("a grant is missing", func(t *testing.T) {
		refused(t, profiled(t, []capability.Entry{w.peek()}, nil))
		refused(t, profiled(t, nil, []capability.Entry{w.put()}))
	})
	t.Run("a revision was raised", func(t *testing.T) {
		raised := w.peek()
		raised.Identity.Revision = 2
		refused(t, profiled(t, []capability.Entry{raised}, []capability.Entry{w.put()}))
	})
	t.Run("a form is missing", func(t *testing.T) {
		single := w.put()
		single.Forms = capability.SelfClosing
		refused(t, profiled(t, []capability.Entry{w.peek()}, []capability.Entry{single}))
	})
	t.Run("the name means something else", func(t *testing.T) {
		other := w.peek()
		other.Name = "Look"
		refused(t, profiled(t, []capability.Entry{other}, []capability.Entry{w.put()}))
	})
	t.Run("exactly what is imported", func(t *testing.T) {
		_, err := r.Run(t.Context(), m, profiled(t, []capability.Entry{w.peek()}, []capability.Entry{w.put()}), sandbox.Hooks{})
		require.NoError(t, err)
	})
	t.Run("and more", func(t *testing.T) {
		_, err := r.Run(t.Context(), m, w.grant(t, capability.Limits{}), sandbox.Hooks{})
		require.NoError(t, err)
	})
}

// section is one section of a module.
type section struct {
	id      byte
	content []byte
}

// sections takes a module of short sections apart.
func sections(t *testing.T, data []byte) []section {
	t.Helper()
	var all []section
	for data = data[8:]; len(data) > 0; {
		size, n := 0, 1
		for shift := 0; ; shift += 7 {
			size |= int(data[n]&0x7f) << shift
			n++
			if data[n-1] < 0x80 {
				break
			}
		}
		all = append(all, section{data[0], data[n : n+size]})
		data = data[n+size:]
	}
	return all
}

func joined(all []section) []byte {
	data := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range all {
		data = append(data, s.id)
		size := len(s.content)
		for ; size >= 0x80; size >>= 7 {
			data = append(data, byte(size)|0x80)
		}
		data = append(append(data, byte(size)), s.content...)
	}
	return data
}

// before inserts a section before the first one of an id.
func before(all []section, id byte, s section) []section {
	i := slices.IndexFunc(all, func(s section) bool { return s.id == id })
	return slices.Insert(slices.Clone(all), i, s)
}

// TestA21_OnlyTheBytesAreTheModule gives modules that say one thing and are another:
// what a module says of itself counts for nothing.
func TestA21_OnlyTheBytesAreTheModule(t *testing.T) {
	r := interpreter(t)
	m := compile(t, program(oneRead))
	parts := sections(t, m.Bytes)
	require.Equal(t, m.Bytes, joined(parts))
	const (
		imports = 2
		global  = 6
		export  = 7
		code    = 10
	)
	for name, data := range map[string][]byte{
		"a memory":       joined(before(parts, global, section{5, []byte{1, 0, 0}})),
		"a table":        joined(before(parts, global, section{4, []byte{1, 0x70, 1, 0, 0}})),
		"a start":        joined(before(parts, code, section{8, []byte{0}})),
		"no tables":      joined(slices.DeleteFunc(slices.Clone(parts), func(s section) bool { return s.id == 0 })),
		"a name section": joined(append(slices.Clone(parts), section{0, []byte("\x04name")})),
		"trailing bytes": append(slices.Clone(m.Bytes), 0),
		"nothing":        nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			forged := *m
			forged.Bytes = data
			_, err := r.Run(t.Context(), &forged, w.grant(t, capability.Limits{}), sandbox.Hooks{})
			var link *sandbox.LinkError
			require.ErrorAs(t, err, &link)
			require.Empty(t, w.done())
		})
	}
	t.Run("what the module says of itself", func(t *testing.T) {
		w := newWorld()
		_, err := r.Run(t.Context(), &wasm.Module{Bytes: m.Bytes}, w.grant(t, capability.Limits{}), sandbox.Hooks{})
		require.NoError(t, err)
		require.Equal(t, []string{"peek k"}, w.done())
	})
	t.Run("no module", func(t *testing.T) {
		_, err := r.Run(t.Context(), nil, newWorld().grant(t, capability.Limits{}), sandbox.Hooks{})
		var link *sandbox.LinkError
		require.ErrorAs(t, err, &link)
	})
}
