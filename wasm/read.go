package wasm

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"unicode/utf8"
)

// A FormatError is a module that Compile did not write: what is wrong, and where in
// its bytes. Reason is one of a fixed set of texts and quotes nothing of the module.
type FormatError struct {
	Offset int
	Reason string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("no module of a fragment: %s, at byte %d", e.Reason, e.Offset)
}

// Read reads a module that Compile wrote, and refuses whatever has not its shape with
// a *FormatError. Nothing the module says of itself goes unchecked: sections are those
// of the package comment, imports are those the code calls and the element table
// grants (F4), every element of a capability is performed in one place, under its own
// identity and in the form it is written in (F3), fuel is taken at every function and
// loop and touched nowhere else (F8), and numbers and tables are written in the one
// way there is to write them. What Read accepts is valid WebAssembly 1.0 that ends.
// Time and memory grow linearly with data, whatever it holds. The result keeps a copy
// of data. Read may be called from several goroutines at once.
func Read(data []byte) (*Module, error) {
	r := &reader{data: bytes.Clone(data), end: len(data)}
	r.literal(header, "not WebAssembly 1.0")
	r.fragment()
	r.texts()
	r.types()
	r.imports()
	r.functions()
	r.global()
	r.exports()
	r.code()
	if r.pos < len(r.data) {
		r.fail("bytes after the last section")
	}
	if r.err != nil {
		return nil, r.err
	}
	r.module.Bytes = r.data
	r.module.Digest = digest(r.data)
	return &r.module, nil
}

// A reader reads one module. After a failure, which err is, reading goes on without
// an effect: every number is 0, every list is empty.
type reader struct {
	data []byte
	pos  int
	end  int // of what is being read: a section, a function, or all
	err  error

	module     Module
	signatures []signature // the type section
	typed      int         // how many of them were used
	targets    []target    // by index of an import
	own        int         // how many functions are no imports
	entries    []uint32    // the functions exported as run, spawn.0, spawn.1, ...
}

// A target is what an import is to the code that calls it.
type target struct {
	field
	granted bool // it is of a capability
	use     use
	called  bool
}

func (r *reader) fail(reason string) { r.failAt(r.pos, reason) }

func (r *reader) failAt(at int, reason string) {
	if r.err == nil {
		r.err = &FormatError{at, reason}
	}
	r.pos = r.end
}

func (r *reader) byte() byte {
	if r.pos >= r.end {
		r.fail("it ends too early")
		return 0
	}
	r.pos++
	return r.data[r.pos-1]
}

// literal reads exactly s.
func (r *reader) literal(s, reason string) {
	if r.err == nil && !r.starts(s) {
		r.fail(reason)
		return
	}
	r.pos = min(r.pos+len(s), r.end)
}

// starts reports whether s is what comes next.
func (r *reader) starts(s string) bool {
	return r.end-r.pos >= len(s) && string(r.data[r.pos:r.pos+len(s)]) == s
}

// unsigned reads a number in LEB128, written as short as it can be.
func (r *reader) unsigned() uint32 {
	start := r.pos
	var n uint64
	for shift := 0; ; shift += 7 {
		b := r.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if n > math.MaxUint32 || b == 0 && shift > 0 {
				r.failAt(start, "a number is not written as it would be")
				return 0
			}
			return uint32(n)
		}
		if shift == 28 {
			r.failAt(start, "a number is not written as it would be")
			return 0
		}
	}
}

// signed reads a signed number in LEB128, written as short as it can be.
func (r *reader) signed() int32 {
	start := r.pos
	var n int64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		n |= int64(b&0x7f) << shift
		if b < 0x80 {
			n = n << (57 - shift) >> (57 - shift)
			if n == int64(int32(n)) && len(appendSigned(nil, int32(n))) == shift/7+1 {
				return int32(n)
			}
			break
		}
	}
	r.failAt(start, "a number is not written as it would be")
	return 0
}

// count reads how many items follow, each of at least so many bytes.
func (r *reader) count(size int) int {
	start := r.pos
	n := r.unsigned()
	if uint64(n)*uint64(size) > uint64(r.end-r.pos) {
		r.failAt(start, "more items than there are bytes")
		return 0
	}
	return int(n)
}

