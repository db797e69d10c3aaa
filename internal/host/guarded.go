package host

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// The failures of a guarded request. The list is closed, and none of them carries
// an address, a URL or what the system said: what a name resolves to is not a
// fragment's to learn.
var (
	ErrUnresolved = errors.New("the host of the URL could not be resolved")
	ErrNotPublic  = errors.New("the host of the URL leads to an address that is not a public one, and the request was not stated with that address")
	ErrNoConnect  = errors.New("no connection to the host of the URL could be made")
	ErrIdentity   = errors.New("the server could not prove that it is the host of the URL")
	ErrExchange   = errors.New("the request failed before a complete answer arrived")
)

// maxAddresses is how many addresses of one name are tried.
const maxAddresses = 8

// A GuardedHTTP performs the requests of generated text. It is safe for concurrent
// use. It performs exactly the request it is given, at most once: it follows no
// redirect, uses no proxy whatever the environment says, keeps no cookie and no
// connection. The name of the host is resolved once, and what was judged is what is
// dialled, so an answer that changes between the two leads nowhere.
type GuardedHTTP struct {
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	roots  *x509.CertPool // nil: the system's
}

// NewGuardedHTTP returns a client of the machine's own network.
func NewGuardedHTTP() *GuardedHTTP {
	dialer := &net.Dialer{Timeout: 30 * time.Second}
	return &GuardedHTTP{
		lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
		dial: dialer.DialContext,
	}
}

// Do performs r, whose URL is in normal form. private says that the host of the URL
// is a literal address that may be one of the machine or its network; a name never
// leads there. limit is the most bytes the body may have, after decompression, and
// is itself bounded by MaxBody. Any status is a Response. A body is decoded as UTF-8,
// with U+FFFD in place of what is not. The error is the cause of ctx when it ended, a
// *TimeoutError, a *BodyLimitError or one of the failures above.
func (g *GuardedHTTP) Do(ctx context.Context, r Request, private bool, limit int) (Response, error) {
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
	response, err := g.exchange(request.WithContext(limited), private, min(int64(limit), MaxBody))
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

func (g *GuardedHTTP) exchange(request *http.Request, private bool, limit int64) (Response, error) {
	var dialling sync.Once
	transport := &http.Transport{
		Proxy: nil, // not even the environment's
		DialContext: func(ctx context.Context, network, address string) (connection net.Conn, err error) {
			err = ErrExchange // a second connection would be a second request
			dialling.Do(func() { connection, err = g.connect(ctx, network, address, private) })
			return connection, err
		},
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: g.roots},
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: MaxHeaders,
		DisableKeepAlives:      true,
	}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return Response{}, guardedFailure(err)
	}
	defer answer.Body.Close()
	response := Response{Status: answer.StatusCode, Headers: received(answer.Header)}
	if request.Method == http.MethodHead {
		return response, nil
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, limit+1))
	switch {
	case int64(len(body)) > limit:
		return Response{}, &BodyLimitError{Limit: limit}
	case err != nil:
		return Response{}, ErrExchange
	}
	response.Body = strings.ToValidUTF8(string(body), "\uFFFD")
	return response, nil
}

// A BodyLimitError is a body larger than a request was allowed. It is
// ErrBodyTooLarge.
type BodyLimitError struct{ Limit int64 } // in bytes

func (e *BodyLimitError) Error() string {
	return fmt.Sprintf("the response body is larger than %d bytes", e.Limit)
}

// Is makes it ErrBodyTooLarge.
func (e *BodyLimitError) Is(target error) bool { return target == ErrBodyTooLarge }

// guardedFailure is the failure of the list that an error of the transport is.
func guardedFailure(err error) error {
	for _, known := range [...]error{ErrUnresolved, ErrNotPublic, ErrNoConnect} {
		if errors.Is(err, known) {
			return known
		}
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return ErrIdentity
	}
	return ErrExchange
}

// connect resolves the host of an address once, judges what it resolved to and dials
// exactly that. One address that is not public refuses the name as a whole: a name
// that mixes them is made to be judged by one and dialled by the other.
func (g *GuardedHTTP) connect(ctx context.Context, network, address string, private bool) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, ErrUnresolved
	}
	var addresses []netip.Addr
	if literal, err := netip.ParseAddr(host); err == nil {
		addresses = []netip.Addr{literal}
	} else {
		private = false
		if addresses, err = g.lookup(ctx, host); err != nil || len(addresses) == 0 {
			return nil, ErrUnresolved
		}
	}
	for i, a := range addresses {
		addresses[i] = a.Unmap()
		if !private && !IsPublic(a) {
			return nil, ErrNotPublic
		}
	}
	for _, a := range addresses[:min(len(addresses), maxAddresses)] {
		connection, err := g.dial(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			return connection, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, ErrNoConnect
}

// IsPublic reports whether an address is one of the public Internet: not of this
// machine, its network or its provider, no group of machines, and none that is
// reserved. An address that carries one of IPv4 is judged by that.
func IsPublic(a netip.Addr) bool {
	a = a.Unmap()
	switch {
	case !a.IsValid() || a.Zone() != "":
		return false
	case a.Is4():
		return isPublic4(a.As4())
	}
	return isPublic6(a.As16())
}

func isPublic4(b [4]byte) bool {
	switch {
	case b[0] == 0, b[0] == 10, b[0] == 127: // this network, private, loopback
		return false
	case b[0] == 100 && b[1]&0xc0 == 64: // shared by the customers of a provider
		return false
	case b[0] == 169 && b[1] == 254: // link-local
		return false
	case b[0] == 172 && b[1]&0xf0 == 16, b[0] == 192 && b[1] == 168: // private
		return false
	case b[0] == 192 && b[1] == 0 && (b[2] == 0 || b[2] == 2): // protocols, examples
		return false
	case b[0] == 192 && b[1] == 88 && b[2] == 99: // relays of 6to4
		return false
	case b[0] == 198 && b[1]&0xfe == 18: // measurements
		return false
	case b[0] == 198 && b[1] == 51 && b[2] == 100, b[0] == 203 && b[1] == 0 && b[2] == 113: // examples
		return false
	}
	return b[0] < 224 // beyond: groups, reserved, broadcast
}

func isPublic6(b [16]byte) bool {
	word := func(i int) uint16 { return uint16(b[2*i])<<8 | uint16(b[2*i+1]) }
	switch {
	case word(0) == 0x64 && word(1) == 0xff9b && [8]byte(b[4:12]) == [8]byte{}: // an IPv4 address behind a translator
		return isPublic4([4]byte(b[12:]))
	case b[0]&0xe0 != 0x20: // only 2000::/3 is given out: no loopback, link-local, private or group address
		return false
	case word(0) == 0x2001 && word(1) < 0x200: // protocols, tunnels
		return false
	case word(0) == 0x2001 && word(1) == 0xdb8, word(0) == 0x3fff && word(1) < 0x1000: // examples
		return false
	}
	return word(0) != 0x2002 // 6to4
}
