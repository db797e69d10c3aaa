package wasm

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// reasonOf is why data is refused.
func reasonOf(t *testing.T, data []byte) string {
	t.Helper()
	m, err := Read(data)
	require.Error(t, err)
	require.Nil(t, m)
	var wrong *FormatError
	require.ErrorAs(t, err, &wrong)
	require.Positive(t, len(wrong.Reason))
	require.True(t, wrong.Offset >= 0 && wrong.Offset <= len(data))
	return wrong.Reason
}

// swap changes one place of a section.
func swap(place int, old, with []byte) func(*assembly) {
	return func(a *assembly) {
		content := a.sections[place].content
		if bytes.Count(content, old) != 1 {
			panic("the place to change is not one place")
		}
		a.set(place, bytes.Replace(content, old, with, 1))
	}
}

// insert puts a section in front of another.
func insert(place int, id byte, content ...any) func(*assembly) {
	return func(a *assembly) { a.insert(place, section{id, b(content...)}) }
}

func remove(place int) func(*assembly) { return func(a *assembly) { a.remove(place) } }

// bodies replaces the code of run and of the spawn.
func bodies(run, spawn []byte) func(*assembly) {
	return func(a *assembly) { a.set(inCode, b(2, sized(run), sized(spawn))) }
}

// inRun changes one place of the code of run.
func inRun(old, with []byte) func(*assembly) {
	code := handwrittenRun()
	if bytes.Count(code, old) != 1 {
		panic("the place to change is not one place")
	}
	return bodies(bytes.Replace(code, old, with, 1), handwrittenSpawn())
}

// whole is the code of run, with more before its end.
func whole(code ...any) func(*assembly) {
	original := handwrittenRun()
	return bodies(b(original[:len(original)-3], b(code...), 0x41, 0, 0x0b), handwrittenSpawn())
}

const (
	misplaced   = "a section that does not belong there"
	notGranted  = "imports that are not what the element table grants"
	notField    = "an import that no fragment has, or not in its place"
	notExported = "an export that is not fuel, run or the next spawn"
	notFuel     = "a global that is not the fuel"
	notNumber   = "a number is not written as it would be"
	leftOver    = "bytes after the last item"
	notCalled   = "an import that nothing calls"
	notTaken    = "an argument that its import does not take"
	unknown     = "an instruction that no fragment has"
	early       = "it ends too early"
	order       = "functions are not in the order they are called in"
	locals      = "locals are not in order of first use"
	textOrder   = "texts are not in order of first use"
	meaningless = "a row of the element table that means nothing"
)

