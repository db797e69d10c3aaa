package subset

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	ordinary "github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"
	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/wasm"
)

// world is what the oracle of meaning, an interpreter, has bound. No expression of
// the subset changes anything, so one interpreter serves many.
const world = `
	var a = {b: {c: 1, d: [1, "two"], "": 0}, n: null, length: 7, a: "a"};
	var b = "text", c = [1, "x", null, [2]], d = 0, e = -3.5, f = false, n = null, x = {}, u;
	var __proto__ = 5;
	function show(v) {
		return typeof v + " " + (Object.is(v, -0) ? "-0" : typeof v === "number" ? String(v) : JSON.stringify(v));
	}
`

func newWorld() *goja.Runtime {
	vm := goja.New()
	if _, err := vm.RunString(world); err != nil {
		panic(err)
	}
	return vm
}

func meaning(vm *goja.Runtime, source string) string {
	v, err := vm.RunString("show((" + source + "\n))")
	if err != nil {
		if strings.HasPrefix(err.Error(), "SyntaxError") {
			return err.Error()
		}
		return "throws"
	}
	return v.String()
}

// agree requires of an admitted text that the interpreter of ordinary documents
// accepts it too and computes the same from it as from the tree.
func agree(t *testing.T, vm *goja.Runtime, text string) {
	t.Helper()
	tree, err := Expression(text, false, 1<<20)
	require.NoError(t, err, "%q", text)
	if strings.Contains(strings.ToLower(text), "10ffff}") {
		return // the interpreter cannot read that escape
	}
	_, err = ordinary.ParseFile(nil, "", "("+text+")", 0, ordinary.WithDisableSourceMaps)
	written := script(tree)
	if strings.Contains(written, "__proto__") {
		return // as a key, no ordinary member to a bare interpreter
	}
	require.NoError(t, err, "%q", text)
	require.Equal(t, meaning(vm, text), meaning(vm, written), "%q is read as %s", text, written)
	if l, ok := tree.(*wasm.Literal); ok {
		v, err := vm.RunString("JSON.stringify((" + text + "))")
		require.NoError(t, err, "%q", text)
		require.Equal(t, v.String(), withoutNegativeZero(t, vm, l.JSON), "%q", text)
	}
}

// withoutNegativeZero writes the zeros of a constant the way JSON.stringify does.
func withoutNegativeZero(t *testing.T, vm *goja.Runtime, text string) string {
	if !strings.Contains(text, "-0") {
		return text
	}
	v, err := vm.RunString("JSON.stringify(" + text + ")")
	require.NoError(t, err)
	return v.String()
}

// script writes a tree as a script that leaves no grouping to precedence.
func script(e wasm.Expr) string {
	switch e := e.(type) {
	case *wasm.Literal:
		return "(" + e.JSON + ")"
	case *wasm.Name:
		return e.Name
	case *wasm.Array:
		out := "["
		for _, x := range e.Elements {
			out += script(x) + ","
		}
		return out + "]"
	case *wasm.ObjectLiteral:
		out := "({"
		for _, m := range e.Members {
			out += string(appendString(nil, m.Name)) + ":" + script(m.Value) + ","
		}
		return out + "})"
	case *wasm.Chain:
		out := "(" + script(e.Base) + ")"
		for _, s := range e.Steps {
			switch {
			case s.Index != nil && s.Optional:
				out += "?.[" + script(s.Index) + "]"
			case s.Index != nil:
				out += "[" + script(s.Index) + "]"
			case s.Optional:
				out += "?." + s.Property
			default:
				out += "." + s.Property
			}
		}
		return "(" + out + ")"
	case *wasm.Unary:
		return "(" + [...]string{"!", "-"}[e.Op] + " " + script(e.X) + ")"
	case *wasm.Binary:
		return "(" + script(e.X) + [...]string{"===", "!==", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"}[e.Op] + " " + script(e.Y) + ")"
	case *wasm.Logical:
		return "(" + script(e.X) + [...]string{"&&", "||", "??"}[e.Op] + script(e.Y) + ")"
	case *wasm.Conditional:
		return "(" + script(e.Test) + " ? " + script(e.Then) + " : " + script(e.Else) + ")"
	}
	panic("no such node")
}