func (r *reader) name() string { return r.text(utf8.ValidString) }

// text reads a text that must be valid.
func (r *reader) text(valid func(string) bool) string {
	start := r.pos
	n := r.count(1)
	s := string(r.data[r.pos : r.pos+n])
	r.pos += n
	if !valid(s) {
		r.failAt(start, "a text is not UTF-8")
		return ""
	}
	return s
}

// section reads a section, which must be of this id, through read.
func (r *reader) section(id byte, read func()) {
	start := r.pos
	if got := r.byte(); got != id {
		r.failAt(start, "a section that does not belong there")
	}
	r.within(read)
}

// within reads a size and that many bytes through read, which must use them all.
func (r *reader) within(read func()) {
	size := r.count(1)
	outer := r.end
	r.end = r.pos + size
	read()
	if r.err == nil && r.pos < r.end {
		r.fail("bytes after the last item")
	}
	r.end = outer
	if r.err != nil {
		r.pos = r.end
	}
}

// fragment reads the source digest and the element table.
func (r *reader) fragment() {
	r.section(sectionCustom, func() {
		r.literal(string(appendName(nil, fragmentName)), "the first section is not xmd.fragment")
		r.literal(string(rune(format)), "an unknown format")
		if r.end-r.pos < digestSize {
			r.fail("it ends too early")
			return
		}
		r.module.Source = digestPrefix + hex.EncodeToString(r.data[r.pos:r.pos+digestSize])
		r.pos += digestSize
		r.elements(r.kinds())
	})
}

func (r *reader) kinds() []elementKind {
	var kinds []elementKind
	known := map[elementKind]bool{}
	for range r.count(2) {
		start := r.pos
		k := elementKind{r.name(), r.name()}
		switch {
		case r.err != nil:
			return nil
		case known[k]:
			r.failAt(start, "a kind of element twice")
		case k.identity != "" && !isIdentity(k.identity):
			r.failAt(start, "an identity that is none")
		}
		known[k] = true
		kinds = append(kinds, k)
	}
	return kinds
}

func (r *reader) elements(kinds []elementKind) {
	n := r.count(4)
	used, offset := 0, uint64(0)
	for i := range n {
		start := r.pos
		kind, flags := int(r.unsigned()), r.byte()
		up, forward := int(r.unsigned()), uint64(r.unsigned())
		offset += forward
		switch {
		case r.err != nil:
			return
		case kind > used || kind >= len(kinds):
			r.failAt(start, "kinds of elements are not in order of first use")
			return
		case flags&^flagsKnown != 0 || up < 1 || up > i+1 || offset > math.MaxInt32:
			r.failAt(start, "a row of the element table that means nothing")
			return
		case kind == used:
			used++
		}
		el := Element{
			Name:     kinds[kind].name,
			Identity: kinds[kind].identity,
			As:       flags&flagAs != 0,
			Parent:   i - up,
			Offset:   int(offset),
		}
		if flags&flagPaired != 0 {
			el.Form = Paired
		}
		r.module.Elements = append(r.module.Elements, el)
	}
	if used < len(kinds) {
		r.fail("a kind of element that none is of")
	}
}

// texts reads the string table.
func (r *reader) texts() {
	r.section(sectionCustom, func() {
		r.literal(string(appendName(nil, stringsName)), "the second section is not xmd.strings")
		n := r.count(1)
		known := map[string]bool{}
		for range n {
			start := r.pos
			s := r.text(isText)
			if r.err == nil && known[s] {
				r.failAt(start, "a text twice")
			}
			if r.err != nil {
				return
			}
			known[s] = true
			r.module.Strings = append(r.module.Strings, s)
		}
	})
}

func (r *reader) types() {
	r.section(sectionType, func() {
		known := map[signature]bool{}
		for range r.count(3) {
			start := r.pos
			r.literal(string(rune(functionType)), "a type that is not a function's")
			s := signature{r.values(), r.values()}
			if r.err == nil && known[s] {
				r.failAt(start, "a type twice")
			}
			if r.err != nil {
				return
			}
			known[s] = true
			r.signatures = append(r.signatures, s)
		}
	})
}

