package scenario_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/agent"
	"github.com/executable-markdown/xmd/agent/scenario"
)

func TestStrictness(t *testing.T) {
	stage := func(s string) string { return "version: 1\nsessions:\n  \"\":\n    - " + s + "\n" }
	do := func(s string) string { return stage("{prompt: {any: true}, do: [" + s + "]}") }
	for _, c := range []struct{ name, text, err string }{
		{"empty", "", "s:1:1: the scenario is empty"},
		{"no version", "sessions: {}", "s:1:11: sessions is empty"},
		{"version", "version: 2", "s:1:10: version must be"},
		{"missing version", "sessions: {a: []}", "s:1:1: the scenario has no version"},
		{"no sessions", "version: 1", "s:1:1: the scenario has no sessions"},
		{"unknown key", "version: 1\nfoo: 1", `s:2:1: the scenario has the unknown key "foo"`},
		{"duplicate key", "version: 1\nversion: 1", `twice`},
		{"duplicate JSON key", "{\"version\": 1,\n  \"version\": 1}", `s:2:3: the scenario has the key "version" twice`},
		{"unknown JSON key", "{\"version\": 1,\n \"x\": [\"é\"]}", `s:2:2: the scenario has the unknown key "x"`},
		{"invalid", "version: [", "s:1:1: the scenario is not valid YAML"},
		{"second document", "version: 1\n---\nversion: 1", "second document"},
		{"alias", "version: &a 1", "anchor"},
		{"tag", "version: !!int 1", "tag"},
		{"not UTF-8", "version: \xff", "not UTF-8"},
		{"deep", strings.Repeat("[", 200) + strings.Repeat("]", 200), "nested deeper"},
		{"agent", "version: 1\nagent: {name: 1}", "s:2:15: name is not text"},
		{"hang and error", "version: 1\nnew: {hang: true, error: {code: 1, message: m}}", "never sent"},
		{"hang false", "version: 1\nclose: {hang: false}", "can only be true"},
		{"sessions behind initialize", "version: 1\ninitialize: {hang: true}\nsessions: {a: []}", "s:3:1: no session is reached"},
		{"no prompt", stage("{do: []}"), "s:4:7: a stage has no prompt"},
		{"two matchers", stage("{prompt: {any: true, equals: x}}"), "one of equals, contains and any"},
		{"empty contains", stage("{prompt: {contains: []}}"), "empty list"},
		{"capture without as", stage(`{prompt: "{?x}"}`), "as: NAME"},
		{"as without capture", stage(`{prompt: x, as: y}`), "s:4:23: as names captures"},
		{"as twice", stage(`{prompt: "{?x}", as: y}`) + `    - {prompt: "{?x}", as: y}`, "called \"y\" already"},
		{"bad as", stage(`{prompt: "{?x}", as: 1y}`), "must be a name"},
		{"adjacent holes", stage(`{prompt: "{?x}{?y}", as: z}`), "no text between"},
		{"bad capture", stage(`{prompt: "{?}", as: z}`), "begins a capture"},
		{"unresolved in prompt", stage(`{prompt: "{a.b}"}`), "s:4:16: prompt uses {a.b}"},
		{"own capture in prompt", stage(`{prompt: "{?b}x{a.b}", as: a}`), "prompt uses {a.b}"},
		{"unresolved in say", do(`{say: "{a.b}"}`), "say uses {a.b}"},
		{"capture in say", do(`{say: "{?b}"}`), "only a prompt can"},
		{"unreachable step", do(`{fail: x}, {say: y}`), "this step is never reached"},
		{"unreachable stop", stage(`{prompt: x, do: [{fail: x}], stop: end_turn}`), "stop is never reached"},
		{"unreachable stage", do(`{crash: 1}`) + "    - {prompt: x}\n", "s:5:7: this stage is never reached"},
		{"unreachable after hang", do(`{hang: true}`) + "    - {prompt: x}\n", "s:5:7: this stage is never reached"},
		{"unreachable branch", do(`{permission: {toolCall: t, options: [], on: {z: []}}}`), "never reached"},
		{"expected nothing offered", do(`{permission: {toolCall: t, options: [], expect: {selected: z}}}`), "no option of the request"},
		{"unknown step", do(`{sing: x}`), "s:4:35: there is no step \"sing\""},
		{"two steps", do(`{say: x, fail: y}`), "exactly one key"},
		{"delay", do(`{delay: -1s}`), "must be a duration"},
		{"hours", do(`{delay: 1h}`), "must be a duration"},
		{"raw lines", do(`{raw: "a\nb"}`), "one line"},
		{"garbage", do(`{garbage: 0}`), "whole number from 1"},
		{"release", do(`{waitRelease: ../x}`), "waitRelease must be a name"},
		{"file", do(`{say: {file: ../x}}`), "stays beside"},
		{"missing file", do(`{say: {file: x}}`), `the file "x" cannot be read`},
		{"expectError", do(`{request: {method: m, expectError: 5}}`), "whole number"},
		{"write", do(`{write: {path: x, content: y}}`), "s:4:35: the step write reaches the machine"},
		{"read", do(`{read: {path: x}}`), "the step read reaches"},
		{"spawn", do(`{spawn: {argv: [x]}}`), "the step spawn reaches"},
		{"not JSON", do(`{request: {method: m, params: {a: 0x1}}}`), "JSON cannot say"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := scenario.Parse("s", []byte(c.text), scenario.ParseOptions{
				File: func(string) ([]byte, error) { return nil, fs.ErrNotExist }})
			require.ErrorContains(t, err, c.err)
			var at *scenario.FileError
			require.ErrorAs(t, err, &at)
		})
	}
}

