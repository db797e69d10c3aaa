package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

func parse(t testing.TB, text string) any {
	t.Helper()
	v, err := value.Parse([]byte(text))
	require.NoError(t, err, text)
	return v
}

func compile(t testing.TB, definition string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile(parse(t, definition))
	require.NoError(t, err, definition)
	return s
}

func jsonText(t testing.TB, v any) string {
	t.Helper()
	text, err := value.JSON(v)
	require.NoError(t, err)
	return text
}

// issues lists issues as "INSTANCE | SCHEMA | PARAMS | MESSAGE".
func issues(t testing.TB, list []schema.Issue) []string {
	t.Helper()
	var out []string
	for _, i := range list {
		out = append(out, i.InstancePath+" | "+i.SchemaPath+" | "+jsonText(t, i.Params)+" | "+i.Message)
	}
	return out
}

func TestValidate(t *testing.T) {
	tests := []struct {
		name, schema, value string
		want                []string
	}{
		{"anything", `{}`, `{"a":[1,null]}`, nil},

		{"type", `{"type":"string"}`, `1`, []string{` | #/type | {"type":"string"} | must be string`}},
		{"type union", `{"type":["string","null"]}`, `1`, []string{` | #/type | {"type":["string","null"]} | must be string,null`}},
		{"type union null", `{"type":["string","null"]}`, `null`, nil},
		{"type integer 1.0", `{"type":"integer"}`, `1.0`, nil},
		{"type integer 1.5", `{"type":"integer"}`, `1.5`, []string{` | #/type | {"type":"integer"} | must be integer`}},
		{"type number", `{"type":"number"}`, `2`, nil},
		{"type boolean", `{"type":"boolean"}`, `null`, []string{` | #/type | {"type":"boolean"} | must be boolean`}},
		{"type null", `{"type":"null"}`, `false`, []string{` | #/type | {"type":"null"} | must be null`}},
		{"type array", `{"type":"array"}`, `{}`, []string{` | #/type | {"type":"array"} | must be array`}},
		{"type object", `{"type":"object"}`, `[]`, []string{` | #/type | {"type":"object"} | must be object`}},

		{"enum", `{"enum":["a",1,null,{"x":[1]}]}`, `"b"`, []string{` | #/enum | {"allowedValues":["a",1,null,{"x":[1]}]} | must be equal to one of the allowed values`}},
		{"enum structure", `{"enum":[{"x":1,"y":[2]}]}`, `{"y":[2.0],"x":1}`, nil},
		{"enum other structure", `{"enum":[1]}`, `[1]`, []string{` | #/enum | {"allowedValues":[1]} | must be equal to one of the allowed values`}},
		{"const", `{"const":{"a":1}}`, `{"a":2}`, []string{` | #/const | {"allowedValue":{"a":1}} | must be equal to constant`}},
		{"const null", `{"const":null}`, `0`, []string{` | #/const | {"allowedValue":null} | must be equal to constant`}},
		{"const text is no structure", `{"const":"[1,]"}`, `[1]`, []string{` | #/const | {"allowedValue":"[1,]"} | must be equal to constant`}},
		{"const zero", `{"const":0}`, `-0.0`, nil},
		{"const false is not zero", `{"const":0}`, `false`, []string{` | #/const | {"allowedValue":0} | must be equal to constant`}},

		{"maximum", `{"type":"number","maximum":3}`, `3.5`, []string{` | #/maximum | {"comparison":"<=","limit":3} | must be <= 3`}},
		{"maximum met", `{"type":"number","maximum":3}`, `3`, nil},
		{"exclusiveMaximum", `{"type":"number","exclusiveMaximum":3}`, `3`, []string{` | #/exclusiveMaximum | {"comparison":"<","limit":3} | must be < 3`}},
		{"minimum", `{"type":"integer","minimum":-1.5}`, `-2`, []string{` | #/minimum | {"comparison":">=","limit":-1.5} | must be >= -1.5`}},
		{"minimum met", `{"type":"integer","minimum":1}`, `1`, nil},
		{"exclusiveMinimum", `{"type":"number","exclusiveMinimum":0}`, `0`, []string{` | #/exclusiveMinimum | {"comparison":">","limit":0} | must be > 0`}},
		{"multipleOf", `{"type":"number","multipleOf":2}`, `3`, []string{` | #/multipleOf | {"multipleOf":2} | must be multiple of 2`}},
		{"multipleOf decimal", `{"type":"number","multipleOf":0.1}`, `0.3`, nil},
		{"multipleOf decimal not", `{"type":"number","multipleOf":0.1}`, `0.35`, []string{` | #/multipleOf | {"multipleOf":0.1} | must be multiple of 0.1`}},
		{"multipleOf fraction of whole", `{"type":"number","multipleOf":2.5}`, `5`, nil},

		{"maxLength counts code points", `{"type":"string","maxLength":2}`, `"😀é"`, nil},
		{"maxLength", `{"type":"string","maxLength":2}`, `"abc"`, []string{` | #/maxLength | {"limit":2} | must NOT have more than 2 characters`}},
		{"minLength", `{"type":"string","minLength":2}`, `"😀"`, []string{` | #/minLength | {"limit":2} | must NOT have fewer than 2 characters`}},
		{"pattern", `{"type":"string","pattern":"^a+$"}`, `"b"`, []string{` | #/pattern | {"pattern":"^a+$"} | must match pattern "^a+$"`}},
		{"pattern is a search", `{"type":"string","pattern":"b"}`, `"abc"`, nil},
		{"format never asserts", `{"type":"string","format":"email"}`, `"no"`, nil},

		{"maxItems", `{"type":"array","maxItems":1}`, `[1,2]`, []string{` | #/maxItems | {"limit":1} | must NOT have more than 1 items`}},
		{"minItems", `{"type":"array","minItems":1}`, `[]`, []string{` | #/minItems | {"limit":1} | must NOT have fewer than 1 items`}},
		{"uniqueItems", `{"type":"array","uniqueItems":true}`, `[1,{"a":1,"b":2},"1",{"b":2,"a":1.0}]`, []string{` | #/uniqueItems | {"i":3,"j":1} | must NOT have duplicate items (items ## 1 and 3 are identical)`}},
		{"uniqueItems differ", `{"type":"array","uniqueItems":true}`, `[1,"1",true,null,[],{},[1],["1"]]`, nil},
		{"uniqueItems false", `{"type":"array","uniqueItems":false}`, `[1,1]`, nil},
		{"items", `{"type":"array","items":{"type":"integer"}}`, `[1,"a",2.5]`, []string{
			`/1 | #/items/type | {"type":"integer"} | must be integer`,
			`/2 | #/items/type | {"type":"integer"} | must be integer`}},
		{"tuple", `{"type":"array","items":[{"type":"string"},true],"minItems":2,"additionalItems":false}`, `[1,2,3,4]`, []string{
			`/0 | #/items/0/type | {"type":"string"} | must be string`,
			` | #/additionalItems | {"limit":2} | must NOT have more than 2 items`}},
		{"additionalItems", `{"type":"array","items":[true],"minItems":1,"maxItems":1,"additionalItems":{"type":"null"}}`, `[1,2]`, []string{
			` | #/maxItems | {"limit":1} | must NOT have more than 1 items`,
			`/1 | #/additionalItems/type | {"type":"null"} | must be null`}},
		{"contains", `{"type":"array","contains":{"const":1}}`, `[0,1]`, nil},
		{"contains none", `{"type":"array","contains":{"const":1}}`, `[0]`, []string{
			`/0 | #/contains/const | {"allowedValue":1} | must be equal to constant`,
			` | #/contains | {"minContains":1} | must contain at least 1 valid item(s)`}},
		{"contains in nothing", `{"type":"array","contains":true}`, `[]`, []string{` | #/contains | {"minContains":1} | must contain at least 1 valid item(s)`}},

		{"maxProperties", `{"type":"object","maxProperties":1}`, `{"a":1,"b":2}`, []string{` | #/maxProperties | {"limit":1} | must NOT have more than 1 properties`}},
		{"minProperties", `{"type":"object","minProperties":1}`, `{}`, []string{` | #/minProperties | {"limit":1} | must NOT have fewer than 1 properties`}},
		{"required", `{"type":"object","properties":{"a":{},"b":{}},"required":["a","b"]}`, `{}`, []string{
			` | #/required | {"missingProperty":"a"} | must have required property 'a'`,
			` | #/required | {"missingProperty":"b"} | must have required property 'b'`}},
		{"properties", `{"type":"object","properties":{"a/b~c":{"type":"string"}}}`, `{"a/b~c":1,"z":1}`, []string{`/a~1b~0c | #/properties/a~1b~0c/type | {"type":"string"} | must be string`}},
		{"schema path is a URI fragment", `{"type":"object","properties":{"é %":{"type":"string"}}}`, `{"é %":1}`, []string{`/é % | #/properties/%C3%A9%20%25/type | {"type":"string"} | must be string`}},
		{"patternProperties", `{"type":"object","patternProperties":{"^x":{"type":"string"}}}`, `{"x1":1,"y":1}`, []string{`/x1 | #/patternProperties/%5Ex/type | {"type":"string"} | must be string`}},
		{"additionalProperties false", `{"type":"object","properties":{"a":{}},"patternProperties":{"^x":{}},"additionalProperties":false}`, `{"a":1,"x":1,"c":1,"d":1}`, []string{
			` | #/additionalProperties | {"additionalProperty":"c"} | must NOT have additional properties`,
			` | #/additionalProperties | {"additionalProperty":"d"} | must NOT have additional properties`}},
		{"additionalProperties", `{"type":"object","additionalProperties":{"type":"string"}}`, `{"a":1}`, []string{`/a | #/additionalProperties/type | {"type":"string"} | must be string`}},
		{"propertyNames", `{"type":"object","propertyNames":{"maxLength":1}}`, `{"ab":1,"c":2}`, []string{
			` | #/propertyNames/maxLength | {"limit":1} | must NOT have more than 1 characters`,
			` | #/propertyNames | {"propertyName":"ab"} | property name must be valid`}},
		{"dependencies names", `{"type":"object","dependencies":{"a":["b","c"]}}`, `{"a":1,"c":2}`, []string{
			` | #/dependencies | {"property":"a","missingProperty":"b","depsCount":2,"deps":"b, c"} | must have properties b, c when property a is present`}},
		{"dependencies one name", `{"type":"object","dependencies":{"a":["b"]}}`, `{"a":1}`, []string{
			` | #/dependencies | {"property":"a","missingProperty":"b","depsCount":1,"deps":"b"} | must have property b when property a is present`}},
		{"dependencies schema", `{"type":"object","dependencies":{"a":{"maxProperties":1}}}`, `{"a":1,"c":2}`, []string{` | #/dependencies/a/maxProperties | {"limit":1} | must NOT have more than 1 properties`}},
		{"dependencies absent", `{"type":"object","dependencies":{"a":["b"],"b":false}}`, `{"c":1}`, nil},

		{"false", `{"type":"object","properties":{"a":false,"b":true}}`, `{"a":1,"b":2}`, []string{`/a | #/properties/a/false schema | {} | boolean schema is false`}},
		{"not", `{"not":{"type":"string"}}`, `"a"`, []string{` | #/not | {} | must NOT be valid`}},
		{"not met", `{"not":{"type":"string"}}`, `1`, nil},
		{"allOf", `{"allOf":[{"type":"string"},{"const":1},true]}`, `2`, []string{
			` | #/allOf/0/type | {"type":"string"} | must be string`,
			` | #/allOf/1/const | {"allowedValue":1} | must be equal to constant`}},
		{"anyOf", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, []string{
			` | #/anyOf/0/type | {"type":"string"} | must be string`,
			` | #/anyOf/1/type | {"type":"null"} | must be null`,
			` | #/anyOf | {} | must match a schema in anyOf`}},
		{"anyOf met", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `null`, nil},
		{"oneOf none", `{"oneOf":[{"type":"string"},{"type":"null"}]}`, `1`, []string{
			` | #/oneOf/0/type | {"type":"string"} | must be string`,
			` | #/oneOf/1/type | {"type":"null"} | must be null`,
			` | #/oneOf | {"passingSchemas":null} | must match exactly one schema in oneOf`}},
		{"oneOf two", `{"oneOf":[{"type":"string"},{"type":"integer"},{"const":1}]}`, `1`, []string{` | #/oneOf | {"passingSchemas":[1,2]} | must match exactly one schema in oneOf`}},
		{"oneOf met", `{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `1`, nil},
		{"then", `{"if":{"const":1},"then":false,"else":true}`, `1`, []string{
			` | #/then/false schema | {} | boolean schema is false`,
			` | #/if | {"failingKeyword":"then"} | must match "then" schema`}},
		{"else", `{"if":{"const":1},"else":{"type":"string"}}`, `2`, []string{
			` | #/else/type | {"type":"string"} | must be string`,
			` | #/if | {"failingKeyword":"else"} | must match "else" schema`}},
		{"then not needed", `{"if":{"const":1},"then":false}`, `2`, nil},

		{"ref", `{"definitions":{"id":{"type":"integer","minimum":1}},"type":"array","items":{"$ref":"#/definitions/id"}}`, `[1,0]`, []string{`/1 | #/definitions/id/minimum | {"comparison":">=","limit":1} | must be >= 1`}},
		{"keywords beside ref apply", `{"definitions":{"s":{"type":"string"}},"$ref":"#/definitions/s","type":"string","maxLength":1}`, `"ab"`, []string{` | #/maxLength | {"limit":1} | must NOT have more than 1 characters`}},
		{"annotations", `{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://example.com/s","$comment":"c","title":"t","description":"d","default":1,"examples":[1],"readOnly":true,"writeOnly":false,"contentMediaType":"text/plain","contentEncoding":"base64","$async":false}`, `1`, nil},
		{"proto", `{"type":"object","properties":{"__proto__":{"type":"string"}},"dependencies":{"__proto__":["__proto__"]},"definitions":{"__proto__":true}}`, `{"__proto__":1}`, []string{`/__proto__ | #/properties/__proto__/type | {"type":"string"} | must be string`}},
		{"every issue", `{"type":"object","properties":{"a":{"type":"string","minLength":1},"b":{"type":"array","items":{"type":"null"}}},"required":["a","b"],"additionalProperties":false}`, `{"b":[1],"c":{}}`, []string{
			` | #/required | {"missingProperty":"a"} | must have required property 'a'`,
			`/b/0 | #/properties/b/items/type | {"type":"null"} | must be null`,
			` | #/additionalProperties | {"additionalProperty":"c"} | must NOT have additional properties`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, issues(t, compile(t, tt.schema).Validate(parse(t, tt.value))))
		})
	}
}

