//go:build unix

package main

import (
	"bufio"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// A prompting is a running command whose questions are answered on their pages.
type prompting struct {
	*process
	addresses chan string // as they are announced; closed when standard error is
}

// prompt starts xmd prompt with these arguments.
func (d *desk) prompt(args ...string) *prompting {
	d.t.Helper()
	return begin(prepare(d.t, d.dir, d.env, append([]string{"prompt", "--ask", "web"}, args...)...))
}

// xmd runs the command to its end.
func (d *desk) xmd(args ...string) (status int, stdout, stderr string) {
	d.t.Helper()
	return finish(d.t, d.dir, d.env, args...)
}

// begin starts a prepared command.
func begin(p *process) *prompting {
	p.t.Helper()
	read, write, err := os.Pipe()
	require.NoError(p.t, err)
	q := &prompting{process: p, addresses: make(chan string, 100)}
	p.cmd.Stderr = write
	go func() {
		defer close(q.addresses)
		defer read.Close()
		for lines := bufio.NewReader(read); ; {
			line, err := lines.ReadString('\n')
			p.stderr.WriteString(line)
			if address := pageAddress.FindString(line); address != "" {
				q.addresses <- address
			}
			if err != nil {
				return
			}
		}
	}()
	p.start()
	require.NoError(p.t, write.Close())
	return q
}

// end waits for the end and returns the exit status. Nothing may have been asked that
// the test did not look at, and nothing that was started may hold on to standard error.
func (q *prompting) end() int {
	q.t.Helper()
	address, more := await(q.t, "standard error to be closed by everything that was started", q.addresses)
	require.False(q.t, more, "a question was asked that nobody expected, at %s", address)
	return q.process.wait()
}

// reported is standard error without what announces questions.
func (q *prompting) reported() string {
	var kept []string
	for line := range strings.Lines(q.stderr.String()) {
		if !pageAddress.MatchString(line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// A review is a question as its page shows it.
type review struct {
	of      *prompting
	address string
	message string     // exactly as it is shown
	choices []string   // of the first field
	fields  [][]string // name in the form, title, and the labels there are to choose from
	token   string
	faults  string // what was refused about an answer
}

// ask waits for a question and reads its page.
func (q *prompting) ask() review {
	q.t.Helper()
	address, asked := await(q.t, "a question", q.addresses)
	if !asked {
		q.process.wait()
		require.FailNow(q.t, "the command ended instead of asking", "status %d\n%s%s", q.cmd.ProcessState.ExitCode(), q.stdout.String(), q.stderr.String())
	}
	response, err := http.Get(address)
	require.NoError(q.t, err)
	return q.page(address, body(q.t, response))
}

// page reads a page.
func (q *prompting) page(address, text string) review {
	q.t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	require.NoError(q.t, err)
	r := review{of: q, address: address}
	var message, faults strings.Builder
	for n := range root.Descendants() {
		switch {
		case n.Type == html.TextNode && within(n, "faults"):
			faults.WriteString(n.Data)
		case n.Type != html.ElementNode:
		case n.Data == "pre" && within(n, "message"):
			message.WriteString(textOf(n))
		case n.Data == "input" && attribute(n, "name") == "token":
			r.token = attribute(n, "value")
		case n.Data == "label" && attribute(n, "class") == "option":
			last := len(r.fields) - 1
			r.fields[last] = append(r.fields[last], strings.TrimSpace(textOf(n)))
		case n.Data == "fieldset":
			r.fields = append(r.fields, []string{attribute(n, "id"), ""})
		case n.Data == "legend":
			r.fields[len(r.fields)-1][1] = strings.TrimSpace(textOf(n))
		case n.Data == "label":
			r.fields = append(r.fields, []string{attribute(n, "for"), strings.TrimSpace(textOf(n))})
		}
	}
	r.message, r.faults = message.String(), strings.TrimSpace(faults.String())
	require.NotEmpty(q.t, r.token, text)
	require.NotEmpty(q.t, r.fields, text)
	r.choices = r.fields[0][2:]
	return r
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func within(n *html.Node, class string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if slices.Contains(strings.Fields(attribute(p, "class")), class) {
			return true
		}
	}
	return false
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// post sends a form to the page.
func (r review) post(status int, values url.Values) string {
	r.of.t.Helper()
	values.Set("token", r.token)
	response, err := http.PostForm(r.address, values)
	require.NoError(r.of.t, err)
	text := body(r.of.t, response)
	require.Equal(r.of.t, status, response.StatusCode, text)
	return text
}

// form fills in the fields, one after the other. Of a choice it takes the label.
func (r review) form(texts ...string) url.Values {
	r.of.t.Helper()
	values := url.Values{}
	for i, text := range texts {
		require.Less(r.of.t, i, len(r.fields))
		name, labels := r.fields[i][0], r.fields[i][2:]
		if len(labels) > 0 {
			index := slices.Index(labels, text)
			require.GreaterOrEqual(r.of.t, index, 0, "%q is not offered, but %q", text, labels)
			text = string(rune('0' + index))
		}
		values.Set(name, text)
	}
	return values
}

// answer gives an answer that is taken.
func (r review) answer(texts ...string) {
	r.of.t.Helper()
	r.post(http.StatusOK, r.form(texts...))
}

// refused gives an answer that is not taken, and is the same question again.
func (r review) refused(texts ...string) review {
	r.of.t.Helper()
	return r.of.page(r.address, r.post(http.StatusUnprocessableEntity, r.form(texts...)))
}

func (r review) approve()             { r.of.t.Helper(); r.answer("approve") }
func (r review) revise(change string) { r.of.t.Helper(); r.answer("revise", change) }
func (r review) abort()               { r.of.t.Helper(); r.answer("abort") }

// cancel leaves the question.
func (r review) cancel() {
	r.of.t.Helper()
	r.post(http.StatusOK, url.Values{"cancel": {"cancel"}})
}

// shows checks that the message holds exactly this document, between fences that it
// cannot close.
func (r review) shows(fence, document string) {
	r.of.t.Helper()
	require.Contains(r.of.t, r.message, "\n"+fence+"markdown\n"+document+"\n"+fence)
}

// TestPromptApproved: an approval, from the question to the end of the run.
func TestPromptApproved(t *testing.T) {
	d := newDesk(t)
	d.answers("Hello.\n")
	p := d.prompt("say hello")
	r := p.ask()
	r.shows("```", "Hello.\n")
	require.Equal(t, []string{"approve", "revise", "abort"}, r.choices)
	r.approve()
	require.Zero(t, p.end(), p.stderr.String())
	require.Equal(t, "Hello.\n", p.stdout.String())
	require.Empty(t, p.reported())
	require.Len(t, d.turns(), 1)
	d.requireTidy()
}
