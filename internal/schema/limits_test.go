package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// nested wraps a schema in levels of "not", which nests nothing else.
func nested(levels int) string {
	return strings.Repeat(`{"not":`, levels) + `{}` + strings.Repeat(`}`, levels)
}

func TestLevels(t *testing.T) {
	compile(t, nested(schema.MaxLevels-1))
	list := problems(t, nested(schema.MaxLevels))
	require.Len(t, list, 1)
	require.Contains(t, list[0], "schemas nest deeper than 64 levels")
}

func TestSubschemas(t *testing.T) {
	branches := func(n int) string {
		return `{"anyOf":[` + strings.TrimSuffix(strings.Repeat("true,", n), ",") + `]}`
	}
	compile(t, branches(schema.MaxSubschemas-1))
	list := problems(t, branches(10*schema.MaxSubschemas))
	require.Equal(t, []string{"/anyOf/9999 | the definition holds more than 10000 schemas"}, list)
}

// doubling is a schema in which every definition applies the next one twice.
func doubling(t *testing.T, keyword string, levels int, last string) any {
	t.Helper()
	definitions := value.NewObject(levels)
	for i := range levels {
		ref := value.Of("$ref", fmt.Sprintf("#/definitions/d%d", i+1))
		definitions.Set(fmt.Sprintf("d%d", i), value.Of(keyword, []any{ref, ref}))
	}
	definitions.Set(fmt.Sprintf("d%d", levels), parse(t, last))
	return value.Of("$ref", "#/definitions/d0", "definitions", definitions)
}

func requireLimit(t *testing.T, list []schema.Issue) {
	t.Helper()
	require.Len(t, list, 1)
	require.Equal(t, "limit", list[0].Keyword)
	require.Equal(t, "", list[0].InstancePath)
	require.Contains(t, list[0].Message, "10000000 steps")
}

// Doubling 300 times would take longer than the universe has; the steps end it.
func TestStepsEndExponentialWork(t *testing.T) {
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		t.Run(keyword, func(t *testing.T) {
			s, err := schema.Compile(doubling(t, keyword, 300, `{"type":"object","properties":{"a":{"default":1,"type":"string"}}}`))
			require.NoError(t, err)
			requireLimit(t, s.Validate(s.Fill(value.Of("a", 1.0))))
		})
	}
}

func TestStepsEndLongTexts(t *testing.T) {
	text := strings.Repeat("a", 1<<20)
	requireLimit(t, compile(t, `{"type":"string","pattern":"(a|b|c|d){900}$"}`).Validate(text+"e"))
	s := compile(t, `{"type":"array","items":{"type":"string","minLength":1}}`)
	list := make([]any, 400)
	for i := range list {
		list[i] = text
	}
	requireLimit(t, s.Validate(list))
}

// A definition may refer to itself through a default; filling it in never ends,
// and validating what was filled in says so.
func TestEndlessDefault(t *testing.T) {
	for _, definition := range []string{
		`{"type":"object","properties":{"next":{"$ref":"#","default":{}}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#","default":{}},"b":{"$ref":"#","default":{}}}}`,
	} {
		s := compile(t, definition)
		requireLimit(t, s.Validate(s.Fill(value.NewObject(0))))
	}
}

// What is too much to fill is too much to validate, even unfilled.
func TestLargeDefaultsCount(t *testing.T) {
	big := make([]any, 10_000)
	s, err := schema.Compile(value.Of("type", "array", "items",
		value.Of("type", "object", "properties", value.Of("a", value.Of("default", big)))))
	require.NoError(t, err)
	list := make([]any, 1000)
	for i := range list {
		list[i] = value.NewObject(0)
	}
	requireLimit(t, s.Validate(s.Fill(list)))
	require.Empty(t, s.Validate(s.Fill(list[:10])))
}

// A long chain of references, run through once a level of the value.
func TestNesting(t *testing.T) {
	const links = 5000
	definitions := value.NewObject(links)
	for i := range links {
		definitions.Set(fmt.Sprintf("d%d", i), value.Of("$ref", fmt.Sprintf("#/definitions/d%d", i+1)))
	}
	definitions.Set(fmt.Sprintf("d%d", links), parse(t, `{"type":"array","items":{"$ref":"#/definitions/d0"}}`))
	s, err := schema.Compile(value.Of("$ref", "#/definitions/d0", "definitions", definitions))
	require.NoError(t, err)
	require.Empty(t, s.Validate([]any{}))
	v := []any{}
	for range 400 {
		v = []any{v}
	}
	requireLimit(t, s.Validate(v))
}

// Large but honest values stay well inside the steps.
func TestLargeValues(t *testing.T) {
	list := make([]any, 100_000)
	for i := range list {
		list[i] = value.Of("id", float64(i), "tags", []any{"a", fmt.Sprint(i)})
	}
	s := compile(t, `{"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"id":{"type":"integer"},"tags":{"type":"array","items":{"type":"string","pattern":"^[a-z0-9]+$"}}},"required":["id"],"additionalProperties":false}}`)
	require.Empty(t, s.Validate(list))
}

// Every wrong item is an issue, and long paths do not multiply without end.
func TestManyIssues(t *testing.T) {
	list := make([]any, 20_000)
	s := compile(t, `{"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}}}`)
	require.Len(t, s.Validate(value.Of("a", list)), len(list))
	requireLimit(t, s.Validate(value.Of(strings.Repeat("k", 1<<20), list)))
}
