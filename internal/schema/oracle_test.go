package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// A chooser builds definitions that keep the strict rules, and values they may or
// may not accept, out of bytes; when they run out, the smallest choice is made.
type chooser struct {
	choices []byte
}

func (c *chooser) choose(n int) int {
	if len(c.choices) == 0 {
		return 0
	}
	b := c.choices[0]
	c.choices = c.choices[1:]
	return int(b) % n
}

func (c *chooser) often() bool { return c.choose(2) == 1 }

var fuzzNames = [...]string{"a", "b", "xa", "x/~"}

func (c *chooser) name() string { return fuzzNames[c.choose(len(fuzzNames))] }

// value is a small JSON value; equal ones are likely.
func (c *chooser) value(depth int) any {
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch c.choose(kinds) {
	case 1:
		return c.often()
	case 2:
		return float64(c.choose(7) - 3)
	case 3:
		return float64(c.choose(9)-4) / 4
	case 4:
		return [...]string{"", "a", "xa", "é😀", "aaa", "7"}[c.choose(6)]
	case 5:
		return c.name()
	case 6:
		list := make([]any, c.choose(5))
		for i := range list {
			list[i] = c.value(depth - 1)
		}
		return list
	case 7:
		o := value.NewObject(0)
		for range c.choose(5) {
			o.Set(c.name(), c.value(depth-1))
		}
		return o
	}
	return nil
}

// schema is a definition that keeps the strict rules for a value whose declared
// types are the ones given; "" means none.
func (c *chooser) schema(depth int, typed string) any {
	if c.choose(12) == 11 {
		return c.often()
	}
	o := value.NewObject(0)
	if c.choose(8) == 7 {
		o.Set("$ref", [...]string{"#", "#/definitions/d", "#/definitions/e~1", "#name"}[c.choose(4)])
		return o
	}
	if typed == "" && c.choose(4) != 0 {
		typed = [...]string{"null", "boolean", "number", "integer", "string", "array", "object"}[c.choose(7)]
		o.Set("type", typed)
		if typed != "null" && c.often() {
			o.Set("type", []any{typed, "null"})
		}
	}
	if c.choose(6) == 5 {
		o.Set("const", c.value(2))
	}
	if c.choose(6) == 5 {
		list, seen := []any{}, map[string]bool{}
		for range 1 + c.choose(3) {
			v := c.value(2)
			if text, _ := value.JSON(v); !seen[text] {
				seen[text] = true
				list = append(list, v)
			}
		}
		o.Set("enum", list)
	}
	if depth > 0 {
		c.combine(o, depth-1, typed)
	}
	switch typed {
	case "number", "integer":
		for _, keyword := range [...]string{"maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"} {
			if c.choose(5) == 4 {
				o.Set(keyword, float64(c.choose(9)-4)/4)
			}
		}
		if c.choose(4) == 3 {
			o.Set("multipleOf", [...]float64{0.5, 1, 0.25, 0.1, 2}[c.choose(5)])
		}
	case "string":
		if c.often() {
			o.Set("maxLength", float64(c.choose(4)))
		}
		if c.often() {
			o.Set("minLength", float64(c.choose(4)))
		}
		if c.often() {
			o.Set("pattern", [...]string{"a", "^x", "^a*$", `^\d$`}[c.choose(4)])
		}
	case "array":
		c.array(o, depth)
	case "object":
		c.object(o, depth)
	}
	return o
}

func (c *chooser) list(depth int, typed string) []any {
	list := make([]any, 1+c.choose(3))
	for i := range list {
		list[i] = c.schema(depth, typed)
	}
	return list
}

func (c *chooser) combine(o *value.Object, depth int, typed string) {
	for _, keyword := range [...]string{"anyOf", "oneOf", "allOf"} {
		if c.choose(6) == 5 {
			o.Set(keyword, c.list(depth, typed))
		}
	}
	if c.choose(6) == 5 {
		o.Set("not", c.schema(depth, typed))
	}
	if c.choose(6) == 5 {
		o.Set("if", c.schema(depth, typed))
		o.Set("then", c.schema(depth, typed))
		if c.often() {
			o.Set("else", c.schema(depth, typed))
		}
	}
}

func (c *chooser) array(o *value.Object, depth int) {
	o.Set("uniqueItems", c.often())
	if depth > 0 && c.choose(3) == 2 {
		tuple := c.list(depth-1, "")
		o.Set("items", tuple)
		o.Set("minItems", float64(len(tuple)))
		if c.often() {
			o.Set("maxItems", float64(len(tuple)))
			o.Set("additionalItems", c.schema(depth-1, ""))
		} else {
			o.Set("additionalItems", false)
		}
	} else {
		if depth > 0 && c.often() {
			o.Set("items", c.schema(depth-1, ""))
		}
		if c.often() {
			o.Set("maxItems", float64(c.choose(4)))
		}
	}
	if depth > 0 && c.choose(3) == 2 {
		o.Set("contains", c.schema(depth-1, ""))
	}
}

