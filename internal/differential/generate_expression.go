package differential

import (
	"fmt"
	"strings"
)

// How tight the operators bind, as far as the writer has to know.
const (
	ternary = iota
	coalesce
	or
	and
	equality
	relation
	additive
	product
	unary
	postfix
)

// An operand is an expression with what it binds like.
type operand struct {
	text  string
	level int
}

func (g *generator) anyKind() kind { return pick(g, number, text, truth, list, record, anything) }

// mostly is the kind, or now and then another.
func (g *generator) mostly(k kind) kind {
	if g.one(10) {
		return g.anyKind()
	}
	return k
}

// braced is a prop in braces, or a string in quotes.
func (g *generator) braced(k kind) string {
	if g.flat {
		return "{" + g.constant(3) + "}"
	}
	if k == text && g.one(4) {
		return pick(g, `"plain"`, `'it is "so"'`, `"a\n{b}"`, `""`, "\"two\nlines\"", `"é"`, `"10"`)
	}
	space := pick(g, "", "", " ", "\n")
	return "{" + space + g.expression(k, 4) + space + "}"
}

func (g *generator) expression(k kind, depth int) string { return g.operand(k, depth).text }

// at is an operand for a place that needs one that binds so tight.
func (g *generator) at(k kind, depth, level int) string {
	o := g.operand(g.mostly(k), depth)
	if o.level < level || g.one(12) {
		return "(" + o.text + ")"
	}
	return o.text
}

func (g *generator) operand(k kind, depth int) operand {
	if k == anything {
		k = pick(g, number, text, truth, list, record, anything)
	}
	if n := g.known(k); n != "" && (depth <= 0 || g.one(3)) {
		return operand{n, postfix}
	}
	if depth <= 0 {
		return g.literal(k)
	}
	switch g.IntN(12) {
	case 0:
		return operand{g.at(truth, depth-1, coalesce) + " ? " + g.at(k, depth-1, ternary) + " : " + g.at(k, depth-1, ternary), ternary}
	case 1:
		return operand{g.at(pick(g, k, anything), depth-1, equality) + " ?? " + g.at(k, depth-1, equality), coalesce}
	case 2:
		return operand{g.at(k, depth-1, or) + " || " + g.at(k, depth-1, and), or}
	case 3:
		return operand{g.at(truth, depth-1, and) + " && " + g.at(k, depth-1, equality), and}
	case 4:
		if o, ok := g.chain(depth - 1); ok {
			return o
		}
	case 5:
		return g.literal(k)
	}
	switch k {
	case number:
		return g.numeric(depth - 1)
	case text:
		return g.textual(depth - 1)
	case truth:
		return g.logical(depth - 1)
	case list:
		return g.array(depth - 1)
	case record:
		return g.object(depth - 1)
	}
	return g.literal(anything)
}

func (g *generator) numeric(depth int) operand {
	switch g.IntN(8) {
	case 0:
		return operand{g.at(number, depth, additive) + " - " + g.at(number, depth, product), additive}
	case 1:
		return operand{g.at(number, depth, product) + " * " + g.at(number, depth, unary), product}
	case 2: // what divides is written down, and no brace stands before: see Incomparable
		left := g.at(number, depth, product)
		if strings.HasSuffix(left, "}") {
			left = "(" + left + ")"
		}
		return operand{left + " / " + pick(g, "2", "3", "0.5", "10", "7", "0", "-4"), product}
	case 3:
		return operand{g.at(number, depth, product) + " % " + g.at(number, depth, unary), product}
	case 4:
		o := g.at(pick(g, number, number, text, anything), depth, unary)
		if strings.HasPrefix(o, "-") {
			o = "(" + o + ")"
		}
		return operand{"-" + o, unary}
	case 5:
		return operand{g.at(pick(g, list, text), depth, postfix) + ".length", postfix}
	}
	return operand{g.at(number, depth, additive) + " + " + g.at(number, depth, product), additive}
}

func (g *generator) textual(depth int) operand {
	switch g.IntN(5) {
	case 0:
		if g.pairs {
			break
		}
		return operand{g.at(text, depth, postfix) + "[" + pick(g, "0", "1", "9", `"0"`, g.expression(number, depth)) + "]", postfix}
	case 1, 2:
		var b strings.Builder
		b.WriteString("`")
		for range 1 + g.IntN(3) {
			b.WriteString(pick(g, "", "a", " b ", "\\`", "$", "\\n", "é", "\n"))
			fmt.Fprintf(&b, "${%s}", g.expression(g.mostly(pick(g, text, number, anything)), depth))
		}
		b.WriteString(pick(g, "", "z", "}"))
		b.WriteString("`")
		return operand{b.String(), postfix}
	}
	if g.one(2) {
		return operand{g.at(anything, depth, additive) + " + " + g.at(text, depth, product), additive}
	}
	return operand{g.at(text, depth, additive) + " + " + g.at(anything, depth, product), additive}
}

