package property

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

const declaration = `{"name":{"type":"string"},"count":{"type":"number"},"loud":{"type":"boolean"},
	"tag":{"type":"array","items":{"type":"string"}},"ids":{"type":"array","items":{"type":["integer","null"]},"maxItems":2},
	"either":{"anyOf":[{"type":"string"},{"type":"number"}]},"inner":{"type":"object"},"kept":{"type":"string","default":"d"}}`

func text(s string) *string { return &s }

func TestSources(t *testing.T) {
	for _, row := range []struct {
		name string
		from Sources
		want string // JSON, or the fault
	}{
		{"nothing", Sources{}, `{}`},
		{"an option", Sources{Words: []Word{{"--props-name", "Ada"}}}, `{"name":"Ada"}`},
		{"an empty value is given", Sources{Words: []Word{{"--props-name", ""}}}, `{"name":""}`},
		{"a repeated scalar: the last", Sources{Words: []Word{{"--props-count", "no number"}, {"--props-count", "7"}}}, `{"count":7}`},
		{"a repeated list: all, as written", Sources{Words: []Word{{"--props-tag", "b"}, {"--props-name", "x"}, {"--props-tag", "a"}}}, `{"name":"x","tag":["b","a"]}`},
		{"JSON in a list option is one element", Sources{Words: []Word{{"--props-tag", `["a"]`}}}, `{"tag":["[\"a\"]"]}`},
		{"elements are decoded", Sources{Words: []Word{{"--props-ids", "1"}, {"--props-ids", "null"}}}, `{"ids":[1,null]}`},
		{"a switch", Sources{Words: []Word{{"--props-loud", "true"}}}, `{"loud":true}`},
		{"a switch, off", Sources{Words: []Word{{"--props-loud", "false"}}}, `{"loud":false}`},
		{"text where text is accepted", Sources{Words: []Word{{"--props-name", "7"}, {"--props-either", "7"}}}, `{"name":"7","either":"7"}`},
		{"an aggregate, as it is", Sources{Aggregate: text(`{"inner":{"x":[1]},"count":"seven","undeclared":null}`)}, `{"count":"seven","inner":{"x":[1]},"undeclared":null}`},
		{"variables", Sources{Env: map[string]string{"XMD_PROPS_NAME": "", "XMD_PROPS_TAG": `["a"]`, "XMD_PROPS_NOBODY": "x", "NAME": "y"}}, `{"name":"","tag":["a"]}`},
		{"all four, in order", Sources{
			Words: []Word{{"--props-name", "option"}}, Aggregate: text(`{"name":"aggregate","either":"aggregate"}`),
			Env: map[string]string{"XMD_PROPS_NAME": "v", "XMD_PROPS_EITHER": "v", "XMD_PROPS_COUNT": "1", "XMD_PROPS": `{"name":"all","either":"all","count":2,"kept":"all"}`},
		}, `{"name":"option","count":1,"either":"aggregate","kept":"all"}`},
		{"what is wrong behind the first is not looked at", Sources{
			Words: []Word{{"--props-count", "1"}}, Aggregate: text(`{"loud":true}`), Env: map[string]string{"XMD_PROPS_COUNT": "many", "XMD_PROPS_LOUD": "maybe"},
		}, `{"count":1,"loud":true}`},

		{"no such property", Sources{Words: []Word{{"--props-nmae", "x"}}}, "--props-nmae is no property this document declares; it declares --props-name, --props-count, " +
			"--props-loud, --props-tag, --props-ids, --props-either, --props-kept, inner (in --props JSON)"},
		{"one that only JSON gives", Sources{Words: []Word{{"--props-inner", "{}"}}}, "--props-inner is no property"},
		{"no number", Sources{Words: []Word{{"--props-count", "many"}}}, `--props-count: "many" does not fit: must be number`},
		{"a number that is none in JSON", Sources{Words: []Word{{"--props-count", "0x10"}}}, `--props-count: "0x10" does not fit`},
		{"of another type", Sources{Words: []Word{{"--props-count", "true"}}}, "--props-count: must be number"},
		{"an element", Sources{Words: []Word{{"--props-ids", "1.5"}}}, "--props-ids: must be integer,null"},
		{"too many elements", Sources{Words: []Word{{"--props-ids", "1"}, {"--props-ids", "2"}, {"--props-ids", "3"}}}, "--props-ids: must NOT have more than 2 items"},
		{"an invalid higher source never falls back", Sources{Words: []Word{{"--props-count", "many"}}, Aggregate: text(`{"count":1}`)}, `--props-count: "many"`},
		{"a variable", Sources{Env: map[string]string{"XMD_PROPS_LOUD": ""}}, `XMD_PROPS_LOUD: "" does not fit`},
		{"a variable of a list", Sources{Env: map[string]string{"XMD_PROPS_TAG": "a"}}, "XMD_PROPS_TAG: it must be a JSON array"},
		{"an aggregate", Sources{Aggregate: text("{oops")}, "--props: it must be a JSON object: "},
		{"an aggregate of another kind", Sources{Aggregate: text("[]")}, "--props: it must be a JSON object, not array"},
		{"the aggregate variable", Sources{Env: map[string]string{"XMD_PROPS": ""}}, "XMD_PROPS: it must be a JSON object: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := derived(t, declaration).Collect(row.from)
			if err != nil {
				require.IsType(t, new(Fault), err)
				require.Nil(t, got)
				require.Contains(t, err.Error(), row.want)
				return
			}
			json, err := value.JSON(got)
			require.NoError(t, err)
			require.Equal(t, row.want, json)
		})
	}
}

// Whether an aggregate nobody would read from matters is said by who asks.
func TestMalformedAggregates(t *testing.T) {
	given := []Word{{"--props-name", "Ada"}}
	only := derived(t, `{"name":{"type":"string"}}`)
	for _, row := range []struct {
		from Sources
		says string
	}{
		{Sources{Words: given, Aggregate: text("{oops")}, "--props: it must be a JSON object"},
		{Sources{Words: given, Env: map[string]string{"XMD_PROPS": "3"}}, "XMD_PROPS: it must be a JSON object, not number"},
		{Sources{Words: given, Aggregate: text("{oops"), Env: map[string]string{"XMD_PROPS": "3"}}, "--props: "},
	} {
		props, err := only.Collect(row.from)
		require.NoError(t, err)
		require.Equal(t, value.Of("name", "Ada"), props)
		err = row.from.Malformed()
		require.IsType(t, new(Fault), err)
		require.ErrorContains(t, err, row.says)

		row.from.Words = nil
		_, err = only.Collect(row.from)
		require.ErrorContains(t, err, row.says)
		_, err = derived(t, `{}`).Collect(row.from) // no property would be read from it
		require.ErrorContains(t, err, row.says)
	}
	require.NoError(t, Sources{Words: given, Aggregate: text("{}"), Env: map[string]string{"XMD_PROPS": "{}"}}.Malformed())
}
