package admission

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/wasm"
)

// programs are sources and the programs they are resolved to.
func TestProgram(t *testing.T) {
	g := closed(t)
	text := func(s string) *wasm.Text { return &wasm.Text{Value: s} }
	lit := func(json string) *wasm.Literal { return &wasm.Literal{JSON: json} }
	name := func(n string) *wasm.Name { return &wasm.Name{Name: n} }
	for _, r := range []struct {
		source   string
		elements []wasm.Element
		body     []wasm.Node
	}{
		{"", nil, nil},
		{"a \\{b} <!-- {c --> `d`\n", nil, []wasm.Node{text("a {b} <!-- {c --> `d`\n")}},
		{
			`<Pick n={1} s="x" any as="p" />{p.q}!{p}`,
			[]wasm.Element{{Name: "Pick", Identity: "com.example/Pick@1", As: true, Parent: -1}},
			[]wasm.Node{
				&wasm.Invoke{Props: []wasm.Prop{{Name: "n", Value: lit("1")}, {Name: "s", Value: lit(`"x"`)}, {Name: "any", Value: lit("true")}}, As: "p"},
				&wasm.Show{Source: "{p.q}"}, text("!"), &wasm.Show{Source: "{p}"},
			},
		},
		{
			`<Dir path="docs"><File path="x">t</File></Dir>`,
			[]wasm.Element{
				{Name: "Dir", Identity: "xmd.core/Dir.ensure@1", Form: wasm.Paired, Parent: -1},
				{Name: "File", Identity: "xmd.core/File.write@1", Form: wasm.Paired, Offset: 17},
			},
			nil,
		},
		{
			`<Let as="x">a</Let><Let as="y" value={x} />`,
			[]wasm.Element{{Name: "Let", Form: wasm.Paired, As: true, Parent: -1}, {Name: "Let", As: true, Parent: -1, Offset: 19}},
			[]wasm.Node{&wasm.Let{As: "x", Body: []wasm.Node{text("a")}}, &wasm.Let{Element: 1, As: "y", Value: name("x")}},
		},
		{
			`<If condition>a<Else>b</Else> </If>`,
			[]wasm.Element{{Name: "If", Form: wasm.Paired, Parent: -1}, {Name: "Else", Form: wasm.Paired, Offset: 15}},
			[]wasm.Node{&wasm.If{Condition: lit("true"), Then: []wasm.Node{text("a")}, ElseElement: 1, Else: []wasm.Node{text("b")}}},
		},
		{
			`<If condition={1} />`,
			[]wasm.Element{{Name: "If", Parent: -1}},
			[]wasm.Node{&wasm.If{Condition: lit("1"), ElseElement: -1}},
		},
		{
			`<Switch value={1}> <Case value="1">a</Case> <Case default>b</Case> </Switch>`,
			[]wasm.Element{{Name: "Switch", Form: wasm.Paired, Parent: -1}, {Name: "Case", Form: wasm.Paired, Offset: 19}, {Name: "Case", Form: wasm.Paired, Offset: 44}},
			[]wasm.Node{&wasm.Switch{
				Value: lit("1"), Cases: []wasm.Case{{Element: 1, Value: lit(`"1"`), Body: []wasm.Node{text("a")}}},
				DefaultElement: 2, Default: []wasm.Node{text("b")},
			}},
		},
		{
			`<Each in={[1]} let="i" as="all">{i}</Each>{all}`,
			[]wasm.Element{{Name: "Each", Form: wasm.Paired, As: true, Parent: -1}},
			[]wasm.Node{&wasm.Each{In: lit("[1]"), Let: "i", As: "all", Body: []wasm.Node{&wasm.Show{Source: "{i}"}}}, &wasm.Show{Source: "{all}"}},
		},
		{
			`<Loop max={3} name="l">a<Break />b</Loop>`,
			[]wasm.Element{{Name: "Loop", Form: wasm.Paired, Parent: -1}, {Name: "Break", Offset: 24}},
			[]wasm.Node{&wasm.Loop{Name: "l", Max: lit("3"), Body: []wasm.Node{text("a"), &wasm.Break{Element: 1}, text("b")}}},
		},
		{
			`<Answers delegate>a<Answer template="q" value='{"1":0}'/>b<Answer value={{x:1}}>c</Answer></Answers>`,
			[]wasm.Element{{Name: "Answers", Form: wasm.Paired, Parent: -1}, {Name: "Answer", Offset: 19}, {Name: "Answer", Form: wasm.Paired, Offset: 58}},
			[]wasm.Node{&wasm.Answers{
				Delegate: lit("true"),
				Answers: []wasm.Answer{
					{Element: 1, HasTemplate: true, Template: "q", Value: lit(`{"1":0}`)},
					{Element: 2, Children: []wasm.Node{text("c")}, Value: lit(`{"x":1}`)},
				},
				Body: []wasm.Node{text("ab")},
			}},
		},
		{
			`<All> <Spawn>a</Spawn><Spawn>b</Spawn></All>`,
			[]wasm.Element{{Name: "All", Form: wasm.Paired, Parent: -1}, {Name: "Spawn", Form: wasm.Paired, Offset: 6}, {Name: "Spawn", Form: wasm.Paired, Offset: 22}},
			[]wasm.Node{&wasm.All{Spawns: []wasm.Spawn{{Element: 1, Body: []wasm.Node{text("a")}}, {Element: 2, Body: []wasm.Node{text("b")}}}}},
		},
	} {
		d := Preflight("test", r.source, g)
		require.Nil(t, d.Refusal, r.source)
		require.Equal(t, r.elements, d.Program.Elements, r.source)
		require.Equal(t, d.Digest, d.Program.Digest)
		require.Equal(t, r.source, d.Source)
		if r.body != nil {
			require.Equal(t, r.body, d.Program.Body, r.source)
		}
	}
}

