package suite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// only judges one case.
func only(t testing.TB, text string) Outcome {
	t.Helper()
	r, err := Run(t.Context(), []*Case{Read("case", []byte(text))}, nil)
	require.NoError(t, err)
	require.Len(t, r.Outcomes, 1)
	return r.Outcomes[0]
}

// archive writes a case: pairs of a member and its text.
func archive(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "-- %s --\n%s", pairs[i], ended(pairs[i+1]))
	}
	return b.String()
}

const flatProfile = "version: 1\ndialect: flat\nread: [{use: File}]\n"

func TestPasses(t *testing.T) {
	for name, text := range map[string]string{
		"admitted":           archive("fragment.md", `<File path="a" />`, "want", "admitted\nxmd.core/File.read@1"),
		"in source order":    archive("fragment.md", `<Glob include={["*"]} /><File path="a" />`, "want", "admitted\nxmd.core/Glob@1\nxmd.core/File.read@1"),
		"refused":            archive("fragment.md", "```sh exec\nid\n```", "want", "refused: block"),
		"with a profile":     archive("profile.yaml", flatProfile, "fragment.md", `<Json value={1} />`, "want", "refused: component"),
		"with write":         archive("allow", "write, read", "fragment.md", `<File path="a">t</File>`, "want", "admitted\nxmd.core/File.write@1"),
		"exact bytes":        archive("fragment.json", `["a", 255]`, "want", "refused: encoding"),
		"a JSON string":      archive("fragment.json", `"\ufeff"`, "want", "refused: encoding"),
		"blank lines at end": archive("fragment.md", "t", "want", "admitted\n\n"),
		"evaluated":          archive("fragment.md", "a\nb", "results", "{}", "want", "admitted", "want/output", "a\nb"),
		"without a line end": archive("fragment.json", `"a"`, "results", "{}", "want", "admitted", "want/output", "a"),
		"output as JSON":     archive("fragment.json", `"a"`, "results", "{}", "want", "admitted", "want/output.json", ` "\u0061" `),
		"a read": archive("fragment.md", `<File path="a" />`, "results", `{"File.read": ["text"]}`,
			"want", "admitted\nxmd.core/File.read@1", "want/output", "text\n", "want/effects", `xmd.core/File.read@1 {"path":"a"}`),
		"a failure": archive("fragment.md", `<File path="a" />`, "results", `{"File.read": [{"error": "gone"}]}`,
			"want", "admitted\nxmd.core/File.read@1", "want/effects", `xmd.core/File.read@1 {"path":"a"}`, "want/failure", "operation"),
		"an authored one": archive("fragment.md", `<Fail message="-- no --" />`, "results", `{}`,
			"want", "admitted\nxmd.core/Fail@1", "want/failure", `fail: "-- no --"`),
		"a value that looks like an error": archive("allow", "write", "fragment.md", `<Elicit schema={{}} as="a">Q</Elicit><Json value={a} />`,
			"results", `{"Elicit.ask": [{"value": {"error": "e"}}]}`, "want", "admitted\nxmd.core/Elicit.ask@1\nxmd.core/Json@1",
			"want/output", "{\n  \"error\": \"e\"\n}", "want/effects", `xmd.core/Elicit.ask@1 {"message":"Q","schema":{}}`),
	} {
		o := only(t, text)
		require.Empty(t, o.Problems, name)
		require.Nil(t, o.Archive, name)
		require.Empty(t, o.Changes, name)
		require.Equal(t, strings.Contains(text, "-- results --"), o.Evaluated, name)
	}
}

