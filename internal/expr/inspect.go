package expr

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
)

// An inspector walks a syntax tree once. It collects names, refuses the forms the
// language does not have (async functions, generators, patterns RE2 cannot run) and
// bounds the depth of the tree before the compiler recurses over it. It also turns
// the key __proto__ of an object literal into an ordinary member (language 4.4.4).
type inspector struct {
	mentioned []string
	depth     int
	functions int // non-arrow functions around the present node
	err       error
}

func (i *inspector) refuse(reason string) {
	if i.err == nil {
		i.err = syntaxError(reason)
	}
}

// enter counts one level of the tree; it reports false when the walk is over.
func (i *inspector) enter() bool {
	if i.depth++; i.depth > MaxTree {
		i.refuse("nested deeper than " + number(MaxTree) + " levels; bind the parts to names")
	}
	return i.err == nil
}

func (i *inspector) leave() { i.depth-- }

func (i *inspector) use(name unistring.String) {
	n := name.String()
	switch n {
	case "await", "yield":
		i.refuse(n + " is not available")
	case "arguments":
		if i.functions == 0 {
			i.refuse("arguments is not available outside a function")
		}
		return
	}
	i.mentioned = append(i.mentioned, n)
}

func (i *inspector) declare(name unistring.String) {
	n := name.String()
	if n == "await" || n == "yield" {
		i.refuse(n + " is not available")
	}
}

func (i *inspector) expressions(list []ast.Expression) {
	for _, e := range list {
		i.expression(e)
	}
}

func (i *inspector) expression(e ast.Expression) {
	if e == nil {
		return
	}
	defer i.leave()
	if !i.enter() {
		return
	}
	switch e := e.(type) {
	case *ast.Identifier:
		i.use(e.Name)
	case *ast.ArrayLiteral:
		i.expressions(e.Value)
	case *ast.ObjectLiteral:
		i.properties(e.Value)
	case *ast.ArrayPattern, *ast.ObjectPattern:
		i.target(e, false)
	case *ast.AssignExpression:
		i.expression(e.Left)
		i.expression(e.Right)
	case *ast.BinaryExpression:
		i.expression(e.Left)
		i.expression(e.Right)
	case *ast.BracketExpression:
		i.expression(e.Left)
		i.expression(e.Member)
	case *ast.CallExpression:
		i.expression(e.Callee)
		i.expressions(e.ArgumentList)
	case *ast.ConditionalExpression:
		i.expression(e.Test)
		i.expression(e.Consequent)
		i.expression(e.Alternate)
	case *ast.DotExpression:
		i.expression(e.Left)
	case *ast.PrivateDotExpression:
		i.expression(e.Left)
	case *ast.OptionalChain:
		i.expression(e.Expression)
	case *ast.Optional:
		i.expression(e.Expression)
	case *ast.SpreadElement:
		i.expression(e.Expression)
	case *ast.FunctionLiteral:
		i.function(e, false)
	case *ast.ArrowFunctionLiteral:
		i.arrow(e)
	case *ast.ClassLiteral:
		i.class(e, false)
	case *ast.NewExpression:
		i.expression(e.Callee)
		i.expressions(e.ArgumentList)
	case *ast.SequenceExpression:
		i.expressions(e.Sequence)
	case *ast.TemplateLiteral:
		i.expression(e.Tag)
		i.expressions(e.Expressions)
	case *ast.UnaryExpression:
		i.expression(e.Operand)
	case *ast.RegExpLiteral:
		if reason := patternFault(e.Pattern, e.Flags); reason != "" {
			i.refuse(reason)
		}
	case *ast.MetaProperty:
		if i.functions == 0 {
			i.refuse("new.target is not available outside a function")
		}
	case *ast.AwaitExpression:
		i.refuse("await is not available")
	case *ast.YieldExpression:
		i.refuse("yield is not available")
	case *ast.PropertyShort, *ast.PropertyKeyed:
		i.properties([]ast.Property{e.(ast.Property)})
	case *ast.BadExpression:
		i.refuse("malformed expression")
	}
}

func (i *inspector) properties(list []ast.Property) {
	for _, p := range list {
		switch p := p.(type) {
		case *ast.PropertyShort:
			i.use(p.Name.Name)
			i.expression(p.Initializer)
		case *ast.PropertyKeyed:
			if key, ok := p.Key.(*ast.StringLiteral); ok && key.Value == "__proto__" {
				p.Computed = true
			}
			i.expression(p.Key)
			i.expression(p.Value)
		case *ast.SpreadElement:
			i.expression(p.Expression)
		}
	}
}

// target walks what is assigned or declared: a name, a member or a pattern.
func (i *inspector) target(e ast.Expression, declares bool) {
	if e == nil {
		return
	}
	defer i.leave()
	if !i.enter() {
		return
	}
	switch e := e.(type) {
	case *ast.Identifier:
		if declares {
			i.declare(e.Name)
		} else {
			i.use(e.Name)
		}
	case *ast.Binding:
		i.target(e.Target, declares)
		i.expression(e.Initializer)
	case *ast.AssignExpression:
		i.target(e.Left, declares)
		i.expression(e.Right)
	case *ast.ArrayPattern:
		for _, element := range e.Elements {
			i.target(element, declares)
		}
		i.target(e.Rest, declares)
	case *ast.ObjectPattern:
		for _, p := range e.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				i.target(&p.Name, declares)
				i.expression(p.Initializer)
			case *ast.PropertyKeyed:
				i.expression(p.Key)
				i.target(p.Value, declares)
			}
		}
		i.target(e.Rest, declares)
	default:
		i.expression(e)
	}
}

