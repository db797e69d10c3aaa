package schema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/schema"
)

// problems compiles a definition that must be refused and lists what is wrong as
// "PATH | MESSAGE".
func problems(t testing.TB, definition string) []string {
	t.Helper()
	_, err := schema.Compile(parse(t, definition))
	return problemsOf(t, err)
}

func problemsOf(t testing.TB, err error) []string {
	t.Helper()
	var unusable *schema.Error
	require.ErrorAs(t, err, &unusable)
	require.NotEmpty(t, unusable.Problems)
	var out []string
	for _, p := range unusable.Problems {
		out = append(out, p.Path+" | "+p.Message)
	}
	return out
}

func TestCompileRefuses(t *testing.T) {
	tests := []struct {
		name, schema, path, mentions string
	}{
		{"boolean root", `true`, "", "must be an object, not a boolean"},
		{"null root", `null`, "", "must be an object, not null"},
		{"subschema of another type", `{"type":"object","properties":{"a":1}}`, "/properties/a", "a schema must be an object or a boolean, not a number"},

		{"unknown keyword", `{"type":"object","properties":{"v":{"type":"string","colour":"red"}}}`, "/properties/v", `unknown keyword "colour"`},
		{"keyword of another dialect", `{"$defs":{}}`, "", `unknown keyword "$defs"; in draft-07 it is called "definitions"`},
		{"nullable", `{"type":"string","nullable":true}`, "", `unknown keyword "nullable"`},
		{"unknown keyword in an unused definition", `{"definitions":{"a":{"x":1}}}`, "/definitions/a", `unknown keyword "x"`},
		{"async", `{"$async":true}`, "", `"$async"`},
		{"other dialect", `{"$schema":"https://json-schema.org/draft/2020-12/schema"}`, "", `"$schema" must be "http://json-schema.org/draft-07/schema#"`},
		{"dialect of another type", `{"$schema":7}`, "", `"$schema" must be`},

		{"type missing for text", `{"minLength":1}`, "", `"minLength" needs a declared "type"`},
		{"type missing for number", `{"type":"string","minimum":1}`, "", `"minimum" needs a declared "type"`},
		{"type missing for array", `{"items":{}}`, "", `"items" needs`},
		{"type missing for object", `{"properties":{}}`, "", `"properties" needs`},
		{"type missing for required", `{"required":[]}`, "", `"required" needs`},
		{"type missing for format", `{"type":"array","format":"date"}`, "", `"format" needs`},
		{"type is not inherited by parts", `{"type":"array","items":{"minItems":1}}`, "/items", `"minItems" needs`},
		{"type is not inherited through ref", `{"type":"string","allOf":[{"$ref":"#/definitions/a"}],"definitions":{"a":{"minLength":1}}}`, "/definitions/a", `"minLength" needs`},
		{"type contradicts", `{"type":"object","allOf":[{"type":"string"}]}`, "/allOf/0", `contradicts`},
		{"type widens", `{"type":"integer","anyOf":[{"type":"number"}]}`, "/anyOf/0", `contradicts`},
		{"union", `{"type":"object","properties":{"a":{"type":["string","number"]}}}`, "/properties/a", `"type" may name one type`},
		{"union of three", `{"type":["string","null","number"]}`, "", `"type" may name one type`},
		{"unknown type", `{"type":"strng"}`, "", `"type" must be one of`},
		{"type twice", `{"type":["null","null"]}`, "", `"type" must be`},
		{"no type in the list", `{"type":[]}`, "", `"type" must name a type`},
		{"type of another type", `{"type":1}`, "", `"type" must be`},

		{"required name undefined", `{"type":"object","properties":{"a":{}},"required":["a","b"]}`, "", `"required" names "b"`},
		{"required beside no properties", `{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]}]}`, "/anyOf/0", `"required" names "a"`},
		{"required name twice", `{"type":"object","properties":{"a":{}},"required":["a","a"]}`, "", `"required" must be an array of strings, each once`},
		{"required of another type", `{"type":"object","required":true}`, "", `"required" must be`},
		{"tuple without length", `{"type":"array","items":[{}]}`, "", `"items" lists 1 schemas`},
		{"tuple without upper length", `{"type":"array","items":[{}],"minItems":1}`, "", `"items" lists`},
		{"tuple of another length", `{"type":"array","items":[{},{}],"minItems":1,"maxItems":2}`, "", `"items" lists`},
		{"tuple open", `{"type":"array","items":[{}],"minItems":1,"additionalItems":{}}`, "", `"items" lists`},
		{"tuple empty", `{"type":"array","items":[]}`, "", `"items" must be an array of at least one schema`},
		{"additionalItems ignored", `{"type":"array","items":{},"additionalItems":false}`, "", `"additionalItems" is ignored`},
		{"if alone", `{"if":{}}`, "", `"if" is ignored`},
		{"then alone", `{"then":{}}`, "", `"then" is ignored`},
		{"else alone", `{"else":{}}`, "", `"else" is ignored`},

		{"enum empty", `{"enum":[]}`, "", `"enum" must be`},
		{"enum with a value twice", `{"enum":[1,{"a":[]},1.0]}`, "", `"enum" lists a value twice`},
		{"enum of another type", `{"enum":"a"}`, "", `"enum" must be`},
		{"pattern broken", `{"type":"string","pattern":"("}`, "", `"pattern": "(" is a pattern`},
		{"pattern with lookahead", `{"type":"string","pattern":"(?=a)"}`, "", `RE2`},
		{"pattern with backreference", `{"type":"string","pattern":"(a)\\1"}`, "", `RE2`},
		{"pattern of members", `{"type":"object","patternProperties":{"[":{}}}`, "", `"patternProperties": "["`},
		{"pattern of another type", `{"type":"string","pattern":1}`, "", `"pattern" must be a string`},

		{"default in anyOf", `{"anyOf":[{"type":"object","properties":{"a":{"default":1}}}]}`, "/anyOf/0/properties/a", `"default" is ignored`},
		{"default in oneOf", `{"oneOf":[{"default":1}]}`, "/oneOf/0", `"default" is ignored`},
		{"default in not", `{"not":{"default":1}}`, "/not", `"default" is ignored`},
		{"default in if", `{"if":{"allOf":[{"default":1}]},"then":true}`, "/if/allOf/0", `"default" is ignored`},
		{"default in contains", `{"type":"array","contains":{"default":1}}`, "/contains", `"default" is ignored`},

		{"title", `{"title":1}`, "", `"title" must be a string`},
		{"description", `{"description":null}`, "", `"description" must be a string`},
		{"readOnly", `{"readOnly":"no"}`, "", `"readOnly" must be true or false`},
		{"examples", `{"examples":{}}`, "", `"examples" must be an array`},
		{"multipleOf zero", `{"type":"number","multipleOf":0}`, "", `"multipleOf" must be greater than 0`},
		{"multipleOf text", `{"type":"number","multipleOf":"2"}`, "", `"multipleOf" must be a number`},
		{"exclusiveMaximum of draft 4", `{"type":"number","maximum":1,"exclusiveMaximum":true}`, "", `"exclusiveMaximum" must be a number`},
		{"maxLength negative", `{"type":"string","maxLength":-1}`, "", `"maxLength" must be a whole number`},
		{"minItems fraction", `{"type":"array","minItems":1.5}`, "", `"minItems" must be a whole number`},
		{"uniqueItems", `{"type":"array","uniqueItems":1}`, "", `"uniqueItems" must be true or false`},
		{"allOf empty", `{"allOf":[]}`, "", `"allOf" must be an array of at least one schema`},
		{"anyOf object", `{"anyOf":{}}`, "", `"anyOf" must be an array`},
		{"properties array", `{"type":"object","properties":[]}`, "", `"properties" must be an object of schemas`},
		{"definitions", `{"definitions":1}`, "", `"definitions" must be an object of schemas`},
		{"dependencies", `{"type":"object","dependencies":[]}`, "", `"dependencies" must be an object`},
		{"dependencies names", `{"type":"object","dependencies":{"a":[1]}}`, "", `"dependencies" must be an array of strings`},
		{"dependencies schema", `{"type":"object","dependencies":{"a":"b"}}`, "/dependencies/a", `a schema must be an object or a boolean, not a string`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := problems(t, tt.schema)
			require.Len(t, list, 1)
			path, message, _ := strings.Cut(list[0], " | ")
			require.Equal(t, tt.path, path)
			require.Contains(t, message, tt.mentions)
		})
	}
}

