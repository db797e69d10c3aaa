package differential

import (
	"regexp"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// Incomparable says why a fragment that came to something else in an ordinary document
// proves nothing against either reading; empty when it proves that one of them is
// wrong. It is asked about those fragments only, and the generator invents hardly any it
// would answer for.
func Incomparable(source string, p *wasm.Program) string {
	s := &survey{}
	s.nodes(p.Body)
	switch {
	case s.rounds:
		return "a computed number of rounds: 2^31 or more are a failure here (fragments 8, count)"
	case s.props:
		return "a name props: in an ordinary document it is bound from the beginning (fragments 4)"
	case s.sameInSpawn:
		return "identity in a <Spawn>: it begins with the frames of its parent (fragments 8), an ordinary one with a copy of each binding"
	case s.divides:
		return "a computed divisor shows the sign of a zero: the interpreter of ordinary documents loses it in -2*0, a history in every value"
	case slices.ContainsFunc(s.texts, inherited):
		return "a member of a prototype: only own members are found here (fragments 4)"
	case s.indexes && (strings.ContainsFunc(source, astral) || surrogate().MatchString(source)):
		return "half a surrogate pair: the interpreter of ordinary documents loses it on the way to JSON"
	case slices.ContainsFunc(s.texts, numeral().MatchString):
		return "the interpreter of ordinary documents reads some numerals in strings as the standard does not: 0x+1, -00, more than 64 bits of hex, U+0085 and U+FEFF around them"
	case slash().MatchString(source):
		return "a slash after a brace, which ordinary documents refuse as ambiguous"
	}
	return ""
}

func astral(c rune) bool { return c > 0xffff }

func surrogate() *regexp.Regexp { return regexp.MustCompile(`\\u\{?0*[dD][89a-fA-F]`) }

func numeral() *regexp.Regexp {
	return regexp.MustCompile(`0[xX]|-0[0-9]|\x{85}|\x{feff}`)
}

func slash() *regexp.Regexp { return regexp.MustCompile(`\}\s*/[^>]`) }

// inherited reports whether a text is the name of a member that strings, numbers,
// arrays or objects inherit in an ordinary document.
func inherited(text string) bool {
	return slices.Contains(strings.Fields(`
		hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf
		at concat copyWithin entries every fill filter find findIndex findLast findLastIndex flat flatMap forEach
		includes indexOf join keys lastIndexOf map pop push reduce reduceRight reverse shift slice some sort splice
		toReversed toSorted toSpliced unshift values with
		anchor big blink bold charAt charCodeAt codePointAt endsWith fixed fontcolor fontsize isWellFormed italics link
		localeCompare match matchAll normalize padEnd padStart repeat replace replaceAll search small split startsWith
		strike sub substr substring sup toLocaleLowerCase toLocaleUpperCase toLowerCase toUpperCase toWellFormed trim
		trimEnd trimLeft trimRight trimStart toExponential toFixed toPrecision
		__defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ __proto__ constructor`), text)
}

// A survey is what a program has that readings are known to differ about.
type survey struct {
	rounds      bool
	props       bool
	sameInSpawn bool
	divides     bool
	indexes     bool     // a member is read by a computed name
	texts       []string // what may become the name of a member

	spawned bool // inside a <Spawn>
}

func (s *survey) nodes(list []wasm.Node) {
	for _, n := range list {
		s.node(n)
	}
}

func (s *survey) node(n wasm.Node) {
	switch n := n.(type) {
	case *wasm.Text:
		s.texts = append(s.texts, strings.TrimSpace(n.Value))
	case *wasm.Invoke:
		s.bind(n.As)
		for _, p := range n.Props {
			s.expr(p.Value)
		}
		s.nodes(n.Body)
	case *wasm.Let:
		s.bind(n.As)
		s.expr(n.Value)
		s.nodes(n.Body)
	case *wasm.If:
		s.expr(n.Condition)
		s.nodes(n.Then)
		s.nodes(n.Else)
	case *wasm.Switch:
		s.expr(n.Value)
		for _, c := range n.Cases {
			s.expr(c.Value)
			s.same(n.Value, c.Value)
			s.nodes(c.Body)
		}
		s.nodes(n.Default)
	case *wasm.Each:
		s.bind(n.Let)
		s.bind(n.As)
		s.expr(n.In)
		s.nodes(n.Body)
	case *wasm.Loop:
		s.expr(n.Max)
		s.rounds = s.rounds || !small(n.Max)
		s.nodes(n.Body)
	case *wasm.Answers:
		s.expr(n.Delegate)
		for _, a := range n.Answers {
			s.nodes(a.Children)
			s.expr(a.Value)
		}
		s.nodes(n.Body)
	case *wasm.All:
		outer := s.spawned
		s.spawned = true
		for _, child := range n.Spawns {
			s.nodes(child.Body)
		}
		s.spawned = outer
	}
}

func (s *survey) bind(name string) { s.props = s.props || name == "props" }

// small reports whether an expression is a literal, or what is left of a division by
// one.
func small(e wasm.Expr) bool {
	if b, ok := e.(*wasm.Binary); ok && b.Op == wasm.Remainder {
		e = b.Y
	}
	_, ok := e.(*wasm.Literal)
	return ok
}

func (s *survey) expr(e wasm.Expr) {
	switch e := e.(type) {
	case *wasm.Literal:
		if v, err := value.Parse([]byte(e.JSON)); err == nil {
			s.literal(v)
		}
	case *wasm.Array:
		for _, x := range e.Elements {
			s.expr(x)
		}
	case *wasm.ObjectLiteral:
		for _, m := range e.Members {
			s.expr(m.Value)
		}
	case *wasm.Chain:
		s.expr(e.Base)
		for _, step := range e.Steps {
			s.texts = append(s.texts, step.Property)
			s.indexes = s.indexes || step.Index != nil
			s.expr(step.Index)
		}
	case *wasm.Unary:
		s.expr(e.X)
	case *wasm.Binary:
		s.expr(e.X)
		s.expr(e.Y)
		if _, constant := e.Y.(*wasm.Literal); e.Op == wasm.Divide && !constant {
			s.divides = true
		}
		if e.Op == wasm.StrictEqual || e.Op == wasm.StrictNotEqual {
			s.same(e.X, e.Y)
		}
	case *wasm.Logical:
		s.expr(e.X)
		s.expr(e.Y)
	case *wasm.Conditional:
		s.expr(e.Test)
		s.expr(e.Then)
		s.expr(e.Else)
	}
}

func (s *survey) literal(v any) {
	switch v := v.(type) {
	case string:
		s.texts = append(s.texts, v)
	case []any:
		for _, e := range v {
			s.literal(e)
		}
	case *value.Object:
		for _, m := range v.All() {
			s.literal(m)
		}
	}
}

// same notes a comparison in a <Spawn> that may be one of two arrays or objects.
func (s *survey) same(x, y wasm.Expr) {
	s.sameInSpawn = s.sameInSpawn || s.spawned && !primitive(x) && !primitive(y)
}

func primitive(e wasm.Expr) bool {
	switch e := e.(type) {
	case *wasm.Literal:
		return e.JSON[0] != '[' && e.JSON[0] != '{'
	case *wasm.Unary, *wasm.Binary:
		return true
	case *wasm.Logical:
		return primitive(e.X) && primitive(e.Y)
	case *wasm.Conditional:
		return primitive(e.Then) && primitive(e.Else)
	}
	return false
}
