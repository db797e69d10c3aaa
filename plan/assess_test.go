package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/catalog"
	"github.com/executable-markdown/xmd/internal/component"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/value"
)

// inputs is what a final run would search: a directory with the files given.
func inputs(t testing.TB, files map[string]string) catalog.Inputs {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return catalog.Inputs{Sources: host.NewSources(dir), Include: []string{"."}, Library: engine.NewLibrary(nil, component.Defaults())}
}

// declares is a document with these properties, in flow YAML, and a body.
func declares(properties, required, body string) string {
	return "---\nprops:\n  type: object\n  additionalProperties: false\n  required: [" + required + "]\n  properties: {" + properties + "}\n---\n" + body
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	text, err := value.JSON(v)
	require.NoError(t, err)
	return text
}

const hello = "Hello.\n"

// requires is a document that needs the property name, of that type.
func requires(kind string) string { return declares("name: {type: "+kind+"}", "name", hello) }

func inline(option, v string) Word   { return Word{option, v, Inline} }
func followed(option, v string) Word { return Word{option, v, Provisional} }
func bare(option string) Word        { return Word{option, "", Bare} }

// TestPR7_Classification: for every condition of the table the class, whoever is at
// fault. What takes more than one draft is beside the signatures.
func TestPR7_Classification(t *testing.T) {
	const valid, candidate, caller = "valid", "candidate", "caller"
	for _, row := range []struct {
		name  string
		s     Supplied
		draft string
		class string
		says  string // in the diagnostics, the caller's sentence, or the properties
	}{
		// Step 1.
		{"frontmatter that never closes", Supplied{}, "---\nprops: [\n# Title\n", candidate, `"code":"frontmatter-invalid"`},
		{"frontmatter that is no YAML", Supplied{}, "---\nprops: [\n---\n", candidate, `"code":"frontmatter-invalid"`},
		{"a bad props declaration", Supplied{}, "---\nprops: 5\n---\n" + hello, candidate, `"code":"props-declaration-invalid"`},
		{"a bad returns declaration", Supplied{}, "---\nreturns: 5\n---\n" + hello, candidate, `"code":"returns-declaration-invalid"`},
		{"a bad declaration hides nothing else", Supplied{}, "---\nprops: 5\n---\n<Nothing />\n", candidate, `"code":"component-unresolved"`},
		{"a bad declaration comes before what was supplied", Supplied{Words: []Word{bare("--props-x")}, Aggregate: new("{oops")},
			"---\nprops: 5\n---\n", candidate, `"code":"props-declaration-invalid"`},
		{"no UTF-8", Supplied{}, "a\xff", candidate, `"code":"source-invalid"`},
		{"a NUL", Supplied{}, "a\x00b", candidate, "NUL character at byte 1"},
		{"nothing", Supplied{}, "", candidate, "the document is empty"},
		{"nothing visible", Supplied{}, "\ufeff \r\n\t", candidate, "the document is empty"},
		{"too large", Supplied{}, strings.Repeat("a", document.MaxSource+1), candidate, "the limit is"},
		{"too deep", Supplied{}, strings.Repeat("<Text>", document.MaxDepth+1) + strings.Repeat("</Text>", document.MaxDepth+1), candidate, "nested deeper"},

		// Step 2.
		{"two properties of one option", Supplied{}, declares("firstName: {type: string}, first_name: {type: string}", "", hello), candidate, `"binding":{`},
		{"two properties of one variable", Supplied{}, declares("ı: {type: string}, i: {type: string}", "", hello), candidate, `"kind":"environment"`},
		{"a collision comes before what was supplied", Supplied{Aggregate: new("{oops"), Words: []Word{bare("--props-first-name")}},
			declares("firstName: {type: string}, first_name: {type: string}", "", hello), candidate, `"binding":{`},

		// Step 4.
		{"an option that is not declared", Supplied{Words: []Word{followed("--props-nothing", "x")}}, hello, caller,
			"--props-nothing is no property this document declares; it declares none"},
		{"the same behind a wrong aggregate", Supplied{Words: []Word{inline("--props-nothing", "x")}, Aggregate: new("{oops")}, hello, caller, "--props-nothing"},
		{"an option only JSON can give", Supplied{Words: []Word{inline("--props-o", "{}")}}, declares("o: {type: object}", "", hello), caller, "o (in --props JSON)"},
		{"a word behind a switch", Supplied{Words: []Word{followed("--props-loud", "true")}}, declares("loud: {type: boolean}", "", hello), caller,
			`unexpected argument "true"`},
		{"a switch with a value", Supplied{Words: []Word{inline("--props-loud", "false")}}, declares("loud: {type: boolean}", "loud", hello), valid, `{"loud":false}`},
		{"a switch alone", Supplied{Words: []Word{bare("--props-loud")}}, declares("loud: {type: boolean}", "loud", hello), valid, `{"loud":true}`},
		{"an option without its value", Supplied{Words: []Word{bare("--props-name")}}, requires("string"), caller, "--props-name needs a value"},
		{"a boolean or null is no switch", Supplied{Words: []Word{bare("--props-b")}}, declares("b: {type: [boolean, \"null\"]}", "", hello), caller, "--props-b needs a value"},
		{"an empty value is one", Supplied{Words: []Word{followed("--props-name", "")}}, requires("string"), valid, `{"name":""}`},

		// Step 5.
		{"an aggregate that is no JSON", Supplied{Aggregate: new("{oops")}, hello, caller, "--props: it must be a JSON object: "},
		{"an aggregate that is no object", Supplied{Aggregate: new("[]")}, requires("string"), caller, "--props: it must be a JSON object, not array"},
		{"a variable that is no JSON", Supplied{Env: map[string]string{"XMD_PROPS": ""}}, hello, caller, "XMD_PROPS: it must be a JSON object"},
		{"a wrong aggregate behind an option", Supplied{Words: []Word{inline("--props-name", "Ada")}, Env: map[string]string{"XMD_PROPS": "{oops"}}, requires("string"), caller, "XMD_PROPS: "},
		{"an option that cannot be decoded", Supplied{Words: []Word{inline("--props-name", "no-bool")}}, requires("boolean"), caller, `--props-name: "no-bool" does not fit`},
		{"a variable that cannot be decoded", Supplied{Env: map[string]string{"XMD_PROPS_NAME": "many"}}, requires("number"), caller, `XMD_PROPS_NAME: "many" does not fit`},
		{"a variable nobody declares", Supplied{Env: map[string]string{"XMD_PROPS_OTHER": "x", "NAME": "y"}}, hello, valid, `{}`},

		// Step 7.
		{"a required property nobody gave", Supplied{}, requires("string"), candidate, `"code":"props-invalid"`},
		{"a value of an aggregate that breaks the schema", Supplied{Aggregate: new(`{"name":"x"}`)}, requires("number"), candidate, `"code":"props-invalid"`},
		{"a name of an aggregate under a closed schema", Supplied{Env: map[string]string{"XMD_PROPS": `{"name":"x","more":1}`}}, requires("string"), candidate,
			`"code":"props-invalid"`},
		{"an element nobody knows", Supplied{}, "<NoSuchComponent />\n", candidate, `"code":"component-unresolved"`},
		{"an element in a branch nobody takes", Supplied{}, "<If condition={false}><Nothing /></If>\n", candidate, `"code":"component-unresolved"`},
		{"a fault in an included component", Supplied{}, "<Bad />\n", candidate, `"path":"Bad.md"`},
		{"a body of another shape", Supplied{}, "---\nreturns: {type: string}\n---\n" + hello, candidate, `"code":"return-usage-invalid"`},
		{"what only a run can tell", Supplied{}, "<Let as=\"x\" value={[1].join()} />\n<File path={x}>a</File>\n", valid, `{}`},
		{"an included component", Supplied{}, "<Good name=\"a\" />\n", valid, `{}`},
		{"a fence around everything", Supplied{}, "```markdown\n<NoSuchComponent />\n```\n", valid, `{}`},
		{"leading blanks, CR LF and no end of line", Supplied{}, "\n\r\n  Hello.  ", valid, `{}`},
		{"defaults stay out", Supplied{}, declares("name: {type: string, default: d}", "", hello), valid, `{}`},
		{"all sources", Supplied{
			Words: []Word{inline("--props-tag", "a"), followed("--props-tag", "b"), bare("--props-loud")}, Aggregate: new(`{"loud":false,"inner":{"x":1}}`),
			Env: map[string]string{"XMD_PROPS_NAME": "Ada", "XMD_PROPS": `{"name":"no","kept":"k"}`},
		}, declares("name: {type: string}, loud: {type: boolean}, tag: {type: array, items: {type: string}}, inner: {type: object}, kept: {type: string}", "name", hello), valid, `{"name":"Ada","loud":true,"tag":["a","b"],"inner":{"x":1},"kept":"k"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := NewAssessor(inputs(t, map[string]string{
				"Good.md": "---\nprops: {name: {type: string}}\n---\nHi {props.name}.\n", "Bad.md": "<Nothing />\n",
			}), row.s)
			got, err := a.Assess(row.draft)
			switch row.class {
			case caller:
				var e *CallerError
				require.ErrorAs(t, err, &e)
				require.Contains(t, e.Message, row.says)
				require.Equal(t, Assessment{}, got)
			case candidate:
				require.NoError(t, err)
				require.False(t, got.Valid())
				require.Nil(t, got.Props)
				require.Contains(t, asJSON(t, got.Diagnostics), row.says)
				requireShape(t, got.Diagnostics)
			default:
				require.NoError(t, err)
				require.True(t, got.Valid(), "%v", got.Diagnostics)
				require.Equal(t, row.says, asJSON(t, got.Props))
				requireLoads(t, row.draft)
			}
		})
	}
}

// requireShape: diagnostics hold the complete versioned report and nothing unannounced.
func requireShape(t *testing.T, diagnostics *value.Object) {
	t.Helper()
	report, _ := diagnostics.Get("validation")
	validation, ok := report.(*value.Object)
	require.True(t, ok)
	require.Equal(t, []string{"version", "outcome", "diagnostics", "invocations"}, names(validation))
	version, _ := validation.Get("version")
	require.Equal(t, 1.0, version)
	for name := range diagnostics.All() {
		require.Contains(t, []string{"validation", "binding"}, name)
	}
}

func names(o *value.Object) []string {
	var list []string
	for name := range o.All() {
		list = append(list, name)
	}
	return list
}

func requireLoads(t testing.TB, draft string) {
	t.Helper()
	d, err := document.Parse("<eval>", []byte(draft))
	require.NoError(t, err)
	_, err = engine.Load(d, nil)
	require.NoError(t, err)
}

// TestPR7_Shapes: the diagnostics a repair is made from, whole.
func TestPR7_Shapes(t *testing.T) {
	in := inputs(t, nil)
	a := NewAssessor(in, Supplied{})
	for _, row := range []struct{ draft, want string }{
		{"<X />\n", `{"validation":{"version":1,"outcome":"invalid","diagnostics":[{"code":"component-unresolved","message":` +
			asJSON(t, firstMessage(t, in, "<X />\n")) + `,"position":{"path":"<prompt>","offset":0,"line":1,"column":1},"component":"X"}],` +
			`"invocations":[{"name":"X","position":{"path":"<prompt>","offset":0,"line":1,"column":1},"outcome":"invalid","diagnosticIndexes":[0]}]}}`},
		{declares("firstName: {type: string}, first_name: {type: string}", "", hello),
			`{"validation":{"version":1,"outcome":"valid","diagnostics":[],"invocations":[]},"binding":{"code":"generated-binding-collision","kind":"option",` +
				`"name":"--props-first-name","properties":["firstName","first_name"],` +
				`"message":"the properties \"firstName\" and \"first_name\" would both be --props-first-name; rename one of them"}}`},
		{declares("ı: {type: string}, i: {type: string}", "", hello),
			`{"validation":{"version":1,"outcome":"valid","diagnostics":[],"invocations":[]},"binding":{"code":"generated-binding-collision","kind":"environment",` +
				`"name":"XMD_PROPS_I","properties":["ı","i"],"message":"the properties \"ı\" and \"i\" would both be the variable XMD_PROPS_I; rename one of them"}}`},
		{"", `{"validation":{"version":1,"outcome":"invalid","diagnostics":[{"code":"source-invalid","message":"the document is empty; write the whole document"}],"invocations":[]}}`},
	} {
		got, err := a.Assess(row.draft)
		require.NoError(t, err)
		require.Equal(t, row.want, asJSON(t, got.Diagnostics))
	}
}

func firstMessage(t *testing.T, in catalog.Inputs, draft string) string {
	t.Helper()
	r := catalog.Validate(in, catalog.Source{Name: "<prompt>", Text: []byte(draft)})
	require.NotEmpty(t, r.Diagnostics)
	return r.Diagnostics[0].Message
}

// A root that cannot be loaded is no valid draft, even if the validation had nothing to
// say about it.
func TestARootThatCannotBeLoaded(t *testing.T) {
	require.Equal(t, `{"validation":{"version":1,"outcome":"valid","diagnostics":[],"invocations":[]},"binding":{"code":"root-props-unusable","message":"no root"}}`,
		asJSON(t, unusable(catalog.Report{}, errors.New("no root"))))
	refused := catalog.Report{Diagnostics: []catalog.Diagnostic{{Code: "source-invalid", Message: "bad"}}}
	require.False(t, unusable(refused, errors.New("no root")).Has("binding"))
}

// TestPR10_ResolvedForEveryDraft: no properties outlive the draft they were made for,
// and what the caller's variables do later changes none.
func TestPR10_ResolvedForEveryDraft(t *testing.T) {
	env := map[string]string{"XMD_PROPS": `{"inner":{"x":1}}`}
	words := []Word{followed("--props-count", "7")}
	a := NewAssessor(inputs(t, nil), Supplied{Words: words, Env: env})
	env["XMD_PROPS"], words[0].Value = "{oops", "8"
	counting := func(kind string) string {
		return declares("count: {type: "+kind+"}, inner: {type: object}", "count", hello)
	}
	first, err := a.Assess(counting("number"))
	require.NoError(t, err)
	require.Equal(t, `{"count":7,"inner":{"x":1}}`, asJSON(t, first.Props))
	inner, _ := first.Props.Get("inner")
	inner.(*value.Object).Set("x", "changed")
	second, err := a.Assess(counting("string"))
	require.NoError(t, err)
	require.Equal(t, `{"count":"7","inner":{"x":1}}`, asJSON(t, second.Props))
}

// TestStructuralAssessment: nobody is asked for values, so none is missed.
func TestStructuralAssessment(t *testing.T) {
	a := NewStructuralAssessor(inputs(t, nil))
	for draft, valid := range map[string]bool{
		hello:              true,
		requires("string"): true,
		declares("firstName: {type: string}, first_name: {type: string}", "firstName", hello): true,
		"<NoSuchComponent />": false, "": false, "a\x00": false, "\xff": false, "---\nprops: 5\n---\n": false,
	} {
		got, err := a.Assess(draft)
		require.NoError(t, err)
		require.Equal(t, valid, got.Valid(), draft)
		require.Nil(t, got.Props)
		if valid {
			requireLoads(t, draft)
			continue
		}
		requireShape(t, got.Diagnostics)
		require.NotContains(t, asJSON(t, got.Diagnostics), promptDraft)
	}
}

// large is a draft of a megabyte that uses what documents use.
func large() string {
	const part = "Some prose with `code` and {props.name}.\n\n<If condition={props.name}>\n<File path=\"a.txt\">x</File>\n</If>\n\n```sh\necho\n```\n\n"
	return declares("name: {type: string}", "name", strings.Repeat(part, 1<<20/len(part)))
}

// Judging a draft takes time in proportion to it, whatever it holds: a planning does it
// forty times.
func TestLargeDrafts(t *testing.T) {
	in := inputs(t, nil)
	var options strings.Builder
	for i := range 700 {
		fmt.Fprintf(&options, "    p%d: {anyOf: [{$ref: \"#/definitions/d\"}]}\n", i)
	}
	for name, draft := range map[string]string{
		"valid":      large(),
		"text":       strings.Repeat("word ", 1<<20/5),
		"open tags":  strings.Repeat("<A ", 1<<20/3),
		"deep":       strings.Repeat("<If condition={1}>", 9000) + strings.Repeat("</If>", 9000),
		"properties": "---\nprops:\n  type: object\n  definitions: {d: {enum: [" + members() + "]}}\n  properties:\n" + options.String() + "---\n" + hello,
	} {
		t.Run(name, func(t *testing.T) {
			a := NewAssessor(in, Supplied{Env: map[string]string{"XMD_PROPS_NAME": "Ada"}})
			start := time.Now()
			for range 4 {
				got, err := a.Assess(draft)
				require.NoError(t, err)
				require.True(t, got.Valid(), "%.900s", asJSON(t, got.Diagnostics))
			}
			require.Less(t, time.Since(start), 20*time.Second)
		})
	}
}

// members lists a few thousand different numbers.
func members() string {
	list := make([]string, 4000)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	return strings.Join(list, ",")
}

func BenchmarkAssess(b *testing.B) {
	draft := large()
	b.SetBytes(int64(len(draft)))
	a := NewAssessor(inputs(b, nil), Supplied{Env: map[string]string{"XMD_PROPS_NAME": "Ada"}})
	for b.Loop() {
		if _, err := a.Assess(draft); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzAssess(f *testing.F) {
	for _, seed := range []string{
		hello, "", "\x00", "\xff", "---\nprops: {}\n", "---\nprops: 5\n---\n", "---\nreturns: {type: string}\n---\n<Return value=\"x\" />", "<Nothing />",
		requires("string"), requires("boolean"), declares("firstName: {type: string}, first_name: {type: string}", "", hello),
	} {
		f.Add(seed)
	}
	in := inputs(f, nil)
	f.Fuzz(func(t *testing.T, draft string) {
		a := NewAssessor(in, Supplied{Words: []Word{followed("--props-name", "Ada")}, Aggregate: new(`{"x":1}`)})
		got, err := a.Assess(draft)
		again, errAgain := a.Assess(draft)
		require.Equal(t, got, again)
		require.Equal(t, err, errAgain)
		structural, _ := NewStructuralAssessor(in).Assess(draft)
		switch {
		case err != nil:
			require.IsType(t, new(CallerError), err)
		case got.Valid():
			require.True(t, structural.Valid())
		default:
			requireShape(t, got.Diagnostics)
		}
		if structural.Valid() {
			requireLoads(t, draft)
		}
	})
}
