package component

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/value"
)

// TestA1_NothingHappensBeforeTheLastElementIsRead: whatever is admissible stands
// before an element that is not, none of it is performed.
func TestA1_NothingHappensBeforeTheLastElementIsRead(t *testing.T) {
	const first = `<File path="docs/a.txt" as="a" /><File path="out.txt">{a}</File><Fetch url="https://api.example.test/one" /><Peek key="k" />` +
		`<Dir path="made"><File path="docs/../x.txt">x</File></Dir><File.Delete path="docs/b.txt" />`
	for last, class := range map[string]admission.Class{
		`<Exec />`:                                     admission.Component,
		`<Peek key={nowhere} />`:                       admission.Expression,
		`{nowhere}`:                                    admission.Interpolation,
		"\n```sh exec\nid\n```\n":                      admission.Block,
		`<File path="../x" />`:                         admission.PathClass,
		`<File path=".git/config">x</File>`:            admission.PathClass,
		`<Fetch url="https://api.example.test/two" />`: admission.RequestClass,
		`<Peek other="k" />`:                           admission.Props,
		`<Peek key="k">content</Peek>`:                 admission.Content,
		`<Wrap />`:                                     admission.FormClass,
		`<File path="x.txt" as="x">x</File>`:           admission.Binding,
		`<Else>x</Else>`:                               admission.Structure,
		`<Peek `:                                       admission.Construct,
		"\x00":                                         admission.Encoding,
		strings.Repeat(`<Peek />`, 1100):               admission.Limit,
		`<If condition={false}><Exec /></If>`:          admission.Component,
	} {
		for _, document := range []string{evaluateWrite, `<Evaluate allow={["read","write"]}><Give /></Evaluate>`} {
			s := newStage(t)
			p := &person{}
			o := performance{profile: s.ordinary(), text: first + last, elicitor: p}.run(t, document)
			o.refused(t, class)
			require.Empty(t, s.done(), "%.60q", last)
			require.Empty(t, p.questions)
			require.Empty(t, effects(o.events))
			require.Equal(t, `{"version":1,"decision":"refused","class":"`+string(class)+`"}`, asJSON(t, decided(t, o.events)))
			require.Empty(t, s.text("out.txt"))
			require.NotEmpty(t, s.text("docs/b.txt"))
		}
	}

	s := newStage(t)
	o := performance{profile: s.ordinary(), text: first}.run(t, evaluateWrite)
	o.ok(t)
	require.Len(t, s.done(), 7, "without that element all of it is")
}

// shares reports whether a text holds eight bytes in a row of a marker, whatever
// their case.
func shares(text, marker string) bool {
	text, marker = strings.ToLower(text), strings.ToLower(marker)
	for i := range len(marker) - 7 {
		if strings.Contains(text, marker[i:i+8]) {
			return true
		}
	}
	return false
}

// tree lists an error and everything it wraps.
func tree(err error) []error {
	if err == nil {
		return nil
	}
	all := []error{err}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		all = append(all, tree(e.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			all = append(all, tree(inner)...)
		}
	}
	return all
}

