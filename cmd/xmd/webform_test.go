//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

const asksForAnAge = `<Elicit schema={{type: "object", properties: {age: {type: "integer", minimum: 0}}, required: ["age"], additionalProperties: false}} as="a">How old?</Elicit>You are {a.age}.`

var (
	pageAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\w+`)
	pageToken   = regexp.MustCompile(`name="token" value="(\w+)"`)
)

// asked starts a run whose question waits in a browser, and reads its page.
func asked(t *testing.T, source string) (p *process, address, page string) {
	t.Helper()
	p = prepare(t, t.TempDir(), nil, "run", "-e", source, "--ask", "web")
	read, write, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { read.Close() })
	p.cmd.Stderr = write
	p.start()
	require.NoError(t, write.Close())
	line, err := bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err)
	address = pageAddress.FindString(line)
	require.NotEmpty(t, address, line)
	response, err := http.Get(address)
	require.NoError(t, err)
	return p, address, body(t, response)
}

func body(t *testing.T, response *http.Response) string {
	t.Helper()
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(text)
}

// TestWebFormAnswersAQuestion: a person answers in a browser; what the schema refuses
// keeps the question open.
func TestWebFormAnswersAQuestion(t *testing.T) {
	p, address, page := asked(t, asksForAnAge)
	require.Contains(t, page, "How old?")
	token := pageToken.FindStringSubmatch(page)[1]
	response, err := http.PostForm(address, url.Values{"token": {token}, "answer-0": {"-3"}})
	require.NoError(t, err)
	require.Contains(t, body(t, response), "-3", "what was written is kept")
	response, err = http.PostForm(address, url.Values{"token": {token}, "answer-0": {"36"}})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	body(t, response)
	require.Zero(t, p.wait())
	require.Equal(t, "You are 36.", p.stdout.String())
}

// TestWebFormCancelled: leaving the question ends the run as Ctrl-C would.
func TestWebFormCancelled(t *testing.T) {
	p, address, page := asked(t, asksForAnAge)
	token := pageToken.FindStringSubmatch(page)[1]
	response, err := http.PostForm(address, url.Values{"token": {token}, "cancel": {"cancel"}})
	require.NoError(t, err)
	body(t, response)
	require.Equal(t, 130, p.wait())
}

// TestWebFormGoesWithTheRun: a run that is told to stop takes its page away.
func TestWebFormGoesWithTheRun(t *testing.T) {
	p, address, _ := asked(t, asksForAnAge)
	p.signal(os.Interrupt)
	require.Equal(t, 130, p.wait())
	_, err := http.Get(address)
	require.Error(t, err)
}
