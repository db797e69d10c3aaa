package catalog

import (
	"fmt"
	"path"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// A Source is a root document to validate.
type Source struct {
	Name    string // its identity, as positions show it
	Text    []byte
	ReadErr error  // why Text could not be read; nil: it was
	Target  string // a target selector; empty: the whole document

	Props      *value.Object // supplied properties; nil: none
	CheckProps bool          // whether they are judged by the root's declaration
}

// Validate finds everything that is definitely wrong with a document (components
// 26): in its source and declarations, in every element it holds whether or not a
// run would reach it, and in every Markdown component those elements select, each
// read once. It never fails; a source that cannot be read or parsed is a report
// with one diagnostic.
func Validate(in Inputs, src Source) Report {
	c := &checker{resolver: newResolver(in), byPath: make(map[string]*source)}
	c.root(src)
	for i := 0; i < len(c.sources); i++ { // walking one may discover more
		s := c.sources[i]
		c.nodes(s, s.nodes, engine.Place{InComponent: s.component, ReturnsValue: s.returnsValue})
	}
	return report(c.sources)
}

type checker struct {
	resolver
	sources []*source // in the order they were discovered
	byPath  map[string]*source
}

// A source is one text under examination: the root or a component's definition.
type source struct {
	nodes        []document.Node
	component    bool
	returnsValue bool
	usable       bool // the declarations compiled, so its contract is known
	contract     engine.Contract

	fault    *finding   // what first keeps every invocation of it from succeeding
	findings []*finding // everything found in it
	records  []*record
}

// found notes a violation; by is the record of the element that found it, which
// need not be where it is.
func (s *source) found(by *record, d Diagnostic) *finding {
	f := &finding{Diagnostic: d}
	s.findings = append(s.findings, f)
	if by != nil {
		by.findings = append(by.findings, f)
	}
	return f
}

// broken notes a violation of the source as a whole: an error of the document, of
// its declarations or of the shape of its body.
func (s *source) broken(err error, otherwise string) {
	d := Diagnostic{Code: otherwise, Message: err.Error()}
	switch e := err.(type) {
	case *document.Error:
		d = Diagnostic{Code: e.Code, Message: e.Message, Position: e.Pos}
	case *engine.Error:
		d = diagnose(e, otherwise)
	}
	if f := s.found(nil, d); s.fault == nil {
		s.fault = f
	}
}

// diagnose reads what the engine says about an element; otherwise is the code of
// an error that has none.
func diagnose(e *engine.Error, otherwise string) Diagnostic {
	d := Diagnostic{Code: e.Code, Message: e.Message, Position: e.Pos, Component: e.Component, Issues: e.Issues}
	if d.Code == "" {
		d.Code = otherwise
	}
	return d
}

// root reads the root document in the order a run does: source, frontmatter,
// target, declarations, properties (language 7.2).
func (c *checker) root(src Source) {
	s := &source{}
	c.sources = append(c.sources, s)
	if src.ReadErr != nil {
		s.broken(src.ReadErr, "source-unreadable")
		return
	}
	d, err := document.Parse(src.Name, src.Text)
	if err != nil {
		s.broken(err, "source-invalid")
		return
	}
	if src.Target != "" {
		target, err := d.Select(src.Target)
		if err != nil {
			s.broken(err, "target-invalid")
			return
		}
		d = d.Project(target)
	} else {
		c.byPath[path.Clean(src.Name)] = s // the whole text is also what its own name selects
	}
	s.declare(engine.RootName, d)
	if src.CheckProps && s.usable {
		s.supplied(src.Props)
	}
}

// supplied judges the properties a run would be given.
func (s *source) supplied(props *value.Object) {
	if props == nil {
		props = value.NewObject(0)
	}
	issues := s.contract.Props.Validate(s.contract.Props.Fill(props))
	if len(issues) > 0 {
		e := &engine.PropsError{Component: engine.RootName, Issues: issues}
		s.found(nil, Diagnostic{Code: "props-invalid", Message: e.Error(), Component: engine.RootName, Issues: issues})
	}
}

// definition returns the source of a component file, reading it when it is new.
func (c *checker) definition(name string, file *engine.Candidate) *source {
	if s := c.byPath[file.Path]; s != nil {
		return s
	}
	s := &source{component: true}
	c.byPath[file.Path] = s
	c.sources = append(c.sources, s)
	d, err := document.Parse(file.Path, file.Text)
	if err != nil {
		s.broken(err, "source-invalid")
		return s
	}
	s.declare(name, d)
	return s
}

// declare compiles the declarations of a source and judges the shape of its body.
// Unusable props do not hide what is wrong with the rest.
func (s *source) declare(name string, d *document.Document) {
	s.nodes = d.Nodes
	s.returnsValue = d.Frontmatter.Has("returns")
	def, err := engine.ReadDefinition(name, d)
	s.usable = err == nil
	if err != nil {
		s.broken(err, "props-declaration-invalid")
		if !d.Frontmatter.Has("props") && !d.Frontmatter.Has("required") {
			return
		}
		rest := *d
		rest.Frontmatter = without(d.Frontmatter, "props", "required")
		first := err.Error()
		if def, err = engine.ReadDefinition(name, &rest); err != nil {
			if err.Error() != first {
				s.broken(err, "returns-declaration-invalid")
			}
			return
		}
	}
	s.contract = engine.Contract{Props: def.Props, Returns: def.Returns}
	for _, e := range def.Problems {
		s.broken(e, "body-shape-invalid")
	}
}

func without(o *value.Object, keys ...string) *value.Object {
	o = value.Clone(o).(*value.Object)
	for _, key := range keys {
		o.Delete(key)
	}
	return o
}

// nodes walks a body in source order.
func (c *checker) nodes(s *source, nodes []document.Node, where engine.Place) {
	for _, n := range nodes {
		switch n := n.(type) {
		case *document.Block:
			if e := engine.CheckBlock(n); e != nil {
				d := diagnose(e, structuralUsage)
				d.Component = "" // a block's language is no component
				s.found(nil, d)
			}
		case *document.Element:
			rec := &record{Invocation: Invocation{Name: n.Name, Position: n.Pos}}
			s.records = append(s.records, rec)
			if engine.IsConstruct(n.Name) {
				s.construct(rec, n, where)
			} else {
				c.component(s, rec, n)
			}
			c.nodes(s, n.Children, inside(n, where))
		}
	}
}

// inside is the place of an element's children.
func inside(el *document.Element, where engine.Place) engine.Place {
	inner := where
	inner.Parent = el.Name
	switch el.Name {
	case "Loop":
		inner.InLoop = true
	case "Spawn":
		// A Break or Return that would leave the Spawn is found by its All, once.
		inner.InLoop, inner.ReturnsValue = where.Parent == "All", false
	}
	return inner
}

const structuralUsage = "structural-usage-invalid"

// construct judges an element the language owns.
func (s *source) construct(rec *record, el *document.Element, where engine.Place) {
	rec.Origin = Origin{structural, el.Name}
	for _, e := range engine.CheckElement(el, where) {
		s.found(rec, diagnose(e, structuralUsage))
	}
	for _, a := range written(el) {
		switch {
		case !evaluated(el.Name, a.Name):
		case a.malformed != nil:
			s.found(rec, malformed(el, a, structuralUsage))
		case a.dynamic && (el.Name == "Switch" || el.Name == "Case"):
			rec.Reasons = []string{dynamicProps}
		case el.Name == "Return" && !a.dynamic && where.ReturnsValue && s.contract.Returns != nil:
			s.returned(rec, el, a.value)
		}
	}
}

// returned judges a value that is returned as it is written.
func (s *source) returned(rec *record, el *document.Element, v any) {
	returns := s.contract.Returns
	issues := returns.Validate(returns.Fill(v))
	if len(issues) == 0 {
		return
	}
	s.found(rec, Diagnostic{Code: "return-usage-invalid", Component: el.Name, Position: el.Pos, Issues: issues,
		Message: "the value does not fit the returns declaration:\n" + schema.Lines(issues)})
}

// evaluated tells whether a construct evaluates a prop (language 4.3); the others
// it refuses or reads as text.
func evaluated(construct, prop string) bool {
	switch construct {
	case "Let", "Switch", "Case", "Return", "Answer":
		return prop == "value"
	case "If":
		return prop == "condition"
	case "Each":
		return prop == "in"
	case "Loop":
		return prop == "max"
	case "Answers":
		return prop == "delegate"
	}
	return false
}

func malformed(el *document.Element, a attribute, code string) Diagnostic {
	return Diagnostic{Code: code, Component: el.Name, Position: el.Pos,
		Message: fmt.Sprintf("%s={%s} of <%s> is not a well-formed expression: %v", a.Name, a.Text, el.Name, a.malformed)}
}
