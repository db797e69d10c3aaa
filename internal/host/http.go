package host

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Bounds on one response.
const (
	MaxBody    = 16 << 20  // bytes of body, after decompression
	MaxHeaders = 256 << 10 // bytes of header fields
)

// ErrBodyTooLarge is the failure of a response whose body exceeds MaxBody.
var ErrBodyTooLarge = errors.New("the response body is larger than 16 MiB")

// A TimeoutError says that no complete answer arrived in the time a request
// allowed.
type TimeoutError struct{ After time.Duration }

func (e *TimeoutError) Error() string { return fmt.Sprintf("no complete answer within %s", e.After) }

// Is makes it a context.DeadlineExceeded.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// Web is the HTTP provider of the real machine.
type Web struct {
	transport http.RoundTripper
	maxBody   int64
}

// NewHTTP returns a client that performs exactly the request it is given, once,
// on a connection of its own: it follows no redirect, keeps no cookie, repeats
// nothing and caches nothing. environment is where HTTP_PROXY, HTTPS_PROXY and
// NO_PROXY (in either case) are looked for; with nil no proxy is ever used.
func NewHTTP(environment map[string]string) *Web {
	dialer := &net.Dialer{Timeout: 30 * time.Second}
	return &Web{maxBody: MaxBody, transport: &http.Transport{
		Proxy:                  proxy(environment),
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: MaxHeaders,
		DisableKeepAlives:      true, // a kept connection that has died would mean a second attempt
		ForceAttemptHTTP2:      true,
	}}
}

// proxy returns the function that chooses a proxy for a request, nil for none.
func proxy(environment map[string]string) func(*http.Request) (*url.URL, error) {
	get := func(name string) string {
		if value := environment[name]; value != "" {
			return value
		}
		return environment[strings.ToLower(name)]
	}
	config := httpproxy.Config{HTTPProxy: get("HTTP_PROXY"), HTTPSProxy: get("HTTPS_PROXY"), NoProxy: get("NO_PROXY")}
	if config.HTTPProxy == "" && config.HTTPSProxy == "" {
		return nil
	}
	choose := config.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
}

// Do implements HTTP. Any status is a Response. A body is decoded as UTF-8, with
// U+FFFD in place of what is not. Errors never repeat the URL, so credentials in
// it stay where they are.
func (w *Web) Do(ctx context.Context, r Request) (Response, error) {
	request, err := prepare(r)
	if err != nil {
		return Response{}, err
	}
	limited := ctx
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	response, err := w.exchange(request.WithContext(limited))
	switch {
	case err == nil:
		return response, nil
	case ctx.Err() != nil:
		return Response{}, context.Cause(ctx)
	case limited.Err() != nil:
		return Response{}, &TimeoutError{After: r.Timeout}
	}
	return Response{}, err
}

// prepare makes the request that will be sent, and refuses one that is not a
// plain read of a web address.
func prepare(r Request) (*http.Request, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil, fmt.Errorf("the method %q is not supported; use GET or HEAD", r.Method)
	}
	request, err := http.NewRequest(r.Method, r.URL, nil)
	if err != nil {
		return nil, errors.New("the URL cannot be understood; give an absolute http or https URL")
	}
	if scheme := request.URL.Scheme; scheme != "http" && scheme != "https" || request.URL.Host == "" {
		return nil, errors.New("the URL is not an absolute http or https URL")
	}
	for _, h := range r.Headers {
		request.Header.Add(h.Name, h.Value)
		if strings.EqualFold(h.Name, "host") {
			request.Host = h.Value
		}
	}
	if user := request.URL.User; user != nil && request.Header.Get("Authorization") == "" {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
	return request, nil
}

// exchange sends the request and reads the whole answer.
func (w *Web) exchange(request *http.Request) (Response, error) {
	answer, err := w.transport.RoundTrip(request)
	if err != nil {
		return Response{}, fmt.Errorf("the request failed: %w", err)
	}
	defer answer.Body.Close()
	response := Response{Status: answer.StatusCode, Headers: received(answer.Header)}
	if request.Method == http.MethodHead {
		return response, nil
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, w.maxBody+1))
	switch {
	case int64(len(body)) > w.maxBody:
		return Response{}, ErrBodyTooLarge
	case err != nil:
		return Response{}, fmt.Errorf("the response body could not be read: %w", err)
	}
	response.Body = strings.ToValidUTF8(string(body), "\uFFFD")
	return response, nil
}

// received lists header fields the way a Response holds them.
func received(header http.Header) []Header {
	list := make([]Header, 0, len(header))
	for name, values := range header {
		list = append(list, Header{
			Name:  strings.ToLower(name),
			Value: strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD"),
		})
	}
	slices.SortFunc(list, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	return list
}
