package component

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJson(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`<Json value={{ b: 1, a: [true, null, "x<&>"] }} />`, "{\n  \"b\": 1,\n  \"a\": [\n    true,\n    null,\n    \"x<&>\"\n  ]\n}"},
		{`<Json value={{}} /><Json value={[]} />`, "{}[]"},
		{`<Json value={0 / 0} />`, "null"},
		{`<Json value={"{x}"} />`, `"{x}"`},
		{`<Json value={1e21} /> <Json value={0.1} />`, "1e+21 0.1"},
		{`<Let as="t"><Json value={[1]} /></Let>({t})`, "([\n  1\n])"},
	} {
		require.Equal(t, c.want, run(t, c.source, world{}).ok(t), c.source)
	}
}

func TestJsonRefusals(t *testing.T) {
	for _, c := range []struct{ source, message string }{
		{`<Json value={boom()} as="x" />`, `<Json> renders text (bind that with <Let as="name"><Json value={…} /></Let>), so as="x" is refused`},
		{`<Json value={boom()}></Json>`, `<Json> cannot be written around content: write <Json value={…} /> without content`},
		{`<Json />`, `<Json> needs a value: write <Json value={…} />`},
		{`<Json value={{ a: [10n] }} />`, `<Json> cannot write its value as JSON: $.a[0] is a big integer`},
		{`<Json value={undefined} />`, `<Json> was given undefined, for which no JSON text exists`},
		{`<Json value={() => "secret"} />`, `<Json> was given a function, for which no JSON text exists`},
		{`<Json value={(() => { const a = { secret: 1 }; a.b = [a]; return a })()} />`, `<Json> cannot write its value as JSON: $.b[0] is a cycle`},
		{`<Json value={({ toJSON() { throw new Error("secret") } })} />`, `<Json> cannot write its value as JSON: it cannot be serialised`},
	} {
		o := run(t, c.source+"<Mark />", world{})
		o.printed(t, c.message)
		require.NotContains(t, o.Output, "secret")
		require.Equal(t, []string{"mark"}, o.marks)
	}
}

func TestCodeBlock(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`<CodeBlock value="plain" />`, "```\nplain\n```"},
		{`<CodeBlock value="" language="c++" />`, "```c++\n\n```"},
		{"<CodeBlock value=\"a `` b\" />", "```\na `` b\n```"},
		{"<CodeBlock value=\"```\" />", "````\n```\n````"},
		{"<CodeBlock value={\"a````b```\\n<Mark /> {x}\\n\"} language=\"md\" />", "`````md\na````b```\n<Mark /> {x}\n\n`````"},
		{`<CodeBlock value="x" as="c" />[{c}]`, "[```\nx\n```]"},
	} {
		o := run(t, c.source, world{})
		require.Equal(t, c.want, o.ok(t), c.source)
		require.Empty(t, o.marks)
	}
}

func TestFail(t *testing.T) {
	const sentence = "The inputs did not validate; nothing was written."
	o := run(t, `a<Fail message="`+sentence+`" /><Mark />`, world{})
	o.failed(t, sentence)
	require.EqualError(t, o.Err, sentence)
	require.Equal(t, "a", o.Output)
	require.Empty(t, o.marks)

	o = run(t, `<PrintErrors><Fail message="`+sentence+`" /><Mark /></PrintErrors>`, world{})
	o.printed(t, sentence)
	require.Equal(t, []string{"mark"}, o.marks)

	o = run(t, "---\nreturns: { type: number }\n---\n<PrintErrors><Fail message=\""+sentence+"\" /></PrintErrors><Return value={1} />", world{})
	o.failed(t, sentence)

	o = run(t, `<Fail message="`+sentence+`" as="x" />`, world{})
	o.failed(t, `<Fail> raises an error and binds nothing, so as="x" is refused`)

	o = run(t, `<Fail message="`+sentence+`" />`, world{})
	o = run(t, `<Fail message="`+sentence+`" />`, world{events: o.events})
	require.ErrorContains(t, o.Err, sentence, "a complete history replays the failure")
}
