package component

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// TestA19_ADirectoryIsMadeBeforeItsContent: what makes the place comes first, and
// paths in the content are relative to it.
func TestA19_ADirectoryIsMadeBeforeItsContent(t *testing.T) {
	s := newStage(t)
	o := performance{profile: s.ordinary(), text: `<Dir path="one"><Dir path="two/../three"><File path="x.txt">{1}</File><Peek key="k" /></Dir><File path="y.txt">y</File></Dir><File path="z.txt">z</File>`}.
		run(t, evaluateWrite)
	require.Equal(t, "k", o.ok(t))
	require.Equal(t, []string{"Dir.ensure one", "Dir.ensure two/../three", "File.write x.txt={1}", "Peek k", "File.write y.txt=y", "File.write z.txt=z"}, s.done())
	require.Equal(t, "{1}", s.text("one/three/x.txt"))
	require.Equal(t, "y", s.text("one/y.txt"))
	require.Equal(t, "z", s.text("z.txt"))
	var paths []string
	for _, e := range effects(o.events) {
		paths = append(paths, member(t, e, "input"))
	}
	require.Equal(t, []string{`{"path":"one"}`, `{"path":"one/three"}`, `{"path":"one/three/x.txt"}`, `{"key":"k"}`, `{"path":"one/y.txt"}`, `{"path":"z.txt"}`}, paths)

	// A directory that cannot be made has no content.
	o = performance{profile: s.ordinary(), text: `<Dir path="docs/a.txt"><Peek key="k" /></Dir>`}.run(t, evaluateWrite)
	require.NoError(t, o.stopped)
	require.ErrorContains(t, o.Err, "<Evaluate>: line 1, column 1 of the program: ")
	require.Equal(t, []string{"Dir.ensure docs/a.txt"}, s.done())
}

// TestA19_WhatIsRefusedExpandsNoContent: a path or a schema that turns out to be
// none is refused when the element is entered.
func TestA19_WhatIsRefusedExpandsNoContent(t *testing.T) {
	s := newStage(t)
	p := s.profile()
	p.Write[0].Paths = []string{"docs/*", "made/**"}
	profile := s.capture(p)
	for _, element := range []string{
		`<Let as="p" value={"../" + "x"} /><File path={p}>%</File>`,
		`<Let as="p" value={".git"} /><File path={p + "/hooks/x"}>%</File>`,
		`<Each in={["made", "../.."]} let="d"><If condition={d !== "made"}><Dir path={d}>%</Dir></If></Each>`,
		`<Let as="p" value={"elsewhere.txt"} /><File path={p}>%</File>`,
		`<Let as="p" value={"NUL"} /><File path={"docs/" + p}>%</File>`,
		`<Let as="p" value={1} /><File path={p}>%</File>`,
		`<Let as="s" value={{"type": "nothing"}} /><Elicit schema={s}>%</Elicit>`,
		`<Let as="s" value={{"$ref": "https://example.com/schema"}} /><Elicit schema={s}>%</Elicit>`,
		`<Let as="s" value={[1]} /><Elicit schema={s}>%</Elicit>`,
		`<Let as="s" value={{"type": "object", "properties": {"__proto__": {}}}} /><Elicit schema={s}>%</Elicit>`,
		// Decided in preflight.
		`<File path="../x">%</File>`, `<File path=".env">%</File>`, `<File path="elsewhere.txt">%</File>`, `<Dir path="..">%</Dir>`,
		`<Elicit schema={{"type": "nothing"}}>%</Elicit>`, `<Elicit>%</Elicit>`,
	} {
		q := says("an answer")
		o := performance{profile: profile, elicitor: q, text: strings.ReplaceAll(element, "%", `<Peek key="k" /><File path="docs/c.txt">c</File>`)}.run(t, evaluateWrite)
		require.NoError(t, o.stopped)
		require.Error(t, o.Err, element)
		require.Empty(t, s.done(), element)
		require.Empty(t, q.questions, element)
		require.Empty(t, effects(o.events), element)
	}
}

