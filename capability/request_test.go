package capability

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestA23_NormalURL(t *testing.T) {
	for _, row := range []struct {
		written, normal string // empty: refused
		private         bool
	}{
		// Scheme.
		{written: "https://example.com/", normal: "https://example.com/"},
		{written: "HTTPS://EXAMPLE.com/A", normal: "https://example.com/A"},
		{written: "http://example.com", normal: "http://example.com/"},
		{written: "ftp://example.com/"},
		{written: "file:///etc/passwd"},
		{written: "example.com/"},
		{written: "//example.com/"},
		{written: "https:example.com/"},
		{written: "https:/example.com/"},
		{written: "javascript:alert(1)"},
		{written: ""},
		{written: "ſttp://example.com/"},
		// Authority.
		{written: "https://"},
		{written: "https:///example.com/"},
		{written: "https://?a"},
		{written: "https://:443/"},
		{written: "https://user@example.com/"},
		{written: "https://user:pw@example.com/"},
		{written: "https://example.com:443@evil.example/"},
		{written: "https://@example.com/"},
		{written: "https://example.com%2eevil.example/"},
		{written: `https://example.com\@evil.example/`},
		{written: `https://example.com\.evil.example/`},
		{written: "https://exa mple.com/"},
		{written: "https://exa\tmple.com/"},
		{written: "https://example.com\x00/"},
		{written: "https://exam\u200bple.com/"},
		{written: "https://exam\u00adple.com/"},
		{written: "https://example..com/"},
		{written: "https://.example.com/"},
		{written: "https://example.com./"},
		{written: "https://exam,ple.com/"},
		{written: "https://" + strings.Repeat("a", 64) + ".com/"},
		{written: "https://" + strings.Repeat("a.", 127) + "com/"},
		{written: "https://a_b.example.com/", normal: "https://a_b.example.com/"},
		// International names.
		{written: "https://b\u00fccher.example/", normal: "https://xn--bcher-kva.example/"},
		{written: "https://B\u00dcCHER.example/", normal: "https://xn--bcher-kva.example/"},
		{written: "https://bu\u0308cher.example/", normal: "https://xn--bcher-kva.example/"},
		{written: "https://xn--bcher-kva.example/", normal: "https://xn--bcher-kva.example/"},
		{written: "https://\uff45xample.com/", normal: "https://example.com/"},
		{written: "https://example\u3002com/", normal: "https://example.com/"},
		{written: "https://xn--a/"},
		{written: "https://a\u2488com/"},
		{written: "https://a\uff0fb.example/"},
		{written: "https://a\uff20b.example/"},
		{written: "https://\u2100.example/"},
		{written: "https://\u05d0a.example/"},
		// Ports.
		{written: "https://example.com:443/", normal: "https://example.com/"},
		{written: "http://example.com:443/", normal: "http://example.com:443/"},
		{written: "http://example.com:80/", normal: "http://example.com/"},
		{written: "https://example.com:8443/", normal: "https://example.com:8443/"},
		{written: "https://example.com:65535/", normal: "https://example.com:65535/"},
		{written: "https://example.com:65536/"},
		{written: "https://example.com:0/"},
		{written: "https://example.com:0443/"},
		{written: "https://example.com:/"},
		{written: "https://example.com:+443/"},
		{written: "https://example.com:44a/"},
		{written: "https://example.com:80:80/"},
		// Addresses.
		{written: "http://127.0.0.1:8080/", normal: "http://127.0.0.1:8080/", private: true},
		{written: "http://10.1.2.3/", normal: "http://10.1.2.3/", private: true},
		{written: "http://169.254.169.254/", normal: "http://169.254.169.254/", private: true},
		{written: "http://8.8.8.8/", normal: "http://8.8.8.8/"},
		{written: "http://\uff11\uff12\uff17.0.0.1/", normal: "http://127.0.0.1/", private: true},
		{written: "http://0177.0.0.1/"},
		{written: "http://0x7f.0.0.1/"},
		{written: "http://0x7f.1/"},
		{written: "http://2130706433/"},
		{written: "http://0x7f000001/"},
		{written: "http://127.1/"},
		{written: "http://1.2.3.4.5/"},
		{written: "http://256.1.1.1/"},
		{written: "http://a.0x/"},
		{written: "http://1.2.3.4a/", normal: "http://1.2.3.4a/"},
		{written: "http://[::1]/", normal: "http://[::1]/", private: true},
		{written: "http://[0:0::0001]:8080/", normal: "http://[::1]:8080/", private: true},
		{written: "http://[2001:4860:4860:0::8888]/", normal: "http://[2001:4860:4860::8888]/"},
		{written: "http://[::FFFF:127.0.0.1]/", normal: "http://[::ffff:127.0.0.1]/", private: true},
		{written: "http://[fe80::1%25eth0]/"},
		{written: "http://[fe80::1%eth0]/"},
		{written: "http://[127.0.0.1]/"},
		{written: "http://[::1/"},
		{written: "http://[::1]x/"},
		{written: "http://::1/"},
		{written: "http://x[::1]/"},
		{written: "http://[]/"},
		// Paths.
		{written: "https://example.com/./a", normal: "https://example.com/a"},
		{written: "https://example.com/x/../a", normal: "https://example.com/a"},
		{written: "https://example.com/x/%2e%2E/a", normal: "https://example.com/a"},
		{written: "https://example.com/../../a", normal: "https://example.com/a"},
		{written: "https://example.com/a/..", normal: "https://example.com/"},
		{written: "https://example.com/a/b/..", normal: "https://example.com/a/"},
		{written: "https://example.com/a/.", normal: "https://example.com/a/"},
		{written: "https://example.com//a", normal: "https://example.com//a"},
		{written: "https://example.com/a//../b", normal: "https://example.com/a/b"},
		{written: "https://example.com/...", normal: "https://example.com/..."},
		{written: "https://example.com/%6fne%7e", normal: "https://example.com/one~"},
		{written: "https://example.com/a%2fb%2F..", normal: "https://example.com/a%2Fb%2F.."},
		{written: "https://example.com/a%zz"},
		{written: "https://example.com/a%2"},
		{written: "https://example.com/a%"},
		{written: "https://example.com/caf\u00e9", normal: "https://example.com/caf%C3%A9"},
		{written: "https://example.com/caf%c3%a9", normal: "https://example.com/caf%C3%A9"},
		{written: "https://example.com/a;x=1!$&'()*+,:@", normal: "https://example.com/a;x=1!$&'()*+,:@"},
		{written: `https://example.com/a"b`},
		{written: "https://example.com/a<b"},
		{written: "https://example.com/a{b}"},
		{written: "https://example.com/[a]"},
		{written: `https://example.com/a\b`},
		{written: "https://example.com/a b"},
		{written: "https://example.com/a\nb"},
		{written: "https://example.com/a\u202eb"},
		{written: "https://example.com/a\xff"},
		// Query and fragment.
		{written: "https://example.com?a=%7e%2f&b", normal: "https://example.com/?a=~%2F&b"},
		{written: "https://example.com/a?", normal: "https://example.com/a?"},
		{written: "https://example.com/a?b?c/../d", normal: "https://example.com/a?b?c/../d"},
		{written: "https://example.com/a?b[c]"},
		{written: "https://example.com/a#b"},
		{written: "https://example.com/a#"},
		{written: "https://evil.example#@example.com/"},
		{written: "https://example.com/" + strings.Repeat("a", MaxURL)},
	} {
		n, err := NormalizeRequest(Request{URL: row.written}, 0)
		if row.normal == "" {
			require.Error(t, err, row.written)
			if len(row.written) > 12 {
				require.NotContains(t, err.Error(), row.written)
			}
			continue
		}
		require.NoError(t, err, row.written)
		require.Equal(t, Normal{Method: "GET", URL: row.normal, Headers: []Header{}, Private: row.private}, n, row.written)
	}
}

