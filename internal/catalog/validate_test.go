package catalog_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/catalog"
	"github.com/executable-markdown/xmd/internal/value"
)

const returning = "---\nreturns: {type: string}\n---\n"

// found shows the diagnostics of a report as "code component path:line:column".
func found(r catalog.Report) []string {
	out := []string{}
	for _, d := range r.Diagnostics {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Code, d.Component, d.Position)))
	}
	return out
}

func TestWhatIsDefinitelyWrong(t *testing.T) {
	components := map[string]string{
		"components/Text.md":     "---\nprops: {a: {type: string}, n: {type: integer}}\nrequired: [a]\n---\n<Content />",
		"components/Value.md":    returning + "<Return value=\"x\" />",
		"components/Broken.md":   "---\nprops: 5\nreturns: 6\n---\n<Nothing />",
		"components/Required.md": "---\nrequired: [a]\nreturns: {type: string}\n---\n",
		"components/Yaml.md":     "---\na: [\n---\n",
		"components/Shape.md":    "\n<If condition={true}><Output>x</Output></If>",
		"components/Locked.md":   unreadable,
		"components/Code.ts":     "code",
	}
	tests := []struct {
		name, text string
		want       []string
		says       string // part of the first message
	}{
		{"nothing", "plain {text}", []string{}, ""},

		{"root source", "\xff", []string{"source-invalid  doc.md:1:1"}, ""},
		{"root frontmatter", "---\na: [\n---\n<Nothing />", []string{"frontmatter-invalid"}, ""},
		{"root props", "---\nprops: 5\n---\n<Nothing />", []string{"props-declaration-invalid __root__ doc.md:2:1", "component-unresolved Nothing doc.md:4:1"}, "props"},
		{"root returns", "---\nreturns: 5\n---\n<Return value={1} />", []string{"returns-declaration-invalid __root__ doc.md:2:1"}, "returns"},
		{"both declarations", "---\nprops: 5\nreturns: 5\n---\n", []string{"props-declaration-invalid __root__ doc.md:2:1", "returns-declaration-invalid __root__ doc.md:3:1"}, ""},

		{"unresolved", "a <Nothing /> b", []string{"component-unresolved Nothing doc.md:1:3"}, "no component is named Nothing"},
		{"nearly resolved", "<Globb />", []string{"component-unresolved Globb doc.md:1:1"}, "; did you mean <Glob>?"},
		{"not declarable", "<A..b />", []string{"component-unresolved A..b doc.md:1:1"}, ""},
		{"unreadable component", "<Locked />", []string{"component-unresolved Locked doc.md:1:1"}, "components/Locked.md"},
		{"typescript component", "<Code />", []string{"component-unresolved Code doc.md:1:1"}, "TypeScript"},
		{"unparseable component", "<Yaml />", []string{"frontmatter-invalid"}, ""},
		{"component declarations", "<Broken as=\"x\" />", []string{"props-declaration-invalid Broken components/Broken.md:2:1", "returns-declaration-invalid Broken components/Broken.md:3:1", "component-unresolved Nothing components/Broken.md:5:1"}, "props"},
		{"required without props", "<Required as=\"x\" />", []string{"return-usage-invalid Required", "props-declaration-invalid Required components/Required.md:2:1"}, "no <Return"},
		{"component shape", "<Shape />", []string{"body-shape-invalid Output components/Shape.md:2:22"}, "top level"},

		{"form: paired", "<Glob include={[\"a\"]} as=\"g\">x</Glob>", []string{"invocation-form-invalid Glob doc.md:1:1"}, "write <Glob … />"},
		{"form: self-closing", "<Wrap />", []string{"invocation-form-invalid Wrap doc.md:1:1"}, "self-closing"},
		{"form: syntax", "<Syntax>x</Syntax>", []string{"invocation-form-invalid Syntax doc.md:1:1"}, "takes no content"},

		{"props: missing", "<File />", []string{"props-invalid File doc.md:1:1"}, "\"/path\" must have required property 'path'"},
		{"props: type", "<File path={5} />", []string{"props-invalid File doc.md:1:1"}, "must be string"},
		{"props: unknown", "<Text a=\"x\" zz />", []string{"props-invalid Text doc.md:1:1"}, "additional"},
		{"props: missing beside an expression", "<File mode={x} />", []string{"props-invalid File doc.md:1:1"}, "'path'"},
		{"props: unknown beside an expression", "<File path={x} zz=\"1\" />", []string{"props-invalid File doc.md:1:1"}, "additional"},
		{"props: type beside an expression is not judged", "<File path={5} mode={x} />", []string{}, ""},
		{"props: unknown expression may be absent", "<File path=\"a\" zz={x} />", []string{}, ""},
		{"props: the last of several", "<File path={5} path=\"a\" />", []string{}, ""},
		{"props: an expression wins", "<File path={x} path={5} />", []string{}, ""},
		{"props: slot is not one", "<Text a=\"x\"><File slot=\"s\" path=\"a\" /></Text>", []string{}, ""},
		{"props: malformed expression", "<File path={1 +} />", []string{"props-invalid File doc.md:1:1"}, "path={1 +} of <File> is not a well-formed expression"},
		{"props: malformed slot", "<File slot={1 +} path=\"a\" />", []string{"props-invalid File doc.md:1:1"}, "slot={1 +}"},

		{"as: expression", "<File path=\"a\" as={x} />", []string{"binding-invalid File doc.md:1:1"}, "quoted name"},
		{"as: not a name", "<File path=\"a\" as=\"9x\" />", []string{"binding-invalid File doc.md:1:1"}, "\"9x\""},
		{"as: reserved", "<File path=\"a\" as=\"class\" />", []string{"binding-invalid File doc.md:1:1"}, "\"class\""},
		{"as: bare", "<File path=\"a\" as />", []string{"binding-invalid File doc.md:1:1"}, ""},
		{"as: refused", "<Stop as=\"x\" />", []string{"binding-invalid Stop doc.md:1:1"}, "raises and binds nothing"},
		{"as: needed by a native component", "<Glob include={[\"a\"]} />", []string{"binding-invalid Glob doc.md:1:1"}, "<Glob as=\"name\""},
		{"as: needed by a Markdown component", "<Value />", []string{"binding-invalid Value doc.md:1:1"}, "returns a value"},
		{"as: on an unresolved component", "<Nothing as={x} />", []string{"component-unresolved Nothing doc.md:1:1", "binding-invalid Nothing doc.md:1:1"}, ""},
		{"capture: malformed", "<Json value={1 +} />", []string{"capture-invalid Json doc.md:1:1"}, "value={1 +}"},

		{"output: misplaced", "<If condition={x}><Output>a</Output></If>", []string{"body-shape-invalid Output doc.md:1:19"}, "top level"},
		{"output: beside returns", returning + "<Output>a</Output><Return value=\"x\" />", []string{"body-shape-invalid Output doc.md:4:1"}, "returns"},
		{"output: props", "<Output a>x</Output>", []string{"structural-usage-invalid Output doc.md:1:1"}, "no props"},
		{"return: in a text body", "a<Return value=\"x\" />", []string{"return-usage-invalid Return doc.md:1:2"}, ""},
		{"return: none", returning + "text", []string{"return-usage-invalid __root__"}, ""},
		{"return: without value", returning + "<Return />", []string{"return-usage-invalid Return doc.md:4:1"}, ""},
		{"return: value the declaration refuses", returning + "<Return value={5} />", []string{"return-usage-invalid Return doc.md:4:1"}, "must be string"},
		{"return: malformed value", returning + "<Return value={1 +} />", []string{"structural-usage-invalid Return doc.md:4:1"}, ""},
		{"return: below a spawn", returning + "<Return value=\"x\" /><All><Spawn><Return value=\"y\" /></Spawn><Spawn>b</Spawn></All>", []string{"structural-usage-invalid Return doc.md:4:33"}, "Spawn"},

		{"content in a root", "<Content />", []string{"structural-usage-invalid Content doc.md:1:1"}, ""},
		{"stray parts", "<Else>a</Else><Case default>b</Case><Answer value={1} /><Spawn>c</Spawn>", []string{
			"structural-usage-invalid Else doc.md:1:1", "structural-usage-invalid Case doc.md:1:15",
			"structural-usage-invalid Answer doc.md:1:37", "structural-usage-invalid Spawn doc.md:1:57"}, ""},
		{"if: every violation", "<If zz><Else a>x</Else> y</If>", []string{
			"structural-usage-invalid If doc.md:1:1", "structural-usage-invalid If doc.md:1:1",
			"structural-usage-invalid Else doc.md:1:8", "structural-usage-invalid Else doc.md:1:8"}, ""},
		{"if: malformed condition", "<If condition={1 +}>a</If>", []string{"structural-usage-invalid If doc.md:1:1"}, "condition={1 +}"},
		{"if: a refused prop is not read", "<If condition={x} zz={1 +}>a</If>", []string{"structural-usage-invalid If doc.md:1:1"}, "zz"},
		{"switch: no case", "<Switch value={x}></Switch>", []string{"structural-usage-invalid Switch doc.md:1:1"}, ""},
		{"case: both", "<Switch value={x}><Case value={1} default>a</Case></Switch>", []string{"structural-usage-invalid Case doc.md:1:19"}, ""},
		{"let: no name", "<Let value={1} />", []string{"structural-usage-invalid Let doc.md:1:1"}, ""},
		{"let: bad name", "<Let as=\"9x\" value={1} />", []string{"binding-invalid Let doc.md:1:1"}, ""},
		{"let: malformed value", "<Let as=\"a\" value={1 +} />", []string{"structural-usage-invalid Let doc.md:1:1"}, ""},
		{"each: no array", "<Each let=\"a\">x</Each>", []string{"structural-usage-invalid Each doc.md:1:1"}, ""},
		{"loop: no bound", "<Loop>x</Loop>", []string{"structural-usage-invalid Loop doc.md:1:1"}, ""},
		{"break: outside a loop", "<Break />", []string{"structural-usage-invalid Break doc.md:1:1"}, ""},
		{"break: in a component of the loop", "<Loop max={1}><Wrap><Break /></Wrap></Loop>", []string{}, ""},
		{"break: out of a spawn, once", "<Loop max={1}><All><Spawn><Break /></Spawn><Spawn>b</Spawn></All></Loop>", []string{"structural-usage-invalid Break doc.md:1:27"}, "Spawn"},
		{"break: inside a spawn's own loop", "<All><Spawn><Loop max={1}><Break /></Loop></Spawn><Spawn>b</Spawn></All>", []string{}, ""},
		{"all: one spawn", "<All><Spawn>a</Spawn></All>", []string{"structural-usage-invalid All doc.md:1:1"}, "two"},
		{"answers: no body", "<Answers><Answer value={1} /></Answers>", []string{"structural-usage-invalid Answers doc.md:1:1"}, ""},
		{"answer: no value", "<Answers><Answer />x</Answers>", []string{"structural-usage-invalid Answer doc.md:1:10"}, ""},
		{"print errors: props", "<PrintErrors as=\"x\">a</PrintErrors>", []string{"structural-usage-invalid PrintErrors doc.md:1:1"}, ""},

		{"loop: quoted bound", "<Loop max=\"3\">x</Loop>", []string{"structural-usage-invalid Loop doc.md:1:1"}, "positive whole number"},
		{"loop: zero", "<Loop max={0}>x</Loop>", []string{"structural-usage-invalid Loop doc.md:1:1"}, "positive whole number"},
		{"each: over text", "<Each in={\"ab\"} let=\"a\">x</Each>", []string{"structural-usage-invalid Each doc.md:1:1"}, "array"},
		{"answer: bare word", "<Answers><Answer value=\"yes\" />x</Answers>", []string{"structural-usage-invalid Answer doc.md:1:10"}, "JSON text"},
		{"answer: ambiguous template", "<Answers><Answer template=\"{?a}{?b}\" value={1} />x</Answers>", []string{"structural-usage-invalid Answer doc.md:1:10"}, "ambiguous"},
		{"answers: delegate", "<Answers delegate=\"x\"><Answer value={1} />x</Answers>", []string{"structural-usage-invalid Answers doc.md:1:1"}, "true or false"},
		{"let: selector", "<Let as=\"a\" select=\"[\">x</Let>", []string{"structural-usage-invalid Let doc.md:1:1"}, "select"},
		{"slot: bad name", "<Text a=\"x\"><File slot=\"9 lives\" path=\"a\" /></Text>", []string{"binding-invalid File doc.md:1:13"}, "9 lives"},

		{"block: js that does not parse", "```js eval\nconst = 1\n```\n", []string{"structural-usage-invalid  doc.md:1:1"}, "not well formed"},
		{"block: js that prints", "```js eval\nconst a = 1; output(a); return a\n```\n", []string{}, ""},
		{"block: a daemon with a limit", "```sh timeout=1s daemon exec\nx\n```\n", []string{"structural-usage-invalid  doc.md:1:1"}, "as long as its invocation"},
		{"block: eval of another language", "```python eval\nx\n```\n", []string{"structural-usage-invalid  doc.md:1:1"}, "js only"},
		{"block: unknown modifier", "```bash loud exec\nx\n```\n", []string{"structural-usage-invalid  doc.md:1:1"}, "loud"},
		{"block: annotation", "```bash exec as=x\nx\n```\n", []string{"binding-invalid  doc.md:1:1"}, ""},
		{"block: in a branch", "<If condition={x}>\n```bash as=\"a\" exec\nx\n```\n</If>", []string{"binding-invalid  doc.md:2:1"}, ""},
		{"inert text", "`<Nothing />` <!-- <Nothing /> -->\n```text\n<Nothing />\n```\n", []string{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := check(tt.text, components)
			got := found(r)
			if len(tt.want) == 1 && strings.Contains(tt.want[0], "frontmatter-invalid") {
				require.Len(t, got, 1)
				require.Contains(t, got[0], tt.want[0])
			} else {
				require.Equal(t, tt.want, got, "%v", r.Diagnostics)
			}
			require.Equal(t, len(tt.want) == 0, r.Valid())
			for _, d := range r.Diagnostics {
				require.Contains(t, catalog.Codes(), d.Code)
				require.NotEmpty(t, d.Message)
			}
			if tt.says != "" {
				require.Contains(t, r.Diagnostics[0].Message, tt.says)
			}
			require.Equal(t, r, check(tt.text, components))
		})
	}
}

