package elicit

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

func newPage(t testing.TB, message, definitionText string) *questionPage {
	accepted, err := schema.Compile(definition(t, definitionText))
	require.NoError(t, err)
	return newQuestionPage(message, accepted)
}

// shows is the page of a reply.
func shows(t testing.TB, r host.Reply) shown {
	root, err := html.Parse(strings.NewReader(string(r.HTML)))
	require.NoError(t, err)
	return shown{status: r.Status, text: string(r.HTML), root: root}
}

// TestSheet fills pages in and looks at the answer, or at what is wrong.
func TestSheet(t *testing.T) {
	type wrote [2]string // title of a control, and what is written or the label that is picked
	const nested = `{"type":"object","properties":{"name":{"type":"string"},"at":{"type":"object","title":"Place",
		"properties":{"city":{"type":"string","minLength":2},"zip":{"type":"integer"},"deep":{"type":"object","properties":{"x":{"type":"null"}}}},"required":["city"]}}%s}`
	for _, row := range []struct {
		name, schema string
		writes       []wrote
		answer       string   // as JSON
		faults       []string // id: text
	}{
		{"text", `{"type":"string"}`, []wrote{{"Your answer", "a\r\nb "}}, `"a\nb "`, nil},
		{"a text that was not written", `{"type":"string"}`, nil, `""`, nil},
		{"too short a text", `{"type":"string","minLength":3}`, []wrote{{"Your answer", "ab"}}, "", []string{"answer: must NOT have fewer than 3 characters"}},
		{"number", `{"type":"number"}`, []wrote{{"Your answer", " 0.5 "}}, `0.5`, nil},
		{"no number", `{"type":"number"}`, []wrote{{"Your answer", "0,5"}}, "", []string{"answer: write a number, such as 3 or 0.5"}},
		{"nothing is no number", `{"type":"number"}`, nil, "", []string{"answer: write a number"}},
		{"integer", `{"type":"integer","minimum":2}`, []wrote{{"Your answer", "2"}}, `2`, nil},
		{"no integer", `{"type":"integer"}`, []wrote{{"Your answer", "2.5"}}, "", []string{"answer: must be integer"}},
		{"yes", `{"type":"boolean"}`, []wrote{{"Your answer", "yes"}}, `true`, nil},
		{"neither yes nor no", `{"type":"boolean"}`, nil, "", []string{"answer: choose one"}},
		{"one of them", `{"enum":["a",1,null,{"x":[]}]}`, []wrote{{"Your answer", `{"x":[]}`}}, `{"x":[]}`, nil},
		{"a default is picked", `{"type":"object","properties":{"a":{"enum":["x","y"],"default":"y"}}}`, nil, `{"a":"y"}`, nil},
		{"leaving a choice out", `{"type":"object","properties":{"a":{"type":"boolean"}}}`, nil, `{}`, nil},
		{"not leaving a choice out", `{"type":"object","properties":{"a":{"type":"boolean"}}}`, []wrote{{"a", "no"}}, `{"a":false}`, nil},
		{"a default text", `{"type":"object","properties":{"a":{"type":"string","default":"d"}}}`, nil, `{"a":"d"}`, nil},
		{"JSON", `{}`, []wrote{{"Your answer", " [1, {}] "}}, `[1,{}]`, nil},
		{"no JSON", `{}`, []wrote{{"Your answer", "{"}}, "", []string{"answer: write JSON text: "}},
		{"nothing is no JSON", `{}`, nil, "", []string{"answer: write JSON text, such as null"}},
		{"JSON with an issue inside", `{"type":"array","items":{"type":"array","items":{"type":"number"}}}`, []wrote{{"Your answer", `[[1],[2,"x"]]`}}, "", []string{"answer: /1/1 must be number"}},
		{"texts", `{"type":"array","items":{"type":"string"}}`, []wrote{{"Your answer", "a\r\n\r\n b"}}, `["a"," b"]`, nil},
		{"no texts", `{"type":"array","items":{"type":"string"}}`, nil, `[]`, nil},
		{"numbers", `{"type":"array","items":{"type":"integer"}}`, []wrote{{"Your answer", "1\n 2 "}}, `[1,2]`, nil},
		{"a line that is no number", `{"type":"array","items":{"type":"integer"}}`, []wrote{{"Your answer", "1\r\n\r\ntwo"}}, "", []string{"answer: line 3: write a number, such as 3 or 0.5"}},
		{"an item with an issue", `{"type":"array","items":{"type":"integer","maximum":5}}`, []wrote{{"Your answer", "1\r\n9"}}, "", []string{"answer: item 2 must be <= 5"}},
		{"too few items", `{"type":"array","minItems":1,"items":{"type":"integer"}}`, nil, "", []string{"answer: must NOT have fewer than 1 items"}},
		{"items of an enum", `{"type":"array","items":{"enum":["a",2]}}`, []wrote{{"Your answer", "2\na\n2"}}, `[2,"a",2]`, nil},
		{"no item of an enum", `{"type":"array","items":{"enum":["a",2]}}`, []wrote{{"Your answer", "b"}}, "", []string{`answer: line 1: "b" is not one of the options`}},
		{"answers yes and no", `{"type":"array","items":{"type":"boolean"}}`, []wrote{{"Your answer", "yes\nno"}}, `[true,false]`, nil},
		{"labels that cannot be told apart", `{"type":"array","items":{"enum":["1",1]}}`, []wrote{{"Your answer", `["1",1]`}}, `["1",1]`, nil},
		{"distinct items of an enum", `{"type":"array","uniqueItems":true,"items":{"enum":["a","b"]}}`, []wrote{{"Your answer", "b"}}, `["b"]`, nil},
		{"none of them", `{"type":"array","uniqueItems":true,"items":{"enum":["a","b"]}}`, nil, `[]`, nil},
		{"lists that are left out", `{"type":"object","properties":{"a":{"type":"array","uniqueItems":true,"items":{"enum":["a"]}},"b":{"type":"array","items":{"type":"string"}}}}`, nil, `{}`, nil},
		{"default lists", `{"type":"object","properties":{"a":{"type":"array","uniqueItems":true,"items":{"enum":["a","b"]},"default":["b"]},"b":{"type":"array","items":{"type":"string"},"default":["x"]}}}`, nil, `{"a":["b"],"b":["x"]}`, nil},
		{"an object inside that nobody touched", strings.Replace(nested, "%s", "", 1), []wrote{{"name", "n"}}, `{"name":"n"}`, nil},
		{"an object inside that is needed", strings.Replace(nested, "%s", `,"required":["at"]`, 1), nil, "", []string{"answer-1-0: must NOT have fewer than 2 characters"}},
		{"an object inside", strings.Replace(nested, "%s", "", 1), []wrote{{"city", "Rome"}, {"zip", "7"}, {"deep", `{"x":null}`}}, `{"at":{"city":"Rome","zip":7,"deep":{"x":null}}}`, nil},
		{"an object inside that is half done", strings.Replace(nested, "%s", "", 1), []wrote{{"zip", "x"}}, "", []string{"answer-1-0: must NOT have fewer than 2 characters", "answer-1-1: write a number, such as 3 or 0.5"}},
		{"a branch needs more", review, []wrote{{"decision", "revise"}}, "", []string{"answer-1: this is needed"}},
		{"a branch needs nothing", review, []wrote{{"decision", "abort"}}, `{"decision":"abort"}`, nil},
		{"an issue of the whole", `{"type":"object","minProperties":1,"properties":{"a":{"type":"string"}}}`, nil, "", []string{"answer: must NOT have fewer than 1 properties"}},
		{"members that only another part declares", `{"type":"object","properties":{"a":{"type":"string"}},"allOf":[{"properties":{"b":{"type":"string"}}}]}`, []wrote{{"Your answer", `{"b":"c"}`}}, `{"b":"c"}`, nil},
		{"members by pattern", `{"type":"object","properties":{"a":{"type":"string"}},"patternProperties":{"^x":{"type":"number"}}}`, []wrote{{"Your answer", `{"x1":2}`}}, `{"x1":2}`, nil},
		{"a member with a name for pointers", `{"type":"object","required":["a/b~"],"properties":{"a/b~":{"type":"array","items":{"type":"string"},"minItems":1}}}`, nil, "", []string{"answer-0: must NOT have fewer than 1 items"}},
		{"a definition elsewhere", `{"definitions":{"n":{"type":"number"}},"type":"object","properties":{"a":{"$ref":"#/definitions/n"}}}`, []wrote{{"a", "4"}}, `{"a":4}`, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := newPage(t, "", row.schema)
			page := shows(t, p.visit(host.Visit{}))
			require.Equal(t, statusShown, page.status)
			form := page.form()
			for _, w := range row.writes {
				page.fill(t, form, w[0], w[1])
			}
			after := shows(t, p.visit(host.Visit{Posted: true, Form: form}))
			if row.answer != "" {
				require.Equal(t, statusShown, after.status, after.text)
				answer, err := p.outcome()
				require.NoError(t, err)
				text, err := value.JSON(answer)
				require.NoError(t, err)
				require.Equal(t, row.answer, text)
				return
			}
			require.Equal(t, statusRefused, after.status)
			require.False(t, p.over())
			require.Equal(t, form, after.form(), "nothing that was written is lost")
			var faults []string
			for _, n := range after.all(func(n *html.Node) bool { return attribute(n, "class") == "faults" }) {
				for c := range n.ChildNodes() {
					if c.Data == "li" {
						faults = append(faults, strings.TrimSuffix(attribute(n, "id"), "-faults")+": "+content(c))
					}
				}
			}
			require.Len(t, faults, len(row.faults), faults)
			for i, want := range row.faults {
				require.True(t, strings.HasPrefix(faults[i], want), "%q and not %q", faults[i], want)
			}
		})
	}
}

