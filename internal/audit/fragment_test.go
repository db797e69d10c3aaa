package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
)

func inspect(t *testing.T, source, profile string) *Fragment {
	t.Helper()
	f, _, err := InspectFragment("f.md", source, state(t, "p.yaml", profile), []capability.Class{capability.ReadClass, capability.WriteClass})
	require.NoError(t, err)
	return f
}

func TestFragment(t *testing.T) {
	f := inspect(t, everything, observer)
	require.Empty(t, f.Refused)
	goldens(t, "fragment", f)
}

// TestBounds says how often the element X of a fragment takes effect at most.
func TestBounds(t *testing.T) {
	const x = `<Elicit schema={{"type": "string"}}>?</Elicit>`
	const steps = "\nlimits: { steps: 1000 }\n"
	times := func(n int) Bound { return Bound{Times: n} }
	unbounded := Bound{1000, true}
	for source, want := range map[string]Bound{
		x:                                      times(1),
		`<If condition={false}>` + x + `</If>`: times(1),
		`<If condition={true}>a<Else>` + x + `</Else></If>`:                  times(1),
		`<Switch value={1}><Case value={2}>` + x + `</Case></Switch>`:        times(1),
		`<Switch value={1}><Case default>` + x + `</Case></Switch>`:          times(1),
		`<Let as="a">` + x + `</Let>`:                                        times(1),
		`<Loop max={7}>` + x + `</Loop>`:                                     times(7),
		`<Loop max={7}><Loop max={3}>` + x + `<Break /></Loop></Loop>`:       times(21),
		`<Loop max={100}><Loop max={11}>` + x + `</Loop></Loop>`:             unbounded,
		`<Let as="n" value={2} /><Loop max={n}>` + x + `</Loop>`:             unbounded,
		`<Each in={[1, 2, 3]} let="i">` + x + `</Each>`:                      times(3),
		`<Let as="n" value={2} /><Each in={[n, n]} let="i">` + x + `</Each>`: times(2),
		`<Each in={[]} let="i">` + x + `</Each>`:                             times(0),
		`<Each in={[]} let="i"><Loop max={9}>` + x + `</Loop></Each>`:        times(0),
		`<Let as="n" value={[2]} /><Each in={n} let="i">` + x + `</Each>`:    unbounded,
		`<All><Spawn>` + x + `</Spawn><Spawn>b</Spawn></All>`:                times(1),
		`<Answers><Answer value="1">` + x + `</Answer>a</Answers>`:           times(1),
		`<Answers><Answer value="1" />` + x + `</Answers>`:                   times(1),
		`<Dir path="d">` + x + `</Dir>`:                                      times(1),
	} {
		f := inspect(t, source, observer+steps)
		require.Empty(t, f.Refused, source)
		use := f.Uses[len(f.Uses)-1]
		require.Equal(t, "xmd.core/Elicit.ask@1", use.Identity, source)
		require.Equal(t, want, use.Most, source)
	}
}

func TestUsesAddUp(t *testing.T) {
	const x = `<File path="notes/a" />`
	f := inspect(t, `<Loop max={600}>`+x+`</Loop><Loop max={600}>`+x+`</Loop>`, observer+"\nlimits: { steps: 1000 }\n")
	require.Equal(t, []Use{{fileRead, "read", 2, Bound{1000, true}}}, f.Uses)
}

