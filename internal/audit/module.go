package audit

import (
	"strconv"
	"strings"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// A Module is what a compiled fragment can reach: its imports are its grant.
type Module struct {
	Digest  string
	Source  string // the digest of the source it was compiled from
	Bytes   int
	Imports []Import
}

// An Import is one thing a module can call.
type Import struct {
	Module, Field   string
	Params, Results int
	Authority       string // what calling it can reach
}

// The authority of the imports that are no capability, by their modules.
func authorityOf(module string) string {
	switch module {
	case "xmd:text":
		return "none: its own output"
	case "xmd:value":
		return "none: its own values"
	case "xmd:scope":
		return "none: its own names"
	case "xmd:answer":
		return "none: answers to its own questions"
	case "xmd:task":
		return "none: its own tasks and loops"
	}
	return ""
}

// moduleOf reports a module. Without a grant, the class of a capability is unknown
// and its authority is its identity.
func moduleOf(m *wasm.Module, grant *capability.Grant) Module {
	out := Module{Digest: m.Digest, Source: m.Source, Bytes: len(m.Bytes)}
	for _, i := range m.Imports {
		made := Import{Module: i.Module, Field: i.Field, Params: i.Params, Results: i.Results, Authority: authorityOf(i.Module)}
		if made.Authority == "" {
			made.Authority = "granted"
			if grant != nil {
				if e := grant.ByIdentity(i.Module); e != nil {
					made.Authority = "granted: " + string(e.Effect)
				}
			}
		}
		out.Imports = append(out.Imports, made)
	}
	return out
}

// signature is the type of an import.
func (i Import) signature() string {
	params := make([]string, i.Params)
	for n := range params {
		params[n] = "i32"
	}
	s := "(" + strings.Join(params, ", ") + ")"
	if i.Results > 0 {
		s += " -> i32"
	}
	return s
}

func (m Module) facts() []fact {
	return []fact{{"module", []string{m.Digest, plural(m.Bytes, "byte")}}}
}

func (m Module) table() table {
	t := table{caption: "Imports", headers: []string{"Module", "Field", "Type", "Authority"}, empty: "It imports nothing."}
	for _, i := range m.Imports {
		t.rows = append(t.rows, []cell{one(i.Module), one(i.Field), one(i.signature()), one(i.Authority)})
	}
	return t
}

func (m Module) json() *value.Object {
	return value.Of(
		"digest", m.Digest,
		"source", m.Source,
		"bytes", float64(m.Bytes),
		"imports", list(m.Imports, func(i Import) any {
			return value.Of("module", i.Module, "field", i.Field, "params", float64(i.Params), "results", float64(i.Results), "authority", i.Authority)
		}),
	)
}

// A Compiled is what a compiled fragment says of itself. Its source, and so how
// often anything happens and what it is computed from, is not in it.
type Compiled struct {
	File     string
	Module   Module
	Elements []CompiledElement
	Texts    []string // every text the module holds, names and JSON included
}

// A CompiledElement is one row of a module's element table.
type CompiledElement struct {
	Name     string
	Form     string
	Identity string
	Parent   int
	Offset   int // in the source, in bytes
}

// IsModule reports whether a file is to be read as a compiled module: it begins like
// one, or its name says so.
func IsModule(file string, data []byte) bool {
	return strings.HasPrefix(string(data[:min(len(data), 4)]), "\x00asm") || strings.HasSuffix(strings.ToLower(file), ".wasm")
}

// InspectModule reads a compiled module. The error is a *wasm.FormatError for bytes
// this program did not write.
func InspectModule(file string, data []byte) (*Compiled, error) {
	m, err := wasm.Read(data)
	if err != nil {
		return nil, err
	}
	c := &Compiled{File: file, Module: moduleOf(m, nil), Texts: m.Strings}
	for _, e := range m.Elements {
		c.Elements = append(c.Elements, CompiledElement{e.Name, formOf(e), e.Identity, e.Parent, e.Offset})
	}
	return c, nil
}

// Found implements Report. A module that can be read has nothing to draw attention
// to: what it may do stands in its imports.
func (c *Compiled) Found() []Finding { return nil }

func (c *Compiled) json() *value.Object {
	o := begin("module")
	o.Set("file", c.File)
	o.Set("module", c.Module.json())
	o.Set("elements", list(c.Elements, func(e CompiledElement) any {
		item := value.Of("name", e.Name, "form", e.Form)
		if e.Identity != "" {
			item.Set("identity", e.Identity)
		}
		item.Set("parent", float64(e.Parent))
		item.Set("offset", float64(e.Offset))
		return item
	}))
	o.Set("texts", strs(c.Texts))
	return findingsJSON(o, nil)
}

func (c *Compiled) page() page {
	p := page{title: "Audit of a compiled fragment"}
	p.facts = append([]fact{{"file", []string{c.File}}}, c.Module.facts()...)
	p.facts = append(p.facts, fact{"source", []string{c.Module.Source}})
	elements := table{caption: "Elements", headers: []string{"Byte", "Element", "Identity"}, empty: "It has no elements: it renders text."}
	for _, e := range c.Elements {
		elements.rows = append(elements.rows, []cell{one(strconv.Itoa(e.Offset)), one(tag(e.Name, e.Form)), one(e.Identity)})
	}
	strings := table{caption: "Texts", headers: []string{"Number", "Text"}, empty: "It holds no text."}
	for i, s := range c.Texts {
		strings.rows = append(strings.rows, []cell{one(strconv.Itoa(i)), one(brief(s))})
	}
	p.tables = []table{c.Module.table(), elements, strings}
	return p
}

func joined(words []string) string { return strings.Join(words, ", ") }
