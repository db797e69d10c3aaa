package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/executable-markdown/xmd/internal/value"
)

// A compiler turns one definition into nodes and collects what is wrong with it.
type compiler struct {
	problems []Problem
	textSize int // of the problems
	omitted  int // problems not listed

	nodes    []*node
	children map[place]*node  // where references look
	anchors  map[anchor]*node // "$id": "#name"
	refs     []reference
	room     int // instructions patterns may still use
	full     bool
	defaults bool
}

// A surrounding is what a subschema inherits from where it stands.
type surrounding struct {
	types    typeSet // declared for the same value further out
	trial    bool    // inside anyOf, oneOf, not, if: nothing is filled in here
	resource *node   // the schema "#" means
}

// compile compiles definition, whose problems are added to those known already.
// subject is what the headline of the error calls it.
func compile(subject string, definition any, known []Problem) (*Schema, error) {
	c := &compiler{
		problems: known,
		children: map[place]*node{},
		anchors:  map[anchor]*node{},
		room:     MaxPrograms,
	}
	root := &node{}
	if _, ok := definition.(*value.Object); !ok {
		c.problem(root, "must be an object, not %s", withArticle(definition))
		return nil, &Error{Problems: c.problems, subject: subject}
	}
	definition = value.Clone(definition)
	root = c.schema(definition, nil, "", "", false, surrounding{})
	if !c.full {
		c.link()
	}
	if c.omitted > 0 {
		c.problems = append(c.problems, Problem{Message: fmt.Sprintf("and %d more problems", c.omitted)})
	}
	if len(c.problems) > 0 {
		return nil, &Error{Problems: c.problems, subject: subject}
	}
	return &Schema{definition: definition, root: root, defaults: c.defaults}, nil
}

// schema compiles the subschema that stands under a keyword of parent, or, when
// named, under a member or index of that keyword.
func (c *compiler) schema(raw any, parent *node, keyword, name string, named bool, around surrounding) *node {
	n := &node{parent: parent, keyword: keyword, name: name, named: named, raw: raw, level: 1}
	if c.full {
		return n
	}
	if parent != nil {
		n.level = parent.level + 1
		c.children[place{parent, keyword, name}] = n
	}
	c.nodes = append(c.nodes, n)
	switch {
	case len(c.nodes) > MaxSubschemas:
		c.full = true
		c.problem(n, "the definition holds more than %d schemas", MaxSubschemas)
		return n
	case n.level > MaxLevels:
		c.problem(n, "schemas nest deeper than %d levels", MaxLevels)
		return n
	}
	switch raw := raw.(type) {
	case bool:
		n.never = !raw
	case *value.Object:
		c.object(n, raw, around)
	default:
		c.problem(n, "a schema must be an object or a boolean, not %s", withArticle(raw))
	}
	return n
}

func (c *compiler) object(n *node, o *value.Object, around surrounding) {
	if around.resource == nil {
		around.resource = n
	}
	c.identify(n, o, &around)
	around.types = c.types(n, o, around.types)
	for keyword, arg := range o.All() {
		if t := typesOf(keyword); t != 0 && !declares(around.types, t) {
			c.problem(n, "%q needs a declared \"type\" it applies to (%s)", keyword, typeHint(keyword))
		}
		c.keyword(n, keyword, arg, around)
	}
	c.together(n, o)
}

