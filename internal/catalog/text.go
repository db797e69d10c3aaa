package catalog

import (
	"fmt"
	"strings"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/value"
)

// A category is a group of entries as a listing shows them.
type category struct {
	name, heading, empty string
	entries              []*entry
}

func (c *Catalog) categories() []category {
	return []category{
		{"structural", "Structural elements", "There are no structural elements here.", c.structural},
		{"built-in", "Built-in components", "There are no built-in components here.", c.builtIn},
		{"user-provided", "User-provided components", "No component files were found.", c.userProvided},
	}
}

const (
	noLongText  = "There is no long-form documentation for this component."
	captureNote = "A capture is evaluated by the component itself, so the schema does not list it."
	unreadNote  = "Its contract was not read, so its forms, props and result are unknown here: "
)

// Text is the catalog for a reader, usually a model: Markdown that depends on the
// catalog alone and ends with one line feed (components 25.3).
func (c *Catalog) Text() string {
	var b strings.Builder
	for i, g := range c.categories() {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "## %s\n", g.heading)
		if len(g.entries) == 0 {
			fmt.Fprintf(&b, "\n%s\n", g.empty)
		}
		for _, e := range g.entries {
			b.WriteByte('\n')
			e.write(&b)
		}
	}
	return b.String()
}

// Describe is the named form of a syntax request: each component asked for, once
// and in the order of the catalog, with its long-form documentation
// (components 19). The error says which name is no component.
func (c *Catalog) Describe(names []string) (string, error) {
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	var b strings.Builder
	for _, list := range [...][]*entry{c.builtIn, c.userProvided} {
		for _, e := range list {
			if !wanted[e.name] {
				continue
			}
			delete(wanted, e.name)
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			e.write(&b)
			b.WriteString("\nAvailable in the current evaluation: yes\n\n")
			if long := strings.TrimSpace(e.doc.Long); long != "" {
				b.WriteString(long + "\n")
			} else {
				b.WriteString(noLongText + "\n")
			}
		}
	}
	for _, name := range names {
		if !wanted[name] {
			continue
		}
		if engine.IsConstruct(name) {
			return "", fmt.Errorf("<%s> is a structural element and has no documentation of its own; <Syntax /> without names shows how it is written", name)
		}
		return "", fmt.Errorf("no component is named %q; <Syntax /> without names lists them all", name)
	}
	return b.String(), nil
}

// write renders one entry, ending with a line feed.
func (e *entry) write(b *strings.Builder) {
	fmt.Fprintf(b, "### `<%s>`\n", e.name)
	paragraph(b, e.doc.Description)
	switch {
	case e.origin.Kind == structural:
		paragraph(b, fenced("md", strings.Join(e.syntax, "\n\n")))
	case e.unread != "":
		paragraph(b, unreadNote+e.unread)
	default:
		paragraph(b, "Forms: "+e.written())
		e.writeProps(b)
	}
	if e.doc.As != "" {
		paragraph(b, "With `as`: "+e.doc.As)
	}
	if e.doc.Context != "" {
		paragraph(b, "Content: "+e.doc.Context)
	}
	if e.origin.Kind == structural {
		return
	}
	if e.unread == "" {
		mode, schema := e.returns()
		paragraph(b, "#### Returns "+mode)
		paragraph(b, fencedJSON(schema))
	}
	paragraph(b, "Origin: "+e.origin.text())
}

func (o Origin) text() string {
	switch o.Kind {
	case repository:
		return "the file " + code(o.Name)
	case protected:
		return code(o.Name) + ", protected: no file can take the name"
	}
	return code(o.Name)
}

// written shows the forms a component accepts.
func (e *entry) written() string {
	var forms []string
	if e.forms&engine.SelfClosing != 0 {
		forms = append(forms, "`<"+e.name+" />`")
	}
	if e.forms&engine.Paired != 0 {
		forms = append(forms, "`<"+e.name+">…</"+e.name+">`")
	}
	return strings.Join(forms, ", ")
}

func (e *entry) writeProps(b *strings.Builder) {
	paragraph(b, "#### Props")
	props, required := properties(e.contract.Props), required(e.contract.Props)
	if props.Len() > 0 {
		b.WriteString("\n| Prop | Type | Required | Description |\n| --- | --- | --- | --- |\n")
	}
	for name, schema := range props.All() {
		s, _ := schema.(*value.Object)
		description, _ := s.String("description")
		needed := "no"
		if required[name] {
			needed = "yes"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", cell(code(name)), cell(typeOf(s)), needed, cell(description))
	}
	paragraph(b, fencedJSON(e.contract.Props.Definition()))
	if len(e.captures) > 0 {
		names := make([]string, len(e.captures))
		for i, name := range e.captures {
			names[i] = code(name)
		}
		paragraph(b, "Captures: "+strings.Join(names, ", ")+". "+captureNote)
	}
}

// typeOf is a prop's type as a table shows it.
func typeOf(s *value.Object) string {
	switch t, _ := s.Get("type"); t := t.(type) {
	case string:
		return t
	case []any:
		return value.Join(t, " | ")
	}
	return "JSON Schema"
}

// paragraph writes a block after an empty line; empty text writes nothing.
func paragraph(b *strings.Builder, text string) {
	if text = strings.TrimSpace(text); text != "" {
		b.WriteString("\n" + text + "\n")
	}
}

// cell makes text fit one cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// code is a code span that text cannot leave.
func code(text string) string {
	ticks := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

func fencedJSON(v any) string {
	text, err := value.AppendIndent(nil, v)
	if err != nil { // deeper than JSON may be written; a schema never is
		return "The schema cannot be shown: " + err.Error()
	}
	return fenced("json", string(text))
}

// fenced shows text in a fence it cannot close.
func fenced(language, text string) string {
	ticks := strings.Repeat("`", max(3, longestRun(text)+1))
	return ticks + language + "\n" + text + "\n" + ticks
}

// longestRun is the length of the longest run of backticks.
func longestRun(text string) int {
	longest, run := 0, 0
	for _, c := range []byte(text) {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
