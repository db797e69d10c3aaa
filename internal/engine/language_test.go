package engine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/value"
)

// A vector is a document and what it renders; fails names what the failure says.
type vector struct{ name, source, want, fails string }

func check(t *testing.T, vectors []vector) {
	t.Helper()
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			o := observe(t, v.source, trial{})
			require.NoError(t, o.err)
			if v.fails == "" {
				require.NoError(t, o.Err)
			} else {
				require.ErrorContains(t, o.Err, v.fails)
			}
			require.Equal(t, v.want, o.Output)
			require.Equal(t, o.Output, strings.Join(o.emitted, ""), "what was emitted is what was rendered")
		})
	}
}

func TestLexicalVectors(t *testing.T) {
	check(t, []vector{
		{"raw string", `<P a="x\"y" />`, `(a=x\"y b=)`, ""},
		{"unquoted value", `<P a=1 />`, `<P a=1 />`, ""},
		{"spread is ignored", `<P {...{a:1}} b="2" />`, `(a= b=2)`, ""},
		{"expression wins, first", `<P a="1" a={2} />`, `(a=2 b=)`, ""},
		{"expression wins, last", `<P a={"2"+""} a="1" />`, `(a=2 b=)`, ""},
		{"last static wins", `<P a="1" a="3" />`, `(a=3 b=)`, ""},
		{"space in closing tag", `<P>x</P >`, `<P>x</P >`, ""},
		{"unclosed", `A <P>x <Q /> y`, `A <P>x Q y`, ""},
		{"code span", "``<P />``", "``<P />``", ""},
		{"span over paragraphs", "a ` b\n\n<P /> ` c", "a ` b\n\n<P /> ` c", ""},
		{"comment", "<!-- <Q /> {k} -->", "<!-- <Q /> {k} -->", ""},
		{"crossed", `<P>a<Q>b</P>c</Q>`, `<P>aQ`, ""},
		{"attribute of an unclosed tag", `<P a="<Q />">x`, `<P a="<Q />">x`, ""},
		{"backslash", `\<Q />`, `\Q`, ""},
		{"hyphen ends a name", `<Q-b />`, ``, "must NOT have additional properties"},
		{"lower case", `<p />`, `<p />`, ""},
		{"tab after a closing fence", "```text\nx\n```\t\n<Q />", "```text\nx\n```\t\nQ", ""},
	})
}

func TestInterpolationVectors(t *testing.T) {
	const front = "---\nt: T\ntags: [a, b]\nprops: {s: {type: string, default: \"v {k}\"}}\n---\n<Let as=\"k\" value=\"K\" />"
	vectors := []vector{
		{"meta", `{meta.t} {meta.tags} [{meta.zz}]`, `T a, b []`, ""},
		{"inserted text is not read again", `{props.s}`, `v {k}`, ""},
		{"escapes", `\{meta.t} \{k} \\{k}`, `{meta.t} {k} \{k}`, ""},
		{"unbound", `{zz} {k.x} {k.length} { k } {k k} {}`, `{zz} {k.x} {k.length} { k } {k k} {}`, ""},
		{"members", `<Let as="o" value={{a:{b:null}}} />{o.a.b}|{o.a.b.c}|{o.z}|{o.z.y}`, `null|{o.a.b.c}|undefined|{o.z.y}`, ""},
		{"array", `<Let as="l" value={[1,[2,3],null]} />{l}`, `1,2,3,`, ""},
		{"passive fence", "```text\n{meta.t}{zz}\n```", "```text\nT{zz}\n```", ""},
		{"own members only", `<Let as="o" value={{}} />{o.toString}{o.constructor}`, `undefinedundefined`, ""},
		{"a brace that never closes", `{meta.{meta.`, `{meta.{meta.`, ""},
	}
	for i := range vectors {
		vectors[i].source = front + vectors[i].source
	}
	check(t, vectors)
}

func TestExpressionVectors(t *testing.T) {
	check(t, []vector{
		{"function by reference", "<Let as=\"f\" value={(n) => { const t = n % 10; return t === 1 ? `${n}st` : `${n}th`; }} /><Let as=\"s\" value={f(21)} />{s}", `21st`, ""},
		{"NaN is null", `<P a={NaN} />`, `(a= b=)`, ""},
		{"function as a prop", `<P a={() => 1} />`, ``, "a={() => 1}"},
		{"unbound name", `<P a={u.v} />`, ``, "u is not defined"},
		{"absent prop", `<P a={props.q} />`, `(a= b=)`, ""},
		{"two statements", `<P a={1; 2} />`, ``, "a={1; 2}"},
		{"comment in braces", `<P a={1 /* } */} />`, `<P a={1 /* } */} />`, ""},
		{"by reference", `<Let as="x" value={[1]} /><Let as="y" value={x.push(2)} />{x}`, `1,2`, ""},
	})
}

