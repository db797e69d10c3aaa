package catalog

import "github.com/executable-markdown/xmd/internal/engine"

// constructs lists the structural elements in order of name, with examples of
// every way each may be written (language 6).
func constructs() []*entry {
	of := func(name string, doc engine.Doc, syntax ...string) *entry {
		return &entry{name: name, origin: Origin{structural, name}, doc: doc, syntax: syntax}
	}
	return []*entry{
		of("All", engine.Doc{
			Description: "Runs two or more <Spawn> regions at the same time and renders them in the order they are written, after every one succeeded. The first failure stops the others.",
			Context:     "Holds only <Spawn> elements and white space; takes no props.",
		}, "<All>\n<Spawn>…</Spawn>\n<Spawn>…</Spawn>\n</All>"),
		of("Answer", engine.Doc{
			Description: "One answer of an <Answers> region: the first whose template matches the whole question is given. {?name} in a template matches any text, {name} the text bound to name; without a template every question matches. The value is an expression, or JSON text in quotes.",
			Context:     "Stands directly inside <Answers>. Content is the template.",
		}, `<Answer template="Ship {?what} now?" value={{ decision: "Ship" }} />`, `<Answer value='"yes"'>Continue with {name}?</Answer>`, "<Answer value={answer} />"),
		of("Answers", engine.Doc{
			Description: "Answers the questions asked in its content from what the document states. A question nothing matches fails, or goes to the next provider outward with delegate={true}.",
			Context:     "Direct <Answer> children are the answers; everything else is the body, and what it binds stays bound.",
		}, "<Answers>\n<Answer template=\"…\" value={…} />\n…\n</Answers>", "<Answers delegate={true}>\n<Answer template=\"…\" value={…} />\n…\n</Answers>"),
		of("Break", engine.Doc{
			Description: "Ends the nearest enclosing <Loop> of the same text. What was rendered and bound before it stands.",
			Context:     "Belongs inside <Loop>, at any depth, but cannot leave a <Spawn>. Takes no props.",
		}, "<Break />"),
		of("Case", engine.Doc{
			Description: "One branch of a <Switch>, taken when its value is strictly equal to the selector's, or, as the last one, by default.",
			Context:     "Stands directly inside <Switch>. Always written as a pair.",
		}, "<Case value={…}>…</Case>", "<Case default>…</Case>"),
		of("Content", engine.Doc{
			Description: "Expands the content the caller wrote inside the component, or the part of it whose elements carry the slot's name.",
			Context:     "Belongs in the body of a component, at any depth.",
		}, "<Content />", `<Content slot="name" />`),
		of("Each", engine.Doc{
			Description: "Expands its content once for each item of an array, with the item bound to the name let gives.",
			As:          "the text of all items together; nothing is rendered then",
			Context:     "What the content binds ends with its item.",
		}, `<Each in={items} let="item">…</Each>`, `<Each in={items} let="item" as="list">…</Each>`),
		of("Else", engine.Doc{
			Description: "What an <If> expands when its condition is false.",
			Context:     "Stands directly inside <If>, as its last child. Takes no props and needs content.",
		}, "<Else>…</Else>"),
		of("If", engine.Doc{
			Description: "Expands its content when the condition is true as JavaScript understands it, otherwise the content of its <Else>. The other side does nothing.",
			Context:     "What the content binds stays bound.",
		}, "<If condition={…}>…</If>", "<If condition={…}>…<Else>…</Else></If>"),
		of("Let", engine.Doc{
			Description: "Binds a name, to the value of an expression or to the text its content renders, without white space at the end. select keeps the first node of that text which a selector such as code[lang=json] matches.",
			As:          "the value, or the text; required",
			Context:     "Commands in the content write to the text.",
		}, `<Let as="name" value={…} />`, `<Let as="name">…</Let>`, `<Let as="name" select="code[lang=json]">…</Let>`),
		of("Loop", engine.Doc{
			Description: "Expands its content up to max times, or until a <Break />. max is a positive whole number; name serves messages only.",
			Context:     "What the content binds is carried from one time to the next and stays bound.",
		}, "<Loop max={3}>…</Loop>", `<Loop max={3} name="attempts">…</Loop>`),
		of("Output", engine.Doc{
			Description: "Selects what a document renders. With it, everything outside runs for its effects and bindings and is not shown.",
			Context:     "Stands at the top level of a document without returns; several are joined. Takes no props.",
		}, "<Output>…</Output>"),
		of("PrintErrors", engine.Doc{
			Description: "Turns failures of its content into printed errors where they happen, so that the next sibling runs.",
			Context:     "Has no power in the body of a document that declares returns. Takes no props.",
		}, "<PrintErrors>…</PrintErrors>"),
		of("Return", engine.Doc{
			Description: "States the value of a document that declares returns. It renders nothing and does not end the document; exactly one must execute.",
			Context:     "Belongs in a document that declares returns, at any depth, but not below a <Spawn>.",
		}, "<Return value={…} />", `<Return value="…" />`),
		of("Spawn", engine.Doc{
			Description: "One concurrent region of <All>. It starts with a copy of the bindings, and nothing it binds is visible outside.",
			Context:     "Stands directly inside <All>. Takes no props and needs content.",
		}, "<Spawn>…</Spawn>"),
		of("Switch", engine.Doc{
			Description: "Expands the first <Case> whose value is strictly equal to its own, or the default one.",
			Context:     "Holds only <Case> elements and white space. What the case binds stays bound.",
		}, "<Switch value={…}>\n<Case value={…}>…</Case>\n<Case default>…</Case>\n</Switch>"),
	}
}

// forFragments leaves out what generated text may not write (fragments 4).
func (e *entry) forFragments() {
	if e.name == "Let" {
		e.doc.Description = "Binds a name, to the value of an expression or to the text its content renders, without white space at the end."
		e.doc.Context = ""
		e.syntax = e.syntax[:2]
	}
}
