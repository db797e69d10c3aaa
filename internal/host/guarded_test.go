package host

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A network is a resolver and a dialler that lead to one test server, whatever the
// address, and count.
type network struct {
	GuardedHTTP
	answers [][]string // one list of addresses per look-up
	lookups []string
	dials   []string
}

func newNetwork(t *testing.T, server *httptest.Server, answers ...[]string) *network {
	t.Helper()
	u, err := url.Parse(server.URL)
	require.NoError(t, err)
	n := &network{answers: answers}
	n.lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
		n.lookups = append(n.lookups, host)
		if len(n.lookups) > len(n.answers) {
			return nil, errors.New("no such host: secret detail")
		}
		var list []netip.Addr
		for _, a := range n.answers[len(n.lookups)-1] {
			list = append(list, netip.MustParseAddr(a))
		}
		return list, nil
	}
	n.dial = func(ctx context.Context, kind, address string) (net.Conn, error) {
		n.dials = append(n.dials, address)
		return (&net.Dialer{}).DialContext(ctx, kind, u.Host)
	}
	return n
}

func serveCounted(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var served atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return server, &served
}

func TestA23_RedirectIsTheResponse(t *testing.T) {
	server, served := serveCounted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://169.254.169.254/")
		w.Header().Set("Set-Cookie", "a=b")
		w.WriteHeader(http.StatusFound)
	})
	n := newNetwork(t, server, []string{"8.8.8.8"}, []string{"8.8.8.8"})
	for i := range 2 {
		r, err := n.Do(t.Context(), Request{Method: "GET", URL: "http://example.com/one", Headers: []Header{{"authorization", "x"}}}, false, 100)
		require.NoError(t, err)
		require.Equal(t, 302, r.Status)
		require.Contains(t, r.Headers, Header{"location", "http://169.254.169.254/"})
		require.EqualValues(t, i+1, served.Load(), "one request each")
	}
	require.Equal(t, []string{"8.8.8.8:80", "8.8.8.8:80"}, n.dials)
}

func TestA23_OnlyPublicAddressesAreDialled(t *testing.T) {
	server, served := serveCounted(t, func(http.ResponseWriter, *http.Request) {})
	for _, addresses := range [][]string{
		{"127.0.0.1"}, {"10.0.0.1"}, {"169.254.169.254"}, {"::1"}, {"fd00::1"}, {"fe80::1"}, {"::ffff:10.0.0.1"}, {"64:ff9b::7f00:1"}, {"0.0.0.0"},
		{"8.8.8.8", "192.168.1.1"}, {"192.168.1.1", "8.8.8.8"},
	} {
		n := newNetwork(t, server, addresses)
		for _, private := range []bool{false, true} { // a name is never private
			n.lookups = nil
			_, err := n.Do(t.Context(), Request{Method: "GET", URL: "http://internal.example/"}, private, 100)
			require.Equal(t, ErrNotPublic, err, addresses)
			require.Equal(t, []string{"internal.example"}, n.lookups)
		}
		require.Empty(t, n.dials)
	}
	n := newNetwork(t, server)
	for _, literal := range []string{"127.0.0.1", "[::1]", "10.0.0.1", "[::ffff:127.0.0.1]", "100.64.0.1"} {
		_, err := n.Do(t.Context(), Request{Method: "GET", URL: "http://" + literal + ":81/"}, false, 100)
		require.Equal(t, ErrNotPublic, err, literal)
	}
	require.Empty(t, n.dials)
	require.Zero(t, served.Load())
	_, err := n.Do(t.Context(), Request{Method: "GET", URL: "http://10.0.0.1:81/"}, true, 100)
	require.NoError(t, err, "stated with that address")
	require.Equal(t, []string{"10.0.0.1:81"}, n.dials)
	require.Empty(t, n.lookups)
}

func TestA23_OneResolutionIsDialled(t *testing.T) {
	server, served := serveCounted(t, func(http.ResponseWriter, *http.Request) {})
	// The second answer would lead home.
	n := newNetwork(t, server, []string{"8.8.8.8", "2001:4860:4860::8888"}, []string{"127.0.0.1"})
	dial, refusals := n.dial, 1
	n.dial = func(ctx context.Context, kind, address string) (net.Conn, error) {
		connection, err := dial(ctx, kind, address)
		if refusals--; refusals >= 0 && err == nil {
			connection.Close()
			return nil, errors.New("refused: secret detail")
		}
		return connection, err
	}
	_, err := n.Do(t.Context(), Request{Method: "GET", URL: "http://example.com:8080/"}, false, 100)
	require.NoError(t, err)
	require.Equal(t, []string{"example.com"}, n.lookups)
	require.Equal(t, []string{"8.8.8.8:8080", "[2001:4860:4860::8888]:8080"}, n.dials)
	require.EqualValues(t, 1, served.Load())

	// A connection that breaks is not made again.
	broken, _ := serveCounted(t, func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) })
	n = newNetwork(t, broken, []string{"8.8.8.8"}, []string{"8.8.8.8"})
	_, err = n.Do(t.Context(), Request{Method: "GET", URL: "http://example.com/"}, false, 100)
	require.Equal(t, ErrExchange, err)
	require.Len(t, n.lookups, 1)
	require.Len(t, n.dials, 1)

	n = newNetwork(t, server)
	_, err = n.Do(t.Context(), Request{Method: "GET", URL: "http://example.com/"}, false, 100)
	require.Equal(t, ErrUnresolved, err)
	n = newNetwork(t, server, []string{"8.8.8.8"})
	n.dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("secret detail") }
	_, err = n.Do(t.Context(), Request{Method: "GET", URL: "http://example.com/"}, false, 100)
	require.Equal(t, ErrNoConnect, err)
}