// TestA3_ARefusalLeavesNothingOfTheCandidate looks for pieces of a random marker in
// everything a run leaves behind.
func TestA3_ARefusalLeavesNothingOfTheCandidate(t *testing.T) {
	marker := (rand.Text() + rand.Text() + rand.Text())[:64]
	s := newStage(t)
	for _, candidate := range []string{
		"<X% />", "<X%", "</X%>", "<Peek % />", `<Peek note="%" />`, `<Peek key={%} />`, `<Peek as="1%" />`, `<Peek {...%} />`,
		`<File path="../%" />`, `<File path="docs/%"></File><X />`, `<File path="docs/a.txt" %="1" />`, `<File path=".git/%">%</File>`,
		`<Fetch url="%" />`, `<Fetch url="https://%.example/one" />`, `<Fetch url="https://api.example.test/one" method="%" />`,
		`<Fetch url="https://api.example.test/one" timeout="%" />`,
		`<Fetch url="https://api.example.test/one" headers={{"%": "x"}} />`, `<Fetch url="https://api.example.test/one" headers={{"x": "%"}} />`,
		"{meta.%}", "%<Exec />", "%\x00", "---\n%: 1\n---\n", "```sh exec\n%\n```\n", "<!-- %", "<!-- <X% /> -->", `<Loop max="%">t</Loop>`,
		`<Elicit schema={{type: "%"}}>%</Elicit>`, `<Let as="%" value={%} />`,
		strings.Repeat("%", 5000), // more than the source may have
	} {
		text := strings.ReplaceAll(candidate, "%", marker)
		profile := s.profile()
		profile.Limits.Source = 64 * 4000
		p := performance{profile: s.capture(profile), text: text}
		for _, document := range []string{
			evaluateRead, evaluateWrite, `<Evaluate allow={["write","read"]}><Give /></Evaluate>`,
			`<PrintErrors><Evaluate><Give /></Evaluate></PrintErrors>`,
			`<All><Spawn><Evaluate><Give /></Evaluate></Spawn><Spawn>b</Spawn></All>`,
			`<Loop max={2}><Evaluate><Give /></Evaluate></Loop>`,
			`<Evaluate as="r"><Give /></Evaluate>{r.output}`,
		} {
			o := p.run(t, document)
			require.NoError(t, o.stopped)
			require.True(t, o.Err != nil || o.Printed > 0, "%s\n%.100s", document, candidate)
			require.NotEmpty(t, decisions(o.events))
			// A continuation from the recorded refusal.
			again := p
			again.events = o.events[:afterDecision(t, o.events)]
			a := again.run(t, document)
			require.NoError(t, a.stopped)
			for _, o := range []outcome{o, a} {
				left := append(lines(t, o.events), o.Output)
				for _, err := range tree(o.Err) {
					left = append(left, err.Error(), fmt.Sprintf("%v %+v %#v", err, err, err))
				}
				for _, text := range left {
					require.False(t, shares(text, marker), "%.100s leaves %.500s", candidate, text)
				}
			}
		}
	}

	// Nor does the refusal of a continuation.
	profile := s.ordinary()
	o := performance{profile: profile, text: "fine"}.run(t, evaluateRead)
	held := o.events[:afterDecision(t, o.events)]
	for _, text := range []string{marker, "<X" + marker} {
		o = performance{profile: profile, text: text, events: held}.run(t, evaluateRead)
		for _, err := range tree(o.stopped) {
			require.False(t, shares(fmt.Sprintf("%v %+v %#v", err, err, err), marker))
		}
	}
}

// TestA4_ANameMeansWhatTheHostCaptured: files and registrations of the same name are
// never read and never run.
func TestA4_ANameMeansWhatTheHostCaptured(t *testing.T) {
	s := newStage(t)
	files := map[string]string{}
	for _, name := range []string{"File", "Peek", "Fetch", "Json"} {
		for _, dir := range []string{"components/", ""} {
			files[dir+name+".md"], files[dir+name+"/index.md"] = "replaced {props.path}", "replaced"
		}
	}
	r := &repository{files: files}
	const program = `<File path="docs/a.txt" /> <Peek key="k" as="k" />{k} <Fetch url="https://api.example.test/one" as="f" />{f.status} <Json value={1} />`
	p := performance{profile: s.ordinary(), text: program, sources: r,
		library: []engine.Component{trap(t, "File"), trap(t, "Peek"), trap(t, "Fetch"), trap(t, "Json")}}
	o := p.run(t, `<Let as="File" value="bound" /><Evaluate as="r"><Give /></Evaluate>{r.output}`)
	require.Equal(t, "A k 200 1", o.ok(t))
	require.Equal(t, []string{"File.read docs/a.txt", "Peek k", "Fetch https://api.example.test/one"}, s.done())
	for _, asked := range r.asked {
		require.Contains(t, asked, "Give", "only what the document itself names is looked for")
	}

	// The document itself does see them: what is replaced there is replaced.
	o = performance{sources: r}.run(t, `<File path="docs/a.txt" />`)
	require.Contains(t, o.events[1].Result.Value.(*value.Object).Keys(), "path")
}