// TestA19_ABreakClosesWhatItLeaves: the items, regions and loops between a Break and
// its Loop are closed, and the loop inside and the one outside are recorded.
func TestA19_ABreakClosesWhatItLeaves(t *testing.T) {
	s := newStage(t)
	const question = `<Elicit schema={{"type": "string"}} as="%">Who?</Elicit>`
	program := `<Loop max={5} name="outer"><Loop max={4} name="inner"><Each in={["x", "y", "z"]} let="i"><Answers><Answer value="stated" />` +
		`<Each in={[1, 2]} let="j">` + strings.Replace(question, "%", "a", 1) + `{i}{j}{a} <If condition={i === "y"}><Break /></If></Each></Answers></Each>never</Loop>` +
		strings.Replace(question, "%", "b", 1) + `{b} <Break /></Loop>` + strings.Replace(question, "%", "c", 1) + `{c}`
	program = strings.Replace(program, `value="stated"`, `value='"stated"'`, 1)
	p := says("first", "second")
	o := performance{profile: s.ordinary(), text: program, elicitor: p}.run(t, evaluateWrite)
	require.Equal(t, "x1stated x2stated y1stated first second", o.ok(t))
	require.Len(t, p.questions, 2, "after a Break the person is asked again")

	var loops []string
	for _, e := range o.events {
		if strings.HasPrefix(typeOf(e), "loop") {
			name, _ := e.Description.String("name")
			loops = append(loops, typeOf(e)+" "+name)
		}
	}
	require.NotEmpty(t, loops)
	// Every prefix comes to the same, so every loop is recorded in its order.
	for cut := range len(o.events) {
		asked := 0
		for _, e := range effects(o.events[:cut]) {
			if e.Result.Value != "stated" {
				asked++
			}
		}
		again := performance{profile: s.ordinary(), text: program, elicitor: says([]any{"first", "second"}[asked:]...), events: o.events[:cut]}.run(t, evaluateWrite)
		require.Equal(t, o.Output, again.ok(t), "from %d events", cut)
		require.Equal(t, outlines(t, o.events), outlines(t, again.events), "from %d events", cut)
	}

	// A name of an item that was left does not reach beyond.
	o = performance{profile: s.ordinary(), text: `<Loop max={1}><Each in={[1]} let="i"><Break /></Each></Loop>{i}`}.run(t, evaluateRead)
	o.refused(t, admission.Interpolation)
}

// TestPositionsNameTheProgram: every effect of a program says which program and where
// in it, and never names a file; what belongs to the document names the document.
func TestPositionsNameTheProgram(t *testing.T) {
	s := newStage(t)
	program := "\n" + busy + "\n<All><Spawn>\n  <Peek key=\"é\" /></Spawn><Spawn>é𝄞<Peek key=\"r\" /></Spawn></All>"
	o := performance{profile: s.ordinary(), text: program, elicitor: says("Ada")}.run(t, "# Title\n\n"+evaluateWrite)
	o.ok(t)
	name := member(t, decisions(o.events)[0], "name")
	id := strings.TrimPrefix(strings.Trim(name, `"`), "generated:")
	require.Regexp(t, `^[0-9a-f]{64}$`, id)
	require.Contains(t, member(t, decisions(o.events)[0], journal.MemberPosition), `"path":"main.md"`)

	starts := map[string]string{"File.read": "<File path", "File.write": "<File path", "File.delete": "<File.Delete", "Dir.ensure": "<Dir", "Glob": "<Glob",
		"Fetch": "<Fetch", "Elicit.ask": "<Elicit", "Peek": "<Peek", "Wrap": "<Wrap"}
	seen := map[string]bool{}
	all := effects(o.events)
	require.Len(t, all, 15)
	expansions := map[string]bool{}
	for _, e := range all {
		at, ok := e.Description.Get(journal.MemberPosition)
		require.True(t, ok)
		p, _, reason := document.ParsePosition(at)
		require.Empty(t, reason)
		require.Empty(t, p.Source)
		require.Equal(t, id, p.Generated)
		identity, _ := e.Description.String(memberCapability)
		key := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(identity, "xmd.core/"), "com.example/"), "@1")
		require.True(t, strings.HasPrefix(program[p.Offset:], starts[key]), "%s at %d", key, p.Offset)
		before := program[:p.Offset]
		require.Equal(t, strings.Count(before, "\n")+1, p.Line)
		require.Equal(t, len(utf16(before[strings.LastIndex(before, "\n")+1:]))+1, p.Column)
		seen[key] = true
		expansion, _ := e.Description.String(journal.MemberExpansion)
		require.Regexp(t, `^[0-9a-f]{64}$`, expansion)
		require.False(t, expansions[expansion+key], "two effects have one expansion")
		expansions[expansion+key] = true
		require.NotContains(t, lines(t, []journal.Event{e})[0], `"path":"main.md"`)
	}
	require.Len(t, seen, len(starts))
	for _, e := range o.events {
		if e.Type == journal.TypeYield && !slices.ContainsFunc(all, func(x journal.Event) bool { return x.Description == e.Description }) &&
			!strings.HasPrefix(typeOf(e), "loop") {
			require.NotContains(t, lines(t, []journal.Event{e})[0], `"generatedSource"`, typeOf(e))
		}
	}

	// A failure says the place in the program, and belongs to the element.
	o = performance{profile: s.ordinary(), text: "\n\n é<File path={\"docs\" + \"/none.txt\"} />"}.run(t, evaluateRead)
	require.NoError(t, o.stopped)
	require.ErrorContains(t, o.Err, "<Evaluate>: line 3, column 3 of the program: ")
	require.Equal(t, "main.md", engine.PositionOf(o.Err).Source)
}