func TestADocumentOfEverythingValid(t *testing.T) {
	r := check("---\nprops: {who: {type: string, default: you}}\nreturns: {type: string}\n---\n"+
		"<All><Spawn>a</Spawn><Spawn>b</Spawn></All>\n"+
		"<Answers delegate={true}><Answer template=\"{?x}\" value='\"yes\"' /><Wrap>q</Wrap></Answers>\n"+
		"<Each in={[1,2]} let=\"i\" as=\"list\">{i}</Each>\n"+
		"<If condition={props.who}>a<Else>b</Else></If>\n"+
		"<Let as=\"f\" value={(n) => n + 1} /><Let as=\"g\" select=\"code\">`x`</Let>\n"+
		"<Loop max={3} name=\"l\"><Break /></Loop>\n"+
		"<PrintErrors><File path=\"a\" /></PrintErrors>\n"+
		"<Switch value=\"a\"><Case value=\"a\">x</Case><Case default>y</Case></Switch>\n"+
		"<Glob include={[\"*\"]} as=\"files\" /><Json value={files} /><Syntax names={[\"File\"]} as=\"s\" />\n"+
		"<Shown><File path=\"b\" slot=\"s\" /></Shown>\n"+
		"```bash timeout=20s exec as=\"probe\"\ntrue\n```\n"+
		"<Return value={list} />", map[string]string{
		"components/Shown.md": "doc<Output><Content slot=\"s\" /></Output>",
	})
	require.Equal(t, []string{}, found(r))
	for _, i := range r.Invocations {
		require.Equal(t, catalog.Valid, i.Outcome, i)
	}
}

