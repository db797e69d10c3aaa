package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReferences(t *testing.T) {
	tests := []struct {
		name, schema, value string
		valid               bool
	}{
		{"root", `{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}`, `{"next":{"next":{}}}`, true},
		{"root fails deep", `{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}`, `{"next":{"next":{"x":1}}}`, false},
		{"forward", `{"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/b"},"b":{"type":"string"}}}`, `1`, false},
		{"boolean", `{"$ref":"#/definitions/a","definitions":{"a":false}}`, `1`, false},
		{"escapes", `{"$ref":"#/definitions/a~1b~0c%20d","definitions":{"a/b~c d":{"type":"string"}}}`, `1`, false},
		{"tilde one", `{"$ref":"#/definitions/~01","definitions":{"~1":{"type":"string"}}}`, `1`, false},
		{"index", `{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/anyOf/0"}}]}`, `[1]`, false},
		{"single keyword", `{"type":"array","items":{"type":"string"},"contains":{"$ref":"#/items"}}`, `["a"]`, true},
		{"empty name", `{"$ref":"#/definitions/","definitions":{"":{"type":"string"}}}`, `1`, false},
		{"name", `{"$ref":"#id","definitions":{"a":{"$id":"#id","type":"string"}}}`, `1`, false},
		{"address of its own", `{"definitions":{"sub":{"$id":"https://example.com/sub","definitions":{"t":{"type":"string"}},"allOf":[{"$ref":"#/definitions/t"}]},"t":{"type":"integer"}},"$ref":"#/definitions/sub"}`, `1`, false},
		{"name per address", `{"definitions":{"sub":{"$id":"sub","definitions":{"t":{"$id":"#t","type":"string"}},"allOf":[{"$ref":"#t"}]},"t":{"$id":"#t","type":"integer"}},"$ref":"#/definitions/sub"}`, `1`, false},
		{"property called like a keyword", `{"type":"object","properties":{"properties":{"type":"string"},"not":{"$ref":"#/properties/properties"}}}`, `{"not":1}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.valid, len(compile(t, tt.schema).Validate(parse(t, tt.value))) == 0)
		})
	}
}

func TestReferencesRefused(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"address", `{"$ref":"http://example.com/s"}`, ` | "$ref": "http://example.com/s" leaves the schema; a reference must stay inside it: "#", "#/json/pointer", or "#name" for an "$id"`},
		{"file", `{"$ref":"/etc/passwd"}`, ` | "$ref": "/etc/passwd" leaves the schema; a reference must stay inside it: "#", "#/json/pointer", or "#name" for an "$id"`},
		{"meta-schema", `{"$ref":"http://json-schema.org/draft-07/schema#"}`, ` | "$ref": "http://json-schema.org/draft-07/schema#" leaves the schema; a reference must stay inside it: "#", "#/json/pointer", or "#name" for an "$id"`},
		{"empty", `{"$ref":""}`, ` | "$ref": "" leaves the schema; a reference must stay inside it: "#", "#/json/pointer", or "#name" for an "$id"`},
		{"nowhere", `{"$ref":"#/definitions/a"}`, ` | "$ref": "#/definitions/a" names no schema in this definition`},
		{"no schema", `{"$ref":"#/default","default":{}}`, ` | "$ref": "#/default" names no schema in this definition`},
		{"into a value", `{"$ref":"#/enum/0","enum":[{}]}`, ` | "$ref": "#/enum/0" names no schema in this definition`},
		{"half way", `{"$ref":"#/definitions","definitions":{"a":true}}`, ` | "$ref": "#/definitions" names no schema in this definition`},
		{"bad escape", `{"$ref":"#/definitions/%zz","definitions":{}}`, ` | "$ref": "#/definitions/%zz" names no schema in this definition`},
		{"unknown name", `{"$ref":"#a"}`, ` | "$ref": "#a" names no schema in this definition`},
		{"other type", `{"$ref":1}`, ` | "$ref" must be a string`},
		{"itself", `{"$ref":"#"}`, ` | "$ref" leads back to this schema without entering a property or an item, so it would never end`},
		{"circle", `{"$ref":"#/definitions/a","definitions":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/definitions/b"}]},"b":{"not":{"$ref":"#/definitions/a"}}}}`, `/definitions/a | "$ref" leads back to this schema without entering a property or an item, so it would never end`},
		{"circle of dependencies", `{"type":"object","dependencies":{"a":{"$ref":"#"}}}`, ` | "$ref" leads back to this schema without entering a property or an item, so it would never end`},
		{"name twice", `{"definitions":{"a":{"$id":"#x"},"b":{"$id":"#x"}}}`, `/definitions/b | "$id": "#x" is used twice`},
		{"address and name", `{"$id":"http://example.com/s#x"}`, ` | "$id" must be an address without a fragment, or "#" and a name`},
		{"no address", `{"$id":"http://[::1"}`, ` | "$id" must be a URI reference`},
		{"id of another type", `{"$id":1}`, ` | "$id" must be a string`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, []string{tt.want}, problems(t, tt.schema))
		})
	}
}
