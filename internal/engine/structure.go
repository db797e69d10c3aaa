package engine

import (
	"time"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/schema"
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
	case "Each":
		check(only(el, "in", "let", "as"))
		if _, ok := attr(el, "in"); !ok {
			check(problem(el, "<Each> needs in={array} and let=\"item\""))
		}
		wrong = append(wrong, namesOf(el, "let", true)...)
		wrong = append(wrong, namesOf(el, "as", false)...)
	case "Loop":
		if err := loopProblem(el, loopTag(el)); err != nil {
			check(err)
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
		for _, m := range matchers {
			check(answerProblem(m))
		}
	}
	return wrong
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
	_, err := composeChain(b, time.Hour)
	e, _ := err.(*Error)
	return e
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