func outcomes(r catalog.Report) []string {
	var out []string
	for _, i := range r.Invocations {
		s := i.Name + " " + i.Outcome
		if len(i.Diagnostics) > 0 {
			s += fmt.Sprint(" ", i.Diagnostics)
		}
		if len(i.Reasons) > 0 {
			s += fmt.Sprint(" ", i.Reasons)
		}
		out = append(out, s)
	}
	return out
}

func TestOutcomesOfInvocations(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"valid", "<File path=\"a\" />", []string{"File valid"}},
		{"dynamic props", "<File path={x} />", []string{"File not-statically-checkable [dynamic-props]"}},
		{"undefined is an expression on a component", "<File path={undefined} />", []string{"File not-statically-checkable [dynamic-props]"}},
		{"a capture makes nothing opaque", "<Json value={x} />", []string{"Json valid"}},
		{"neither does slot", "<File path=\"a\" slot={x} />", []string{"File valid"}},
		{"a definite failure wins", "<File path={x} as=\"9\" />", []string{"File invalid [0]"}},
		{"switch and case operands", "<Switch value={x}><Case value={y}>a</Case><Case value={1}>b</Case></Switch>",
			[]string{"Switch not-statically-checkable [dynamic-props]", "Case not-statically-checkable [dynamic-props]", "Case valid"}},
		{"other constructs are judged by structure", "<If condition={x}>a</If><Loop max={n}>b</Loop>", []string{"If valid", "Loop valid"}},
		{"found by the construct, reported at the descendant", "<If condition={x}>a<Else a>b</Else></If>", []string{"If invalid [0]", "Else invalid [0]"}},
		{"unresolved, and its content", "<Nothing><File path=\"a\" /></Nothing>", []string{"Nothing invalid [0]", "File valid"}},
		{"a broken definition", "<Shape /><Shape />", []string{"Shape invalid [0]", "Shape invalid [0]", "If valid", "Output invalid [0]"}},
		{"a fault in the body is the body's", "<Inner />", []string{"Inner valid", "Nothing invalid [0]"}},
		{"indexes are unique and ascending", "<Nothing zz={1 +} as={x} />", []string{"Nothing invalid [0 1 2]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := check(tt.text, map[string]string{
				"components/Shape.md": "<If condition={true}><Output>a</Output></If>",
				"components/Inner.md": "<Nothing />",
			})
			require.Equal(t, tt.want, outcomes(r), "%v", found(r))
		})
	}
}

