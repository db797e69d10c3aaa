package capability

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/value"
)

// A transport is a client that keeps what it was asked for.
type transport struct {
	asked  []Normal
	answer Response
	err    error
}

func (r *transport) Do(_ context.Context, n Normal, limit int) (Response, error) {
	r.asked = append(r.asked, n)
	return r.answer, r.err
}

const one = "https://api.example.test/one"

func TestA23_AdversarialRequests(t *testing.T) {
	client := &transport{answer: Response{Status: 200, Body: "ok"}}
	e := captured(t, Fetch(client, Request{URL: one}))
	headers := func(pairs ...any) []any { return []any{"url", one, "headers", value.Of(pairs...)} }
	for _, refused := range [][]any{
		// 06
		{"url", "https://api.example.test@evil.example/one"}, {"url", "https://api.example.test:443@evil.example/one"},
		{"url", "https://api.example.test%2eevil.example/one"}, {"url", `https://api.example.test\@evil.example/one`},
		{"url", `https://api.example.test\.evil.example/one`}, {"url", "https://evil.example#@api.example.test/one"},
		{"url", "https://evil.example?@api.example.test/one"}, {"url", "https:///api.example.test/one"}, {"url", "https:api.example.test/one"},
		{"url", "//api.example.test/one"}, {"url", "https://user:pw@api.example.test/one"},
		{"url", "https://api.example.test.evil.example/one"}, {"url", "https://evilapi.example.test/one"},
		// 07
		{"url", "https://api.example.test:0443/one"}, {"url", "https://api.example.test:/one"}, {"url", "https://api.example.test/one?"},
		{"url", "https://api.example.test/one#f"}, {"url", "https://api.example.test./one"}, {"url", "https://api.example.test//one"},
		{"url", "https://api.example.test/one/"}, {"url", "https://api.example.test/ONE"}, {"url", "https://api.example.test/one%2f.."},
		{"url", "https://api.example.test/one?x=1"}, {"url", "http://api.example.test/one"}, {"url", "https://api.example.test:8443/one"},
		{"url", "https://api.example.test/one;x=1"},
		// 08
		headers("accept ", "text/plain"), headers("accept", "a\r\nx-evil: 1"), headers("Accept", "a", "accept", "b"), headers("host", "evil.example"),
		headers("transfer-encoding", "chunked"), headers("x-a\n", "1"), headers("authorization", "Bearer x"),
		headers("accept", 1.0), headers("accept", nil), headers("accept", []any{"a"}),
		{"url", one, "method", "GET /x HTTP/1.1"}, {"url", one, "method", "HEAD"}, {"url", one, "method", "POST"},
		{"url", one, "timeout", "5s"}, {"url", one, "timeout", "soon"}, {"url", one, "timeout", "-1s"},
	} {
		require.Equal(t, "request", classOf(e, use(SelfClosing, "", refused...)), refused)
		_, err := e.Do(t.Context(), call("", "", refused...))
		var v *Violation
		require.ErrorAs(t, err, &v, refused)
		require.NotContains(t, v.Reason, "evil")
	}
	require.Empty(t, client.asked, "nothing was asked for")
	for _, admitted := range [][]any{
		{"url", one}, {"url", "HTTPS://API.EXAMPLE.TEST/one"}, {"url", "https://api.example.test:443/one"}, {"url", "https://api.example.test/./one"},
		{"url", "https://api.example.test/x/../one"}, {"url", "https://api.example.test/%6fne"}, {"url", one, "method", "get"},
		{"url", one, "headers", value.Of()},
	} {
		v, err := perform(t.Context(), e, call("", "", admitted...))
		require.NoError(t, err, admitted)
		require.True(t, value.Equal(value.Of("status", 200.0, "headers", value.Of(), "body", "ok"), v))
		record := e.Record(call("", "", admitted...))
		require.Equal(t, "fetch", record.Type)
		require.True(t, value.Equal(value.Of("url", one, "method", "GET", "headers", value.Of()), record.Input), admitted)
	}
	for _, n := range client.asked {
		require.Equal(t, Normal{Method: "GET", URL: one, Headers: []Header{}}, n, "never the candidate's spelling")
	}
	require.Equal(t, "props", classOf(e, use(SelfClosing, "", "url", one, "body", "x")))
	require.Equal(t, "props", classOf(e, use(SelfClosing, "")))
	require.Equal(t, "props", classOf(e, use(SelfClosing, "", "url", one, "timeout", 5.0)))
}

