package expr

// reservedName reports whether name cannot be declared in strict module code
// (language 5.7.2).
func reservedName(name string) bool {
	switch name {
	case "await", "break", "case", "catch", "class", "const", "continue", "debugger",
		"default", "delete", "do", "else", "enum", "export", "extends", "false",
		"finally", "for", "function", "if", "implements", "import", "in", "instanceof",
		"interface", "let", "new", "null", "package", "private", "protected", "public",
		"return", "static", "super", "switch", "this", "throw", "true", "try", "typeof",
		"var", "void", "while", "with", "yield", "eval", "arguments":
		return true
	}
	return false
}

// BindingName explains why name is no binding name, or returns "": it is "empty",
// "not an identifier" (letters, digits, _ and $, no digit first) or "a reserved
// word" (language 5.7.2).
func BindingName(name string) string {
	switch {
	case name == "":
		return "empty"
	case !asciiIdentifier(name):
		return "not an identifier"
	case reservedName(name):
		return "a reserved word"
	}
	return ""
}

func asciiIdentifier(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
