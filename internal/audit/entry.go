package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
)

// An Entry is one operation a fragment may name, as a policy states it.
type Entry struct {
	Name     string
	Form     string // self-closing, paired, or both with "or" between
	Identity string
	Class    string // read, write, ask or pure
	Ceiling  Ceiling
	Where    Place // in a profile file
}

// A Reach says what bounds an entry.
type Reach string

const (
	ReachPaths    Reach = "paths"    // the listed patterns
	ReachRoot     Reach = "root"     // everything below the selected root
	ReachRequests Reach = "requests" // the listed requests
	ReachPerson   Reach = "person"   // somebody who is asked
	ReachProps    Reach = "props"    // whatever its props admit
	ReachNothing  Reach = "nothing"  // it computes
)

// A Ceiling bounds an entry.
type Ceiling struct {
	Reach    Reach
	Paths    []string
	Requests []Request
}

// A Request is an HTTP request in normal form.
type Request struct {
	Method  string
	URL     string
	Headers []Header
	Timeout time.Duration // 0: none stated
}

// A Header is one header field.
type Header struct{ Name, Value string }

// notShown stands for the value of a field that looks like a credential. A report
// travels further than the profile it is about.
const notShown = "(not shown)"

// String is the value as a report shows it.
func (h Header) String() string {
	if h.isCredential() {
		return notShown
	}
	return h.Value
}

func (h Header) isCredential() bool {
	return slices.ContainsFunc([]string{"authorization", "cookie", "token", "secret", "password", "api-key", "apikey", "access-key", "signature"},
		func(word string) bool { return strings.Contains(h.Name, word) })
}

// String is the request on one line.
func (r Request) String() string {
	parts := make([]string, len(r.Headers))
	for i, h := range r.Headers {
		parts[i] = " " + h.Name + ": " + h.String()
	}
	text := r.Method + " " + r.URL + strings.Join(parts, ";")
	if r.Timeout > 0 {
		text += fmt.Sprintf(" within %v", r.Timeout)
	}
	return text
}

// Lines says what bounds the entry, a line for each thing it reaches.
func (c Ceiling) Lines() []string {
	switch c.Reach {
	case ReachPaths:
		return c.Paths
	case ReachRoot:
		return []string{"everything below the root"}
	case ReachRequests:
		lines := make([]string, len(c.Requests))
		for i, r := range c.Requests {
			lines[i] = r.String()
		}
		return lines
	case ReachPerson:
		return []string{"a person, with any question"}
	case ReachProps:
		return []string{"whatever its props admit"}
	}
	return []string{"nothing, it computes"}
}

// entries reads the entries of a policy, which is what Grant.Policy returns or a
// reader of records has accepted.
func entries(policy *capability.Object) []Entry {
	listed, _ := policy.Get("allowed")
	list, _ := listed.([]any)
	all := make([]Entry, 0, len(list))
	for _, item := range list {
		o, _ := item.(*capability.Object)
		var e Entry
		e.Name, _ = o.String("name")
		e.Identity, _ = o.String("identity")
		e.Class, _ = o.String("effect")
		e.Form = strings.Join(texts(o, "forms"), " or ")
		e.Ceiling = ceiling(o, e.Identity, e.Class)
		all = append(all, e)
	}
	return all
}

func ceiling(entry *capability.Object, identity, class string) Ceiling {
	v, _ := entry.Get("ceiling")
	o, _ := v.(*capability.Object)
	switch {
	case o.Has("paths"):
		return Ceiling{Reach: ReachPaths, Paths: texts(o, "paths")}
	case o.Has("requests"):
		v, _ := o.Get("requests")
		list, _ := v.([]any)
		c := Ceiling{Reach: ReachRequests}
		for _, item := range list {
			r, _ := item.(*capability.Object)
			c.Requests = append(c.Requests, request(r))
		}
		return c
	case class == string(capability.Pure):
		return Ceiling{Reach: ReachNothing}
	case class == string(capability.Asks):
		return Ceiling{Reach: ReachPerson}
	case shippedAs(identity).paths:
		return Ceiling{Reach: ReachRoot}
	}
	return Ceiling{Reach: ReachProps}
}

// request reads a request in normal form.
func request(o *capability.Object) Request {
	var r Request
	r.Method, _ = o.String("method")
	r.URL, _ = o.String("url")
	fields, _ := o.Get("headers")
	headers, _ := fields.(*capability.Object)
	for name, v := range headers.All() {
		text, _ := v.(string)
		r.Headers = append(r.Headers, Header{name, text})
	}
	r.Timeout = duration(o, "timeout")
	return r
}

// duration reads a number of milliseconds.
func duration(o *capability.Object, name string) time.Duration {
	v, _ := o.Get(name)
	ms, _ := v.(float64)
	const most = float64(1<<62) / float64(time.Millisecond)
	return time.Duration(min(max(ms, 0), most) * float64(time.Millisecond))
}

// texts returns the strings of a member that is a list of them.
func texts(o *capability.Object, name string) []string {
	v, _ := o.Get(name)
	list, _ := v.([]any)
	out := make([]string, 0, len(list))
	for _, item := range list {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// A Limit is one bound of an evaluation.
type Limit struct {
	Name    string
	Value   float64 // a number, bytes, or milliseconds
	Default float64
	Where   Place
}

// String is the bound with its unit.
func (l Limit) String() string { return l.written(l.Value) }

func (l Limit) written(v float64) string {
	switch l.Name {
	case "time":
		return time.Duration(v * float64(time.Millisecond)).String()
	case "source", "values", "value", "output":
		switch n := int(v); {
		case n >= 1<<20 && n%(1<<20) == 0:
			return fmt.Sprintf("%d MiB", n>>20)
		case n >= 1<<10 && n%(1<<10) == 0:
			return fmt.Sprintf("%d KiB", n>>10)
		default:
			return fmt.Sprintf("%d bytes", n)
		}
	}
	return value.FormatNumber(v)
}

// limits reads the limits of a policy. The defaults are those of a profile that
// states none.
func limits(policy, standard *capability.Object) []Limit {
	v, _ := policy.Get("limits")
	stated, _ := v.(*capability.Object)
	v, _ = standard.Get("limits")
	defaults, _ := v.(*capability.Object)
	var all []Limit
	for name, d := range defaults.All() {
		l := Limit{Name: name}
		l.Default, _ = d.(float64)
		v, _ := stated.Get(name)
		l.Value, _ = v.(float64)
		all = append(all, l)
	}
	return all
}
