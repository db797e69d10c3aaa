package engine

import (
	"context"
	"strings"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/expr"
	"github.com/executable-markdown/xmd/internal/value"
)

// A construct is an element the engine owns (language 6).
type construct func(r *run, ctx context.Context, sc *scope, el *document.Element, out *buffer) error

// constructOf returns the construct an element name means. Answer, Case, Else,
// Output and Spawn are consumed by the element they belong to: reached here, they
// stray.
func constructOf(name string) construct {
	switch name {
	case "Content":
		return (*run).content
	case "Return":
		return (*run).settleReturn
	case "Let":
		return (*run).let
	case "Each":
		return (*run).each
	case "If":
		return (*run).branch
	case "Switch":
		return (*run).choose
	case "Loop":
		return (*run).repeat
	case "Break":
		return (*run).stop
	case "PrintErrors":
		return (*run).printErrors
	case "Answers":
		return (*run).answers
	case "All":
		return (*run).all
	case "Output", "Else", "Case", "Answer", "Spawn":
		return stray
	}
	return nil
}

// IsConstruct reports whether name is reserved for a structural construct.
func IsConstruct(name string) bool { return constructOf(name) != nil }

// Constructs lists the reserved names in order.
func Constructs() []string {
	return []string{"All", "Answer", "Answers", "Break", "Case", "Content", "Each", "Else", "If",
		"Let", "Loop", "Output", "PrintErrors", "Return", "Spawn", "Switch"}
}

// ownerOf names the construct that consumes an element.
var ownerOf = map[string]string{"Else": "If", "Case": "Switch", "Answer": "Answers", "Spawn": "All"}

// stray refuses a construct written where nothing gives it a meaning.
func stray(r *run, _ context.Context, sc *scope, el *document.Element, out *buffer) error {
	return r.raise(sc, out, strayError(el))
}

func strayError(el *document.Element) *Error {
	place := "directly inside <" + ownerOf[el.Name] + ">"
	switch el.Name {
	case "Output":
		place = "at the top level of a document without returns"
	case "Else":
		place = "as the last child of <If>"
	}
	e := at(el, "<%s> has no meaning here: it belongs %s, and its name is reserved", el.Name, place)
	e.Code, e.ShowPos = "structural-usage-invalid", el.Name != "Output"
	return e
}

