package wasm

// Ids of sections and kinds of their items.
const (
	sectionCustom   = 0
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionGlobal   = 6
	sectionExport   = 7
	sectionCode     = 10

	kindFunction = 0
	kindGlobal   = 3

	functionType = 0x60
	i32          = 0x7f
	mutable      = 1
)

const (
	header      = "\x00asm\x01\x00\x00\x00"
	fuelName    = "fuel"
	runName     = "run"
	spawnPrefix = "spawn."

	// fuelGlobal is the type of the fuel and its value until the sandbox sets it.
	fuelGlobal = "\x7f\x01\x41\x00\x0b"
	// tickCode takes one of the fuel and traps below zero (F8). The fuel is global 0.
	tickCode = "\x23\x00\x41\x01\x6b\x24\x00" + "\x23\x00\x41\x00\x48" + "\x04\x40\x00\x0b"
	// returnBreak leaves a function when a truth value says that a break is pending,
	// and says so to the caller.
	returnBreak = "\x04\x40\x41\x01\x0f\x0b"
)

// appendUnsigned appends n in LEB128, as short as it can be.
func appendUnsigned(dst []byte, n uint32) []byte {
	for n >= 0x80 {
		dst = append(dst, byte(n)|0x80)
		n >>= 7
	}
	return append(dst, byte(n))
}

// appendSigned appends n in signed LEB128, as short as it can be.
func appendSigned(dst []byte, n int32) []byte {
	for n < -0x40 || n >= 0x40 {
		dst = append(dst, byte(n)|0x80)
		n >>= 7
	}
	return append(dst, byte(n)&0x7f)
}

func appendCount(dst []byte, n int) []byte { return appendUnsigned(dst, uint32(n)) }

func appendName(dst []byte, s string) []byte { return append(appendCount(dst, len(s)), s...) }

func appendSection(dst []byte, id byte, content []byte) []byte {
	return append(appendCount(append(dst, id), len(content)), content...)
}

// A writer turns what was compiled into bytes: it numbers imports, functions, strings
// and locals in the orders the package comment states.
type writer struct {
	c         *compiler
	imports   []Import
	fields    [len(fields)]uint32          // index of an imported field
	uses      map[string][len(uses)]uint32 // and of an identity's
	order     []int32                      // functions, in the order of the code section
	numbers   []uint32                     // index of a function, by order of creation
	strings   []string
	placed    []bool   // by place in c.texts: it has an index
	placement []uint32 // that index
}

// write writes the module.
func (c *compiler) write(p *Program, source []byte, run int32) *Module {
	w := &writer{
		c:         c,
		uses:      map[string][len(uses)]uint32{},
		placed:    make([]bool, len(c.texts)),
		placement: make([]uint32, len(c.texts)),
	}
	w.linkImports()
	w.linkFunctions(run)
	code := appendCount(nil, len(w.order))
	for _, f := range w.order {
		body := w.function(c.functions[f])
		code = append(appendCount(code, len(body)), body...)
	}
	types, typeOf := w.types()

	data := []byte(header)
	data = appendSection(data, sectionCustom, appendFragment(appendName(nil, fragmentName), source, p.Elements))
	data = appendSection(data, sectionCustom, appendStrings(appendName(nil, stringsName), w.strings))
	data = appendSection(data, sectionType, types)
	if len(w.imports) > 0 {
		imports := appendCount(nil, len(w.imports))
		for _, m := range w.imports {
			imports = appendName(appendName(imports, m.Module), m.Field)
			imports = appendCount(append(imports, kindFunction), typeOf[signature{m.Params, m.Results}])
		}
		data = appendSection(data, sectionImport, imports)
	}
	functions := appendCount(nil, len(w.order))
	for range w.order {
		functions = appendCount(functions, typeOf[ownSignature])
	}
	data = appendSection(data, sectionFunction, functions)
	data = appendSection(data, sectionGlobal, append(appendCount(nil, 1), fuelGlobal...))
	data = appendSection(data, sectionExport, w.exports(run))
	data = appendSection(data, sectionCode, code)
	return &Module{
		Bytes:    data,
		Digest:   digest(data),
		Source:   p.Digest,
		Imports:  w.imports,
		Elements: append([]Element(nil), p.Elements...),
		Strings:  w.strings,
		Spawns:   len(c.spawns),
	}
}

// linkImports numbers the fields that are called, then what the element table grants.
func (w *writer) linkImports() {
	add := func(m Import) uint32 {
		w.imports = append(w.imports, m)
		return uint32(len(w.imports) - 1)
	}
	for i, f := range fields {
		if w.c.called[i] {
			w.fields[i] = add(Import{f.module, f.name, len(f.params), f.results})
		}
	}
	for _, g := range grants(w.c.elements) {
		var at [len(uses)]uint32
		for i, u := range uses {
			if g.uses[i] {
				at[i] = add(Import{g.identity, u.name, len(u.params), u.results})
			}
		}
		w.uses[g.identity] = at
	}
}

