// Package schema compiles and applies draft-07 JSON Schemas strictly.
package schema

import "github.com/executable-markdown/xmd/internal/value"

// A Schema is a compiled schema: immutable, safe for concurrent use.
type Schema struct{}

// Compile reads a definition (a *value.Object, or a bool where booleans are
// allowed as subschemas only) and refuses what language.md 2.6 refuses. The error
// is *Error and lists every problem.
func Compile(definition any) (*Schema, error) { panic("stub") }

// Open is the schema that accepts every JSON value.
func Open() *Schema { panic("stub") }

// Definition returns the definition the schema was compiled from; do not change it.
func (s *Schema) Definition() any { panic("stub") }

// Validate returns every issue of v, none when it conforms.
func (s *Schema) Validate(v any) []Issue { panic("stub") }

// Fill returns a copy of v with the schema's defaults (language.md 2.6.4).
func (s *Schema) Fill(v any) any { panic("stub") }

// An Issue is one violation in the vocabulary of the field (ajv's): a JSON Pointer
// into the value, one into the schema, the keyword, its parameters, a sentence.
type Issue struct {
	InstancePath string
	SchemaPath   string
	Keyword      string
	Params       *value.Object
	Message      string
}

// JSON is {instancePath, schemaPath, keyword, params, message}.
func (i Issue) JSON() *value.Object { panic("stub") }

// Lines formats issues one a line: two spaces, "- ", then "POINTER" TEXT or
// (root) TEXT (language.md 5.6.1).
func Lines(issues []Issue) string { panic("stub") }

// An Error is an unusable definition.
type Error struct{ Problems []Problem }

type Problem struct {
	Path    string // JSON Pointer into the definition
	Message string
}

func (e *Error) Error() string { panic("stub") }
