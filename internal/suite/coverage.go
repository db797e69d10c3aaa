package suite

import (
	"strings"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/subset"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// A Coverage names rules of admission, by what they are about.
type Coverage struct {
	Classes  []string // a class of refusal and the dialect it was refused in
	Features []string // of the language, in fragments that were admitted
	Ceilings []string // that refused or ended a fragment, or that one just met
}

// Len is how many rules there are.
func (c Coverage) Len() int { return len(c.Classes) + len(c.Features) + len(c.Ceilings) }

// Uncovered names the rules that no case shows. It is told from what came of the
// fragments, never from what a case is called.
func (r *Report) Uncovered() Coverage {
	rest := func(all []string) []string {
		var missing []string
		for _, item := range all {
			if !r.shown(item) {
				missing = append(missing, item)
			}
		}
		return missing
	}
	return Coverage{Classes: rest(classes()), Features: rest(features()), Ceilings: rest(ceilings())}
}

func (r *Report) shown(item string) bool {
	for i := range r.Outcomes {
		if r.Outcomes[i].shows[item] {
			return true
		}
	}
	return false
}

// classes are the classes of refusal in each dialect.
func classes() []string {
	var all []string
	for _, c := range [...]admission.Class{
		admission.Block, admission.Expression, admission.Interpolation, admission.Binding, admission.Component,
		admission.Content, admission.FormClass, admission.Structure, admission.Encoding, admission.Construct,
		admission.Props, admission.RequestClass, admission.PathClass, admission.Limit,
	} {
		for _, d := range [...]capability.Dialect{capability.Flat, capability.Closed} {
			all = append(all, refusedIn(c, d))
		}
	}
	return all
}

func refusedIn(c admission.Class, d capability.Dialect) string {
	return string(c) + " (" + string(d) + ")"
}

// The features of text and of props.
const (
	inComment     = "comment"
	inSpan        = "code span"
	inFence       = "code fence"
	interpolates  = "interpolation"
	spanReads     = "interpolation in a code span"
	fenceReads    = "interpolation in a code fence"
	escapedBrace  = "escaped brace"
	bareProp      = "bare prop"
	quotedProp    = "quoted prop"
	bracedProp    = "braced prop"
	computedProp  = "computed prop"
	readsBinding  = "binding"
	plainTemplate = "template"
	substitution  = "template substitution"
	listOf        = "array of computed values"
	recordOf      = "object of computed values"
	conditional   = "?:"
)

// features are what an admitted fragment may be made of.
func features() []string {
	all := []string{inComment, inSpan, inFence, interpolates, spanReads, fenceReads, escapedBrace,
		bareProp, quotedProp, bracedProp, computedProp}
	for _, use := range [...]string{"File.read", "Glob", "Fetch", "File.write", "File.delete", "Dir.ensure", "Elicit.ask", "Json", "CodeBlock", "Fail"} {
		all = append(all, use)
	}
	all = append(all, "as", "Let value", "Let content", "If", "Else", "Switch", "Case", "Case default", "Each", "Each as",
		"Loop", "Loop name", "Loop max computed", "Break", "Answers", "Answers delegate",
		"Answer", "Answer template", "Answer content", "All", "Spawn",
		"string", "number", "boolean", "null", "array", "object", readsBinding, plainTemplate, substitution, listOf, recordOf,
		".member", ".length", "[index]", "?.member", "?.[index]", conditional)
	for op := wasm.Not; op <= wasm.Negate; op++ {
		all = append(all, "unary "+unaryText(op))
	}
	for op := wasm.StrictEqual; op <= wasm.Remainder; op++ {
		all = append(all, binaryText(op))
	}
	for op := wasm.And; op <= wasm.Coalesce; op++ {
		all = append(all, logicalText(op))
	}
	return all
}

func unaryText(op wasm.UnaryOp) string { return [...]string{wasm.Not: "!", wasm.Negate: "-"}[op] }

func binaryText(op wasm.BinaryOp) string {
	return [...]string{
		wasm.StrictEqual: "===", wasm.StrictNotEqual: "!==", wasm.Less: "<", wasm.LessEqual: "<=", wasm.Greater: ">",
		wasm.GreaterEqual: ">=", wasm.Add: "+", wasm.Subtract: "-", wasm.Multiply: "*", wasm.Divide: "/", wasm.Remainder: "%",
	}[op]
}

func logicalText(op wasm.LogicalOp) string {
	return [...]string{wasm.And: "&&", wasm.Or: "||", wasm.Coalesce: "??"}[op]
}

// A marker notes the features of one admitted fragment.
type marker map[string]bool

// nodes notes what a fragment is made of. It recurses as deep as an admitted
// fragment nests.
func (m marker) nodes(list []document.Node) {
	for _, n := range list {
		switch n := n.(type) {
		case *document.Text:
			m.text(n)
		case *document.Element:
			m.element(n)
			m.nodes(n.Children)
		}
	}
}

func (m marker) text(t *document.Text) {
	if t.Comment {
		m[inComment] = true
		return
	}
	code := codeOf(t.Value)
	m[inSpan] = m[inSpan] || len(code.spans) > 0
	m[inFence] = m[inFence] || len(code.fences) > 0
	m[escapedBrace] = m[escapedBrace] || strings.Contains(t.Value, `\{`)
	for _, p := range subset.References(t.Value) {
		switch {
		case p.Source == "":
		case within(code.fences, p.Offset):
			m[fenceReads] = true
		case within(code.spans, p.Offset):
			m[spanReads] = true
		default:
			m[interpolates] = true
		}
	}
}

// element notes the construct an element is and how its attributes are written. What
// is a capability is noted from the decision.
func (m marker) element(el *document.Element) {
	attrs := map[string]document.Attr{}
	for _, a := range el.Attrs {
		attrs[a.Name] = a
		m.attribute(a)
	}
	has := func(name string) bool { _, ok := attrs[name]; return ok }
	switch el.Name {
	case "Let":
		m["Let value"] = m["Let value"] || has("value")
		m["Let content"] = m["Let content"] || !has("value")
	case "Case":
		m["Case default"] = m["Case default"] || has("default")
		m["Case"] = m["Case"] || !has("default")
	case "Each":
		m["Each"] = true
		m["Each as"] = m["Each as"] || has("as")
	case "Loop":
		m["Loop"] = true
		m["Loop name"] = m["Loop name"] || has("name")
		_, constant := expression(attrs["max"]).(*wasm.Literal)
		m["Loop max computed"] = m["Loop max computed"] || !constant
	case "Answers":
		m["Answers"] = true
		m["Answers delegate"] = m["Answers delegate"] || has("delegate")
	case "Answer":
		m["Answer template"] = m["Answer template"] || has("template")
		m["Answer content"] = m["Answer content"] || len(el.Children) > 0
		m["Answer"] = m["Answer"] || !has("template") && len(el.Children) == 0
	case "If", "Else", "Switch", "Break", "All", "Spawn":
		m[el.Name] = true
	default:
		m["as"] = m["as"] || has("as")
	}
}

// expression is what an attribute of an admitted fragment says.
func expression(a document.Attr) wasm.Expr {
	if a.Form != document.Braced {
		return &wasm.Literal{JSON: "true"}
	}
	e, err := subset.Expression(a.Text, false, value.MaxDepth)
	if err != nil {
		return &wasm.Literal{JSON: "null"} // not reached: it was admitted
	}
	return e
}

func (m marker) attribute(a document.Attr) {
	switch a.Form {
	case document.Bare:
		m[bareProp] = true
	case document.Quoted:
		m[quotedProp] = true
	case document.Braced:
		m[bracedProp] = true
		e := expression(a)
		if _, constant := e.(*wasm.Literal); !constant {
			m[computedProp] = true
		}
		sums := m[binaryText(wasm.Add)] || strings.Contains(a.Text, "+")
		m[plainTemplate] = m[plainTemplate] || strings.Contains(a.Text, "`")
		m[substitution] = m[substitution] || strings.Contains(a.Text, "`") && strings.Contains(a.Text, "${")
		m.expression(e)
		m[binaryText(wasm.Add)] = m[binaryText(wasm.Add)] && sums // a template is a sum, too
	}
}

func (m marker) expression(e wasm.Expr) {
	switch e := e.(type) {
	case *wasm.Literal:
		m[kindOf(e.JSON)] = true
	case *wasm.Name:
		m[readsBinding] = true
	case *wasm.Array:
		m[listOf] = true
		for _, x := range e.Elements {
			m.expression(x)
		}
	case *wasm.ObjectLiteral:
		m[recordOf] = true
		for _, x := range e.Members {
			m.expression(x.Value)
		}
	case *wasm.Chain:
		m.expression(e.Base)
		for _, s := range e.Steps {
			m.step(s)
		}
	case *wasm.Unary:
		m["unary "+unaryText(e.Op)] = true
		m.expression(e.X)
	case *wasm.Binary:
		m[binaryText(e.Op)] = true
		m.expression(e.X)
		m.expression(e.Y)
	case *wasm.Logical:
		m[logicalText(e.Op)] = true
		m.expression(e.X)
		m.expression(e.Y)
	case *wasm.Conditional:
		m[conditional] = true
		m.expression(e.Test)
		m.expression(e.Then)
		m.expression(e.Else)
	}
}

func (m marker) step(s wasm.Step) {
	switch {
	case s.Index != nil && s.Optional:
		m["?.[index]"] = true
	case s.Index != nil:
		m["[index]"] = true
	case s.Optional:
		m["?.member"] = true
	case s.Property == "length":
		m[".length"] = true
	default:
		m[".member"] = true
	}
	if s.Index != nil {
		m.expression(s.Index)
	}
}

// kindOf is the kind of value a JSON text is of.
func kindOf(json string) string {
	switch json[0] {
	case '"':
		return "string"
	case '[':
		return "array"
	case '{':
		return "object"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// A code is where code stands in a text, as far as a listing of features needs to
// know.
type code struct{ spans, fences []stretch }

// A stretch is a range of a text in bytes, the end excluded.
type stretch struct{ start, end int }

func within(of []stretch, at int) bool {
	for _, s := range of {
		if s.start <= at && at < s.end {
			return true
		}
	}
	return false
}

// codeOf finds the fences and, on single lines outside them, the spans of a text that
// was admitted.
func codeOf(text string) code {
	var c code
	fence, opened := "", 0 // the run that opened a fence, and where
	for at := 0; at < len(text); {
		end := at + strings.IndexByte(text[at:]+"\n", '\n')
		line := text[at:end]
		marks := strings.TrimLeft(line, " ")
		n := len(marks) - len(strings.TrimLeft(marks, "`"))
		if strings.HasPrefix(marks, "~") {
			n = len(marks) - len(strings.TrimLeft(marks, "~"))
		}
		switch {
		case fence == "" && n >= 3 && !strings.Contains(marks[n:], "`"):
			fence, opened = marks[:n], at
		case fence != "" && strings.HasPrefix(marks, fence) && strings.Trim(marks, fence[:1]+" \t\r") == "":
			c.fences = append(c.fences, stretch{opened, end})
			fence = ""
		case fence == "":
			c.spans = append(c.spans, spansOf(line, at)...)
		}
		at = end + 1
	}
	return c
}

// spansOf finds the spans of a line: a run of backticks and the next one as long.
func spansOf(line string, offset int) []stretch {
	var spans []stretch
	open, length := -1, 0
	for i := 0; i < len(line); {
		if line[i] != '`' {
			i++
			continue
		}
		n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
		switch {
		case open < 0:
			open, length = i, n
		case n == length:
			spans = append(spans, stretch{offset + open, offset + i + n})
			open = -1
		}
		i += n
	}
	return spans
}
