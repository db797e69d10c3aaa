package schema

import "github.com/executable-markdown/xmd/internal/value"

// fillSteps is what one value of a default costs. A validation pays it too,
// whether the default is needed or not, so that whatever is too much to fill is
// too much to validate.
const fillSteps = 4

// fill completes v, which it may change, and returns it. What the schema says of
// the value itself goes before what the schemas it refers to say.
func (r *run) fill(n *node, v any) any {
	if !r.charge(1) {
		return v
	}
	if r.depth++; r.depth > MaxNesting {
		r.over = true
		return v
	}
	switch part := v.(type) {
	case *value.Object:
		if r.charge(n.fillCost) {
			r.fillMembers(n, part)
		}
		v = r.fillAgain(n, part)
	case []any:
		if r.charge(n.fillCost) {
			part = r.fillItems(n, part)
		}
		v = r.fillAgain(n, part)
	}
	r.depth--
	return v
}

// fillAgain lets the schemas that n applies to the same value complete it too.
func (r *run) fillAgain(n *node, v any) any {
	if n.ref != nil {
		v = r.fill(n.ref, v)
	}
	for _, sub := range n.allOf {
		v = r.fill(sub, v)
	}
	if o, ok := v.(*value.Object); ok {
		for _, d := range n.dependencies {
			if d.schema != nil && o.Has(d.name) {
				v = r.fill(d.schema, v)
			}
		}
	}
	if n.condition != nil {
		if branch, _ := n.branch(r.verdict(n.condition, v)); branch != nil {
			v = r.fill(branch, v)
		}
	}
	return v
}

func (r *run) fillMembers(n *node, o *value.Object) {
	for _, name := range n.order {
		if sub := n.properties[name]; sub.hasDefault && !o.Has(name) {
			o.Set(name, value.Clone(sub.fallback))
		}
	}
	if !n.byMember {
		return
	}
	for _, name := range o.Keys() {
		v, _ := o.Get(name)
		sub, known := n.properties[name]
		if known {
			v = r.fill(sub, v)
		}
		for _, p := range n.patterns {
			if r.match(p.matcher, name) {
				known = true
				v = r.fill(p.schema, v)
			}
		}
		if !known && n.additional != nil {
			v = r.fill(n.additional, v)
		}
		o.Set(name, v)
	}
}

func (r *run) fillItems(n *node, list []any) []any {
	for len(list) < len(n.tuple) && n.tuple[len(list)].hasDefault {
		list = append(list, value.Clone(n.tuple[len(list)].fallback))
	}
	for i, v := range list {
		switch {
		case n.items != nil:
			list[i] = r.fill(n.items, v)
		case i < len(n.tuple):
			list[i] = r.fill(n.tuple[i], v)
		case n.additionalItems != nil:
			list[i] = r.fill(n.additionalItems, v)
		}
	}
	return list
}