func TestComponentVectors(t *testing.T) {
	check(t, []vector{
		{"nested in its own content", `<Wrap><Wrap>in</Wrap></Wrap>`, `r r in`, ""},
		{"as", `<Wrap as="w">x</Wrap>[{w}]`, `[r x]`, ""},
		{"binding in content", `<Wrap><Let as="m" value={1} />{m}</Wrap>{m}`, `r 1{m}`, ""},
		{"layered text", `<Let as="o" value="O" /><Wrap>{o}</Wrap>`, `r O`, ""},
		{"layered props", `<Let as="o" value="O" /><Wrap><P a={o} /></Wrap>`, `r (a=O b=)`, ""},
		{"native content keeps bindings", `<Pass><Let as="z" value="Z" /></Pass>{z}`, `Z`, ""},
		{"native content in projected content does not", `<Wrap><Pass><Let as="z" value="Z" />{z}</Pass>{z}</Wrap>`, `r Z{z}`, ""},
		{"missing", `before <Missing /> after`, `before `, "Missing"},
		{"missing, printed", `<PrintErrors><Missing /> q</PrintErrors>`, `<!-- ERROR: <Missing> could not be imported: no component is named Missing: no Missing.md in components, ., and the library has none --> q`, ""},
		{"refused form", `<Only />`, ``, "write <Only>…</Only>"},
		{"soft", `a<Soft />b`, `a<!-- ERROR: <Soft>: soft trouble -->b`, ""},
		{"hard", `a<Hard />b`, `a`, "hard trouble"},
		{"failure keeps what content rendered", `<Pass>kept <Missing /> lost</Pass>`, `kept `, "Missing"},
		{"printed errors replace a native's text", `<PrintErrors><Pass>a <Hard /> b</Pass>c</PrintErrors>`, `<!-- ERROR: <Hard>: hard trouble -->c`, ""},
		{"a capture never swallows", `<PrintErrors><Pass as="x">a <Hard /></Pass>{x}</PrintErrors>`, `<!-- ERROR: <Hard>: hard trouble -->{x}`, ""},
	})
}

func TestProtectedNames(t *testing.T) {
	o := observe(t, "<Evaluate />", trial{files: memory{"Evaluate.md": "from a file", "components/Evaluate.md": "from a file"}})
	require.NoError(t, o.err)
	require.ErrorContains(t, o.Err, "protected")
	require.Empty(t, o.Output)
	require.Panics(t, func() { NewLibrary(nil, []Component{{Name: "Syntax"}}) })
	require.Panics(t, func() { NewLibrary([]Component{{Name: "File"}}, nil) })
	require.Panics(t, func() { NewLibrary(nil, []Component{{Name: "If"}}) })
	require.Panics(t, func() { NewLibrary(nil, []Component{{Name: "A"}, {Name: "A"}}) })
}

func TestConstructVectors(t *testing.T) {
	check(t, []vector{
		{"let trims the end", `<Let as="a">  x  </Let>[{a}]`, `[  x]`, ""},
		{"empty let", `<Let as="a"></Let>`, ``, "neither value nor content"},
		{"string condition", `<If condition="false">T</If>`, `T`, ""},
		{"array condition", `<If condition={[]}>T</If>`, `T`, ""},
		{"text after else", `<If condition={false}>x<Else>y</Else> z</If>`, ``, `"z"`},
		{"comment after else", `<If condition={false}>x<Else>y</Else><!-- z --></If>`, `y`, ""},
		{"each", `<Each in={[1,2]} let="i">{i}</Each>{i}`, `12{i}`, ""},
		{"each over text", `<Each in={"ab"} let="i">x</Each>`, ``, "must be an array"},
		{"loop", `<Loop max={3}>a</Loop>`, `aaa`, ""},
		{"quoted max", `<Loop max="3">a</Loop>`, ``, `"3"`},
		{"break", `<Let as="n" value={0} /><Loop max={5}><Let as="n" value={n + 1} />{n}<If condition={n === 2}><Break /></If>.</Loop>|{n}`, `1.2|2`, ""},
		{"break in projected content", `<Loop max={2}>a<Wrap><Break /></Wrap>b</Loop>c`, `ar c`, ""},
		{"regions", "d<Output>a</Output>\n<Output>b</Output>", `ab`, ""},
		{"empty region", `<Output />text`, ``, ""},
		{"nested region", `<If condition={true}><Output>x</Output></If>`, ``, "<Output>"},
		{"switch", `<Switch value={1}><Case value="1">s</Case><Case value={1}>n</Case></Switch>`, `n`, ""},
		{"switch default", `<Switch value="z"><Case value="1">s</Case><Case default>d</Case></Switch>`, `d`, ""},
		{"switch without match", `<Switch value="z"><Case value="1">s</Case></Switch>`, ``, ""},
		{"switch on undefined", `<Let as="u" value={undefined} /><Switch value={u}><Case value={undefined}>u</Case></Switch>`, `u`, ""},
		{"case after default", `<Switch value={1}><Case default>d</Case><Case value={1}>n</Case></Switch>`, ``, "must be the last"},
		{"all in authored order", `<All><Spawn>a</Spawn> <Spawn>b</Spawn></All>`, `ab`, ""},
		{"spawn shares nothing back", `<Let as="x" value={[1]} /><All><Spawn><Let as="y" value={x.push(2)} /></Spawn><Spawn>b</Spawn></All>{x}{y}`, `b1{y}`, ""},
		{"one spawn", `<All><Spawn>a</Spawn></All>`, ``, "at least two"},
		{"text in all", `<All><Spawn>a</Spawn>x<Spawn>b</Spawn></All>`, ``, `"x"`},
		{"break out of a spawn", `<Loop max={2}><All><Spawn><Break /></Spawn><Spawn>b</Spawn></All></Loop>`, ``, "cannot leave a <Spawn>"},
		{"stray construct", `x <Case>y</Case>`, `x `, "directly inside <Switch>"},
	})
}

