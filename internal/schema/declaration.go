package schema

import "github.com/executable-markdown/xmd/internal/value"

// Props compiles what a document declares as its inputs: the value of "props" and,
// when hasRequired, the value of a "required" beside it (language 2.5, 2.6).
//
// A declaration with a "type" or "$schema" key is a complete schema of an object.
// Any other is a map of names to schemas, which closes the object, and "required"
// then lists names of it. A nil declaration is an absent one and accepts no props
// at all. The error is an *Error.
func Props(declaration, required any, hasRequired bool) (*Schema, error) {
	const subject = "the props declaration"
	refuse := func(message string) (*Schema, error) {
		return nil, &Error{Problems: []Problem{{Message: message}}, subject: subject}
	}
	if declaration == nil {
		if hasRequired {
			return refuse(`"required" lists names of "props", and there is no "props" map`)
		}
		declaration = value.NewObject(0)
	}
	o, ok := declaration.(*value.Object)
	if !ok {
		return refuse(`"props" must be an object: a map of names to schemas, or a schema with "type": "object"`)
	}
	if !isFullForm(o) {
		return compile(subject, closedObject(o, required, hasRequired), reservedNames(o))
	}
	var known []Problem
	if hasRequired {
		known = append(known, Problem{Message: `"required" cannot stand beside a complete "props" schema; move it into the schema`})
	}
	if t, _ := o.Get("type"); t != "object" {
		known = append(known, Problem{Message: `"type" of a props schema must be "object"`})
	}
	properties, _ := o.Get("properties")
	if names, ok := properties.(*value.Object); ok {
		known = append(known, reservedNames(names)...)
	}
	return compile(subject, o, known)
}

// Returns compiles what a document declares as its value: the value of "returns"
// (language 2.8). With a "type" or "$schema" key it is a schema of any JSON value;
// otherwise it is a map of names to schemas, all of them required and no others
// allowed. The error is an *Error.
func Returns(declaration any) (*Schema, error) {
	const subject = "the returns declaration"
	o, ok := declaration.(*value.Object)
	if !ok {
		message := `"returns" must be an object: a schema with "type", or a map of names to schemas`
		return nil, &Error{Problems: []Problem{{Message: message}}, subject: subject}
	}
	if isFullForm(o) {
		return compile(subject, o, nil)
	}
	names := make([]any, 0, o.Len())
	for name := range o.All() {
		names = append(names, name)
	}
	return compile(subject, closedObject(o, names, true), nil)
}

func isFullForm(o *value.Object) bool { return o.Has("type") || o.Has("$schema") }

// closedObject is the schema a map of names to schemas stands for.
func closedObject(properties *value.Object, required any, hasRequired bool) *value.Object {
	o := value.Of("type", "object", "properties", properties)
	if hasRequired {
		o.Set("required", required)
	}
	o.Set("additionalProperties", false)
	return o
}

// reservedNames refuses the props that belong to every component.
func reservedNames(properties *value.Object) []Problem {
	var problems []Problem
	for _, name := range [...]string{"as", "slot"} {
		if properties.Has(name) {
			problems = append(problems, Problem{
				Path:    "/properties/" + name,
				Message: `no property may be called "` + name + `", which every component reserves`,
			})
		}
	}
	return problems
}
