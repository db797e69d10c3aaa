package document

import (
	"slices"
	"strings"
)

// pair finds the closing tag of every opening tag (language 1.6.3). Seen from
// the end, the closing tags an opening tag may take are those not yet hidden
// inside an element; it takes the nearest of its name, and hides the ones before
// it. What is left without a partner is text.
func (s *scanner) pair() {
	type visible struct {
		token int32
		below int32 // the next visible closing tag of the same name
	}
	var stack []visible
	top := slices.Repeat([]int32{none}, len(s.names)) // by name, in stack
	for i := int32(len(s.tokens)) - 1; i >= 0; i-- {
		t := &s.tokens[i]
		switch t.kind {
		case closeTag:
			stack = append(stack, visible{i, top[t.name]})
			top[t.name] = int32(len(stack)) - 1
		case openTag:
			at := top[t.name]
			if at == none {
				continue
			}
			t.mate = stack[at].token
			s.tokens[t.mate].mate = i
			for j := len(stack) - 1; j >= int(at); j-- {
				top[s.tokens[stack[j].token].name] = stack[j].below
			}
			stack = stack[:at]
		}
	}
}

// A builder turns the tokens of a scanner into nodes.
type builder struct {
	*scanner
	places  tracker
	limit   bool // leave tags below MaxDepth as text instead of stopping at them
	nodes   []Node
	pending int // where text not yet in a node starts
}

// build returns the nodes of the range. tooDeep is the offset of the first
// element nested deeper than MaxDepth, unless limit is set, and -1 without one.
func (b *builder) build() (nodes []Node, tooDeep int) {
	b.pair()
	type open struct {
		element *Element
		base    int // where its children start in b.nodes
	}
	var stack []open
	b.pending = b.lo
	for i := range b.tokens {
		t := &b.tokens[i]
		switch t.kind {
		case comment:
			b.flush(t)
			b.nodes = append(b.nodes, &Text{Value: b.src[t.start:t.end], Offset: int(t.start), Comment: true})
		case fenceBlock:
			b.flush(t)
			b.nodes = append(b.nodes, b.block(t))
		case emptyTag:
			b.flush(t)
			b.nodes = append(b.nodes, b.element(t))
		case openTag:
			if t.mate == none {
				continue
			}
			if len(stack) == MaxDepth {
				if !b.limit {
					return nil, int(t.start)
				}
				b.tokens[t.mate].mate = none
				continue
			}
			b.flush(t)
			stack = append(stack, open{b.element(t), len(b.nodes)})
		case closeTag:
			if t.mate == none {
				continue
			}
			b.flush(t)
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			top.element.End = int(t.end)
			if children := b.nodes[top.base:]; len(children) > 0 {
				top.element.Children = slices.Clone(children)
			}
			b.nodes = append(b.nodes[:top.base], top.element)
		}
	}
	b.text(b.hi)
	return b.nodes, -1
}

// flush ends the text before t and goes on behind it.
func (b *builder) flush(t *token) {
	b.text(int(t.start))
	b.pending = int(t.end)
}

func (b *builder) text(end int) {
	if b.pending < end {
		b.nodes = append(b.nodes, &Text{Value: b.src[b.pending:end], Offset: b.pending})
	}
}

func (b *builder) element(t *token) *Element {
	e := &Element{
		Name:        b.src[t.start+1 : t.nameEnd],
		SelfClosing: t.kind == emptyTag,
		Pos:         b.places.at(int(t.start)),
		End:         int(t.end),
	}
	raw := b.attrs[t.from:t.to]
	if len(raw) == 0 {
		return e
	}
	e.Attrs = make([]Attr, len(raw))
	for i, a := range raw {
		text := b.src[a.text:a.textEnd]
		if a.form == Braced || a.form == Spread {
			text = strings.TrimSpace(text)
		}
		e.Attrs[i] = Attr{Name: b.src[a.name:a.nameEnd], Form: a.form, Text: text, Pos: b.places.at(int(a.name))}
	}
	return e
}

func (b *builder) block(t *token) *Block {
	opening, _, _ := strings.Cut(b.src[t.start:t.end], "\n")
	opening = strings.TrimLeft(opening, " ")
	block := parseInfo(opening[runLength(opening, 0):])
	block.Content = b.src[t.from:t.to]
	block.Pos = b.places.at(int(t.start))
	block.End = int(t.end)
	return block
}
