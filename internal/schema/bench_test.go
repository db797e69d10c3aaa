package schema_test

import (
	"testing"

	"github.com/executable-markdown/xmd/internal/schema"
)

const benchProps = `{"name":{"type":"string","minLength":1},"times":{"type":"integer","minimum":1,"default":1},
"style":{"type":"object","properties":{"tone":{"enum":["warm","cool"],"default":"warm"},"tags":{"type":"array","items":{"type":"string","pattern":"^[a-z]+$"}}},"additionalProperties":false}}`

func BenchmarkCompile(b *testing.B) {
	declaration, required := parse(b, benchProps), []any{"name"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Props(declaration, required, true); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	s, err := schema.Props(parse(b, benchProps), []any{"name"}, true)
	if err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct{ name, value string }{
		{"valid", `{"name":"Ada","times":2,"style":{"tone":"cool","tags":["a","b","c"]}}`},
		{"invalid", `{"times":"2","style":{"tone":"loud","tags":["a","B"]},"x":1}`},
	} {
		v := parse(b, bench.value)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Validate(v)
			}
		})
	}
}

func BenchmarkFill(b *testing.B) {
	s, err := schema.Props(parse(b, benchProps), []any{"name"}, true)
	if err != nil {
		b.Fatal(err)
	}
	v := parse(b, `{"name":"Ada","style":{"tags":["a"]}}`)
	b.ReportAllocs()
	for b.Loop() {
		s.Fill(v)
	}
}

// BenchmarkExhausted is the longest a hostile schema can keep a validation busy.
func BenchmarkExhausted(b *testing.B) {
	s, err := schema.Compile(parse(b, `{"definitions":{
		"a":{"oneOf":[{"$ref":"#/definitions/b"},{"$ref":"#/definitions/b"},{"$ref":"#/definitions/b"},{"$ref":"#/definitions/b"}]},
		"b":{"anyOf":[{"$ref":"#/definitions/c"},{"$ref":"#/definitions/c"},{"$ref":"#/definitions/c"},{"$ref":"#/definitions/c"}]},
		"c":{"type":"array","items":{"$ref":"#/definitions/a"}}
	},"$ref":"#/definitions/a"}`))
	if err != nil {
		b.Fatal(err)
	}
	v := []any{1.0}
	for range 20 {
		v = []any{v, v}
	}
	for b.Loop() {
		s.Validate(v)
	}
}
