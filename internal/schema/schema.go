// Package schema compiles and applies JSON Schema draft-07, strictly.
//
// Documents declare what goes in and what comes out of them with schemas: the
// props of a component, the value it returns, the shape Parse insists on, the
// answer Elicit accepts. A definition enters as JSON (package value). It leaves
// as a Schema, or as an Error that lists everything wrong with it. A value enters
// a Schema; what leaves is every Issue it has, in the vocabulary of the field, or
// a copy completed with defaults.
//
// Strict means that a definition which would silently mean less than it says is
// refused when it is compiled: an unknown keyword, a keyword whose type is not
// declared, a default nobody would apply (language 2.6.3). "format" is an
// annotation and never asserts. Keywords beside "$ref" are applied, because a
// constraint somebody wrote must not vanish.
//
// The one invariant: nothing outside the definition takes part. A reference that
// leaves it is refused, nothing is ever loaded, and compiling and validating end
// within the bounds named below whatever the definition and the value are.
//
// The package knows no document, no component and no command line, and it never
// changes a value it is given.
package schema

import "github.com/executable-markdown/xmd/internal/value"

const (
	// MaxLevels bounds how deep the subschemas of a definition nest; the root is
	// level 1.
	MaxLevels = 64

	// MaxSubschemas bounds how many schemas a definition holds, the root included.
	MaxSubschemas = 10_000

	// MaxPattern bounds the length of one pattern in bytes.
	MaxPattern = 4096

	// MaxPrograms bounds the size of all patterns of a definition together, in
	// instructions of the matcher (a{100} takes about a hundred).
	MaxPrograms = 100_000

	// MaxSteps bounds the work of one validation. A step is one schema applied to
	// one value; an issue, a long text and a pattern cost more than one.
	MaxSteps = 10_000_000

	// MaxNesting bounds how many schemas may be under application at a time.
	MaxNesting = 10_000
)

// A Schema is a compiled schema: immutable, safe for concurrent use.
type Schema struct {
	definition any
	root       *node
	defaults   bool // whether the definition holds any default at all
}

// Compile reads a definition, which must be an object, and refuses whatever the
// strict rules and the draft-07 meta-schema refuse (language 2.6). The error is
// an *Error that lists every problem. The definition is copied.
func Compile(definition any) (*Schema, error) {
	return compile("the schema", definition, nil)
}

// Open is the schema that accepts every JSON value.
func Open() *Schema {
	return &Schema{definition: value.NewObject(0), root: &node{raw: value.NewObject(0)}}
}

// Definition returns the definition the schema was compiled from; do not change it.
func (s *Schema) Definition() any { return s.definition }

// Validate returns every issue of v, none when it conforms. Their order depends on
// the definition and the value alone. A validation that would exceed MaxSteps or
// MaxNesting has exactly one issue, with the keyword "limit".
func (s *Schema) Validate(v any) []Issue {
	r := run{}
	r.apply(s.root, v)
	if r.over {
		return []Issue{limitIssue()}
	}
	return r.issues
}

// Fill returns a copy of v in which absent properties have their defaults
// (language 2.6.4). It completes the objects and arrays that are there, through
// references, allOf, dependencies and the branch of an if that applies, and
// invents no parent for a default further down; the defaults of a tuple extend an
// array that stops just before them. Fill judges nothing: defaults are validated
// with the rest. Where it would exceed MaxSteps or MaxNesting it stops, and
// Validate then reports the limit.
func (s *Schema) Fill(v any) any {
	v = value.Clone(v)
	if !s.defaults {
		return v
	}
	r := run{quiet: true}
	return r.fill(s.root, v)
}
