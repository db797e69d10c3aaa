package capability

import "github.com/executable-markdown/xmd/internal/value"

// Policy is the normal form of everything a decision under this grant rests on
// (fragments 6): the selection, the dialect, the retained roots, every allowed entry
// with its identity, forms, effect and ceiling, and all limits, in the order pure,
// read, write. Two grants whose policies are equal admit the same fragments; that is
// what a continuation compares (F6). The object belongs to the caller.
func (g *Grant) Policy() *Object {
	allow := make([]any, len(g.allow))
	for i, class := range g.allow {
		allow[i] = string(class)
	}
	allowed := make([]any, len(g.entries))
	for i, e := range g.entries {
		allowed[i] = e.policy()
	}
	policy := value.Of("allow", allow, "dialect", string(g.captured.dialect))
	g.captured.retained(policy)
	policy.Set("allowed", allowed)
	policy.Set("limits", g.captured.limits.object())
	return policy
}

// retained writes the roots a run keeps. A directory that belongs to no run may be
// another one tomorrow, so it is no part of what is compared.
func (c *Captured) retained(policy *Object) {
	names := []any{}
	for _, r := range c.roots {
		if r.Retained {
			names = append(names, r.Name)
		}
	}
	policy.Set("roots", names)
	if len(names) > 0 {
		policy.Set("selected", c.selected)
	}
}

func (e *Granted) policy() *Object {
	var forms []any
	for _, f := range [...]Form{SelfClosing, Paired} {
		if e.Forms&f != 0 {
			forms = append(forms, f.String())
		}
	}
	return value.Of(
		"name", e.Name,
		"identity", e.Identity.String(),
		"forms", forms,
		"effect", string(e.Effect),
		"ceiling", value.Clone(e.ceiling),
	)
}

// ceilingOf is the normal form of what bounds an entry: {} covers the whole root,
// or whatever the schema of the props admits.
func ceilingOf(paths []string, requests []Normal) *Object {
	ceiling := value.NewObject(1)
	if paths != nil {
		list := make([]any, len(paths))
		for i, path := range paths {
			list[i] = path
		}
		ceiling.Set("paths", list)
	}
	if requests != nil {
		list := make([]any, len(requests))
		for i, r := range requests {
			list[i] = requestValue(r)
		}
		ceiling.Set("requests", list)
	}
	return ceiling
}