// values reads a list of value types.
func (r *reader) values() int {
	n := r.count(1)
	for range n {
		r.literal(string(rune(i32)), "a value that is not an i32")
	}
	return n
}

// typeOf reads the index of a type, which must be this one.
func (r *reader) typeOf(s signature) {
	start := r.pos
	at := int(r.unsigned())
	switch {
	case r.err != nil:
	case at > r.typed || at >= len(r.signatures):
		r.failAt(start, "types are not in order of first use")
	case r.signatures[at] != s:
		r.failAt(start, "a type that is not what this has")
	case at == r.typed:
		r.typed++
	}
}

// imports reads the import section and holds it against the two tables it may come
// from: the fields, in their order, and what the element table grants, all of it.
func (r *reader) imports() {
	granted := grants(r.module.Elements)
	number := 0
	for _, g := range granted {
		for _, used := range g.uses {
			if used {
				number++
			}
		}
	}
	if r.pos < r.end && r.data[r.pos] == sectionImport {
		r.section(sectionImport, func() {
			n := r.count(5)
			if n == 0 {
				r.fail("an empty section")
			}
			next := 0
			for range n - number {
				next = r.field(next)
			}
			for _, g := range granted {
				for u, used := range g.uses {
					if used {
						r.capability(g.identity, use(u))
					}
				}
			}
		})
	}
	if len(r.targets) < number {
		r.fail(unlikeTable)
	}
}

const unlikeTable = "imports that are not what the element table grants"

// field reads an import without authority, one that stands in the table at next or
// later, and is the place after it.
func (r *reader) field(next int) int {
	start := r.pos
	module, name := r.name(), r.name()
	for ; next < len(fields); next++ {
		if f := fields[next]; f.module == module && f.name == name {
			r.imported(target{field: f})
			return next + 1
		}
	}
	r.failAt(start, "an import that no fragment has, or not in its place")
	return next
}

// capability reads the import of one use of an identity.
func (r *reader) capability(identity string, u use) {
	wanted := appendName(appendName(nil, identity), uses[u].name)
	r.literal(string(wanted), unlikeTable)
	r.imported(target{field: field{identity, uses[u].name, uses[u].params, uses[u].results}, granted: true, use: u})
}

// imported reads the rest of an import.
func (r *reader) imported(t target) {
	r.literal(string(rune(kindFunction)), "an import that is not a function")
	r.typeOf(signature{len(t.params), t.results})
	if r.err != nil {
		return
	}
	r.targets = append(r.targets, t)
	r.module.Imports = append(r.module.Imports, Import{t.module, t.name, len(t.params), t.results})
}

// functions reads how many functions there are.
func (r *reader) functions() {
	r.section(sectionFunction, func() {
		r.own = r.count(1)
		for range r.own {
			r.typeOf(ownSignature)
		}
		if r.typed < len(r.signatures) {
			r.fail("a type that nothing is of")
		}
	})
}

func (r *reader) global() {
	r.section(sectionGlobal, func() {
		r.literal("\x01"+fuelGlobal, "a global that is not the fuel")
	})
}

// exports reads the fuel and the functions that can be called from outside.
func (r *reader) exports() {
	r.section(sectionExport, func() {
		r.module.Spawns = max(r.count(3)-2, 0)
		r.export(fuelName, kindGlobal)
		r.literal("\x00", "an export that is not the fuel")
		r.export(runName, kindFunction)
		r.entries = append(r.entries, r.unsigned())
		for k := range r.module.Spawns {
			r.export(spawnName(k), kindFunction)
			r.entries = append(r.entries, r.unsigned())
			if r.err != nil {
				return
			}
		}
	})
}

// export reads the name and the kind of one export.
func (r *reader) export(name string, kind byte) {
	r.literal(string(append(appendName(nil, name), kind)), "an export that is not fuel, run or the next spawn")
}