func TestDefinitionsAreWalkedOnceInTheOrderOfDiscovery(t *testing.T) {
	f := newFiles(map[string]string{
		"components/A.md":    "<C /><B /><Lost1 />",
		"components/B.md":    "<A /><Lost2 />",
		"components/C.md":    "<D /><Lost3 />",
		"components/D.md":    "<D /><Lost4 />",
		"components/N/E.md":  "<Lost5 />",
		"components/Bad.md":  "---\nprops: {a: {type: string}}\n---\n<N.E />",
		"components/None.md": "<Lost6 />",
	})
	in := catalog.Inputs{Sources: f, Include: []string{"components", "."}, Library: library()}
	r := catalog.Validate(in, catalog.Source{Name: "doc.md", Text: []byte("<Lost0 /><A /><B /><A /><Bad zz /><Let as=\"x\">`<None />`</Let>")})
	require.Equal(t, []string{
		"component-unresolved Lost0 doc.md:1:1", "props-invalid Bad doc.md:1:25",
		"component-unresolved Lost1 components/A.md:1:11",
		"component-unresolved Lost2 components/B.md:1:6",
		"component-unresolved Lost3 components/C.md:1:6",
		"component-unresolved Lost5 components/N/E.md:1:1",
		"component-unresolved Lost4 components/D.md:1:6",
	}, found(r))
	for p, n := range f.reads {
		require.Equal(t, 1, n, p)
	}
	require.NotContains(t, f.reads, "components/None.md")
}

