package suite

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shownBy are the items of the coverage that one case shows.
func shownBy(t *testing.T, text string) []string {
	t.Helper()
	o := only(t, text)
	require.NotEmpty(t, o.Decision, "%v", o.Problems)
	var items []string
	for item, shown := range o.shows {
		if shown {
			items = append(items, item)
		}
	}
	slices.Sort(items)
	return items
}

// TestFeaturesAreTold: a fragment shows what it is made of and nothing else.
func TestFeaturesAreTold(t *testing.T) {
	const value = "Let value"
	for fragment, want := range map[string][]string{
		"text":                        nil,
		"<!-- a -->":                  {"comment"},
		"a `b` c":                     {"code span"},
		"a ` b":                       nil,
		"a `` b ` c `` d":             {"code span"},
		"```\na ` b ` c\n```":         {"code fence"},
		"~~~ x\na\n~~~~ \nb `c`":      {"code fence", "code span"},
		`\{a}`:                        {"escaped brace"},
		`<File path="a" />`:           {"File.read", "quoted prop"},
		`<File path={"a"} as="x" />`:  {"File.read", "as", "braced prop", "quoted prop", "string"},
		`<Let as="x" value />{x}`:     {value, "bare prop", "interpolation", "quoted prop"},
		"<Let as=\"x\" value />`{x}`": {value, "bare prop", "code span", "interpolation in a code span", "quoted prop"},
		"<Let as=\"x\" value />\n```\n{x}\n```\n":               {value, "bare prop", "code fence", "interpolation in a code fence", "quoted prop"},
		`<Let as="x">t</Let>`:                                   {"Let content", "quoted prop"},
		`<If condition>t<Else>e</Else></If>`:                    {"Else", "If", "bare prop"},
		`<Switch value><Case value>t</Case></Switch>`:           {"Case", "Switch", "bare prop"},
		`<Switch value><Case default>t</Case></Switch>`:         {"Case default", "Switch", "bare prop"},
		`<Each in={[]} let="x">t</Each>`:                        {"Each", "array", "braced prop", "quoted prop"},
		`<Each in={[]} let="x" as="y">t</Each>`:                 {"Each", "Each as", "array", "braced prop", "quoted prop"},
		`<Loop max={1}>t<Break /></Loop>`:                       {"Break", "Loop", "braced prop", "number"},
		`<Loop max={1 + 1} name="n">t</Loop>`:                   {"+", "Loop", "Loop max computed", "Loop name", "braced prop", "computed prop", "number", "quoted prop"},
		`<Answers><Answer value />t</Answers>`:                  {"Answer", "Answers", "bare prop"},
		`<Answers delegate><Answer value>t</Answer>t</Answers>`: {"Answer content", "Answers", "Answers delegate", "bare prop"},
		`<Answers><Answer template="a" value />t</Answers>`:     {"Answer template", "Answers", "bare prop", "quoted prop"},
		`<All><Spawn>t</Spawn><Spawn>t</Spawn></All>`:           {"All", "Spawn"},
		"<Json value={`a`} />":                                  {"Json", "braced prop", "string", "template"},
		"<Json value={`a${1}`} />":                              {"Json", "braced prop", "computed prop", "number", "string", "template", "template substitution"},
		`<Json value={[1 - 1]} />`:                              {"-", "Json", "array of computed values", "braced prop", "computed prop", "number"},
		`<Json value={{a: !null}} />`:                           {"Json", "braced prop", "computed prop", "null", "object of computed values", "unary !"},
		`<Json value={{}.a} />`:                                 {".member", "Json", "braced prop", "computed prop", "object"},
		`<Json value={[].length} />`:                            {".length", "Json", "array", "braced prop", "computed prop"},
		`<Json value={[][0]} />`:                                {"Json", "[index]", "array", "braced prop", "computed prop", "number"},
		`<Json value={[]?.[0]?.a} />`:                           {"?.[index]", "?.member", "Json", "array", "braced prop", "computed prop", "number"},
		`<Json value={true ? 1 : -"1"} />`:                      {"?:", "Json", "boolean", "braced prop", "computed prop", "number", "string", "unary -"},
		`<Json value={1 ?? 2} />`:                               {"??", "Json", "braced prop", "computed prop", "number"},
		`<Let as="x" value /><Json value={x} />`:                {"Json", value, "bare prop", "binding", "braced prop", "computed prop", "quoted prop"},
	} {
		require.ElementsMatch(t, want, shownBy(t, archive("fragment.md", fragment)), "%s", fragment)
	}
}

// TestRefusalsShowTheirClass: with the dialect they were refused in, and no feature.
func TestRefusalsShowTheirClass(t *testing.T) {
	require.Equal(t, []string{"block (closed)"}, shownBy(t, archive("fragment.md", "<!-- a -->\n```sh exec\n```")))
	require.Equal(t, []string{"component (flat)"}, shownBy(t, archive("profile.yaml", flatProfile, "fragment.md", "<Json value={1} />")))
}

