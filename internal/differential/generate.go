package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/capability"
)

// Bounds of what is invented, so that a case stays small enough to read.
const (
	maxElements = 24
	maxNesting  = 5
)

// Generate invents a fragment. The same seed gives the same fragment, whose names are
// in scope and whose constructs are well formed for the most part: it is there to be
// admitted and run, and half of it to go wrong while it runs.
func Generate(seed uint64) Case {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x786d64)), left: 2 + int(seed%maxElements)}
	c := Case{Seed: seed, Dialect: capability.Closed}
	if g.one(12) {
		c.Dialect, g.flat = capability.Flat, true
	}
	g.pairs = g.one(10)
	g.body(maxNesting)
	c.Source = g.out.String()
	return c
}

// A kind is what a name is believed to hold.
type kind uint8

const (
	anything kind = iota
	number
	text
	truth
	list
	record
)

// A binding is a name in scope.
type binding struct {
	name  string
	kind  kind
	outer bool // bound outside the content that is being written: not to be bound again
	maybe bool // bound in one arm of a branch
}

type generator struct {
	*rand.Rand
	out   strings.Builder
	names []binding
	left  int  // elements that may still be written
	flat  bool // the dialect
	loop  bool // a Break here reaches a Loop
	spawn bool // inside a <Spawn>: see Incomparable
	pairs bool // there are surrogate pairs, and so no text is taken apart: see Incomparable
}

