package admission

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/capability"
)

// A row is a refused form and its nearest admitted neighbour.
type row struct{ refused, admitted string }

const both = capability.Dialect("")

// classRows has, for every class, the forms that are refused with it.
var classRows = []struct {
	class   Class
	dialect capability.Dialect
	rows    []row
}{
	{Block, both, []row{
		{"```bash exec\nid\n```\n", "```bash\nid\n```\n"},
		{"~~~js eval\n1\n~~~\n", "~~~js\n1\n~~~\n"},
		{"   ```sh exec=1\nid\n   ```\n", "   ```sh\nid\n   ```\n"},
		{"```sh silent exec[x]\nid\n```\n", "```sh silent\nid\n```\n"},
		{"```bash &#101;xec\nid\n```\n", "```bash &#101;xe\nid\n```\n"},
		{"```bash exec\\=1\nid\n```\n", "```bash e\\xec\nid\n```\n"},
		{"~~~ sh daemon exec\nid\n~~~\n", "~~~ exec\nid\n~~~\n"},
		{"> ```sh exec\n> id\n> ```\n", "> ```sh\n> id\n> ```\n"},
		{"- ```sh exec\n  id\n  ```\n", "- ```sh\n  id\n  ```\n"},
	}},
	{Expression, capability.Flat, []row{
		{`<Pick n={1 + 1} />`, `<Pick n={11} />`},
		{`<Pick any={x} />`, `<Pick any={"x"} />`},
		{"<Pick s={`a${1}`} />", "<Pick s={`a1`} />"},
		{`<Pick list={[1, x]} />`, `<Pick list={[1, "x"]} />`},
		{`<Pick any={!true} />`, `<Pick any={true} />`},
		{`<Pick any={undefined} />`, `<Pick any={null} />`},
		{`<Pick any={{a: b}} />`, `<Pick any={{a: "b"}} />`},
	}},
	{Expression, capability.Closed, []row{
		{`<Pick n={f(1)} />`, `<Pick n={(1)} />`},
		{`<Pick any={x} />`, `<Let as="x" value={1} /><Pick any={x} />`},
		{`<Pick any={props.token} />`, `<Let as="props" value={{token: 1}} /><Pick any={props.token} />`},
		{`<Pick any={[...[1]]} />`, `<Pick any={[[1]]} />`},
		{`<Pick any={undefined} />`, `<Let as="undefined" value={1} /><Pick any={undefined} />`},
		{`<Pick any={1e999} />`, `<Pick any={1e99} />`},
		{`<Pick any={typeof 1} />`, `<Pick any={-1} />`},
		{`<Let as="x" value={{}} /><Pick any={x.constructor} />`, `<Let as="x" value={{}} /><Pick any={x.constructor_} />`},
		{`<Pick any={1 /* one */} />`, `<Pick any={1} />`},
		{`<Let as="x" value={x} />`, `<Let as="y" value={1} /><Let as="x" value={y} />`},
		{`<If condition={a = 1}>t</If>`, `<If condition={1 === 1}>t</If>`},
		{`<Each in={[1].map(f)} let="i">t</Each>`, `<Each in={[1].f} let="i">t</Each>`},
	}},
	{Interpolation, capability.Flat, []row{
		{`{x}`, `{ x}`},
		{`a {x.y} b`, `a {x.1} b`},
		{`{props.x}`, `\{props.x}`},
		{`{meta.a b}`, `{meta .a b}`},
		{"`{x}`", "`{x `"},
		{"```\n{x}\n```\n", "```\n{x y}\n```\n"},
		{`\\{x}{y}`, `\\{x}{y z}`},
	}},
	{Interpolation, capability.Closed, []row{
		{`{x}`, `<Let as="x" value={1} />{x}`},
		{`<Let as="x" value={1} />{x}{y.z}`, `<Let as="x" value={1} />{x}{x.z}`},
		{`<Let as="props" value={1} />{props.x}`, `<Let as="props" value={1} />{props}`},
		{`<Let as="meta" value={1} />{meta.x}`, `<Let as="meta" value={1} />{meta}`},
		{"`{x}`<Let as=\"x\" value={1} />", "<Let as=\"x\" value={1} />`{x}`"},
		{"```\n{x}\n```\n<Let as=\"x\" value={1} />", "<Let as=\"x\" value={1} />\n```\n{x}\n```\n"},
		{`<Wrap><Pick as="x" /></Wrap>{x}`, `<Wrap><Pick as="x" />{x}</Wrap>`},
		{`<Answers><Answer template="{x}?" value={1} />t</Answers>`, `<Answers><Answer template="{?x}?" value={1} />t</Answers>`},
	}},
	{Binding, capability.Flat, []row{
		{`<Pick as="x" />`, `<Pick />`},
		{`<Pick as={"x"} />`, `<Pick any={"x"} />`},
		{`<Fetch url="https://api.example.test/one" as="x" />`, `<Fetch url="https://api.example.test/one" />`},
		{`<Probe as="x" />`, `<Probe />`},
		{`<Pick as />`, `<Pick any />`},
	}},
	{Binding, capability.Closed, []row{
		{`<Probe as="x" />`, `<Probe />`},
		{`<Pick as={x} />`, `<Pick as={"x"} />`},
		{`<Pick as={'x'} />`, `<Pick as='x' />`},
		{`<Pick as />`, `<Pick as="as" />`},
		{`<Pick as="" />`, `<Pick as="_" />`},
		{`<Pick as="1x" />`, `<Pick as="x1" />`},
		{`<Pick as="class" />`, `<Pick as="clazz" />`},
		{`<Let as="a-b" value={1} />`, `<Let as="a_b" value={1} />`},
		{`<Each in={[]} let={i}>t</Each>`, `<Each in={[]} let={"i"}>t</Each>`},
		{`<Each in={[]} let="i" as="new">t</Each>`, `<Each in={[]} let="i" as="news">t</Each>`},
		{`<Pick as="x" /><Wrap><Pick as="x" /></Wrap>`, `<Pick as="x" /><Wrap><Pick as="y" /></Wrap>`},
		{`<Pick as="x" /><Wrap><Each in={[]} let="x">t</Each></Wrap>`, `<Pick as="x" /><Each in={[]} let="x">t</Each>`},
		{`<File path="docs/a">t<Fail message="m" as="x" /></File>`, `<File path="docs/a">t<Fail message="m" /></File>`},
	}},
	{Component, both, []row{
		{`<Exec cmd="id" />`, `<Probe />`},
		{`<FETCH url="https://api.example.test/one" />`, `<Fetch url="https://api.example.test/one" />`},
		{`<Fetch:raw url="https://api.example.test/one" />`, `<Fetch url="https://api.example.test/one" />`},
		{`<A-b />`, `<a-b />`},
		{`<File.Raw path="docs/a" />`, `<File path="docs/a" />`},
		{`<Evaluate text="x" />`, `<evaluate text="x" />`},
		{`<Syntax />`, `<syntax />`},
		{`<Wrap><Exec /></Wrap>`, `<Wrap><Probe /></Wrap>`},
	}},
	{Component, capability.Flat, []row{
		{`<Json value={1} />`, `<Pick any={1} />`},
		{`<CodeBlock value="x" />`, `<Pick s="x" />`},
		{`<Fail message="x" />`, `<Pick any="x" />`},
	}},
	{Content, both, []row{
		{`<Probe>t</Probe>`, `<Probe />`},
		{`<Probe> </Probe>`, `<Probe /> `},
		{`<Pick n={1}>t</Pick>`, `<Pick n={1} />t`},
		{`<Fetch url="https://api.example.test/one">t</Fetch>`, `<Fetch url="https://api.example.test/one" />`},
		{`<File.Delete path="docs/a">t</File.Delete>`, `<File.Delete path="docs/a" />`},
		{`<Glob include={["*"]}>t</Glob>`, `<Glob include={["*"]} />`},
	}},
	{FormClass, both, []row{
		{`<Wrap />`, `<Wrap>t</Wrap>`},
		{`<Wrap n={1} />`, `<Wrap n={1}>t</Wrap>`},
		{`<Dir path="docs" />`, `<Dir path="docs">t</Dir>`},
		{`t <Dir path="docs" /> t`, `t <Dir path="docs">t</Dir> t`},
		{`<Wrap><Wrap /></Wrap>`, `<Wrap><Wrap>t</Wrap></Wrap>`},
	}},
	{Structure, both, []row{
		{`<Content />`, `<content />`},
		{`<Output>t</Output>`, `<output>t</output>`},
		{`<Return value={1} />`, `<return value={1} />`},
		{`<Content>t</Content>`, `<content>t</content>`},
		{`<Wrap><Return /></Wrap>`, `<Wrap><return /></Wrap>`},
	}},
	{Structure, capability.Closed, []row{
		{`<Else>t</Else>`, `<If condition={1}><Else>t</Else></If>`},
		{`<Case value={1}>t</Case>`, `<Switch value={1}><Case value={1}>t</Case></Switch>`},
		{`<Answer value={1} />`, `<Answers><Answer value={1} />t</Answers>`},
		{`<Spawn>t</Spawn>`, `<All><Spawn>t</Spawn><Spawn>t</Spawn></All>`},
		{`<Let as="x" />`, `<Let as="x" value />`},
		{`<Let as="x"></Let>`, `<Let as="x"> </Let>`},
		{`<Let value={1} />`, `<Let as="x" value={1} />`},
		{`<Let as="x" value={1}>t</Let>`, `<Let as="x" value={1}></Let>`},
		{`<Let as="x" value={1} y={1} />`, `<Let as="x" value={1} />`},
		{`<If>t</If>`, `<If condition>t</If>`},
		{`<If condition={1} as="x">t</If>`, `<If condition={1} />`},
		{`<If condition={1}>t<Else /></If>`, `<If condition={1}>t<Else> </Else></If>`},
		{`<If condition={1}>t<Else>e</Else>x</If>`, "<If condition={1}>t<Else>e</Else> <!-- x --> \n</If>"},
		{`<If condition={1}><Else>e</Else><Else>e</Else></If>`, `<If condition={1}><If condition={1}><Else>e</Else></If><Else>e</Else></If>`},
		{`<If condition={1}>t<Else x>e</Else></If>`, `<If condition={1}>t<Else >e</Else></If>`},
		{`<Switch>t</Switch>`, `<Switch value><Case value>t</Case></Switch>`},
		{`<Switch value={1}></Switch>`, `<Switch value={1}><Case default></Case></Switch>`},
		{`<Switch value={1} />`, `<Switch value={1}> <Case default></Case> </Switch>`},
		{`<Switch value={1}>x<Case default></Case></Switch>`, `<Switch value={1}><!-- x --><Case default></Case></Switch>`},
		{`<Switch value={1}><Case default>t</Case><Case value={1}>t</Case></Switch>`, `<Switch value={1}><Case value={1}>t</Case><Case default>t</Case></Switch>`},
		{`<Switch value={1}><Case default>t</Case><Case default>t</Case></Switch>`, `<Switch value={1}><Case value={1}>t</Case><Case value={1}>t</Case></Switch>`},
		{`<Switch value={1}><Case default={true}>t</Case></Switch>`, `<Switch value={1}><Case default>t</Case></Switch>`},
		{`<Switch value={1}><Case value={1} default>t</Case></Switch>`, `<Switch value={1}><Case value={1}>t</Case></Switch>`},
		{`<Switch value={1}><Case value={1} /></Switch>`, `<Switch value={1}><Case value={1}></Case></Switch>`},
		{`<Switch value={1}><Case>t</Case></Switch>`, `<Switch value={1}><Case value="">t</Case></Switch>`},
		{`<Each let="i">t</Each>`, `<Each let="i" in={[]}>t</Each>`},
		{`<Each in={[]}>t</Each>`, `<Each in={[]} let="i" />`},
		{`<Each in={1} let="i">t</Each>`, `<Each in={[1]} let="i">t</Each>`},
		{`<Each in="abc" let="i">t</Each>`, `<Each in={["abc"]} let="i">t</Each>`},
		{`<Each in={[]} let="i" key="x">t</Each>`, `<Each in={[]} let="i" as="x">t</Each>`},
		{`<Loop>t</Loop>`, `<Loop max={1}>t</Loop>`},
		{`<Loop max={0}>t</Loop>`, `<Loop max={1e3}>t</Loop>`},
		{`<Loop max={1.5}>t</Loop>`, `<Loop max={15}>t</Loop>`},
		{`<Loop max="3">t</Loop>`, `<Loop max={3}>t</Loop>`},
		{`<Loop max>t</Loop>`, `<Loop max={1} name="n">t</Loop>`},
		{`<Loop max={2147483648}>t</Loop>`, `<Loop max={2147483647}>t</Loop>`},
		{`<Loop max={1} name="">t</Loop>`, `<Loop max={1} name=" ">t</Loop>`},
		{`<Loop max={1} name={1}>t</Loop>`, `<Loop max={1} name={"1"}>t</Loop>`},
		{`<Break />`, `<Loop max={1}><Break /></Loop>`},
		{`<Loop max={1}><Break></Break></Loop>`, `<Loop max={1}><Break /></Loop>`},
		{`<Loop max={1}><Break now /></Loop>`, `<Loop max={1}><Break/></Loop>`},
		{`<Loop max={1}><Wrap><Break /></Wrap></Loop>`, `<Wrap><Loop max={1}><Break /></Loop></Wrap>`},
		{`<Loop max={1}><Let as="x">t<Break /></Let></Loop>`, `<Let as="x"><Loop max={1}>t<Break /></Loop></Let>`},
		{`<Loop max={1}><Each in={[]} let="i" as="x"><Break /></Each></Loop>`, `<Loop max={1}><Each in={[]} let="i"><Break /></Each></Loop>`},
		{`<Loop max={1}><All><Spawn><Break /></Spawn><Spawn>t</Spawn></All></Loop>`, `<All><Spawn><Loop max={1}><Break /></Loop></Spawn><Spawn>t</Spawn></All>`},
		{`<Loop max={1}><Answers><Answer value={1}><Break /></Answer>t</Answers></Loop>`, `<Loop max={1}><Answers><Answer value={1} /><Break /></Answers></Loop>`},
		{`<Answers />`, `<Answers>t</Answers>`},
		{`<Answers><Answer value={1} /> <!-- c --></Answers>`, `<Answers><Answer value={1} /> c</Answers>`},
		{`<Answers delegate="true">t</Answers>`, `<Answers delegate={true}>t</Answers>`},
		{`<Answers delegate={1}>t</Answers>`, `<Answers delegate>t</Answers>`},
		{`<Answers name="x">t</Answers>`, `<Answers>t</Answers>`},
		{`<Answers><Answer template="a" />t</Answers>`, `<Answers><Answer template="a" value={1} />t</Answers>`},
		{`<Answers><Answer template={1} value={1} />t</Answers>`, `<Answers><Answer template={"1"} value={1} />t</Answers>`},
		{`<Answers><Answer template="a" value={1}>b</Answer>t</Answers>`, `<Answers><Answer value={1}>b</Answer>t</Answers>`},
		{`<Answers><Answer template="{?a}{?b}" value={1} />t</Answers>`, `<Answers><Answer template="{?a} {?b}" value={1} />t</Answers>`},
		{`<Answers><Answer template="{?a" value={1} />t</Answers>`, `<Answers><Answer template="{a" value={1} />t</Answers>`},
		{`<Answers><Answer value="yes" />t</Answers>`, `<Answers><Answer value='"yes"' />t</Answers>`},
		{`<Answers><Answer value={"yes"} />t</Answers>`, `<Answers><Answer value={'yes'} />t</Answers>`},
		{`<Answers><Answer value='{"a":1,"a":2}' />t</Answers>`, `<Answers><Answer value='{"a":1,"b":2}' />t</Answers>`},
		{`<All />`, `<All><Spawn>t</Spawn><Spawn>t</Spawn></All>`},
		{`<All><Spawn>t</Spawn></All>`, `<All><Spawn>t</Spawn> <Spawn>t</Spawn></All>`},
		{`<All>x<Spawn>t</Spawn><Spawn>t</Spawn></All>`, `<All><!-- x --><Spawn>t</Spawn><Spawn>t</Spawn></All>`},
		{`<All max={1}><Spawn>t</Spawn><Spawn>t</Spawn></All>`, `<All ><Spawn>t</Spawn><Spawn>t</Spawn></All>`},
		{`<All><Spawn /><Spawn>t</Spawn></All>`, `<All><Spawn> </Spawn><Spawn>t</Spawn></All>`},
		{`<All><Spawn as="x">t</Spawn><Spawn>t</Spawn></All>`, `<All><Spawn >t</Spawn><Spawn>t</Spawn></All>`},
	}},
	{Encoding, both, []row{
		{"a\xff", "a\u00ff"},
		{"a\x00", "a0"},
		{"\ufeffa", "a\ufeff"},
		{"a\rb", "a\r\nb"},
		{"a\vb", "a\tb"},
		{"a\fb", "a\nb"},
		{"<F\u0435tch />", "<f\u0435tch />"},
		{"</é>", "< /é>"},
		{"<Probe\u00a0/>", "<Probe />"},
		{"<File path=\"docs/a\u202eb\" />", "<File path=\"docs/ab\" />"},
	}},
	{Construct, both, []row{
		{"---\na: 1\n---\n", "----\na: 1\n---\n"},
		{"---\n", " ---\n"},
		{"<Probe", "<probe"},
		{"<Probe a=1 />", "<probe a=1 />"},
		{"<Wrap>t", "<wrap>t"},
		{"</Wrap>", "</wrap>"},
		{"<Wrap>t</Wrap >", "<Wrap>t</Wrap> >"},
		{"<!-- <Probe /> -->", "<!-- <probe /> -->"},
		{"<!-- a", "<! -- a"},
		{"```\na", "```\na\n```"},
		{"`a\n<Probe /> b`", "`a <Probe /> b`"},
		{"<Probe {...x} />", "<Probe />"},
		{"<Pick any={<Probe />} />", "<Pick any={'< Probe />'} />"},
		{"<PrintErrors>t</PrintErrors>", "<printErrors>t</printErrors>"},
	}},
	{Construct, capability.Flat, []row{
		{`<Let as="x" value={1} />`, `<let as="x" value={1} />`},
		{`<If condition={true}>t</If>`, `<if condition="true">t</if>`},
		{`<Each in={[]} let="i">t</Each>`, `<each in={[]} let="i">t</each>`},
		{`<Loop max={1}>t</Loop>`, `<loop max={1}>t</loop>`},
		{`<Else>t</Else>`, `<else>t</else>`},
		{`<Break />`, `<break />`},
		{`<All><Spawn>t</Spawn><Spawn>t</Spawn></All>`, `<all>t</all>`},
	}},
	{Construct, capability.Closed, []row{
		{`<Let as="x" select="h1">t</Let>`, `<Let as="x">t</Let>`},
		{`<If {...x} condition={1}>t</If>`, `<If condition={1}>t</If>`},
		{`<If condition={<Probe />}>t</If>`, `<If condition={1}>t</If>`},
		{`<Loop max={1}><Break {...x} /></Loop>`, `<Loop max={1}><Break /></Loop>`},
		{`<All {...x}><Spawn>t</Spawn><Spawn>t</Spawn></All>`, `<All><Spawn>t</Spawn><Spawn>t</Spawn></All>`},
	}},
	{Props, both, []row{
		{`<Probe note="x" />`, `<Probe />`},
		{`<Pick n="1" />`, `<Pick n={1} />`},
		{`<Pick s="" />`, `<Pick s="x" />`},
		{`<Pick n={1} n={1} />`, `<Pick n={1} any={1} />`},
		{`<Pick slot="x" />`, `<Pick s="x" />`},
		{`<Pick list />`, `<Pick any />`},
		{`<File />`, `<File path="docs/a" />`},
		{`<Pick N={1} />`, `<Pick n={1} />`},
	}},
	{Props, capability.Closed, []row{
		{`<Pick as="x" as="y" />`, `<Pick as="x" />`},
		{`<If condition={1} condition={1}>t</If>`, `<If condition={1}>t</If>`},
		{`<Let as="x" value={1} /><Pick any={x} n="1" />`, `<Let as="x" value={1} /><Pick any={x} n={1} />`},
		{`<Let as="x" value={1} /><Pick other={x} />`, `<Let as="x" value={1} /><Pick any={x} />`},
		{`<Json />`, `<Json value />`},
		{`<CodeBlock value="x" language="a b" />`, `<CodeBlock value="x" language="a" />`},
		{`<Fail message="" />`, `<Fail message="m" />`},
	}},
	{RequestClass, both, []row{
		{`<Fetch url="https://api.example.test/three" />`, `<Fetch url="https://api.example.test/one" />`},
		{`<Fetch url="http://api.example.test/one" />`, `<Fetch url="HTTPS://api.example.test/one" />`},
		{`<Fetch url="https://api.example.test@evil.example/one" />`, `<Fetch url="https://api.example.test:443/one" />`},
		{`<Fetch url="https://api.example.test/two" />`, `<Fetch url="https://api.example.test/two" headers={{accept: "text/plain"}} />`},
		{`<Fetch url="https://api.example.test/two" headers={{accept: "text/html"}} />`, `<Fetch url="https://api.example.test/two" headers={{Accept: "text/plain"}} />`},
		{`<Fetch url="https://api.example.test/one" method="HEAD" />`, `<Fetch url="https://api.example.test/one" method="GET" />`},
	}},
	{PathClass, both, []row{
		{`<File path="../x" />`, `<File path="docs/x" />`},
		{`<File path="/docs/x" />`, `<File path="docs/./x" />`},
		{`<File path="src/x" />`, `<File path="docs/src/x" />`},
		{`<File path="docs/NUL" />`, `<File path="docs/NULL" />`},
		{`<File path="docs/.git/config">t</File>`, `<File path="docs/git/config">t</File>`},
		{`<Dir path="../x">t</Dir>`, `<Dir path="x">t</Dir>`},
		{`<Dir path="docs"><File path="../x">t</File></Dir>`, `<Dir path="docs"><File path="x">t</File></Dir>`},
		{`<Glob include={["../*"]} />`, `<Glob include={["*"]} />`},
		{`<File.Delete path="xmd.yaml" />`, `<File.Delete path="docs/xmd.yaml" />`},
	}},
	{Limit, both, []row{
		{strings.Repeat("a", 4097), strings.Repeat("a", 4096)},
		{strings.Repeat("<Probe />", 21), strings.Repeat("<Probe />", 20)},
		{strings.Repeat("<Wrap>", 9) + "t" + strings.Repeat("</Wrap>", 9), strings.Repeat("<Wrap>", 8) + "t" + strings.Repeat("</Wrap>", 8)},
		{"<Pick any={" + strings.Repeat("[", 9) + strings.Repeat("]", 9) + "} />", "<Pick any={" + strings.Repeat("[", 8) + strings.Repeat("]", 8) + "} />"},
		{"<Pick any={" + strings.Repeat(`{"a":`, 9) + "1" + strings.Repeat("}", 9) + "} />", "<Pick any={" + strings.Repeat(`{"a":`, 8) + "1" + strings.Repeat("}", 8) + "} />"},
	}},
	{Limit, capability.Closed, []row{
		{"<Pick any={1" + strings.Repeat(" + 1", 257) + "} />", "<Pick any={1" + strings.Repeat(" + 1", 256) + "} />"},
		{"<Pick any={" + strings.Repeat("(", 9) + "1" + strings.Repeat(")", 9) + "} />", "<Pick any={" + strings.Repeat("(", 8) + "1" + strings.Repeat(")", 8) + "} />"},
		{"<Answers><Answer value='" + strings.Repeat("[", 9) + strings.Repeat("]", 9) + "' />t</Answers>", "<Answers><Answer value='" + strings.Repeat("[", 8) + strings.Repeat("]", 8) + "' />t</Answers>"},
	}},
}

