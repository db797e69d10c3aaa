package expr

import (
	"regexp/syntax"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// Regular expressions run on RE2, in time linear in the text. What RE2 cannot run
// would fall back to a backtracking engine that nothing can interrupt, so it is
// refused: when the source is read for a literal, when it is made for a pattern
// that comes as text (language 4.1.3).

// patternFault explains why a pattern is refused, or returns "".
func patternFault(pattern, flags string) string {
	for i, f := range flags {
		if !strings.ContainsRune("gimsuy", f) || strings.ContainsRune(flags[:i], f) {
			return "invalid flags of a regular expression: " + flags
		}
	}
	if classEscape(pattern) {
		return `\p is not available in regular expressions; list the characters`
	}
	re2, err := parser.TransformRegExp(pattern, strings.Contains(flags, "s"), strings.Contains(flags, "u"))
	if err == nil {
		_, err = syntax.Parse(re2, syntax.Perl)
	}
	if err != nil {
		return "this regular expression is not available (it must be one that RE2 can run): " +
			strings.TrimPrefix(strings.TrimPrefix(err.Error(), "re2: "), "error parsing regexp: ")
	}
	return ""
}

// classEscape reports whether the pattern names a Unicode class by \p or \P, which
// the interpreter would silently match against nothing.
func classEscape(pattern string) bool {
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] == '\\' {
			if i++; pattern[i] == 'p' || pattern[i] == 'P' {
				return true
			}
		}
	}
	return false
}

// guardPatterns checks every pattern that comes as text.
func (js *interpreter) guardPatterns() {
	check := func(pattern, flags string) {
		if fault := patternFault(pattern, flags); fault != "" {
			js.throw("SyntaxError", fault)
		}
	}
	js.wrap("RegExp", func(args []goja.Value) {
		var pattern, flags string
		if len(args) > 0 && !goja.IsUndefined(args[0]) {
			pattern = args[0].String()
			if o, ok := args[0].(*goja.Object); ok && o.ClassName() == "RegExp" {
				pattern = o.Get("source").String()
			} else {
				args[0] = js.vm.ToValue(pattern)
			}
		}
		if len(args) > 1 && !goja.IsUndefined(args[1]) {
			flags = args[1].String()
			args[1] = js.vm.ToValue(flags)
		}
		check(pattern, flags)
	})
	proto := prototype(js.get("String"))
	for _, name := range []string{"match", "matchAll", "search"} {
		js.replace(proto, name, func(c *goja.FunctionCall) {
			v := c.Argument(0)
			if o, ok := v.(*goja.Object); ok && o.ClassName() == "RegExp" || goja.IsUndefined(v) {
				return
			}
			pattern := v.String()
			check(pattern, "")
			c.Arguments = append([]goja.Value{js.vm.ToValue(pattern)}, c.Arguments[1:]...)
		})
	}
}