// keyword compiles one keyword of n.
func (c *compiler) keyword(n *node, keyword string, arg any, around surrounding) {
	within := surrounding{trial: around.trial, resource: around.resource} // for a part of the value
	trial := surrounding{types: around.types, trial: true, resource: around.resource}
	switch keyword {
	case "$id", "type": // read first
	case "$schema":
		if s, _ := arg.(string); strings.TrimSuffix(s, "#") != "http://json-schema.org/draft-07/schema" {
			c.problem(n, `"$schema" must be "http://json-schema.org/draft-07/schema#"`)
		}
	case "$async":
		if arg != false {
			c.problem(n, `"$async" is not supported; remove it`)
		}
	case "$ref":
		if s, ok := c.text(n, keyword, arg); ok {
			c.refs = append(c.refs, reference{n, s, around.resource})
		}
	case "$comment", "title", "description", "format", "contentMediaType", "contentEncoding":
		c.text(n, keyword, arg)
	case "readOnly", "writeOnly":
		c.boolean(n, keyword, arg)
	case "examples":
		if _, ok := arg.([]any); !ok {
			c.problem(n, `"examples" must be an array`)
		}
	case "default":
		if around.trial {
			c.problem(n, `"default" is ignored inside anyOf, oneOf, not, if, contains and propertyNames; move it out`)
		}
		n.hasDefault, n.fallback, n.fallbackSize = true, arg, countValues(arg)
		c.defaults = true
	case "definitions":
		c.table(n, keyword, arg, within)

	case "enum":
		if list, ok := arg.([]any); !ok || len(list) == 0 {
			c.problem(n, `"enum" must be an array of at least one value`)
		} else {
			n.enum = newChoice(list, &fault{keyword, "must be equal to one of the allowed values", value.Of("allowedValues", arg)})
			if len(n.enum.keys) < len(list) {
				c.problem(n, `"enum" lists a value twice`)
			}
		}
	case "const":
		n.constant = newChoice([]any{arg}, &fault{keyword, "must be equal to constant", value.Of("allowedValue", arg)})
	case "not":
		n.not = c.schema(arg, n, keyword, "", false, trial)
		n.notFault = &fault{keyword, "must NOT be valid", value.NewObject(0)}
	case "if":
		n.condition = c.schema(arg, n, keyword, "", false, trial)
	case "then":
		n.then = c.schema(arg, n, keyword, "", false, around)
		n.thenFault = &fault{"if", `must match "then" schema`, value.Of("failingKeyword", "then")}
	case "else":
		n.otherwise = c.schema(arg, n, keyword, "", false, around)
		n.elseFault = &fault{"if", `must match "else" schema`, value.Of("failingKeyword", "else")}
	case "allOf":
		n.allOf = c.list(n, keyword, arg, around)
	case "anyOf":
		n.anyOf = c.list(n, keyword, arg, trial)
		n.anyFault = &fault{keyword, "must match a schema in anyOf", value.NewObject(0)}
	case "oneOf":
		n.oneOf = c.list(n, keyword, arg, trial)

	case "multipleOf":
		if of, ok := c.number(n, keyword, arg); ok && of > 0 {
			n.multipleOf = &multiple{of, &fault{keyword, "must be multiple of " + value.FormatNumber(of), value.Of(keyword, arg)}}
		} else if ok {
			c.problem(n, `"multipleOf" must be greater than 0`)
		}
	case "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum":
		if limit, ok := c.number(n, keyword, arg); ok {
			n.number = append(n.number, newBound(keyword, limit))
		}

	case "maxLength", "minLength":
		n.length = c.limit(n.length, n, keyword, arg)
	case "pattern":
		if s, ok := c.text(n, keyword, arg); ok {
			n.pattern = c.matcher(n, keyword, s)
		}

	case "maxItems", "minItems":
		n.count = c.limit(n.count, n, keyword, arg)
	case "uniqueItems":
		n.unique = c.boolean(n, keyword, arg)
	case "items":
		if _, ok := arg.([]any); ok {
			n.tuple = c.list(n, keyword, arg, within)
		} else {
			n.items = c.schema(arg, n, keyword, "", false, within)
		}
	case "additionalItems":
		n.additionalItems = c.schema(arg, n, keyword, "", false, within)
	case "contains":
		n.contains = c.schema(arg, n, keyword, "", false, surrounding{trial: true, resource: around.resource})
		n.containsFault = &fault{keyword, "must contain at least 1 valid item(s)", value.Of("minContains", 1.0)}

	case "maxProperties", "minProperties":
		n.members = c.limit(n.members, n, keyword, arg)
	case "required":
		for _, name := range c.names(n, keyword, arg) {
			n.required = append(n.required, requirement{name, missingMember(name)})
		}
	case "properties":
		n.properties = c.table(n, keyword, arg, within)
		if o, ok := arg.(*value.Object); ok {
			n.order = o.Keys()
		}
	case "patternProperties":
		subs := c.table(n, keyword, arg, within)
		if o, ok := arg.(*value.Object); ok {
			for source := range o.All() {
				n.patterns = append(n.patterns, memberPattern{c.matcher(n, keyword, source), subs[source]})
			}
		}
	case "additionalProperties":
		n.additional = c.schema(arg, n, keyword, "", false, within)
	case "propertyNames":
		n.propertyNames = c.schema(arg, n, keyword, "", false, surrounding{types: stringType, trial: true, resource: around.resource})
	case "dependencies":
		c.dependencies(n, arg, around)

	case "$defs":
		c.problem(n, `unknown keyword "$defs"; in draft-07 it is called "definitions"`)
	default:
		c.problem(n, "unknown keyword %q", keyword)
	}
}

func (c *compiler) text(n *node, keyword string, arg any) (string, bool) {
	s, ok := arg.(string)
	if !ok {
		c.problem(n, "%q must be a string", keyword)
	}
	return s, ok
}

func (c *compiler) boolean(n *node, keyword string, arg any) bool {
	b, ok := arg.(bool)
	if !ok {
		c.problem(n, "%q must be true or false", keyword)
	}
	return b
}

func (c *compiler) number(n *node, keyword string, arg any) (float64, bool) {
	f, ok := arg.(float64)
	if !ok {
		c.problem(n, "%q must be a number", keyword)
	}
	return f, ok
}

// limit adds a limit on a length or a count.
func (c *compiler) limit(to []bound, n *node, keyword string, arg any) []bound {
	f, ok := arg.(float64)
	if !ok || f < 0 || !value.IsInteger(f) {
		c.problem(n, "%q must be a whole number of at least 0", keyword)
		return to
	}
	return append(to, newBound(keyword, f))
}

