package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/schema"
)

func TestProps(t *testing.T) {
	tests := []struct {
		name, props, required, definition string // an empty text is an absent key
	}{
		{"absent", ``, ``, `{"type":"object","properties":{},"additionalProperties":false}`},
		{"empty map", `{}`, ``, `{"type":"object","properties":{},"additionalProperties":false}`},
		{"map", `{"b":{"type":"string"},"a":true}`, ``, `{"type":"object","properties":{"b":{"type":"string"},"a":true},"additionalProperties":false}`},
		{"map with required", `{"a":{}}`, `["a"]`, `{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}`},
		{"map with odd names", `{"$ref":{},"$async":true,"properties":{}}`, ``, `{"type":"object","properties":{"$ref":{},"$async":true,"properties":{}},"additionalProperties":false}`},
		{"full", `{"type":"object"}`, ``, `{"type":"object"}`},
		{"full with dialect", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{}},"required":["a"]}`, ``, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{}},"required":["a"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := props(t, tt.props, tt.required)
			require.NoError(t, err)
			require.Equal(t, tt.definition, jsonText(t, s.Definition()))
		})
	}
}

func props(t *testing.T, declaration, required string) (*schema.Schema, error) {
	t.Helper()
	var d, r any
	if declaration != "" {
		d = parse(t, declaration)
	}
	if required != "" {
		r = parse(t, required)
	}
	return schema.Props(d, r, required != "")
}

func TestPropsRefused(t *testing.T) {
	tests := []struct {
		name, props, required string
		want                  []string
	}{
		{"required without props", ``, `["a"]`, []string{` | "required" lists names of "props", and there is no "props" map`}},
		{"list", `["a"]`, ``, []string{` | "props" must be an object: a map of names to schemas, or a schema with "type": "object"`}},
		{"text", `"a"`, ``, []string{` | "props" must be an object: a map of names to schemas, or a schema with "type": "object"`}},
		{"required beside full", `{"type":"object","properties":{"a":{}}}`, `["a"]`, []string{` | "required" cannot stand beside a complete "props" schema; move it into the schema`}},
		{"full of another type", `{"type":"array"}`, ``, []string{` | "type" of a props schema must be "object"`}},
		{"full of a list of types", `{"type":["object"]}`, ``, []string{` | "type" of a props schema must be "object"`}},
		{"full without type", `{"$schema":"http://json-schema.org/draft-07/schema#"}`, ``, []string{` | "type" of a props schema must be "object"`}},
		{"reserved in map", `{"as":{},"slot":{}}`, ``, []string{
			`/properties/as | no property may be called "as", which every component reserves`,
			`/properties/slot | no property may be called "slot", which every component reserves`}},
		{"reserved in full", `{"type":"object","properties":{"slot":{}}}`, ``, []string{`/properties/slot | no property may be called "slot", which every component reserves`}},
		{"required undeclared", `{"a":{}}`, `["b"]`, []string{` | "required" names "b", which "properties" beside it does not define`}},
		{"required text", `{"a":{}}`, `"a"`, []string{` | "required" must be an array of strings, each once`}},
		{"required null", `{"a":{}}`, `null`, []string{` | "required" must be an array of strings, each once`}},
		{"schema of another type", `{"a":"string"}`, ``, []string{`/properties/a | a schema must be an object or a boolean, not a string`}},
		{"union", `{"n":{"type":["string","null"]},"a":{"type":["string","number"]}}`, ``, []string{`/properties/a | "type" may name one type, alone or with "null"; write anyOf for another union`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := props(t, tt.props, tt.required)
			require.Equal(t, tt.want, problemsOf(t, err))
			require.ErrorContains(t, err, "the props declaration cannot be used:\n  - ")
		})
	}
}

func TestReturns(t *testing.T) {
	tests := []struct{ name, returns, definition string }{
		{"empty", `{}`, `{"type":"object","properties":{},"required":[],"additionalProperties":false}`},
		{"shorthand", `{"a":{"type":"number"},"as":true}`, `{"type":"object","properties":{"a":{"type":"number"},"as":true},"required":["a","as"],"additionalProperties":false}`},
		{"full", `{"type":"string"}`, `{"type":"string"}`},
		{"full of any value", `{"$schema":"http://json-schema.org/draft-07/schema#"}`, `{"$schema":"http://json-schema.org/draft-07/schema#"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := schema.Returns(parse(t, tt.returns))
			require.NoError(t, err)
			require.Equal(t, tt.definition, jsonText(t, s.Definition()))
		})
	}
}

func TestReturnsRefused(t *testing.T) {
	for _, declaration := range []any{nil, "string", true, []any{}} {
		_, err := schema.Returns(declaration)
		require.EqualError(t, err, "the returns declaration cannot be used:\n"+
			`  - (root) "returns" must be an object: a schema with "type", or a map of names to schemas`)
	}
	_, err := schema.Returns(parse(t, `{"a":{"x":1}}`))
	require.Equal(t, []string{`/properties/a | unknown keyword "x"`}, problemsOf(t, err))
	_, err = schema.Returns(parse(t, `{"type":"object","$async":true}`))
	require.Equal(t, []string{` | "$async" is not supported; remove it`}, problemsOf(t, err))
}