// TestCeilingsAreTold: which ceiling refused or ended a fragment, and which it just
// met.
func TestCeilingsAreTold(t *testing.T) {
	limited := func(limits string) string { return "version: 1\nread: [{use: File}]\nlimits: {" + limits + "}\n" }
	paths := "version: 1\nread: [{use: File, paths: [\"docs/**\"]}]\nwrite: [{use: File, paths: [\"docs/**\", \"xmd.yaml\"]}]\n"
	fetch := "version: 1\nread: [{use: Fetch, requests: [{url: https://example.test/}]}]\n"
	all := map[string]bool{}
	for _, item := range ceilings() {
		all[item] = true
	}
	for name, r := range map[string]struct {
		text string
		want []string
	}{
		"paths":                            {archive("profile.yaml", paths, "fragment.md", `<File path="a" />`), []string{"paths"}},
		"spelling":                         {archive("profile.yaml", paths, "fragment.md", `<File path="../a" />`), nil},
		"control":                          {archive("allow", "write", "fragment.md", `<File path="xmd.yaml">t</File>`), []string{"control files"}},
		"control, also where it is stated": {archive("profile.yaml", paths, "allow", "write", "fragment.md", `<File path="xmd.yaml">t</File>`), []string{"control files"}},
		"control, delete":                  {archive("allow", "write", "fragment.md", `<File.Delete path="components/A.md" />`), []string{"control files"}},
		"control, dir":                     {archive("allow", "write", "fragment.md", `<Dir path="components">t</Dir>`), []string{"control files"}},
		"secret":                           {archive("fragment.md", `<File path="a.pem" />`), []string{"secret files"}},
		"request":                          {archive("profile.yaml", fetch, "fragment.md", `<Fetch url="https://example.test/x" />`), []string{"requests"}},
		"operators":                        {archive("fragment.md", `<Json value={0`+strings.Repeat("+1", 257)+`} />`), []string{"expression exceeded"}},
		"source over":                      {archive("profile.yaml", limited("source: 3"), "fragment.json", `"abcd"`), []string{"source exceeded"}},
		"source met":                       {archive("profile.yaml", limited("source: 4"), "fragment.json", `"abcd"`), []string{"source met"}},
		"source under":                     {archive("profile.yaml", limited("source: 5"), "fragment.json", `"abcd"`), nil},
		"elements over":                    {archive("profile.yaml", limited("elements: 1"), "fragment.md", `<Loop max={1}><Break /></Loop>`), []string{"elements exceeded"}},
		"elements met":                     {archive("profile.yaml", limited("elements: 2"), "fragment.md", `<Loop max={1}><Break /></Loop>`), []string{"elements met"}},
		"depth over":                       {archive("profile.yaml", limited("depth: 1"), "fragment.md", `<Json value={[[]]} />`), []string{"depth exceeded"}},
		"depth met":                        {archive("profile.yaml", limited("depth: 2"), "fragment.md", `<Json value={[[]]} />`), []string{"depth met"}},
		"output over":                      {archive("profile.yaml", limited("output: 2"), "fragment.md", `ab`, "results", "{}"), []string{"output exceeded"}},
		"output met":                       {archive("profile.yaml", limited("output: 3"), "fragment.md", `ab`, "results", "{}"), []string{"output met"}},
		"output, not evaluated":            {archive("profile.yaml", limited("output: 3"), "fragment.md", `ab`), nil},
		"time":                             {archive("profile.yaml", limited("time: 30s"), "fragment.md", `ab`, "results", "{}"), []string{"time met"}},
	} {
		var told []string
		for _, item := range shownBy(t, r.text) {
			if all[item] {
				told = append(told, item)
			}
		}
		require.Equal(t, r.want, told, name)
	}
}

// TestUncovered: what one case shows is missing no longer, and everything a marker can
// note is in the list.
func TestUncovered(t *testing.T) {
	r, err := Run(t.Context(), []*Case{
		Read("a", []byte(archive("fragment.md", "`a`", "want", "admitted"))),
		Read("b", []byte(archive("fragment.md", "<X />", "want", "refused: block"))), // it shows its class all the same
	}, nil)
	require.NoError(t, err)
	missing := r.Uncovered()
	require.NotContains(t, missing.Features, "code span")
	require.NotContains(t, missing.Classes, "component (closed)")
	require.Contains(t, missing.Classes, "component (flat)")
	require.Len(t, missing.Features, len(features())-1)
	require.Len(t, missing.Classes, len(classes())-1)
	require.Len(t, missing.Ceilings, len(ceilings()))

	listed := map[string]bool{}
	for _, item := range slices.Concat(classes(), features(), ceilings()) {
		require.False(t, listed[item], "%s is listed twice", item)
		listed[item] = true
	}
	for _, o := range r.Outcomes {
		for item := range maps.Keys(o.shows) {
			require.True(t, listed[item], item)
		}
	}
}
