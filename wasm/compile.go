package wasm

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a program. Both lie beyond what an admitted fragment can reach under the
// default limits.
const (
	maxDescent = 10_000 // nodes and expressions inside each other
	// deepest is how many blocks of a function may stand inside each other because
	// one expression, of at most 256 operators, asks for it.
	deepest = 320
)

// Compile writes a program down as a WebAssembly module (fragments 8). The same
// program gives the same bytes, everywhere and always (F9), and the module imports
// the capabilities of the element table and no other (F4). An error means that the
// program is malformed, which is the fault of whoever built it and not of the
// fragment. Time and memory grow linearly with the program. Compile may be called
// from several goroutines at once.
func Compile(p *Program) (*Module, error) {
	source, err := decodeDigest(p.Digest)
	if err == nil {
		err = checkElements(p.Elements)
	}
	if err != nil {
		return nil, err
	}
	c := &compiler{
		elements: p.Elements,
		claimed:  make([]bool, len(p.Elements)),
		interned: map[string]int32{},
	}
	run := c.function(c.body(p.Body, false))
	if at := slices.Index(c.claimed, false); at >= 0 {
		c.fail("no node is element %d", at)
	}
	for i := range c.functions {
		if c.functions[i].nesting > deepest {
			c.fail("an expression nested too deeply")
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.write(p, source, run), nil
}

// decodeDigest is the digest a text stands for.
func decodeDigest(s string) ([]byte, error) {
	text, found := strings.CutPrefix(s, digestPrefix)
	raw, err := hex.DecodeString(text)
	if !found || err != nil || len(raw) != digestSize || digestPrefix+hex.EncodeToString(raw) != s {
		return nil, malformed(`the digest %.80q is not "sha256:" and 64 hexadecimal digits`, s)
	}
	return raw, nil
}

// checkElements refuses an element table that cannot be written down.
func checkElements(elements []Element) error {
	offset := 0
	for i, el := range elements {
		switch {
		case el.Identity != "" && !isIdentity(el.Identity):
			return malformed("the identity of element %d is not origin/key@revision", i)
		case !utf8.ValidString(el.Name):
			return malformed("the name of element %d is not UTF-8", i)
		case el.Form > Paired:
			return malformed("element %d has an unknown form", i)
		case el.Parent < -1 || el.Parent >= i:
			return malformed("the parent of element %d does not stand before it", i)
		case el.Offset < offset || el.Offset > math.MaxInt32:
			return malformed("element %d stands before the element it follows", i)
		}
		offset = el.Offset
	}
	return nil
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("malformed program: "+format, args...)
}

// A compiler is one call of Compile. Its methods go on after a failure, and the
// first one is the error.
type compiler struct {
	elements  []Element
	claimed   []bool           // by element: a node is it
	interned  map[string]int32 // place of a text in texts
	texts     []string         // in the order they were asked for
	called    [len(fields)]bool
	functions []piece // in order of creation: a function after those it calls
	spawns    []int32 // by k: its function
	live      int32   // locals in use
	depth     int
	err       error
}

func (c *compiler) fail(format string, args ...any) {
	if c.err == nil {
		c.err = malformed(format, args...)
	}
}

// descend enters a node or an expression, if there is one.
func (c *compiler) descend(n any) bool {
	if v := reflect.ValueOf(n); n == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		c.fail("a node or an expression is missing")
	}
	if c.depth == maxDescent {
		c.fail("nested deeper than %d", maxDescent)
	}
	if c.err != nil {
		return false
	}
	c.depth++
	return true
}

func (c *compiler) ascend() { c.depth-- }

// text pushes the index of a string.
func (c *compiler) text(p *piece, s string) {
	at, known := c.interned[s]
	if !known {
		if !isText(s) {
			c.fail("a text is not UTF-8")
		}
		at = int32(len(c.texts))
		c.interned[s] = at
		c.texts = append(c.texts, s)
	}
	p.put(opText, at)
}

// call calls a field.
func (c *compiler) call(p *piece, f fieldID) {
	c.called[f] = true
	p.put(opField, int32(f))
}

// element begins the part of a piece that is a structural element.
func (c *compiler) element(p *piece, index int) {
	if c.claim(p, index) && c.elements[index].Identity != "" {
		c.fail("element %d is structural and has an identity", index)
	}
}

// claim charges for an element, which no other node may be.
func (c *compiler) claim(p *piece, index int) bool {
	switch {
	case index < 0 || index >= len(c.elements):
		c.fail("there is no element %d", index)
		return false
	case c.claimed[index]:
		c.fail("two nodes are element %d", index)
		return false
	}
	c.claimed[index] = true
	p.units++
	p.put(opTick, 0)
	return true
}