// expand renders nodes in order into out. Its error is a failure on its way out,
// or one that stops the execution.
func (r *run) expand(ctx context.Context, sc *scope, nodes []document.Node, out *buffer) error {
	for _, n := range nodes {
		if sc.loop.broken() {
			return nil
		}
		var err error
		switch n := n.(type) {
		case *document.Text:
			r.text(sc, n, out)
			continue
		case *document.Element:
			err = r.element(ctx, sc, n, out)
		case *document.Block:
			err = r.block(ctx, sc, n, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) text(sc *scope, t *document.Text, out *buffer) {
	if t.Comment || strings.IndexByte(t.Value, '{') < 0 {
		out.WriteString(t.Value)
		return
	}
	r.interpolate(sc, t.Value, true, &out.b)
}

func (r *run) element(ctx context.Context, sc *scope, el *document.Element, out *buffer) error {
	if err := sc.stopped(ctx); err != nil {
		return err
	}
	sc = sc.with(func(c *scope) { c.id = elementID(sc.id, el) })
	if run := constructOf(el.Name); run != nil {
		return run(r, ctx, sc, el, out)
	}
	return r.invoke(ctx, sc, el, out)
}

// elementID extends an expansion id by one element.
func elementID(parent *identity, el *document.Element) *identity {
	return parent.child(func() string {
		place := el.Pos.Source + el.Pos.Generated + "#" + value.FormatNumber(float64(el.Pos.Offset))
		b := value.AppendString([]byte(`{"at":`), place)
		b = value.AppendString(append(b, `,"f":"el","name":`...), el.Name)
		return string(append(b, '}'))
	})
}

// attr returns the attribute that gives an element's prop its value: an
// expression wins over any other spelling, and the last of several wins
// (language 1.4.5).
func attr(el *document.Element, name string) (document.Attr, bool) {
	var found document.Attr
	ok, dynamic := false, false
	for _, a := range el.Attrs {
		if a.Name != name {
			continue
		}
		isExpr := isExpression(a, IsConstruct(el.Name))
		if dynamic && !isExpr {
			continue
		}
		found, ok, dynamic = a, true, isExpr
	}
	return found, ok
}

func isExpression(a document.Attr, construct bool) bool {
	if a.Form != document.Braced {
		return false
	}
	_, static := a.StaticValue(construct)
	return !static
}

// static returns the value of a prop that must be a string literal.
func static(el *document.Element, name string) (s string, isString, written bool) {
	a, ok := attr(el, name)
	if !ok {
		return "", false, false
	}
	v, ok := a.StaticValue(IsConstruct(el.Name))
	if !ok {
		return "", false, true
	}
	s, isString = v.(string)
	return s, isString, true
}

// only refuses every prop of a construct but the accepted ones.
func only(el *document.Element, accepted ...string) *Error {
next:
	for _, a := range el.Attrs {
		for _, name := range accepted {
			if a.Name == name {
				continue next
			}
		}
		takes := "no props"
		if len(accepted) > 0 {
			takes = "only " + list(accepted)
		}
		e := problem(el, "<%s> takes %s, not %s", el.Name, takes, a.Name)
		e.Code = "structural-usage-invalid"
		return e
	}
	return nil
}

func list(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// raw evaluates a prop by reference: a quoted value is its text, a braced one is
// evaluated from the authored source (language 4.3).
func (r *run) raw(ctx context.Context, sc *scope, el *document.Element, a document.Attr) (*expr.Ref, error) {
	if v, ok := a.StaticValue(false); ok && !octal(a.Text) {
		return r.exprs.Ref(v), nil
	}
	evaluation := ctx
	if sc.strand.co.Replaying() { // a coroutine arrives where it was cancelled before
		evaluation = context.WithoutCancel(ctx)
	}
	ref, err := r.exprs.Eval(evaluation, a.Text, sc.env.lookup)
	if err != nil {
		if evaluation.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e := problem(el, "%s={%s} of <%s> could not be evaluated: %v", a.Name, authored(a.Text), el.Name, err)
		e.Cause = err
		return nil, e
	}
	return ref, nil
}

// octal reports whether a number would be read differently by JavaScript, which
// takes a leading zero for an octal literal.
func octal(text string) bool {
	text = strings.TrimPrefix(text, "-")
	return len(text) > 1 && text[0] == '0' && '0' <= text[1] && text[1] <= '9'
}

// authored is an expression as a message quotes it: whole, unless it is very long.
func authored(text string) string {
	const most = 300 // characters
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// projected evaluates a prop as JSON (language 4.4.1). An undefined result is
// value.Undefined.
func (r *run) projected(ctx context.Context, sc *scope, el *document.Element, a document.Attr) (any, error) {
	if v, ok := a.StaticValue(IsConstruct(el.Name)); ok {
		return v, nil
	}
	ref, err := r.raw(ctx, sc, el, a)
	if err != nil {
		return nil, err
	}
	v, err := ref.JSON()
	if err != nil {
		e := problem(el, "%s={%s} of <%s> cannot be passed on as JSON: %v", a.Name, authored(a.Text), el.Name, err)
		e.Cause = err
		return nil, e
	}
	return v, nil
}

// bindingName reads a prop that must name a binding.
func bindingName(el *document.Element, prop string) (string, error) {
	name, isString, written := static(el, prop)
	switch {
	case !written:
		return "", problem(el, "<%s> needs %s=\"name\"", el.Name, prop)
	case !isString:
		e := problem(el, "%s of <%s> must be a quoted name such as %s=\"result\", not an expression", prop, el.Name, prop)
		e.Code = "binding-invalid"
		return "", e
	}
	if why := expr.BindingName(name); why != "" {
		e := problem(el, "%s=%q of <%s> cannot name a binding: it is %s", prop, name, el.Name, why)
		e.Code = "binding-invalid"
		return "", e
	}
	return name, nil
}
