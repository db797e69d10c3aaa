package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/schema"
)

func TestProperties(t *testing.T) {
	s := compile(t, `{"definitions":{"d":{"default":[1]}},"type":"object","properties":{"b":{"type":"string","default":"x"},"a":true,"c":{"$ref":"#/definitions/d"}},"required":["a"]}`)
	list := s.Properties()
	require.Len(t, list, 3)

	require.Equal(t, "b", list[0].Name)
	require.False(t, list[0].Required)
	require.True(t, list[0].HasDefault)
	require.Equal(t, "x", list[0].Default)
	require.Equal(t, `{"type":"string","default":"x"}`, jsonText(t, list[0].Definition))

	require.Equal(t, "a", list[1].Name)
	require.True(t, list[1].Required)
	require.False(t, list[1].HasDefault)
	require.Equal(t, true, list[1].Definition)

	require.Equal(t, "c", list[2].Name)
	require.Equal(t, []any{1.0}, list[2].Default)

	require.Empty(t, compile(t, `{"type":"string"}`).Properties())
}

func TestShape(t *testing.T) {
	tests := []struct {
		name, property string
		shape          schema.Shape
		form           string
		boolean        bool
	}{
		{"string", `{"type":"string"}`, schema.Scalar, "string", false},
		{"boolean", `{"type":"boolean"}`, schema.Scalar, "boolean", true},
		{"boolean or null", `{"type":["boolean","null"]}`, schema.Scalar, "boolean|null", false},
		{"null first", `{"type":["null","string"]}`, schema.Scalar, "null|string", false},
		{"enum", `{"enum":["a","b",1,true,null]}`, schema.Scalar, "a|b|1|true|null", false},
		{"typed enum", `{"type":"string","enum":["a","b"]}`, schema.Scalar, "a|b", false},
		{"enum with a structure", `{"enum":["a",{}]}`, schema.Structured, "", false},
		{"anyOf", `{"anyOf":[{"type":"string"},{"enum":[1]},{"type":"string"}]}`, schema.Scalar, "string|1", false},
		{"oneOf", `{"oneOf":[{"type":"integer"},{"type":"null"}]}`, schema.Scalar, "integer|null", false},
		{"anyOf with an object", `{"anyOf":[{"type":"string"},{"type":"object"}]}`, schema.Structured, "", false},
		{"array", `{"type":"array","items":{"type":"string"}}`, schema.ScalarArray, "string...", false},
		{"array or null", `{"type":["array","null"],"items":{"enum":["a","b"]}}`, schema.ScalarArray, "a|b...", false},
		{"array of arrays", `{"type":"array","items":{"type":"array","items":{"type":"string"}}}`, schema.Structured, "", false},
		{"array of anything", `{"type":"array"}`, schema.Structured, "", false},
		{"tuple", `{"type":"array","items":[{"type":"string"}],"minItems":1,"maxItems":1}`, schema.Structured, "", false},
		{"object", `{"type":"object"}`, schema.Structured, "", false},
		{"untyped", `{}`, schema.Structured, "", false},
		{"true", `true`, schema.Structured, "", false},
		{"ref to boolean", `{"$ref":"#/definitions/b"}`, schema.Scalar, "boolean", true},
		{"ref to array", `{"$ref":"#/definitions/l"}`, schema.ScalarArray, "boolean...", false},
		{"ref in anyOf", `{"anyOf":[{"$ref":"#/definitions/b"},{"$ref":"#/definitions/b"},{"type":"null"}]}`, schema.Scalar, "boolean|null", false},
		{"ref to what refers back", `{"$ref":"#/definitions/r"}`, schema.Structured, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := compile(t, `{"definitions":{
				"b":{"$ref":"#/definitions/c"},"c":{"type":"boolean"},
				"l":{"type":"array","items":{"$ref":"#/definitions/b"}},
				"r":{"type":"array","items":{"$ref":"#/definitions/r"}}
			},"type":"object","properties":{"p":`+tt.property+`}}`)
			p := s.Properties()[0]
			shape, form := p.Shape()
			require.Equal(t, tt.shape, shape)
			require.Equal(t, tt.form, form)
			require.Equal(t, tt.boolean, p.IsBoolean())
			require.Equal(t, shape == schema.ScalarArray, p.Element() != nil)
		})
	}
}

func TestValidateProperty(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"n":{"type":"integer","minimum":1},"s":{"type":"string","maxLength":3},"l":{"type":"array","items":{"type":"integer"}}},"required":["n"]}`)
	require.Empty(t, s.ValidateProperty("n", 2.0))
	require.Equal(t, []string{` | #/properties/n/type | {"type":"integer"} | must be integer`}, issues(t, s.ValidateProperty("n", "2")))
	require.Equal(t, []string{`/1 | #/properties/l/items/type | {"type":"integer"} | must be integer`}, issues(t, s.ValidateProperty("l", []any{1.0, nil})))
	require.Empty(t, s.ValidateProperty("other", nil))

	require.Empty(t, s.ValidateProperty("s", "007"))
	require.NotEmpty(t, s.ValidateProperty("s", "0070"))
	require.NotEmpty(t, s.ValidateProperty("n", "7"))

	element := s.Properties()[2].Element()
	require.Empty(t, element.Validate(7.0))
	require.Len(t, element.Validate("7"), 1)
}