func TestCompileAccepts(t *testing.T) {
	for _, definition := range []string{
		`{}`,
		`{"default":"unset"}`,
		`{"minLength":1,"type":"string"}`,
		`{"type":"object"}`,
		`{"type":["null"]}`,
		`{"type":["null","integer"],"minimum":1}`,
		`{"$schema":"http://json-schema.org/draft-07/schema"}`,
		`{"definitions":{"id":{"type":"integer","minimum":1}},"type":"array","items":{"$ref":"#/definitions/id"}}`,
		`{"type":"object","properties":{"a":{},"b":{"type":"string"}},"required":["a"]}`,
		`{"type":"string","allOf":[{"minLength":1}],"anyOf":[{"maxLength":3},{"pattern":"a"}],"not":{"maxLength":0}}`,
		`{"type":"number","anyOf":[{"type":"integer","minimum":1}]}`,
		`{"type":"string","if":{"minLength":1},"then":{"pattern":"a"},"else":true}`,
		`{"type":"object","dependencies":{"a":{"properties":{"b":{}},"required":["b"]}},"propertyNames":{"minLength":1}}`,
		`{"type":"number","format":"float"}`,
		`{"type":"array","items":[{},true],"minItems":2,"maxItems":2}`,
		`{"type":"array","items":[{},true],"minItems":2,"additionalItems":false}`,
		`{"allOf":[{"type":"object","properties":{"a":{"default":1}}}],"if":{},"then":{"default":1}}`,
		`{"type":"object","required":[],"dependencies":{"a":[]}}`,
	} {
		compile(t, definition)
	}
}

