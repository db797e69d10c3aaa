package schema

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/internal/value"
)

// What is charged beyond the one step of applying a schema.
const (
	issueCost    = 64 // steps an issue takes, besides its path
	decimalCost  = 32 // steps an exact division takes
	bytesPerStep = 32 // of a text that is read once
	matchPerStep = 64 // of bytes matched times instructions of the pattern
)

// A run is one validation, or one filling, under way.
type run struct {
	steps  int
	depth  int
	over   bool // the bounds are exceeded: every answer from now on is false
	quiet  bool // only the verdict counts
	path   []token
	issues []Issue
}

// A token is a step into the value: a member, or an item when index is not -1.
type token struct {
	name  string
	index int
}

// charge takes steps and reports whether there were enough of them.
func (r *run) charge(steps int) bool {
	r.steps += steps
	r.over = r.over || r.steps > MaxSteps
	return !r.over
}

// report notes an issue of the value at the current path.
func (r *run) report(n *node, f *fault) { r.reportParams(n, f.keyword, f.message, f.params) }

func (r *run) reportParams(n *node, keyword, message string, params *value.Object) {
	if r.quiet || !r.charge(issueCost) {
		return
	}
	i := Issue{
		InstancePath: r.pointer(),
		SchemaPath:   n.fragment() + "/" + keyword,
		Keyword:      keyword,
		Params:       params,
		Message:      message,
	}
	r.charge((len(i.InstancePath) + len(i.SchemaPath)) / bytesPerStep)
	r.issues = append(r.issues, i)
}

func (r *run) pointer() string {
	var b strings.Builder
	for _, t := range r.path {
		b.WriteByte('/')
		if t.index >= 0 {
			b.WriteString(strconv.Itoa(t.index))
		} else {
			b.WriteString(escapeToken(t.name))
		}
	}
	return b.String()
}

// apply validates v, which is at the current path, against n.
func (r *run) apply(n *node, v any) bool {
	if !r.charge(1) {
		return false
	}
	if r.depth++; r.depth > MaxNesting {
		r.over = true
		return false
	}
	ok := r.any(n, v)
	switch v := v.(type) {
	case float64:
		ok = r.number(n, v) && ok
	case string:
		ok = r.text(n, v) && ok
	case []any:
		ok = r.array(n, v) && ok
	case *value.Object:
		ok = r.object(n, v) && ok
	}
	r.depth--
	return ok
}

// into applies n to a part of the value at the current path.
func (r *run) into(n *node, t token, v any) bool {
	r.path = append(r.path, t)
	ok := r.apply(n, v)
	r.path = r.path[:len(r.path)-1]
	return ok
}

// verdict applies n without noting issues.
func (r *run) verdict(n *node, v any) bool {
	quiet := r.quiet
	r.quiet = true
	ok := r.apply(n, v)
	r.quiet = quiet
	return ok
}

// any applies the keywords that concern every type of value.
func (r *run) any(n *node, v any) bool {
	if n.never {
		r.reportParams(n, "false schema", "boolean schema is false", value.NewObject(0))
		return false
	}
	ok := true
	if n.ref != nil {
		ok = r.apply(n.ref, v)
	}
	if n.typeFault != nil && !n.types.admits(v) {
		r.report(n, n.typeFault)
		ok = false
	}
	for _, c := range [...]*choice{n.constant, n.enum} {
		if c != nil && !r.chosen(c, v) {
			r.report(n, c.fault)
			ok = false
		}
	}
	if n.not != nil && r.verdict(n.not, v) {
		r.report(n, n.notFault)
		ok = false
	}
	if n.anyOf != nil {
		ok = r.anyOf(n, v) && ok
	}
	if n.oneOf != nil {
		ok = r.oneOf(n, v) && ok
	}
	for _, sub := range n.allOf {
		ok = r.apply(sub, v) && ok
	}
	if n.condition != nil {
		branch, f := n.branch(r.verdict(n.condition, v))
		if branch != nil && !r.apply(branch, v) {
			r.report(n, f)
			ok = false
		}
	}
	return ok
}

// branch is the schema an if selects, nil when there is none, and its fault.
func (n *node) branch(holds bool) (*node, *fault) {
	if holds {
		return n.then, n.thenFault
	}
	return n.otherwise, n.elseFault
}

func (r *run) chosen(c *choice, v any) bool {
	k, ok := r.key(v, c.structured)
	if !ok {
		return false
	}
	_, ok = c.keys[k]
	return ok
}

// key is key(v), charged for. It refuses structures unless they matter.
func (r *run) key(v any, structures bool) (any, bool) {
	switch v := v.(type) {
	case nil, bool, float64:
		return v, true
	case string:
		return v, r.charge(len(v) / bytesPerStep)
	}
	if !structures {
		return nil, false
	}
	k := key(v)
	text, _ := k.(canonical)
	return k, r.charge(len(text) / bytesPerStep)
}

// anyOf stops at the first schema that holds; the issues of the others count only
// when none does.
func (r *run) anyOf(n *node, v any) bool {
	before := len(r.issues)
	for _, sub := range n.anyOf {
		if r.apply(sub, v) {
			r.issues = r.issues[:before]
			return true
		}
	}
	r.report(n, n.anyFault)
	return false
}