func TestOneFileOfTwoNamesIsReadAndWalkedOnce(t *testing.T) {
	f := newFiles(map[string]string{"A/B.md": "<Lost />"})
	r := catalog.Validate(catalog.Inputs{Sources: f, Include: []string{".", "A"}, Library: library()},
		catalog.Source{Name: "doc.md", Text: []byte("<A.B /><B />")})
	require.Equal(t, []string{"component-unresolved Lost A/B.md:1:1"}, found(r))
	require.Equal(t, 1, f.reads["A/B.md"])
}

func TestTheRootIsNotWalkedAgainUnderItsOwnName(t *testing.T) {
	text := "# One\n\n<Self />\n\n# Two\n\n<Lost />\n"
	f := newFiles(map[string]string{"Self.md": text})
	in := catalog.Inputs{Sources: f, Include: []string{"."}, Library: library()}
	whole := catalog.Validate(in, catalog.Source{Name: "./Self.md", Text: []byte(text)})
	require.Equal(t, []string{"component-unresolved Lost ./Self.md:7:1"}, found(whole))

	targeted := catalog.Validate(in, catalog.Source{Name: "./Self.md", Text: []byte(text), Target: "One"})
	require.Equal(t, []string{"component-unresolved Lost Self.md:7:1"}, found(targeted))
	require.Equal(t, []string{"Self", "Self", "Lost"}, invoked(targeted))
}

