package wasm

import "github.com/executable-markdown/xmd/internal/value"

// expression puts code that leaves the handle of e on the stack. It stands inside so
// many blocks of the piece. What is evaluated and in which order is the order of the
// text, left to right (fragments 8).
func (c *compiler) expression(p *piece, e Expr, level int) {
	if !c.descend(e) {
		return
	}
	defer c.ascend()
	p.deepen(level)
	switch e := e.(type) {
	case *Literal:
		c.text(p, e.JSON)
		c.call(p, valueLiteral)
	case *Array:
		c.call(p, valueArray)
		for _, element := range e.Elements {
			duplicate(p)
			c.expression(p, element, level)
			c.call(p, valueAppend)
		}
	case *ObjectLiteral:
		c.object(p, e.Members, level)
	case *Name:
		c.text(p, e.Name)
		c.call(p, scopeRead)
	case *Chain:
		c.chain(p, e, level)
	case *Unary:
		if e.Op > Negate {
			c.fail("an unknown unary operator")
		}
		p.number(int32(e.Op))
		c.expression(p, e.X, level)
		c.call(p, valueUnary)
	case *Binary:
		if e.Op > Remainder {
			c.fail("an unknown binary operator")
		}
		p.number(int32(e.Op))
		c.expression(p, e.X, level)
		c.expression(p, e.Y, level)
		c.call(p, valueBinary)
	case *Logical:
		c.logical(p, e, level)
	case *Conditional:
		c.expression(p, e.Test, level)
		c.call(p, valueTruthy)
		p.put(opIf, oneResult)
		c.expression(p, e.Then, level+1)
		p.put(opElse, 0)
		c.expression(p, e.Else, level+1)
		p.put(opEnd, 0)
	default:
		c.fail("an unknown expression")
	}
}

// duplicate pushes the handle on top of the stack once more.
func duplicate(p *piece) {
	p.put(opLocalTee, scratch)
	p.put(opLocalGet, scratch)
}

// object builds an object of members that are not all constants.
func (c *compiler) object(p *piece, members []Prop, level int) {
	c.call(p, valueObject)
	for _, m := range members {
		duplicate(p)
		c.text(p, m.Name)
		c.expression(p, m.Value, level)
		c.call(p, valueSet)
	}
}

// props builds the props of an element: one literal when all are constants.
func (c *compiler) props(p *piece, props []Prop) {
	seen := make(map[string]bool, len(props))
	text := []byte{'{'}
	constant := true
	for i, prop := range props {
		if seen[prop.Name] {
			c.fail("a prop written twice")
			return
		}
		seen[prop.Name] = true
		literal, ok := prop.Value.(*Literal)
		if constant = constant && ok && literal != nil; !constant {
			continue
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = value.AppendString(text, prop.Name)
		text = append(text, ':')
		text = append(text, literal.JSON...)
	}
	if !constant {
		c.object(p, props, 0)
		return
	}
	c.text(p, string(append(text, '}')))
	c.call(p, valueLiteral)
}

// chain reads members. The block around a chain with an optional step has undefined,
// handle 0, as its result already when the step is tested, so leaving it from any
// step skips the whole rest.
func (c *compiler) chain(p *piece, e *Chain, level int) {
	optional := false
	for _, s := range e.Steps {
		optional = optional || s.Optional
	}
	if optional {
		level++
		p.put(opBlock, oneResult)
	}
	c.expression(p, e.Base, level)
	for _, s := range e.Steps {
		if s.Optional {
			p.put(opLocalSet, scratch)
			p.number(0)
			p.put(opLocalGet, scratch)
			c.call(p, valueNullish)
			p.put(opBrIf, 0)
			p.put(opDrop, 0)
			p.put(opLocalGet, scratch)
		}
		if s.Index != nil {
			c.expression(p, s.Index, level)
			c.call(p, valueIndex)
			continue
		}
		c.text(p, s.Property)
		c.call(p, valueGet)
	}
	if optional {
		p.put(opEnd, 0)
	}
}

// logical evaluates the right side only when the left does not decide. The left is
// in scratch when it is tested, and the right is evaluated when it is dead there.
func (c *compiler) logical(p *piece, e *Logical, level int) {
	c.expression(p, e.X, level)
	p.put(opLocalTee, scratch)
	if e.Op == Coalesce {
		c.call(p, valueNullish)
	} else {
		c.call(p, valueTruthy)
	}
	p.put(opIf, oneResult)
	switch e.Op {
	case And, Coalesce:
		c.expression(p, e.Y, level+1)
		p.put(opElse, 0)
		p.put(opLocalGet, scratch)
	case Or:
		p.put(opLocalGet, scratch)
		p.put(opElse, 0)
		c.expression(p, e.Y, level+1)
	default:
		c.fail("an unknown logical operator")
	}
	p.put(opEnd, 0)
}
