package component

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// web answers every request the same way and remembers them.
type web struct {
	response host.Response
	err      error
	requests []host.Request
}

func (w *web) Do(_ context.Context, r host.Request) (host.Response, error) {
	w.requests = append(w.requests, r)
	return w.response, w.err
}

func TestFetchRequest(t *testing.T) {
	for _, c := range []struct {
		source  string
		timeout time.Duration
		want    host.Request
		input   string
	}{
		{`<Fetch url="https://a.example/x?q=1#f" as="r" />`, 0,
			host.Request{Method: "GET", URL: "https://a.example/x?q=1#f", Headers: []host.Header{}},
			`{"url":"https://a.example/x?q=1#f","method":"GET","headers":{}}`},
		{`<Fetch url="HTTP://A.example" method="HEAD" headers={{ "X-B": "2", accept: "*/*" }} timeout="2s" as="r" />`, time.Minute,
			host.Request{Method: "HEAD", URL: "HTTP://A.example", Headers: []host.Header{{Name: "accept", Value: "*/*"}, {Name: "x-b", Value: "2"}}, Timeout: 2 * time.Second},
			`{"url":"HTTP://A.example","method":"HEAD","headers":{"accept":"*/*","x-b":"2"},"timeout":2000}`},
		{`<Fetch url="http://a" as="r">never <Mark /></Fetch>`, 1500 * time.Millisecond,
			host.Request{Method: "GET", URL: "http://a", Headers: []host.Header{}, Timeout: 1500 * time.Millisecond},
			`{"url":"http://a","method":"GET","headers":{},"timeout":1500}`},
	} {
		w := &web{response: host.Response{Status: 200}}
		o := run(t, c.source, world{http: w, timeout: c.timeout})
		require.Empty(t, o.ok(t))
		require.Equal(t, []host.Request{c.want}, w.requests)
		require.Empty(t, o.marks)
		e := o.record(t, "fetch")
		name, _ := e.Description.String("name")
		require.Regexp(t, "^fetch:[0-9a-f]{64}$", name)
		require.JSONEq(t, c.input, member(t, e, "input"))
	}
}

func TestFetchResponse(t *testing.T) {
	answer := host.Response{Status: 404, Headers: []host.Header{{Name: "set-cookie", Value: "a=1, b=2"}}, Body: "gone\n"}
	w := &web{response: answer}
	o := run(t, `<Fetch url="http://a" as="r" />{r.status} {r.body}<Json value={r.headers} />`, world{http: w})
	require.Equal(t, "404 gone\n{\n  \"set-cookie\": \"a=1, b=2\"\n}", o.ok(t))
	require.JSONEq(t, `{"status":404,"headers":{"set-cookie":"a=1, b=2"},"body":"gone\n"}`, asJSON(t, o.record(t, "fetch").Result.Value))

	o = run(t, `<Fetch url="http://a" method="HEAD" as="r" />[{r.body}]`, world{http: w})
	require.Equal(t, "[]", o.ok(t))

	w.response.Status = 204
	require.Equal(t, "[]", run(t, `[<Fetch url="http://a" />]`, world{http: w}).ok(t))
	for _, status := range []int{199, 300, 301, 404, 503} {
		w.response.Status = status
		o = run(t, `<Fetch url="http://a" /><Mark />`, world{http: w})
		require.ErrorContains(t, o.Err, `write as="reply" on it to use a response whatever its status`)
		require.Empty(t, o.marks)
		require.Equal(t, journal.StatusOk, o.record(t, "fetch").Result.Status, "the response is recorded first")
	}
}

func TestFetchRefusals(t *testing.T) {
	const connection = "which belongs to the connection; remove it"
	for _, c := range []struct{ attributes, message string }{
		{`url=""`, "<Fetch> needs an absolute http or https url"},
		{`url="/status"`, "<Fetch> needs an absolute http or https url"},
		{`url="//a/b"`, "<Fetch> needs an absolute http or https url"},
		{`url="ftp://a"`, "<Fetch> needs an absolute http or https url"},
		{`url="file:///etc/passwd"`, "<Fetch> needs an absolute http or https url"},
		{`url="http:a"`, "<Fetch> needs an absolute http or https url"},
		{`url="http://"`, "<Fetch> needs an absolute http or https url"},
		{`url="http://a/%zz"`, "<Fetch> needs an absolute http or https url"},
		{`url="http://a/b c"`, "<Fetch> has white space or control characters in its url; write them percent-encoded, such as %20"},
		{`url={"http://a/\r\nX: y"}`, "<Fetch> has white space or control characters in its url; write them percent-encoded, such as %20"},
		{`url="http://a" headers={{ Accept: "a", accept: "b" }}`, "<Fetch> has two spellings of the header accept; write it once"},
		{`url="http://a" headers={{ "": "b" }}`, `<Fetch> has the header name "", which is not one; use letters, digits and hyphens`},
		{`url="http://a" headers={{ "a b": "b" }}`, `<Fetch> has the header name "a b", which is not one; use letters, digits and hyphens`},
		{`url="http://a" headers={{ "ä": "b" }}`, `<Fetch> has the header name "ä", which is not one; use letters, digits and hyphens`},
		{`url="http://a" headers={{ a: "x\r\nb: y" }}`, "<Fetch> has a control character in the value of the header a; remove it"},
		{`url="http://a" headers={{ a: "x\u007f" }}`, "<Fetch> has a control character in the value of the header a; remove it"},
		{`url="http://a" headers={{ Host: "b" }}`, "<Fetch> cannot send the header host, " + connection},
		{`url="http://a" headers={{ "Content-Length": "1" }}`, "<Fetch> cannot send the header content-length, " + connection},
		{`url="http://a" headers={{ "Transfer-Encoding": "chunked" }}`, "<Fetch> cannot send the header transfer-encoding, " + connection},
		{`url="http://a" headers={{ Connection: "close" }}`, "<Fetch> cannot send the header connection, " + connection},
		{`url="http://a" headers={{ "Keep-Alive": "1" }}`, "<Fetch> cannot send the header keep-alive, " + connection},
		{`url="http://a" headers={{ TE: "trailers" }}`, "<Fetch> cannot send the header te, " + connection},
		{`url="http://a" headers={{ Trailer: "x" }}`, "<Fetch> cannot send the header trailer, " + connection},
		{`url="http://a" headers={{ Upgrade: "h2c" }}`, "<Fetch> cannot send the header upgrade, " + connection},
		{`url="http://a" headers={{ Expect: "100-continue" }}`, "<Fetch> cannot send the header expect, " + connection},
		{`url="http://a" headers={{ "Proxy-Authorization": "x" }}`, "<Fetch> cannot send the header proxy-authorization, " + connection},
		{`url="http://a" timeout="soon"`, `<Fetch> cannot use its timeout: "soon" is not a duration: write digits and a unit, such as 500ms, 30s or 5m`},
		{`url="http://a" timeout=""`, `<Fetch> cannot use its timeout: "" is not a duration: write digits and a unit, such as 500ms, 30s or 5m`},
		{`url="http://a" timeout="0s"`, `<Fetch> cannot use its timeout: "0s" is not a duration: write digits and a unit, such as 500ms, 30s or 5m`},
	} {
		w := &web{response: host.Response{Status: 200}}
		o := run(t, `<Fetch `+c.attributes+` as="r" /><Mark />`, world{http: w})
		o.failed(t, c.message)
		require.Empty(t, w.requests)
		require.Empty(t, o.marks)
	}
}

