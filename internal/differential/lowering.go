package differential

// A Row is one fragment with what it comes to.
type Row struct {
	Name    string
	Source  string
	Imports string // module.field in their order, the language's without xmd:
	Output  string
	Effects []string // of the coroutine the fragment begins on
	Failure string
}

// Lowering has a fragment for every row of the lowering table (fragments 8).
func Lowering() []Row {
	const (
		probe = "test.differential/Probe@1.invoke"
		put   = "test.differential/Put@1.enter test.differential/Put@1.leave"
		dir   = "xmd.core/Dir.ensure@1.enter xmd.core/Dir.ensure@1.leave"
		ask   = "xmd.core/Elicit.ask@1.enter xmd.core/Elicit.ask@1.leave"
		json  = "xmd.core/Json@1.invoke"
	)
	// props are an object literal: a constant where all of them are.
	probed := func(props string) string {
		return `do self-closing test.differential/Probe@1 ` + props + ` in "" with ""`
	}
	asked := func(message string) string {
		return `do paired xmd.core/Elicit.ask@1 {"schema":{}} in "" with "` + message + `"`
	}
	return []Row{
		{Name: "text alone", Source: "only *text* \\{a}\n", Imports: "text.emit", Output: "only *text* {a}\n"},
		{Name: "a reference", Source: "<Let as=\"a\" value={{b: 1}} />[{a.b}]`{a}`",
			Imports: "text.emit text.show value.literal scope.bind", Output: "[1]`[object Object]`"},
		{Name: "a literal", Source: `<Let as="a" value={[1, {b: "x"}]} />{a.length}`,
			Imports: "text.show value.literal scope.bind", Output: "2"},
		{Name: "a template literal", Source: "<Let as=\"a\" value={1} /><Let as=\"b\" value={`${a}${a}-`} />{b}",
			Imports: "text.show value.literal value.binary scope.bind scope.read", Output: "11-"},
		{Name: "an array", Source: `<Let as="a" value={1} /><Let as="b" value={[a, 2]} />{b}`,
			Imports: "text.show value.literal value.array value.append scope.bind scope.read", Output: "1,2"},
		{Name: "an object", Source: `<Let as="a" value={1} /><Json value={{a, 2: a, b: 3, b: 4}} />`,
			Imports: "text.render value.literal value.object value.set scope.bind scope.read " + json,
			Output:  "{\n  \"2\": 1,\n  \"a\": 1,\n  \"b\": 4\n}"},
		{Name: "a member", Source: `<Let as="a" value={{b: ["x", "y"]}} /><Let as="c" value={a.b[1] + a["b"].length} />{c}`,
			Imports: "text.show value.literal value.get value.index value.binary scope.bind scope.read", Output: "y2"},
		{Name: "unary and binary operators", Source: `<Let as="a" value={3} /><Let as="b" value={!a === -a < 0} />{b}`,
			Imports: "text.show value.literal value.unary value.binary scope.bind scope.read", Output: "false"},
		{Name: "and, or, a choice", Source: `<Let as="a" value={0} /><Let as="b" value={a && a.b.c || (a ? a.b.c : "no")} />{b}`,
			Imports: "text.show value.literal value.get value.truthy scope.bind scope.read", Output: "no"},
		{Name: "a default", Source: `<Let as="a" value={null} /><Let as="b" value={a ?? "none"} />{b}`,
			Imports: "text.show value.literal value.nullish scope.bind scope.read", Output: "none"},
		{Name: "an optional chain", Source: `<Let as="a" value={null} /><Let as="b" value={a?.b.c[a.d]} />{b}`,
			Imports: "text.show value.literal value.get value.index value.nullish scope.bind scope.read", Output: "undefined"},
		{Name: "a self-closing element", Source: `<Probe key="words" as="w" /><Probe key="text" />{w}`,
			Imports: "text.show text.render value.literal scope.bind " + probe, Output: "some text {x}one,two,three",
			Effects: []string{probed(`{"key":"words","count":1}`), probed(`{"key":"text","count":1}`)}},
		{Name: "a paired element", Source: `<Put as="p" label="l">a <Probe key="int" /><Probe key="text" /></Put>{p.bytes}<Put>b</Put>`,
			Imports: "text.emit text.show text.render text.push text.pop value.literal scope.bind " + put + " " + probe,
			Output:  "15",
			Effects: []string{
				probed(`{"key":"int","count":1}`), probed(`{"key":"text","count":1}`),
				`do paired test.differential/Put@1 {"label":"l","tags":[]} in "" with "a some text {x}"`,
				`do paired test.differential/Put@1 {"tags":[]} in "" with "b"`,
			}},
		{Name: "an element that moves", Source: `<Dir path="a"><Dir path="b">c<Note label="l"/></Dir></Dir><Note label="l"/>`,
			Imports: "text.emit text.render text.push text.pop value.literal " + dir + " test.differential/Note@1.invoke",
			Output:  "c(l)(l)",
			Effects: []string{
				`enter paired xmd.core/Dir.ensure@1 {"path":"a"} in "" with ""`,
				`enter paired xmd.core/Dir.ensure@1 {"path":"b"} in "a" with ""`,
				`do self-closing test.differential/Note@1 {"label":"l"} in "a/b" with ""`,
				`do self-closing test.differential/Note@1 {"label":"l"} in "" with ""`,
			}},
		{Name: "let", Source: "<Let as=\"a\" value={1} /><Let as=\"b\"> b\n\n</Let>{a}{b}.",
			Imports: "text.emit text.show text.push text.pop text.trim value.literal scope.bind", Output: "1 b."},
		{Name: "if", Source: `<Let as="a" value={1} /><If condition={a}>yes<Else>no</Else></If>`,
			Imports: "text.emit value.literal value.truthy scope.bind scope.read", Output: "yes"},
		{Name: "switch", Source: `<Let as="a" value={2} /><Switch value={a}><Case value={1}>1</Case><Case value={a}>2</Case><Case default>3</Case></Switch>`,
			Imports: "text.emit value.literal value.binary value.truthy scope.bind scope.read", Output: "2"},
		{Name: "each", Source: `<Each in={["a", "b"]} let="i">{i}<Let as="n" value={i} /></Each>`,
			Imports: "text.show value.literal value.items value.length value.at scope.open scope.close scope.bind scope.read", Output: "ab"},
		{Name: "each that binds", Source: `<Each in={["a", "b"]} let="i" as="all">{i} </Each>{all}`,
			Imports: "text.emit text.show text.push text.pop value.literal value.items value.length value.at scope.open scope.close scope.bind", Output: "a b "},
		{Name: "loop", Source: `<Let as="n" value={2} /><Loop max={n}><Probe key="k" count={n} /><Let as="n" value={n + 1} /></Loop>`,
			Imports: "text.render value.literal value.binary value.object value.set value.count scope.bind scope.read task.loop task.done " + probe,
			Output:  "<k 2><k 3>",
			Effects: []string{
				round(0), probed(`{"key":"k","count":2}`), round(1), probed(`{"key":"k","count":3}`), ended(2, "exhausted"),
			}},
		{Name: "a break closes what it leaves", Source: `<Answers><Answer value={1} /><Loop max={5}>a<Each in={[1, 2]} let="i"><Answers><Answer value={2} /><If condition={i}><Break /></If>x</Answers>y</Each>z</Loop><Elicit schema={{}} as="e">q</Elicit>{e}</Answers>`,
			Imports: "text.emit text.show text.push text.pop value.literal value.truthy value.items value.length value.at value.count " +
				"scope.open scope.close scope.bind scope.read answer.open answer.add answer.begin answer.close task.loop task.done " + ask,
			Output: "a1", Effects: []string{round(0), ended(1, "break"), asked("q")}},
		{Name: "answers", Source: `<Let as="n" value="Ann" /><Answers delegate><Answer template="for {n}" value='"A"' /><Answer value={[n]}> {n}?
</Answer><Elicit schema={{}} as="a">for Ann</Elicit><Elicit schema={{}} as="b">Ann?</Elicit><Elicit schema={{}} as="c">else</Elicit>{a}{b}{c.asked}</Answers>`,
			Imports: "text.emit text.show text.push text.pop value.literal value.array value.append scope.bind scope.read " +
				"answer.open answer.add answer.begin answer.close " + ask,
			Output: "AAnnelse", Effects: []string{asked("for Ann"), asked("Ann?"), asked("else")}},
		{Name: "a delegate that is undefined", Source: `<Let as="o" value={{}} /><Answers delegate={o.d}><Elicit schema={{}}>q</Elicit></Answers>`,
			Imports: "text.emit text.render text.push text.pop value.literal value.get value.nullish scope.bind scope.read " +
				"answer.open answer.begin answer.close " + ask,
			Failure: Operation},
		{Name: "all and spawn", Source: `<Let as="n" value={1} /><All><Spawn>a{n}<Let as="m" value={2} /></Spawn><Spawn>b{n}</Spawn></All>{n}`,
			Imports: "text.emit text.show value.literal scope.bind task.spawn task.join", Output: "a1b11"},
		{Name: "an authored failure", Source: `<Probe key="int" /><Fail message="no" /><Probe key="int" />`,
			Imports: "text.render value.literal " + probe + " xmd.core/Fail@1.invoke",
			Effects: []string{probed(`{"key":"int","count":1}`)}, Failure: Failed},
	}
}

// Exhausting has a fragment for every limit of an evaluation but time.
func Exhausting() []Row {
	const double = `<Let as="s" value="0123456789abcdef" /><Loop max={30}>`
	return []Row{
		{Name: "steps", Source: `<Loop max={2000000}>.</Loop>`, Failure: Limit + "steps"},
		{Name: "value", Source: double + `<Let as="s" value={s + s} /></Loop>`, Failure: Limit + "value"},
		{Name: "values", Source: `<Let as="s" value="0123456789abcdef" /><Loop max={13}><Let as="s" value={s + s} /></Loop>` +
			`<Loop max={100}><Let as="t" value={s + "x"} /></Loop>`, Failure: Limit + "values"},
		{Name: "output", Source: double + `{s}<Let as="s" value={s + s} /></Loop>`, Failure: Limit + "output"},
		{Name: "depth", Source: `<Let as="v" value={[]} /><Loop max={100}><Let as="v" value={[v]} /></Loop>`, Failure: Limit + "depth"},
		{Name: "steps of a child", Source: `<All><Spawn><Loop max={2000000}>.</Loop></Spawn><Spawn>x</Spawn></All>`, Failure: Limit + "steps"},
	}
}
