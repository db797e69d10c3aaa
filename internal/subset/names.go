package subset

import "github.com/executable-markdown/xmd/wasm"

// Names calls yield for every binding an expression reads, in the order of the
// text and as often as it is read, until yield returns false. It recurses as deep
// as e is high, which Expression bounds.
func Names(e wasm.Expr, yield func(name string) bool) { names(e, yield) }

// names reports whether to go on.
func names(e wasm.Expr, yield func(string) bool) bool {
	switch e := e.(type) {
	case *wasm.Name:
		return yield(e.Name)
	case *wasm.Array:
		for _, x := range e.Elements {
			if !names(x, yield) {
				return false
			}
		}
	case *wasm.ObjectLiteral:
		for _, m := range e.Members {
			if !names(m.Value, yield) {
				return false
			}
		}
	case *wasm.Chain:
		if !names(e.Base, yield) {
			return false
		}
		for _, s := range e.Steps {
			if s.Index != nil && !names(s.Index, yield) {
				return false
			}
		}
	case *wasm.Unary:
		return names(e.X, yield)
	case *wasm.Binary:
		return names(e.X, yield) && names(e.Y, yield)
	case *wasm.Logical:
		return names(e.X, yield) && names(e.Y, yield)
	case *wasm.Conditional:
		return names(e.Test, yield) && names(e.Then, yield) && names(e.Else, yield)
	}
	return true
}

// IsBindingName reports whether s can name a binding: an ASCII identifier that
// strict module code may declare (language 5.7.2).
func IsBindingName(s string) bool {
	if s == "" || isDigit(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	switch s {
	case "await", "break", "case", "catch", "class", "const", "continue", "debugger",
		"default", "delete", "do", "else", "enum", "export", "extends", "false",
		"finally", "for", "function", "if", "implements", "import", "in", "instanceof",
		"interface", "let", "new", "null", "package", "private", "protected", "public",
		"return", "static", "super", "switch", "this", "throw", "true", "try", "typeof",
		"var", "void", "while", "with", "yield", "eval", "arguments":
		return false
	}
	return true
}