func TestSheetRefusesOptionsThatAreNone(t *testing.T) {
	for _, text := range []string{`{"type":"boolean"}`, `{"type":"array","uniqueItems":true,"items":{"enum":["a"]}}`} {
		for _, sent := range []string{"", "-1", "2", "x", "9999999999999999999"} {
			p := newPage(t, "", text)
			reply := p.visit(host.Visit{Posted: true, Form: url.Values{"token": {p.token}, "answer": {sent}}})
			require.Equal(t, statusRefused, reply.Status, "%s %q", text, sent)
		}
	}
}

// TestPageShowsNothingHidden puts a character nobody sees wherever a document can
// put text.
func TestPageShowsNothingHidden(t *testing.T) {
	const hidden = "a\\u202e\u202e\u200b\\u0007"
	text := strings.ReplaceAll(`{"type":"object","title":"H","description":"H","properties":{
		"H":{"type":"string","description":"H","default":"H"},
		"b":{"title":"H","enum":["H"]},
		"c":{"type":"array","items":{"enum":["H"]},"default":["H"]},
		"d":{"type":"array","uniqueItems":true,"items":{"enum":["H"]}},
		"e":{"type":"object","title":"H","description":"H","properties":{"H":{"type":"number","minimum":3}},"additionalProperties":false}},"required":["H"]}`, "H", hidden)
	p := newPage(t, "\u202e", text)
	for _, reply := range []host.Reply{
		p.visit(host.Visit{}),
		p.visit(host.Visit{Posted: true, Form: url.Values{"token": {p.token}, "answer-2": {"\u200b"}, "answer-4-0": {"\u202e"}, "answer-3": {"7"}}}),
	} {
		page := shows(t, reply)
		for n := range page.root.Descendants() {
			if n.Type == html.TextNode && n.Parent.Data != "textarea" && n.Parent.Data != "style" {
				require.Equal(t, Visible(n.Data), n.Data)
			}
		}
	}
}

