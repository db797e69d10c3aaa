package host

import "strings"

// Interpreter gives the arguments that run a script of a language: the whole
// script is one argument. Known languages are recognised in any letter case; any
// other is itself the program and takes its script after -c (language 1.11.1).
func Interpreter(language, script string) []string {
	program, flag := language, "-c"
	switch strings.ToLower(language) {
	case "bash", "sh":
		program = "bash"
	case "python", "py":
		program = "python"
	case "node", "javascript", "js":
		program, flag = "node", "-e"
	case "ruby", "rb":
		program, flag = "ruby", "-e"
	case "perl", "pl":
		program, flag = "perl", "-e"
	case "lua":
		program, flag = "lua", "-e"
	case "php":
		program, flag = "php", "-r"
	}
	return []string{program, flag, script}
}