func TestA21_ASectionOutsideTheSubsetIsRefused(t *testing.T) {
	data := handwritten().bytes()
	m, err := Read(data)
	require.NoError(t, err)
	require.Equal(t, data, m.Bytes)

	for _, c := range []struct {
		name   string
		change func(*assembly)
		reason string
	}{
		// Sections.
		{"a table", insert(inGlobals, 4, 1, 0x70, 0, 1), misplaced},
		{"a memory", insert(inGlobals, 5, 1, 1, 0, 0), misplaced},
		{"a start function", insert(inCode, 8, 7), misplaced},
		{"elements of a table", insert(inCode, 9, 0), misplaced},
		{"a count of data", insert(inCode, 12, 0), misplaced},
		{"data", insert(inCode+1, 11, 0), "bytes after the last section"},
		{"names behind the code", insert(inCode+1, 0, sized(b("name"))), "bytes after the last section"},
		{"names before the tables", insert(inFragment, 0, sized(b("name"))), "the first section is not xmd.fragment"},
		{"the strings twice", insert(inTypes, 0, sized(b("xmd.strings")), 0), misplaced},
		{"the code twice", insert(inCode, 10, 0), "another number of bodies than of functions"},
		{"the imports twice", insert(inFunctions, 2, 0), misplaced},
		{"an unknown section", insert(inTypes, 13), misplaced},
		{"the tables the other way round", func(a *assembly) {
			a.sections[0], a.sections[1] = a.sections[1], a.sections[0]
		}, "the first section is not xmd.fragment"},
		{"no fragment", remove(inFragment), "the first section is not xmd.fragment"},
		{"no strings", remove(inStrings), misplaced},
		{"no types", remove(inTypes), misplaced},
		{"no imports", remove(inImports), notGranted},
		{"no functions", remove(inFunctions), misplaced},
		{"no fuel", remove(inGlobals), misplaced},
		{"no exports", remove(inExports), misplaced},
		{"no code", remove(inCode), early},

		// Imports.
		{"a memory is imported", swap(inImports, b(sized(b("xmd:task")), sized(b("join")), 0, 3),
			b(sized(b("xmd:task")), sized(b("join")), 2, 0, 1)), "an import that is not a function"},
		{"a global is imported", swap(inImports, b(sized(b("xmd:task")), sized(b("join")), 0, 3),
			b(sized(b("xmd:task")), sized(b("join")), 3, 0x7f, 0)), "an import that is not a function"},
		{"a module nobody knows", swap(inImports, b("xmd:task", 4, "join"), b("xmd:tusk", 4, "join")), notField},
		{"the host's own", swap(inImports, b(8, "xmd:task", 4, "join"), b(8, "wasi_one", 4, "join")), notField},
		{"a field nobody knows", swap(inImports, b("join"), b("jorn")), notField},
		{"an import twice", swap(inImports, b(8, "xmd:text", 6, "render", 0, 0), b(8, "xmd:text", 4, "emit", 0, 0)), notField},
		{"an import of another type", swap(inImports, b("render", 0, 0), b("render", 0, 1)), "a type that is not what this has"},
		{"a type before its turn", swap(inImports, b("emit", 0, 0), b("emit", 0, 1)), "types are not in order of first use"},
		{"a type that is none", swap(inImports, b("invoke", 0, 4), b("invoke", 0, 9)), "types are not in order of first use"},
		{"imports in another order", swap(inImports,
			b(8, "xmd:text", 4, "emit", 0, 0, 8, "xmd:text", 6, "render", 0, 0),
			b(8, "xmd:text", 6, "render", 0, 0, 8, "xmd:text", 4, "emit", 0, 0)), notField},
		{"a capability that no element names", swap(inImports, b("test/Peek@1"), b("test/Poke@1")), notGranted},
		{"another revision of a capability", swap(inImports, b("test/Peek@1"), b("test/Peek@2")), notGranted},
		{"another use of a capability", swap(inImports, b("invoke"), b("writes")), notGranted},
		{"one capability more", func(a *assembly) {
			imports := a.sections[inImports].content
			a.set(inImports, b(8, imports[1:], sized(b("test/Poke@1")), sized(b("invoke")), 0, 4))
		}, notField},
		{"one capability less", func(a *assembly) {
			imports := a.sections[inImports].content
			a.set(inImports, b(6, imports[1:bytes.Index(imports, b("test/"))-1]))
		}, notGranted},
		{"an import that is not called", inRun(b(0x10, 6, 0x10, 1), b(0x10, 6, 0x1a)), notCalled},

		// Exports.
		{"a function exported under another name", func(a *assembly) {
			a.set(inExports, b(4, a.sections[inExports].content[1:], sized(b("more")), 0, 7))
		}, notExported},
		{"an import exported", swap(inExports, b("run", 0, 7), b("run", 0, 6)), order},
		{"a spawn as run", swap(inExports, b("run", 0, 7), b("run", 0, 8)), order},
		{"another name for run", swap(inExports, b("run"), b("ran")), notExported},
		{"another name for the fuel", swap(inExports, b("fuel"), b("food")), notExported},
		{"the fuel not exported", swap(inExports, b(3, 4, "fuel", 3, 0), b(2)), notExported},
		{"another global as the fuel", swap(inExports, b("fuel", 3, 0), b("fuel", 3, 1)), "an export that is not the fuel"},
		{"a spawn that is no function", swap(inExports, b("spawn.0", 0, 8), b("spawn.0", 0, 9)), order},
		{"a spawn of another number", swap(inExports, b("spawn.0"), b("spawn.1")), notExported},
		{"a memory exported", func(a *assembly) {
			a.set(inExports, b(4, a.sections[inExports].content[1:], sized(b("memory")), 2, 0))
		}, notExported},

		// Globals.
		{"a second global", func(a *assembly) {
			a.set(inGlobals, b(2, a.sections[inGlobals].content[1:], a.sections[inGlobals].content[1:]))
		}, notFuel},
		{"no global", func(a *assembly) { a.set(inGlobals, b(0)) }, notFuel},
		{"fuel from the start", swap(inGlobals, b(0x41, 0), b(0x41, 1)), notFuel},
		{"fuel that cannot be set", swap(inGlobals, b(0x7f, 1), b(0x7f, 0)), notFuel},
		{"fuel of 64 bits", swap(inGlobals, b(0x7f, 1), b(0x7e, 1)), notFuel},

		// Types and functions.
		{"a value of 64 bits", swap(inTypes, b(0x60, 0, 1, 0x7f), b(0x60, 0, 1, 0x7e)), "a value that is not an i32"},
		{"a type twice", swap(inTypes, b(0x60, 0, 1, 0x7f), b(0x60, 0, 0)), "a type twice"},
		{"a type too many", func(a *assembly) {
			a.set(inTypes, b(7, a.sections[inTypes].content[1:], 0x60, 0, 2, 0x7f, 0x7f))
		}, "a type that nothing is of"},
		{"a type that is no function's", swap(inTypes, b(0x60, 0, 0), b(0x5f, 0, 0)), "a type that is not a function's"},
		{"a function of another type", swap(inFunctions, b(2, 5, 5), b(2, 5, 3)), "a type that is not what this has"},
		{"a function without a body", swap(inFunctions, b(2, 5, 5), b(3, 5, 5, 5)), "another number of bodies than of functions"},
		{"a body that nothing calls", func(a *assembly) {
			a.set(inFunctions, b(3, 5, 5, 5))
			a.set(inCode, b(3, sized(handwrittenRun()), sized(handwrittenSpawn()), sized(b(0, tick, 0x41, 0, 0x0b))))
		}, order},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := handwritten()
			c.change(a)
			require.Equal(t, c.reason, reasonOf(t, a.bytes()))
		})
	}
}

