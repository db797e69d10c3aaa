package wasm

import (
	"fmt"
	"strings"
)

// A generator builds well-formed programs out of a string of bytes, which decide
// everything: the same bytes are the same program. Past their end every choice is 0,
// which ends what is being built.
type generator struct {
	choices  []byte
	elements []Element
	parent   int
	depth    int
}

// generate is the program a string of bytes stands for.
func generate(choices []byte) *Program {
	g := &generator{choices: choices, parent: -1}
	body := g.body(false)
	return &Program{Digest: testDigest, Elements: g.elements, Body: body}
}

const testDigest = "sha256:" + "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

func (g *generator) choose(n int) int {
	if len(g.choices) == 0 {
		return 0
	}
	c := int(g.choices[0])
	g.choices = g.choices[1:]
	return c % n
}

func (g *generator) element(name string, el Element) int {
	el.Name, el.Parent, el.Offset = name, g.parent, 3*len(g.elements)
	g.elements = append(g.elements, el)
	return len(g.elements) - 1
}

func (g *generator) inside(index int, breakable bool) []Node {
	outer := g.parent
	g.parent = index
	body := g.body(breakable)
	g.parent = outer
	return body
}

func (g *generator) body(breakable bool) []Node {
	if g.depth == 80 {
		return nil
	}
	g.depth++
	defer func() { g.depth-- }()
	var nodes []Node
	for range g.choose(8) {
		nodes = append(nodes, g.node(breakable))
	}
	return nodes
}

func (g *generator) name() string { return string(rune('a' + g.choose(5))) }

func (g *generator) as() string {
	if g.choose(2) == 0 {
		return ""
	}
	return g.name()
}

func (g *generator) node(breakable bool) Node {
	switch g.choose(16) {
	default:
		return &Text{strings.Repeat("text ", g.choose(3))}
	case 1:
		return &Show{"{" + g.name() + "}"}
	case 2, 3:
		as := g.as()
		el := Element{
			Identity: fmt.Sprintf("test/Op%d@%d", g.choose(3), 1+g.choose(2)),
			Form:     Form(g.choose(2)),
			As:       as != "",
		}
		n := &Invoke{Element: g.element("Op", el), As: as}
		for i := range g.choose(4) {
			n.Props = append(n.Props, Prop{fmt.Sprintf("p%d", i), g.expr()})
		}
		if el.Form == Paired {
			n.Body = g.inside(n.Element, false)
		}
		return n
	case 4:
		n := &Let{Element: g.element("Let", Element{As: true}), As: g.name()}
		if g.choose(2) == 0 {
			n.Value = g.expr()
		} else {
			n.Body = g.inside(n.Element, false)
		}
		return n
	case 5, 12:
		n := &If{Element: g.element("If", Element{}), Condition: g.expr(), ElseElement: -1}
		n.Then = g.inside(n.Element, breakable)
		if g.choose(2) == 1 {
			n.ElseElement = g.element("Else", Element{})
			n.Else = g.inside(n.ElseElement, breakable)
		}
		return n
	case 6:
		n := &Switch{Element: g.element("Switch", Element{}), Value: g.expr(), DefaultElement: -1}
		for range g.choose(40) {
			k := Case{Element: g.element("Case", Element{}), Value: g.expr()}
			k.Body = g.inside(k.Element, breakable)
			n.Cases = append(n.Cases, k)
		}
		if g.choose(2) == 1 {
			n.DefaultElement = g.element("Case", Element{})
			n.Default = g.inside(n.DefaultElement, breakable)
		}
		return n
	case 7, 13:
		as := g.as()
		n := &Each{Element: g.element("Each", Element{As: as != ""}), In: g.expr(), Let: g.name(), As: as}
		n.Body = g.inside(n.Element, breakable && as == "")
		return n
	case 8, 14:
		n := &Loop{Element: g.element("Loop", Element{}), Name: g.as(), Max: g.expr()}
		n.Body = g.inside(n.Element, true)
		return n
	case 9, 15:
		if !breakable {
			return &Text{"no loop"}
		}
		return &Break{g.element("Break", Element{})}
	case 10:
		return g.answers(breakable)
	case 11:
		n := &All{Element: g.element("All", Element{})}
		for range g.choose(4) {
			s := Spawn{Element: g.element("Spawn", Element{})}
			s.Body = g.inside(s.Element, false)
			n.Spawns = append(n.Spawns, s)
		}
		return n
	}
}

func (g *generator) answers(breakable bool) Node {
	n := &Answers{Element: g.element("Answers", Element{})}
	if g.choose(2) == 1 {
		n.Delegate = g.expr()
	}
	for range g.choose(4) {
		a := Answer{Element: g.element("Answer", Element{}), Value: g.expr()}
		switch g.choose(3) {
		case 1:
			a.HasTemplate, a.Template = true, "a \"template\" {x}"
		case 2:
			a.Children = g.inside(a.Element, false)
		}
		n.Answers = append(n.Answers, a)
	}
	n.Body = g.inside(n.Element, breakable)
	return n
}

func (g *generator) expr() Expr {
	if g.depth >= 150 {
		return &Name{"deep"}
	}
	g.depth++
	defer func() { g.depth-- }()
	switch g.choose(20) {
	default:
		return &Literal{fmt.Sprint(g.choose(7))}
	case 1, 2:
		return &Name{g.name()}
	case 3:
		a := &Array{}
		for range g.choose(4) {
			a.Elements = append(a.Elements, g.expr())
		}
		return a
	case 4:
		o := &ObjectLiteral{}
		for range g.choose(4) {
			o.Members = append(o.Members, Prop{g.name(), g.expr()})
		}
		return o
	case 5:
		c := &Chain{Base: g.expr()}
		for range 1 + g.choose(5) {
			s := Step{Optional: g.choose(3) == 1}
			if g.choose(2) == 0 {
				s.Property = g.name()
			} else {
				s.Index = g.expr()
			}
			c.Steps = append(c.Steps, s)
		}
		return c
	case 6:
		return &Unary{UnaryOp(g.choose(2)), g.expr()}
	case 7:
		return &Binary{BinaryOp(g.choose(11)), g.expr(), g.expr()}
	case 8:
		return &Logical{LogicalOp(g.choose(3)), g.expr(), g.expr()}
	case 9:
		return &Conditional{g.expr(), g.expr(), g.expr()}
	}
}