func TestRootSource(t *testing.T) {
	in := inputs(nil)
	r := catalog.Validate(in, catalog.Source{Name: "doc.md", ReadErr: errors.New("no such file")})
	require.Equal(t, []string{"source-unreadable"}, found(r))
	require.Equal(t, "no such file", r.Diagnostics[0].Message)
	require.Empty(t, r.Invocations)

	r = catalog.Validate(in, catalog.Source{Name: "doc.md", Text: []byte("---\nprops: 5\n---\n# A\n\n<Nothing />"), Target: "B"})
	require.Equal(t, []string{"target-invalid"}, found(r))
	require.Empty(t, r.Invocations)

	r = catalog.Validate(in, catalog.Source{Name: "doc.md", Text: []byte("# A\n\n<Nothing />\n\n# B\n\ntext"), Target: "B"})
	require.True(t, r.Valid())
}

func TestSuppliedProps(t *testing.T) {
	text := []byte("---\nprops: {a: {type: string}, n: {type: integer, default: 1}}\nrequired: [a]\n---\n")
	tests := []struct {
		name  string
		props *value.Object
		check bool
		want  []string
	}{
		{"good", value.Of("a", "x"), true, []string{}},
		{"missing", nil, true, []string{"props-invalid __root__"}},
		{"wrong", value.Of("a", "x", "n", "one"), true, []string{"props-invalid __root__"}},
		{"unknown", value.Of("a", "x", "zz", 1.0), true, []string{"props-invalid __root__"}},
		{"structure only", nil, false, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := catalog.Validate(inputs(nil), catalog.Source{Name: "doc.md", Text: text, Props: tt.props, CheckProps: tt.check})
			require.Equal(t, tt.want, found(r))
			for _, d := range r.Diagnostics {
				require.NotEmpty(t, d.Issues)
			}
		})
	}
}

