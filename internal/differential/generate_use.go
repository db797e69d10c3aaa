package differential

import "strings"

// A usage is one element of a capability: its props, what it binds, and whether it has
// content.
type usage struct {
	name   string
	props  []string
	kind   kind // of what it binds
	binds  bool
	paired bool
}

// capability writes an element that performs something.
func (g *generator) capability(depth int) {
	if !g.flat && g.one(10) {
		g.question()
		return
	}
	u := g.usage()
	as := ""
	g.write("<%s", u.name)
	if u.binds && !g.flat && g.one(2) || g.one(300) {
		as = g.fresh()
		u.props = append(u.props, `as="`+as+`"`)
	}
	g.Shuffle(len(u.props), func(i, j int) { u.props[i], u.props[j] = u.props[j], u.props[i] })
	for _, p := range u.props {
		g.write("%s%s", pick(g, " ", " ", "\n  "), p)
	}
	if !u.paired {
		g.write("%s/>", pick(g, " ", ""))
	} else {
		g.write(">")
		g.content(func() {
			if !g.one(8) {
				g.body(depth - 1)
			}
		})
		g.write("</%s>", u.name)
	}
	if as != "" {
		g.name(as, u.kind)
	}
}

func (g *generator) usage() usage {
	switch g.IntN(12) {
	case 0:
		return usage{name: "File", props: []string{"path=" + g.path()}, kind: text, binds: true}
	case 1:
		return usage{name: "File", props: []string{"path=" + g.path()}, paired: true}
	case 2:
		return usage{name: "File.Delete", props: []string{"path=" + g.path()}}
	case 3:
		return usage{name: "Dir", props: []string{"path=" + g.path()}, paired: true}
	case 4:
		u := usage{name: "Glob", props: []string{"include=" + g.patterns()}, kind: list, binds: true}
		if g.one(3) {
			u.props = append(u.props, "exclude="+g.patterns())
		}
		return u
	case 5:
		return usage{name: "Fetch", props: g.request(), kind: record, binds: true}
	case 6:
		u := usage{name: "Measure.Size", kind: number, binds: true}
		if !g.one(4) {
			u.props = []string{"of=" + g.optional(list, `{["ab", "c"]}`, `{[]}`, `{["wrong"]}`)}
		}
		return u
	case 7:
		u := usage{name: "Put", paired: true, kind: record, binds: true}
		if g.one(2) {
			u.props = append(u.props, "label="+g.optional(text, `"l"`, `{null}`, `"fails"`))
		}
		if g.one(3) {
			u.props = append(u.props, "tags="+g.optional(list, `{["t"]}`, `{[]}`))
		}
		return u
	case 8:
		u := usage{name: "Note", paired: g.one(2)}
		if g.one(2) {
			u.props = append(u.props, "label="+g.optional(text, `"l"`, `{"m"}`, `'n'`))
		}
		return u
	}
	return g.probe()
}

// optional is a literal, or an expression of a kind where the dialect has some.
func (g *generator) optional(k kind, literals ...string) string {
	if g.flat || g.one(2) {
		return pick(g, literals...)
	}
	return g.braced(g.mostly(k))
}

func (g *generator) probe() usage {
	u := usage{name: "Probe", binds: true}
	key := pick(g, "num", "int", "text", "empty", "null", "yes", "list", "words", "object", "object", "echo", "echo", "other", "k")
	if g.one(12) {
		key = "fails"
	}
	switch key {
	case "num", "int":
		u.kind = number
	case "text", "empty", "other", "k":
		u.kind = text
	case "yes":
		u.kind = truth
	case "list", "words":
		u.kind = list
	case "object":
		u.kind = record
	}
	written := `"` + key + `"`
	if !g.flat && g.one(8) {
		u.kind, written = anything, g.braced(g.mostly(text))
	}
	u.props = append(u.props, "key="+written)
	if key == "echo" {
		data := g.constant(3)
		if !g.flat && !g.one(3) {
			u.kind = g.anyKind()
			data = g.expression(u.kind, 3)
		}
		u.props = append(u.props, "data={"+data+"}")
	}
	if g.one(4) {
		u.props = append(u.props, "count="+g.optional(number, "{2}", "{0}", "{-1}", "{1.5}"))
	}
	return u
}

