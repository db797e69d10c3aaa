package wasm

import "slices"

// code reads the functions. They stand in the order in which they are called, depth
// first from each entry, so none recurs.
func (r *reader) code() {
	r.section(sectionCode, func() {
		start := r.pos
		if r.count(1) != r.own {
			r.failAt(start, "another number of bodies than of functions")
			return
		}
		b := body{
			reader:   r,
			entry:    -1,
			firstUse: make([]int, len(r.module.Strings)),
			done:     make([][len(uses)]bool, len(r.module.Elements)),
			spawned:  make([]bool, r.module.Spawns),
		}
		var called []uint32 // and not read yet, the next one last
		for f := len(r.targets); f < len(r.targets)+r.own; f++ {
			last := len(called) - 1
			switch {
			case last >= 0 && called[last] == uint32(f):
				called = called[:last]
			case last < 0 && b.entry+1 < len(r.entries) && r.entries[b.entry+1] == uint32(f):
				b.entry++
			default:
				r.fail("functions are not in the order they are called in")
				return
			}
			first := len(called)
			r.within(func() { called = b.function(called) })
			if r.err != nil {
				return
			}
			slices.Reverse(called[first:])
		}
		if len(called) > 0 || b.entry+1 < len(r.entries) {
			r.fail("functions are not in the order they are called in")
			return
		}
		b.complete()
	})
}

// A body checks the code of one function after the other, and keeps what must be
// true of all of them together.
type body struct {
	*reader
	entry    int               // whose function it is: its place in entries
	firstUse []int             // by string: where its index is first written
	done     [][len(uses)]bool // by element: what was called for it
	spawned  []bool            // by k

	stack  []operand
	blocks []block // the function itself first
	locals uint32
	used   uint32 // locals
	dead   bool   // only the end of the block can follow
}

// An operand is an i32 on the stack, and its value where it is a constant.
type operand struct {
	known bool
	value uint32
	at    int
}

// A block is what an end ends.
type block struct {
	op     opcode
	height int // of the stack, outside it
	result int
}

// branch is how many operands a branch to the block carries.
func (b block) branch() int {
	if b.op == opLoop {
		return 0
	}
	return b.result
}

// complete checks that everything the tables hold is what the code does.
func (b *body) complete() {
	for _, t := range b.targets {
		if !t.called {
			b.fail("an import that nothing calls")
		}
	}
	for i, el := range b.module.Elements {
		if el.Identity != "" && b.done[i] != usesOf(el.Form) {
			b.fail("an element that nothing performs")
		}
	}
	before := 0
	for _, at := range b.firstUse {
		if at <= before {
			b.fail("texts are not in order of first use")
		}
		before = at
	}
	if slices.Contains(b.spawned, false) {
		b.fail("a spawn that nothing queues")
	}
}

// function reads one function and appends those it calls.
func (b *body) function(called []uint32) []uint32 {
	b.locals, b.used = b.localList(), 0
	b.stack, b.dead = b.stack[:0], false
	b.blocks = append(b.blocks[:0], block{op: opEnd, result: 1})
	b.literal(tickCode, "a function that takes no fuel")
	for len(b.blocks) > 0 && b.err == nil {
		if !b.dead && b.starts(tickCode) {
			b.pos += len(tickCode)
			continue
		}
		called = b.instruction(called)
	}
	if b.used < b.locals {
		b.fail("a local that nothing uses")
	}
	return called
}

func (b *body) localList() uint32 {
	start := b.pos
	if b.byte() == 0 {
		return 0
	}
	b.pos = start
	b.literal("\x01", "locals that are not in one run")
	n := b.unsigned()
	b.literal(string(rune(i32)), "a value that is not an i32")
	if b.err == nil && (n == 0 || n > maxLocals+2) {
		b.failAt(start, "too many locals, or none")
	}
	return n
}

func (b *body) instruction(called []uint32) []uint32 {
	start := b.pos
	op := opcode(b.byte())
	if b.dead && op != opEnd {
		b.failAt(start, "code that is never reached")
		return called
	}
	switch op {
	case opBlock, opIf:
		if op == opIf {
			b.pop()
		}
		b.open(op, b.byte())
	case opLoop:
		b.literal(string(rune(noResult)), "a loop with a result")
		b.open(op, noResult)
		b.literal(tickCode, "a loop that takes no fuel")
	case opElse:
		b.otherwise()
	case opEnd:
		b.close()
	case opBr:
		b.branch()
		b.dead = true
	case opBrIf:
		b.pop()
		b.branch()
	case opReturn:
		b.carry(1)
		b.dead = true
	case opCall:
		return b.call(called)
	case opDrop:
		b.pop()
	case opLocalGet:
		b.local()
		b.push()
	case opLocalSet:
		b.local()
		b.pop()
	case opLocalTee:
		b.local()
		b.pop()
		b.push()
	case opConst:
		b.stack = append(b.stack, operand{true, uint32(b.signed()), start})
	case opLess, opNotLess, opAdd:
		b.pop()
		b.pop()
		b.push()
	default:
		b.failAt(start, "an instruction that no fragment has")
	}
	return called
}