func TestA23_NormalMethodHeadersTimeout(t *testing.T) {
	normal := func(r Request, standard time.Duration) (Normal, error) {
		r.URL = "https://example.com/"
		return NormalizeRequest(r, standard)
	}
	for written, want := range map[string]string{"": "GET", "GET": "GET", "get": "GET", "Head": "HEAD"} {
		n, err := normal(Request{Method: written}, 0)
		require.NoError(t, err)
		require.Equal(t, want, n.Method)
	}
	for _, refused := range []string{"POST", "PUT", "GET ", "GET /x HTTP/1.1", "ge\u0442", "CONNECT", "get\n"} {
		_, err := normal(Request{Method: refused}, 0)
		require.Error(t, err, refused)
	}

	n, err := normal(Request{Headers: map[string]string{"X-B": " two\u00e9 words ", "accept": "text/plain", "X-a": ""}}, 0)
	require.NoError(t, err)
	require.Equal(t, []Header{{"accept", "text/plain"}, {"x-a", ""}, {"x-b", "two\u00e9 words"}}, n.Headers)
	for name, text := range map[string]string{
		"accept ": "a", " accept": "a", "": "a", "a b": "a", "a:b": "a", "x-a\n": "1", "x\u00e9": "a", "a(b)": "a",
		"x-1": "a\r\nx-evil: 1", "x-2": "a\nb", "x-3": "a\x00", "x-4": "a\tb", "x-5": "a\x7f", "x-6": "a\u0085", "x-7": "a\xff",
		"Host": "evil.example", "content-length": "1", "Transfer-Encoding": "chunked", "connection": "close", "Proxy-Authorization": "x",
		"te": "trailers", "upgrade": "h2c", "expect": "100-continue", "keep-alive": "1", "trailer": "x",
		"x-8": strings.Repeat("a", MaxHeaders),
	} {
		_, err := normal(Request{Headers: map[string]string{name: text}}, 0)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "evil")
	}
	_, err = normal(Request{Headers: map[string]string{"Accept": "a", "accept": "b"}}, 0)
	require.Error(t, err)
	_, err = normal(Request{Headers: map[string]string{"Accept": "a", "accept": "a"}}, 0)
	require.Error(t, err)

	for _, row := range []struct{ stated, standard, want time.Duration }{
		{0, 0, 0}, {0, 30 * time.Second, 30 * time.Second}, {5 * time.Second, 30 * time.Second, 5 * time.Second},
		{1500*time.Millisecond + 7, 0, 1500 * time.Millisecond},
	} {
		n, err := normal(Request{Timeout: row.stated}, row.standard)
		require.NoError(t, err)
		require.Equal(t, row.want, n.Timeout)
	}
	for _, refused := range []time.Duration{-1, time.Microsecond} {
		_, err := normal(Request{Timeout: refused}, 0)
		require.Error(t, err)
	}
}

