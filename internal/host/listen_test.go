package host

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// newTestSite serves one page that repeats what it was sent.
func newTestSite(t *testing.T) *Site {
	s, err := NewSite()
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	s.Show("/page", func(v Visit) Reply {
		text := "read"
		if v.Posted {
			text = "sent " + v.Form.Encode()
		}
		return Reply{Status: http.StatusAccepted, HTML: []byte(text), Policy: "default-src 'self'"}
	})
	return s
}

func TestSiteListensOnLoopbackOnly(t *testing.T) {
	s := newTestSite(t)
	u, err := url.Parse(s.Address("/page"))
	require.NoError(t, err)
	require.Equal(t, "http", u.Scheme)
	require.Equal(t, "127.0.0.1", u.Hostname())
	require.NotEmpty(t, u.Port())
}

func TestSiteTakesOnlyWhatComesFromItsPages(t *testing.T) {
	s := newTestSite(t)
	const form = "application/x-www-form-urlencoded"
	own := strings.TrimSuffix(s.Address(""), "/")
	for _, row := range []struct {
		name, method, path, body string
		change                   func(*http.Request)
		status                   int
		text                     string
	}{
		{"read", "GET", "/page", "", nil, 202, "read"},
		{"the query does not matter", "GET", "/page?a=1", "", nil, 202, "read"},
		{"head", "HEAD", "/page", "", nil, 202, ""},
		{"a form", "POST", "/page?b=2", "a=1", nil, 202, "sent a=1"},
		{"a form of this page", "POST", "/page", "a=1", func(r *http.Request) {
			r.Header.Set("Origin", own)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}, 202, "sent a=1"},
		{"a form with a character set", "POST", "/page", "a=1", func(r *http.Request) { r.Header.Set("Content-Type", form+"; charset=utf-8") }, 202, "sent a=1"},
		{"no page", "GET", "/other", "", nil, 404, "There is no page here.\n"},
		{"the root is no page", "GET", "/", "", nil, 404, "There is no page here.\n"},
		{"another method", "PUT", "/page", "a=1", nil, 405, "A page is read with GET and answered with POST.\n"},
		{"a preflight", "OPTIONS", "/page", "", nil, 405, "A page is read with GET and answered with POST.\n"},
		{"another name", "GET", "/page", "", func(r *http.Request) { r.Host = "attacker.example" }, 421, "This is not the address of the page.\n"},
		{"localhost is another name", "POST", "/page", "a=1", func(r *http.Request) { r.Host = "localhost:" + r.URL.Port() }, 421, "This is not the address of the page.\n"},
		{"no port", "GET", "/page", "", func(r *http.Request) { r.Host = "127.0.0.1" }, 421, "This is not the address of the page.\n"},
		{"another origin", "POST", "/page", "a=1", func(r *http.Request) { r.Header.Set("Origin", "http://attacker.example") }, 403, "The form does not come from this page.\n"},
		{"an origin that is hidden", "POST", "/page", "a=1", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403, "The form does not come from this page.\n"},
		{"two origins", "POST", "/page", "a=1", func(r *http.Request) { r.Header["Origin"] = []string{own, "null"} }, 403, "The form does not come from this page.\n"},
		{"another site", "POST", "/page", "a=1", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403, "The form does not come from this page.\n"},
		{"another port of this machine", "POST", "/page", "a=1", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403, "The form does not come from this page.\n"},
		{"JSON", "POST", "/page", "{}", func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }, 415, "A form is sent as application/x-www-form-urlencoded.\n"},
		{"text, which no browser asks about first", "POST", "/page", "a=1", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415, "A form is sent as application/x-www-form-urlencoded.\n"},
		{"parts", "POST", "/page", "a=1", func(r *http.Request) { r.Header.Set("Content-Type", "multipart/form-data; boundary=x") }, 415, "A form is sent as application/x-www-form-urlencoded.\n"},
		{"no type", "POST", "/page", "a=1", func(r *http.Request) { r.Header.Del("Content-Type") }, 415, "A form is sent as application/x-www-form-urlencoded.\n"},
		{"no form", "POST", "/page", "a=%zz", nil, 400, "The form cannot be read.\n"},
		{"the largest form", "POST", "/page", "a=" + strings.Repeat("x", MaxForm-2), nil, 202, "sent a=" + strings.Repeat("x", MaxForm-2)},
		{"too large a form", "POST", "/page", "a=" + strings.Repeat("x", MaxForm-1), nil, 413, "The form is larger than 8 MiB; go back and shorten it.\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), row.method, s.Address(row.path), strings.NewReader(row.body))
			require.NoError(t, err)
			if row.method == "POST" {
				r.Header.Set("Content-Type", form)
			}
			if row.change != nil {
				row.change(r)
			}
			response, err := http.DefaultTransport.RoundTrip(r)
			require.NoError(t, err)
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.Equal(t, row.status, response.StatusCode)
			require.True(t, row.text == string(text), "%.200q", text)

			h := response.Header
			require.Equal(t, "no-store", h.Get("Cache-Control"))
			require.Equal(t, "DENY", h.Get("X-Frame-Options"))
			require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
			require.Equal(t, "same-origin", h.Get("Referrer-Policy"))
			require.Empty(t, h.Values("Access-Control-Allow-Origin"))
			require.Contains(t, h.Get("Content-Security-Policy"), "default-src")
			require.True(t, response.Close, "the connection is not kept")
		})
	}
}

func TestSiteTellsWhenAReplyWasSent(t *testing.T) {
	s := newTestSite(t)
	sent := make(chan struct{})
	s.Show("/once", func(Visit) Reply {
		return Reply{Status: 200, HTML: []byte("bye"), Policy: "default-src 'none'", Sent: func() { close(sent) }}
	})
	response, err := http.Get(s.Address("/once"))
	require.NoError(t, err)
	<-sent
	s.Close() // takes nothing back that was sent
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, "bye", string(text))
}

func TestSiteEndsWithEveryConnection(t *testing.T) {
	s := newTestSite(t)
	u, err := url.Parse(s.Address("/page"))
	require.NoError(t, err)
	idle, err := net.Dial("tcp", u.Host)
	require.NoError(t, err)
	defer idle.Close()
	_, err = io.WriteString(idle, "GET /page HTTP/1.1\r\n") // so that the site has it
	require.NoError(t, err)
	response, err := http.Get(s.Address("/page"))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())

	require.NoError(t, s.Close())
	<-s.Ended()
	_, err = idle.Read(make([]byte, 1))
	require.Error(t, err)
	_, err = net.Dial("tcp", u.Host)
	require.Error(t, err)
	require.NoError(t, s.Close())
}