func TestCompileListsEveryProblem(t *testing.T) {
	require.Equal(t, []string{
		`/properties/a | "type" must be one of null, boolean, number, integer, string, array, object, or an array of two of them`,
		`/properties/b~1c | unknown keyword "x"`,
		`/properties/b~1c | unknown keyword "y"`,
		` | "required" names "d", which "properties" beside it does not define`,
		`/properties/e | "$ref": "#/nowhere" names no schema in this definition`,
	}, problems(t, `{"type":"object","properties":{"a":{"type":"strng","minLength":1},"b/c":{"x":1,"y":2},"e":{"$ref":"#/nowhere"}},"required":["d"]}`))
}

func TestErrorText(t *testing.T) {
	_, err := schema.Compile(parse(t, `{"x":1,"type":"object","properties":{"a\n":{"y":1}}}`))
	require.EqualError(t, err, "the schema cannot be used:\n"+
		"  - (root) unknown keyword \"x\"\n"+
		"  - \"/properties/a\\n\" unknown keyword \"y\"")
	require.EqualError(t, &schema.Error{Problems: []schema.Problem{{Message: "bad"}}}, "the schema cannot be used:\n  - (root) bad")
}

func TestErrorIsBounded(t *testing.T) {
	long := strings.Repeat("k", 100_000)
	members := strings.TrimSuffix(strings.Repeat(`{"x":1},`, 50), ",")
	list := problems(t, `{"type":"object","properties":{"`+long+`":{"anyOf":[`+members+`]}}}`)
	require.Len(t, list, 4)
	require.Equal(t, " | and 47 more problems", list[3])
}
