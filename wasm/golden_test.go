package wasm

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// An assembly is a module written by hand: it knows the binary format, and nothing of
// the encoder it is compared with. A section is its bytes after the header.
type assembly struct{ sections []section }

type section struct {
	id      byte
	content []byte
}

// b joins bytes and texts.
func b(parts ...any) []byte {
	var all []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			all = append(all, byte(p))
		case byte:
			all = append(all, p)
		case string:
			all = append(all, p...)
		case []byte:
			all = append(all, p...)
		}
	}
	return all
}

// sized is content behind its length, in two bytes of LEB128 where it needs them.
func sized(content []byte) []byte {
	if n := len(content); n >= 128 {
		return b(n&0x7f|0x80, n>>7, content)
	}
	return b(len(content), content)
}

func (a *assembly) bytes() []byte {
	data := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range a.sections {
		data = append(append(data, s.id), sized(s.content)...)
	}
	return data
}

// set replaces the content of a section by its place.
func (a *assembly) set(place int, content []byte) { a.sections[place].content = content }

func (a *assembly) insert(place int, s section) { a.sections = slices.Insert(a.sections, place, s) }

func (a *assembly) remove(place int) { a.sections = slices.Delete(a.sections, place, place+1) }

// Places of sections in an assembly.
const (
	inFragment = iota
	inStrings
	inTypes
	inImports
	inFunctions
	inGlobals
	inExports
	inCode
)

const tick = "\x23\x00\x41\x01\x6b\x24\x00\x23\x00\x41\x00\x48\x04\x40\x00\x0b"

var digest32 = func() []byte {
	raw, err := hex.DecodeString(testDigest[len("sha256:"):])
	if err != nil {
		panic(err)
	}
	return raw
}()

// handwritten is the module of
//
//	..<Peek />
//	text<All><Spawn><Peek as="x" /></Spawn></All>
//
// the first <Peek at byte 3, <All at 23, <Spawn at 28, the second <Peek at 38.
func handwritten() *assembly {
	peek := b(sized(b("Peek")), sized(b("test/Peek@1")))
	return &assembly{[]section{
		{0, b(sized(b("xmd.fragment")), 1, digest32,
			3, peek, sized(b("All")), 0, sized(b("Spawn")), 0,
			4,
			0, 0, 1, 3,
			1, 1, 2, 20,
			2, 1, 1, 5,
			0, 2, 1, 10,
		)},
		{0, b(sized(b("xmd.strings")), 4, sized(b("..")), sized(b("{}")), sized(b("text")), sized(b("x")))},
		{1, b(6,
			0x60, 1, 0x7f, 0,
			0x60, 1, 0x7f, 1, 0x7f,
			0x60, 2, 0x7f, 0x7f, 0,
			0x60, 0, 0,
			0x60, 2, 0x7f, 0x7f, 1, 0x7f,
			0x60, 0, 1, 0x7f,
		)},
		{2, b(7,
			sized(b("xmd:text")), sized(b("emit")), 0, 0,
			sized(b("xmd:text")), sized(b("render")), 0, 0,
			sized(b("xmd:value")), sized(b("literal")), 0, 1,
			sized(b("xmd:scope")), sized(b("bind")), 0, 2,
			sized(b("xmd:task")), sized(b("spawn")), 0, 0,
			sized(b("xmd:task")), sized(b("join")), 0, 3,
			sized(b("test/Peek@1")), sized(b("invoke")), 0, 4,
		)},
		{3, b(2, 5, 5)},
		{6, b(1, 0x7f, 1, 0x41, 0, 0x0b)},
		{7, b(3,
			sized(b("fuel")), 3, 0,
			sized(b("run")), 0, 7,
			sized(b("spawn.0")), 0, 8,
		)},
		{10, b(2, sized(handwrittenRun()), sized(handwrittenSpawn()))},
	}}
}

func handwrittenRun() []byte {
	return b(0, tick,
		0x41, 0, 0x10, 0,
		tick, 0x41, 0, 0x41, 1, 0x10, 2, 0x10, 6, 0x10, 1,
		0x41, 2, 0x10, 0,
		tick, tick, 0x41, 0, 0x10, 4, 0x10, 5,
		0x41, 0, 0x0b,
	)
}

func handwrittenSpawn() []byte {
	return b(0, tick,
		tick, 0x41, 3, 0x41, 3, 0x41, 1, 0x10, 2, 0x10, 6, 0x10, 3,
		0x41, 0, 0x0b,
	)
}

func handwrittenProgram() *Program {
	return &Program{
		Digest: testDigest,
		Elements: []Element{
			{Name: "Peek", Identity: "test/Peek@1", Parent: -1, Offset: 3},
			{Name: "All", Form: Paired, Parent: -1, Offset: 23},
			{Name: "Spawn", Form: Paired, Parent: 1, Offset: 28},
			{Name: "Peek", Identity: "test/Peek@1", As: true, Parent: 2, Offset: 38},
		},
		Body: []Node{
			&Text{".."},
			&Invoke{Element: 0},
			&Text{"te"}, &Text{""}, &Text{"xt"},
			&All{Element: 1, Spawns: []Spawn{{Element: 2, Body: []Node{&Invoke{Element: 3, As: "x"}}}}},
		},
	}
}

func TestCompileWritesWhatAHandWouldWrite(t *testing.T) {
	m, err := Compile(handwrittenProgram())
	require.NoError(t, err)
	require.Equal(t, handwritten().bytes(), m.Bytes)
	require.Equal(t, &Module{
		Bytes:    m.Bytes,
		Digest:   digest(m.Bytes),
		Source:   testDigest,
		Elements: handwrittenProgram().Elements,
		Strings:  []string{"..", "{}", "text", "x"},
		Spawns:   1,
		Imports: []Import{
			{"xmd:text", "emit", 1, 0},
			{"xmd:text", "render", 1, 0},
			{"xmd:value", "literal", 1, 1},
			{"xmd:scope", "bind", 2, 0},
			{"xmd:task", "spawn", 1, 0},
			{"xmd:task", "join", 0, 0},
			{"test/Peek@1", "invoke", 2, 1},
		},
	}, m)
}

// The smallest module imports nothing; a fragment of text imports emit alone.
func TestOnlyWhatIsUsedIsImported(t *testing.T) {
	for _, c := range []struct {
		name    string
		body    []Node
		imports []Import
		strings []string
	}{
		{name: "nothing"},
		{name: "empty text", body: []Node{&Text{}}},
		{"text", []Node{&Text{"a"}, &Text{"b"}}, []Import{{"xmd:text", "emit", 1, 0}}, []string{"ab"}},
		{"reference", []Node{&Show{"{a}"}}, []Import{{"xmd:text", "show", 1, 0}}, []string{"{a}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := requireRoundTrip(t, &Program{Digest: testDigest, Body: c.body})
			require.Equal(t, c.imports, m.Imports)
			require.Equal(t, c.strings, m.Strings)
			require.Nil(t, m.Elements)
		})
	}
}