func TestJSONAndYAMLMeanTheSame(t *testing.T) {
	for _, text := range []string{
		"version: 1\nsessions:\n  \"\":\n  - prompt: \"a {?x}\"\n    as: s\n    do: [{say: \"{s.x} \\U0001F600\"}]\n",
		`{"version":1,"sessions":{"":[{"prompt":"a {?x}","as":"s","do":[{"say":"{s.x} \ud83d\ude00"}]}]}}`,
	} {
		require.Equal(t, []string{"b \U0001F600|end_turn"}, inProcess(t, parse(t, text, scenario.ParseOptions{}), []string{"a b"}).Turns)
	}
}

func TestFilesAreSaidByteForByte(t *testing.T) {
	const text = "version: 1\nsessions: {\"\": [{prompt: x, do: [{say: {file: d/a.md}}]}]}"
	read := func(content string) *scenario.Scenario {
		return parse(t, text, scenario.ParseOptions{File: func(name string) ([]byte, error) {
			require.Equal(t, "d/a.md", name)
			return []byte(content), nil
		}})
	}
	s := read("{a.b} {?c}\r\n")
	require.Equal(t, []string{"{a.b} {?c}\r\n|end_turn"}, inProcess(t, s, []string{"x"}).Turns)
	require.NotEqual(t, s.Digest(), read("other").Digest())
}

func TestTemplates(t *testing.T) {
	for _, c := range []struct{ template, prompt, want string }{
		{"{?a}", "", "!"},
		{"{?a}", "é\n", "é\n"},
		{"{?a},{?b}", "x,y,z", "x/y,z"},
		{"{?a},{?b}", ",,z", ",/z"},
		{"<{?a}>", "<x>y>", "x>y"},
		{"<{?a}>", "<>", "!"},
		{"<{?a}>", "<x> ", "!"},
		{"{?a}-{?a}", "x-x", "x"},
		{"{?a}-{?a}", "x-y-x-y", "x-y"},
		{"{?a}-{?a}", "x-y", "!"},
		{"{?a}:{?b};{?a}", "1:2:3;1:2", "1:2/3"},
		{"{ a } {b} {}{?a}", "{ a } {b} {}z", "z"},
		{"é{?a}é", "ééé", "é"},
	} {
		t.Run(c.template+" "+c.prompt, func(t *testing.T) {
			say := "{s.a}"
			if strings.Contains(c.template, "{?b}") {
				say += "/{s.b}"
			}
			s := parse(t, "version: 1\nsessions: {\"\": [{prompt: \""+c.template+"\", as: s, do: [{say: \""+say+"\"}]}]}", scenario.ParseOptions{})
			got := inProcess(t, s, []string{c.prompt}).Turns[0]
			if c.want == "!" {
				require.Contains(t, got, "scenario mismatch at stage 1")
				return
			}
			require.Equal(t, c.want+"|end_turn", got)
		})
	}
}

// A template that may go back gives up instead of taking for ever.
func TestMatchingIsBounded(t *testing.T) {
	s := parse(t, `{"version":1,"sessions":{"":[{"prompt":"{?a}a{?b}a{?c}a{?d}a{?e}a{?a}x{?b}x","as":"s"}]}}`, scenario.ParseOptions{})
	got := inProcess(t, s, []string{strings.Repeat("a", 2000)}).Turns[0]
	require.Contains(t, got, "scenario mismatch")
}

func FuzzParse(f *testing.F) {
	f.Add(everyStep)
	f.Add(`{"version":1,"sessions":{"*":[]}}`)
	f.Add("version: 1\nsessions: {\"\": [{prompt: \"{?a}{b\", as: a}]}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scenario.Parse("s", []byte(text), scenario.ParseOptions{})
		if err != nil {
			var at *scenario.FileError
			require.ErrorAs(t, err, &at)
			return
		}
		require.Len(t, s.Digest(), 64)
	})
}

func FuzzTemplate(f *testing.F) {
	f.Add("a {?x} b {?y}", "a 1 b 2")
	f.Add("{?x}-{?x}", "a-a")
	f.Fuzz(func(t *testing.T, template, prompt string) {
		quoted, ok := jsonText(template)
		if !ok {
			return
		}
		for _, as := range []string{"", `,"as":"s"`} {
			s, err := scenario.Parse("s", []byte(`{"version":1,"sessions":{"":[{"prompt":`+quoted+as+`}]}}`), scenario.ParseOptions{})
			if err != nil {
				continue
			}
			p := scenario.NewProvider(s, scenario.ProviderOptions{})
			_, end, err := take(t.Context(), p.Prompt(prompt, agent.PromptOptions{}))
			require.True(t, err != nil || end.Status == agent.Completed)
		}
	})
}
