package sandbox

import (
	"slices"

	"github.com/executable-markdown/xmd/wasm"
)

// site is the place of an element now (language 5.13): the elements around it and,
// where one of them repeats its content, the round it is in.
func (t *task) site(element int) Site {
	table := t.module.Elements
	el := table[element]
	path := []Step{{Kind: Element, Name: el.Name, Offset: el.Offset}}
	for inner, outer := element, el.Parent; outer >= 0; inner, outer = outer, table[outer].Parent {
		if s, ok := t.content(outer, inner); ok {
			path = append(path, s)
		}
		path = append(path, Step{Kind: Element, Name: table[outer].Name, Offset: table[outer].Offset})
	}
	slices.Reverse(path)
	return Site{Element: element, Name: el.Name, Offset: el.Offset, Path: path}
}

// content is the frame between an element and one directly inside it, if there is
// one.
func (t *task) content(outer, inner int) (s Step, ok bool) {
	table := t.module.Elements
	switch el := table[outer]; {
	case el.Identity != "":
		return Step{Kind: Content}, true
	case el.Name == "Each":
		return Step{Kind: Item, Index: t.rounds[outer]}, true
	case el.Name == "Loop":
		return Step{Kind: Iteration, Index: t.rounds[outer]}, true
	case el.Name == "Answers" && table[inner].Name != "Answer":
		return Step{Kind: AnswersBody}, true
	case el.Name == "Spawn":
		return Step{Kind: Spawned, Index: ordinal(table, outer)}, true
	}
	return Step{}, false
}

// ordinal is the place of a <Spawn> among those of its <All>.
func ordinal(table []wasm.Element, spawn int) int {
	n := 0
	for _, el := range table[:spawn] {
		if el.Name == "Spawn" && el.Parent == table[spawn].Parent {
			n++
		}
	}
	return n
}
