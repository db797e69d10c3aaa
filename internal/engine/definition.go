package engine

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/expr"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// A definition is a document read as something that can be expanded: a root or a
// Markdown component.
type definition struct {
	name    string // component name, RootName for a root
	text    string // of a component, as it was read
	doc     *document.Document
	meta    *value.Object
	props   *schema.Schema
	returns *schema.Schema // nil: text mode
	nodes   []document.Node

	regions  bool     // some top-level Output selects what renders
	problems []*Error // everything misplaced in the body
}

// define compiles the declarations of a document.
func define(name string, d *document.Document) (*definition, error) {
	def := &definition{name: name, doc: d, nodes: d.Nodes}
	front := d.Frontmatter
	declared, has := front.Get("props")
	required, hasRequired := front.Get("required")
	var err error
	if has && declared == nil {
		return nil, declarationError("props", name, d, errors.New("the props declaration is empty; write props: {} for none, or leave it out"))
	}
	if def.props, err = schema.Props(declared, required, hasRequired); err != nil {
		return nil, declarationError("props", name, d, err)
	}
	if r, ok := front.Get("returns"); ok {
		if def.returns, err = schema.Returns(r); err != nil {
			return nil, declarationError("returns", name, d, err)
		}
	}
	def.meta = metaOf(front)
	def.survey()
	return def, nil
}

// declarationError places an unusable declaration at its key, where the
// frontmatter spells it at the start of a line.
func declarationError(key, name string, d *document.Document, err error) *Error {
	offset, line := 0, 1
	front := d.Source[:d.BodyOffset]
	for _, k := range []string{key, "required"} {
		if i := strings.Index(front, "\n"+k+":"); i >= 0 {
			offset, line = i+1, strings.Count(front[:i+1], "\n")+1
			break
		}
	}
	return &Error{Code: key + "-declaration-invalid", Component: name, Message: err.Error(), Cause: err,
		Pos: document.Position{Source: d.Name, Offset: offset, Line: line, Column: 1}}
}

// metaOf reads the meta values of a frontmatter block (language 2.4).
func metaOf(front *value.Object) *value.Object {
	meta := value.NewObject(0)
	if declared, ok := front.Get("meta"); ok {
		if entries, ok := declared.(*value.Object); ok {
			for k, v := range entries.All() {
				if typed, ok := v.(*value.Object); ok && typed.Has("type") {
					if v, ok = typed.Get("default"); !ok {
						continue
					}
				}
				meta.Set(k, v)
			}
			return meta
		}
	}
	for k, v := range front.All() {
		if k != "props" && k != "required" && k != "returns" {
			meta.Set(k, v)
		}
	}
	return meta
}

// survey looks at the shape of the body once: whether it selects output, and
// every misplaced Output and Return in it (language 6.2, 6.3).
func (def *definition) survey() {
	def.regions, def.problems = false, nil
	returns, certain := 0, 0
	var walk func(nodes []document.Node, depth int)
	walk = func(nodes []document.Node, depth int) {
		for _, n := range nodes {
			el, ok := n.(*document.Element)
			if !ok {
				continue
			}
			switch el.Name {
			case "Output":
				switch {
				case def.returns != nil:
					def.misplaced("body-shape-invalid", el, "a document that declares returns has no <Output>")
				case depth > 0:
					def.misplaced("body-shape-invalid", el, "<Output> belongs at the top level of its own document")
				default:
					def.regions = true
				}
			case "Return":
				returns++
				if depth == 0 {
					certain++
				}
				def.checkReturn(el)
			}
			walk(el.Children, depth+1)
		}
	}
	walk(def.nodes, 0)
	if def.returns != nil {
		switch {
		case returns == 0:
			def.problems = append(def.problems, &Error{Code: "return-usage-invalid", Component: def.name,
				Message: "it declares returns but has no <Return value={…} />"})
		case certain > 1:
			def.problems = append(def.problems, &Error{Code: "return-usage-invalid", Component: def.name,
				Message: fmt.Sprintf("it has %d <Return /> elements that all execute; exactly one may", certain)})
		}
	}
}

func (def *definition) checkReturn(el *document.Element) {
	const code = "return-usage-invalid"
	if def.returns == nil {
		def.misplaced(code, el, "<Return> needs a returns declaration in the frontmatter")
		return
	}
	hasValue := false
	for _, a := range el.Attrs {
		if a.Name == "value" {
			hasValue = true
		} else {
			def.misplaced(code, el, "<Return> takes only value, not "+a.Name)
		}
	}
	if !hasValue {
		def.misplaced(code, el, "<Return> needs a value")
	}
	if !el.SelfClosing {
		def.misplaced(code, el, "<Return> is written self-closing, without content")
	}
}

func (def *definition) misplaced(code string, el *document.Element, rule string) {
	def.problems = append(def.problems, &Error{Code: code, Component: el.Name, Pos: el.Pos,
		Message: fmt.Sprintf("%s: %q", rule, preview(def.doc, el, 60))})
}

// preview is the beginning of an element's source.
func preview(d *document.Document, el *document.Element, runes int) string {
	text := d.Source[el.Pos.Offset:el.End]
	for i := range text {
		if runes == 0 {
			return text[:i] + "…"
		}
		runes--
	}
	return strings.ToValidUTF8(text, string(utf8.RuneError))
}

// structure is the one error about everything misplaced in the body, or nil.
func (def *definition) structure() error {
	if len(def.problems) == 0 {
		return nil
	}
	messages := make([]string, len(def.problems))
	for i, p := range def.problems {
		messages[i] = p.Message
		if !p.Pos.IsZero() {
			messages[i] += " at " + p.Pos.String()
		}
	}
	return &Error{Code: def.problems[0].Code, Component: def.name, Pos: def.problems[0].Pos,
		Message: def.owner() + " is not well formed: " + strings.Join(messages, "; ")}
}

// owner names the definition in a message.
func (def *definition) owner() string {
	if def.name == RootName {
		return "the root document"
	}
	return "<" + def.name + ">"
}

// definitions keeps what was parsed, by path, as long as the text is the same.
type definitions struct {
	mu     sync.Mutex
	byPath map[string]*definition
}

// A returnSlot collects the value of a value body (language 6.3).
type returnSlot struct {
	def     *definition
	strand  *strand
	claimed bool
	value   any
}

// settle evaluates a Return where it stands.
func (s *returnSlot) settle(eval func() (*expr.Ref, error)) error {
	if s.claimed {
		return &Error{Code: "return-usage-invalid", Component: s.def.name,
			Message: s.def.owner() + " executed a second <Return>; exactly one may execute"}
	}
	s.claimed = true
	ref, err := eval()
	if err != nil {
		return err
	}
	v, err := ref.Strict()
	if err != nil {
		var kind *expr.KindError
		if errors.As(err, &kind) {
			return &Error{Code: "return-usage-invalid", Component: s.def.name, Cause: err,
				Message: fmt.Sprintf("the value %s returns is not JSON: %v", s.def.owner(), err)}
		}
		return err
	}
	v = s.def.returns.Fill(v)
	if issues := s.def.returns.Validate(v); len(issues) > 0 {
		return &Error{Code: "return-usage-invalid", Component: s.def.name, Issues: issues,
			Message: fmt.Sprintf("the value %s returns does not fit its returns declaration:\n%s", s.def.owner(), schema.Lines(issues))}
	}
	s.value = v
	return nil
}

func (s *returnSlot) missing() error {
	if s.claimed {
		return nil
	}
	return &Error{Code: "return-usage-invalid", Component: s.def.name,
		Message: s.def.owner() + " declares returns but no <Return> executed"}
}