func TestValidateWhatIsNoJSON(t *testing.T) {
	s := compile(t, `{"type":"string","enum":["a"]}`)
	require.Len(t, s.Validate(value.Undefined{}), 2)
	require.Len(t, compile(t, `{"type":"array","uniqueItems":true}`).Validate([]any{value.Undefined{}, 1}), 1)
	require.Empty(t, schema.Open().Validate(value.Undefined{}))
}

func TestOpen(t *testing.T) {
	s := schema.Open()
	require.Empty(t, s.Validate(parse(t, `{"a":[1]}`)))
	require.Equal(t, `{}`, jsonText(t, s.Definition()))
	require.Equal(t, `{"a":1}`, jsonText(t, s.Fill(parse(t, `{"a":1}`))))
	require.Empty(t, s.Properties())
}

func TestCompileCopiesTheDefinition(t *testing.T) {
	definition := parse(t, `{"type":"object","properties":{"a":{"enum":["x"]}}}`).(*value.Object)
	s, err := schema.Compile(definition)
	require.NoError(t, err)
	want := jsonText(t, definition)
	properties, _ := definition.Get("properties")
	properties.(*value.Object).Set("b", false)
	definition.Set("type", "string")
	require.Equal(t, want, jsonText(t, s.Definition()))
	require.Empty(t, s.Validate(parse(t, `{"a":"x","b":1}`)))
}