// linkFunctions numbers functions as they are called, depth first from run and then
// from each spawn.
func (w *writer) linkFunctions(run int32) {
	w.numbers = make([]uint32, len(w.c.functions))
	for _, root := range append([]int32{run}, w.c.spawns...) {
		for stack := []int32{root}; len(stack) > 0; {
			f := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			w.numbers[f] = uint32(len(w.imports) + len(w.order))
			w.order = append(w.order, f)
			code := w.c.functions[f].code
			for i := len(code) - 1; i >= 0; i-- {
				if code[i].op == opCall {
					stack = append(stack, code[i].arg)
				}
			}
		}
	}
}

// A signature is how many i32 a function takes and returns.
type signature struct{ params, results int }

// ownSignature is that of every function of a module: its result says whether a
// break is pending.
var ownSignature = signature{0, 1}

// types is the content of the type section, and where in it a signature is.
func (w *writer) types() ([]byte, map[signature]int) {
	typeOf := map[signature]int{}
	var content []byte
	add := func(s signature) {
		if _, known := typeOf[s]; known {
			return
		}
		typeOf[s] = len(typeOf)
		content = append(content, functionType)
		for _, n := range []int{s.params, s.results} {
			content = appendCount(content, n)
			for range n {
				content = append(content, i32)
			}
		}
	}
	for _, m := range w.imports {
		add(signature{m.Params, m.Results})
	}
	add(ownSignature)
	return append(appendCount(nil, len(typeOf)), content...), typeOf
}

func (w *writer) exports(run int32) []byte {
	content := appendCount(nil, 2+len(w.c.spawns))
	content = append(appendName(content, fuelName), kindGlobal, 0)
	content = appendUnsigned(append(appendName(content, runName), kindFunction), w.numbers[run])
	for k, f := range w.c.spawns {
		content = appendUnsigned(append(appendName(content, spawnName(k)), kindFunction), w.numbers[f])
	}
	return content
}

// function is the locals and the code of one function.
func (w *writer) function(p piece) []byte {
	var (
		code   = []byte(tickCode)
		locals []int32 // what each was called, in order of first use
		open   []bool  // blocks: a pending break goes to the end of it
	)
	local := func(id int32) uint32 {
		for i, known := range locals {
			if known == id {
				return uint32(i)
			}
		}
		locals = append(locals, id)
		return uint32(len(locals) - 1)
	}
	for _, in := range p.code {
		switch in.op {
		case opTick:
			code = append(code, tickCode...)
		case opText:
			code = appendSigned(append(code, byte(opConst)), int32(w.text(in.arg)))
		case opField:
			code = appendUnsigned(append(code, byte(opCall)), w.fields[in.arg])
		case opInvoke, opEnter, opLeave:
			at := w.uses[w.c.elements[in.arg].Identity]
			code = appendUnsigned(append(code, byte(opCall)), at[in.op-opInvoke])
		case opCall:
			code = appendUnsigned(append(code, byte(opCall)), w.numbers[in.arg])
		case opConst:
			code = appendSigned(append(code, byte(opConst)), in.arg)
		case opLocalGet, opLocalSet, opLocalTee:
			code = appendUnsigned(append(code, byte(in.op)), local(in.arg))
		case opBr, opBrIf:
			code = appendUnsigned(append(code, byte(in.op)), uint32(in.arg))
		case opBlock, opLoop, opIf:
			open = append(open, false)
			code = append(code, byte(in.op), byte(in.arg))
		case opCatch:
			open = append(open, true)
			code = append(code, byte(opBlock), noResult)
		case opEnd:
			open = open[:len(open)-1]
			code = append(code, byte(opEnd))
		case opBreak:
			depth, caught := innermost(open)
			if !caught {
				code = append(code, returnBreak...)
				break
			}
			code = appendUnsigned(append(code, byte(opLocalTee)), local(broken))
			code = appendUnsigned(append(code, byte(opBrIf)), depth)
		default:
			code = append(code, byte(in.op))
		}
	}
	code = append(code, byte(opConst), 0, byte(opEnd))
	return append(appendLocals(nil, len(locals)), code...)
}

// innermost is how many blocks stand inside the innermost that catches a break.
func innermost(open []bool) (depth uint32, found bool) {
	for i := len(open) - 1; i >= 0; i-- {
		if open[i] {
			return uint32(len(open) - 1 - i), true
		}
	}
	return 0, false
}

func appendLocals(dst []byte, n int) []byte {
	if n == 0 {
		return append(dst, 0)
	}
	return append(appendCount(append(dst, 1), n), i32)
}

// text is the index of a string.
func (w *writer) text(place int32) uint32 {
	if !w.placed[place] {
		w.placed[place] = true
		w.placement[place] = uint32(len(w.strings))
		w.strings = append(w.strings, w.c.texts[place])
	}
	return w.placement[place]
}
