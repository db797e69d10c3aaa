package schema

import (
	"strings"

	"github.com/executable-markdown/xmd/internal/value"
)

// A node is one compiled schema. Nodes form the tree of the definition, and refs
// make it a graph; nothing changes a node once its schema is compiled.
type node struct {
	parent  *node
	keyword string // the keyword of the parent this schema stands under
	name    string // and its member or index there
	named   bool
	level   int
	raw     any // the definition at this place

	never bool // the schema false
	ref   *node

	typeNames []string // as declared; types is the same as a set
	types     typeSet
	typeFault *fault
	enum      *choice
	constant  *choice

	not                        *node
	anyOf, oneOf, allOf        []*node
	condition, then, otherwise *node // if, then, else
	notFault, anyFault         *fault
	thenFault, elseFault       *fault

	number     []bound
	multipleOf *multiple

	length  []bound
	pattern *matcher

	count           []bound // of items
	unique          bool
	items           *node   // the schema of every item, or
	tuple           []*node // of the first ones, and
	additionalItems *node   // of the others
	tooManyFault    *fault
	contains        *node
	containsFault   *fault

	members       []bound // number of members
	required      []requirement
	dependencies  []dependency
	propertyNames *node
	properties    map[string]*node
	order         []string // of properties, as declared
	patterns      []memberPattern
	additional    *node // additionalProperties
	byMember      bool  // whether a rule looks at members one by one

	hasDefault   bool // its own default, or one it refers to
	fallback     any  // that default
	fallbackSize int  // how many values it holds
	fillCost     int  // steps that its absent members and items may take
}

// A fault is the part of an issue that the definition settles.
type fault struct {
	keyword string
	message string
	params  *value.Object
}

// A bound is a limit on a number: the value itself, a length or a count.
type bound struct {
	holds func(v, limit float64) bool
	limit float64
	fault *fault
}

type multiple struct {
	of    float64
	fault *fault
}

// A choice is a set of allowed values.
type choice struct {
	keys       map[any]struct{} // see key
	structured bool             // whether one of them is an array or an object
	fault      *fault
}

type requirement struct {
	name  string
	fault *fault
}

// A dependency makes other members, or a schema, depend on the presence of one.
type dependency struct {
	name     string
	required []requirement
	schema   *node
}

type memberPattern struct {
	matcher *matcher
	schema  *node
}

// sameValue lists the schemas n applies to the value it is applied to.
func (n *node) sameValue() []*node {
	var list []*node
	for _, sub := range [...]*node{n.ref, n.not, n.condition, n.then, n.otherwise} {
		if sub != nil {
			list = append(list, sub)
		}
	}
	list = append(append(append(list, n.allOf...), n.anyOf...), n.oneOf...)
	for _, d := range n.dependencies {
		if d.schema != nil {
			list = append(list, d.schema)
		}
	}
	return list
}

// pointer is the JSON Pointer of n in its definition.
func (n *node) pointer() string {
	var chain []*node
	for ; n.parent != nil; n = n.parent {
		chain = append(chain, n)
	}
	var b strings.Builder
	for i := len(chain) - 1; i >= 0; i-- {
		b.WriteByte('/')
		b.WriteString(chain[i].keyword)
		if chain[i].named {
			b.WriteByte('/')
			b.WriteString(escapeToken(chain[i].name))
		}
	}
	return b.String()
}

// fragment is pointer as a URI fragment, number sign included.
func (n *node) fragment() string {
	const hex = "0123456789ABCDEF"
	pointer := n.pointer()
	b := make([]byte, 1, len(pointer)+1)
	b[0] = '#'
	for i := range len(pointer) {
		switch c := pointer[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("/-_.!~*'()", c) >= 0:
			b = append(b, c)
		default:
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(b)
}

// A typeSet is a set of the types a schema can name. The empty set stands for no
// declaration.
type typeSet uint8

const (
	nullType typeSet = 1 << iota
	booleanType
	numberType
	integerType
	stringType
	arrayType
	objectType

	scalarTypes = nullType | booleanType | numberType | integerType | stringType
	everyType   = scalarTypes | arrayType | objectType
)

// typeNamed is the type called name, or the empty set.
func typeNamed(name string) typeSet {
	switch name {
	case "null":
		return nullType
	case "boolean":
		return booleanType
	case "number":
		return numberType
	case "integer":
		return integerType
	case "string":
		return stringType
	case "array":
		return arrayType
	case "object":
		return objectType
	}
	return 0
}

// admits reports whether v has one of the types.
func (s typeSet) admits(v any) bool {
	switch v := v.(type) {
	case nil:
		return s&nullType != 0
	case bool:
		return s&booleanType != 0
	case float64:
		return s&numberType != 0 || s&integerType != 0 && value.IsInteger(v)
	case string:
		return s&stringType != 0
	case []any:
		return s&arrayType != 0
	case *value.Object:
		return s&objectType != 0
	}
	return false
}

// includes reports whether the set allows everything t allows.
func (s typeSet) includes(t typeSet) bool {
	return s&t != 0 || t == integerType && s&numberType != 0
}
