package capability

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/value"
)

// Fetch is the entry of an HTTP read: self-closing, and only of the requests stated
// here, each exactly (fragments 7). What a fragment writes chooses among them; what
// is sent is always the stated one, in normal form. A timeout that is not written is
// that of the stated request; one that is written must equal it (D-39).
func Fetch(client Client, requests ...Request) Entry {
	return Entry{
		Name:     "Fetch",
		Identity: Identity{core, "Fetch", 1},
		Forms:    SelfClosing,
		// Which method, header or duration is one is not for the schema to say: a
		// request that is none is of the class request.
		Props: `{"type":"object","additionalProperties":false,"required":["url"],"properties":{
			"url":{"type":"string","description":"an absolute http or https URL"},
			"method":{"type":"string","description":"GET, which is meant when it is left out, or HEAD"},
			"headers":{"type":"object","description":"header fields by their names"},
			"timeout":{"type":"string","description":"a duration such as 5s, which must be the stated one; leave it out to mean that"}
		}}`,
		Returns: `{"type":"object","additionalProperties":false,"required":["status","headers","body"],"properties":{
			"status":{"type":"integer","minimum":100,"maximum":999},
			"headers":{"type":"object","additionalProperties":{"type":"string"}},
			"body":{"type":"string"}
		}}`,
		Effect:   Read,
		Describe: "Performs one of the HTTP requests this host states, once, and binds {status, headers, body} whatever the status.",
		Requests: requests,
		Op: Op{Do: func(ctx context.Context, c Call) (any, error) {
			return send(ctx, client, c)
		}},
		rule: fetchRule{},
	}
}

// fetchRule compares what is asked for with what is stated.
type fetchRule struct{}

func (fetchRule) check(e *Granted, u Use) *Violation {
	_, v := admitted(e, u.Props, u.Computed)
	return v
}

func (fetchRule) record(e *Granted, c Call) Record {
	n, _ := admitted(e, c.Props, nil)
	return Record{Type: "fetch", Input: requestValue(n)}
}

// send performs the admitted request, once and nothing else. The client never sees
// the props: they only chose, so the ceiling is what is sent (F4).
func send(ctx context.Context, client Client, c Call) (any, error) {
	if c.granted == nil {
		return nil, errNotGranted
	}
	n, v := admitted(c.granted, c.Props, nil)
	if v != nil {
		return nil, v
	}
	if client == nil {
		return nil, errors.New("this host gave its requests no HTTP client")
	}
	limit := c.limit()
	r, err := client.Do(ctx, n, limit)
	switch {
	case err != nil:
		return nil, fmt.Errorf("no response was received: %w", err)
	case len(r.Body) > limit:
		return nil, fmt.Errorf("the response body is larger than %d bytes", limit)
	case n.Method == "HEAD":
		r.Body = ""
	}
	return value.Of("status", float64(r.Status), "headers", headersValue(r.Headers), "body", r.Body), nil
}

// admitted finds the stated request that props equal. Props that are computed later
// are taken to equal it; when they are known, they are compared like the others.
func admitted(e *Granted, props *Object, computed []string) (Normal, *Violation) {
	known := func(name string) bool { return props.Has(name) && !slices.Contains(computed, name) }
	later := func(name string) bool { return slices.Contains(computed, name) }
	asked, err := asksFor(props, known)
	if err != nil {
		return Normal{}, &Violation{Class: "request", Reason: err.Error()}
	}
	for _, stated := range e.requests {
		candidate := asked
		if later("url") {
			candidate.URL, candidate.Private = stated.URL, stated.Private
		}
		if later("method") {
			candidate.Method = stated.Method
		}
		if later("headers") {
			candidate.Headers = stated.Headers
		}
		if !known("timeout") {
			candidate.Timeout = stated.Timeout
		}
		if candidate.Equal(stated) {
			return stated, nil
		}
	}
	return Normal{}, &Violation{Class: "request", Reason: "the request is none that this host stated"}
}

// asksFor brings the known parts of a request into their normal form.
func asksFor(props *Object, known func(string) bool) (n Normal, err error) {
	if known("url") {
		url, _ := props.String("url")
		if n.URL, n.Private, err = normalURL(url); err != nil {
			return n, err
		}
	}
	method, _ := props.String("method")
	if n.Method, err = normalMethod(method); err != nil {
		return n, err
	}
	given, _ := props.Get("headers")
	fields, _ := given.(*Object)
	headers := make(map[string]string, fields.Len())
	for name, field := range fields.All() {
		text, ok := field.(string)
		if !ok {
			return n, errors.New("the value of a header is not a string; write a string")
		}
		headers[name] = text
	}
	if n.Headers, err = normalHeaders(headers); err != nil {
		return n, err
	}
	if known("timeout") {
		text, _ := props.String("timeout")
		var written time.Duration
		if written, err = document.ParseDuration(text); err != nil {
			return n, errors.New("the timeout is not a duration; write digits and a unit, such as 5s")
		}
		n.Timeout, err = normalTimeout(written)
	}
	return n, err
}

// requestValue is how a request is recorded: {url, method, headers, timeout}, the
// timeout in milliseconds where there is one.
func requestValue(n Normal) *Object {
	o := value.Of("url", n.URL, "method", n.Method, "headers", headersValue(n.Headers))
	if n.Timeout > 0 {
		o.Set("timeout", float64(n.Timeout.Milliseconds()))
	}
	return o
}

func headersValue(list []Header) *Object {
	o := value.NewObject(len(list))
	for _, h := range list {
		o.Set(h.Name, h.Value)
	}
	return o
}

// Guarded is the client of requests that generated text chose.
func Guarded(web *host.GuardedHTTP) Client { return guarded{web} }

type guarded struct{ web *host.GuardedHTTP }

func (g guarded) Do(ctx context.Context, n Normal, limit int) (Response, error) {
	request := host.Request{Method: n.Method, URL: n.URL, Timeout: n.Timeout}
	for _, h := range n.Headers {
		request.Headers = append(request.Headers, host.Header(h))
	}
	received, err := g.web.Do(ctx, request, n.Private, limit)
	if err != nil {
		return Response{}, err
	}
	r := Response{Status: received.Status, Body: received.Body}
	for _, h := range received.Headers {
		r.Headers = append(r.Headers, Header(h))
	}
	return r, nil
}
