package schema

import (
	"github.com/executable-markdown/xmd/internal/value"
)

// types reads the "type" of n and returns the types in force for its keywords:
// those declared here, narrowed by those declared around it for the same value.
func (c *compiler) types(n *node, o *value.Object, around typeSet) typeSet {
	arg, present := o.Get("type")
	if !present {
		return around
	}
	list, isList := arg.([]any)
	if !isList {
		list = []any{arg}
	}
	message := "must be "
	for i, e := range list {
		name, _ := e.(string)
		t := typeNamed(name)
		if t == 0 || n.types&t != 0 {
			c.problem(n, `"type" must be one of null, boolean, number, integer, string, array, object, or an array of two of them`)
			n.types = 0
			return everyType
		}
		n.types |= t
		n.typeNames = append(n.typeNames, name)
		if i > 0 {
			message += ","
		}
		message += name
	}
	switch {
	case len(list) == 0:
		c.problem(n, `"type" must name a type`)
		return everyType
	case len(list) > 2, len(list) == 2 && n.types&nullType == 0:
		c.problem(n, `"type" may name one type, alone or with "null"; write anyOf for another union`)
	}
	n.typeFault = &fault{"type", message, value.Of("type", arg)}
	if around == 0 {
		return n.types
	}
	for _, name := range n.typeNames {
		if !around.includes(typeNamed(name)) {
			c.problem(n, `"type": %q contradicts the type declared around it`, name)
			return everyType
		}
	}
	return n.types
}

// declares reports whether the types in force give a keyword for t something to
// apply to.
func declares(inForce, t typeSet) bool {
	return inForce&t != 0 || t&numberType != 0 && inForce&integerType != 0
}

// typesOf is the set of types a keyword applies to; it is empty for one that
// applies to every value.
func typesOf(keyword string) typeSet {
	switch keyword {
	case "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum":
		return numberType
	case "maxLength", "minLength", "pattern":
		return stringType
	case "format":
		return stringType | numberType
	case "items", "additionalItems", "maxItems", "minItems", "uniqueItems", "contains":
		return arrayType
	case "maxProperties", "minProperties", "required", "properties", "patternProperties",
		"additionalProperties", "dependencies", "propertyNames":
		return objectType
	}
	return 0
}

func typeHint(keyword string) string {
	switch typesOf(keyword) {
	case numberType:
		return "number or integer"
	case arrayType:
		return "array"
	case objectType:
		return "object"
	case stringType:
		return "string"
	}
	return "string or number"
}

// together checks the keywords of n that mean something only beside others.
func (c *compiler) together(n *node, o *value.Object) {
	for _, r := range n.required {
		if n.properties[r.name] == nil {
			c.problem(n, `"required" names %q, which "properties" beside it does not define`, r.name)
		}
	}
	c.wholeTuple(n, o)
	switch {
	case n.condition != nil && n.then == nil && n.otherwise == nil:
		c.problem(n, `"if" is ignored without "then" or "else"`)
	case n.condition == nil && n.then != nil:
		c.problem(n, `"then" is ignored without "if"`)
	case n.condition == nil && n.otherwise != nil:
		c.problem(n, `"else" is ignored without "if"`)
	}
	n.byMember = n.properties != nil || n.patterns != nil || n.additional != nil || n.propertyNames != nil
}

// wholeTuple insists that a tuple says how long it is.
func (c *compiler) wholeTuple(n *node, o *value.Object) {
	size := float64(len(n.tuple))
	if size == 0 {
		if n.additionalItems != nil {
			c.problem(n, `"additionalItems" is ignored unless "items" is an array of schemas`)
		}
		return
	}
	minItems, _ := o.Get("minItems")
	maxItems, _ := o.Get("maxItems")
	additional, _ := o.Get("additionalItems")
	if minItems != size || maxItems != size && additional != false {
		text := value.FormatNumber(size)
		c.problem(n, `"items" lists %s schemas, so "minItems" must be %s, and "maxItems" %s or "additionalItems" false`, text, text, text)
	}
	n.tooManyFault = &fault{"additionalItems", "must NOT have more than " + value.FormatNumber(size) + " items", value.Of("limit", size)}
}