// TestProblems holds the message for everything that can be wrong with a case.
func TestProblems(t *testing.T) {
	fragment := archive("fragment.md", "t", "want", "admitted")
	for name, r := range map[string]struct{ text, problem string }{
		"empty":               {"", "it has no fragment.md; write the fragment below a line -- fragment.md --"},
		"no fragment":         {archive("want", "admitted"), "it has no fragment.md; write the fragment below a line -- fragment.md --"},
		"two fragments":       {archive("fragment.md", "t", "fragment.json", `"t"`, "want", "admitted"), "it has both fragment.md and fragment.json; keep one"},
		"unknown member":      {archive("profile.yml", "x") + fragment, `it has a member "profile.yml", which no case has; its members are profile.yaml, allow, fragment.md, fragment.json, results, want, want/output, want/output.json, want/effects, want/failure`},
		"member twice":        {fragment + archive("want", "admitted"), "it has the member want twice; keep one"},
		"profile":             {archive("profile.yaml", "version: 2") + fragment, `profile.yaml: line 1, column 10: version is "2", and this binary reads version 1 only; write version: 1`},
		"allow":               {archive("allow", "everything") + fragment, `allow: "everything" is no class; allow read, write or both`},
		"allow nothing":       {archive("allow", "\n") + fragment, `allow: "" is no class; allow read, write or both`},
		"allow twice":         {archive("allow", "read,read") + fragment, "allow: the class read is allowed twice; name it once"},
		"allow without table": {archive("profile.yaml", flatProfile, "allow", "write") + fragment, "allow: the class write is allowed, and the profile of this run has no write entry; state one, or do not allow the class"},
		"bad path pattern":    {archive("profile.yaml", "version: 1\nread: [{use: File, paths: [\"[\"]}]\n") + fragment, "profile.yaml: "},
		"fragment is a list":  {archive("fragment.json", "{}", "want", "admitted"), "fragment.json: it must be a JSON string, or a list of strings and bytes"},
		"fragment has a byte": {archive("fragment.json", `["a", 256]`, "want", "admitted"), "fragment.json: its item 2 is no byte; write a number from 0 to 255"},
		"fragment has null":   {archive("fragment.json", `[null]`, "want", "admitted"), "fragment.json: its item 1 is neither a string nor a byte"},
		"fragment is no JSON": {archive("fragment.json", `"a`, "want", "admitted"), "fragment.json: "},
		"results is no JSON":  {archive("results", "{") + fragment, "results: "},
		"results is a list":   {archive("results", "[]") + fragment, `results: it must be a JSON object that names operations, such as {"File.read": ["text"]}`},
		"results of no list":  {archive("results", `{"Glob": "a"}`) + fragment, "results: Glob must be a list, one item each time it is performed"},
		"results of unknown":  {archive("results", `{"Fetch": []}`, "want/output", "t") + fragment, "results names Fetch, which is no operation that is granted here; these are: File.read, Glob"},
		"output and no run":   {archive("want/output", "t") + fragment, "it has want/output and no results, so nothing is evaluated; add results, {} where no operation returns anything"},
		"effects and no run":  {archive("want/effects", "t") + fragment, "it has want/effects and no results, so nothing is evaluated; add results, {} where no operation returns anything"},
		"both outputs":        {archive("results", "{}", "want/output", "t", "want/output.json", `"t"`) + fragment, "it has both want/output and want/output.json; keep one"},
		"results of a refusal": {archive("results", "{}", "fragment.md", "<X />", "want", "refused: component"),
			"it has results, and what it wants is a refusal, so nothing is evaluated; remove results"},
		"too few results": {archive("results", `{"File.read": []}`, "fragment.md", `<File path="a" />`, "want", "admitted\nxmd.core/File.read@1"),
			"results states 0 for File.read, and the fragment performs it once more"},
		"no answer": {archive("results", `{}`, "allow", "write", "fragment.md", `<Elicit schema={{}}>Q</Elicit>`, "want", "admitted\nxmd.core/Elicit.ask@1"),
			"results states 0 for Elicit.ask, and the fragment performs it once more"},
		"too many results": {archive("results", `{"File.read": ["a"]}`, "want/output", "t") + fragment,
			"results states 1 for File.read, and the fragment performs it 0 times"},
	} {
		o := only(t, r.text)
		require.Len(t, o.Problems, 1, "%s: %v", name, o.Problems)
		require.True(t, strings.HasPrefix(o.Problems[0], r.problem), "%s: %s", name, o.Problems[0])
		require.Nil(t, o.Archive, "%s: --update cannot repair it", name)
	}
}