// TestCommandOutput: what a command prints goes to the run's channel, or into the
// text of a Let where the command stands.
func TestCommandOutput(t *testing.T) {
	for _, v := range []struct{ name, source, output, stdout, stderr string }{
		{"live", "a\n```sh exec\nsay x\nwarn y\n```\nb", "a\nb", "x\n", "y\n"},
		{"silent", "a\n```sh silent exec\nsay x\nwarn y\n```\nb", "a\nb", "", ""},
		{"words after the terminal have no effect", "```sh exec silent\nsay x\n```\n", "", "x\n", ""},
		{"collected in place", "<Let as=\"t\">a\n```sh exec\nsay x\nwarn y\n```\nb</Let>{t}", "a\nx\nb", "", "y\n"},
		{"collected through a component", "<Let as=\"t\"><Wrap>a\n```sh exec\nsay x\n```\nb</Wrap></Let>{t}", "r a\nx\nb", "", ""},
		{"collected through a native component", "<Let as=\"t\"><Pass>a\n```sh exec\nsay x\n```\nb</Pass></Let>{t}", "a\nx\nb", "", ""},
		{"not collected by as", "<Wrap as=\"t\">a\n```sh exec\nsay x\n```\nb</Wrap>{t}", "r a\nb", "x\n", ""},
		{"not collected by each", "<Each in={[1]} let=\"i\" as=\"t\">a\n```sh exec\nsay x\n```\nb</Each>{t}", "a\nb", "x\n", ""},
		{"bound", "```sh exec as=\"t\"\nsay x\nwarn y\nexit 3\n```\n{t.exitCode}{t.stdout}{t.stderr}", "3x\ny\n", "", ""},
		{"bound inside a let", "<Let as=\"x\">\n```sh exec as=\"t\"\nsay x\nwarn y\n```\n{t.stdout}{t.stderr}</Let>{x}", "\nx\ny", "", ""},
	} {
		t.Run(v.name, func(t *testing.T) {
			o := observe(t, v.source, trial{})
			require.NoError(t, o.err)
			require.NoError(t, o.Err)
			require.Equal(t, v.output, o.Output)
			require.Equal(t, v.stdout, o.stdout)
			require.Equal(t, v.stderr, o.stderr)
			for cut := range len(o.events) + 1 {
				again := observe(t, v.source, trial{events: o.events[:cut]})
				require.NoError(t, again.err)
				require.Equal(t, o.Output, again.Output)
				require.Equal(t, v.stdout, again.stdout, "shown again from %d events", cut)
				require.Equal(t, v.stderr, again.stderr, "shown again from %d events", cut)
			}
		})
	}
}