func TestA21_TablesThatDisagreeWithTheCodeAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*assembly)
		reason string
	}{
		// The element table.
		{"an unknown format", swap(inFragment, b("xmd.fragment", 1), b("xmd.fragment", 2)), "an unknown format"},
		{"a digest that is short", func(a *assembly) { a.set(inFragment, b(sized(b("xmd.fragment")), 1, digest32[1:])) }, early},
		{"another identity", swap(inFragment, b("test/Peek@1"), b("test/Poke@1")), notGranted},
		{"an identity that is none", swap(inFragment, b("test/Peek@1"), b("test/Peek@0")), "an identity that is none"},
		{"an identity that is a field's module", swap(inFragment, b(11, "test/Peek@1"), b(8, "xmd:text")), "an identity that is none"},
		{"a name that is no text", swap(inFragment, b("Spawn"), b("Sp\xffwn")), "a text is not UTF-8"},
		{"a structural element more", swap(inFragment, b(4, 0, 0, 1, 3), b(5, 0, 0, 1, 3, 1, 0, 1, 0)), notTaken},
		{"a capability element more", func(a *assembly) {
			swap(inFragment, b(4, 0, 0, 1, 3), b(5, 0, 0, 1, 3))(a)
			a.set(inFragment, b(a.sections[inFragment].content, 0, 0, 1, 9))
		}, "an element that nothing performs"},
		{"a capability written the other way", swap(inFragment, b(4, 0, 0, 1, 3), b(4, 0, 1, 1, 3)), notGranted},
		{"a flag nobody knows", swap(inFragment, b(4, 0, 0, 1, 3), b(4, 0, 4, 1, 3)), meaningless},
		{"an element inside itself", swap(inFragment, b(0, 0, 1, 3), b(0, 0, 0, 3)), meaningless},
		{"an element above the top", swap(inFragment, b(0, 0, 1, 3), b(0, 0, 2, 3)), meaningless},
		{"an element beyond every source", swap(inFragment, b(0, 2, 1, 10), b(0, 2, 1, 0xff, 0xff, 0xff, 0xff, 7)), meaningless},
		{"a kind twice", swap(inFragment, b(3, "All", 0, 5, "Spawn", 0), b(3, "All", 0, 3, "All", 0)), "a kind of element twice"},
		{"a kind that nothing is of", swap(inFragment, b(3, 4, "Peek"), b(4, 1, "A", 0, 4, "Peek")), "a kind of element that none is of"},
		{"a kind that is none", swap(inFragment, b(0, 2, 1, 10), b(3, 2, 1, 10)), "kinds of elements are not in order of first use"},
		{"more elements than bytes", swap(inFragment, b(4, 0, 0, 1, 3), b(9, 0, 0, 1, 3)), "more items than there are bytes"},
		{"bytes behind the elements", func(a *assembly) { a.set(inFragment, b(a.sections[inFragment].content, 0)) }, leftOver},

		// The string table.
		{"a text that is none", swap(inStrings, b(4, "text"), b(4, "te\xff\xff")), "a text is not UTF-8"},
		{"a text twice", swap(inStrings, b(4, "text"), b(2, "{}")), "a text twice"},
		{"a text that nothing uses", func(a *assembly) {
			a.set(inStrings, b(sized(b("xmd.strings")), 5, a.sections[inStrings].content[13:], sized(b("more"))))
		}, textOrder},
		{"a text less", swap(inStrings, b(1, "x"), b()), early},
		{"texts in another order of use", inRun(b(0x41, 0, 0x41, 1, 0x10, 2), b(0x41, 0, 0x41, 2, 0x10, 2)), textOrder},
		{"a text beyond the table", inRun(b(0x41, 0, 0x41, 1, 0x10, 2), b(0x41, 0, 0x41, 4, 0x10, 2)), notTaken},
		{"a text before the table", inRun(b(0x41, 0, 0x41, 1, 0x10, 2), b(0x41, 0, 0x41, 0x7f, 0x10, 2)), notTaken},

		// Elements in the code.
		{"a structural element is performed", inRun(b(0x41, 0, 0x41, 1, 0x10, 2), b(0x41, 1, 0x41, 1, 0x10, 2)), notTaken},
		{"an element is performed twice", inRun(b(0x41, 0, 0x41, 1, 0x10, 2), b(0x41, 3, 0x41, 1, 0x10, 2)), notTaken},
		{"an element that is none is performed", inRun(b(0x41, 0, 0x41, 1, 0x10, 2), b(0x41, 4, 0x41, 1, 0x10, 2)), notTaken},
		{"an element that depends", inRun(b(0x41, 0, 0x41, 1, 0x10, 2), b(0x41, 0, 0x41, 0, 0x6a, 0x41, 1, 0x10, 2)), notTaken},
		{"a handle made up", inRun(b(0x10, 6, 0x10, 1), b(0x10, 6, 0x1a, 0x41, 7, 0x10, 1)), notTaken},
		{"a spawn that is none", inRun(b(0x41, 0, 0x10, 4), b(0x41, 1, 0x10, 4)), notTaken},
		{"a spawn queued twice", inRun(b(0x41, 0, 0x10, 4), b(0x41, 0, 0x10, 4, 0x41, 0, 0x10, 4)), notTaken},
		{"a spawn that queues itself", func(a *assembly) {
			run := bytes.Replace(handwrittenRun(), b(0x41, 0, 0x10, 4), nil, 1)
			spawn := handwrittenSpawn()
			bodies(run, b(spawn[:len(spawn)-3], 0x41, 0, 0x10, 4, 0x41, 0, 0x0b))(a)
		}, notTaken},
		{"a spawn that nothing queues", func(a *assembly) {
			swap(inExports, b(3, 4, "fuel"), b(4, 4, "fuel"))(a)
			a.set(inExports, b(a.sections[inExports].content, sized(b("spawn.1")), 0, 9))
			a.set(inFunctions, b(3, 5, 5, 5))
			a.set(inCode, b(3, sized(handwrittenRun()), sized(handwrittenSpawn()), sized(b(0, tick, 0x41, 0, 0x0b))))
		}, "a spawn that nothing queues"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := handwritten()
			c.change(a)
			require.Equal(t, c.reason, reasonOf(t, a.bytes()))
		})
	}
}

