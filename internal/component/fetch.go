package component

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

//go:embed docs/fetch.md
var fetchDoc string

// fetch performs one HTTP read and keeps the response (components 8).
func fetch() engine.Component {
	return engine.Component{
		Name:   "Fetch",
		Origin: origin,
		Props: `{
			"url": {"type":"string","description":"an absolute http or https URL, sent as written"},
			"method": {"type":"string","enum":["GET","HEAD"],"default":"GET","description":"GET or HEAD"},
			"headers": {"type":"object","additionalProperties":{"type":"string"},"default":{},"description":"request header fields"},
			"timeout": {"type":"string","description":"a duration such as 30s; else the limit of the run"}
		}`,
		Required: []string{"url"},
		Forms:    engine.Both,
		Effect:   "read",
		Doc: engine.Doc{
			Description: "Performs one HTTP read, once, and keeps the response in the history of the run.",
			As:          "{status, headers, body}, whatever the status",
			Context:     "The content never expands.",
			Long:        fetchDoc,
		},
		Run: runFetch,
	}
}

func runFetch(ctx context.Context, c *engine.Call) (any, error) {
	request, err := readRequest(c)
	if err != nil {
		return nil, fmt.Errorf("<%s> %w", c.Name(), err)
	}
	response, err := perform(ctx, c, engine.Effect{
		Type:    "fetch",
		Name:    "fetch:" + c.Expansion(),
		Members: []journal.Member{{Name: "input", Value: requestValue(request)}},
		Guard:   guardResponse,
	}, func(ctx context.Context) (any, error) { return send(ctx, c, request) })
	if err != nil || c.Captured() {
		return response, err
	}
	o, _ := response.(*value.Object)
	status, _ := o.Get("status")
	if code, _ := status.(float64); code < 200 || code > 299 {
		return nil, fmt.Errorf("<%s> received the status %s; write as=\"reply\" on it to use a response whatever its status", c.Name(), value.Text(status))
	}
	return nil, nil
}

// send performs the request. Without a provider the attempt settles nothing.
func send(ctx context.Context, c *engine.Call, request host.Request) (any, error) {
	web := c.Host().HTTP
	if web == nil {
		return nil, &withdrawn{&engine.Infrastructure{Err: fmt.Errorf("<%s> needs an HTTP provider, and this run was given none", c.Name())}}
	}
	response, err := web.Do(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("<%s> received no response: %w", c.Name(), err)
	}
	if response.Status < 100 || response.Status > 999 {
		return nil, &withdrawn{&engine.Infrastructure{Err: fmt.Errorf("the HTTP provider answered <%s> without an HTTP status", c.Name())}}
	}
	body := response.Body
	if request.Method == "HEAD" {
		body = ""
	}
	return value.Of("status", float64(response.Status), "headers", headersValue(response.Headers), "body", body), nil
}

// readRequest makes the normalised request. Nothing has been sent when it
// refuses, and no message repeats the URL or a header's value, which may be
// secrets.
func readRequest(c *engine.Call) (host.Request, error) {
	r := host.Request{Method: c.Text("method"), URL: c.Text("url"), Timeout: c.FetchTimeout().Truncate(time.Millisecond)}
	if err := checkURL(r.URL); err != nil {
		return r, err
	}
	given, _ := c.Props().Get("headers")
	headers, _ := given.(*value.Object)
	var err error
	if r.Headers, err = readHeaders(headers); err != nil {
		return r, err
	}
	if c.Props().Has("timeout") {
		if r.Timeout, err = document.ParseDuration(c.Text("timeout")); err != nil {
			return r, fmt.Errorf("cannot use its timeout: %w", err)
		}
	}
	return r, nil
}

func checkURL(text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return errors.New("has white space or control characters in its url; write them percent-encoded, such as %20")
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Opaque != "" {
		return errors.New("needs an absolute http or https url")
	}
	return nil
}

// readHeaders writes names in lower case and puts them in order.
func readHeaders(headers *value.Object) ([]host.Header, error) {
	list := make([]host.Header, 0, headers.Len())
	seen := make(map[string]bool, headers.Len())
	for written, v := range headers.All() {
		name, text := strings.ToLower(written), v.(string)
		switch {
		case !isToken(name):
			return nil, fmt.Errorf("has the header name %.40q, which is not one; use letters, digits and hyphens", written)
		case reserved(name):
			return nil, fmt.Errorf("cannot send the header %s, which belongs to the connection; remove it", name)
		case seen[name]:
			return nil, fmt.Errorf("has two spellings of the header %s; write it once", name)
		case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return nil, fmt.Errorf("has a control character in the value of the header %s; remove it", name)
		}
		seen[name] = true
		list = append(list, host.Header{Name: name, Value: text})
	}
	slices.SortFunc(list, func(a, b host.Header) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// isToken reports whether a lower-case name can be the name of a header field.
func isToken(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return name != ""
}

// reserved reports whether a header describes the connection or decides where
// the request goes, so that the url would no longer say it.
func reserved(name string) bool {
	switch name {
	case "connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade":
		return true
	}
	return strings.HasPrefix(name, "proxy-")
}

func requestValue(r host.Request) *value.Object {
	o := value.Of("url", r.URL, "method", r.Method, "headers", headersValue(r.Headers))
	if r.Timeout > 0 {
		o.Set("timeout", float64(r.Timeout.Milliseconds()))
	}
	return o
}

func headersValue(list []host.Header) *value.Object {
	o := value.NewObject(len(list))
	for _, h := range list {
		o.Set(h.Name, h.Value)
	}
	return o
}

// guardResponse refuses a recorded success that is no response. A recorded
// failure is raised again as it is.
func guardResponse(e journal.Event) error {
	if e.Result.Status != journal.StatusOk || isResponse(e.Result.Value) {
		return nil
	}
	return errors.New("the recorded result of <Fetch> is not a response; start the document anew")
}

func isResponse(v any) bool {
	o, _ := v.(*value.Object)
	status, _ := o.Get("status")
	code, isNumber := status.(float64)
	headers, _ := o.Get("headers")
	fields, isObject := headers.(*value.Object)
	_, isText := o.String("body")
	if o.Len() != 3 || !isNumber || !value.IsInteger(code) || !isObject || !isText {
		return false
	}
	for _, field := range fields.All() {
		if _, ok := field.(string); !ok {
			return false
		}
	}
	return true
}