func (g *generator) logical(depth int) operand {
	switch g.IntN(6) {
	case 0:
		return operand{"!" + g.at(anything, depth, unary), unary}
	case 3: // are they the same one?
		if k := pick(g, record, list); g.known(k) != "" && !g.spawn {
			other := g.known(k)
			if g.one(3) {
				other = g.at(k, depth, relation)
			}
			return operand{g.known(k) + pick(g, "", ".a", "?.[0]") + pick(g, " === ", " !== ") + other, equality}
		}
	case 1, 2:
		k := pick(g, number, text, anything, truth)
		if g.spawn {
			return operand{g.at(k, depth, equality) + pick(g, " === ", " !== ") + g.scalar(), equality}
		}
		return operand{g.at(k, depth, equality) + pick(g, " === ", " !== ") + g.at(k, depth, relation), equality}
	}
	k := pick(g, number, number, text, anything)
	return operand{g.at(k, depth, additive) + pick(g, " < ", " <= ", " > ", " >= ") + g.at(k, depth, additive), relation}
}

func (g *generator) array(depth int) operand {
	elements := make([]string, g.IntN(4))
	for i := range elements {
		elements[i] = g.expression(g.anyKind(), depth)
	}
	return operand{"[" + strings.Join(elements, ", ") + pick(g, "", "", trailing(elements)) + "]", postfix}
}

func trailing(elements []string) string {
	if len(elements) == 0 {
		return ""
	}
	return ", "
}

func (g *generator) object(depth int) operand {
	members := make([]string, g.IntN(4))
	for i := range members {
		if n := g.known(anything); n != "" && g.one(4) {
			members[i] = n
			continue
		}
		key := pick(g, "a", "b", "c", `"a"`, `'x y'`, `"x-y"`, "1", "10", "2", `"01"`, "text", "length", "if", "d", `"__proto__"`, "1.5")
		members[i] = key + pick(g, ": ", ":") + g.expression(g.anyKind(), depth)
	}
	return operand{"{" + strings.Join(members, ", ") + "}", postfix}
}

// chain reads members of something.
func (g *generator) chain(depth int) (operand, bool) {
	base := ""
	switch g.IntN(3) {
	case 0:
		base = g.known(record)
	case 1:
		base = g.known(anything)
	default:
		base = g.at(pick(g, record, list), depth, postfix)
	}
	if base == "" {
		return operand{}, false
	}
	var b strings.Builder
	b.WriteString(base)
	ways := 6
	if g.pairs {
		ways = 4
	}
	for range 1 + g.IntN(3) {
		switch g.IntN(ways) {
		case 0, 1:
			b.WriteString("." + g.member())
		case 2, 3:
			b.WriteString("?." + g.member())
		case 4:
			b.WriteString(pick(g, "[0]", "[1]", `["a"]`, `["x-y"]`, "[9]", "["+g.expression(pick(g, number, text), depth)+"]"))
		case 5:
			b.WriteString(pick(g, "?.[0]", `?.["b"]`, "?.["+g.expression(number, depth)+"]"))
		}
	}
	return operand{b.String(), postfix}, true
}

// constant is a literal of the flat dialect.
func (g *generator) constant(depth int) string {
	if depth == 0 || g.one(2) {
		return g.literal(pick(g, number, text, truth, anything)).text
	}
	parts := make([]string, g.IntN(4))
	for i := range parts {
		parts[i] = g.constant(depth - 1)
	}
	if g.one(2) {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	for i := range parts {
		parts[i] = pick(g, "a", "b", `"c"`, `'d e'`, "2", "1") + ": " + parts[i]
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// scalar is a literal that holds nothing.
func (g *generator) scalar() string { return g.literal(pick(g, number, text, truth)).text }

func (g *generator) literal(k kind) operand {
	switch k {
	case number:
		n := pick(g, "0", "1", "2", "3", "4", "10", "0.5", "1.5", "1e3", "1e21", "1e-7", "0x1f", "0b101", "0o17", "1_000", ".5", "5.", "9007199254740993", "0.1", "123456789012345680000")
		if g.one(5) {
			return operand{"-" + n, unary}
		}
		return operand{n, postfix}
	case text:
		return operand{g.quoted(), postfix}
	case truth:
		return operand{pick(g, "true", "false"), postfix}
	case list:
		return operand{pick(g, "[]", "[1, 2]", `["a", "b"]`, "[null, [1]]", "[{a: 1}, {a: 2}]", "[0, false, \"\"]"), postfix}
	case record:
		return operand{pick(g, "{}", "{a: 1}", `{"a": {b: "x"}}`, "{a: [1, 2], b: null}", `{2: "two", 1: "one", a: 0}`, `{"a":1}`, "{'a': 'q'}"), postfix}
	}
	return operand{pick(g, "null", "null", "true", "[]", "{}", "0", `""`), postfix}
}

func (g *generator) quoted() string {
	s := pick(g, "", "a", "b", "abc", "héllo", "日本", "10", " 7 ", "1e3", "x y", "true", "null", "{x}", "<b>", "a,b", "text", "length", "Infinity", "notes", "z\u00e9")
	switch g.IntN(5) {
	case 0:
		return "'" + s + pick(g, "", `\'`, `\"`, `\x41`, `"`) + "'"
	case 1:
		return "`" + s + pick(g, "", "\\`", "\\$", `\u0041`, "'") + "`"
	case 2:
		return `"` + s + pick(g, `\n`, `\t`, `\"`, `\\`, `\u00e9`, `\u{41}`, `'`, `\b`, `\0`) + `"`
	}
	return `"` + s + `"`
}