func TestReportJSON(t *testing.T) {
	text, err := value.JSON(check("é <File path={x} />\n<File />", nil).JSON())
	require.NoError(t, err)
	require.Equal(t, `{"version":1,"outcome":"invalid","diagnostics":[{"code":"props-invalid","message":"<File /> was given props its schema refuses:\n  - \"/path\" must have required property 'path'",`+
		`"position":{"path":"doc.md","offset":21,"line":2,"column":1},"component":"File","issues":[{"instancePath":"","schemaPath":"#/required","keyword":"required",`+
		`"params":{"missingProperty":"path"},"message":"must have required property 'path'"}]}],"invocations":[`+
		`{"name":"File","position":{"path":"doc.md","offset":3,"line":1,"column":3},"outcome":"not-statically-checkable","origin":{"kind":"registered","origin":"xmd.core","reserved":false},"reasons":["dynamic-props"]},`+
		`{"name":"File","position":{"path":"doc.md","offset":21,"line":2,"column":1},"outcome":"invalid","origin":{"kind":"registered","origin":"xmd.core","reserved":false},"diagnosticIndexes":[0]}]}`, text)

	text, err = value.JSON(check("", nil).JSON())
	require.NoError(t, err)
	require.Equal(t, `{"version":1,"outcome":"valid","diagnostics":[],"invocations":[]}`, text)

	text, err = value.JSON(check("<Nothing />", nil).JSON())
	require.NoError(t, err)
	require.Contains(t, text, `"invocations":[{"name":"Nothing","position":{"path":"doc.md","offset":0,"line":1,"column":1},"outcome":"invalid","diagnosticIndexes":[0]}]`)
}

// The order of diagnostics is part of the answer: what concerns the whole source,
// then places, then the rank of the code.
func TestOrderOfDiagnostics(t *testing.T) {
	r := check("---\nreturns: {type: string}\n---\n<Nothing as={x} zz={1 +} /><Glob>x</Glob>", nil)
	require.Equal(t, []string{
		"return-usage-invalid __root__",
		"component-unresolved Nothing doc.md:4:1", "props-invalid Nothing doc.md:4:1", "binding-invalid Nothing doc.md:4:1",
		"invocation-form-invalid Glob doc.md:4:28", "props-invalid Glob doc.md:4:28", "binding-invalid Glob doc.md:4:28",
	}, found(r))
}

// Work grows with the document: ten thousand elements of the worst kinds, deep and
// wide, with one broken definition behind many of them.
func TestALargeDocument(t *testing.T) {
	const n = 10_000
	wide := check(strings.Repeat("<Nothing a={x.y} as={z} /><Shape /><File />", n), map[string]string{
		"components/Shape.md": strings.Repeat("<Wrap><Output>a</Output></Wrap>", n),
	})
	require.Len(t, wide.Diagnostics, 4*n)
	require.Len(t, wide.Invocations, 5*n)
	total := 0
	for _, i := range wide.Invocations {
		total += len(i.Diagnostics)
	}
	require.Equal(t, 5*n, total)

	deep := check(strings.Repeat("<Wrap>", 5000)+strings.Repeat("</Wrap>", 5000), nil)
	require.True(t, deep.Valid())
	require.Len(t, deep.Invocations, 5000)
}

func FuzzValidate(f *testing.F) {
	for _, seed := range []string{
		"<If condition={1 +}>a<Else a>b</Else>c</If>", returning + "<Return value={x} />", "<All><Spawn><Break /></Spawn></All>",
		"<File path={x} path=\"a\" as=\"9\"><Content /></File>", "```bash exec as=x\n```", "<Self /><Self zz />", "---\nprops: {a: 1}\n---\n<A.B />",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		in := catalog.Inputs{Sources: newFiles(map[string]string{"Self.md": text}), Include: []string{"."}, Library: library()}
		r := catalog.Validate(in, catalog.Source{Name: "doc.md", Text: []byte(text), CheckProps: true})
		require.Equal(t, r, catalog.Validate(in, catalog.Source{Name: "doc.md", Text: []byte(text), CheckProps: true}))
		for _, d := range r.Diagnostics {
			require.Contains(t, catalog.Codes(), d.Code)
		}
		for _, i := range r.Invocations {
			require.True(t, slices.IsSorted(i.Diagnostics))
			require.Equal(t, i.Outcome == catalog.Invalid, len(i.Diagnostics) > 0)
			require.Equal(t, i.Outcome == catalog.NotCheckable, len(i.Diagnostics) == 0 && len(i.Reasons) > 0)
		}
		_, err := value.JSON(r.JSON())
		require.NoError(t, err)
	})
}