// The test runs in a process of its own, in which nobody has read the environment
// before it is set: package net/http reads it once.
func TestA23_NoProxy(t *testing.T) {
	if os.Getenv("XMD_TEST_ALONE") == "" {
		alone := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestA23_NoProxy$")
		alone.Env = append(os.Environ(), "XMD_TEST_ALONE=1")
		out, err := alone.CombinedOutput()
		require.NoError(t, err, string(out))
		return
	}
	proxy, proxied := serveCounted(t, func(http.ResponseWriter, *http.Request) {})
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	server, served := serveCounted(t, func(http.ResponseWriter, *http.Request) {})
	n := newNetwork(t, server, []string{"8.8.8.8"})
	_, err := n.Do(t.Context(), Request{Method: "GET", URL: "http://example.com/"}, false, 100)
	require.NoError(t, err)
	require.Equal(t, []string{"8.8.8.8:80"}, n.dials)
	require.Zero(t, proxied.Load())
	require.EqualValues(t, 1, served.Load())
}

func TestA23_CertificateIsOfTheURL(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("safe")) }))
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	n := newNetwork(t, server, []string{"8.8.8.8"}, []string{"8.8.8.8"}, []string{"8.8.8.8"})
	n.roots = roots
	r, err := n.Do(t.Context(), Request{Method: "GET", URL: "https://example.com/"}, false, 100)
	require.NoError(t, err)
	require.Equal(t, "safe", r.Body)
	_, err = n.Do(t.Context(), Request{Method: "GET", URL: "https://evil.example/"}, false, 100)
	require.Equal(t, ErrIdentity, err)
	n.roots = x509.NewCertPool()
	_, err = n.Do(t.Context(), Request{Method: "GET", URL: "https://example.com/"}, false, 100)
	require.Equal(t, ErrIdentity, err)
}

func TestGuardedBounds(t *testing.T) {
	release := make(chan struct{})
	server, _ := serveCounted(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ten":
			_, _ = w.Write([]byte("0123456789"))
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(make([]byte, 1<<20))
			_ = z.Close()
		case "/bad":
			_, _ = w.Write([]byte("a\xffb"))
		case "/slow":
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
	})
	defer close(release)
	n := newNetwork(t, server)
	do := func(ctx context.Context, path, method string, timeout time.Duration, limit int) (Response, error) {
		return n.Do(ctx, Request{Method: method, URL: "http://8.8.8.8" + path, Timeout: timeout}, false, limit)
	}
	r, err := do(t.Context(), "/ten", "GET", time.Minute, 10)
	require.NoError(t, err)
	require.Equal(t, "0123456789", r.Body)
	_, err = do(t.Context(), "/ten", "GET", 0, 9)
	require.ErrorIs(t, err, ErrBodyTooLarge)
	require.EqualError(t, err, "the response body is larger than 9 bytes")
	_, err = do(t.Context(), "/bomb", "GET", 0, 1000)
	require.ErrorIs(t, err, ErrBodyTooLarge)
	r, err = do(t.Context(), "/ten", "HEAD", 0, 0)
	require.NoError(t, err)
	require.Empty(t, r.Body)
	r, err = do(t.Context(), "/bad", "GET", 0, 10)
	require.NoError(t, err)
	require.Equal(t, "a\uFFFDb", r.Body)
	_, err = do(t.Context(), "/slow", "GET", 20*time.Millisecond, 10)
	require.Equal(t, &TimeoutError{After: 20 * time.Millisecond}, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	_, err = do(ctx, "/slow", "GET", 0, 10)
	require.Equal(t, stopped, err)
	_, err = do(t.Context(), "/ten", "POST", 0, 10)
	require.Error(t, err)
	require.NotNil(t, NewGuardedHTTP().lookup)
}

func TestIsPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "100.63.255.255": true, "100.128.0.1": true, "172.15.0.1": true, "172.32.0.1": true, "192.0.1.1": true, "198.17.0.1": true, "198.20.0.1": true, "223.255.255.255": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.255.0.1": false, "100.64.0.1": false, "100.127.255.255": false, "127.255.0.1": false, "169.254.169.254": false,
		"172.16.0.1": false, "172.31.255.255": false, "192.0.0.8": false, "192.0.2.1": false, "192.88.99.1": false, "192.168.0.1": false, "198.18.0.1": false, "198.19.255.255": false,
		"198.51.100.1": false, "203.0.113.1": false, "224.0.0.1": false, "239.1.1.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"2001:4860:4860::8888": true, "2606:4700::1111": true, "2001:200::1": true, "3ffe::1": true, "::ffff:8.8.8.8": true, "64:ff9b::808:808": true,
		"::": false, "::1": false, "::ffff:127.0.0.1": false, "::127.0.0.1": false, "64:ff9b::a00:1": false, "64:ff9b:1::808:808": false, "64:ff9b:0:1::808:808": false, "100::1": false,
		"2001::1": false, "2001:db8::1": false, "2001:1ff::1": false, "2002:808:808::1": false, "3fff::1": false, "fc00::1": false, "fdff::1": false, "fe80::1": false, "fe80::1%eth0": false, "2606:4700::1111%eth0": false, "fec0::1": false, "ff02::1": false, "4000::1": false,
	} {
		require.Equal(t, want, IsPublic(netip.MustParseAddr(text)), text)
	}
	require.False(t, IsPublic(netip.Addr{}))
}