func TestA21_CodeOutsideTheSubsetIsRefused(t *testing.T) {
	const (
		emit = "\x41\x00\x10\x00"
		br   = "\x0c"
		none = "\x40"
	)
	for _, c := range []struct {
		name   string
		change func(*assembly)
		reason string
	}{
		{"memory.grow", whole(0x41, 0, 0x40, 0, 0x1a), unknown},
		{"i32.load", whole(0x41, 0, 0x28, 2, 0, 0x1a), unknown},
		{"call_indirect", whole(0x41, 0, 0x11, 3, 0), unknown},
		{"a constant of 64 bits", whole(0x42, 0, 0x1a), unknown},
		{"a float", whole(0x43, 0, 0, 0, 0, 0x1a), unknown},
		{"a multiplication", whole(0x41, 1, 0x41, 1, 0x6c, 0x1a), unknown},
		{"a later version's", whole(0xfc, 0), unknown},
		{"nop", whole(0x01), unknown},
		{"unreachable", whole(0x00), unknown},
		{"more fuel", whole(0x41, 100, 0x24, 0), unknown},
		{"the fuel read", whole(0x23, 0, 0x1a), unknown},
		{"a function without fuel", bodies(b(0, handwrittenRun()[1+len(tick):]), handwrittenSpawn()), "a function that takes no fuel"},
		{"a loop without fuel", whole(0x03, none, br, 0, 0x0b), "a loop that takes no fuel"},
		{"a loop with a result", whole(0x03, 0x7f, tick, 0x41, 0, 0x0b, 0x1a), "a loop with a result"},
		{"recursion", whole(0x10, 7, 0x1a), order},
		{"a call of a spawn", whole(0x10, 8, 0x1a), order},
		{"a call of nothing", whole(0x10, 9, 0x1a), "there is no such function"},
		{"nothing on the stack", whole(0x1a), "nothing on the stack"},
		{"something left on the stack", whole(0x41, 0), "another number of operands than is carried on"},
		{"a block that reaches out", whole(0x41, 0, 0x02, none, 0x1a, 0x0b), "nothing on the stack"},
		{"a block without its result", whole(0x02, 0x7f, 0x0b, 0x1a), "another number of operands than is carried on"},
		{"a block of 64 bits", whole(0x02, 0x7e, 0x0b), "an unknown type of a block"},
		{"an if with a result and no else", whole(0x41, 0, 0x04, 0x7f, 0x41, 0, 0x0b, 0x1a), "an if with a result and no else"},
		{"an else without an if", whole(0x02, none, 0x05, 0x0b), "an else without an if"},
		{"two elses", whole(0x41, 0, 0x04, none, 0x05, 0x05, 0x0b), "an else without an if"},
		{"a branch out of the function", whole(0x02, none, br, 1, 0x0b), "a branch that leaves the function"},
		{"a branch to nowhere", whole(0x02, none, br, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x0b), "a branch that leaves the function"},
		{"a branch that carries too much", whole(0x02, none, 0x41, 0, br, 0, 0x0b), "another number of operands than is carried on"},
		{"code behind a branch", whole(0x02, none, br, 0, emit, 0x0b), "code that is never reached"},
		{"code behind a return", whole(0x41, 0, 0x0f, emit), "code that is never reached"},
		{"a return of nothing", whole(0x02, none, 0x0f, 0x0b), "another number of operands than is carried on"},
		{"code behind the end", func(a *assembly) {
			a.set(inCode, b(2, sized(b(handwrittenRun(), 0x0b)), sized(handwrittenSpawn())))
		}, leftOver},
		{"no end", bodies(handwrittenRun()[:len(handwrittenRun())-1], handwrittenSpawn()), early},
		{"bytes behind the functions", func(a *assembly) { a.set(inCode, b(a.sections[inCode].content, 0)) }, leftOver},
		{"a local that is none", whole(0x20, 0, 0x1a), locals},
		{"a local of 64 bits", bodies(b(1, 1, 0x7e, tick), handwrittenSpawn()), "a value that is not an i32"},
		{"a local that nothing uses", bodies(b(1, 1, 0x7f, handwrittenRun()[1:]), handwrittenSpawn()), "a local that nothing uses"},
		{"no local in a run", bodies(b(1, 0, 0x7f, handwrittenRun()[1:]), handwrittenSpawn()), "too many locals, or none"},
		{"65 locals", bodies(b(1, 65, 0x7f, handwrittenRun()[1:]), handwrittenSpawn()), "too many locals, or none"},
		{"two runs of locals", bodies(b(2, 1, 0x7f, 1, 0x7f, tick), handwrittenSpawn()), "locals that are not in one run"},
		{"locals in another order", bodies(b(1, 2, 0x7f, tick, 0x20, 1, 0x1a), handwrittenSpawn()), locals},
		{"nested too deeply", deeply(deepest + 1), "nested too deeply"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := handwritten()
			c.change(a)
			require.Equal(t, c.reason, reasonOf(t, longBytes(a)))
		})
	}
}