// TestA5_TheFormDecidesWhatAnElementIs: File reads and writes, and neither form is
// granted with the other.
func TestA5_TheFormDecidesWhatAnElementIs(t *testing.T) {
	s := newStage(t)
	profile := s.ordinary()
	for _, c := range []struct {
		allow, program string
		class          admission.Class
		done           []string
	}{
		{`["read"]`, `<File path="docs/a.txt" />`, "", []string{"File.read docs/a.txt"}},
		{`["read"]`, `<File path="docs/a.txt"></File>`, admission.Content, nil},
		{`["write"]`, `<File path="docs/a.txt" />`, admission.FormClass, nil},
		{`["write"]`, `<File path="docs/c.txt"></File>`, "", []string{"File.write docs/c.txt="}},
		{`["write","read"]`, `<File path="docs/a.txt" as="a" /><File path="docs/c.txt">{a}{a}</File>`, "", []string{"File.read docs/a.txt", "File.write docs/c.txt=AA"}},
	} {
		o := performance{profile: profile, text: c.program}.run(t, `<Evaluate allow={`+c.allow+`}><Give /></Evaluate>`)
		if c.class == "" {
			o.ok(t)
		} else {
			o.refused(t, c.class)
		}
		require.Equal(t, c.done, s.done(), "%s under %s", c.program, c.allow)
	}
	require.Equal(t, "A", s.text("docs/a.txt"))
}

// TestA25_RefusalsBeforeAName: what is wrong with the element itself is said before
// anything of it is decided, recorded or rendered.
func TestA25_RefusalsBeforeAName(t *testing.T) {
	s := newStage(t)
	readOnly := s.profile()
	readOnly.Write = nil
	ended := s.ordinary()
	ended.Revoke()
	ordinary := s.ordinary()
	for name, c := range map[string]struct {
		profile  *capability.Captured
		document string
		message  string
	}{
		"no profile":            {nil, `<Evaluate text="x" />`, "<Evaluate> has nothing to judge a program by, because this run was given no profile; state one with --profile, or leave --no-evaluate out"},
		"no profile, content":   {nil, `<Evaluate><Mark /></Evaluate>`, "state one with --profile"},
		"nothing allowed":       {ordinary, `<Evaluate allow={[]}><Mark /></Evaluate>`, `"/allow"`},
		"an unknown class":      {ordinary, `<Evaluate allow={["exec"]}><Mark /></Evaluate>`, `"/allow/0"`},
		"a class twice":         {ordinary, `<Evaluate allow={["read","read"]}><Mark /></Evaluate>`, `"/allow"`},
		"no list":               {ordinary, `<Evaluate allow="read"><Mark /></Evaluate>`, `"/allow"`},
		"two programs":          {ordinary, `<Evaluate text="x"><Mark /></Evaluate>`, "<Evaluate> was given two programs: write it as text={…}, or as content, not both"},
		"two, one of them none": {ordinary, `<Evaluate text={undefined}><Mark /></Evaluate>`, "two programs"},
		"no program":            {ordinary, `<Evaluate />`, "<Evaluate> was given no program: write <Evaluate text={program} />, or a pair whose content renders it"},
		"no value for one":      {ordinary, `<Evaluate text={undefined} />`, "<Evaluate> was given no program"},
		"a program of no text":  {ordinary, `<Evaluate text={1} />`, `"/text"`},
		"a class not installed": {s.capture(readOnly), `<Evaluate allow={["read","write"]}><Mark /></Evaluate>`, "<Evaluate> cannot be given what allow asks for: the class write is allowed, and the profile of this run has no write entry; state one, or do not allow the class"},
		"an ended profile":      {ended, `<Evaluate><Mark /></Evaluate>`, "the execution this operation was granted for has ended"},
		"another prop":          {ordinary, `<Evaluate program="x"><Mark /></Evaluate>`, "program"},
	} {
		t.Run(name, func(t *testing.T) {
			o := performance{profile: c.profile}.run(t, c.document)
			require.NoError(t, o.stopped)
			require.ErrorContains(t, o.Err, c.message)
			require.Empty(t, decisions(o.events))
			require.Empty(t, o.marks, "nothing was rendered")
		})
	}
	require.Empty(t, s.done())
}