func TestA23_EqualityIsInFull(t *testing.T) {
	of := func(r Request) Normal {
		n, err := NormalizeRequest(r, 0)
		require.NoError(t, err)
		return n
	}
	base := Request{URL: "https://example.com/a", Headers: map[string]string{"accept": "x"}, Timeout: time.Second}
	require.True(t, of(base).Equal(of(Request{Method: "get", URL: "HTTPS://example.com:443/./a", Headers: map[string]string{"Accept": " x"}, Timeout: time.Second})))
	for _, other := range []Request{
		{Method: "HEAD", URL: base.URL, Headers: base.Headers, Timeout: base.Timeout},
		{URL: "http://example.com/a", Headers: base.Headers, Timeout: base.Timeout},
		{URL: "https://example.com/a?", Headers: base.Headers, Timeout: base.Timeout},
		{URL: base.URL, Timeout: base.Timeout},
		{URL: base.URL, Headers: map[string]string{"accept": "y"}, Timeout: base.Timeout},
		{URL: base.URL, Headers: map[string]string{"accept": "x", "x": ""}, Timeout: base.Timeout},
		{URL: base.URL, Headers: base.Headers},
	} {
		require.False(t, of(base).Equal(of(other)), other)
	}
}

func FuzzNormalizeRequest(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/a", "HTTPS://b\u00fccher.example:443/x/../%6f?q=%2f", "http://[::FFFF:127.0.0.1]:80/", "https://a@b/", "http://0x7f.1/", "https://example\u3002com//a/..",
	} {
		f.Add(seed, "GET", "Accept", "text/plain")
	}
	f.Fuzz(func(t *testing.T, written, method, name, text string) {
		n, err := NormalizeRequest(Request{URL: written, Method: method, Headers: map[string]string{name: text}, Timeout: time.Second}, 0)
		if err != nil {
			return
		}
		// The normal form is its own, and what a client of Go sends is what it says.
		headers := map[string]string{}
		for _, h := range n.Headers {
			headers[h.Name] = h.Value
		}
		again, err := NormalizeRequest(Request{URL: n.URL, Method: n.Method, Headers: headers, Timeout: n.Timeout}, 0)
		require.NoError(t, err)
		require.True(t, n.Equal(again), "%v, then %v", n, again)
		u, err := url.Parse(n.URL)
		require.NoError(t, err)
		require.Nil(t, u.User)
		require.Empty(t, u.Fragment)
		require.Equal(t, n.URL, u.Scheme+"://"+u.Host+u.RequestURI())
		require.False(t, strings.ContainsFunc(n.URL, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }))
	})
}
