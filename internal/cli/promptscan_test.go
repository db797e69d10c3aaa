package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/plan"
)

func scanned(args ...string) (*promptLine, error) {
	return scanPrompt(args, new(promptSettings).flags())
}

func TestPR1_AcceptedLines(t *testing.T) {
	aggregate := `{"name":"Ada"}`
	for _, c := range []struct {
		args []string
		want promptLine
	}{
		{[]string{"write a greeting"}, promptLine{request: "write a greeting"}},
		{[]string{"  spaced\n"}, promptLine{request: "  spaced\n"}},
		{[]string{"--", "--not-an-option"}, promptLine{request: "--not-an-option"}},
		{[]string{"--raw", "--", "--help"}, promptLine{request: "--help", fixed: []string{"--raw"}}},
		{[]string{"-"}, promptLine{request: "-"}},
		{[]string{"--props", aggregate, "r"}, promptLine{request: "r", aggregate: &aggregate}},
		{[]string{"r", "--props=" + aggregate}, promptLine{request: "r", aggregate: &aggregate}},
		{[]string{"--props", "--raw", "r"}, promptLine{request: "r", aggregate: new("--raw")}},
		{[]string{"--props", "first", "r", "--props="}, promptLine{request: "r", aggregate: new("")}},
		{[]string{"--save", "out.md", "--session", "ada", "r"}, promptLine{request: "r", fixed: []string{"--save", "out.md", "--session", "ada"}}},
		{[]string{"--save", "--raw", "r"}, promptLine{request: "r", fixed: []string{"--save", "--raw"}}},
		{[]string{"-j", "t.jsonl", "r", "-V"}, promptLine{request: "r", fixed: []string{"-j", "t.jsonl", "-V"}}},
		{[]string{"r", "--props-name", "Ada", "--props-loud", "--raw", "--include", "lib"}, promptLine{
			request: "r", fixed: []string{"--raw", "--include", "lib"},
			words: []plan.Word{{Option: "--props-name", Value: "Ada", Form: plan.Provisional}, {Option: "--props-loud", Form: plan.Bare}},
		}},
		{[]string{"r", "--props-name=-Ada"}, promptLine{request: "r", words: []plan.Word{{Option: "--props-name", Value: "-Ada", Form: plan.Inline}}}},
		{[]string{"r", "--props-name", "-Ada"}, promptLine{request: "r", words: []plan.Word{{Option: "--props-name", Value: "-Ada", Form: plan.Provisional}}}},
		{[]string{"r", "--props-n", "-5"}, promptLine{request: "r", words: []plan.Word{{Option: "--props-n", Value: "-5", Form: plan.Provisional}}}},
		{[]string{"r", "--props-name=--raw"}, promptLine{request: "r", words: []plan.Word{{Option: "--props-name", Value: "--raw", Form: plan.Inline}}}},
		{[]string{"r", "--props-name="}, promptLine{request: "r", words: []plan.Word{{Option: "--props-name", Form: plan.Inline}}}},
		{[]string{"r", "--props-name", ""}, promptLine{request: "r", words: []plan.Word{{Option: "--props-name", Form: plan.Provisional}}}},
		{[]string{"r", "--props-name", "--"}, promptLine{request: "r", words: []plan.Word{{Option: "--props-name", Form: plan.Bare}}}},
		{[]string{"r", "--props-a", "--no-props-b=x", "--help"}, promptLine{request: "r", help: true, words: []plan.Word{{Option: "--props-a", Form: plan.Bare}}}},
		{[]string{"r", "--props-tag", "a", "--props-tag", "b"}, promptLine{request: "r", words: []plan.Word{
			{Option: "--props-tag", Value: "a", Form: plan.Provisional}, {Option: "--props-tag", Value: "b", Form: plan.Provisional}}}},
		{[]string{"r", "--props-loud", "true"}, promptLine{request: "r", words: []plan.Word{{Option: "--props-loud", Value: "true", Form: plan.Provisional}}}},
		{[]string{"--help", "--save", "out.md"}, promptLine{help: true, fixed: []string{"--save", "out.md"}}},
		{[]string{"--plan", "x", "--nope", "-h"}, promptLine{help: true, request: "x"}},
		{[]string{"--props-name", "Ada", "r", "--help"}, promptLine{help: true, request: "r"}},
		{[]string{"--save", "--help", "r"}, promptLine{request: "r", fixed: []string{"--save", "--help"}}},
	} {
		line, err := scanned(c.args...)
		require.NoError(t, err, "%q", c.args)
		require.Equal(t, c.want, *line, "%q", c.args)
	}
}

func TestPR1_RefusedLines(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "one request"},
		{[]string{""}, "non-whitespace"},
		{[]string{" \t\n\u00a0\u2003"}, "non-whitespace"},
		{[]string{"r\xff"}, "UTF-8"},
		{[]string{"a", "b"}, `unexpected argument "b"`},
		{[]string{"--", "a", "b"}, `unexpected argument "b"`},
		{[]string{"r", "-5"}, "-5"},
		{[]string{"--props-name", "Ada", "r"}, "--props-name must follow the request"},
		{[]string{"--props-name=Ada", "r"}, "--props-name must follow the request"},
		{[]string{"--props-name", "Ada", "--nope"}, "--props-name must follow the request"},
		{[]string{"r", "--no-props-loud"}, "no negated form"},
		{[]string{"r", "--no-props"}, "no negated form"},
		{[]string{"r", "-e", "# x"}, "--eval belongs to xmd run"},
		{[]string{"r", "--eval=# x"}, "--eval belongs to xmd run"},
		{[]string{"r", "--plan", "p.md"}, "--plan is no option"},
		{[]string{"r", "--plan-eval"}, "--plan-eval is no option"},
		{[]string{"r", "--output", "o"}, "--output is no option"},
		{[]string{"r", "--json"}, "--json is no option"},
		{[]string{"r", "--journa", "o"}, "did you mean --journal"},
		{[]string{"r", "--session"}, "--session needs a name"},
		{[]string{"r", "--save"}, "--save needs a path"},
		{[]string{"r", "--props"}, "--props needs a JSON object"},
		{[]string{"r", "--include"}, "--include needs a value"},
		{[]string{"r", "--secret-detection=false"}, "takes no value"},
		{[]string{"r", "--raw=true"}, "takes no value"},
		{[]string{"r", "--help=false"}, "takes no value"},
		{[]string{"r", "--agent-provider", "--raw"}, "--agent-provider needs a name"},
	} {
		_, err := scanned(c.args...)
		require.ErrorContains(t, err, c.want, "%q", c.args)
		require.Equal(t, exitUsage, status(err))
	}
}

// TestPR1_ScanReadsEveryWordOnce: a long line is told apart in time in proportion to its length.
func TestPR1_ScanReadsEveryWordOnce(t *testing.T) {
	args := []string{"r"}
	for range 50_000 {
		args = append(args, "--props-a", "x", "--raw")
	}
	line, err := scanned(args...)
	require.NoError(t, err)
	require.Len(t, line.words, 50_000)
	require.Len(t, line.fixed, 50_000)
}

func FuzzPromptScan(f *testing.F) {
	f.Add("r", "--props-a", "--help", "--")
	f.Add("--save", "--help", "x", "--props=")
	f.Add("--no-props-a", "-h", "", "-=")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		line, err := scanned(a, b, c, d)
		if err == nil && !line.help {
			require.NotEmpty(t, line.request)
		}
		again, err2 := scanned(a, b, c, d)
		require.Equal(t, line, again)
		require.Equal(t, err, err2)
	})
}