// TestUpdate: what a case wants is rewritten where it stands, and the rest stays.
func TestUpdate(t *testing.T) {
	for name, r := range map[string]struct{ from, to, changes string }{
		"no want": {
			"About it.\n" + archive("fragment.md", "t\n"),
			"About it.\n" + archive("fragment.md", "t\n", "want", "admitted\n"),
			"@@ want @@\n+admitted",
		},
		"another class": {
			archive("want", "refused: blok", "fragment.md", "<X />\n"),
			archive("want", "refused: component", "fragment.md", "<X />\n"),
			"@@ want @@\n-refused: blok\n+refused: component",
		},
		"refused now": {
			archive("fragment.md", "<X />\n", "want", "admitted", "want/output", "t", "results", "{}"),
			archive("fragment.md", "<X />\n", "want", "refused: component", "results", "{}"),
			"@@ want @@\n-admitted\n+refused: component\n@@ want/output @@\n-t",
		},
		"failing now": {
			archive("fragment.md", `<Fail message="m" />`, "results", "{}", "want", "admitted\nxmd.core/Fail@1", "want/output", "t"),
			archive("fragment.md", `<Fail message="m" />`, "results", "{}", "want", "admitted\nxmd.core/Fail@1", "want/failure", `fail: "m"`),
			"@@ want/output @@\n-t\n@@ want/failure @@\n+fail: \"m\"",
		},
		"another line": {
			archive("fragment.md", "a\nb\nc\nd\ne\n", "results", "{}", "want", "admitted", "want/output", "a\nb\nx\nd\ne\n"),
			archive("fragment.md", "a\nb\nc\nd\ne\n", "results", "{}", "want", "admitted", "want/output", "a\nb\nc\nd\ne\n"),
			"@@ want/output @@\n a\n b\n-x\n+c\n d\n e",
		},
		"empty output": {
			archive("fragment.json", `""`, "results", "{}", "want", "admitted"),
			archive("fragment.json", `""`, "results", "{}", "want", "admitted") + "-- want/output --\n",
			"@@ want/output @@",
		},
		"output an archive cannot hold": {
			archive("fragment.json", `"-- x --\n"`, "results", "{}", "want", "admitted"),
			archive("fragment.json", `"-- x --\n"`, "results", "{}", "want", "admitted", "want/output.json", `"-- x --\n"`),
			"@@ want/output.json @@\n+\"-- x --\\n\"",
		},
		"output.json stays": {
			archive("fragment.json", `"a"`, "results", "{}", "want", "admitted", "want/output.json", `"b"`),
			archive("fragment.json", `"a"`, "results", "{}", "want", "admitted", "want/output.json", `"a"`),
			"@@ want/output.json @@\n-\"b\"\n+\"a\"",
		},
	} {
		o := only(t, r.from)
		require.False(t, o.Passed(), name)
		require.Equal(t, r.to, string(o.Archive), name)
		require.Equal(t, r.changes, strings.Join(o.Changes, "\n"), name)
		again := only(t, r.to)
		if name != "refused now" { // its results are stale, which a person decides about
			require.True(t, again.Passed(), "%s: %v", name, again.Problems)
		}
		require.Nil(t, again.Archive, name)
	}
}

// TestDifferencesAreTold: a member that is not as it came is a problem of its own.
func TestDifferencesAreTold(t *testing.T) {
	o := only(t, archive("fragment.md", `<File path="a" />`, "results", `{"File.read": ["b"]}`, "want", "admitted", "want/output", "c\n"))
	require.Equal(t, []string{
		"want is not as it came:\n admitted\n+xmd.core/File.read@1",
		"want/output is not as it came:\n-c\n+b",
		"want/effects is not as it came:\n+xmd.core/File.read@1 {\"path\":\"a\"}",
	}, o.Problems)
	o = only(t, archive("fragment.md", `t`))
	require.Equal(t, []string{"it has no want; write admitted or refused: CLASS below a line -- want --, or let --update write it"}, o.Problems)
}

