package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/schema"
)

func TestLines(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"a/b":{"type":"string"},"o":{"type":"object","properties":{"x\n~":{}},"required":["x\n~"]}},"additionalProperties":false,"dependencies":{"o":["d"]},"maxProperties":2}`)
	require.Equal(t, `  - (root) must NOT have more than 2 properties
  - "/d" must have property d when property o is present
  - "/a~1b" must be string
  - "/o/x\n~0" must have required property 'x\u000a~'
  - "/\"z" must NOT have additional properties`, schema.Lines(s.Validate(parse(t, `{"a/b":1,"o":{},"\"z":0}`))))
	require.Equal(t, "", schema.Lines(nil))
}

func TestIssueJSON(t *testing.T) {
	list := compile(t, `{"type":"array","items":{"type":"number"}}`).Validate(parse(t, `["x"]`))
	require.Len(t, list, 1)
	require.Equal(t, `{"instancePath":"/0","schemaPath":"#/items/type","keyword":"type","params":{"type":"number"},"message":"must be number"}`, jsonText(t, list[0].JSON()))
}