func TestPageBoundsFaults(t *testing.T) {
	p := newPage(t, "", `{"type":"array","items":{"type":"number"}}`)
	form := url.Values{"token": {p.token}, "answer": {strings.Repeat("no\n", 1000)}}
	page := shows(t, p.visit(host.Visit{Posted: true, Form: form}))
	faults := page.faults("answer")
	require.Len(t, faults, maxFaults+1)
	require.Equal(t, "and 990 more", faults[maxFaults])
	long := url.Values{"token": {p.token}, "answer": {strings.Repeat("é", 1<<20)}}
	p = newPage(t, "", `{"type":"array","items":{"enum":["a"]}}`)
	long.Set("token", p.token)
	for _, fault := range shows(t, p.visit(host.Visit{Posted: true, Form: long})).faults("answer") {
		require.Less(t, len(fault), maxFault+10)
	}
}

// TestVastMessageHasFewElements looks at a text whose every line would be an element,
// and at one of nothing but escapes.
func TestVastMessageHasFewElements(t *testing.T) {
	for name, message := range map[string]string{
		"lines":   "\n\n" + strings.Repeat("<&>\u202e\n", maxElements) + "end",
		"escapes": strings.Repeat("\u202e", 10*maxElements),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPage(t, "", `{}`)
			p.message = newLeaflet(message)
			page := shows(t, p.visit(host.Visit{}))
			require.Equal(t, Visible(message), page.message())
			require.LessOrEqual(t, len(page.all(func(*html.Node) bool { return true })), maxElements+100)
			require.NotEmpty(t, page.all(func(n *html.Node) bool { return has(n, "data-n") }))
		})
	}
}

