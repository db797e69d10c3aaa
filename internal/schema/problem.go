package schema

import (
	"fmt"
	"strings"
)

// maxProblemText bounds the text of the problems of one definition, in bytes;
// problems beyond it are counted and not listed.
const maxProblemText = 256 << 10

// An Error is an unusable definition. There is always at least one problem.
type Error struct {
	Problems []Problem
	subject  string // what cannot be used, as the headline names it
}

// A Problem is one reason why a definition cannot be used.
type Problem struct {
	Path    string // JSON Pointer to the subschema in the definition
	Message string // names the keyword
}

// Error is a headline that names the declaration, then one line per problem.
func (e *Error) Error() string {
	var b strings.Builder
	if b.WriteString(e.subject); e.subject == "" {
		b.WriteString("the schema")
	}
	b.WriteString(" cannot be used:")
	for _, p := range e.Problems {
		b.WriteByte('\n')
		writeLine(&b, p.Path, p.Message)
	}
	return b.String()
}

// problem notes what is wrong with n.
func (c *compiler) problem(n *node, format string, args ...any) {
	if c.textSize > maxProblemText {
		c.omitted++
		return
	}
	p := Problem{Path: n.pointer(), Message: fmt.Sprintf(format, args...)}
	c.textSize += len(p.Path) + len(p.Message)
	c.problems = append(c.problems, p)
}
