package audit

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
)

// A shape is how an operation of this binary is bound and recorded.
type shape struct {
	// entry binds it under a ceiling; nil: it is no operation of this binary.
	entry  func(paths []string, requests []capability.Request) capability.Entry
	record string // the type of its effects
	paths  bool   // paths bound it
	// takesPath says that it is asked for one path; Glob is asked for patterns.
	takesPath bool
}

// shippedAs knows the operations of this binary by their pinned identity. They are
// bound to nothing: they can be asked what they would let pass, and perform nothing.
func shippedAs(identity string) shape {
	glob := capability.Glob(nil).Identity
	file := func(e capability.Entry) shape {
		return shape{record: "capability", paths: true, takesPath: e.Identity != glob, entry: func(paths []string, _ []capability.Request) capability.Entry {
			e.Paths = paths
			return e
		}}
	}
	if !strings.HasPrefix(identity, "xmd.core/") {
		return shape{}
	}
	for _, e := range [...]capability.Entry{
		capability.FileRead(nil), capability.Glob(nil), capability.FileWrite(nil), capability.FileDelete(nil), capability.EnsureDir(nil),
	} {
		if e.Identity.String() == identity {
			return file(e)
		}
	}
	switch identity {
	case capability.Fetch(nil).Identity.String():
		return shape{record: "fetch", entry: func(_ []string, requests []capability.Request) capability.Entry {
			return capability.Fetch(nil, requests...)
		}}
	case capability.Ask(nil).Identity.String():
		return shape{record: "elicit", entry: func([]string, []capability.Request) capability.Entry { return capability.Ask(nil) }}
	}
	return shape{}
}

// noProps is the schema of a foreign entry. Its own is not recorded, so what it was
// given cannot be judged.
const noProps = `{"type":"object","additionalProperties":false}`

// A rebuilt grant is what a recorded policy means to this binary.
type rebuilt struct {
	grant   *capability.Grant
	foreign map[string]bool // identities this binary does not know
}

// errUnlike is a policy that a profile of this binary comes near to but never has.
var errUnlike = errors.New("no profile of this binary states it: an entry, a form, a limit or their order is not one it writes")

// rebuild makes a grant of a recorded policy that a reader of records accepted. The
// grant's own policy is the recorded one, member by member, or there is an error; so
// what the grant admits is what was admitted.
func rebuild(ctx context.Context, policy *capability.Object) (*rebuilt, error) {
	dialect, _ := policy.String("dialect")
	p := capability.Profile{Name: "recorded", Dialect: capability.Dialect(dialect), Limits: recordedLimits(policy)}
	for _, name := range texts(policy, "roots") {
		p.Roots = append(p.Roots, capability.Root{Name: name, Retained: true})
	}
	p.Selected, _ = policy.String("selected")
	foreign := map[string]bool{}
	for _, e := range entries(policy) {
		if e.Class == string(capability.Pure) {
			continue // Capture adds these
		}
		made, err := e.rebuild(foreign)
		if err != nil {
			return nil, err
		}
		if made.Effect == capability.Read {
			p.Read = append(p.Read, made)
		} else {
			p.Write = append(p.Write, made)
		}
	}
	captured, err := capability.Capture(ctx, p)
	if err != nil {
		return nil, err
	}
	var allow []capability.Class
	for _, class := range texts(policy, "allow") {
		allow = append(allow, capability.Class(class))
	}
	grant, err := captured.Select(allow...)
	switch {
	case err != nil:
		return nil, err
	case !value.Equal(grant.Policy(), policy):
		return nil, errUnlike
	}
	return &rebuilt{grant, foreign}, nil
}

// rebuild makes an entry that is bound to nothing.
func (e Entry) rebuild(foreign map[string]bool) (capability.Entry, error) {
	if s := shippedAs(e.Identity); s.entry != nil {
		var requests []capability.Request
		for _, r := range e.Ceiling.Requests {
			headers := make(map[string]string, len(r.Headers))
			for _, h := range r.Headers {
				headers[h.Name] = h.Value
			}
			requests = append(requests, capability.Request{Method: r.Method, URL: r.URL, Headers: headers, Timeout: r.Timeout})
		}
		return s.entry(e.Ceiling.Paths, requests), nil
	}
	identity, err := capability.ParseIdentity(e.Identity)
	if err != nil {
		return capability.Entry{}, err
	}
	foreign[e.Identity] = true
	made := capability.Entry{
		Name: e.Name, Identity: identity, Props: noProps, Effect: capability.Effect(e.Class), Paths: e.Ceiling.Paths,
		Op: capability.Op{Do: func(context.Context, capability.Call) (any, error) {
			return nil, errors.New("an audit performs nothing")
		}},
	}
	for _, form := range [...]capability.Form{capability.SelfClosing, capability.Paired} {
		if strings.Contains(e.Form, form.String()) {
			made.Forms |= form
		}
	}
	return made, nil
}

// recordedLimits reads the limits of a policy back.
func recordedLimits(policy *capability.Object) capability.Limits {
	v, _ := policy.Get("limits")
	o, _ := v.(*capability.Object)
	number := func(name string) int {
		v, _ := o.Get(name)
		n, _ := v.(float64)
		return int(min(n, 1<<40)) // Capture refuses more than fits a module
	}
	return capability.Limits{
		Source: number("source"), Elements: number("elements"), Depth: number("depth"), Steps: number("steps"),
		Values: number("values"), Value: number("value"), Output: number("output"),
		Time: max(duration(o, "time"), time.Nanosecond),
	}
}

// readerOf captures the entry that reads files under the given paths. It is asked
// which single paths a ceiling covers, also for those of other entries.
func readerOf(ctx context.Context, paths []string) (*capability.Granted, error) {
	return alone(ctx, Entry{Identity: capability.FileRead(nil).Identity.String(), Ceiling: Ceiling{Paths: paths}})
}

// alone captures one entry of this binary by itself.
func alone(ctx context.Context, e Entry) (*capability.Granted, error) {
	made, err := e.rebuild(map[string]bool{})
	if err != nil {
		return nil, err
	}
	p := capability.Profile{Name: "alone", Write: []capability.Entry{made}}
	class := capability.WriteClass
	if made.Effect == capability.Read {
		p.Read, p.Write, class = p.Write, nil, capability.ReadClass
	}
	captured, err := capability.Capture(ctx, p)
	if err != nil {
		return nil, err
	}
	grant, err := captured.Select(class)
	if err != nil {
		return nil, err
	}
	return grant.ByIdentity(made.Identity.String()), nil
}

// covers reports whether an entry that takes a path would take this one, which is
// clean and relative to the root.
func covers(entry *capability.Granted, path string) bool {
	return entry.Check(capability.Use{Form: entry.Forms, Props: value.Of("path", path), DirKnown: true}) == nil
}
