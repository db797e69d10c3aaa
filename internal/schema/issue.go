package schema

import (
	"fmt"
	"strings"

	"github.com/executable-markdown/xmd/internal/value"
)

// An Issue is one violation in the vocabulary of the field (ajv's): a JSON Pointer
// to the value, a URI fragment naming the keyword's place in the definition, the
// keyword, its parameters and a sentence. For a missing or an additional property
// the value is the object that should have had it, or not. Params belongs to the
// schema; do not change it.
type Issue struct {
	InstancePath string
	SchemaPath   string
	Keyword      string
	Params       *value.Object
	Message      string
}

// JSON is {instancePath, schemaPath, keyword, params, message} (language 5.6.3).
func (i Issue) JSON() *value.Object {
	return value.Of(
		"instancePath", i.InstancePath,
		"schemaPath", i.SchemaPath,
		"keyword", i.Keyword,
		"params", i.Params,
		"message", i.Message,
	)
}

// Lines formats issues one a line, without a final newline: two spaces, "- ", then
// "POINTER" TEXT, or (root) TEXT when the issue is about the whole value. The
// pointer of a missing or an additional property names that property (language
// 5.6.1). Control characters are escaped, so an issue never takes two lines.
func Lines(issues []Issue) string {
	var b strings.Builder
	for i, issue := range issues {
		if i > 0 {
			b.WriteByte('\n')
		}
		writeLine(&b, issue.pointer(), issue.Message)
	}
	return b.String()
}

func (i Issue) pointer() string {
	for _, param := range [...]string{"missingProperty", "additionalProperty"} {
		if name, ok := i.Params.String(param); ok {
			return i.InstancePath + "/" + escapeToken(name)
		}
	}
	return i.InstancePath
}

// writeLine writes one item of a list of issues or problems.
func writeLine(b *strings.Builder, pointer, text string) {
	b.WriteString("  - ")
	if pointer == "" {
		b.WriteString("(root)")
	} else {
		b.Write(value.AppendString(nil, pointer))
	}
	b.WriteByte(' ')
	for _, c := range text {
		if c < ' ' || c == 0x7f || c == '\u2028' || c == '\u2029' {
			fmt.Fprintf(b, `\u%04x`, c)
		} else {
			b.WriteRune(c)
		}
	}
}

func limitIssue() Issue {
	return Issue{
		Keyword: "limit",
		Params:  value.Of("limit", float64(MaxSteps)),
		Message: fmt.Sprintf("must be validated within %d steps and %d nested schemas; simplify the schema or the value", MaxSteps, MaxNesting),
	}
}

// escapeToken writes a name as one token of a JSON Pointer.
func escapeToken(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// unescapeToken reads one token of a JSON Pointer.
func unescapeToken(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}