// TestA25_TheProducerIsRenderedOnce: content is rendered once, before the program is
// judged, and where it cannot be rendered, or the profile ends meanwhile, nothing is.
func TestA25_TheProducerIsRenderedOnce(t *testing.T) {
	s := newStage(t)
	o := performance{profile: s.ordinary(), text: `<Peek key="k" />`}.run(t, `<Evaluate><Mark /><Give /></Evaluate>`)
	require.Equal(t, "k", o.ok(t))
	require.Equal(t, []string{"mark"}, o.marks)
	require.Equal(t, []string{"Peek k"}, s.done())

	o = performance{profile: s.ordinary(), text: `<Exec />`}.run(t, `<Evaluate><Mark /><Give /></Evaluate>`)
	o.refused(t, admission.Component)
	require.Equal(t, []string{"mark"}, o.marks)

	for _, document := range []string{
		`<Evaluate><Missing /><Mark /></Evaluate>`,
		`<PrintErrors><Evaluate><Missing /></Evaluate></PrintErrors>`,
	} {
		o = performance{profile: s.ordinary()}.run(t, document)
		require.NoError(t, o.stopped)
		require.Empty(t, decisions(o.events), "an error is no program")
		require.Empty(t, o.marks)
	}

	profile := s.ordinary()
	end := engine.Component{Name: "End", Origin: "test", Forms: engine.SelfClosing,
		Run: func(context.Context, *engine.Call) (any, error) { profile.Revoke(); return "", nil }}
	o = performance{profile: profile, text: `<Peek />`, library: []engine.Component{end}}.run(t, `<Evaluate><Give /><End /></Evaluate>`)
	require.ErrorIs(t, o.Err, capability.ErrRevoked)
	require.ErrorContains(t, o.Err, "<Evaluate> cannot run what its content rendered")
	require.Empty(t, decisions(o.events))
	require.Empty(t, s.done())
}

// TestA25_TheProgramIsExact: what the content rendered is the program, white space
// around it included, and is neither read again nor interpolated.
func TestA25_TheProgramIsExact(t *testing.T) {
	s := newStage(t)
	for _, text := range []string{"", " ", "\n\n  text \t\r\n", "{\"a\": 1}", "  <Peek key=\"k\" />\n", "\\{x}", "a `{` b"} {
		for document, want := range map[string]string{
			`<Evaluate><Give /></Evaluate>`:       text,
			evaluateRead:                          text,
			"<Evaluate>\n <Give /> \n</Evaluate>": "\n " + text + " \n",
			"<Let as=\"x\" value=\"bound\" /><Evaluate>{x} <Give /></Evaluate>": "bound " + text,
		} {
			o := performance{profile: s.ordinary(), text: text}.run(t, document)
			o.ok(t)
			source, _ := decided(t, o.events).String("source")
			require.Equal(t, want, source)
		}
	}
	o := performance{profile: s.ordinary(), text: "  {\"a\": 1} \n"}.run(t, "<Evaluate><Give /></Evaluate>")
	require.Equal(t, "  {\"a\": 1} \n", o.ok(t))
}

// TestA25_TheResult: as binds what was observed beside the text; without it the text
// is rendered and nothing else.
func TestA25_TheResult(t *testing.T) {
	s := newStage(t)
	const program = ` <File path="docs/a.txt" />,<Glob include={["docs/*"]} /><Fetch url="https://api.example.test/one" as="r" />{r.status}<File path="out.txt">w</File><Peek key={{"b": [1, null]}} />` +
		`<Json value={r} /><Elicit schema={{"type":"string"}}>?</Elicit>`
	o := performance{profile: s.ordinary(), text: program, elicitor: says("an answer"), library: []engine.Component{jsonText()}}.run(t, `<Give as="p" /><Evaluate text={p} allow={["write","read"]} as="r" /><Json value={r} />`)
	require.JSONEq(t, `{
		"output": " A,200{\n  \"status\": 200,\n  \"headers\": {\n    \"x\": \"y\"\n  },\n  \"body\": \"body of https://api.example.test/one\"\n}an answer",
		"observations": [
			{"name": "File", "value": "A"},
			{"name": "Glob", "value": ["docs/a.txt", "docs/b.txt"]},
			{"name": "Fetch", "value": {"status": 200, "headers": {"x": "y"}, "body": "body of https://api.example.test/one"}},
			{"name": "Peek", "value": {"b": [1, null]}}
		]
	}`, o.ok(t))

	o = performance{profile: s.ordinary(), text: "<File path=\"docs/a.txt\" as=\"a\" />[{a}]\n"}.run(t, evaluateRead)
	require.Equal(t, "[A]\n", o.ok(t))
	o = performance{profile: s.ordinary(), text: ""}.run(t, `<Evaluate as="r"><Give /></Evaluate>{r.output}|{r.observations.length}`)
	require.Equal(t, "|0", o.ok(t))
}
