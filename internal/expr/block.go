package expr

import (
	"context"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
)

// A BlockResult is what a js eval block left.
type BlockResult struct {
	Output  string   // the text given to output(), else the returned value as text
	Exports []Export // top-level declarations, in source order
}

// An Export is one name a block declared, with its value when the block ended.
type Export struct {
	Name  string
	Value *Ref
}

// publish is the parameter through which a block hands out its declarations. No
// source can spell it.
const publish = "%publish"

// RunBlock evaluates a js eval block (language 1.12): a function body that sees the
// bindings and output(value), which appends the text of its value to the output. It
// may declare a name anew that is bound already. A declaration that a return
// skipped is not exported; a block that fails exports nothing. Errors are *Error.
func (rt *Runtime) RunBlock(ctx context.Context, source string, names Lookup) (BlockResult, error) {
	t, declared, err := parseBlock(source)
	if err != nil {
		return BlockResult{}, err
	}
	hidden := map[string]bool{"output": true}
	for _, d := range declared {
		hidden[d.name] = hidden[d.name] || d.lexical
	}
	var mentioned []string
	for _, name := range t.mentioned {
		if !hidden[name] {
			mentioned = append(mentioned, name)
		}
	}
	bound, refs := bind(mentioned, names)
	b := &block{rt: rt, tree: t, declared: declared, bound: bound, refs: refs}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if err := rt.guard(ctx, b.run); err != nil {
		return BlockResult{}, err
	}
	return b.result, nil
}

// CheckBlock reports whether source is a well-formed block. Errors are *Error with
// Syntax set. It does not start an interpreter.
func CheckBlock(source string) error {
	t, _, err := parseBlock(source)
	if err != nil {
		return err
	}
	_, err = t.function([]string{publish, "output"})
	return err
}

// A declaration is one top-level name of a block.
type declaration struct {
	name    string
	lexical bool // let, const or class, which may not share a scope with a parameter
}

// A block is one evaluation of a js eval block.
type block struct {
	rt       *Runtime
	tree     *tree
	declared []declaration
	bound    []string
	refs     []*Ref

	output  strings.Builder
	printed bool
	getters []goja.Value
	result  BlockResult
}

func (b *block) run() error {
	js := b.rt.js
	args, err := b.rt.values(b.refs)
	if err != nil {
		return err
	}
	parameters := append(b.bound[:len(b.bound):len(b.bound)], publish)
	args = append(args, js.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		b.getters = append(b.getters, c.Arguments...)
		return goja.Undefined()
	}))
	if !b.redeclares("output") {
		parameters = append(parameters, "output")
		args = append(args, js.vm.ToValue(b.print))
	}
	call, err := js.load(b.tree, parameters)
	if err != nil {
		return err
	}
	returned, err := call(goja.Undefined(), args...)
	if err != nil {
		return err
	}
	if err := b.export(); err != nil {
		return err
	}
	b.result.Output = b.output.String()
	if b.printed || absent(returned) {
		return nil
	}
	if thrown := js.vm.Try(func() { b.result.Output = textOf(returned) }); thrown != nil {
		return thrown
	}
	return b.bounded(len(b.result.Output))
}

func (b *block) redeclares(name string) bool {
	for _, d := range b.declared {
		if d.name == name {
			return true
		}
	}
	return false
}

// print is output(value).
func (b *block) print(c goja.FunctionCall) goja.Value {
	text := textOf(c.Argument(0))
	if err := b.bounded(b.output.Len() + len(text)); err != nil {
		b.rt.js.throw("RangeError", err.Error())
	}
	b.printed = true
	b.output.WriteString(text)
	return goja.Undefined()
}

func (b *block) bounded(n int) error {
	if n > MaxText {
		return &Error{Reason: "the output is longer than " + number(MaxText) + " bytes"}
	}
	return nil
}

// export reads the declarations. One that was never reached throws and is left out.
func (b *block) export() error {
	for i, d := range b.declared {
		v, err := function(b.getters[i])(goja.Undefined())
		if _, skipped := err.(*goja.Exception); skipped {
			continue
		}
		if err != nil {
			return err
		}
		r, err := b.rt.result(v)
		if err != nil {
			return err
		}
		b.result.Exports = append(b.result.Exports, Export{Name: d.name, Value: r})
	}
	return nil
}

// parseBlock reads a function body and makes it publish its declarations first, as
// functions that read them later.
func parseBlock(source string) (*tree, []declaration, error) {
	if err := scan(source, true); err != nil {
		return nil, nil, err
	}
	program, err := parse("(function(){" + source + "\n})")
	if err != nil {
		return nil, nil, err
	}
	body := wrapped(program)
	if body == nil {
		return nil, nil, syntaxError("not one block")
	}
	t := &tree{file: program.File, body: body.Body.List, variables: body.DeclarationList}
	if err := t.inspect(); err != nil {
		return nil, nil, err
	}
	declared := declarations(t.body)
	getters := make([]ast.Expression, len(declared))
	for i, d := range declared {
		getters[i] = &ast.ArrowFunctionLiteral{
			Start:         1,
			ParameterList: &ast.ParameterList{Opening: 1, Closing: 1},
			Body:          &ast.ExpressionBody{Expression: identifier(d.name)},
		}
	}
	call := &ast.CallExpression{Callee: identifier(publish), LeftParenthesis: 1, ArgumentList: getters, RightParenthesis: 1}
	t.body = append([]ast.Statement{&ast.ExpressionStatement{Expression: call}}, t.body...)
	return t, declared, nil
}

// wrapped returns the function a block was wrapped in.
func wrapped(program *ast.Program) *ast.FunctionLiteral {
	if len(program.Body) != 1 {
		return nil
	}
	s, ok := program.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil
	}
	f, _ := s.Expression.(*ast.FunctionLiteral)
	return f
}

// declarations lists the names that the statements declare, each once.
func declarations(list []ast.Statement) []declaration {
	var out []declaration
	seen := make(map[string]bool)
	add := func(lexical bool) func(string) {
		return func(name string) {
			if !seen[name] {
				seen[name] = true
				out = append(out, declaration{name, lexical})
			}
		}
	}
	for _, s := range list {
		switch s := s.(type) {
		case *ast.VariableStatement:
			targets(s.List, add(false))
		case *ast.LexicalDeclaration:
			targets(s.List, add(true))
		case *ast.FunctionDeclaration:
			add(false)(s.Function.Name.Name.String())
		case *ast.ClassDeclaration:
			add(true)(s.Class.Name.Name.String())
		}
	}
	return out
}

func targets(list []*ast.Binding, add func(string)) {
	for _, b := range list {
		names(b.Target, add)
	}
}

// names calls add for every name a pattern declares.
func names(e ast.Expression, add func(string)) {
	switch e := e.(type) {
	case *ast.Identifier:
		add(e.Name.String())
	case *ast.Binding:
		names(e.Target, add)
	case *ast.AssignExpression:
		names(e.Left, add)
	case *ast.ArrayPattern:
		for _, element := range e.Elements {
			names(element, add)
		}
		names(e.Rest, add)
	case *ast.ObjectPattern:
		for _, p := range e.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				add(p.Name.Name.String())
			case *ast.PropertyKeyed:
				names(p.Value, add)
			}
		}
		names(e.Rest, add)
	}
}
