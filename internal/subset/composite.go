package subset

import (
	"slices"
	"strconv"

	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// enterLiteral descends into an array or object.
func (p *parser) enterLiteral() error {
	if p.literals >= p.depth {
		return ErrLimit
	}
	p.literals++
	return nil
}

func (p *parser) leaveLiteral() { p.literals-- }

// member reads the value of an element or member.
func (p *parser) member() (operand, error) {
	x, err := p.expression()
	if err == nil && !x.constant() {
		err = p.count()
	}
	return x, err
}

// array reads an array literal: no holes, no spread.
func (p *parser) array() (operand, error) {
	p.pos++
	if err := p.enterLiteral(); err != nil {
		return failed(err)
	}
	defer p.leaveLiteral()
	var elements []operand
	for !p.accept("]") {
		x, err := p.member()
		if err != nil {
			return failed(err)
		}
		elements = append(elements, x)
		if !p.accept(",") && p.peek() != "]" {
			return refused()
		}
	}
	if slices.ContainsFunc(elements, func(x operand) bool { return !x.constant() }) {
		nodes := make([]wasm.Expr, len(elements))
		for i, x := range elements {
			nodes[i] = x.node()
		}
		return computed(&wasm.Array{Elements: nodes}), nil
	}
	values := make([]any, len(elements))
	for i, x := range elements {
		values[i] = x.value
	}
	return constant(values), nil
}

// A property is one authored member of an object literal.
type property struct {
	name  string
	value operand
}

// object reads an object literal: names, strings and numbers as keys, shorthand.
func (p *parser) object() (operand, error) {
	p.pos++
	if err := p.enterLiteral(); err != nil {
		return failed(err)
	}
	defer p.leaveLiteral()
	var members []property
	for !p.accept("}") {
		m, err := p.property()
		if err != nil {
			return failed(err)
		}
		members = append(members, m)
		if !p.accept(",") && p.peek() != "}" {
			return refused()
		}
	}
	if slices.ContainsFunc(members, func(m property) bool { return !m.value.constant() }) {
		nodes := make([]wasm.Prop, len(members))
		for i, m := range members {
			nodes[i] = wasm.Prop{Name: m.name, Value: m.value.node()}
		}
		return computed(&wasm.ObjectLiteral{Members: nodes}), nil
	}
	return constant(constantObject(members)), nil
}

func (p *parser) property() (m property, err error) {
	p.space()
	shorthand := false
	switch c := p.first(); {
	case c == '"' || c == '\'':
		m.name, err = p.quoted()
	case p.atNumber():
		var f float64
		f, err = p.number()
		m.name = value.FormatNumber(f)
	default:
		m.name = p.word()
		shorthand = !p.flat && IsBindingName(m.name)
		if m.name == "" {
			err = ErrRefused
		}
	}
	switch {
	case err != nil:
	case p.accept(":"):
		m.value, err = p.member()
	case shorthand:
		m.value, err = computed(&wasm.Name{Name: m.name}), p.count()
	default:
		err = ErrRefused
	}
	return m, err
}

// constantObject puts constant members in the order ECMAScript gives them: array
// indexes ascending, then the others as first written. The last value of a
// repeated name counts.
func constantObject(members []property) *value.Object {
	written := value.NewObject(len(members))
	var indexes []uint64
	for _, m := range members {
		if i, ok := arrayIndex(m.name); ok && !written.Has(m.name) {
			indexes = append(indexes, i)
		}
		written.Set(m.name, m.value.value)
	}
	if indexes == nil {
		return written
	}
	slices.Sort(indexes)
	ordered := value.NewObject(written.Len())
	for _, i := range indexes {
		name := strconv.FormatUint(i, 10)
		v, _ := written.Get(name)
		ordered.Set(name, v)
	}
	for name, v := range written.All() {
		ordered.Set(name, v)
	}
	return ordered
}

// arrayIndex reads the canonical decimal form of a number below 2^32 - 1.
func arrayIndex(name string) (uint64, bool) {
	if name == "" || len(name) > 10 || name[0] == '0' && name != "0" {
		return 0, false
	}
	for i := range len(name) {
		if !isDigit(name[i]) {
			return 0, false
		}
	}
	i, err := strconv.ParseUint(name, 10, 64)
	return i, err == nil && i < 1<<32-1
}

// template reads a template literal: a constant without substitutions, else a
// sum from the left that begins with its first string.
func (p *parser) template() (operand, error) {
	p.pos++
	s, more, err := p.characters('`')
	if err != nil || !more {
		return constant(s), err
	}
	if p.flat {
		return refused()
	}
	sum := constant(s).node()
	for more {
		if err := p.count(); err != nil {
			return failed(err)
		}
		x, err := p.substitution()
		if err != nil {
			return failed(err)
		}
		sum = &wasm.Binary{Op: wasm.Add, X: sum, Y: x.node()}
		if s, more, err = p.characters('`'); err != nil {
			return failed(err)
		}
		if s != "" {
			sum = &wasm.Binary{Op: wasm.Add, X: sum, Y: constant(s).node()}
		}
	}
	return computed(sum), nil
}

func (p *parser) substitution() (operand, error) {
	if err := p.enter(); err != nil {
		return failed(err)
	}
	defer p.leave()
	x, err := p.expression()
	if err == nil && !p.accept("}") {
		err = ErrRefused
	}
	return x, err
}
