package admission

import (
	"errors"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/subset"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// attributes reads what an element was given, in authored order, except the named
// attributes, which are static words of the language. A name that is written twice
// is refused: readers disagree about which one counts. An element in an attribute is
// hidden live text, which the scan has refused.
func (w *walker) attributes(el *document.Element, static ...string) ([]wasm.Prop, *fault) {
	var props []wasm.Prop
	for _, a := range el.Attrs {
		if a.Form == document.Spread {
			return nil, &fault{Construct, a.Pos.Offset}
		}
		if slices.Contains(static, a.Name) {
			continue
		}
		e, f := w.expression(a)
		if f != nil {
			return nil, f
		}
		props = append(props, wasm.Prop{Name: a.Name, Value: e})
	}
	if a := repeated(el.Attrs); a != nil {
		return nil, &fault{Props, a.Pos.Offset}
	}
	return props, nil
}

// repeated returns the first attribute whose name was written before.
func repeated(attrs []document.Attr) *document.Attr {
	seen := make(map[string]bool, len(attrs))
	for i, a := range attrs {
		if seen[a.Name] {
			return &attrs[i]
		}
		seen[a.Name] = true
	}
	return nil
}

// expression reads a value as an expression of the dialect over names in scope. The
// text between braces is never read any other way (fragments 4).
func (w *walker) expression(a document.Attr) (wasm.Expr, *fault) {
	switch a.Form {
	case document.Bare:
		return &wasm.Literal{JSON: "true"}, nil
	case document.Quoted:
		return &wasm.Literal{JSON: string(value.AppendString(nil, a.Text))}, nil
	}
	e, err := subset.Expression(a.Text, w.flat, w.depth)
	switch {
	case errors.Is(err, subset.ErrLimit):
		return nil, &fault{Limit, a.Pos.Offset}
	case err != nil:
		return nil, &fault{Expression, a.Pos.Offset}
	}
	for name := range func(yield func(string) bool) { subset.Names(e, yield) } {
		if !w.scope.visible(name) {
			return nil, &fault{Expression, a.Pos.Offset}
		}
	}
	return e, nil
}

// constant returns the JSON text of a value that is written down, for constructs
// that refuse some. ok is false for one that is computed, or no expression at all.
func (w *walker) constant(a document.Attr) (json string, ok bool) {
	switch a.Form {
	case document.Bare:
		return "true", true
	case document.Quoted:
		return string(value.AppendString(nil, a.Text)), true
	}
	e, err := subset.Expression(a.Text, true, w.depth)
	l, ok := e.(*wasm.Literal)
	if err != nil || !ok {
		return "", false
	}
	return l.JSON, true
}

// static returns the text of an attribute that must be a string in the source:
// name="x", or name={"x"}. A string in braces is one only where it is a JSON string
// too, because that is where ordinary documents take it for one.
func static(a document.Attr) (text string, ok bool) {
	switch a.Form {
	case document.Quoted:
		return a.Text, true
	case document.Braced:
		if !strings.HasPrefix(a.Text, `"`) {
			return "", false
		}
		v, err := value.Parse([]byte(a.Text))
		if err != nil {
			return "", false
		}
		text, ok = v.(string)
	}
	return text, ok
}

// judge holds what is known of a use against its entry (fragments 5): the schema of
// the props, then paths, patterns, requests and questions. It returns the use.
func judge(entry *capability.Granted, form capability.Form, el *document.Element, props []wasm.Prop, p place) (capability.Use, *fault) {
	at := el.Pos.Offset
	use := capability.Use{Form: form, Props: value.NewObject(len(props)), Dir: p.dir, DirKnown: p.dirKnown}
	for _, p := range props {
		if p.Name == "slot" {
			return use, &fault{Props, at}
		}
		l, ok := p.Value.(*wasm.Literal)
		if !ok {
			use.Computed = append(use.Computed, p.Name)
			continue
		}
		v, err := value.Parse([]byte(withoutSurrogates(l.JSON)))
		if err != nil { // only its nesting can be wrong
			return use, &fault{Limit, at}
		}
		use.Props.Set(p.Name, v)
	}
	violation := entry.Check(use)
	if violation == nil {
		return use, nil
	}
	switch class := Class(violation.Class); class {
	case PathClass, RequestClass, Encoding:
		return use, &fault{class, at}
	}
	return use, &fault{Props, at}
}

// withoutSurrogates replaces lone surrogates, which a literal writes as escapes, by
// U+FFFD: the text they become when they leave the evaluation (fragments 4).
func withoutSurrogates(json string) string {
	if !strings.Contains(json, `\ud`) {
		return json
	}
	var b strings.Builder
	b.Grow(len(json))
	for i := 0; i < len(json); {
		switch rest := json[i:]; {
		case len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' && rest[2] == 'd' && rest[3] >= '8':
			b.WriteString(`\ufffd`)
			i += 6
		case rest[0] == '\\':
			b.WriteString(rest[:2])
			i += 2
		default:
			b.WriteByte(rest[0])
			i++
		}
	}
	return b.String()
}

// find returns an attribute by name.
func find(el *document.Element, name string) (document.Attr, bool) {
	for _, a := range el.Attrs {
		if a.Form != document.Spread && a.Name == name {
			return a, true
		}
	}
	return document.Attr{}, false
}

func has(el *document.Element, name string) bool {
	_, ok := find(el, name)
	return ok
}

// only reports whether an element has no attributes but the named ones. Spreads are
// judged with the attributes.
func only(el *document.Element, names ...string) bool {
	return !slices.ContainsFunc(el.Attrs, func(a document.Attr) bool {
		return a.Form != document.Spread && !slices.Contains(names, a.Name)
	})
}

// prop returns the expression of a prop, or nil.
func prop(props []wasm.Prop, name string) wasm.Expr {
	for _, p := range props {
		if p.Name == name {
			return p.Value
		}
	}
	return nil
}
