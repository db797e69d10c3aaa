package wasm

import (
	"strings"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/internal/value"
)

// body is a list of nodes. breakable says that a Break in it has a loop to end.
func (c *compiler) body(nodes []Node, breakable bool) piece {
	s := sequence{c: c}
	for len(nodes) > 0 && c.err == nil {
		text, rest := leadingText(nodes)
		if text != "" {
			p := c.piece()
			c.text(&p, text)
			c.call(&p, textEmit)
			s.add(p)
		}
		if nodes = rest; len(nodes) > 0 {
			s.add(c.node(nodes[0], breakable))
			nodes = nodes[1:]
		}
	}
	return s.piece()
}

// leadingText is the run of text nodes begin with, and the other nodes.
func leadingText(nodes []Node) (string, []Node) {
	var run strings.Builder
	for i, n := range nodes {
		text, ok := n.(*Text)
		if !ok || text == nil {
			return run.String(), nodes[i:]
		}
		run.WriteString(text.Value)
	}
	return run.String(), nil
}

func (c *compiler) node(n Node, breakable bool) piece {
	p := c.piece()
	if !c.descend(n) {
		return p
	}
	defer c.ascend()
	switch n := n.(type) {
	case *Show:
		p.units++
		p.put(opTick, 0)
		c.text(&p, n.Source)
		c.call(&p, textShow)
	case *Invoke:
		c.invoke(&p, n)
	case *Let:
		c.let(&p, n)
	case *If:
		c.branch(&p, n, breakable)
	case *Switch:
		c.choose(&p, n, breakable)
	case *Each:
		c.each(&p, n, breakable)
	case *Loop:
		c.loop(&p, n)
	case *Break:
		c.element(&p, n.Element)
		if !breakable {
			c.fail("element %d breaks no loop it can reach", n.Element)
		}
		p.breaks = true
		p.number(1)
		p.put(opBreak, 0)
	case *Answers:
		return c.answers(n, breakable)
	case *All:
		return c.all(n)
	default:
		c.fail("an unknown node")
	}
	c.release(&p)
	return p
}

// invoke performs a capability: all of a self-closing element at once, a paired one
// around its content. The value is bound, or rendered.
func (c *compiler) invoke(p *piece, n *Invoke) {
	if !c.claim(p, n.Element) {
		return
	}
	el := c.elements[n.Element]
	switch {
	case el.Identity == "":
		c.fail("element %d is a capability and has no identity", n.Element)
	case el.As != (n.As != ""):
		c.fail("element %d and its row disagree about as", n.Element)
	case el.Form == SelfClosing && len(n.Body) > 0:
		c.fail("element %d is self-closing and has content", n.Element)
	}
	index := int32(n.Element)
	if el.Form == Paired {
		p.number(index)
		c.props(p, n.Props)
		p.put(opEnter, index)
		c.call(p, textPush)
		c.nest(p, c.body(n.Body, false), 0)
	}
	if n.As != "" {
		c.text(p, n.As)
	}
	p.number(index)
	if el.Form == Paired {
		c.call(p, textPop)
		p.put(opLeave, index)
	} else {
		c.props(p, n.Props)
		p.put(opInvoke, index)
	}
	if n.As != "" {
		c.call(p, scopeBind)
	} else {
		c.call(p, textRender)
	}
}

func (c *compiler) let(p *piece, n *Let) {
	c.element(p, n.Element)
	if n.Value != nil {
		if len(n.Body) > 0 {
			c.fail("element %d has a value and content", n.Element)
		}
		c.text(p, n.As)
		c.expression(p, n.Value, 0)
		c.call(p, scopeBind)
		return
	}
	c.call(p, textPush)
	c.nest(p, c.body(n.Body, false), 0)
	c.text(p, n.As)
	c.call(p, textPop)
	c.call(p, textTrim)
	c.call(p, scopeBind)
}