func utf16(s string) []uint16 {
	var units []uint16
	for _, r := range s {
		units = append(units, 0)
		if r > 0xffff {
			units = append(units, 0)
		}
	}
	return units
}

// TestTheProducerIsShownTheGrant: a syntax listing inside the producer has exactly
// the names the program may use, and the whole catalog outside of it.
func TestTheProducerIsShownTheGrant(t *testing.T) {
	s := newStage(t)
	headings := regexp.MustCompile("(?m)^### `<(.*)>`$")
	listed := func(profile *capability.Captured, document string) []string {
		o := performance{profile: profile, sources: &repository{files: map[string]string{"components/Own.md": "own"}}}.run(t, document)
		o.ok(t)
		var text string
		for _, e := range o.events {
			if typeOf(e) == "syntax_symbols" {
				text, _ = e.Result.Value.(*value.Object).String("symbols")
			}
		}
		var names []string
		for _, m := range headings.FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
		slices.Sort(names)
		return names
	}
	const produce = `<Evaluate allow={[%]}><Let as="shown"><Syntax /></Let></Evaluate>`
	closed := []string{"All", "Answer", "Answers", "Break", "Case", "CodeBlock", "Each", "Else", "Fail", "If", "Json", "Let", "Loop", "Spawn", "Switch"}
	with := func(names ...string) []string {
		names = append(names, closed...)
		slices.Sort(names)
		return names
	}
	require.Equal(t, with("Fetch", "File", "Glob", "Peek"), listed(s.ordinary(), strings.Replace(produce, "%", `"read"`, 1)))
	require.Equal(t, with("File", "File.Delete", "Dir", "Elicit", "Wrap"), listed(s.ordinary(), strings.Replace(produce, "%", `"write"`, 1)))
	require.Equal(t, with("Dir", "Elicit", "Fetch", "File", "File.Delete", "Glob", "Peek", "Wrap"), listed(s.ordinary(), strings.Replace(produce, "%", `"write","read"`, 1)))
	flat := s.profile()
	flat.Dialect = capability.Flat
	require.Equal(t, []string{"Fetch", "File", "Glob", "Peek"}, listed(s.capture(flat), strings.Replace(produce, "%", `"read"`, 1)))

	// Each name is described by the host's sentence, in the forms it was granted in.
	o := performance{profile: s.ordinary(), library: []engine.Component{trap(t, "File")}}.run(t, `<Evaluate><Let as="text"><Syntax names={["File"]} /></Let></Evaluate>`)
	o.ok(t)
	text := asJSON(t, o.record(t, "syntax_symbols").Result.Value)
	require.Contains(t, text, "Reads one text file; renders its text, or binds it.")
	require.Contains(t, text, "xmd.core/File.read@1")
	require.NotContains(t, text, "Writes exactly")
	o = performance{profile: s.ordinary()}.run(t, `<Evaluate><Let as="text"><Syntax names={["Elicit"]} /></Let></Evaluate>`)
	require.ErrorContains(t, o.Err, `no component is named "Elicit"`)
}