// push pushes a value that is not known.
func (b *body) push() { b.stack = append(b.stack, operand{}) }

func (b *body) pop() operand {
	if b.err != nil || len(b.stack) == b.top().height {
		b.fail("nothing on the stack")
		return operand{}
	}
	last := len(b.stack) - 1
	v := b.stack[last]
	b.stack = b.stack[:last]
	return v
}

func (b *body) top() *block { return &b.blocks[len(b.blocks)-1] }

// carry checks that the innermost block has so many operands.
func (b *body) carry(n int) {
	if len(b.stack)-b.top().height != n {
		b.fail("another number of operands than is carried on")
	}
}

func (b *body) open(op opcode, blockType byte) {
	result := 0
	switch blockType {
	case noResult:
	case oneResult:
		result = 1
	default:
		b.fail("an unknown type of a block")
	}
	if len(b.blocks) > deepest {
		b.fail("nested too deeply")
	}
	b.blocks = append(b.blocks, block{op, len(b.stack), result})
}

func (b *body) otherwise() {
	if b.top().op != opIf {
		b.fail("an else without an if")
		return
	}
	b.carry(b.top().result)
	b.top().op = opElse
	b.stack = b.stack[:b.top().height]
}

func (b *body) close() {
	last := *b.top()
	if !b.dead {
		b.carry(last.result)
	}
	if last.op == opIf && last.result > 0 {
		b.fail("an if with a result and no else")
	}
	b.dead = false
	b.stack = b.stack[:last.height]
	b.blocks = b.blocks[:len(b.blocks)-1]
	for range last.result {
		b.push()
	}
}

// branch reads the depth of a branch, which may not leave the function.
func (b *body) branch() {
	depth := b.unsigned()
	if uint64(depth)+1 >= uint64(len(b.blocks)) {
		b.fail("a branch that leaves the function")
		return
	}
	b.carry(b.blocks[len(b.blocks)-1-int(depth)].branch())
}

// local reads the number of a local, which are numbered in order of first use.
func (b *body) local() {
	start := b.pos
	n := b.unsigned()
	if n > b.used || n >= b.locals {
		b.failAt(start, "locals are not in order of first use")
		return
	}
	if n == b.used {
		b.used++
	}
}

func (b *body) call(called []uint32) []uint32 {
	start := b.pos
	n := int(b.unsigned())
	switch {
	case n >= len(b.targets)+b.own:
		b.failAt(start, "there is no such function")
	case n >= len(b.targets):
		called = append(called, uint32(n))
		b.push()
	default:
		t := &b.targets[n]
		t.called = true
		for i := len(t.params) - 1; i >= 0; i-- {
			b.argument(t, t.params[i], b.pop())
		}
		for range t.results {
			b.push()
		}
	}
	return called
}

// argument checks what is given to an import as a parameter of this kind (fields.go).
func (b *body) argument(t *target, kind byte, v operand) {
	if kind == 'i' || kind == 'h' && !v.known || b.err != nil {
		return
	}
	ok := v.known
	switch kind {
	case 'h':
		ok = v.value == 0
	case 's':
		if ok = ok && v.value < uint32(len(b.firstUse)); ok && (b.firstUse[v.value] == 0 || v.at < b.firstUse[v.value]) {
			b.firstUse[v.value] = v.at
		}
	case 'e':
		ok = ok && v.value < uint32(len(b.done)) && b.module.Elements[v.value].Identity == ""
	case 'c':
		ok = ok && v.value < uint32(len(b.done)) && b.performs(t, int(v.value))
	case 'k':
		if ok = ok && v.value < uint32(len(b.spawned)) && !b.spawned[v.value] && int(v.value) >= b.entry; ok {
			b.spawned[v.value] = true
		}
	case 'u':
		ok = ok && v.value <= uint32(Negate)
	case 'o':
		ok = ok && v.value <= uint32(Remainder)
	}
	if !ok {
		b.fail("an argument that its import does not take")
	}
}

// performs records that a capability is called for an element, and reports whether
// the element is of that identity, is written in a form that is called so, and was
// not called so before (F3).
func (b *body) performs(t *target, element int) bool {
	el := b.module.Elements[element]
	ok := el.Identity == t.module && usesOf(el.Form)[t.use] && !b.done[element][t.use]
	b.done[element][t.use] = true
	return ok
}
