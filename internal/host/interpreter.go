package host

import "strings"

// Interpreter gives the arguments that run a script of a language: the whole
// script is one argument. Known languages are recognised in any letter case, any
// other is itself the program (language 1.11.1).
func Interpreter(language, script string) []string {
	program, flag := language, "-c"
	switch strings.ToLower(language) {
	case "bash", "sh":
		program = "bash"
	case "python", "py":
		program = "python"
	case "node", "javascript", "js":
		program, flag = "node", "-e"
	}
	return []string{program, flag, script}
}
