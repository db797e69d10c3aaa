package host

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func TestHTTPRequestAndResponse(t *testing.T) {
	var got *http.Request
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.Header()["X-Many"] = []string{"one", "two"}
		w.Header()["Date"] = nil
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, "caf\xe9 \u00e9")
	})
	response, err := NewHTTP(nil).Do(t.Context(), Request{
		Method: "GET", URL: url + "/a%2Fb?q=1%202", Headers: []Header{{"accept", "a/b"}, {"host", "example.test"}},
	})
	require.NoError(t, err)
	require.Equal(t, "/a%2Fb?q=1%202", got.RequestURI)
	require.Equal(t, "a/b", got.Header.Get("Accept"))
	require.Equal(t, "example.test", got.Host)
	require.Empty(t, got.Cookies())
	require.Equal(t, Response{
		Status:  404,
		Headers: []Header{{"content-length", "7"}, {"content-type", "text/plain"}, {"x-many", "one, two"}},
		Body:    "caf\uFFFD \u00e9",
	}, response)
}

func TestHTTPHead(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Seen", r.Method)
	})
	response, err := NewHTTP(nil).Do(t.Context(), Request{Method: "HEAD", URL: url})
	require.NoError(t, err)
	require.Equal(t, 200, response.Status)
	require.Contains(t, response.Headers, Header{"x-seen", "HEAD"})
	require.Empty(t, response.Body)
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A watchedBody is an endless body that notes what is done with it.
type watchedBody struct{ reads, closes int }

func (b *watchedBody) Read(p []byte) (int, error) {
	b.reads++
	return len(p), nil
}

func (b *watchedBody) Close() error {
	b.closes++
	return nil
}

// A body that comes with the answer to HEAD is let go unread.
func TestHTTPHeadReadsNoBody(t *testing.T) {
	body := &watchedBody{}
	client := NewHTTP(nil)
	client.transport = transport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"X-Seen": {"yes"}}, Body: body}, nil
	})
	response, err := client.Do(t.Context(), Request{Method: "HEAD", URL: "http://127.0.0.1/"})
	require.NoError(t, err)
	require.Equal(t, Response{Status: 200, Headers: []Header{{"x-seen", "yes"}}}, response)
	require.Equal(t, watchedBody{reads: 0, closes: 1}, *body)
}

// Every request has a connection of its own, over TLS too.
func TestHTTPKeepsNoConnection(t *testing.T) {
	for name, begin := range map[string]func(*httptest.Server){
		"HTTP/1.1": (*httptest.Server).Start,
		"HTTP/2.0": func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() },
	} {
		t.Run(name, func(t *testing.T) {
			var connections atomic.Int32
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, r.Proto)
			}))
			server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					connections.Add(1)
				}
			}
			begin(server)
			t.Cleanup(server.Close)
			client := NewHTTP(nil)
			if certificate := server.Certificate(); certificate != nil {
				trusted := x509.NewCertPool()
				trusted.AddCert(certificate)
				client.transport.(*http.Transport).TLSClientConfig.RootCAs = trusted
			}
			for i, request := range []struct{ method, body string }{{"GET", name}, {"GET", name}, {"HEAD", ""}, {"GET", name}} {
				response, err := client.Do(t.Context(), Request{Method: request.method, URL: server.URL})
				require.NoError(t, err)
				require.Equal(t, request.body, response.Body)
				require.EqualValues(t, i+1, connections.Load())
			}
		})
	}
}

func TestHTTPFollowsNoRedirect(t *testing.T) {
	var reached, asked atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	for _, location := range []string{other + "/elsewhere", "://%zz", ""} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.Header().Set("Location", location)
			w.Header().Set("Set-Cookie", "a=b")
			w.WriteHeader(http.StatusFound)
			io.WriteString(w, "moved")
		})
		response, err := NewHTTP(nil).Do(t.Context(), Request{Method: "GET", URL: url})
		require.NoError(t, err)
		require.Equal(t, 302, response.Status)
		require.Equal(t, "moved", response.Body)
		require.Contains(t, response.Headers, Header{"location", location})
	}
	require.EqualValues(t, 3, asked.Load())
	require.Zero(t, reached.Load())
}