func TestTouches(t *testing.T) {
	const computed = "computed, within"
	for source, want := range map[string][]string{
		`<File path="./notes//a.md" />`:                                                              {"notes/a.md"},
		`<File path={"notes/" + "a.md"} />`:                                                          {computed, "  notes/**"},
		`<Dir path="out"><File path="a">x</File></Dir>`:                                              {"out/a"},
		`<Dir path="out"><Dir path="in"><File path="../a">x</File></Dir></Dir>`:                      {"out/a"},
		`<Let as="n" value="out" /><Dir path={n}><File path="a">x</File></Dir>`:                      {computed, "  out/**"},
		`<Let as="n" value="in" /><Dir path="out"><Dir path={n}><File path="a">x</File></Dir></Dir>`: {computed, "  out/**"},
		`<Dir path=".">x</Dir>`:                                                                      {"."},
		`<Glob include={["*"]} exclude={["b*"]} />`:                                                  {"files like * but not like b*"},
		`<Let as="n" value="*" /><Glob include={[n]} />`:                                             {computed, "  notes/*.md"},
		`<Fetch url="https://EXAMPLE.com/a" headers={{"Accept": "text/plain"}} />`:                   {"GET https://example.com/a accept: text/plain within 5s"},
		`<Let as="u" value="x" /><Fetch url={u} headers={{"accept": "text/plain"}} />`:               {computed, "  GET https://example.com/a accept: text/plain within 5s"},
		`<Elicit schema={{}}>?</Elicit>`:                                                             {"a person, with any question"},
		`<Json value={1} />`:                                                                         nil,
		`<Break />`:                                                                                  nil,
	} {
		if source == `<Break />` {
			source = `<Loop max={1}><Break /></Loop>`
		}
		f := inspect(t, source, observer)
		require.Empty(t, f.Refused, source)
		require.Equal(t, want, f.Elements[len(f.Elements)-1].Touches.Lines(), source)
	}
}

// Of a refused fragment nothing is shown but the class, whatever the format.
func TestRefusedFragmentIsNotRepeated(t *testing.T) {
	const marker = "Q7Vx2LmN9"
	f, m, err := InspectFragment("f.md", "<"+marker+" /> "+marker, state(t, "p.yaml", observer), []capability.Class{capability.ReadClass})
	require.NoError(t, err)
	require.Nil(t, m)
	require.EqualValues(t, "component", f.Refused)
	for _, text := range everyFormat(t, f) {
		require.NotContains(t, text, marker)
		require.Contains(t, text, "component")
	}
	golden(t, "refused.txt", Text(f, false))
}

func TestSelection(t *testing.T) {
	for _, allow := range [][]capability.Class{nil, {"all"}, {"read", "read"}} {
		_, _, err := InspectFragment("f.md", "x", state(t, "p.yaml", observer), allow)
		var wrong *SelectionError
		require.ErrorAs(t, err, &wrong)
	}
}

func TestModule(t *testing.T) {
	_, m, err := InspectFragment("f.md", `<Let as="a" value="é" />{a}<File path="notes/a.md" />`, state(t, "p.yaml", observer), []capability.Class{capability.ReadClass})
	require.NoError(t, err)
	require.True(t, IsModule("x", m.Bytes))
	require.True(t, IsModule("x.WASM", nil))
	require.False(t, IsModule("x.md", []byte("\x00as")))
	c, err := InspectModule("f.wasm", m.Bytes)
	require.NoError(t, err)
	require.Equal(t, m.Digest, c.Module.Digest)
	goldens(t, "module", c)
	for name, data := range map[string][]byte{
		"empty": nil, "text": []byte("hello"), "cut": m.Bytes[:len(m.Bytes)-1],
		"another's": []byte("\x00asm\x01\x00\x00\x00"),
	} {
		_, err := InspectModule("f.wasm", data)
		require.ErrorContains(t, err, "no module of a fragment", name)
	}
}

// everyFormat writes a report in every format.
func everyFormat(t testing.TB, r Report) map[string]string {
	t.Helper()
	json, err := JSON(r)
	require.NoError(t, err)
	sarif, err := SARIF(r, "1")
	require.NoError(t, err)
	html, err := HTML(r)
	require.NoError(t, err)
	return map[string]string{"text": Text(r, false), "json": json, "sarif": sarif, "html": html}
}

func TestBoundsDoNotOverflow(t *testing.T) {
	// Loops in one another would overflow any product of their bounds.
	deep := strings.Repeat("<Loop max={2147483647}>", 60) + "x" + strings.Repeat("</Loop>", 60)
	f := inspect(t, deep, observer)
	require.Empty(t, f.Refused)
	for _, e := range f.Elements[1:] {
		require.Equal(t, Bound{1_000_000, true}, e.Most)
	}
}