// deeply nests so many blocks in run.
func deeply(n int) func(*assembly) {
	return whole(strings.Repeat("\x02\x40", n), strings.Repeat("\x0b", n))
}

// longBytes is bytes for sections of up to 2 MiB.
func longBytes(a *assembly) []byte {
	data := []byte(header)
	for _, s := range a.sections {
		data = appendSection(data, s.id, s.content)
	}
	return data
}

func TestA21_ADifferentSpellingIsRefused(t *testing.T) {
	good := handwritten().bytes()
	fragmentSize := 9 // of the length of the first section
	for _, c := range []struct {
		name   string
		data   []byte
		reason string
	}{
		{"nothing", nil, "not WebAssembly 1.0"},
		{"a header alone", []byte(header), early},
		{"a later version", b("\x00asm\x02\x00\x00\x00", good[8:]), "not WebAssembly 1.0"},
		{"a component", b("\x00asm\x0d\x00\x01\x00", good[8:]), "not WebAssembly 1.0"},
		{"a byte behind it", b(good, 0), "bytes after the last section"},
		{"a length longer than it need be", b(good[:fragmentSize], good[fragmentSize]|0x80, 0, good[fragmentSize+1:]), notNumber},
		{"a length of 33 bits", b(good[:fragmentSize], 0xff, 0xff, 0xff, 0xff, 0x1f), notNumber},
		{"a length of six bytes", b(good[:fragmentSize], 0x80, 0x80, 0x80, 0x80, 0x80, 1), notNumber},
		{"a length that goes on", b(good[:fragmentSize], 0x80), early},
		{"a length beyond the end", b(good[:fragmentSize], 0xff, 0xff, 3), "more items than there are bytes"},
		{"a constant longer than it need be", assemble(whole(0x41, 0x80, 0, 0x1a)), notNumber},
		{"a negative one longer than it need be", assemble(whole(0x41, 0xff, 0x7f, 0x1a)), notNumber},
		{"a constant of six bytes", assemble(whole(0x41, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0x1a)), notNumber},
		{"a constant of 33 bits", assemble(whole(0x41, 0x80, 0x80, 0x80, 0x80, 0x08, 0x1a)), notNumber},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.reason, reasonOf(t, c.data))
		})
	}
}

