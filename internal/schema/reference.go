package schema

import (
	"net/url"
	"strings"

	"github.com/executable-markdown/xmd/internal/value"
)

// A place is where a subschema stands below another one.
type place struct {
	parent  *node
	keyword string
	name    string
}

// An anchor is a name "$id" gives a subschema, for the references of one resource.
type anchor struct {
	resource *node
	name     string
}

// A reference is a "$ref" that waits for all schemas to be known.
type reference struct {
	from     *node
	text     string
	resource *node
}

// identify reads "$id". A fragment names the schema; anything else makes it the
// schema that "#" means inside it.
func (c *compiler) identify(n *node, o *value.Object, around *surrounding) {
	arg, present := o.Get("$id")
	if !present {
		return
	}
	id, ok := c.text(n, "$id", arg)
	if !ok {
		return
	}
	address, name, _ := strings.Cut(id, "#")
	switch {
	case address != "" && name != "":
		c.problem(n, `"$id" must be an address without a fragment, or "#" and a name`)
	case address != "":
		if _, err := url.Parse(address); err != nil {
			c.problem(n, `"$id" must be a URI reference`)
		}
		around.resource = n
	case name != "":
		at := anchor{around.resource, name}
		if c.anchors[at] != nil {
			c.problem(n, `"$id": %q is used twice`, id)
		}
		c.anchors[at] = n
	}
}

// link resolves the references and then settles what needs all of them.
func (c *compiler) link() {
	for _, r := range c.refs {
		if !strings.HasPrefix(r.text, "#") {
			c.problem(r.from, `"$ref": %q leaves the schema; a reference must stay inside it: "#", "#/json/pointer", or "#name" for an "$id"`, r.text)
		} else if r.from.ref = c.target(r); r.from.ref == nil {
			c.problem(r.from, `"$ref": %q names no schema in this definition`, r.text)
		}
	}
	stage := make(map[*node]settling, len(c.nodes))
	for _, n := range c.nodes {
		c.settle(n, stage)
	}
	for _, n := range c.nodes {
		for _, sub := range n.properties {
			n.fillCost += fillSteps * sub.fallbackSize
		}
		for _, sub := range n.tuple {
			n.fillCost += fillSteps * sub.fallbackSize
		}
	}
}

// target finds the schema a reference names, nil when there is none.
func (c *compiler) target(r reference) *node {
	fragment, err := url.PathUnescape(r.text[1:])
	switch {
	case err != nil:
		return nil
	case fragment == "":
		return r.resource
	case fragment[0] != '/':
		return c.anchors[anchor{r.resource, fragment}]
	}
	tokens := strings.Split(fragment[1:], "/")
	n := r.resource
	for len(tokens) > 0 && n != nil {
		keyword := unescapeToken(tokens[0])
		if sub := c.children[place{n, keyword, ""}]; sub != nil && !sub.named {
			n, tokens = sub, tokens[1:]
		} else if len(tokens) > 1 {
			n, tokens = c.children[place{n, keyword, unescapeToken(tokens[1])}], tokens[2:]
		} else {
			return nil
		}
	}
	return n
}

type settling uint8

const (
	underway settling = iota + 1
	settled
)

// settle refuses schemas that apply themselves to the same value again, which
// would never end, and gives n the default of the schemas it refers to.
func (c *compiler) settle(n *node, stage map[*node]settling) {
	if stage[n] == settled {
		return
	}
	stage[n] = underway
	for _, sub := range n.sameValue() {
		if stage[sub] == underway {
			c.problem(sub, `"$ref" leads back to this schema without entering a property or an item, so it would never end`)
			continue
		}
		c.settle(sub, stage)
	}
	inherited := n.allOf
	if n.ref != nil {
		inherited = append([]*node{n.ref}, n.allOf...)
	}
	for _, sub := range inherited {
		if !n.hasDefault && sub.hasDefault {
			n.hasDefault, n.fallback, n.fallbackSize = true, sub.fallback, sub.fallbackSize
		}
	}
	stage[n] = settled
}
