package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

func TestFill(t *testing.T) {
	tests := []struct{ name, schema, value, want string }{
		{"absent", `{"type":"object","properties":{"a":{"default":1},"b":{}}}`, `{}`, `{"a":1}`},
		{"present", `{"type":"object","properties":{"a":{"default":1}}}`, `{"a":2}`, `{"a":2}`},
		{"null is present", `{"type":"object","properties":{"a":{"default":1}}}`, `{"a":null}`, `{"a":null}`},
		{"null default", `{"type":"object","properties":{"a":{"default":null}}}`, `{}`, `{"a":null}`},
		{"given members stay first", `{"type":"object","properties":{"a":{"default":1},"b":{"default":2}}}`, `{"z":0,"b":3}`, `{"z":0,"b":3,"a":1}`},
		{"inside a present object", `{"type":"object","properties":{"o":{"type":"object","properties":{"a":{"default":1}}}}}`, `{"o":{}}`, `{"o":{"a":1}}`},
		{"no parent is invented", `{"type":"object","properties":{"o":{"type":"object","properties":{"a":{"default":1}}}}}`, `{}`, `{}`},
		{"inside a default", `{"type":"object","properties":{"o":{"type":"object","default":{},"properties":{"a":{"default":1}}}}}`, `{}`, `{"o":{"a":1}}`},
		{"inside items", `{"type":"array","items":{"type":"object","properties":{"a":{"default":1}}}}`, `[{},2,{"a":3}]`, `[{"a":1},2,{"a":3}]`},
		{"another type", `{"type":"object","properties":{"a":{"default":1}}}`, `[{}]`, `[{}]`},
		{"root default is a note", `{"default":{"a":1}}`, `{}`, `{}`},
		{"tuple extends", `{"type":"array","items":[{},{"default":1},{"default":2}],"minItems":3,"additionalItems":false}`, `[0]`, `[0,1,2]`},
		{"tuple leaves no gap", `{"type":"array","items":[{},{"default":1}],"minItems":2,"maxItems":2}`, `[]`, `[]`},
		{"tuple in a member", `{"type":"object","properties":{"t":{"type":"array","items":[{"default":1}],"minItems":1,"maxItems":1}}}`, `{"t":[]}`, `{"t":[1]}`},
		{"additionalItems", `{"type":"array","items":[{}],"minItems":1,"maxItems":1,"additionalItems":{"type":"object","properties":{"a":{"default":1}}}}`, `[{},{}]`, `[{},{"a":1}]`},
		{"ref", `{"definitions":{"o":{"type":"object","properties":{"a":{"default":1}}}},"type":"object","properties":{"x":{"$ref":"#/definitions/o"}}}`, `{"x":{}}`, `{"x":{"a":1}}`},
		{"default of what ref names", `{"definitions":{"s":{"type":"string","default":"m"}},"type":"object","properties":{"x":{"$ref":"#/definitions/s"},"y":{"allOf":[{"$ref":"#/definitions/s"}]}}}`, `{}`, `{"x":"m","y":"m"}`},
		{"default beside ref wins", `{"definitions":{"s":{"type":"string","default":"m"}},"type":"object","properties":{"x":{"$ref":"#/definitions/s","default":"n"}}}`, `{}`, `{"x":"n"}`},
		{"allOf", `{"type":"object","properties":{"a":{"default":1}},"allOf":[{"properties":{"a":{"default":9},"b":{"default":2}}}]}`, `{}`, `{"a":1,"b":2}`},
		{"then", `{"type":"object","properties":{"k":{"default":"x"}},"if":{"properties":{"k":{"const":"x"}},"required":["k"]},"then":{"properties":{"b":{"default":1}}},"else":{"properties":{"c":{"default":2}}}}`, `{}`, `{"k":"x","b":1}`},
		{"else", `{"type":"object","properties":{"k":{}},"if":{"properties":{"k":{"const":"x"}},"required":["k"]},"then":{"properties":{"b":{"default":1}}},"else":{"properties":{"c":{"default":2}}}}`, `{}`, `{"c":2}`},
		{"dependencies", `{"type":"object","dependencies":{"k":{"properties":{"b":{"default":1}}},"z":{"properties":{"c":{"default":1}}}}}`, `{"k":0}`, `{"k":0,"b":1}`},
		{"patternProperties", `{"type":"object","patternProperties":{"^x":{"type":"object","properties":{"a":{"default":1}}}}}`, `{"x1":{},"y":{}}`, `{"x1":{"a":1},"y":{}}`},
		{"additionalProperties", `{"type":"object","properties":{"y":{}},"additionalProperties":{"type":"object","properties":{"a":{"default":1}}}}`, `{"x":{},"y":{}}`, `{"x":{"a":1},"y":{}}`},
		{"recursive", `{"type":"object","properties":{"next":{"$ref":"#"},"v":{"default":0}}}`, `{"next":{"next":{"v":1}}}`, `{"next":{"next":{"v":1},"v":0},"v":0}`},
		{"nothing to fill", `{"type":"object"}`, `{"a":[1]}`, `{"a":[1]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, v := compile(t, tt.schema), parse(t, tt.value)
			require.Equal(t, tt.want, jsonText(t, s.Fill(v)))
			require.Equal(t, tt.value, jsonText(t, v), "the value given must not change")
		})
	}
}

func TestFillSharesNothing(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"a":{"default":{"list":[1]}}}}`)
	v := parse(t, `{"b":{}}`)
	filled := s.Fill(v).(*value.Object)
	a, _ := filled.Get("a")
	a.(*value.Object).Set("list", nil)
	b, _ := filled.Get("b")
	b.(*value.Object).Set("x", 1.0)
	require.Equal(t, `{"b":{}}`, jsonText(t, v))
	require.Equal(t, `{"b":{},"a":{"list":[1]}}`, jsonText(t, s.Fill(v)))
}

// A default is judged like a supplied value.
func TestFillThenValidate(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"a":{"type":"string","default":1}}}`)
	require.Equal(t, []string{`/a | #/properties/a/type | {"type":"string"} | must be string`}, issues(t, s.Validate(s.Fill(value.NewObject(0)))))
}