// Random token sequences: exactly those are admitted that the interpreter parses
// and whose syntax tree holds nothing but the nodes of the subset.
func TestAdmittedIsExactlyTheSubset(t *testing.T) {
	words := []string{
		"a", "b", "c", "d", "n", "u", "x", "1", "0", "2.5", ".5", "0x1f", "1e3", "'s'", `"\ud800"`, "`t`", "true", "null",
		"if", "typeof", "in", "new", "length", "constructor", "'prototype'",
	}
	signs := []string{
		"(", ")", "[", "]", "{", "}", ",", ":", "?", ".", "?.", "!", "-", "+", "*", "/", "%", "<", ">=", "===", "!==",
		"&&", "||", "??", "`${", "}`", "...", "=", "==", "**", "=>", "++", "&",
	}
	// Some shapes are grown, so that enough of the sequences are well-formed.
	grammar := map[string][]string{
		"E": {"U", "U", "U O E", "U ? E : E", "U ?? U", "U O U O U", "U && U || U"},
		"U": {"P", "P", "P", "! U", "- U", "P M", "P M M"},
		"P": {"W", "W", "( E )", "[ E , E ]", "[ ]", "{ a : E , b }", "{ 'k' : E , 1 : E , }", "`${ E }`", "`x${ E }y${ E }`"},
		"M": {". b", ". length", "?. c", "[ E ]", "?. [ E ]", ". W"},
		"O": {"+", "-", "*", "/", "%", "<", "<=", ">", ">=", "===", "!==", "&&", "||", "??"},
	}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	var grow func(symbol string, budget int) []string
	grow = func(symbol string, budget int) []string {
		if symbol == "W" {
			return []string{pick(words)}
		}
		shapes := grammar[symbol]
		if shapes == nil {
			return []string{symbol}
		}
		shape := shapes[0]
		if budget > 0 {
			shape = pick(shapes)
		}
		var out []string
		for part := range strings.FieldsSeq(shape) {
			out = append(out, grow(part, budget-1)...)
		}
		return out
	}
	vm := newWorld()
	admitted, refusals := 0, 0
	for range 20000 {
		tokens := grow("E", 5)
		for range random.IntN(3) { // and damaged
			i := random.IntN(len(tokens))
			switch random.IntN(3) {
			case 0:
				tokens = append(tokens[:i:i], tokens[i+1:]...)
			case 1:
				tokens[i] = pick(signs)
			case 2:
				tokens = append(tokens[:i:i], append([]string{pick(append(signs, words...))}, tokens[i:]...)...)
			}
			if len(tokens) == 0 {
				break
			}
		}
		text, wellNested := "", true
		open := 0
		for _, s := range tokens {
			if n := len(text); n > 0 && (random.IntN(3) == 0 || letterOrDigit(text[n-1]) && letterOrDigit(s[0]) || text[n-1] == '.' || s[0] == '.') {
				text += pick([]string{" ", "\n", "\u00a0"})
			}
			text += s
			open += strings.Count(s, "(") - strings.Count(s, ")")
			wellNested = wellNested && open >= 0
		}
		if !wellNested || strings.Contains(text, "//") || strings.Contains(text, "/*") || strings.Contains(text, "<!") {
			continue // would leave the parentheses, or hides text
		}
		program, parseErr := ordinary.ParseFile(nil, "", "("+text+")", 0, ordinary.WithDisableSourceMaps)
		want := parseErr == nil && len(program.Body) == 1 && inSubset(program.Body[0])
		tree, err := Expression(text, false, depth)
		if want && err == ErrRefused && (mixed(text) || comparisons(text) > 1) {
			continue // the interpreter has its own mind about these
		}
		require.Equal(t, want, err == nil, "%q: %v, the interpreter says %v", text, err, parseErr)
		if err != nil {
			refusals++
			continue
		}
		admitted++
		require.Equal(t, meaning(vm, text), meaning(vm, script(tree)), "%q", text)
	}
	require.Greater(t, admitted, 2000)
	require.Greater(t, refusals, 5000)
}

// mixed: the interpreter lets (a) && b ?? c pass for the sake of its parentheses.
func mixed(text string) bool {
	return strings.Contains(text, "??") && (strings.Contains(text, "&&") || strings.Contains(text, "||"))
}

