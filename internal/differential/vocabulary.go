package differential

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// A Bench is one profile, captured for each dialect, and the library an ordinary
// document has of it. It is safe for concurrent use.
type Bench struct {
	grants    map[capability.Dialect]*capability.Grant
	libraries map[capability.Dialect]*engine.Library
	props     map[string]*schema.Schema // by identity
}

// limits are wide enough for what the generator invents and narrow enough that a
// fragment that runs away does not run for long.
func limits() capability.Limits {
	return capability.Limits{Steps: 200_000, Values: 4 << 20, Value: 256 << 10, Output: 256 << 10, Time: 10 * time.Minute}
}

// NewBench captures the profile.
func NewBench(ctx context.Context) (*Bench, error) {
	b := &Bench{
		grants:    map[capability.Dialect]*capability.Grant{},
		libraries: map[capability.Dialect]*engine.Library{},
		props:     map[string]*schema.Schema{},
	}
	for _, dialect := range [...]capability.Dialect{capability.Flat, capability.Closed} {
		captured, err := capability.Capture(ctx, capability.Profile{
			Name: "differential", Dialect: dialect, Limits: limits(), Read: reads(), Write: writes(),
		})
		if err != nil {
			return nil, err
		}
		grant, err := captured.Select(capability.ReadClass, capability.WriteClass)
		if err != nil {
			return nil, err
		}
		b.grants[dialect], b.libraries[dialect] = grant, b.library(grant)
		for _, e := range grant.Entries() {
			definition, err := value.Parse([]byte(e.Entry.Props))
			if err != nil {
				return nil, err
			}
			if b.props[e.Identity.String()], err = schema.Props(definition, nil, false); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// Grant is what fragments of a dialect may do.
func (b *Bench) Grant(d capability.Dialect) *capability.Grant { return b.grants[d] }

// effect describes one operation: which it is, and all it was given.
func (b *Bench) effect(e *capability.Granted, c capability.Call, entering bool) string {
	id := e.Identity.String()
	what := "do "
	if entering {
		what = "enter "
	}
	props, err := value.JSON(b.props[id].Fill(c.Props))
	if err != nil {
		props = err.Error()
	}
	return fmt.Sprintf("%s%s %s %s in %q with %q", what, c.Form, id, props, c.Dir, c.Content)
}

func custom(key string) capability.Identity {
	return capability.Identity{Origin: "test.differential", Key: key, Revision: 1}
}

// scripted replaces the operation of an entry by one that reaches nothing.
func scripted(e capability.Entry, do func(c capability.Call) (any, error)) capability.Entry {
	e.Op.Do = func(_ context.Context, c capability.Call) (any, error) { return do(c) }
	return e
}

var errScripted = errors.New("scripted failure")

// chance is a number below n that depends on the parts alone.
func chance(n int, parts ...string) int {
	h := fnv.New32a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return int(h.Sum32() % uint32(n))
}

func reads() []capability.Entry {
	return []capability.Entry{
		scripted(capability.FileRead(nil), readFile),
		scripted(capability.Glob(nil), glob),
		scripted(capability.Fetch(nil,
			capability.Request{URL: "https://example.com/a"},
			capability.Request{URL: "https://example.com/b?q=1", Headers: map[string]string{"accept": "text/plain"}},
			capability.Request{URL: "https://example.com/gone", Method: "HEAD"},
		), fetch),
		scripted(capability.Entry{
			Name: "Probe", Identity: custom("Probe"), Forms: capability.SelfClosing,
			Props: `{"type":"object","additionalProperties":false,"required":["key"],"properties":{
				"key":{"type":"string","minLength":1},"count":{"type":"integer","default":1},"data":{"description":"anything"}}}`,
			Returns: `{"$schema":"http://json-schema.org/draft-07/schema#"}`, Effect: capability.Read, Describe: "Returns a value.",
		}, probe),
		scripted(capability.Entry{
			Name: "Measure.Size", Identity: custom("Measure.Size"), Forms: capability.SelfClosing,
			Props:   `{"type":"object","additionalProperties":false,"properties":{"of":{"type":"array","items":{"type":"string"}}}}`,
			Returns: `{"type":"integer"}`, Effect: capability.Read, Describe: "Measures texts.",
		}, measure),
	}
}

func writes() []capability.Entry {
	return []capability.Entry{
		scripted(capability.FileWrite(nil), func(c capability.Call) (any, error) {
			if strings.Contains(c.Content, "unwritable") {
				return nil, errScripted
			}
			return nil, nil
		}),
		scripted(capability.FileDelete(nil), func(capability.Call) (any, error) { return nil, nil }),
		directory(),
		capability.Ask(nil),
		scripted(capability.Entry{
			Name: "Put", Identity: custom("Put"), Forms: capability.Paired,
			Props: `{"type":"object","additionalProperties":false,"properties":{
				"label":{"type":["string","null"]},"tags":{"type":"array","items":{"type":"string"},"default":[]}}}`,
			Returns: `{"type":"object"}`, Effect: capability.Write, Describe: "Keeps its content.",
		}, put),
		scripted(capability.Entry{
			Name: "Note", Identity: custom("Note"), Forms: capability.SelfClosing | capability.Paired,
			Props:  `{"type":"object","additionalProperties":false,"properties":{"label":{"type":"string","default":"note"}}}`,
			Effect: capability.Write, Describe: "Notes something down and says so.",
		}, note),
	}
}

func readFile(c capability.Call) (any, error) {
	written, _ := c.Props.String("path")
	clean := path.Join(c.Dir, written)
	switch {
	case strings.Contains(clean, "missing"):
		return nil, errScripted
	case strings.HasSuffix(clean, ".json"):
		return `{"from": "` + clean + `"}`, nil
	}
	return [...]string{
		"", "text of " + clean + "\n", "{x} and {name.a} of " + clean, "a ``` fence, a <Tag /> and \\{x}", "déjà vu " + clean + "  \n\n",
	}[chance(5, clean)], nil
}

func glob(c capability.Call) (any, error) {
	include, _ := c.Props.Get("include")
	found := []any{}
	patterns, _ := include.([]any)
	for _, p := range patterns {
		p, _ := p.(string)
		if strings.Contains(p, "missing") {
			return nil, errScripted
		}
		if n := chance(3, c.Dir, p); n > 0 {
			found = append(found, "notes/a.md", "notes/"+strings.Repeat("b", n)+".md")
		}
	}
	return found, nil
}

func fetch(c capability.Call) (any, error) {
	url, _ := c.Props.String("url")
	method, _ := c.Props.String("method")
	if method == "HEAD" {
		return value.Of("status", 404.0, "headers", value.Of("x-a", "1", "10", "ten", "9", "nine"), "body", ""), nil
	}
	return value.Of("status", 200.0, "headers", value.NewObject(0), "body", "body of "+url), nil
}

func probe(c capability.Call) (any, error) {
	key, _ := c.Props.String("key")
	switch key {
	case "num":
		return 42.5, nil
	case "int":
		return 3.0, nil
	case "text":
		return "some text {x}", nil
	case "empty":
		return "", nil
	case "null":
		return nil, nil
	case "yes":
		return true, nil
	case "list":
		return []any{1.0, "two", nil, []any{}, value.Of("a", 1.0)}, nil
	case "words":
		return []any{"one", "two", "three"}, nil
	case "object":
		return value.Of("b", "text", "a", value.Of("c", 1.0, "b", []any{"x"}), "2", true, "1", nil), nil
	case "echo":
		v, _ := c.Props.Get("data")
		return value.Clone(v), nil
	case "fails":
		return nil, errScripted
	}
	count, _ := c.Props.Get("count")
	return fmt.Sprintf("<%s %v>", key, count), nil
}

func measure(c capability.Call) (any, error) {
	of, _ := c.Props.Get("of")
	texts, _ := of.([]any)
	n := 0.0
	for _, t := range texts {
		if t == "wrong" {
			return "many", nil // not what it returns
		}
		n += float64(len(t.(string)))
	}
	return n, nil
}

// directory is Dir, which makes its directory before its content expands.
func directory() capability.Entry {
	e := capability.EnsureDir(nil)
	e.Op.Enter = func(_ context.Context, c capability.Call) error {
		if written, _ := c.Props.String("path"); strings.Contains(written, "missing") {
			return errScripted
		}
		return nil
	}
	return e
}

func put(c capability.Call) (any, error) {
	label, given := c.Props.Get("label")
	if label == "fails" {
		return nil, errScripted
	}
	o := value.Of("bytes", float64(len(c.Content)), "text", c.Content)
	if given {
		o.Set("label", label)
	}
	return o, nil
}

func note(c capability.Call) (any, error) {
	label, _ := c.Props.String("label")
	switch chance(3, label) {
	case 0:
		return nil, nil
	case 1:
		return "(" + label + ")", nil
	}
	return capability.Undefined{}, nil
}

// provider is whoever answers questions outside of every region.
func provider(_ context.Context, q capability.Question) (any, error) {
	if strings.Contains(q.Message, "nobody") {
		return nil, errScripted
	}
	o, _ := q.Schema.(*value.Object)
	kind, _ := o.Get("type")
	switch kind {
	case "string":
		return "answer to " + q.Message, nil
	case "number", "integer":
		return float64(len(q.Message)), nil
	case "boolean":
		return len(q.Message)%2 == 0, nil
	case "array":
		return []any{"a", "b"}, nil
	}
	return value.Of("asked", q.Message), nil
}