func (c *compiler) branch(p *piece, n *If, breakable bool) {
	c.element(p, n.Element)
	c.expression(p, n.Condition, 0)
	c.call(p, valueTruthy)
	p.put(opIf, noResult)
	c.nest(p, c.body(n.Then, breakable), 1)
	if n.ElseElement >= 0 {
		p.put(opElse, 0)
		c.element(p, n.ElseElement)
		c.nest(p, c.body(n.Else, breakable), 1)
	} else if len(n.Else) > 0 {
		c.fail("element %d has an else without an element", n.Element)
	}
	p.put(opEnd, 0)
}

// choose compares case by case in a block that the chosen one leaves, so that many
// cases nest no deeper than one.
func (c *compiler) choose(p *piece, n *Switch, breakable bool) {
	c.element(p, n.Element)
	selector := c.local(p)
	c.expression(p, n.Value, 0)
	p.put(opLocalSet, selector)
	p.put(opBlock, noResult)
	for _, k := range n.Cases {
		c.element(p, k.Element)
		p.number(int32(StrictEqual))
		p.put(opLocalGet, selector)
		c.expression(p, k.Value, 1)
		c.call(p, valueBinary)
		c.call(p, valueTruthy)
		p.put(opIf, noResult)
		c.nest(p, c.body(k.Body, breakable), 2)
		p.put(opBr, 1)
		p.put(opEnd, 0)
	}
	if n.DefaultElement >= 0 {
		c.element(p, n.DefaultElement)
		c.nest(p, c.body(n.Default, breakable), 1)
	} else if len(n.Default) > 0 {
		c.fail("element %d has a default without an element", n.Element)
	}
	p.put(opEnd, 0)
}

// each expands its body once an item, in a frame that it closes even when a break
// leaves it.
func (c *compiler) each(p *piece, n *Each, breakable bool) {
	c.element(p, n.Element)
	if c.err == nil && c.elements[n.Element].As != (n.As != "") {
		c.fail("element %d and its row disagree about as", n.Element)
	}
	index := int32(n.Element)
	list, length, i := c.local(p), c.local(p), c.local(p)
	c.expression(p, n.In, 0)
	c.call(p, valueItems)
	p.put(opLocalTee, list)
	c.call(p, valueLength)
	p.put(opLocalSet, length)
	p.number(0)
	p.put(opLocalSet, i)
	if n.As != "" {
		c.call(p, textPush)
	}
	body := c.body(n.Body, breakable && n.As == "")

	p.put(opBlock, noResult)
	p.put(opLoop, noResult)
	p.put(opTick, 0)
	p.put(opLocalGet, i)
	p.put(opLocalGet, length)
	p.put(opNotLess, 0)
	p.put(opBrIf, 1)
	p.number(index)
	p.put(opLocalGet, i)
	c.call(p, scopeOpen)
	c.text(p, n.Let)
	p.put(opLocalGet, list)
	p.put(opLocalGet, i)
	c.call(p, valueAt)
	c.call(p, scopeBind)
	c.catching(p, body, 2)
	c.call(p, scopeClose)
	if body.breaks {
		p.put(opLocalGet, broken)
		p.put(opBrIf, 1)
	}
	p.put(opLocalGet, i)
	p.number(1)
	p.put(opAdd, 0)
	p.put(opLocalSet, i)
	p.put(opBr, 0)
	p.put(opEnd, 0)
	p.put(opEnd, 0)
	c.passing(p, body)

	if n.As != "" {
		c.text(p, n.As)
		c.call(p, textPop)
		c.call(p, scopeBind)
	}
}

