// Package catalog describes the vocabulary a document may be written in, and
// judges documents without running them.
//
// What enters is what a run would search: the include directories of a host, the
// library of components the program carries, and the constructs of the language.
// What leaves is one of two values. A [Catalog] lists every name with its forms,
// props, results and origin, as data or as the text an author or a model reads.
// A [Report] lists everything that is definitely wrong with a document and with
// every Markdown component it selects, untaken branches included.
//
// The invariant: looking is all this room does. It evaluates no expression,
// expands no content, invokes no component and records nothing; it reads files
// and directories through the [Lister] it is given and nothing else. What is
// wrong only for some values is therefore not a finding here: a Report says
// "invalid" when a run that reaches the place must fail, and "not statically
// checkable" where it cannot know.
//
// The room refuses to know the rules of the language itself. Which file a name
// selects, how a construct is built and when a schema refuses its props are asked
// of the packages that run documents, so that a listing, a report and a run
// cannot disagree.
//
//	in := catalog.Inputs{Sources: sources, Include: []string{"components", "."}, Library: library}
//	listing, err := catalog.Build(in)
//	fmt.Print(listing.Text())
package catalog

import (
	"io/fs"
	"slices"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// Version is the version of the catalog's JSON form.
const Version = 2

// A Lister is where component files are found: what a run searches, and the
// listing of a directory, which a run never needs.
type Lister interface {
	engine.Sources
	// List names what a directory holds, in order. A path whose last segment is a
	// symbolic link is not a directory. A missing directory is fs.ErrNotExist.
	List(path string) ([]fs.DirEntry, error)
}

// Inputs are the selection inputs of a run, as its host settled them before any
// document code.
type Inputs struct {
	Sources Lister // nil: no component files
	Include []string
	Library *engine.Library // required
	// Constructs are the structural elements to list, as generated text may write
	// them; nil: all of them, as documents do.
	Constructs []string
}

// A Catalog is the vocabulary at one moment. It is immutable and safe for
// concurrent use.
type Catalog struct {
	structural, builtIn, userProvided []*entry
}

// An entry is one name.
type entry struct {
	name   string
	origin Origin
	doc    engine.Doc

	syntax []string // constructs: how it is written

	language string // components: markdown or native
	unread   string // why the contract is not described; empty: it is
	forms    engine.Form
	captures []string
	contract engine.Contract
}

// Build makes the catalog (components 25.2). An include directory that is missing
// contributes nothing. One that cannot be read, is no directory or is a symbolic
// link fails the request, and so does anything below it that a component name
// could reach and that cannot be read: a catalog is complete or it is an error.
func Build(in Inputs) (*Catalog, error) {
	names, err := candidates(in)
	if err != nil {
		return nil, err
	}
	names = append(names, in.Library.Names()...)
	slices.Sort(names)

	c := &Catalog{structural: constructs()}
	if in.Constructs != nil {
		c.structural = slices.DeleteFunc(c.structural, func(e *entry) bool { return !slices.Contains(in.Constructs, e.name) })
		for _, e := range c.structural {
			e.forFragments()
		}
	}
	r := newResolver(in)
	for _, name := range slices.Compact(names) {
		if engine.IsConstruct(name) {
			continue
		}
		s := r.choose(name)
		switch {
		case s.native != nil:
			c.builtIn = append(c.builtIn, nativeEntry(s))
		case s.file != nil:
			c.userProvided = append(c.userProvided, markdownEntry(name, s))
		case s.opaque:
			c.userProvided = append(c.userProvided, &entry{name: name, origin: s.origin, unread: s.err.Error()})
		case s.failed:
			return nil, s.err
		}
	}
	return c, nil
}

func nativeEntry(s *selection) *entry {
	return &entry{
		name: s.native.Name, origin: s.origin, doc: s.native.Doc, language: "native",
		forms: s.native.Forms, captures: s.native.Captures, contract: s.contract,
	}
}

// markdownEntry describes a component file. One whose declarations cannot be used
// still holds its name, so it is listed without a contract.
func markdownEntry(name string, s *selection) *entry {
	e := &entry{name: name, origin: s.origin}
	d, err := document.Parse(s.file.Path, s.file.Text)
	if err != nil {
		e.unread = err.Error()
		return e
	}
	def, err := engine.ReadDefinition(name, d)
	if err != nil {
		e.unread = err.Error()
		return e
	}
	e.doc = engine.Doc{
		Description: documented(d.Frontmatter, "description"),
		As:          documented(d.Frontmatter, "as"),
		Context:     documented(d.Frontmatter, "context"),
	}
	e.language, e.forms = "markdown", engine.Both
	e.contract = engine.Contract{Props: def.Props, Returns: def.Returns}
	return e
}

// documented reads a documentation key, wherever meta values may be written
// (language 2.4, 2.9).
func documented(front *value.Object, key string) string {
	if s, ok := front.String(key); ok {
		return s
	}
	meta, _ := front.Get("meta")
	entries, _ := meta.(*value.Object)
	s, _ := entries.String(key)
	return s
}

// JSON is the catalog as data: {version, categories}, three categories of
// {name, entries} in a fixed order, entries by name (components 25.1).
func (c *Catalog) JSON() *value.Object {
	categories := []any{}
	for _, g := range c.categories() {
		entries := []any{}
		for _, e := range g.entries {
			entries = append(entries, e.json())
		}
		categories = append(categories, value.Of("name", g.name, "entries", entries))
	}
	return value.Of("version", float64(Version), "categories", categories)
}

func (e *entry) json() *value.Object {
	o := value.Of("name", e.name, "origin", e.origin.JSON())
	switch {
	case e.origin.Kind == structural:
		o.Set("syntax", texts(e.syntax))
		o.Set("description", e.doc.Description)
	case e.unread != "":
		o.Set("inspectability", "origin-only")
		return o
	default:
		e.component(o)
	}
	if e.doc.As != "" {
		o.Set("as", e.doc.As)
	}
	if e.doc.Context != "" {
		o.Set("context", e.doc.Context)
	}
	return o
}

func (e *entry) component(o *value.Object) {
	o.Set("sourceKind", e.language)
	o.Set("inspectability", "complete")
	if e.doc.Description != "" {
		o.Set("description", e.doc.Description)
	}
	forms := []any{}
	if e.forms&engine.SelfClosing != 0 {
		forms = append(forms, "self-closing")
	}
	if e.forms&engine.Paired != 0 {
		forms = append(forms, "paired")
	}
	o.Set("forms", forms)
	o.Set("props", value.Clone(e.contract.Props.Definition()))
	o.Set("captures", texts(e.captures))
	mode, returns := e.returns()
	o.Set("returnMode", mode)
	o.Set("returns", returns)
}

// returns is the mode of a component and the schema of what it gives.
func (e *entry) returns() (mode string, returns any) {
	if e.contract.Returns == nil {
		return "text", value.Of("type", "string")
	}
	return "value", value.Clone(e.contract.Returns.Definition())
}

// properties lists the props a schema declares, in order.
func properties(s *schema.Schema) *value.Object {
	definition, _ := s.Definition().(*value.Object)
	declared, _ := definition.Get("properties")
	props, _ := declared.(*value.Object)
	return props
}

// required is the set of props a schema always demands.
func required(s *schema.Schema) map[string]bool {
	definition, _ := s.Definition().(*value.Object)
	declared, _ := definition.Get("required")
	names, _ := declared.([]any)
	set := make(map[string]bool, len(names))
	for _, v := range names {
		if name, ok := v.(string); ok {
			set[name] = true
		}
	}
	return set
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
