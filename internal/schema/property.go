package schema

import (
	"strings"

	"github.com/executable-markdown/xmd/internal/value"
)

// A Property is one declared property of the value a schema describes. A command
// line asks it how a person may write its value.
type Property struct {
	Name       string
	Required   bool
	Definition any // its schema; do not change it
	HasDefault bool
	Default    any // meaningful when HasDefault; do not change it
	node       *node
}

// Properties lists the properties the root of the schema declares, in the order
// they are declared.
func (s *Schema) Properties() []Property {
	list := make([]Property, 0, len(s.root.order))
	required := make(map[string]bool, len(s.root.required))
	for _, r := range s.root.required {
		required[r.name] = true
	}
	for _, name := range s.root.order {
		n := s.root.properties[name]
		list = append(list, Property{
			Name:       name,
			Required:   required[name],
			Definition: n.raw,
			HasDefault: n.hasDefault,
			Default:    n.fallback,
			node:       n,
		})
	}
	return list
}

// ValidateProperty returns every issue of v as the value of the declared property
// called name; instance paths start at v. A name that is not declared has none.
func (s *Schema) ValidateProperty(name string, v any) []Issue {
	n := s.root.properties[name]
	if n == nil {
		return nil
	}
	return (&Schema{root: n}).Validate(v)
}

// A Shape says how a property can be written on a command line (language 9.1.1).
type Shape uint8

const (
	Structured  Shape = iota // only as JSON
	Scalar                   // as one word
	ScalarArray              // as one word an element
)

// Shape classifies the property and writes the form of its value for help
// (language 9.7.2): "string", "string|null", the members of an enum as "a|b", and
// "string..." for an array, whose dots belong outside any brackets. A Structured
// property has no form.
func (p Property) Shape() (shape Shape, form string) {
	if words, ok := scalarForm(p.node); ok {
		return Scalar, words
	}
	if item := p.node.resolve().items; item != nil {
		if words, ok := scalarForm(item); ok {
			return ScalarArray, words + "..."
		}
	}
	return Structured, ""
}

// IsBoolean reports whether boolean is the only type of the property.
func (p Property) IsBoolean() bool { return p.node.resolve().types == booleanType }

// Element is the schema of the elements of a ScalarArray property, and nil for
// every other shape.
func (p Property) Element() *Schema {
	if shape, _ := p.Shape(); shape != ScalarArray {
		return nil
	}
	item := p.node.resolve().items
	return &Schema{definition: item.raw, root: item}
}

// resolve follows references to the schema that says what n is.
func (n *node) resolve() *node {
	for n.ref != nil && n.enum == nil && n.types == 0 {
		n = n.ref
	}
	return n
}

// scalarForm writes the form of n when every value it describes is a scalar.
func scalarForm(n *node) (string, bool) {
	f := form{seen: map[*node]bool{}, has: map[string]bool{}}
	if !f.add(n) {
		return "", false
	}
	return strings.Join(f.words, "|"), true
}

// A form collects the words for a scalar, each once.
type form struct {
	words []string
	has   map[string]bool
	seen  map[*node]bool
}

func (f *form) word(w string) {
	if !f.has[w] {
		f.has[w] = true
		f.words = append(f.words, w)
	}
}

// add adds the words for n and reports whether n is a scalar.
func (f *form) add(n *node) bool {
	n = n.resolve()
	if f.seen[n] {
		return true
	}
	f.seen[n] = true
	switch {
	case n.enum != nil:
		return f.addEnum(n)
	case n.types != 0:
		for _, name := range n.typeNames {
			f.word(name)
		}
		return n.types&^scalarTypes == 0
	case n.anyOf != nil:
		return f.addAll(n.anyOf)
	case n.oneOf != nil:
		return f.addAll(n.oneOf)
	}
	return false
}

func (f *form) addEnum(n *node) bool {
	if n.enum.structured {
		return false
	}
	allowed, _ := n.enum.fault.params.Get("allowedValues")
	list, _ := allowed.([]any)
	for _, v := range list {
		f.word(value.Text(v))
	}
	return true
}

func (f *form) addAll(branches []*node) bool {
	for _, n := range branches {
		if !f.add(n) {
			return false
		}
	}
	return true
}