// one is true once in n times.
func (g *generator) one(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

func (g *generator) write(format string, args ...any) { fmt.Fprintf(&g.out, format, args...) }

// name brings a name into scope and now and then shows at once what it holds.
func (g *generator) name(name string, k kind) {
	g.bind(name, k)
	if g.one(3) {
		g.write("[{%s}]", name)
	}
}

// bind brings a name into scope.
func (g *generator) bind(name string, k kind) {
	i := slices.IndexFunc(g.names, func(b binding) bool { return b.name == name })
	switch {
	case i < 0:
		g.names = append(g.names, binding{name: name, kind: k})
	case g.names[i].kind != k:
		g.names[i].kind = anything
	default:
		g.names[i].maybe = false
	}
}

// fresh is a name that may be bound here: a new one, or one that has been bound.
func (g *generator) fresh() string {
	if len(g.names) > 0 && g.one(4) {
		if b := pick(g, g.names...); !b.outer || g.one(40) {
			return b.name
		}
	}
	if g.one(200) {
		return pick(g, "class", "x-y", "")
	}
	return fmt.Sprintf("%s%d", pick(g, "a", "b", "item", "$", "_x", "length"), len(g.names))
}

// known is a name that holds a kind, empty when there is none.
func (g *generator) known(k kind) string {
	var fitting []string
	for _, b := range g.names {
		if (k == anything || b.kind == k) && (!b.maybe || g.one(10)) {
			fitting = append(fitting, b.name)
		}
	}
	if len(fitting) == 0 {
		return ""
	}
	return pick(g, fitting...)
}

// aside writes what keeps its names to itself.
func (g *generator) aside(write func()) {
	names := slices.Clone(g.names)
	write()
	g.names = names
}

// content writes what stands inside a paired element of a capability.
func (g *generator) content(write func()) {
	g.aside(func() {
		for i := range g.names {
			g.names[i].outer = true
		}
		g.unbroken(write)
	})
}

// unbroken writes what no Break may leave.
func (g *generator) unbroken(write func()) {
	loop := g.loop
	g.loop = false
	write()
	g.loop = loop
}

// arms writes alternatives, which begin with the same names.
func (g *generator) arms(write ...func()) {
	before := slices.Clone(g.names)
	var all []binding
	for _, w := range write {
		g.names = slices.Clone(before)
		w()
		for _, b := range g.names {
			i := slices.IndexFunc(all, func(a binding) bool { return a.name == b.name })
			switch {
			case i < 0:
				b.maybe = b.maybe || !slices.ContainsFunc(before, func(was binding) bool { return was.name == b.name })
				all = append(all, b)
			case all[i].kind != b.kind:
				all[i].kind = anything
			}
		}
	}
	g.names = all
}

// body writes text and elements.
func (g *generator) body(depth int) {
	for range 1 + g.IntN(4) {
		if g.left > 0 && depth > 0 && !g.one(4) {
			g.element(depth)
		} else {
			g.text()
		}
	}
}

// some is a body that is not empty.
func (g *generator) some(depth int) {
	g.write("%s", pick(g, "t", " ", "\n", "- item ", "é"))
	g.body(depth)
}

func (g *generator) element(depth int) {
	g.left--
	if g.flat {
		g.capability(depth)
		return
	}
	switch g.IntN(26) {
	case 0, 1, 2, 3:
		g.letValue()
	case 4, 5:
		g.letText(depth)
	case 6, 7:
		g.each(depth)
	case 8, 9:
		g.branch(depth)
	case 10, 11:
		g.choose(depth)
	case 12, 13:
		g.repeat(depth)
	case 14, 15:
		g.answers(depth)
	case 16:
		g.all(depth)
	case 17, 18:
		g.pure()
	case 19:
		g.stop()
	default:
		g.capability(depth)
	}
}

func (g *generator) letValue() {
	k := g.anyKind()
	value := g.braced(k)
	if n := g.known(k); n != "" && g.one(5) {
		value = "{" + n + "}" // another name of it
	}
	name := g.fresh()
	g.write("<Let as=\"%s\" value=%s />", name, value)
	g.name(name, k)
}

func (g *generator) letText(depth int) {
	name := g.fresh()
	g.write("<Let as=\"%s\">", name)
	g.unbroken(func() { g.some(depth - 1) })
	g.write("</Let>")
	g.name(name, text)
}

func (g *generator) each(depth int) {
	in := g.braced(list)
	item, as := g.fresh(), ""
	if g.one(4) {
		as = g.fresh()
	}
	g.write("<Each in=%s let=\"%s\"", in, item)
	if as != "" {
		g.write(" as=\"%s\"", as)
	}
	g.write(">")
	shadow := ""
	if len(g.names) > 0 && g.one(3) {
		if b := pick(g, g.names...); !b.outer && b.name != item {
			shadow = b.name
		}
	}
	inner := func() {
		g.aside(func() {
			g.bind(item, anything)
			if shadow != "" {
				g.write("<Let as=\"%s\" value=%s />", shadow, g.braced(anything))
				g.bind(shadow, anything)
			}
			g.body(depth - 1)
		})
	}
	if as == "" {
		inner()
		g.write("</Each>")
		if shadow != "" {
			g.write("{%s}", shadow) // what it was before
		}
		return
	}
	g.unbroken(inner)
	g.write("</Each>")
	g.name(as, text)
}

func (g *generator) branch(depth int) {
	g.write("<If condition=%s>", g.braced(g.mostly(truth)))
	then := func() { g.body(depth - 1) }
	if g.one(2) {
		g.arms(then)
	} else {
		g.arms(then, func() {
			g.write("<Else>")
			g.some(depth - 1)
			g.write("</Else>%s", pick(g, "", "\n", " "))
		})
	}
	g.write("</If>")
}

func (g *generator) choose(depth int) {
	k := g.mostly(pick(g, number, text))
	g.write("<Switch value=%s>%s", g.braced(k), pick(g, "", "\n", "<!-- cases -->"))
	matcher := func() string { return g.braced(g.mostly(k)) }
	if g.spawn {
		matcher = func() string { return "{" + g.scalar() + "}" }
	}
	var cases []func()
	for range 1 + g.IntN(3) {
		cases = append(cases, func() {
			g.write("<Case value=%s>", matcher())
			g.body(depth - 1)
			g.write("</Case>%s", pick(g, "", "\n"))
		})
	}
	if g.one(2) {
		cases = append(cases, func() {
			g.write("<Case default>")
			g.body(depth - 1)
			g.write("</Case>")
		})
	}
	g.arms(append(cases, func() {})...)
	g.write("</Switch>")
}

func (g *generator) repeat(depth int) {
	bound := pick(g, "{1}", "{2}", "{3}", "{3}", "{4}")
	if g.one(6) {
		bound = "{" + g.at(number, 3, product) + " % 4}" // see Incomparable
	}
	name := ""
	if g.one(6) {
		name = " name=\"again\""
	}
	g.write("<Loop max=%s%s>", bound, name)
	loop := g.loop
	g.loop = true
	g.body(depth - 1)
	g.loop = loop
	g.write("</Loop>")
}

func (g *generator) stop() {
	if !g.loop && !g.one(60) {
		g.letValue()
		return
	}
	if g.one(4) {
		g.write("<Break />")
		return
	}
	g.write("<If condition=%s><Break /></If>", g.braced(g.mostly(truth)))
}

func (g *generator) answers(depth int) {
	g.write("<Answers")
	if g.one(2) {
		g.write(" delegate=%s", pick(g, "{true}", "{true}", "{false}", g.braced(truth)))
	}
	g.write(">")
	for range g.IntN(4) {
		if !g.one(4) {
			g.answer(depth)
		} else {
			g.some(depth - 1)
		}
	}
	g.question()
	g.some(depth - 1)
	g.write("</Answers>")
	if g.one(4) { // whoever answers outside of the region
		g.question()
	}
}

func (g *generator) answer(depth int) {
	value := g.braced(g.anyKind())
	if g.one(2) {
		value = pick(g, `'"Ann"'`, `"3"`, `'{"a": 1}'`, `"true"`, `'["x"]'`, `"null"`)
	}
	switch g.IntN(4) {
	case 0:
		g.write("<Answer value=%s />", value)
	case 1:
		g.write("<Answer value=%s>%s", value, g.message())
		g.aside(func() {
			g.unbroken(func() {
				if g.one(3) {
					g.body(depth - 1)
				}
			})
		})
		g.write("</Answer>")
	default:
		template := pick(g, "Who?", "How many {?x}?", "{?any}", "Is {?x} like {?y}?", "Is {?x} like {?x}?", "Colour {?c}", "{ odd {")
		if n := g.known(anything); n != "" && g.one(2) {
			template = pick(g, "Colour {"+n+"}", "{"+n+"}", "Is {"+n+"} like {?x}?", "{"+n+".a}?")
		}
		g.write("<Answer template=\"%s\" value=%s />", template, value)
	}
}

func (g *generator) message() string {
	m := pick(g, "Who?", "How many cows?", "Is a like b?", "Is a like a?", "Colour red", "nobody knows", "  Who?\n")
	if n := g.known(anything); n != "" && g.one(2) {
		m = pick(g, "Colour {"+n+"}", "{"+n+"}", "Is {"+n+"} like {"+n+"}?")
	}
	return m
}

func (g *generator) question() {
	g.write("<Elicit schema=%s", pick(g, `{{type: "string"}}`, `'{"type":"string"}'`, `{{ "type": "number" }}`, `{{type: "boolean"}}`, `{{type: "object"}}`,
		`{{type: "array", items: {type: "string"}}}`, `{{type: "integer", minimum: 3}}`, `{{}}`))
	as := ""
	if g.one(2) {
		as = g.fresh()
		g.write(" as=\"%s\"", as)
	}
	g.write(">")
	g.content(func() {
		g.write("%s", g.message())
		if g.one(6) {
			g.body(1)
		}
	})
	g.write("</Elicit>")
	if as != "" {
		g.name(as, anything)
	}
}

func (g *generator) all(depth int) {
	g.write("<All>")
	for range 2 + g.IntN(2) {
		g.write("%s<Spawn>", pick(g, "", "\n"))
		outer := g.spawn
		g.spawn = true
		g.aside(func() {
			g.unbroken(func() {
				if g.one(2) {
					g.capability(depth - 1)
				}
				g.some(depth - 1)
			})
		})
		g.spawn = outer
		g.write("</Spawn>")
	}
	g.write("</All>")
}

func (g *generator) pure() {
	switch g.IntN(7) {
	case 0:
		g.write("<Fail message=%s />", pick(g, `"on purpose"`, g.braced(g.mostly(text))))
	case 1, 2:
		as := ""
		g.write("<CodeBlock value=%s", pick(g, `"code"`, "\"a ``` b\"", g.pair(`"😀 {x}"`), g.braced(g.mostly(text)), g.braced(g.mostly(text))))
		if g.one(2) {
			g.write(" language=%s", pick(g, `"md"`, `{"c++"}`, `"js"`, g.braced(text)))
		}
		if g.one(3) {
			as = g.fresh()
			g.write(" as=\"%s\"", as)
		}
		g.write(" />")
		if as != "" {
			g.name(as, text)
		}
	default:
		g.write("<Json value=%s />", pick(g, g.braced(g.anyKind()), g.braced(record), g.braced(list), g.pair(`"<é> & 😀"`)))
	}
}