// names reads an array of different strings.
func (c *compiler) names(n *node, keyword string, arg any) []string {
	list, ok := arg.([]any)
	names := make([]string, 0, len(list))
	seen := make(map[string]bool, len(list))
	for _, e := range list {
		name, isText := e.(string)
		if !isText || seen[name] {
			ok = false
			break
		}
		seen[name] = true
		names = append(names, name)
	}
	if !ok {
		c.problem(n, "%q must be an array of strings, each once", keyword)
		return nil
	}
	return names
}

// list compiles an array of schemas.
func (c *compiler) list(n *node, keyword string, arg any, around surrounding) []*node {
	list, ok := arg.([]any)
	if !ok || len(list) == 0 {
		c.problem(n, "%q must be an array of at least one schema", keyword)
		return nil
	}
	subs := make([]*node, len(list))
	for i, raw := range list {
		subs[i] = c.schema(raw, n, keyword, strconv.Itoa(i), true, around)
	}
	return subs
}

// table compiles an object of schemas.
func (c *compiler) table(n *node, keyword string, arg any, around surrounding) map[string]*node {
	o, ok := arg.(*value.Object)
	if !ok {
		c.problem(n, "%q must be an object of schemas", keyword)
		return nil
	}
	subs := make(map[string]*node, o.Len())
	for name, raw := range o.All() {
		subs[name] = c.schema(raw, n, keyword, name, true, around)
	}
	return subs
}

func (c *compiler) matcher(n *node, keyword, source string) *matcher {
	m, err := compilePattern(source, c.room)
	if err != nil {
		c.problem(n, "%q: %q %v", keyword, source, err)
		return &matcher{}
	}
	c.room -= m.size
	m.fault = &fault{keyword, `must match pattern "` + source + `"`, value.Of("pattern", source)}
	return m
}

func (c *compiler) dependencies(n *node, arg any, around surrounding) {
	o, ok := arg.(*value.Object)
	if !ok {
		c.problem(n, `"dependencies" must be an object of schemas and arrays of names`)
		return
	}
	for name, raw := range o.All() {
		d := dependency{name: name}
		if _, ok := raw.([]any); ok {
			others := c.names(n, "dependencies", raw)
			for _, other := range others {
				d.required = append(d.required, requirement{other, dependentMember(name, other, others)})
			}
		} else {
			d.schema = c.schema(raw, n, "dependencies", name, true, around)
		}
		n.dependencies = append(n.dependencies, d)
	}
}

func newChoice(list []any, f *fault) *choice {
	c := &choice{keys: make(map[any]struct{}, len(list)), fault: f}
	for _, v := range list {
		k := key(v)
		c.keys[k] = struct{}{}
		if _, ok := k.(canonical); ok {
			c.structured = true
		}
	}
	return c
}

func missingMember(name string) *fault {
	return &fault{"required", "must have required property '" + name + "'", value.Of("missingProperty", name)}
}

func dependentMember(name, other string, others []string) *fault {
	all, noun := strings.Join(others, ", "), "properties"
	if len(others) == 1 {
		noun = "property"
	}
	return &fault{
		"dependencies",
		"must have " + noun + " " + all + " when property " + name + " is present",
		value.Of("property", name, "missingProperty", other, "depsCount", float64(len(others)), "deps", all),
	}
}

func newBound(keyword string, limit float64) bound {
	b := bound{limit: limit}
	text := value.FormatNumber(limit)
	comparison, amount, unit := "", "", ""
	switch keyword {
	case "maximum":
		b.holds, comparison = atMost, "<="
	case "minimum":
		b.holds, comparison = atLeast, ">="
	case "exclusiveMaximum":
		b.holds, comparison = below, "<"
	case "exclusiveMinimum":
		b.holds, comparison = above, ">"
	case "maxLength":
		b.holds, amount, unit = atMost, "more", "characters"
	case "minLength":
		b.holds, amount, unit = atLeast, "fewer", "characters"
	case "maxItems":
		b.holds, amount, unit = atMost, "more", "items"
	case "minItems":
		b.holds, amount, unit = atLeast, "fewer", "items"
	case "maxProperties":
		b.holds, amount, unit = atMost, "more", "properties"
	case "minProperties":
		b.holds, amount, unit = atLeast, "fewer", "properties"
	}
	if comparison != "" {
		b.fault = &fault{keyword, "must be " + comparison + " " + text, value.Of("comparison", comparison, "limit", limit)}
	} else {
		b.fault = &fault{keyword, "must NOT have " + amount + " than " + text + " " + unit, value.Of("limit", limit)}
	}
	return b
}

func atMost(v, limit float64) bool  { return v <= limit }
func atLeast(v, limit float64) bool { return v >= limit }
func below(v, limit float64) bool   { return v < limit }
func above(v, limit float64) bool   { return v > limit }

func countValues(v any) int {
	count := 1
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			count += countValues(e)
		}
	case *value.Object:
		for _, e := range v.All() {
			count += countValues(e)
		}
	}
	return count
}

func withArticle(v any) string {
	switch kind := value.Kind(v); kind {
	case "null", "undefined":
		return kind
	case "array", "object":
		return "an " + kind
	default:
		return "a " + kind
	}
}
