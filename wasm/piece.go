package wasm

// Bounds of a function. One level of nesting is kept for the block of a fuel check,
// two locals for scratch and broken.
const (
	maxUnits   = 32   // elements, references and calls
	maxNesting = 63   // blocks inside each other
	maxLocals  = 62   // beside scratch and broken
	maxCode    = 1024 // instructions, a fuel check counting as one
)

// An opcode is an instruction of WebAssembly, or one of those below, which become
// several when a function is written.
type opcode byte

const (
	opUnreachable opcode = 0x00
	opBlock       opcode = 0x02 // arg: block type
	opLoop        opcode = 0x03 // arg: block type
	opIf          opcode = 0x04 // arg: block type
	opElse        opcode = 0x05
	opEnd         opcode = 0x0b
	opBr          opcode = 0x0c // arg: depth
	opBrIf        opcode = 0x0d // arg: depth
	opReturn      opcode = 0x0f
	opCall        opcode = 0x10 // arg: function, in order of creation
	opDrop        opcode = 0x1a
	opLocalGet    opcode = 0x20 // arg: local
	opLocalSet    opcode = 0x21 // arg: local
	opLocalTee    opcode = 0x22 // arg: local
	opGlobalGet   opcode = 0x23
	opGlobalSet   opcode = 0x24
	opConst       opcode = 0x41 // arg: value
	opLess        opcode = 0x48
	opNotLess     opcode = 0x4e
	opAdd         opcode = 0x6a
	opSubtract    opcode = 0x6b
)

const (
	opTick   opcode = 0xe0 + iota // takes one of the fuel
	opText                        // pushes a string; arg: its place in the compiler's table
	opField                       // calls an import; arg: fieldID
	opInvoke                      // calls invoke of an element's identity; arg: element
	opEnter                       // calls enter of it; arg: element
	opLeave                       // calls leave of it; arg: element
	opCatch                       // opens a block a pending break goes to the end of
	opBreak                       // pops a truth value: whether a break is pending now
)

// Block types.
const (
	noResult  = 0x40
	oneResult = 0x7f
)

// Two locals are not allocated. scratch is never live across more than a few
// instructions, so one serves every expression of a function; at most one break is
// pending at a time, so one broken serves every loop.
const (
	scratch int32 = -1
	broken  int32 = -2
)

type instruction struct {
	op  opcode
	arg int32
}

// A piece is code under construction that leaves nothing on the stack, and what it
// asks of the function it ends up in. Its locals are base to high: those below base
// belong to the code around it, and it does not touch them.
type piece struct {
	code       []instruction
	units      int
	nesting    int
	base, high int32
	breaks     bool // a break of a loop around it may be pending at its end
	called     bool // it only calls a function
}

func (p *piece) put(op opcode, arg int32) { p.code = append(p.code, instruction{op, arg}) }

func (p *piece) number(n int32) { p.put(opConst, n) }

// deepen says that code of the piece stands inside so many blocks.
func (p *piece) deepen(level int) { p.nesting = max(p.nesting, level) }

// fits reports whether a function has room for both, the child inside so many
// blocks of the piece.
func (p *piece) fits(child piece, level int) bool {
	return p.units+child.units <= maxUnits &&
		len(p.code)+len(child.code) <= maxCode &&
		child.nesting+level <= maxNesting &&
		child.high-p.base <= maxLocals
}

// take puts the code of the child at the end of the piece.
func (p *piece) take(child piece, level int) {
	p.code = append(p.code, child.code...)
	p.units += child.units
	p.high = max(p.high, child.high)
	p.breaks = p.breaks || child.breaks
	p.deepen(child.nesting + level)
}

// piece begins a piece at the locals that are free now.
func (c *compiler) piece() piece { return piece{base: c.live, high: c.live} }

// local allocates one of the piece, until release.
func (c *compiler) local(p *piece) int32 {
	id := c.live
	c.live++
	p.high = max(p.high, c.live)
	return id
}

// release gives the locals of a piece back.
func (c *compiler) release(p *piece) { c.live = p.base }

// nest puts the child where the piece ends, inside so many blocks of it: as it is,
// or as a call where there is no room.
func (c *compiler) nest(p *piece, child piece, level int) {
	if !p.fits(child, level) {
		child = c.outline(child)
	}
	p.take(child, level)
}

// outline makes a piece a function, and is the piece that calls it.
func (c *compiler) outline(p piece) piece {
	if p.called {
		return p
	}
	c.functions = append(c.functions, p)
	call := piece{units: 1, base: c.live, high: c.live, breaks: p.breaks, called: true}
	call.put(opCall, int32(len(c.functions)-1))
	if p.breaks {
		call.put(opBreak, 0)
	} else {
		call.put(opDrop, 0)
	}
	return call
}

// function makes a piece a function and is its number, in order of creation.
func (c *compiler) function(p piece) int32 { return c.outline(p).code[0].arg }

// A sequence puts pieces one after the other. Where they are too many for a
// function, each level is a full function's worth of calls of the one before it, and
// what is at a higher level stands before what is at a lower.
type sequence struct {
	c      *compiler
	levels []piece
}

func (s *sequence) add(p piece) {
	for level := 0; ; level++ {
		if level == len(s.levels) {
			s.levels = append(s.levels, s.c.piece())
		}
		at := &s.levels[level]
		if len(at.code) == 0 || at.fits(p, 0) {
			at.called = len(at.code) == 0 && p.called
			at.take(p, 0)
			return
		}
		full := *at
		*at = s.c.piece()
		at.called = p.called
		at.take(p, 0)
		p = s.c.outline(full)
	}
}

// piece is everything that was added.
func (s *sequence) piece() piece {
	all := s.c.piece()
	for level := len(s.levels) - 1; level >= 0; level-- {
		p := s.levels[level]
		if len(all.code) == 0 {
			all = p
			continue
		}
		if !all.fits(p, 0) {
			p = s.c.outline(p)
		}
		if !all.fits(p, 0) {
			all = s.c.outline(all)
		}
		all.called = false
		all.take(p, 0)
	}
	return all
}
