package selector

// A set holds one bit of knowledge about every node of a tree, in document order.
type set []bool

// A list is a selector: alternatives separated by commas.
type list []chain

// A chain is one alternative: compounds joined by combinators.
type chain []step

// A step is one compound and the combinator before it. The first step of a chain
// has a combinator only where selectors are relative, in :has().
type step struct {
	combinator byte // ' ' descendant, '>' child, '+' next sibling, '~' later sibling, 0 none
	tests      []test
}

// A test is one condition of a compound. Given a tree it does what has to be done
// once, and returns the condition on a node.
type test func(*tree) func(node int) bool

// match returns the nodes that any alternative selects.
func (l list) match(t *tree) set { return l.union(t, chain.match) }

// anchors returns the nodes from which any alternative, being relative, reaches
// something.
func (l list) anchors(t *tree) set { return l.union(t, chain.anchors) }

func (l list) union(t *tree, evaluate func(chain, *tree) set) set {
	all := evaluate(l[0], t)
	for _, c := range l[1:] {
		for n, in := range evaluate(c, t) {
			all[n] = all[n] || in
		}
	}
	return all
}

// match walks the chain from left to right: the nodes a step matches are those
// that its compound holds for and that are related to a node of the step before.
func (c chain) match(t *tree) set {
	found := c[0].compound(t)
	for _, s := range c[1:] {
		related := t.forward(found, s.combinator)
		found = s.compound(t)
		found.keep(related)
	}
	return found
}

// anchors walks the chain from right to left: from the nodes the last compound
// holds for, back over each combinator.
func (c chain) anchors(t *tree) set {
	var reach set
	for i := len(c) - 1; i >= 0; i-- {
		found := c[i].compound(t)
		if reach != nil {
			found.keep(reach)
		}
		reach = t.backward(found, c[i].combinator)
	}
	return reach
}

// compound returns the nodes that satisfy every test of the step.
func (s step) compound(t *tree) set {
	found := make(set, len(t.nodes))
	for n := range found {
		found[n] = true
	}
	for _, test := range s.tests {
		holds := test(t)
		for n := range found {
			found[n] = found[n] && holds(n)
		}
	}
	return found
}

func (s set) keep(other set) {
	for n := range s {
		s[n] = s[n] && other[n]
	}
}

// forward returns the nodes that the combinator leads to from a node in from.
func (t *tree) forward(from set, combinator byte) set {
	to := make(set, len(from))
	for n := range t.nodes {
		parent, prev := t.nodes[n].parent, t.nodes[n].prev
		switch combinator {
		case '>':
			to[n] = parent >= 0 && from[parent]
		case ' ':
			to[n] = parent >= 0 && (from[parent] || to[parent])
		case '+':
			to[n] = prev >= 0 && from[prev]
		case '~':
			to[n] = prev >= 0 && (from[prev] || to[prev])
		}
	}
	return to
}

// backward returns the nodes from which the combinator leads to a node in to.
func (t *tree) backward(to set, combinator byte) set {
	from := make(set, len(to))
	for n := len(t.nodes) - 1; n >= 0; n-- {
		origin := t.nodes[n].parent
		if combinator == '+' || combinator == '~' {
			origin = t.nodes[n].prev
		}
		if origin < 0 {
			continue
		}
		transitive := combinator == ' ' || combinator == '~'
		if to[n] || transitive && from[n] {
			from[origin] = true
		}
	}
	return from
}
