//go:build unix

package interop

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

var pageAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\w+`)

// A reviewPage is a question as it is shown in a browser.
type reviewPage struct {
	t       *testing.T
	address string
	root    *html.Node
}

// review waits for the nth question of a command, from 1, and opens its page. It is nil
// when the command ended first.
func (r *running) review(n int) *reviewPage {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		if all := pageAddress.FindAllString(r.stderr.String(), -1); len(all) >= n {
			return openPage(r.t, all[n-1])
		}
		select {
		case <-r.stderr.more:
		case <-r.ended:
			return nil
		case <-deadline:
			require.FailNow(r.t, "nothing was asked", r.stderr.String())
		}
	}
}

func openPage(t *testing.T, address string) *reviewPage {
	t.Helper()
	response, err := http.Get(address)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	root, err := html.Parse(response.Body)
	require.NoError(t, err)
	return &reviewPage{t: t, address: address, root: root}
}

// shows is the text of the page, with nothing between its parts.
func (p *reviewPage) shows() string { return textOf(p.root) }

// choose answers the question with the choice of a label.
func (p *reviewPage) choose(label string) {
	p.t.Helper()
	form := url.Values{}
	for n := range p.root.Descendants() {
		switch {
		case n.Data == "input" && attribute(n, "type") == "hidden":
			form.Set(attribute(n, "name"), attribute(n, "value"))
		case n.Data == "label" && strings.TrimSpace(textOf(n)) == label:
			for input := range p.root.Descendants() {
				if input.Data == "input" && attribute(input, "id") == attribute(n, "for") {
					form.Set(attribute(input, "name"), attribute(input, "value"))
				}
			}
		}
	}
	require.Greater(p.t, len(form), 1, "there is no choice "+label)
	response, err := http.PostForm(p.address, form)
	require.NoError(p.t, err)
	defer response.Body.Close()
	require.Equal(p.t, http.StatusOK, response.StatusCode)
}

func textOf(n *html.Node) string {
	var text strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			text.WriteString(c.Data)
		}
	}
	return text.String()
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