// D-39.
func TestA23_Timeouts(t *testing.T) {
	client := &transport{answer: Response{Status: 200}}
	e := captured(t, Fetch(client, Request{URL: one, Timeout: 5 * time.Second}, Request{URL: one + "2"}), func(p *Profile) { p.FetchTimeout = 30 * time.Second })
	for _, row := range []struct {
		props []any
		want  time.Duration // 0: refused
	}{
		{[]any{"url", one}, 5 * time.Second},
		{[]any{"url", one, "timeout", "5s"}, 5 * time.Second},
		{[]any{"url", one, "timeout", "5000ms"}, 5 * time.Second},
		{[]any{"url", one, "timeout", "6s"}, 0},
		{[]any{"url", one, "timeout", "30s"}, 0},
		{[]any{"url", one + "2"}, 30 * time.Second},
		{[]any{"url", one + "2", "timeout", "30s"}, 30 * time.Second},
		{[]any{"url", one + "2", "timeout", "5s"}, 0},
	} {
		client.asked = nil
		_, err := perform(t.Context(), e, call("", "", row.props...))
		if row.want == 0 {
			require.ErrorAs(t, err, new(*Violation))
			require.Empty(t, client.asked)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, row.want, client.asked[0].Timeout)
		timeout, _ := e.Record(call("", "", row.props...)).Input.(*Object).Get("timeout")
		require.Equal(t, float64(row.want.Milliseconds()), timeout)
	}
}

// What is computed later may still equal a stated request; what is known may not.
func TestA23_ComputedPartsAreJudgedLater(t *testing.T) {
	e := captured(t, Fetch(nil, Request{URL: one, Headers: map[string]string{"accept": "x"}}, Request{URL: one + "2", Method: "HEAD"}))
	partly := func(computed string, props ...any) string {
		return classOf(e, Use{Form: SelfClosing, Props: value.Of(props...), Computed: strings.Fields(computed)})
	}
	require.Equal(t, "request", partly("url"), "none is stated without both")
	require.Empty(t, partly("url", "headers", value.Of("accept", "x")))
	require.Empty(t, partly("url headers method"))
	require.Empty(t, partly("url", "method", "HEAD"))
	require.Empty(t, partly("headers", "url", one))
	require.Empty(t, partly("timeout method", "url", one+"2"))
	require.Equal(t, "request", partly("url headers method", "timeout", ""))
	require.Equal(t, "request", partly("url", "method", "HEAD", "headers", value.Of("accept", "x")))
	require.Equal(t, "request", partly("headers", "url", one+"3"))
	require.Equal(t, "request", partly("headers", "url", one+"2"))
	require.Equal(t, "request", partly("url", "headers", value.Of("host", "x")))
	require.Equal(t, "request", partly("method", "url", "nowhere", "headers", value.Of("accept", "x")))
}

func TestFetchAnswers(t *testing.T) {
	client := &transport{answer: Response{Status: 302, Headers: []Header{{"location", "http://169.254.169.254/"}}, Body: "moved"}}
	e := captured(t, Fetch(client, Request{URL: one}, Request{URL: one, Method: "HEAD"}))
	v, err := perform(t.Context(), e, call("", "", "url", one))
	require.NoError(t, err)
	require.True(t, value.Equal(value.Of("status", 302.0, "headers", value.Of("location", "http://169.254.169.254/"), "body", "moved"), v))
	require.Len(t, client.asked, 1)
	v, err = perform(t.Context(), e, call("", "", "url", one, "method", "HEAD"))
	require.NoError(t, err)
	body, _ := v.(*Object).String("body")
	require.Empty(t, body)

	c := call("", "", "url", one)
	c.Limit = 4
	_, err = perform(t.Context(), e, c)
	require.EqualError(t, err, "the response body is larger than 4 bytes")
	client.err = errors.New("no network")
	_, err = perform(t.Context(), e, call("", "", "url", one))
	require.EqualError(t, err, "no response was received: no network")
	client.err, client.answer = nil, Response{Status: 7}
	_, err = perform(t.Context(), e, call("", "", "url", one))
	require.Error(t, err, "not a status")

	_, err = perform(t.Context(), captured(t, Fetch(nil, Request{URL: one})), call("", "", "url", one))
	require.ErrorContains(t, err, "no HTTP client")
	_, err = Fetch(client, Request{URL: one}).Op.Do(t.Context(), call("", "", "url", one))
	require.ErrorIs(t, err, errNotGranted)
}

// The client of the machine, by the address it was stated with.
func TestA23_GuardedClient(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.RequestURI+" "+r.Header.Get("x-a"))
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	t.Cleanup(server.Close)
	stated := Request{URL: server.URL + "/a%2fb?c", Headers: map[string]string{"X-A": "1"}, Timeout: time.Minute}
	e := captured(t, Fetch(Guarded(host.NewGuardedHTTP()), stated))
	v, err := perform(t.Context(), e, call("", "", "url", server.URL+"/x/../%61%2Fb?c", "headers", value.Of("x-a", "1")))
	require.NoError(t, err)
	status, _ := v.(*Object).Get("status")
	require.Equal(t, 302.0, status)
	require.Equal(t, []string{"GET /a%2Fb?c 1"}, asked)

	// A name that leads to this machine is not that address.
	named := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	_, err = perform(t.Context(), captured(t, Fetch(Guarded(host.NewGuardedHTTP()), Request{URL: named})), call("", "", "url", named))
	require.ErrorIs(t, err, host.ErrNotPublic)
	require.Len(t, asked, 1)
}
