package elicit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// review is the schema of a review: what is needed depends on the decision.
const review = `{"type":"object","additionalProperties":false,
	"properties":{"decision":{"type":"string","enum":["approve","revise","abort"]},"feedback":{"type":"string"}},
	"required":["decision"],
	"if":{"type":"object","properties":{"decision":{"const":"revise"}},"required":["decision"]},
	"then":{"type":"object","required":["feedback"],"properties":{"feedback":{"type":"string","minLength":1}}}}`

func definition(t testing.TB, text string) any {
	v, err := value.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

// A desk is a Web with somebody who waits for its questions.
type desk struct {
	t     *testing.T
	web   *Web
	asked chan string // addresses
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, asked: make(chan string, 10)}
	d.web = NewWeb(host.NewSite, func(address string) { d.asked <- address })
	t.Cleanup(func() { d.web.Close() })
	return d
}

type asking struct {
	answer any
	err    error
}

// ask asks in the background.
func (d *desk) ask(ctx context.Context, message, definitionText string) <-chan asking {
	q := engine.Question{Message: message, Schema: definition(d.t, definitionText)}
	done := make(chan asking, 1)
	go func() {
		v, err := d.web.Ask(ctx, q)
		done <- asking{v, err}
	}()
	return done
}

// A shown page is one that a browser got.
type shown struct {
	address string
	status  int
	header  http.Header
	text    string
	root    *html.Node
}

func (d *desk) get(address string) shown {
	d.t.Helper()
	response, err := http.Get(address)
	require.NoError(d.t, err)
	return d.shown(address, response)
}

func (d *desk) post(address string, form url.Values) shown {
	d.t.Helper()
	response, err := http.PostForm(address, form)
	require.NoError(d.t, err)
	return d.shown(address, response)
}

func (d *desk) shown(address string, response *http.Response) shown {
	d.t.Helper()
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(d.t, err)
	root, err := html.Parse(strings.NewReader(string(text)))
	require.NoError(d.t, err)
	return shown{address, response.StatusCode, response.Header, string(text), root}
}

