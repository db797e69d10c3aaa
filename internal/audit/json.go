package audit

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/executable-markdown/xmd/internal/elicit"
	"github.com/executable-markdown/xmd/internal/value"
)

// JSON is a report for a program: {version, kind, ..., findings}, and a line end.
// Characters that would drive a terminal or hide are spelled as JSON escapes, which
// mean the same.
func JSON(r Report) (string, error) { return written(r.json()) }

// written is the JSON text of a value, safe to look at.
func written(v any) (string, error) {
	text, err := value.AppendIndent(nil, v)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.Grow(len(text) + 1)
	for _, r := range string(text) {
		if s := string(r); r < 0x80 && r != 0x7f || elicit.Visible(s) == s {
			b.WriteString(s)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	b.WriteByte('\n')
	return b.String(), nil
}

// begin is what the JSON of every report starts with.
func begin(kind string) *value.Object {
	return value.Of("version", float64(Version), "kind", kind)
}

func findingsJSON(o *value.Object, found []Finding) *value.Object {
	o.Set("findings", list(found, func(f Finding) any {
		item := value.Of("level", string(f.Level), "code", f.Code, "message", f.Message)
		if f.Where.File != "" {
			item.Set("where", placeJSON(f.Where))
		}
		return item
	}))
	return o
}

func placeJSON(p Place) *value.Object {
	o := value.Of("file", p.File)
	if p.Line > 0 {
		o.Set("line", float64(p.Line))
	}
	if p.Column > 0 {
		o.Set("column", float64(p.Column))
	}
	return o
}

func entryJSON(e Entry) any {
	return value.Of("name", e.Name, "form", e.Form, "identity", e.Identity, "class", e.Class, "ceiling", ceilingJSON(e.Ceiling))
}

func ceilingJSON(c Ceiling) *value.Object {
	o := value.Of("reach", string(c.Reach))
	switch c.Reach {
	case ReachPaths:
		o.Set("paths", strs(c.Paths))
	case ReachRequests:
		o.Set("requests", list(c.Requests, func(r Request) any { return requestJSON(r) }))
	}
	return o
}

func requestJSON(r Request) *value.Object {
	headers := value.NewObject(len(r.Headers))
	for _, h := range r.Headers {
		headers.Set(h.Name, h.String())
	}
	o := value.Of("method", r.Method, "url", r.URL, "headers", headers)
	if r.Timeout > 0 {
		o.Set("timeout", float64(r.Timeout.Milliseconds()))
	}
	return o
}

// list is a JSON array of items.
func list[T any](items []T, of func(T) any) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = of(item)
	}
	return out
}

func strs(texts []string) []any { return list(texts, func(s string) any { return s }) }