func TestNamed(t *testing.T) {
	d := Preflight("test", "é😀 <If condition><Pick />\n <Wrap><Probe /></Wrap></If>", closed(t))
	require.Nil(t, d.Refusal)
	require.Equal(t, []Named{
		{"Pick", "com.example/Pick@1", capability.SelfClosing, 21, 1, 19},
		{"Wrap", "com.example/Wrap@1", capability.Paired, 31, 2, 2},
		{"Probe", "com.example/Probe@1", capability.SelfClosing, 37, 2, 8},
	}, d.Named)
}

// TestLoneSurrogates: a string that is no text is judged as the text it becomes.
func TestLoneSurrogates(t *testing.T) {
	g := closed(t)
	require.Empty(t, class(`<Pick s={"\ud800"} />`, g))
	require.Empty(t, class(`<Pick s={"\\ud800"} any={{"\udc00": ["a\ud800\\"]}} />`, g))
	for json, want := range map[string]string{
		`"a"`:           `"a"`,
		`"\ud800"`:      `"\ufffd"`,
		`"\\ud800"`:     `"\\ud800"`,
		`"\\\ud800x"`:   `"\\\ufffdx"`,
		`"\ud800\udbff`: `"\ufffd\ufffd`,
		`"\ud7ff"`:      `"\ud7ff"`,
	} {
		require.Equal(t, want, withoutSurrogates(json))
	}
}

// TestDirectories: a literal path is judged below the directories around it as far
// as the source decides them.
func TestDirectories(t *testing.T) {
	g := closed(t)
	for source, want := range map[string]Class{
		`<Dir path="docs"><File path="a">t</File></Dir>`:                                                              "",
		`<Dir path="docs"><File path="docs/../../a">t</File></Dir>`:                                                   PathClass,
		`<Dir path="docs"><Dir path="in"><File path="../a">t</File></Dir></Dir>`:                                      "",
		`<Dir path="docs"><Dir path="in"><File path="../../a">t</File></Dir></Dir>`:                                   PathClass,
		`<Dir path="docs"><Dir path="in">t</Dir><File path="../docs/a">t</File></Dir>`:                                "",
		`<Dir path="src"><File path="docs/a">t</File></Dir>`:                                                          PathClass,
		`<Dir path="src">t</Dir><File path="docs/a">t</File>`:                                                         "",
		`<Let as="p" value="docs" /><Dir path={p}><File path="a">t</File></Dir>`:                                      "",
		`<Let as="p" value="docs" /><Dir path={p}><Dir path="in"><File path="../a">t</File></Dir></Dir>`:              "",
		`<Let as="p" value="docs" /><Dir path={p}><File path="a\b">t</File></Dir>`:                                    PathClass,
		`<Dir path="docs"><If condition><All><Spawn><File path="a">t</File></Spawn><Spawn>t</Spawn></All></If></Dir>`: "",
	} {
		require.Equal(t, want, class(source, g), source)
	}
}

// TestDepth: no profile makes a fragment nest deeper than what reads a program
// follows by recursion.
func TestDepth(t *testing.T) {
	g := grantOf(t, raised(t, capability.Closed))
	nested := func(n int) string { return strings.Repeat("<Wrap>", n) + "t" + strings.Repeat("</Wrap>", n) }
	require.Empty(t, class(nested(MaxDepth), g))
	require.Equal(t, Limit, class(nested(MaxDepth+1), g))
	require.Empty(t, class("<Pick any={"+strings.Repeat("[", 512)+strings.Repeat("]", 512)+"} />", g))
	require.Equal(t, Limit, class("<Pick any={"+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+"} />", g))
}
