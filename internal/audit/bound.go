package audit

import (
	"math"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// A Bound says how often something happens at most in one evaluation.
type Bound struct {
	Times   int
	ByLimit bool // nothing in the source bounds it: it is the limit on steps
}

// A knowledge is what a source alone says about one of its elements.
type knowledge struct {
	bound    Bound
	entry    *capability.Granted // nil: a structural element
	props    *value.Object       // the ones that are written down
	computed []string            // the names of the others
	dir      string              // the directory its paths are relative to
	dirKnown bool
}

// A surveyor walks a program once and learns what each of its elements can do at
// most. Every element an evaluation reaches takes at least one step, so nothing
// happens more often than there are steps.
type surveyor struct {
	grant *capability.Grant
	steps int
	rows  []wasm.Element
	known []knowledge // by element
}

func survey(p *wasm.Program, g *capability.Grant) []knowledge {
	s := &surveyor{grant: g, steps: g.Limits().Steps, rows: p.Elements, known: make([]knowledge, len(p.Elements))}
	s.body(p.Body, around{times: 1, dirKnown: true})
	return s.known
}

// around is what surrounds a node.
type around struct {
	times    int // how often it is reached; beyond the steps: nobody knows
	dir      string
	dirKnown bool
}

// times is so many times as often; n < 0 is unknown.
func (s *surveyor) times(a around, n int) around {
	switch {
	case a.times == 0 || n == 0:
		a.times = 0
	case n < 0 || a.times > s.steps/n:
		a.times = s.steps + 1
	default:
		a.times *= n
	}
	return a
}

// reach notes how often an element is reached.
func (s *surveyor) reach(element int, a around) *knowledge {
	k := &s.known[element]
	k.bound = Bound{Times: a.times}
	if a.times > s.steps {
		k.bound = Bound{s.steps, true}
	}
	return k
}

// body walks nodes. It recurses with the nesting of elements, which admission has
// bounded.
func (s *surveyor) body(nodes []wasm.Node, a around) {
	for _, n := range nodes {
		s.node(n, a)
	}
}

func (s *surveyor) node(n wasm.Node, a around) {
	switch n := n.(type) {
	case *wasm.Invoke:
		s.invoke(n, a)
	case *wasm.Let:
		s.reach(n.Element, a)
		s.body(n.Body, a)
	case *wasm.If:
		s.reach(n.Element, a)
		s.body(n.Then, a)
		if n.ElseElement >= 0 {
			s.reach(n.ElseElement, a)
			s.body(n.Else, a)
		}
	case *wasm.Switch:
		s.reach(n.Element, a)
		for _, c := range n.Cases {
			s.reach(c.Element, a)
			s.body(c.Body, a)
		}
		if n.DefaultElement >= 0 {
			s.reach(n.DefaultElement, a)
			s.body(n.Default, a)
		}
	case *wasm.Each:
		s.reach(n.Element, a)
		s.body(n.Body, s.times(a, lengthOf(n.In)))
	case *wasm.Loop:
		s.reach(n.Element, a)
		s.body(n.Body, s.times(a, countOf(n.Max)))
	case *wasm.Break:
		s.reach(n.Element, a)
	case *wasm.Answers:
		s.reach(n.Element, a)
		for _, m := range n.Answers {
			s.reach(m.Element, a)
			s.body(m.Children, a)
		}
		s.body(n.Body, a)
	case *wasm.All:
		s.reach(n.Element, a)
		for _, child := range n.Spawns {
			s.reach(child.Element, a)
			s.body(child.Body, a)
		}
	}
}

func (s *surveyor) invoke(n *wasm.Invoke, a around) {
	k := s.reach(n.Element, a)
	k.entry = s.grant.ByIdentity(s.rows[n.Element].Identity)
	k.props, k.dir, k.dirKnown = value.NewObject(len(n.Props)), a.dir, a.dirKnown
	for _, p := range n.Props {
		if v, ok := constant(p.Value); ok {
			k.props.Set(p.Name, v)
		} else {
			k.computed = append(k.computed, p.Name)
		}
	}
	if k.entry != nil && k.entry.Moves() {
		a.dirKnown = a.dirKnown && len(k.computed) == 0
		a.dir = ""
		if a.dirKnown {
			a.dir = k.entry.Target(k.dir, k.props)
		}
	}
	s.body(n.Body, a)
}

// constant is the value of an expression that is written down.
func constant(e wasm.Expr) (any, bool) {
	l, ok := e.(*wasm.Literal)
	if !ok {
		return nil, false
	}
	v, err := value.Parse([]byte(l.JSON))
	return v, err == nil
}

// lengthOf is how many items an array has that is written down; -1: nobody knows.
func lengthOf(e wasm.Expr) int {
	if a, ok := e.(*wasm.Array); ok {
		return len(a.Elements)
	}
	v, _ := constant(e)
	if list, ok := v.([]any); ok {
		return len(list)
	}
	return -1
}

// countOf is the number of iterations that is written down; -1: nobody knows.
func countOf(e wasm.Expr) int {
	v, _ := constant(e)
	if n, ok := v.(float64); ok && n >= 0 && n <= math.MaxInt32 {
		return int(n)
	}
	return -1
}

// exact is the input of the effect that an element asks for, as a history records
// it. ok is false while a part of it is computed, or stands below a directory that
// is.
func (k knowledge) exact() (input any, ok bool) {
	if k.entry == nil || len(k.computed) > 0 {
		return nil, false
	}
	s := shippedAs(k.entry.Identity.String())
	if s.entry == nil || s.record == "elicit" || s.takesPath && !k.dirKnown {
		return nil, false
	}
	return k.entry.Record(capability.Call{Form: k.entry.Forms, Props: k.props, Dir: k.dir}).Input, true
}