// TestChildrenTakeResultsInDocumentOrder: the results of concurrent children do not
// depend on who is first.
func TestChildrenTakeResultsInDocumentOrder(t *testing.T) {
	text := archive("allow", "read,write", "fragment.md",
		`<All><Spawn><File path="a" /><All><Spawn><File path="b" /></Spawn><Spawn><File path="c" /></Spawn></All></Spawn><Spawn><File path="d" /></Spawn></All>`,
		"results", `{"File.read": ["1", "2", "3", "4"]}`,
		"want", "admitted\nxmd.core/File.read@1\nxmd.core/File.read@1\nxmd.core/File.read@1\nxmd.core/File.read@1", "want/output", "1234",
		"want/effects", `xmd.core/File.read@1 {"path":"a"}
xmd.core/File.read@1 {"path":"b"}
xmd.core/File.read@1 {"path":"c"}
xmd.core/File.read@1 {"path":"d"}`)
	failing := archive("allow", "read,write", "fragment.md",
		`<All><Spawn><File path="a" /></Spawn><Spawn><File path="b">B</File><Fail message="no" /></Spawn><Spawn><File path="c">C</File></Spawn></All>`,
		"results", `{"File.read": ["1"]}`,
		"want", "admitted\nxmd.core/File.read@1\nxmd.core/File.write@1\nxmd.core/Fail@1\nxmd.core/File.write@1",
		"want/effects", `xmd.core/File.read@1 {"path":"a"}
xmd.core/File.write@1 {"path":"b","content":"B"}`,
		"want/failure", `fail: "no"`)
	var cases []*Case
	for range 50 {
		cases = append(cases, Read("in order", []byte(text)), Read("failing", []byte(failing)))
	}
	r, err := Run(t.Context(), cases, nil)
	require.NoError(t, err)
	for _, o := range r.Outcomes {
		require.Empty(t, o.Problems, o.Name)
	}
}

// TestRunKeepsTheOrder: outcomes are in the order of the cases, however many run at
// once, and progress counts them.
func TestRunKeepsTheOrder(t *testing.T) {
	var cases []*Case
	for i := range 40 {
		want := "admitted"
		if i%2 == 1 {
			want = "refused: component"
		}
		cases = append(cases, Read(fmt.Sprint(i), []byte(archive("fragment.md", "t", "want", want))))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	var told []int
	r, err := Run(t.Context(), cases, func(done int) { told = append(told, done) })
	require.NoError(t, err)
	require.Len(t, told, 40)
	for i, o := range r.Outcomes {
		require.Equal(t, i+1, told[i])
		require.Equal(t, fmt.Sprint(i), o.Name)
		require.Equal(t, i%2 == 0, o.Passed())
	}
	require.Equal(t, 20, r.Failed())
	require.Equal(t, "40 cases: 20 passed, 20 failed", r.Summary())
}

func TestRunEndsWithItsContext(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cases := []*Case{
		Read("short", []byte(archive("fragment.md", "t", "want", "admitted"))),
		Read("endless", []byte(archive(
			"profile.yaml", "version: 1\nread: [{use: File}]\nlimits: {steps: 2000000000, values: 2000000000, time: 60m}\n",
			"fragment.md", `<Loop max={2000000000}><Let as="x" value={1} /></Loop>`, "results", `{}`))),
	}
	_, err := Run(ctx, cases, func(int) { cancel(cause) })
	require.ErrorIs(t, err, cause)
	_, err = Run(ctx, cases, nil)
	require.ErrorIs(t, err, cause)
}

func TestNoCases(t *testing.T) {
	r, err := Run(t.Context(), nil, nil)
	require.NoError(t, err)
	require.Equal(t, "0 cases: 0 passed, 0 failed", r.Summary())
	missing := r.Uncovered()
	require.Equal(t, len(classes())+len(features())+len(ceilings()), missing.Len())
}