func TestErrorModes(t *testing.T) {
	const region = "---\nx: 1\n---\n<Output>a <Missing /> b</Output>"
	files := memory{"Region.md": region, "Doc.md": "<Missing /><Output>o</Output>", "Inner.md": "i <Missing /> j",
		"Value.md": "---\nreturns: {type: string}\n---\n<Return value={1} />", "Wrap.md": "r <Content />"}
	for _, v := range []vector{
		{"a region passes through a printing boundary", `<PrintErrors>s <Region /> e</PrintErrors>`, `s a `, "Missing"},
		{"a native reports the region in its content", `<PrintErrors>s <Pass><Region /></Pass> e</PrintErrors>`, "s a <!-- ERROR: <Missing> could not be imported: no component is named Missing: no Missing.md in components, ., and the library has none --> e", ""},
		{"documentation is never printed", `<PrintErrors>s <Pass><Doc /></Pass> e</PrintErrors>`, `s `, "Missing"},
		{"a component inherits", `<PrintErrors><Inner /> e</PrintErrors>`, `i <!-- ERROR: <Missing> could not be imported: no component is named Missing: no Missing.md in components, ., and the library has none --> j e`, ""},
		{"a value's own fault is the caller's", `<PrintErrors><Value as="v" />x</PrintErrors>`, "<!-- ERROR: the value <Value> returns does not fit its returns declaration:\n  - (root) must be string -->x", ""},
		{"a failed command is recovered", "<PrintErrors>\n```sh exec\nexit 3\n```\nx</PrintErrors>y", "\n<!-- ERROR: Command failed (exit 3) -->xy", ""},
		{"arrows are escaped", `<PrintErrors><P a={"-->" + u} /></PrintErrors>`, ``, ""},
	} {
		t.Run(v.name, func(t *testing.T) {
			o := observe(t, v.source, trial{files: files})
			require.NoError(t, o.err)
			if v.fails != "" {
				require.ErrorContains(t, o.Err, v.fails)
				require.Equal(t, v.want, o.Output)
				return
			}
			require.NoError(t, o.Err)
			if v.want != "" {
				require.Equal(t, v.want, o.Output)
			} else {
				require.NotContains(t, strings.TrimSuffix(o.Output, "-->"), "-->")
			}
		})
	}
}

func TestValueRoots(t *testing.T) {
	const front = "---\nreturns: {type: string}\n---\n"
	for _, v := range []struct {
		name, source string
		want         any
		fails        string
	}{
		{"value", front + `<Return value="x" />`, "x", ""},
		{"undefined is offered as null", front + `<Return value={undefined} />`, nil, "must be string"},
		{"failure after the return", front + `<Return value="x" /><Missing />`, nil, "Missing"},
		{"in a branch", front + `<If condition={true}><Return value="x" /></If>`, "x", ""},
		{"in no branch", front + `<If condition={false}><Return value="x" /></If>`, nil, "no <Return> executed"},
		{"twice at run time", front + `<Each in={[1,2]} let="i"><Return value="x" /></Each>`, nil, "second <Return>"},
		{"null", "---\nreturns: {type: [string, \"null\"]}\n---\n<Return value={null} />", nil, ""},
		{"defaults", "---\nreturns: {type: object, properties: {a: {type: string, default: d}}}\n---\n<Return value={{}} />", value.Of("a", "d"), ""},
		{"no return", front + `x`, nil, "has no <Return"},
		{"returned function", "---\nreturns: {}\n---\n" + `<Return value={() => 1} />`, nil, "not JSON"},
	} {
		t.Run(v.name, func(t *testing.T) {
			o := observe(t, v.source, trial{})
			require.NoError(t, o.err)
			if v.fails != "" {
				require.ErrorContains(t, o.Err, v.fails)
				return
			}
			require.NoError(t, o.Err)
			require.Equal(t, v.want, o.Value)
		})
	}
}

func TestAnswers(t *testing.T) {
	check(t, []vector{
		{"template", `<Answers><Answer template="Ship {?x} now?" value={1} /><Ask as="a">Ship it now?</Ask>{a}</Answers>`, `1`, ""},
		{"holes", `<Answers><Answer template="{?x}-{?y}-{?x}" value={1} /><Ask as="a">ab-c-ab</Ask>{a}</Answers>`, `1`, ""},
		{"a repeated hole is the same text", `<Answers><Answer template="{?x}-{?x}" value={1} /><Ask as="a">a-b</Ask></Answers>`, ``, "no <Answer> matches"},
		{"unbound path never matches", `<Answers><Answer template="{nope}" value={1} /><Ask as="a">{nope}</Ask></Answers>`, ``, "no <Answer> matches"},
		{"unclosed hole", `<Answers><Answer template="{?" value={1} />x</Answers>`, ``, "write {?name}"},
		{"delegate must be a boolean", `<Answers delegate="yes"><Answer value={1} />x</Answers>`, ``, "true or false"},
		{"too many ways to fit", `<Answers><Answer template="{?a} {?a} {?b} {?b} {?c} {?c}" value={1} /><Ask as="a">` + strings.Repeat("ab ", 300) + `</Ask></Answers>`, ``, "more than 1000000 ways"},
		{"nobody further out", `<Answers delegate={true}><Answer template="x" value={1} /><Ask as="a">y</Ask></Answers>`, ``, "no provider"},
	})
}