func (i *inspector) bindings(list []*ast.Binding) {
	for _, b := range list {
		i.target(b, true)
	}
}

func (i *inspector) parameters(p *ast.ParameterList) {
	i.bindings(p.List)
	i.target(p.Rest, true)
}

func (i *inspector) function(f *ast.FunctionLiteral, statement bool) {
	if f.Async || f.Generator {
		i.refuse("async functions and generators are not available")
		return
	}
	if statement && f.Name != nil {
		i.declare(f.Name.Name)
	}
	i.functions++
	if !statement && f.Name != nil {
		i.declare(f.Name.Name)
	}
	i.parameters(f.ParameterList)
	i.statements(f.Body.List)
	i.functions--
}

func (i *inspector) arrow(f *ast.ArrowFunctionLiteral) {
	if f.Async {
		i.refuse("async functions and generators are not available")
		return
	}
	i.parameters(f.ParameterList)
	switch body := f.Body.(type) {
	case *ast.BlockStatement:
		i.statements(body.List)
	case *ast.ExpressionBody:
		i.expression(body.Expression)
	}
}

func (i *inspector) class(c *ast.ClassLiteral, statement bool) {
	if statement && c.Name != nil {
		i.declare(c.Name.Name)
	}
	i.expression(c.SuperClass)
	i.functions++
	if c.Name != nil {
		i.declare(c.Name.Name)
	}
	for _, element := range c.Body {
		switch m := element.(type) {
		case *ast.FieldDefinition:
			i.expression(m.Key)
			i.expression(m.Initializer)
		case *ast.MethodDefinition:
			i.expression(m.Key)
			i.expression(m.Body)
		case *ast.ClassStaticBlock:
			i.statements(m.Block.List)
		}
	}
	i.functions--
}

func (i *inspector) statements(list []ast.Statement) {
	for _, s := range list {
		i.statement(s)
	}
}

func (i *inspector) statement(s ast.Statement) {
	if s == nil {
		return
	}
	defer i.leave()
	if !i.enter() {
		return
	}
	switch s := s.(type) {
	case *ast.BlockStatement:
		if s != nil {
			i.statements(s.List)
		}
	case *ast.ExpressionStatement:
		i.expression(s.Expression)
	case *ast.ReturnStatement:
		i.expression(s.Argument)
	case *ast.ThrowStatement:
		i.expression(s.Argument)
	case *ast.IfStatement:
		i.expression(s.Test)
		i.statement(s.Consequent)
		i.statement(s.Alternate)
	case *ast.ForStatement:
		i.initializer(s.Initializer)
		i.expression(s.Test)
		i.expression(s.Update)
		i.statement(s.Body)
	case *ast.ForInStatement:
		i.into(s.Into)
		i.expression(s.Source)
		i.statement(s.Body)
	case *ast.ForOfStatement:
		i.into(s.Into)
		i.expression(s.Source)
		i.statement(s.Body)
	case *ast.WhileStatement:
		i.expression(s.Test)
		i.statement(s.Body)
	case *ast.DoWhileStatement:
		i.statement(s.Body)
		i.expression(s.Test)
	case *ast.SwitchStatement:
		i.expression(s.Discriminant)
		for _, c := range s.Body {
			i.expression(c.Test)
			i.statements(c.Consequent)
		}
	case *ast.TryStatement:
		i.statement(s.Body)
		if s.Catch != nil {
			i.target(s.Catch.Parameter, true)
			i.statement(s.Catch.Body)
		}
		i.statement(s.Finally)
	case *ast.LabelledStatement:
		i.statement(s.Statement)
	case *ast.VariableStatement:
		i.bindings(s.List)
	case *ast.LexicalDeclaration:
		i.bindings(s.List)
	case *ast.FunctionDeclaration:
		i.function(s.Function, true)
	case *ast.ClassDeclaration:
		i.class(s.Class, true)
	case *ast.WithStatement:
		i.refuse("with is not available")
	case *ast.BadStatement:
		i.refuse("malformed statement")
	}
}

func (i *inspector) initializer(init ast.ForLoopInitializer) {
	switch init := init.(type) {
	case *ast.ForLoopInitializerExpression:
		i.expression(init.Expression)
	case *ast.ForLoopInitializerVarDeclList:
		i.bindings(init.List)
	case *ast.ForLoopInitializerLexicalDecl:
		i.bindings(init.LexicalDeclaration.List)
	}
}

func (i *inspector) into(into ast.ForInto) {
	switch into := into.(type) {
	case *ast.ForIntoVar:
		i.target(into.Binding, true)
	case *ast.ForDeclaration:
		i.target(into.Target, true)
	case *ast.ForIntoExpression:
		i.target(into.Expression, false)
	}
}
