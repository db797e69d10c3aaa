package component

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/engine"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`<Parse schema={{ type: "object", properties: { a: { type: "integer" } } }} as="v"> {"a": 1, "b": [2]} </Parse>{v.a} {v.b}`, "1 2"},
		{`<Parse schema="{}" as="v">null</Parse>{v}`, "null"},
		{`<Parse schema={{ type: "object", properties: { a: { type: "integer", default: 1 } } }} as="v">{}</Parse><Json value={v} />`, "{}"},
		{`<Parse schema={{ type: "string", format: "email" }} as="v">"no"</Parse>{v}`, "no"},
		{`<Parse schema={{ type: "object" }} as="v"><Json value={{ a: 1 }} /></Parse>{v.a}`, "1"},
		{`<SafeParse schema={{ type: "integer" }} as="r">7</SafeParse><Json value={r} />`, "{\n  \"ok\": true,\n  \"value\": 7\n}"},
		{`<SafeParse schema={{ type: "integer" }} as="r"> "7"</SafeParse>{r.ok} [{r.input}] {r.errors.0}`, `false [ "7"] {r.errors.0}`},
	} {
		require.Equal(t, c.want, run(t, c.source, world{}).ok(t), c.source)
	}
}

func TestParseFailures(t *testing.T) {
	for _, c := range []struct{ source, message string }{
		{`<Parse schema={{}} as="v">{oops</Parse>`, "<Parse> was given content that is not JSON:\n  - (root) not JSON at byte 1"},
		{`<Parse schema={{}} as="v">{"a":1,"a":2}</Parse>`, "<Parse> was given content that is not JSON:\n  - (root) the JSON text names a member twice"},
		{`<Parse schema={{}} as="v" />`, "<Parse> was given content that is not JSON:\n  - (root) the JSON text ends too early"},
		{`<Parse schema={{ type: "object", properties: { a: { type: "integer" }, b: { type: "string" } }, required: ["b"] }} as="v">{"a": "x"}</Parse>`,
			"<Parse> was given content its schema refuses:\n  - \"/b\" must have required property 'b'\n  - \"/a\" must be integer"},
	} {
		o := run(t, c.source+"{v}", world{})
		require.NoError(t, o.Err)
		require.Equal(t, 1, o.Printed)
		require.Contains(t, o.Output, "{v}", "nothing is bound")
		for _, line := range strings.Split(c.message, "\n") {
			require.Contains(t, o.Output, line)
		}
	}
	o := run(t, `<SafeParse schema={{}} as="r">nope</SafeParse><Json value={r} />`, world{})
	require.Equal(t, `{
  "ok": false,
  "input": "nope",
  "errors": [
    {
      "instancePath": "",
      "schemaPath": "",
      "keyword": "parse",
      "params": {},
      "message": "not JSON at byte 1"
    }
  ]
}`, o.ok(t))
	o = run(t, `<SafeParse schema={{ type: "array", items: { type: "integer" } }} as="r">[1, "a"]</SafeParse><Json value={r.errors} />`, world{})
	require.Equal(t, `[
  {
    "instancePath": "/1",
    "schemaPath": "#/items/type",
    "keyword": "type",
    "params": {
      "type": "integer"
    },
    "message": "must be integer"
  }
]`, o.ok(t))
}

// The issues of a refused value travel with the error.
func TestParseIssues(t *testing.T) {
	o := run(t, "---\nreturns: { type: number }\n---\n<Parse schema={{ type: \"integer\" }} as=\"v\">\"x\"</Parse><Return value={1} />", world{})
	var e *engine.Error
	require.ErrorAs(t, o.Err, &e)
	require.Len(t, e.Issues, 1)
	require.Equal(t, "type", e.Issues[0].Keyword)
	require.Equal(t, "Parse", e.Component)
}

// A schema that cannot be used is refused before the content expands, by Parse,
// SafeParse and Elicit alike.
func TestSchemaRefusals(t *testing.T) {
	for _, c := range []struct{ schema, says string }{
		{`{true}`, "must be an object"},
		{`{1}`, "must be an object"},
		{`"true"`, "must be an object"},
		{`"{nope"`, "a schema in a string, which must be JSON text"},
		{`{{ type: "nope" }}`, `"type" must be one of`},
		{`{{ $async: true }}`, `"$async" is not supported`},
		{`{{ $ref: "http://example.com/s" }}`, "leaves the schema; a reference must stay inside it"},
		{`{{ $ref: "other.json#/a" }}`, "leaves the schema"},
		{`{{ exampel: 1 }}`, "exampel"},
	} {
		for _, name := range []string{"Parse", "SafeParse", "Elicit"} {
			asked := &person{answers: []any{1.0}}
			o := run(t, "<PrintErrors><"+name+" schema="+c.schema+` as="v"><Mark />1</`+name+">{v}</PrintErrors>", world{elicitor: asked})
			require.NoError(t, o.stopped)
			require.Equal(t, 1, o.Printed, "%s %s: %s", name, c.schema, o.Output)
			require.Contains(t, o.Output, "<!-- ERROR: <"+name+">")
			require.Contains(t, o.Output, c.says)
			require.Contains(t, o.Output, "{v}")
			require.Empty(t, o.marks)
			require.Empty(t, asked.questions)
		}
	}
}

// A failure of the content is nobody's to absorb.
func TestParseContentFails(t *testing.T) {
	for _, name := range []string{"Parse", "SafeParse"} {
		o := run(t, "<"+name+` schema={{}} as="v">1<Fail message="no" /></`+name+"><Mark />", world{})
		o.failed(t, "no")
		require.Empty(t, o.marks)
		o = run(t, "<PrintErrors><"+name+` schema={{}} as="v">1<Fail message="no" /></`+name+">{v}</PrintErrors>", world{})
		o.printed(t, "no")
		require.Contains(t, o.Output, "{v}")
	}
}
