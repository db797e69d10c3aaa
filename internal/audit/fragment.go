package audit

import (
	"fmt"
	"strconv"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// A Fragment is what a fragment would do at most under a profile. Of a refused one
// it holds the class and nothing else.
type Fragment struct {
	File     string
	Profile  string // its title
	Allow    []string
	Dialect  string
	Refused  admission.Class // empty: admitted
	Digest   string          // of the source
	Module   Module
	Elements []Element
	Uses     []Use
	Findings []Finding
}

// An Element is one element of a fragment, structural ones included.
type Element struct {
	Name     string
	Form     string
	Identity string // empty: a structural element
	Class    string // of its entry; empty: a structural element
	Parent   int    // index of the enclosing element, -1 at the top
	At       document.Position
	Most     Bound
	Touches  Touch
}

// A Touch is what an element would reach.
type Touch struct {
	Known  bool // Asked is exactly what it asks for
	Asked  Asked
	Within Ceiling // what it is computed within
}

// Lines is the touch as a table shows it.
func (t Touch) Lines() []string {
	switch {
	case t.Known:
		return []string{t.Asked.String()}
	case t.Within.Reach == "" || t.Within.Reach == ReachNothing:
		return nil
	}
	if t.Within.Reach == ReachPerson {
		return t.Within.Lines()
	}
	lines := []string{"computed, within"}
	for _, line := range t.Within.Lines() {
		lines = append(lines, "  "+line)
	}
	return lines
}

// A Use is how often all elements of one identity take effect at most.
type Use struct {
	Identity string
	Class    string
	Elements int
	Most     Bound
}

// Found implements Report.
func (f *Fragment) Found() []Finding { return f.Findings }

// InspectFragment decides a fragment as a run would and reports what it could do. It
// returns the compiled module too, nil for a refused fragment. An error is that of
// the selection, which is the caller's mistake, or of the compiler.
func InspectFragment(file, source string, s *Stated, allow []capability.Class) (*Fragment, *wasm.Module, error) {
	grant, err := s.Captured.Select(allow...)
	if err != nil {
		return nil, nil, &SelectionError{err}
	}
	f := &Fragment{File: file, Profile: s.title(), Dialect: string(grant.Dialect())}
	for _, class := range grant.Allow() {
		f.Allow = append(f.Allow, string(class))
	}
	d := admission.Preflight("", source, grant)
	if d.Refusal != nil {
		f.Refused = d.Refusal.Class
		f.Findings = []Finding{finding("fragment-refused", Place{File: file}, "refused: %s: %v", d.Refusal.Class, d.Refusal)}
		return f, nil, nil
	}
	m, err := wasm.Compile(d.Program)
	if err != nil {
		return nil, nil, fmt.Errorf("%s was admitted and cannot be compiled, which is a fault of this binary: %w", file, err)
	}
	f.Digest, f.Module = d.Digest, moduleOf(m, grant)
	f.elements(d, grant)
	f.uses(grant.Limits().Steps)
	return f, m, nil
}

// A SelectionError is classes that a profile cannot be asked for.
type SelectionError struct{ Cause error }

func (e *SelectionError) Error() string { return e.Cause.Error() }
func (e *SelectionError) Unwrap() error { return e.Cause }

func (f *Fragment) elements(d *admission.Decision, grant *capability.Grant) {
	rows := d.Program.Elements
	at := positions(d)
	ceilings := make(map[string]Entry)
	for _, e := range entries(grant.Policy()) {
		ceilings[e.Identity] = e
	}
	for i, k := range survey(d.Program, grant) {
		e := Element{Name: rows[i].Name, Form: formOf(rows[i]), Identity: rows[i].Identity, Parent: rows[i].Parent, At: at[i], Most: k.bound}
		if entry, ok := ceilings[e.Identity]; ok {
			e.Class = entry.Class
			e.Touches = touch(k, entry)
		}
		f.Elements = append(f.Elements, e)
	}
}

// positions are those of the elements of an admitted fragment.
func positions(d *admission.Decision) []document.Position {
	offsets := make([]int, len(d.Program.Elements))
	for i, row := range d.Program.Elements {
		offsets[i] = row.Offset
	}
	return document.Positions("", d.Source, offsets)
}

func touch(k knowledge, e Entry) Touch {
	if input, ok := k.exact(); ok {
		asked, _ := askedOf(shippedAs(e.Identity), input)
		return Touch{Known: true, Asked: asked}
	}
	return Touch{Within: e.Ceiling}
}

func formOf(e wasm.Element) string {
	if e.Form == wasm.Paired {
		return capability.Paired.String()
	}
	return capability.SelfClosing.String()
}

// uses adds up the elements of each identity, in order of first use.
func (f *Fragment) uses(steps int) {
	index := map[string]int{}
	for _, e := range f.Elements {
		if e.Identity == "" {
			continue
		}
		i, known := index[e.Identity]
		if !known {
			i = len(f.Uses)
			index[e.Identity] = i
			f.Uses = append(f.Uses, Use{Identity: e.Identity, Class: e.Class})
		}
		u := &f.Uses[i]
		u.Elements++
		u.Most.Times += e.Most.Times // both at most the steps
		u.Most.ByLimit = u.Most.ByLimit || e.Most.ByLimit || u.Most.Times > steps
		u.Most.Times = min(u.Most.Times, steps)
	}
}

// String is the bound as a table shows it.
func (b Bound) String() string {
	if b.ByLimit {
		return strconv.Itoa(b.Times) + " (the limit on steps)"
	}
	return strconv.Itoa(b.Times)
}

func (b Bound) json() *value.Object {
	return value.Of("times", float64(b.Times), "byLimit", b.ByLimit)
}

func (f *Fragment) json() *value.Object {
	o := begin("fragment")
	o.Set("file", f.File)
	o.Set("profile", f.Profile)
	o.Set("allow", strs(f.Allow))
	o.Set("dialect", f.Dialect)
	if f.Refused != "" {
		o.Set("decision", "refused")
		o.Set("class", string(f.Refused))
		return findingsJSON(o, f.Findings)
	}
	o.Set("decision", "admitted")
	o.Set("digest", f.Digest)
	o.Set("module", f.Module.json())
	o.Set("elements", list(f.Elements, elementJSON))
	o.Set("uses", list(f.Uses, func(u Use) any {
		return value.Of("identity", u.Identity, "class", u.Class, "elements", float64(u.Elements), "atMost", u.Most.json())
	}))
	return findingsJSON(o, f.Findings)
}

func elementJSON(e Element) any {
	o := value.Of("name", e.Name, "form", e.Form)
	if e.Identity != "" {
		o.Set("identity", e.Identity)
		o.Set("class", e.Class)
	}
	o.Set("parent", float64(e.Parent))
	o.Set("at", e.At.JSON())
	o.Set("atMost", e.Most.json())
	if e.Touches.Known || e.Touches.Within.Reach != "" {
		touches := value.Of("known", e.Touches.Known)
		e.Touches.Asked.json(touches)
		if e.Touches.Within.Reach != "" {
			touches.Set("within", ceilingJSON(e.Touches.Within))
		}
		o.Set("touches", touches)
	}
	return o
}

func (f *Fragment) page() page {
	p := page{title: "Audit of a fragment", findings: f.Findings}
	p.facts = []fact{
		{"fragment", []string{f.File}},
		{"profile", []string{f.Profile}},
		{"allow", []string{joined(f.Allow)}},
		{"dialect", []string{f.Dialect}},
	}
	if f.Refused != "" {
		p.facts = append(p.facts, fact{"decision", []string{"refused: " + string(f.Refused)}})
		return p
	}
	p.facts = append(p.facts, fact{"decision", []string{"admitted"}}, fact{"source", []string{f.Digest}})
	p.facts = append(p.facts, f.Module.facts()...)
	uses := table{caption: "What it may do at most", headers: []string{"Identity", "Class", "Elements", "Times"}, empty: "It names no capability: it renders text."}
	for _, u := range f.Uses {
		uses.rows = append(uses.rows, []cell{one(u.Identity), one(u.Class), one(strconv.Itoa(u.Elements)), one(u.Most.String())})
	}
	elements := table{caption: "Elements", headers: []string{"At", "Element", "Identity", "Inside", "Times", "Touches"}}
	for _, e := range f.Elements {
		elements.rows = append(elements.rows, []cell{
			one(e.At.String()), one(tag(e.Name, e.Form)), one(e.Identity), one(f.inside(e.Parent)), one(e.Most.String()), e.Touches.Lines(),
		})
	}
	p.tables = []table{uses, elements, f.Module.table()}
	return p
}

// tag is an element as its form is written.
func tag(name, form string) string {
	if form == capability.SelfClosing.String() {
		return "<" + name + " />"
	}
	return "<" + name + ">"
}

// inside names the element that encloses another.
func (f *Fragment) inside(parent int) string {
	if parent < 0 {
		return ""
	}
	return "<" + f.Elements[parent].Name + "> at " + f.Elements[parent].At.String()
}