func TestFetchFailures(t *testing.T) {
	o := run(t, `<PrintErrors><Fetch url="http://a" as="r" />{r}</PrintErrors>`, world{http: &web{err: &host.TimeoutError{After: time.Second}}})
	o.printed(t, "<Fetch> received no response: no complete answer within 1s")
	require.Contains(t, o.Output, "{r}")
	require.Equal(t, journal.StatusErr, o.record(t, "fetch").Result.Status)

	again := run(t, `<PrintErrors><Fetch url="http://a" as="r" />{r}</PrintErrors>`, world{events: o.unfinished()})
	again.printed(t, "<Fetch> received no response: no complete answer within 1s")

	o = run(t, `<PrintErrors><Fetch url="http://a" as="r" /></PrintErrors>`, world{http: &web{response: host.Response{Status: 0}}})
	o.infrastructure(t, "the HTTP provider answered <Fetch> without an HTTP status")

	cause := errors.New("the run ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	o = run(t, `<PrintErrors><Fetch url="http://a" as="r" /></PrintErrors><Mark />`, world{ctx: ctx, http: stopping{func() error { cancel(cause); return cause }}})
	require.ErrorIs(t, o.stopped, cause)
	require.Empty(t, o.marks)
	for _, e := range o.events {
		typ, _ := e.Description.String("type")
		require.NotEqual(t, "fetch", typ, "a cancelled request leaves no record")
	}
}

type stopping struct{ do func() error }

func (s stopping) Do(context.Context, host.Request) (host.Response, error) {
	return host.Response{}, s.do()
}

// A missing provider settles nothing: the execution ends and its history can be
// continued where there is one.
func TestFetchWithoutProvider(t *testing.T) {
	const source = `<PrintErrors><Fetch url="http://a" as="r" />{r.status}</PrintErrors>`
	o := run(t, source, world{})
	o.infrastructure(t, "<Fetch> needs an HTTP provider, and this run was given none")
	again := run(t, source, world{events: o.unfinished(), http: &web{response: host.Response{Status: 200}}})
	require.Equal(t, "200", again.ok(t))
}

func TestFetchReplay(t *testing.T) {
	const source = `<Fetch url="http://a" as="r" />{r.status}`
	first := run(t, source, world{http: &web{response: host.Response{Status: 418, Body: "tea"}}})
	require.Equal(t, "418", first.ok(t))
	again := run(t, source, world{events: first.unfinished()})
	require.Equal(t, "418", again.ok(t), "restored without a provider")

	for name, recorded := range map[string]any{
		"no object":             "tea",
		"a missing member":      value.Of("status", 1.0, "headers", value.NewObject(0)),
		"one more member":       value.Of("status", 1.0, "headers", value.NewObject(0), "body", "", "x", 1.0),
		"a status in words":     value.Of("status", "ok", "headers", value.NewObject(0), "body", ""),
		"a broken status":       value.Of("status", 1.5, "headers", value.NewObject(0), "body", ""),
		"headers in a list":     value.Of("status", 1.0, "headers", []any{}, "body", ""),
		"a header that is none": value.Of("status", 1.0, "headers", value.Of("a", 1.0), "body", ""),
		"a body that is none":   value.Of("status", 1.0, "headers", value.NewObject(0), "body", nil),
	} {
		t.Run(name, func(t *testing.T) {
			events := first.unfinished()
			for i := range events {
				if typ, _ := events[i].Description.String("type"); typ == "fetch" {
					events[i].Result = journal.Ok(recorded)
				}
			}
			o := run(t, source, world{events: events})
			var stale *journal.StaleInputError
			require.ErrorAs(t, o.stopped, &stale)
			require.ErrorContains(t, o.stopped, "the recorded result of <Fetch> is not a response")
		})
	}
}
