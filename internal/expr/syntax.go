package expr

import (
	"errors"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/unistring"
)

// A tree is a parsed source that passed inspection.
type tree struct {
	file      *file.File
	body      []ast.Statement            // what the wrapping function executes
	variables []*ast.VariableDeclaration // its var declarations, for the compiler
	mentioned []string                   // every identifier that is read or assigned, once
}

// parseExpression reads exactly one expression (language 4.1.1).
func parseExpression(source string) (*tree, error) {
	if err := scan(source, false); err != nil {
		return nil, err
	}
	program, err := parse("(" + source + "\n)")
	if err != nil {
		return nil, err
	}
	if len(program.Body) == 1 {
		if s, ok := program.Body[0].(*ast.ExpressionStatement); ok {
			t := &tree{file: program.File, body: []ast.Statement{&ast.ReturnStatement{Return: 1, Argument: s.Expression}}}
			return t, t.inspect()
		}
	}
	return nil, syntaxError("not one expression")
}

// parse reads src, a wrapped source, as a script. Positions are left out of the reason: they would be
// those of the wrapped text.
func parse(src string) (*ast.Program, error) {
	var program *ast.Program
	err := shielded(func() (err error) {
		program, err = parser.ParseFile(nil, "", src, 0, parser.WithDisableSourceMaps)
		return err
	})
	if err == nil {
		return program, nil
	}
	var list parser.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		first := list[0]
		if first.Position.Line > strings.Count(src, "\n") { // the last line closes the wrapping
			return nil, syntaxError("Unexpected end of input")
		}
		return nil, syntaxError(first.Message)
	}
	return nil, syntaxError(err.Error())
}

func (t *tree) inspect() error {
	i := &inspector{}
	i.statements(t.body)
	if i.err != nil {
		return i.err
	}
	t.mentioned = unique(i.mentioned)
	return nil
}

func unique(names []string) []string {
	seen := make(map[string]bool, len(names))
	var out []string
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// function compiles the tree as the body of a strict function of the parameters.
// Running the result yields that function.
func (t *tree) function(parameters []string) (*goja.Program, error) {
	list := make([]*ast.Binding, len(parameters))
	for i, name := range parameters {
		list[i] = &ast.Binding{Target: identifier(name)}
	}
	literal := &ast.FunctionLiteral{
		Function:        1,
		ParameterList:   &ast.ParameterList{Opening: 1, List: list, Closing: 1},
		Body:            &ast.BlockStatement{LeftBrace: 1, List: t.body, RightBrace: 1},
		DeclarationList: t.variables,
	}
	script := &ast.Program{File: t.file, Body: []ast.Statement{&ast.ExpressionStatement{Expression: literal}}}
	var compiled *goja.Program
	err := shielded(func() (err error) {
		compiled, err = goja.CompileAST(script, true)
		return err
	})
	if err == nil {
		return compiled, nil
	}
	var wrong *goja.CompilerSyntaxError
	if errors.As(err, &wrong) {
		return nil, syntaxError(wrong.Message)
	}
	return nil, syntaxError(strings.TrimPrefix(err.Error(), "SyntaxError: "))
}

func identifier(name string) *ast.Identifier {
	return &ast.Identifier{Name: unistring.NewFromString(name), Idx: 1}
}

// A program is one source, compiled for the names that were bound when it ran last.
type program struct {
	tree  *tree
	names []string // identifiers the source mentions
	bound []string
	call  goja.Callable
}

// program returns the parsed source, from the cache if it ran before.
func (rt *Runtime) program(source string) (*program, error) {
	rt.mu.Lock()
	p := rt.programs[source]
	rt.mu.Unlock()
	if p != nil {
		return p, nil
	}
	t, err := parseExpression(source)
	if err != nil {
		return nil, err
	}
	p = &program{tree: t, names: t.mentioned}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.programs == nil || len(rt.programs) >= maxPrograms {
		rt.programs = make(map[string]*program)
	}
	rt.programs[source] = p
	return p, nil
}

// compile makes p callable with the bound names as parameters. The caller holds
// rt.mu and the interpreter runs.
func (p *program) compile(rt *Runtime, bound []string) error {
	if p.call != nil && slices.Equal(p.bound, bound) {
		return nil
	}
	call, err := rt.js.load(p.tree, bound)
	if err != nil {
		return err
	}
	p.call, p.bound = call, bound
	return nil
}

func (p *program) evaluate(_ *Runtime, args []goja.Value) (goja.Value, error) {
	return p.call(goja.Undefined(), args...)
}