func comparisons(text string) int { return strings.Count(text, "<") + strings.Count(text, ">") }

func letterOrDigit(c byte) bool { return isLetter(c) || isDigit(c) }

// inSubset reports whether a syntax tree of the interpreter holds only what the
// closed dialect has.
func inSubset(n any) bool {
	switch n := n.(type) {
	case nil:
		return false
	case *ast.ExpressionStatement:
		return inSubset(n.Expression)
	case *ast.NumberLiteral:
		f, float := n.Value.(float64)
		return !float || !math.IsInf(f, 0)
	case *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral:
		return true
	case *ast.Identifier:
		return IsBindingName(n.Name.String())
	case *ast.TemplateLiteral:
		for _, x := range n.Expressions {
			if !inSubset(x) {
				return false
			}
		}
		return n.Tag == nil
	case *ast.ArrayLiteral:
		for _, x := range n.Value {
			if !inSubset(x) {
				return false
			}
		}
		return true
	case *ast.ObjectLiteral:
		for _, p := range n.Value {
			switch p := p.(type) {
			case *ast.PropertyShort:
				if p.Initializer != nil || !IsBindingName(p.Name.Name.String()) {
					return false
				}
			case *ast.PropertyKeyed:
				if p.Computed || p.Kind != ast.PropertyKindValue || !inSubset(p.Value) {
					return false
				}
			default:
				return false
			}
		}
		return true
	case *ast.DotExpression:
		return inSubset(n.Left) && !hiddenMember(n.Identifier.Name.String())
	case *ast.BracketExpression:
		if s, ok := n.Member.(*ast.StringLiteral); ok && hiddenMember(s.Value.String()) {
			return false
		}
		return inSubset(n.Left) && inSubset(n.Member)
	case *ast.Optional:
		return inSubset(n.Expression)
	case *ast.OptionalChain:
		return inSubset(n.Expression)
	case *ast.UnaryExpression:
		return (n.Operator == token.NOT || n.Operator == token.MINUS) && !n.Postfix && inSubset(n.Operand)
	case *ast.BinaryExpression:
		switch n.Operator {
		case token.STRICT_EQUAL, token.STRICT_NOT_EQUAL, token.LESS, token.LESS_OR_EQUAL, token.GREATER,
			token.GREATER_OR_EQUAL, token.PLUS, token.MINUS, token.MULTIPLY, token.SLASH, token.REMAINDER,
			token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
			return inSubset(n.Left) && inSubset(n.Right)
		}
		return false
	case *ast.ConditionalExpression:
		return inSubset(n.Test) && inSubset(n.Consequent) && inSubset(n.Alternate)
	}
	return false
}

// Random strings, templates and numbers: what is admitted, the interpreter reads as
// the same constant.
func TestConstantsAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	text := func() string {
		quote := pick("'", `"`, "`")
		out := quote
		for range random.IntN(6) {
			out += pick(
				"a", "0", "'", `"`, "`", "\u00e9", "\u2028", "\U0001f600", "$", "{", "\r\n", "\r", "\n", "\x00", "\x7f", `\`, `\\`, `\'`, "\\`", `\n`, `\v`,
				`\0`, `\x4`, `\xe9`, `\ud83d`, `\ude00`, `\u{de00}`, `\u{1F600}`, `\u{0}`, `\u0041`, `\u00`, "\\\n", "\\\r\n", "\\\u2029", "\\\u00e9",
			)
		}
		return out + quote
	}
	digits := func() string {
		out := ""
		for range random.IntN(4) + 1 {
			out += pick("", "", "-", "- ") + pick("0", "1", "12", "9007199254740993", "5e-324", "_", "1_0", ".", "e", "E5", "e-7", "e+21", "0x", "f", "0b", "1", "0o", "7", "n", "33333333333333333")
		}
		return out
	}
	vm, admitted := newWorld(), 0
	for range 6000 {
		source := text()
		if random.IntN(3) == 0 {
			source = digits()
		}
		tree, err := Expression(source, true, depth)
		if err != nil {
			continue
		}
		admitted++
		require.True(t, json.Valid([]byte(tree.(*wasm.Literal).JSON)), "%q", source)
		agree(t, vm, source)
	}
	require.Greater(t, admitted, 2000)
}