// bounded is the profile of the class table, with limits that fit on a line.
func bounded(t *testing.T, d capability.Dialect) *capability.Grant {
	p := profile(t, d)
	p.Limits = capability.Limits{Source: 4096, Elements: 20, Depth: 8}
	return grantOf(t, p)
}

func TestA2_EveryClassAndItsNeighbour(t *testing.T) {
	grants := map[capability.Dialect]*capability.Grant{
		capability.Flat: bounded(t, capability.Flat), capability.Closed: bounded(t, capability.Closed),
	}
	rows := make(map[Class]int)
	for _, group := range classRows {
		rows[group.class] += len(group.rows)
		for dialect, g := range grants {
			if group.dialect != both && group.dialect != dialect {
				continue
			}
			for _, r := range group.rows {
				require.Equal(t, group.class, class(r.refused, g), "%s: %.200q", dialect, r.refused)
				require.Empty(t, class(r.admitted, g), "%s: %.200q", dialect, r.admitted)
			}
		}
	}
	for _, c := range []Class{Block, Expression, Interpolation, Binding, Component, Content, FormClass, Structure,
		Encoding, Construct, Props, RequestClass, PathClass, Limit} {
		require.GreaterOrEqual(t, rows[c], 5, c)
	}
}

// TestOrderOfQuestions holds what wins where a fragment is wrong in two ways
// (fragments 5).
func TestOrderOfQuestions(t *testing.T) {
	g := bounded(t, capability.Closed)
	for _, r := range []struct {
		source string
		want   Class
	}{
		// Steps: bytes, encoding, frontmatter, the scan, the walk.
		{"\xff" + strings.Repeat("a", 4096), Limit},
		{"---\na\xff", Encoding},
		{"---\n```sh exec\nid\n```\n", Construct},
		{"<Exec />{x}\n```sh exec\nid\n```\n", Block},
		{"<Exec /><!-- a", Construct},
		// The walk is in document order, and enters a body before it goes on.
		{"{x}<Exec />", Interpolation},
		{"<Exec />{x}", Component},
		{"<Wrap>{x}</Wrap><Exec />", Interpolation},
		{"<If condition={false}><Exec /><Else>{x}</Else></If>", Component},
		// Of one element: name, form, shape, as, attributes, props, path, content.
		{`<Exec as="1" {...x} />`, Component},
		{`<Probe as="1" {...x}>t</Probe>`, Content},
		{`<Wrap as="1" {...x} />`, FormClass},
		{`<Each in={1} let="1" {...x}>t</Each>`, Structure},
		{`<Each in={f()} let="1" {...x}>t</Each>`, Binding},
		{`<Pick as="1" {...x} n="1" />`, Binding},
		{`<Pick {...x} any={y} n="1" />`, Construct},
		{`<Pick any={y} {...x} n="1" />`, Expression},
		{`<Pick n="1" any={y} />`, Expression},
		{`<File path="../x" other={1} />`, Props},
		{`<File path="../x">{x}</File>`, PathClass},
		{`<Wrap n="1"><Exec /></Wrap>`, Props},
		{`<Pick any={<B />} />`, Construct},
		{`<Pick any={f()} any={f()} />`, Expression},
		{`<Let as="x" select="h1" value={f()} />`, Construct},
		{`<Break>t</Break>`, Structure},
	} {
		require.Equal(t, r.want, class(r.source, g), r.source)
	}
}

