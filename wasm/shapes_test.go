package wasm

import "fmt"

// A builder numbers elements as their nodes are written down.
type builder struct{ elements []Element }

func (b *builder) add(name, identity string, form Form, as bool, parent int) int {
	b.elements = append(b.elements, Element{name, identity, form, as, parent, 10 * len(b.elements)})
	return len(b.elements) - 1
}

func (b *builder) structural(name string, parent int) int {
	return b.add(name, "", Paired, false, parent)
}

func (b *builder) program(body ...Node) *Program {
	return &Program{Digest: testDigest, Elements: b.elements, Body: body}
}

// shapes are programs of n elements.
var shapes = map[string]func(n int) *Program{
	"flat": func(n int) *Program {
		var b builder
		var body []Node
		for i := range n {
			body = append(body, &Text{"text"}, &Invoke{
				Element: b.add("Op", fmt.Sprintf("test/Op@%d", 1+i%7), SelfClosing, false, -1),
				Props:   []Prop{{"path", &Name{"a"}}, {"text", &Literal{`"b"`}}},
			})
		}
		return b.program(body...)
	},
	"bound": func(n int) *Program {
		var b builder
		var body []Node
		for i := range n {
			body = append(body, &Let{Element: b.structural("Let", -1), As: fmt.Sprint("x", i), Value: &Binary{Add, &Name{"a"}, &Literal{"1"}}})
		}
		return b.program(body...)
	},
	"branches": func(n int) *Program {
		var b builder
		var body []Node
		for len(b.elements) < n {
			branch := &If{Element: b.structural("If", -1), Condition: &Name{"a"}}
			branch.Then = []Node{&Text{"then"}, &Show{"{a}"}}
			branch.ElseElement = b.structural("Else", branch.Element)
			branch.Else = []Node{&Text{"else"}}
			body = append(body, branch)
		}
		return b.program(body...)
	},
	"nested content": func(n int) *Program {
		var b builder
		body := &[]Node{}
		first := body
		for i := range n {
			op := &Invoke{Element: b.add("Op", "test/Op@1", Paired, false, i-1)}
			*body = append(*body, op)
			body = &op.Body
		}
		return b.program(*first...)
	},
	"nested ifs": func(n int) *Program {
		var b builder
		body := &[]Node{}
		first := body
		for i := range n {
			branch := &If{Element: b.structural("If", i-1), Condition: &Name{"a"}, ElseElement: -1}
			*body = append(*body, branch)
			body = &branch.Then
		}
		return b.program(*first...)
	},
	"nested loops": func(n int) *Program {
		var b builder
		body := &[]Node{}
		first := body
		for i := range n {
			if i%2 == 0 {
				each := &Each{Element: b.structural("Each", i-1), In: &Name{"a"}, Let: "x"}
				*body = append(*body, each)
				body = &each.Body
				continue
			}
			loop := &Loop{Element: b.structural("Loop", i-1), Max: &Literal{"3"}}
			*body = append(*body, loop)
			body = &loop.Body
		}
		return b.program(*first...)
	},
	"nested breaks": func(n int) *Program {
		var b builder
		outer := &Loop{Element: b.structural("Loop", -1), Max: &Literal{"2"}}
		body := &outer.Body
		for i := 1; i < n-1; i++ {
			each := &Each{Element: b.structural("Each", i-1), In: &Name{"a"}, Let: "x"}
			*body = append(*body, each)
			body = &each.Body
		}
		*body = append(*body, &Break{b.structural("Break", n-2)})
		return b.program(outer)
	},
	"nested spawns": func(n int) *Program {
		var b builder
		body := &[]Node{}
		first := body
		for len(b.elements) < n {
			all := &All{Element: b.structural("All", len(b.elements)-1)}
			all.Spawns = []Spawn{{Element: b.structural("Spawn", len(b.elements)-1)}}
			*body = append(*body, all)
			body = &all.Spawns[0].Body
		}
		return b.program(*first...)
	},
	"spawns": func(n int) *Program {
		var b builder
		all := &All{Element: b.structural("All", -1)}
		for range n - 1 {
			all.Spawns = append(all.Spawns, Spawn{Element: b.structural("Spawn", 0), Body: []Node{&Text{"x"}}})
		}
		return b.program(all)
	},
	"answers": func(n int) *Program {
		var b builder
		region := &Answers{Element: b.structural("Answers", -1)}
		for range n - 1 {
			region.Answers = append(region.Answers, Answer{Element: b.structural("Answer", 0), HasTemplate: true, Template: "t", Value: &Literal{"1"}})
		}
		return b.program(region)
	},
}
