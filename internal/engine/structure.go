package engine

import (
	"time"

	"github.com/executable-markdown/xmd/internal/answer"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/expr"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/selector"
	"github.com/executable-markdown/xmd/internal/value"
)

// A Place is what surrounds a construct in its source.
type Place struct {
	Parent       string // name of the enclosing element; empty at the top level
	InLoop       bool   // a Loop of the same text encloses it, with no Spawn between
	InComponent  bool   // the text is a component's body and may project Content
	ReturnsValue bool   // the text declares returns, with no Spawn between
}

// CheckElement lists every structural violation of one construct element. It
// evaluates nothing, and judges children only as far as the construct owns them.
func CheckElement(el *document.Element, where Place) []*Error {
	var wrong []*Error
	check := func(e *Error) {
		if e != nil {
			e.Code = "structural-usage-invalid"
			wrong = append(wrong, e)
		}
	}
	switch el.Name {
	case "If":
		_, _, wrong = splitIf(el)
	case "Switch":
		_, wrong = splitSwitch(el)
	case "All":
		_, wrong = splitAll(el)
	case "Else", "Case", "Answer", "Spawn":
		if owner := ownerOf[el.Name]; where.Parent != owner {
			check(strayError(el))
		}
	case "Output":
		if where.Parent == "" {
			check(only(el))
		}
	case "Content":
		if !where.InComponent {
			check(strayContent(el))
		}
	case "Let":
		check(only(el, "as", "value", "select"))
		wrong = append(wrong, letProblems(el)...)
		if query, _, _ := static(el, "select"); query != "" {
			if _, _, err := selector.First("", query); err != nil {
				check(problem(el, "<Let> cannot use select=%q: %v", query, err))
			}
		}
	case "Each":
		check(only(el, "in", "let", "as"))
		if _, ok := attr(el, "in"); !ok {
			check(problem(el, "<Each> needs in={array} and let=\"item\""))
		}
		if v, ok := staticValue(el, "in"); ok && value.Kind(v) != "array" {
			check(problem(el, "in of <Each> must be an array, not %s", quote(v)))
		}
		wrong = append(wrong, namesOf(el, "let", true)...)
		wrong = append(wrong, namesOf(el, "as", false)...)
	case "Loop":
		check(loopProblem(el, loopTag(el)))
		if v, ok := staticValue(el, "max"); ok {
			check(boundProblem(el, loopTag(el), v))
		}
	case "Break":
		for _, e := range breakProblems(el, where.InLoop) {
			check(e)
		}
	case "PrintErrors":
		check(only(el))
	case "Answers":
		check(only(el, "delegate"))
		matchers, content := splitAnswers(el)
		if !content {
			check(problem(el, "<Answers> needs a body beside its <Answer> elements"))
		}
		if v, ok := staticValue(el, "delegate"); ok && value.Kind(v) != "boolean" {
			check(problem(el, "delegate of <Answers> must be true or false"))
		}
		for _, m := range matchers {
			check(answerProblem(m))
			check(answerTextProblem(m))
		}
	}
	return wrong
}

// staticValue returns a prop that is known without evaluating anything.
func staticValue(el *document.Element, prop string) (any, bool) {
	a, ok := attr(el, prop)
	if !ok {
		return nil, false
	}
	return a.StaticValue(true)
}

// answerTextProblem judges what a matcher states as text.
func answerTextProblem(el *document.Element) *Error {
	if text, isString, _ := static(el, "template"); isString {
		nothing := func([]string) (string, bool) { return "", false }
		if _, err := answer.Parse(text, nothing); err != nil {
			return problem(el, "template of <Answer> %v", err)
		}
	}
	if v, ok := staticValue(el, "value"); ok {
		_, err := answerText(el, v)
		return err
	}
	return nil
}

// CheckSlot reports a slot assignment that no slot can have, or nil.
func CheckSlot(el *document.Element) *Error {
	if s, isString, _ := static(el, "slot"); isString && !slotName(s) {
		return slotProblem(el, s)
	}
	return nil
}

// namesOf judges a prop that names a binding.
func namesOf(el *document.Element, prop string, required bool) []*Error {
	if _, written := attr(el, prop); !written && !required {
		return nil
	}
	if _, err := bindingName(el, prop); err != nil {
		e := err.(*Error)
		if e.Code == "" {
			e.Code = "structural-usage-invalid"
		}
		return []*Error{e}
	}
	return nil
}

// CheckBlock reports what keeps an executable block from running, or nil. A bare
// timeout is judged as if the run had a default.
func CheckBlock(b *document.Block) *Error {
	c, err := composeChain(b, time.Hour)
	if err != nil {
		e, _ := err.(*Error)
		return e
	}
	if c.terminal != "eval" {
		return nil
	}
	if err := expr.CheckBlock(b.Content); err != nil {
		e := fault(b, "the js block is not well formed: %v", err)
		e.Code, e.Cause = "structural-usage-invalid", err
		return e
	}
	return nil
}

// A Definition is a document read as a component or root, without running it.
type Definition struct {
	Props    *schema.Schema
	Returns  *schema.Schema // nil: text
	Nodes    []document.Node
	Problems []*Error // what is wrong with the shape of its body
}

// ReadDefinition compiles the declarations of a document and judges the shape of
// its body. The error is an *Error with a declaration code.
func ReadDefinition(name string, d *document.Document) (*Definition, error) {
	def, err := define(name, d)
	if err != nil {
		return nil, err
	}
	return &Definition{Props: def.props, Returns: def.returns, Nodes: def.nodes, Problems: def.problems}, nil
}