func TestA5_AFormIsNotTheOther(t *testing.T) {
	p := profile(t, capability.Closed)
	file, write := p.Read[0], p.Write[0]
	p.Read, p.Write = []capability.Entry{file}, nil
	g := grantOf(t, p)
	require.Empty(t, class(`<File path="docs/a" />`, g))
	require.Equal(t, Content, class(`<File path="docs/a"></File>`, g))
	require.Equal(t, Content, class(`<File path="docs/a">t</File>`, g))

	p.Read, p.Write = p.Read[:0], []capability.Entry{write}
	g = grantOf(t, p)
	require.Empty(t, class(`<File path="docs/a">t</File>`, g))
	require.Empty(t, class(`<File path="docs/a"></File>`, g))
	require.Equal(t, FormClass, class(`<File path="docs/a" />`, g))

	// Both granted: two identities, and the source says which.
	p.Read = []capability.Entry{file}
	d := Preflight("test", `<File path="docs/a" /><File path="docs/a"></File>`, grantOf(t, p))
	require.Nil(t, d.Refusal)
	require.Equal(t, []string{"xmd.core/File.read@1", "xmd.core/File.write@1"}, []string{d.Named[0].Identity, d.Named[1].Identity})
	require.Equal(t, []capability.Form{capability.SelfClosing, capability.Paired}, []capability.Form{d.Named[0].Form, d.Named[1].Form})

	// Selecting only one table leaves only its form.
	require.Equal(t, Content, class(`<File path="docs/a"></File>`, grantOf(t, p, capability.ReadClass)))
	require.Equal(t, FormClass, class(`<File path="docs/a" />`, grantOf(t, p, capability.WriteClass)))
}