func (c *chooser) object(o *value.Object, depth int) {
	if c.choose(4) == 3 {
		o.Set("maxProperties", float64(c.choose(4)))
	}
	if c.choose(4) == 3 {
		o.Set("minProperties", float64(c.choose(4)))
	}
	if depth == 0 {
		return
	}
	properties := value.NewObject(0)
	for range c.choose(3) {
		properties.Set(c.name(), c.schema(depth-1, ""))
	}
	o.Set("properties", properties)
	required := []any{}
	for name := range properties.All() {
		if c.often() {
			required = append(required, name)
		}
	}
	o.Set("required", required)
	if c.choose(3) == 2 {
		o.Set("patternProperties", value.Of("^x", c.schema(depth-1, "")))
	}
	if c.choose(3) == 2 {
		o.Set("additionalProperties", c.schema(depth-1, ""))
	}
	if c.choose(4) == 3 {
		o.Set("propertyNames", c.schema(depth-1, "string"))
	}
	if c.choose(4) == 3 {
		o.Set("dependencies", value.Of(c.name(), []any{c.name()}, "b", c.schema(depth-1, "object")))
	}
}

func (c *chooser) definition() *value.Object {
	o := value.Of("definitions", value.Of(
		"d", c.schema(2, ""),
		"e/", c.schema(1, ""),
		"f", value.Of("$id", "#name", "allOf", []any{c.schema(1, "")}),
	))
	if root, ok := c.schema(3, "").(*value.Object); ok {
		if root.Has("$ref") {
			root = value.Of("allOf", []any{root})
		}
		for keyword, arg := range root.All() {
			o.Set(keyword, arg)
		}
	}
	return o
}

// FuzzAgainstOracle compares every verdict with an independent implementation.
func FuzzAgainstOracle(f *testing.F) {
	for seed := range 24 {
		choices := make([]byte, 200)
		for i, state := 0, uint32(seed)*2654435761+1; i < len(choices); i++ {
			state = state*1664525 + 1013904223
			choices[i] = byte(state >> 24)
		}
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > 400 {
			t.Skip("larger definitions add time, not variety")
		}
		c := &chooser{choices}
		definition := c.definition()
		definitionText := jsonText(t, definition)
		ours, err := schema.Compile(definition)
		if err != nil {
			require.NotContains(t, err.Error(), "unknown keyword", definitionText)
			return // references in a circle, or types that contradict
		}
		oracle := compileOracle(t, definitionText)
		for range 4 {
			v := c.value(3)
			compareVerdicts(t, ours, oracle, definitionText, v)
		}
	})
}

func compileOracle(t *testing.T, definition string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(definition))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.UseLoader(jsonschema.SchemeURLLoader{})
	require.NoError(t, c.AddResource("xmd:///schema.json", doc))
	s, err := c.Compile("xmd:///schema.json")
	require.NoError(t, err, "only we accept %s", definition)
	return s
}

func compareVerdicts(t *testing.T, ours *schema.Schema, oracle *jsonschema.Schema, definition string, v any) {
	t.Helper()
	text := jsonText(t, v)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	list := ours.Validate(v)
	if len(list) == 1 && list[0].Keyword == "limit" {
		return
	}
	oracleErr := oracle.Validate(doc)
	require.Equal(t, oracleErr == nil, len(list) == 0,
		"definition %s\nvalue %s\noracle %v\nours\n%s", definition, text, oracleErr, schema.Lines(list))
	for _, i := range list {
		require.NotEmpty(t, i.Message)
		require.True(t, strings.HasPrefix(i.SchemaPath, "#/"), i.SchemaPath)
	}
}

// FuzzCompile feeds arbitrary JSON: nothing panics, everything ends, and filling
// is stable once it is done.
func FuzzCompile(f *testing.F) {
	for _, seed := range [...][2]string{
		{`{"type":"object","properties":{"a":{"default":1}},"required":["a"]}`, `{}`},
		{`{"$ref":"#/definitions/a","definitions":{"a":{"type":"array","items":{"$ref":"#"}}}}`, `[[[]]]`},
		{`{"type":"array","items":[{"default":1},{"type":"string","pattern":"\\u0041[\\s]"}],"minItems":2,"maxItems":2}`, `[1]`},
		{`{"if":{"const":1},"then":{"enum":[1,[2]]},"else":{"not":{}}}`, `[2]`},
		{`{"type":"object","dependencies":{"a":["b"],"b":{"$ref":"#/properties/c"}},"properties":{"c":true}}`, `{"a":1,"b":2}`},
		{`{"$id":"http://x/y","definitions":{"a":{"$id":"#q","type":"number","multipleOf":0.01}},"oneOf":[{"$ref":"#q"}]}`, `4.35`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, definition, text string) {
		d, err := value.Parse([]byte(definition))
		if err != nil {
			return
		}
		v, err := value.Parse([]byte(text))
		if err != nil {
			return
		}
		for _, build := range []func(any) (*schema.Schema, error){
			schema.Compile,
			schema.Returns,
			func(d any) (*schema.Schema, error) { return schema.Props(d, v, true) },
		} {
			s, err := build(d)
			if err != nil {
				require.Equal(t, strings.Count(err.Error(), "\n"), len(problemsOf(t, err)))
				continue
			}
			before := jsonText(t, v)
			filled := s.Fill(v)
			require.Equal(t, before, jsonText(t, v))
			issues := s.Validate(filled)
			if len(issues) == 1 && issues[0].Keyword == "limit" {
				continue
			}
			if len(issues) > 0 {
				require.Equal(t, len(issues), strings.Count(schema.Lines(issues), "\n")+1)
			}
			for _, p := range s.Properties() {
				shape, form := p.Shape()
				require.Equal(t, shape == schema.Structured, form == "", fmt.Sprint(p.Name, form))
			}
		}
	})
}
