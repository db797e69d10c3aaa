package admission

import (
	"math"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// recordVersion is the version of the form of a record.
const recordVersion = 1

// The decisions a record states.
const (
	admitted = "admitted"
	refused  = "refused"
)

// Record is the decision as a history keeps it (fragments 6). m is the compiled
// program of an admitted fragment and nil for a refused one, whose record holds its
// class and nothing else (F5). The object belongs to the caller.
func (d *Decision) Record(m *wasm.Module) *capability.Object {
	if d.Refusal != nil {
		return value.Of("version", float64(recordVersion), "decision", refused, "class", string(d.Refusal.Class))
	}
	named := make([]any, len(d.Named))
	for i, n := range d.Named {
		named[i] = value.Of("name", n.Name, "identity", n.Identity, "form", n.Form.String(),
			"at", value.Of("offset", float64(n.Offset), "line", float64(n.Line), "column", float64(n.Column)))
	}
	return value.Of(
		"version", float64(recordVersion),
		"decision", admitted,
		"source", d.Source,
		"digest", d.Digest,
		"module", m.Digest,
		"compiler", float64(wasm.Revision),
		"named", named,
		"policy", d.grant.Policy(),
	)
}

// A retained decision is a record that was read.
type retained struct {
	refused  Class // empty: admitted
	source   string
	module   string
	compiler int
	named    []Named
	policy   *value.Object
}

// readRecord reads what Record writes and nothing else: an extra, missing or
// mistyped member, or a digest that is not the source's, makes it unreadable.
func readRecord(record any) (r retained, ok bool) {
	o, _ := record.(*value.Object)
	version, _ := number(o, "version")
	if version != recordVersion {
		return r, false
	}
	switch decision, _ := o.String("decision"); decision {
	case refused:
		class, _ := o.String("class")
		r.refused = Class(class)
		_, known := r.refused.sentence()
		return r, known && exactly(o, "version", "decision", "class")
	case admitted:
		return r, exactly(o, "version", "decision", "source", "digest", "module", "compiler", "named", "policy") && r.read(o)
	}
	return r, false
}

// read takes the members of an admission over.
func (r *retained) read(o *value.Object) bool {
	var ok [4]bool
	r.source, ok[0] = o.String("source")
	stated, _ := o.String("digest")
	r.module, ok[1] = o.String("module")
	r.compiler, ok[2] = number(o, "compiler")
	r.named, ok[3] = readNamed(o)
	policy, _ := o.Get("policy")
	r.policy, _ = policy.(*value.Object)
	return !slices.Contains(ok[:], false) && stated == digest(r.source) && isDigest(r.module) && r.compiler >= 1 &&
		isPolicy(r.policy)
}

func readNamed(o *value.Object) ([]Named, bool) {
	list, ok := objects(o, "named")
	if !ok {
		return nil, false
	}
	named := make([]Named, len(list))
	for i, e := range list {
		at, _ := e.Get("at")
		position, _ := at.(*value.Object)
		form, _ := e.String("form")
		n := &named[i]
		var ok [5]bool
		n.Name, ok[0] = e.String("name")
		n.Identity, ok[1] = e.String("identity")
		n.Offset, ok[2] = number(position, "offset")
		n.Line, ok[3] = number(position, "line")
		n.Column, ok[4] = number(position, "column")
		switch form {
		case capability.SelfClosing.String():
			n.Form = capability.SelfClosing
		case capability.Paired.String():
			n.Form = capability.Paired
		default:
			return nil, false
		}
		if slices.Contains(ok[:], false) || !exactly(e, "name", "identity", "form", "at") || !exactly(position, "offset", "line", "column") {
			return nil, false
		}
	}
	return named, true
}

// isPolicy reports whether a record's policy has the members and types a policy has.
func isPolicy(o *value.Object) bool {
	members := []string{"allow", "dialect", "roots", "allowed", "limits"}
	if roots, _ := o.Get("roots"); !value.Equal(roots, []any{}) { // a workspace has a selected root
		members = append(members, "selected")
		if _, ok := o.String("selected"); !ok {
			return false
		}
	}
	_, dialect := o.String("dialect")
	allowed, ok := objects(o, "allowed")
	return exactly(o, members...) && dialect && ok && isStrings(o, "allow") && isStrings(o, "roots") && isLimits(o) &&
		!slices.ContainsFunc(allowed, func(e *value.Object) bool { return !isAllowed(e) })
}

func isAllowed(e *value.Object) bool {
	_, name := e.String("name")
	_, identity := e.String("identity")
	_, effect := e.String("effect")
	ceiling, _ := e.Get("ceiling")
	o, ok := ceiling.(*value.Object)
	return exactly(e, "name", "identity", "forms", "effect", "ceiling") && name && identity && effect && isStrings(e, "forms") &&
		ok && isCeiling(o)
}

func isCeiling(o *value.Object) bool {
	for name := range o.All() {
		switch name {
		case "paths":
			if !isStrings(o, name) {
				return false
			}
		case "requests":
			list, ok := objects(o, name)
			if !ok || slices.ContainsFunc(list, func(r *value.Object) bool { return !isRequest(r) }) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func isRequest(o *value.Object) bool {
	members := []string{"method", "url", "headers"}
	if timeout, limited := o.Get("timeout"); limited {
		members = append(members, "timeout")
		if _, ok := timeout.(float64); !ok {
			return false
		}
	}
	_, method := o.String("method")
	_, url := o.String("url")
	list, _ := o.Get("headers")
	headers, ok := list.(*value.Object)
	for _, v := range headers.All() {
		if _, text := v.(string); !text {
			return false
		}
	}
	return exactly(o, members...) && method && url && ok
}

func isLimits(o *value.Object) bool {
	v, _ := o.Get("limits")
	limits, _ := v.(*value.Object)
	for name, l := range limits.All() {
		n, ok := l.(float64)
		if !ok || n <= 0 || name != "time" && !value.IsInteger(n) { // time is in milliseconds and may have parts of one
			return false
		}
	}
	return exactly(limits, "source", "elements", "depth", "steps", "values", "value", "output", "time")
}

// exactly reports whether an object has these members and no others.
func exactly(o *value.Object, members ...string) bool {
	return o.Len() == len(members) && !slices.ContainsFunc(members, func(name string) bool { return !o.Has(name) })
}

// number returns a member that is a whole number from 0.
func number(o *value.Object, name string) (int, bool) {
	v, _ := o.Get(name)
	n, ok := v.(float64)
	if !ok || n < 0 || n > math.MaxInt32 || !value.IsInteger(n) {
		return 0, false
	}
	return int(n), true
}

// objects returns a member that is a list of objects.
func objects(o *value.Object, name string) ([]*value.Object, bool) {
	v, _ := o.Get(name)
	list, ok := v.([]any)
	out := make([]*value.Object, len(list))
	for i, e := range list {
		if out[i], _ = e.(*value.Object); out[i] == nil {
			return nil, false
		}
	}
	return out, ok
}

// isStrings reports whether a member is a list of strings.
func isStrings(o *value.Object, name string) bool {
	v, _ := o.Get(name)
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(e any) bool { _, text := e.(string); return !text })
}

// isDigest reports whether a text has the form of a digest.
func isDigest(s string) bool {
	hex, ok := strings.CutPrefix(s, "sha256:")
	return ok && len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}