func assemble(change func(*assembly)) []byte {
	a := handwritten()
	change(a)
	return longBytes(a)
}

// The rows of these tables that are not about what is refused: the nearest neighbours
// that are accepted.
func TestNeighboursOfRefusedCodeAreRead(t *testing.T) {
	for name, change := range map[string]func(*assembly){
		"a loop":                whole(0x03, 0x40, tick, 0x0c, 0, 0x0b),
		"a block with a result": whole(0x02, 0x7f, 0x41, 0, 0x0b, 0x1a),
		"a return":              whole(0x41, 0, 0x04, 0x40, 0x41, 1, 0x0f, 0x0b),
		"deep nesting":          deeply(deepest),
		"a negative constant":   whole(0x41, 0x7f, 0x1a, 0x41, 0xc0, 0, 0x1a, 0x41, 0x80, 0x80, 0x80, 0x80, 0x78, 0x1a),
	} {
		data := assemble(change)
		_, err := Read(data)
		require.NoError(t, err, name)
		for engine, rt := range engines(t) {
			_, err := rt.CompileModule(t.Context(), data)
			require.NoError(t, err, "%s: %s", engine, name)
		}
	}
}

func TestEveryPrefixAndEveryByteIsJudged(t *testing.T) {
	rt := engines(t)["interpreter"]
	good := handwritten().bytes()
	for n := range good {
		reasonOf(t, good[:n])
	}
	accepted := 0
	for i := range good {
		for bit := range 8 {
			data := bytes.Clone(good)
			data[i] ^= 1 << bit
			m, err := Read(data)
			if err != nil {
				continue
			}
			accepted++
			require.Equal(t, data, m.Bytes)
			_, err = rt.CompileModule(t.Context(), data)
			require.NoError(t, err)
		}
	}
	// Names, texts, digests and places may differ, code and imports not.
	require.Less(t, accepted, 8*len(good)/2)
	require.Greater(t, accepted, 8*digestSize)
}

func TestReadKeepsACopy(t *testing.T) {
	data := handwritten().bytes()
	m, err := Read(data)
	require.NoError(t, err)
	clear(data)
	require.Equal(t, handwritten().bytes(), m.Bytes)
}