// all are the elements for which the condition holds, in order.
func (s shown) all(holds func(*html.Node) bool) []*html.Node {
	var list []*html.Node
	for n := range s.root.Descendants() {
		if n.Type == html.ElementNode && holds(n) {
			list = append(list, n)
		}
	}
	return list
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func content(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// message is the text of the question.
func (s shown) message() string {
	var b strings.Builder
	for _, n := range s.all(func(n *html.Node) bool { return n.Data == "pre" }) {
		b.WriteString(content(n))
	}
	return b.String()
}

// form is what a browser would send if nobody touched the page.
func (s shown) form() url.Values {
	form := url.Values{}
	for _, n := range s.all(func(n *html.Node) bool { return n.Data == "input" || n.Data == "textarea" }) {
		name, kind := attribute(n, "name"), attribute(n, "type")
		switch {
		case n.Data == "textarea":
			form.Add(name, strings.ReplaceAll(content(n), "\n", "\r\n"))
		case kind == "hidden" || kind == "text" || has(n, "checked"):
			form.Add(name, attribute(n, "value"))
		}
	}
	return form
}

// named is the control of a title: its name, and the value of the option of that
// label, if it has options.
func (s shown) named(t *testing.T, title, label string) (name, option string) {
	t.Helper()
	titled := func(n *html.Node) bool {
		return strings.TrimSuffix(content(n), " needed") == title
	}
	for _, n := range s.all(func(n *html.Node) bool { return n.Data == "label" && titled(n) }) {
		return attribute(n, "for"), label
	}
	for _, n := range s.all(func(n *html.Node) bool { return n.Data == "legend" && titled(n) }) {
		for o := range n.Parent.Descendants() {
			if o.Data == "label" && content(o) == label {
				return attribute(o.FirstChild, "name"), attribute(o.FirstChild, "value")
			}
		}
	}
	require.FailNow(t, "there is no such control", "%s %s in %s", title, label, s.text)
	return "", ""
}

// fill is the form of the page with one control set.
func (s shown) fill(t *testing.T, form url.Values, title, written string) {
	t.Helper()
	name, v := s.named(t, title, written)
	form.Set(name, v)
}

// faults are the texts beside the control of an id, and those of the page's root.
func (s shown) faults(id string) []string {
	var list []string
	for _, n := range s.all(func(n *html.Node) bool { return attribute(n, "id") == id+"-faults" }) {
		for c := range n.ChildNodes() {
			if c.Data == "li" {
				list = append(list, content(c))
			}
		}
	}
	return list
}

func TestWebAsksOnce(t *testing.T) {
	d := newDesk(t)
	done := d.ask(t.Context(), "Ship \u202eit\u200b?\x1b[2J\n<b>&amp;\n", review)
	page := d.get(<-d.asked)
	require.Equal(t, 200, page.status)
	pre := page.all(func(n *html.Node) bool { return n.Data == "pre" })
	require.Len(t, pre, 1)
	require.Equal(t, `Ship \u202eit\u200b?\u001b[2J`+"\n<b>&amp;", content(pre[0]))
	require.Empty(t, page.all(func(n *html.Node) bool { return n.Data == "script" || has(n, "style") || has(n, "src") }))
	require.Empty(t, page.form()["answer-0"], "nobody has decided yet")

	form := page.form()
	page.fill(t, form, "decision", "approve")
	answered := d.post(page.address, form)
	require.Equal(t, 200, answered.status)
	require.Contains(t, answered.text, "You can close this page")
	got := <-done
	require.NoError(t, got.err)
	text, err := value.JSON(got.answer)
	require.NoError(t, err)
	require.Equal(t, `{"decision":"approve"}`, text)

	late := d.post(page.address, form)
	require.Equal(t, 409, late.status)
	require.Contains(t, late.text, "already answered")
	again := d.get(page.address)
	require.Equal(t, 410, again.status)
	require.Contains(t, again.text, "already answered")
	require.Empty(t, d.asked, "one address a question")
}

func TestWebPolicyAllowsTheStyleOfThePageAndNothingElse(t *testing.T) {
	d := newDesk(t)
	d.ask(t.Context(), "Well?", `{"type":"boolean"}`)
	page := d.get(<-d.asked)
	style := page.all(func(n *html.Node) bool { return n.Data == "style" })
	require.Len(t, style, 1)
	require.Equal(t, webStyle, content(style[0]), "what the policy has the hash of")
	require.Equal(t, webPolicy(), page.header.Get("Content-Security-Policy"))
	require.Regexp(t, `^default-src 'none'; style-src 'sha256-[^ ]*'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$`, webPolicy())
}

// TestWebAddressesCannotBeGuessed checks for 26 characters of 5 bits each, which are
// never the same twice.
func TestWebAddressesCannotBeGuessed(t *testing.T) {
	d := newDesk(t)
	seen := map[string]bool{}
	for range 3 {
		done := d.ask(t.Context(), "Well?", `{"type":"boolean"}`)
		page := d.get(<-d.asked)
		u, err := url.Parse(page.address)
		require.NoError(t, err)
		form := page.form()
		for _, secret := range []string{strings.TrimPrefix(u.Path, "/"), form.Get("token")} {
			require.Regexp(t, `^[A-Z2-7]{26,}$`, secret)
			require.False(t, seen[secret])
			seen[secret] = true
		}
		page.fill(t, form, "Your answer", "yes")
		d.post(page.address, form)
		require.Equal(t, asking{true, nil}, <-done)
	}
}

func TestPR9_PageShowsTheWholeText(t *testing.T) {
	d := newDesk(t)
	draft := "```\n" + "{props.request} <Fail message=\"x\" /> &amp;\n````` \u202e\x1b[2J\u200b F\u0435tch a\u0336\r\n" + strings.Repeat("\n", 50) + strings.Repeat(" ", 200) + "<Exec />\n```"
	done := d.ask(t.Context(), draft, review)
	page := d.get(<-d.asked)
	require.Equal(t, "```\n{props.request} <Fail message=\"x\" /> &amp;\n````` \\u202e\\u001b[2J\\u200b F\\u0435tch a\\u0336\\u000d\n"+
		strings.Repeat("\n", 50)+strings.Repeat(" ", 200)+"<Exec />\n```", page.message())
	var marked []string
	for _, n := range page.all(func(n *html.Node) bool { return n.Data == "b" }) {
		marked = append(marked, content(n))
	}
	require.Equal(t, []string{`\u202e`, `\u001b`, `\u200b`, `\u0435`, `\u0336`, `\u000d`}, marked)
	remarks := page.all(func(n *html.Node) bool { return attribute(n, "class") == "remarks" })
	require.Len(t, remarks, 1)
	require.Equal(t, []string{
		"55 lines Go to the answer",
		`Written as escapes because they would not be seen, or would rearrange what is: 4 characters, such as \u202e.`,
		`Written as escapes because they would pass for something else: 1 character, such as \u0435.`,
		`Written as escapes because they would reach over what is beside them: 1 character, such as \u0336.`,
		"Lines 4 to 53 say nothing new: they are empty, nearly empty or like the line before. The text goes on below them.",
		"Line 54 has 200 columns of blanks in a row, and more text behind them.",
	}, strings.Split(strings.Trim(strings.ReplaceAll(content(remarks[0]), "\n\n", "\n"), "\n"), "\n"))
	require.Empty(t, page.all(func(n *html.Node) bool { return has(n, "checked") }), "nothing is chosen")

	form := page.form()
	require.Equal(t, 422, d.post(page.address, form).status)
	page.fill(t, form, "decision", "approve")
	require.Equal(t, 200, d.post(page.address, form).status)
	require.NoError(t, (<-done).err)
}

func TestPR8_EmptyFeedbackKeepsThePageOpen(t *testing.T) {
	d := newDesk(t)
	done := d.ask(t.Context(), "Ship it?", review)
	page := d.get(<-d.asked)
	help := page.all(func(n *html.Node) bool { return attribute(n, "id") == "answer-1-help" })
	require.Len(t, help, 1)
	require.Equal(t, "(needed when decision is revise)", content(help[0]))
	form := page.form()
	page.fill(t, form, "decision", "revise")
	refused := d.post(page.address, form)
	require.Equal(t, 422, refused.status)
	require.Equal(t, []string{"this is needed"}, refused.faults("answer-1"))
	require.Empty(t, done)
	page.fill(t, form, "feedback", "shorter")
	require.Equal(t, 200, d.post(page.address, form).status)
	require.NoError(t, (<-done).err)
}

func TestPR9_ALongMessageIsServedSoon(t *testing.T) {
	d := newDesk(t)
	done := d.ask(t.Context(), strings.Repeat("one of many lines\n", 99_999)+"the last line", `{"type":"boolean"}`)
	address := <-d.asked
	start := time.Now()
	response, err := http.Get(address)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	response.Body.Close()
	require.Less(t, time.Since(start), 2*time.Second)
	require.Contains(t, string(text), `<pre class="whole" data-n="99901">`)
	require.Contains(t, string(text), "\nthe last line</pre>")
	require.NoError(t, d.web.Close())
	require.Error(t, (<-done).err)
}

func TestWebKeepsWhatWasWritten(t *testing.T) {
	d := newDesk(t)
	done := d.ask(t.Context(), "Ship it?", review)
	page := d.get(<-d.asked)
	form := page.form()
	refused := d.post(page.address, form)
	require.Equal(t, 422, refused.status)
	require.Equal(t, []string{"choose one"}, refused.faults("answer-0"))

	page.fill(t, form, "decision", "revise")
	refused = d.post(page.address, form)
	require.Equal(t, 422, refused.status)
	require.Equal(t, []string{"this is needed"}, refused.faults("answer-1"))
	require.Empty(t, refused.faults("answer-0"))
	require.Equal(t, form, refused.form(), "the page says what was sent")
	focus := refused.all(func(n *html.Node) bool { return has(n, "autofocus") })
	require.Len(t, focus, 1)
	require.Equal(t, "answer-1", attribute(focus[0], "id"))
	require.Equal(t, "true", attribute(focus[0], "aria-invalid"))
	require.Contains(t, attribute(focus[0], "aria-describedby"), "answer-1-faults")

	form.Set("answer-1", "\r\n<i>shorter</i> \"please\"\r\n")
	got := d.post(page.address, form)
	require.Equal(t, 200, got.status)
	answered := <-done
	require.NoError(t, answered.err)
	feedback, _ := answered.answer.(*value.Object).String("feedback")
	require.Equal(t, "\n<i>shorter</i> \"please\"\n", feedback)
}

func TestWebTakesOnlyItsOwnForm(t *testing.T) {
	d := newDesk(t)
	done := d.ask(t.Context(), "Well?", `{"type":"boolean"}`)
	page := d.get(<-d.asked)
	for name, token := range map[string][]string{"none": nil, "empty": {""}, "another": {strings.Repeat("A", 26)}} {
		t.Run(name, func(t *testing.T) {
			form := url.Values{"answer": {"0"}, "token": token}
			refused := d.post(page.address, form)
			require.Equal(t, 403, refused.status)
			form.Set("cancel", "cancel")
			require.Equal(t, 403, d.post(page.address, form).status)
		})
	}
	require.Empty(t, done)
	form := page.form()
	page.fill(t, form, "Your answer", "no")
	require.Equal(t, 200, d.post(page.address, form).status)
	require.Equal(t, asking{false, nil}, <-done)
}

func TestWebCancel(t *testing.T) {
	d := newDesk(t)
	done := d.ask(t.Context(), "Well?", review)
	page := d.get(<-d.asked)
	form := page.form()
	form.Set("cancel", "cancel")
	cancelled := d.post(page.address, form)
	require.Equal(t, 200, cancelled.status)
	require.Contains(t, cancelled.text, "without an answer")
	got := <-done
	require.ErrorIs(t, got.err, ErrInterrupted)
	require.ErrorIs(t, got.err, context.Canceled)
	require.Equal(t, 409, d.post(page.address, form).status)
}

func TestWebQuestionsTakeTurns(t *testing.T) {
	d := newDesk(t)
	const count = 5
	answers := make(chan asking, count)
	for i := range count {
		done := d.ask(t.Context(), fmt.Sprint(i), `{"type":"number"}`)
		go func() { answers <- <-done }()
	}
	seen := map[string]bool{}
	for range count {
		page := d.get(<-d.asked)
		require.Empty(t, d.asked, "one at a time")
		number := content(page.all(func(n *html.Node) bool { return n.Data == "pre" })[0])
		form := page.form()
		page.fill(t, form, "Your answer", number)
		require.Equal(t, 200, d.post(page.address, form).status)
		got := <-answers
		require.NoError(t, got.err)
		require.Equal(t, number, value.Text(got.answer))
		seen[number] = true
	}
	require.Len(t, seen, count)
}

// TestWebTakesOneAnswer sends many at once.
func TestWebTakesOneAnswer(t *testing.T) {
	d := newDesk(t)
	done := d.ask(t.Context(), "Which?", `{"type":"number"}`)
	page := d.get(<-d.asked)
	const count = 20
	type sent struct{ number, status int }
	all := make(chan sent, count)
	for i := range count {
		form := page.form()
		page.fill(t, form, "Your answer", fmt.Sprint(i))
		go func() {
			response, err := http.PostForm(page.address, form)
			if err != nil {
				all <- sent{i, 0}
				return
			}
			response.Body.Close()
			all <- sent{i, response.StatusCode}
		}()
	}
	var taken []float64
	for range count {
		switch s := <-all; s.status {
		case 200:
			taken = append(taken, float64(s.number))
		default:
			require.Equal(t, 409, s.status)
		}
	}
	require.Len(t, taken, 1)
	require.Equal(t, asking{taken[0], nil}, <-done)
}

func TestWebEndsWithItsContext(t *testing.T) {
	d := newDesk(t)
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := d.ask(ctx, "Well?", `{"type":"boolean"}`)
	page := d.get(<-d.asked)
	waiting := d.ask(ctx, "And?", `{"type":"boolean"}`)
	cancel(reason)
	require.Equal(t, asking{nil, reason}, <-done)
	require.Equal(t, asking{nil, reason}, <-waiting)
	_, err := http.Get(page.address)
	require.Error(t, err, "nothing listens any more")
	require.Empty(t, d.asked)

	done = d.ask(t.Context(), "Once more?", `{"type":"boolean"}`)
	page = d.get(<-d.asked)
	form := page.form()
	page.fill(t, form, "Your answer", "yes")
	require.Equal(t, 200, d.post(page.address, form).status)
	require.Equal(t, asking{true, nil}, <-done)
}

func TestWebCloseEndsAnOpenQuestion(t *testing.T) {
	d := newDesk(t)
	done := d.ask(t.Context(), "Well?", `{"type":"boolean"}`)
	address := <-d.asked
	require.NoError(t, d.web.Close())
	require.EqualError(t, (<-done).err, "the page of the question is no longer served")
	_, err := http.Get(address)
	require.Error(t, err)
	require.NoError(t, d.web.Close())
}

func TestWebListensForNothingElse(t *testing.T) {
	opened := 0
	failure := errors.New("no ports today")
	w := NewWeb(func() (*host.Site, error) { opened++; return nil, failure }, func(string) { t.Error("there is no address") })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Ask(ctx, engine.Question{Schema: definition(t, `{}`)})
	require.ErrorIs(t, err, context.Canceled)
	_, err = w.Ask(t.Context(), engine.Question{Schema: definition(t, `{"type":"strong"}`)})
	require.ErrorAs(t, err, new(*schema.Error))
	require.Zero(t, opened)
	_, err = w.Ask(t.Context(), engine.Question{Schema: definition(t, `{}`)})
	require.ErrorIs(t, err, failure)
	require.NoError(t, w.Close())
}