func (r *run) oneOf(n *node, v any) bool {
	before := len(r.issues)
	passing, first := 0, 0
	for i, sub := range n.oneOf {
		if !r.apply(sub, v) {
			continue
		}
		if passing++; passing == 1 {
			first = i
			continue
		}
		r.issues = r.issues[:before]
		r.reportOneOf(n, []any{float64(first), float64(i)})
		return false
	}
	if passing == 1 {
		r.issues = r.issues[:before]
		return true
	}
	r.reportOneOf(n, nil)
	return false
}

// reportOneOf notes that no schema, or more than one, holds; passing is the first
// two of them.
func (r *run) reportOneOf(n *node, passing any) {
	r.reportParams(n, "oneOf", "must match exactly one schema in oneOf", value.Of("passingSchemas", passing))
}

func (r *run) number(n *node, v float64) bool {
	ok := r.within(n, n.number, v)
	if n.multipleOf != nil && !r.isMultiple(v, n.multipleOf.of) {
		r.report(n, n.multipleOf.fault)
		ok = false
	}
	return ok
}

// within checks a number, a length or a count against its bounds.
func (r *run) within(n *node, bounds []bound, v float64) bool {
	ok := true
	for _, b := range bounds {
		if !b.holds(v, b.limit) {
			r.report(n, b.fault)
			ok = false
		}
	}
	return ok
}

// isMultiple decides in decimal, so that 0.3 is a multiple of 0.1.
func (r *run) isMultiple(v, of float64) bool {
	if value.IsInteger(v) && value.IsInteger(of) {
		return math.Mod(v, of) == 0
	}
	if !r.charge(decimalCost) {
		return false
	}
	a, okA := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	b, okB := new(big.Rat).SetString(strconv.FormatFloat(of, 'g', -1, 64))
	return okA && okB && a.Quo(a, b).IsInt()
}

// text checks a string; its length is counted in Unicode code points.
func (r *run) text(n *node, v string) bool {
	ok := true
	if n.length != nil && r.charge(len(v)/bytesPerStep) {
		ok = r.within(n, n.length, float64(utf8.RuneCountInString(v)))
	}
	if n.pattern != nil && !r.match(n.pattern, v) {
		r.report(n, n.pattern.fault)
		ok = false
	}
	return ok
}

func (r *run) match(m *matcher, text string) bool {
	return r.charge(m.size*len(text)/matchPerStep) && m.re.MatchString(text)
}

func (r *run) array(n *node, list []any) bool {
	r.charge(n.fillCost)
	ok := r.within(n, n.count, float64(len(list)))
	if n.unique && !r.unique(n, list) {
		ok = false
	}
	for i, v := range list {
		var sub *node
		switch {
		case n.items != nil:
			sub = n.items
		case i < len(n.tuple):
			sub = n.tuple[i]
		case n.additionalItems != nil && n.additionalItems.never:
			r.report(n, n.tooManyFault)
			ok = false
		default:
			sub = n.additionalItems
		}
		if sub == nil {
			break
		}
		ok = r.into(sub, token{index: i}, v) && ok
	}
	if n.contains != nil && !r.contains(n, list) {
		r.report(n, n.containsFault)
		ok = false
	}
	return ok
}

// contains is like anyOf over the items.
func (r *run) contains(n *node, list []any) bool {
	before := len(r.issues)
	for i, v := range list {
		if r.into(n.contains, token{index: i}, v) {
			r.issues = r.issues[:before]
			return true
		}
	}
	return false
}

// unique reports the first item that repeats an earlier one.
func (r *run) unique(n *node, list []any) bool {
	seen := make(map[any]int, len(list))
	for i, v := range list {
		k, ok := r.key(v, true)
		if !ok {
			return false
		}
		if j, twice := seen[k]; twice {
			message := fmt.Sprintf("must NOT have duplicate items (items ## %d and %d are identical)", j, i)
			r.reportParams(n, "uniqueItems", message, value.Of("i", float64(i), "j", float64(j)))
			return false
		}
		seen[k] = i
	}
	return true
}

func (r *run) object(n *node, o *value.Object) bool {
	r.charge(n.fillCost)
	ok := r.within(n, n.members, float64(o.Len()))
	ok = r.present(n, o, n.required) && ok
	for _, d := range n.dependencies {
		if !r.charge(1) || !o.Has(d.name) {
			continue
		}
		ok = r.present(n, o, d.required) && ok
		if d.schema != nil {
			ok = r.apply(d.schema, o) && ok
		}
	}
	if !n.byMember {
		return ok
	}
	for name, v := range o.All() {
		if n.propertyNames != nil && !r.apply(n.propertyNames, name) {
			r.reportParams(n, "propertyNames", "property name must be valid", value.Of("propertyName", name))
			ok = false
		}
		ok = r.member(n, name, v) && ok
	}
	return ok
}

func (r *run) present(n *node, o *value.Object, required []requirement) bool {
	ok := true
	for _, q := range required {
		if !o.Has(q.name) {
			ok = false
			if r.charge(1) {
				r.report(n, q.fault)
			}
		}
	}
	return ok
}

// member applies what n says about the member called name.
func (r *run) member(n *node, name string, v any) bool {
	sub, known := n.properties[name]
	ok := !known || r.into(sub, token{name: name, index: -1}, v)
	for _, p := range n.patterns {
		if r.match(p.matcher, name) {
			known = true
			ok = r.into(p.schema, token{name: name, index: -1}, v) && ok
		}
	}
	switch {
	case known || n.additional == nil:
		return ok
	case n.additional.never:
		r.reportParams(n, "additionalProperties", "must NOT have additional properties", value.Of("additionalProperty", name))
		return false
	}
	return r.into(n.additional, token{name: name, index: -1}, v)
}