func TestHTTPBounds(t *testing.T) {
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/exact":
			io.WriteString(w, "1234")
		case "/over":
			io.WriteString(w, "12345")
		case "/endless":
			for {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		case "/headers":
			w.Header().Set("X-Large", strings.Repeat("x", MaxHeaders+1))
		}
	})
	client := NewHTTP(nil)
	client.maxBody = 4
	response, err := client.Do(t.Context(), Request{Method: "GET", URL: url + "/exact"})
	require.NoError(t, err)
	require.Equal(t, "1234", response.Body)
	_, err = client.Do(t.Context(), Request{Method: "GET", URL: url + "/over"})
	require.ErrorIs(t, err, ErrBodyTooLarge)
	_, err = NewHTTP(nil).Do(t.Context(), Request{Method: "GET", URL: url + "/endless"})
	require.ErrorIs(t, err, ErrBodyTooLarge)
	_, err = client.Do(t.Context(), Request{Method: "GET", URL: url + "/headers"})
	require.ErrorContains(t, err, "headers")
}

// A server that never finishes: the timeout covers headers and body alike, and
// an ended context is not a timeout.
func TestHTTPTimeoutAndCancellation(t *testing.T) {
	var asked atomic.Int32
	arrived := make(chan struct{}, 1)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path == "/body" {
			w.WriteHeader(200)
			io.WriteString(w, "begin")
			w.(http.Flusher).Flush()
		}
		select {
		case arrived <- struct{}{}:
		default:
		}
		<-r.Context().Done()
	})
	for _, path := range []string{"/headers", "/body"} {
		_, err := NewHTTP(nil).Do(t.Context(), Request{Method: "GET", URL: url + path, Timeout: 50 * time.Millisecond})
		var timeout *TimeoutError
		require.ErrorAs(t, err, &timeout)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "no complete answer within 50ms")
	}
	require.LessOrEqual(t, asked.Load(), int32(2), "nothing is repeated")
	select { // a slow machine may have given up before the server was reached
	case <-arrived:
	default:
	}

	cause := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		cancel(cause)
	}()
	_, err := NewHTTP(nil).Do(ctx, Request{Method: "GET", URL: url + "/body", Timeout: time.Hour})
	require.Equal(t, cause, err)
}

func TestHTTPRefusals(t *testing.T) {
	for _, c := range []struct {
		request Request
		says    string
	}{
		{Request{Method: "POST", URL: "http://127.0.0.1/"}, "use GET or HEAD"},
		{Request{Method: "get", URL: "http://127.0.0.1/"}, "use GET or HEAD"},
		{Request{Method: "GET", URL: "file:///etc/hostname"}, "http or https"},
		{Request{Method: "GET", URL: "/relative"}, "http or https"},
		{Request{Method: "GET", URL: "http:///nohost"}, "http or https"},
		{Request{Method: "GET", URL: "http://u:hunter2@[bad/"}, "cannot be understood"},
		{Request{Method: "GET", URL: "http://u:hunter2@127.0.0.1:1/"}, "the request failed"},
		{Request{Method: "GET", URL: "http://127.0.0.1:1/", Headers: []Header{{"a\nb", "hunter2"}}}, "header field name"},
		{Request{Method: "GET", URL: "http://127.0.0.1:1/", Headers: []Header{{"a", "hunter2\r\nx: y"}}}, "header field value"},
	} {
		_, err := NewHTTP(nil).Do(t.Context(), c.request)
		require.ErrorContains(t, err, c.says)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestHTTPSendsCredentialsOfTheURL(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		io.WriteString(w, user+" "+password)
	})
	response, err := NewHTTP(nil).Do(t.Context(), Request{Method: "GET", URL: strings.Replace(url, "://", "://ada:pw@", 1)})
	require.NoError(t, err)
	require.Equal(t, "ada pw", response.Body)
}

func TestHTTPUsesAProxyOnlyWhenTheSnapshotNamesOne(t *testing.T) {
	proxyURL := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "proxy for "+r.URL.Host) })
	t.Setenv("HTTP_PROXY", proxyURL)
	require.Nil(t, proxy(nil))
	require.Nil(t, proxy(map[string]string{"NO_PROXY": "*"}))
	for _, name := range []string{"HTTP_PROXY", "http_proxy"} {
		response, err := NewHTTP(map[string]string{name: proxyURL}).Do(t.Context(), Request{Method: "GET", URL: "http://example.invalid/"})
		require.NoError(t, err)
		require.Equal(t, "proxy for example.invalid", response.Body)
	}
}
