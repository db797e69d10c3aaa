package catalog

import (
	"fmt"
	"slices"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/expr"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// An attribute is the one that gives a prop its value, read without evaluating it.
type attribute struct {
	document.Attr
	value     any   // of a static one
	dynamic   bool  // an expression
	malformed error // why the expression cannot be evaluated
}

// written returns the attributes that count, in the order their names first
// appear: an expression wins over any other spelling of the name, and the last of
// several wins (language 1.4.5).
func written(el *document.Element) []attribute {
	construct := engine.IsConstruct(el.Name)
	var list []attribute
	place := make(map[string]int, len(el.Attrs))
	for _, a := range el.Attrs {
		v, static := a.StaticValue(construct)
		next := attribute{Attr: a, value: v, dynamic: !static}
		i, again := place[a.Name]
		switch {
		case !again:
			place[a.Name] = len(list)
			list = append(list, next)
		case next.dynamic || !list[i].dynamic:
			list[i] = next
		}
	}
	for i := range list {
		if list[i].dynamic {
			list[i].malformed = expr.Check(list[i].Text)
		}
	}
	return list
}

// component judges the invocation of a component. Every check is made that does
// not need the answer of one that failed.
func (c *checker) component(s *source, rec *record, el *document.Element) {
	find := func(code, format string, args ...any) {
		s.found(rec, Diagnostic{Code: code, Component: el.Name, Position: el.Pos, Message: fmt.Sprintf(format, args...)})
	}
	chosen := c.choose(el.Name)
	rec.Origin = chosen.origin
	contract, known := chosen.contract, chosen.native != nil
	switch {
	case chosen.err != nil:
		find("component-unresolved", "<%s> could not be imported: %v", el.Name, chosen.err)
	case chosen.file != nil:
		def := c.definition(el.Name, chosen.file)
		if def.fault != nil {
			rec.findings = append(rec.findings, def.fault)
		}
		contract, known = def.contract, def.usable
	case !accepts(chosen.native.Forms, el):
		find("invocation-form-invalid", "<%s> cannot be written %s: %s", el.Name, formOf(el), chosen.native.FormHelp)
	}

	if chosen.native != nil {
		for _, name := range chosen.native.Needs {
			if !slices.ContainsFunc(el.Attrs, func(a document.Attr) bool { return a.Name == name }) {
				find("capture-invalid", "<%s> needs %s={…}", el.Name, name)
			}
		}
	}

	inv := invocation{props: value.NewObject(len(el.Attrs)), dynamic: make(map[string]bool)}
	for _, a := range written(el) {
		capture := chosen.native != nil && slices.Contains(chosen.native.Captures, a.Name)
		switch {
		case a.Name == "as":
			inv.as = true
			binding(find, el, a, chosen.native)
		case a.malformed != nil && capture:
			s.found(rec, malformed(el, a, "capture-invalid"))
		case a.malformed != nil:
			s.found(rec, malformed(el, a, "props-invalid"))
			inv.dynamic[a.Name] = true
		case a.Name == "slot":
			if e := engine.CheckSlot(el); e != nil {
				find(e.Code, "%s", e.Message)
			}
		case capture:
		case a.dynamic:
			inv.dynamic[a.Name] = true
		default:
			inv.props.Set(a.Name, a.value)
		}
	}
	if len(inv.dynamic) > 0 {
		rec.Reasons = []string{dynamicProps}
	}
	if !known {
		return
	}
	if contract.Returns != nil && !inv.as {
		find("binding-invalid", "<%s> returns a value, so it needs a name for it: write <%s as=\"name\" … />", el.Name, el.Name)
	}
	if issues := inv.issues(contract.Props); len(issues) > 0 {
		s.found(rec, Diagnostic{Code: "props-invalid", Component: el.Name, Position: el.Pos, Issues: issues,
			Message: (&engine.PropsError{Component: el.Name, Issues: issues}).Error()})
	}
}

// binding judges as.
func binding(find func(code, format string, args ...any), el *document.Element, a attribute, native *engine.Component) {
	name, isString := a.value.(string)
	if !isString {
		find("binding-invalid", "as of <%s> must be a quoted name such as as=\"result\"", el.Name)
		return
	}
	if why := expr.BindingName(name); why != "" {
		find("binding-invalid", "as=%q of <%s> cannot name a binding: it is %s", name, el.Name, why)
	}
	if native != nil && native.NoAs != "" {
		find("binding-invalid", "<%s> %s, so as=%q is refused", el.Name, native.NoAs, name)
	}
}

func accepts(forms engine.Form, el *document.Element) bool {
	form := engine.Paired
	if el.SelfClosing {
		form = engine.SelfClosing
	}
	return forms&form != 0
}

func formOf(el *document.Element) string {
	if el.SelfClosing {
		return "self-closing"
	}
	return "around content"
}

// An invocation is what an element gives a component.
type invocation struct {
	props   *value.Object   // known without evaluating anything
	dynamic map[string]bool // the others
	as      bool
}

// issues judges the props by the component's schema. Beside an expression only
// presence is judged: which required props are missing, and which of the known
// ones the schema does not have (components 26.4).
func (inv invocation) issues(props *schema.Schema) []schema.Issue {
	issues := props.Validate(props.Fill(inv.props))
	if len(inv.dynamic) == 0 {
		return issues
	}
	return slices.DeleteFunc(issues, func(i schema.Issue) bool {
		switch i.SchemaPath {
		case "#/required":
			name, _ := i.Params.String("missingProperty")
			return inv.dynamic[name]
		case "#/additionalProperties":
			return i.Keyword != "additionalProperties"
		}
		return true
	})
}