// loop runs its body at least once. i is how many iterations were begun.
func (c *compiler) loop(p *piece, n *Loop) {
	c.element(p, n.Element)
	index := int32(n.Element)
	limit, i := c.local(p), c.local(p)
	c.expression(p, n.Max, 0)
	c.call(p, valueCount)
	p.put(opLocalSet, limit)
	p.number(0)
	p.put(opLocalSet, i)
	body := c.body(n.Body, true)
	breaks := body.breaks

	level := 1
	if breaks {
		level = 2
		p.put(opCatch, 0)
	}
	p.put(opLoop, noResult)
	p.put(opTick, 0)
	p.number(index)
	p.put(opLocalGet, i)
	c.call(p, taskLoop)
	p.put(opLocalGet, i)
	p.number(1)
	p.put(opAdd, 0)
	p.put(opLocalSet, i)
	c.nest(p, body, level)
	p.put(opLocalGet, i)
	p.put(opLocalGet, limit)
	p.put(opLess, 0)
	p.put(opBrIf, 0)
	p.put(opEnd, 0)
	if breaks {
		p.put(opEnd, 0)
	}
	p.number(index)
	p.put(opLocalGet, i)
	if breaks {
		p.put(opLocalGet, broken)
	} else {
		p.number(0)
	}
	c.call(p, taskDone)
	if breaks {
		p.number(0)
		p.put(opLocalSet, broken)
	}
	p.breaks = false
}

// catching nests a body that something must be closed after, inside so many blocks:
// a break in it goes no further than its end.
func (c *compiler) catching(p *piece, body piece, level int) {
	if !body.breaks {
		c.nest(p, body, level)
		return
	}
	p.put(opCatch, 0)
	c.nest(p, body, level+1)
	p.put(opEnd, 0)
}

// passing lets a break that was caught in a body go on.
func (c *compiler) passing(p *piece, body piece) {
	if body.breaks {
		p.put(opLocalGet, broken)
		p.put(opBreak, 0)
	}
}

// answers evaluates every matcher before the region answers anything.
func (c *compiler) answers(n *Answers, breakable bool) piece {
	s := sequence{c: c}
	p := c.piece()
	c.element(&p, n.Element)
	p.number(int32(n.Element))
	if n.Delegate != nil {
		c.expression(&p, n.Delegate, 0)
	} else {
		p.number(0)
	}
	c.call(&p, answerOpen)
	s.add(p)
	for _, a := range n.Answers {
		s.add(c.answer(a))
	}
	p = c.piece()
	c.call(&p, answerBegin)
	body := c.body(n.Body, breakable)
	c.catching(&p, body, 0)
	c.call(&p, answerClose)
	c.passing(&p, body)
	s.add(p)
	return s.piece()
}

func (c *compiler) answer(a Answer) piece {
	p := c.piece()
	c.element(&p, a.Element)
	captured := !a.HasTemplate && len(a.Children) > 0
	if captured {
		c.call(&p, textPush)
		c.nest(&p, c.body(a.Children, false), 0)
	}
	p.number(int32(a.Element))
	switch {
	case captured:
		c.call(&p, textPop)
	case a.HasTemplate:
		if len(a.Children) > 0 {
			c.fail("element %d has a template and children", a.Element)
		}
		if !utf8.ValidString(a.Template) {
			c.fail("a text is not UTF-8")
		}
		c.text(&p, string(value.AppendString(nil, a.Template)))
		c.call(&p, valueLiteral)
	default:
		p.number(0)
	}
	c.expression(&p, a.Value, 0)
	c.call(&p, answerAdd)
	return p
}

// all queues its spawns and runs them. Spawns are numbered in the order they are
// written in, before the spawns inside them.
func (c *compiler) all(n *All) piece {
	s := sequence{c: c}
	p := c.piece()
	c.element(&p, n.Element)
	s.add(p)
	for _, child := range n.Spawns {
		p := c.piece()
		c.element(&p, child.Element)
		k := len(c.spawns)
		c.spawns = append(c.spawns, 0)
		p.number(int32(k))
		c.call(&p, taskSpawn)
		s.add(p)
		c.spawns[k] = c.function(c.body(child.Body, false))
	}
	p = c.piece()
	c.call(&p, taskJoin)
	s.add(p)
	return s.piece()
}
