package audit

import (
	"strings"

	"github.com/executable-markdown/xmd/internal/value"
)

// Asked is what one effect was asked for. Only the members of its kind are set.
type Asked struct {
	Path     string   // of a file or directory, relative to the root
	Include  []string // patterns of a search
	Exclude  []string
	Request  *Request
	Question string // the message a person was shown
}

// askedOf reads the recorded input of an effect of this binary; ok is false for one
// it would not write.
func askedOf(s shape, input any) (a Asked, ok bool) {
	o, _ := input.(*value.Object)
	switch {
	case s.record == "elicit":
		_, ok = input.(string) // the fingerprint; the question has members of its own
	case s.record == "fetch":
		r := request(o)
		a.Request, ok = &r, o != nil && value.Equal(recordedRequest(r), o)
	case s.takesPath:
		a.Path, ok = o.String("path")
		ok = ok && o.Len() == 1
	default:
		a.Include, a.Exclude = texts(o, "include"), texts(o, "exclude")
		ok = o != nil && value.Equal(value.Of("include", strs(a.Include), "exclude", strs(a.Exclude)), o)
	}
	return a, ok
}

// recordedRequest is a request in the normal form a history holds.
func recordedRequest(r Request) *value.Object {
	headers := value.NewObject(len(r.Headers))
	for _, h := range r.Headers {
		headers.Set(h.Name, h.Value)
	}
	o := value.Of("url", r.URL, "method", r.Method, "headers", headers)
	if r.Timeout > 0 {
		o.Set("timeout", float64(r.Timeout.Milliseconds()))
	}
	return o
}

// String is what was asked for, on one line.
func (a Asked) String() string {
	switch {
	case a.Path != "":
		return a.Path
	case a.Request != nil:
		return a.Request.String()
	case a.Question != "":
		return "question: " + brief(a.Question)
	case len(a.Include) == 0:
		return ""
	case len(a.Exclude) == 0:
		return "files like " + strings.Join(a.Include, ", ")
	}
	return "files like " + strings.Join(a.Include, ", ") + " but not like " + strings.Join(a.Exclude, ", ")
}

func (a Asked) json(o *value.Object) {
	switch {
	case a.Path != "":
		o.Set("path", a.Path)
	case a.Request != nil:
		o.Set("request", requestJSON(*a.Request))
	case a.Question != "":
		o.Set("question", a.Question)
	case len(a.Include) > 0:
		o.Set("include", strs(a.Include))
		o.Set("exclude", strs(a.Exclude))
	}
}