func (g *generator) path() string {
	if g.one(60) {
		return pick(g, `"../up.md"`, `"/etc/passwd"`, `".git/config"`, `"a\b"`, `""`, `"CON"`)
	}
	literal := pick(g, "a.md", "notes/a.md", "notes/b.json", "./c.md", "notes/../d.md", "é.md", "deep/er/f.md")
	if g.one(16) {
		literal = "missing.md"
	}
	if g.flat || !g.one(4) {
		return `"` + literal + `"`
	}
	n := g.known(anything)
	switch {
	case n == "":
		return "{\"" + literal + "\"}"
	case g.one(3):
		return "{" + n + "}"
	}
	return "{`notes/${" + n + "}.md`}"
}

func (g *generator) patterns() string {
	literal := pick(g, `["*.md"]`, `["notes/**", "a.md"]`, `["**/*.json"]`, `["a.md", "b?.md"]`, `["missing/*"]`)
	if n := g.known(text); n != "" && !g.flat && g.one(3) {
		literal = pick(g, "["+n+"]", "[`${"+n+"}*.md`, \"x\"]")
	}
	return "{" + literal + "}"
}

func (g *generator) request() []string {
	switch g.IntN(6) {
	case 0:
		return []string{`url="https://EXAMPLE.com:443/b?q=1"`, `headers={{ "Accept": "text/plain" }}`}
	case 1:
		return []string{`url="https://example.com/gone"`, `method="HEAD"`}
	case 2:
		if n := g.known(text); n != "" && !g.flat {
			return []string{"url={`https://example.com/${" + n + "}`}"}
		}
		return []string{"url={\"https://example.com/a\"}"}
	}
	return []string{`url="https://example.com/a"`}
}

// text writes what renders as it is, and references.
func (g *generator) text() {
	n := g.known(anything)
	if n != "" && !g.flat && !g.one(3) {
		g.write("%s", g.reference(n))
		return
	}
	switch g.IntN(16) {
	case 0:
		g.write("`%s`", pick(g, "code", "a < b", "{ x }", "<not an element"))
	case 1:
		g.write("\n```%s\n%s\n```\n", pick(g, "", "md", "js", " text x"), pick(g, "fenced", "{ x } \\{y}", "# no heading", "a\n\nb"))
	case 2:
		g.write("<!--%s-->", pick(g, " note ", "-", " a > b "))
	case 3:
		g.write("%s", pick(g, "\\{x}", "{ x }", "{}", "{1}", "{a-b}", "{\"k\": 1}", "\\\\", "}", "{", "\\{a.b}{"))
	case 4:
		g.write("%s", pick(g, "<div class=\"{ }\">", "</div>", "x < 3", "a <b c", "&amp; &lt;", "< A"))
	case 5:
		g.write("%s", pick(g, "\n\n", "\r\n", "  \n", "\t", " "))
	case 6:
		g.write("%s", pick(g, g.pair("😀"), "é\u0301", "日本", "\u2028", "\u00a0", "\u200b"))
	case 7:
		g.write("%s", pick(g, "unwritable", "*em* **strong**", "# heading\n", "- item\n", "> quote\n", "| a | b |\n", "[l](u)", "a_b"))
	default:
		g.write("%s", pick(g, "word ", "words and more. ", "\n", "x", "The end.", "1, 2"))
	}
}

// pair is a text with surrogate pairs, in a fragment that has some.
func (g *generator) pair(s string) string {
	if g.pairs {
		return s
	}
	return strings.ReplaceAll(s, "😀", "ÿ")
}

// reference is a name in text.
func (g *generator) reference(n string) string {
	switch g.IntN(10) {
	case 0:
		return "{" + n + "." + g.member() + "}"
	case 1:
		return "{" + n + ".a." + g.member() + "}"
	case 2:
		return "{" + n + ".length}"
	case 3:
		return "`{" + n + "}`"
	case 4:
		return "\n```md\n{" + n + "}\n```\n"
	case 5:
		return pick(g, "\\{"+n+"}", "{ "+n+" }", "{"+n+".0}", "{"+n+"[0]}", "{"+n, "{"+n+"}}", "{{"+n+"}}", "<p title=\"{"+n+"}\">")
	}
	return strings.Repeat(" ", g.IntN(2)) + "{" + n + "}"
}

// member is the name of a member: those the values here have, and some they lack.
func (g *generator) member() string {
	return pick(g, "a", "b", "c", "text", "bytes", "status", "nope", "length")
}