func TestLeavesHoldTheMessage(t *testing.T) {
	for _, n := range []int{0, 1, 2, leafLines - 1, leafLines, leafLines + 1, 3 * leafLines} {
		for _, end := range []string{"", "\n"} {
			message := strings.TrimSuffix(strings.Repeat("<&x>\"'\u202e\n", n), "\n") + end
			if message == "\n" {
				continue
			}
			page := shows(t, newPage(t, message, `{}`).visit(host.Visit{}))
			require.Equal(t, Visible(message), page.message())
			leaves := page.all(func(n *html.Node) bool { return n.Data == "pre" })
			require.Len(t, leaves, (n+leafLines-1)/leafLines)
			for _, leaf := range leaves {
				require.Equal(t, attribute(leaf, "class") == "whole", strings.Count(content(leaf), "x") == leafLines)
			}
			numbers := page.all(func(n *html.Node) bool { return has(n, "data-n") })
			require.Len(t, numbers, n)
			for i, line := range numbers {
				require.Equal(t, strconv.Itoa(i+1), attribute(line, "data-n"))
				require.Equal(t, `\u202e`, content(line.FirstChild.NextSibling), "an escape is told apart")
			}
		}
	}
	require.Contains(t, webStyle, " "+strconv.Itoa(leafLines)+"lh", "the style says how tall a whole leaf is")
}

// FuzzSheet sends any form to the pages of several schemas: whatever it says, there
// is a page, and an answer only if its schema accepts it.
func FuzzSheet(f *testing.F) {
	definitions := []string{
		review, `{}`, `{"type":"boolean"}`, `{"type":"array","items":{"type":"number"}}`, `{"type":"array","uniqueItems":true,"items":{"enum":["a","b"]}}`,
		`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"integer"},"c":{"type":"boolean","default":true}}},"d":{"type":"array","items":{"enum":["x"]}}}}`,
	}
	for i, form := range []string{"answer-0=1&answer-1=x", "answer=[1]", "answer=0", "answer=1%0D%0A2", "answer=0&answer=1", "answer-0-0=3&answer-0-1=1&answer-1=x"} {
		f.Add(i, form)
	}
	f.Fuzz(func(t *testing.T, which int, text string) {
		form, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		definition := definitions[((which%len(definitions))+len(definitions))%len(definitions)]
		p := newPage(t, "", definition)
		form.Set("token", p.token)
		reply := p.visit(host.Visit{Posted: true, Form: form})
		if !p.over() {
			require.Equal(t, statusRefused, reply.Status)
			require.Contains(t, string(reply.HTML), `class="faults"`)
			return
		}
		if answer, err := p.outcome(); err == nil {
			require.Empty(t, p.judge.Validate(answer))
		} else {
			require.True(t, form.Has("cancel"))
		}
	})
}

func BenchmarkPage(b *testing.B) {
	message := strings.Repeat("A line of a message that is long.\n", 100_000)
	p := newPage(b, message, review)
	b.SetBytes(int64(len(message)))
	for b.Loop() {
		p.visit(host.Visit{})
	}
}
