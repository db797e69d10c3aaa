package audit

import (
	"bytes"
	"context"
	"os"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
)

// A Stated profile was read and captured without a machine: no directory of it was
// opened, and none of its operations can be performed.
type Stated struct {
	Name     string // of the file; empty: the ordinary profile of a run
	Captured *capability.Captured
	file     *capability.File // nil: the ordinary profile
	places   map[string]Place
	standard *capability.Object // the policy of a profile that states no limit
}

// Ordinary is the profile of a run whose person stated none.
func Ordinary(ctx context.Context, control capability.Control) (*Stated, error) {
	p, err := capability.Standard(blind(control))
	if err != nil {
		return nil, err
	}
	return (&Stated{}).capture(ctx, p)
}

// State reads a profile file. control lists the files that decide what fragments may
// do, for the file that was read. The error is a *capability.FileError or a
// *capability.ProfileError.
func State(ctx context.Context, name string, data []byte, control func(*capability.File) capability.Control) (*Stated, error) {
	f, err := capability.ReadProfile(data)
	if err != nil {
		return nil, err
	}
	p, err := f.Profile(blind(control(f)))
	if err != nil {
		return nil, err
	}
	return (&Stated{Name: name, file: f, places: places(name, data)}).capture(ctx, p)
}

func (s *Stated) capture(ctx context.Context, p capability.Profile) (*Stated, error) {
	var err error
	if s.Captured, err = capability.Capture(ctx, p); err != nil {
		return nil, err
	}
	standard, err := yardstick(ctx)
	if err != nil {
		return nil, err
	}
	s.standard = standard.Policy()
	return s, nil
}

// blind is a machine that binds every operation to nothing.
func blind(control capability.Control) capability.Machine {
	return capability.Machine{
		Root:    func(string, string) (*os.Root, error) { return nil, nil },
		Client:  nobody{},
		Control: control,
		Dialect: capability.Closed,
	}
}

// nobody is a client for requests that are never performed.
type nobody struct{}

func (nobody) Do(context.Context, capability.Normal, int) (capability.Response, error) {
	return capability.Response{}, capability.ErrRevoked
}

// yardstick is a grant with every limit at its default.
func yardstick(ctx context.Context) (*capability.Grant, error) {
	captured, err := capability.Capture(ctx, capability.Profile{Name: "yardstick", Read: []capability.Entry{capability.Glob(nil)}})
	if err != nil {
		return nil, err
	}
	return captured.Select(capability.ReadClass)
}

// grant selects every table the profile has.
func (s *Stated) grant() (*capability.Grant, error) {
	g, err := s.Captured.Select(capability.ReadClass, capability.WriteClass)
	for _, class := range [...]capability.Class{capability.ReadClass, capability.WriteClass} {
		if err != nil {
			g, err = s.Captured.Select(class) // the other table has no entry
		}
	}
	return g, err
}

// place is where in its file the profile states something: a path such as
// read[0].paths[1] or limits.time, or the nearest thing around it.
func (s *Stated) place(keys ...string) Place {
	for _, key := range keys {
		if p, ok := s.places[key]; ok {
			return p
		}
	}
	return Place{File: s.Name}
}

// title is what a report calls the profile.
func (s *Stated) title() string {
	switch {
	case s.file == nil:
		return "the ordinary profile of a run"
	case s.file.Name == "":
		return s.Name
	}
	return s.file.Name + " (" + s.Name + ")"
}

// places maps what a profile file states to where it does. The file was accepted by
// its reader, so it is small, of a closed shape and without aliases.
func places(name string, data []byte) map[string]Place {
	var root yaml.Node
	if yaml.NewDecoder(bytes.NewReader(data)).Decode(&root) != nil || len(root.Content) == 0 {
		return nil
	}
	found := map[string]Place{}
	var visit func(key string, at, n *yaml.Node)
	visit = func(key string, at, n *yaml.Node) {
		found[key] = Place{name, at.Line, at.Column}
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				inner := n.Content[i].Value
				if key != "" {
					inner = key + "." + inner
				}
				visit(inner, n.Content[i], n.Content[i+1])
			}
		case yaml.SequenceNode:
			for i, item := range n.Content {
				visit(key+"["+strconv.Itoa(i)+"]", item, item)
			}
		}
	}
	visit("", root.Content[0], root.Content[0])
	return found
}

// A Profile is what a profile allows.
type Profile struct {
	Title    string
	File     string // empty: the ordinary profile of a run
	Dialect  string
	Assumed  bool // the dialect is not stated; it is that of xmd run
	Roots    []Root
	Entries  []Entry // in the order pure, read, write
	Limits   []Limit
	Findings []Finding
}

// A Root is a directory by its name.
type Root struct {
	Name, Dir string
	Selected  bool
	Where     Place
}

// Found implements Report.
func (p *Profile) Found() []Finding { return p.Findings }

// Profile reports what the profile allows, all of its tables, and where it is wide.
func (s *Stated) Profile() (*Profile, error) {
	g, err := s.grant()
	if err != nil {
		return nil, err
	}
	p := &Profile{Title: s.title(), File: s.Name, Dialect: string(g.Dialect()), Entries: s.entries(g), Limits: limits(g.Policy(), s.standard)}
	p.Assumed = s.file == nil || s.file.Dialect == ""
	p.Roots = s.roots()
	for i := range p.Limits {
		p.Limits[i].Where = s.place("limits."+p.Limits[i].Name, "limits")
	}
	p.Findings = s.warnings(p)
	return p, nil
}

// entries are the granted entries with their places.
func (s *Stated) entries(g *capability.Grant) []Entry {
	all := entries(g.Policy())
	index := map[string]int{}
	for i := range all {
		e := &all[i]
		e.Where = Place{File: s.Name}
		if e.Class == string(capability.Pure) {
			continue
		}
		table := e.table()
		e.Where = s.place(table+"["+strconv.Itoa(index[table])+"]", table)
		index[table]++
	}
	return all
}

// table is the table of a profile that an entry stands in.
func (e Entry) table() string {
	if e.Class == string(capability.Asks) {
		return string(capability.WriteClass)
	}
	return e.Class
}

func (s *Stated) roots() []Root {
	if s.file == nil || len(s.file.Roots) == 0 {
		return []Root{{Dir: ".", Selected: true, Where: Place{File: s.Name}}}
	}
	var all []Root
	for i, r := range s.file.Roots {
		all = append(all, Root{
			Name: r.Name, Dir: r.Dir,
			Selected: r.Name == s.file.Selected || i == 0 && s.file.Selected == "",
			Where:    s.place("roots."+r.Name, "roots"),
		})
	}
	return all
}

func (p *Profile) json() *value.Object {
	o := begin("profile")
	o.Set("title", p.Title)
	if p.File != "" {
		o.Set("file", p.File)
	}
	o.Set("dialect", p.Dialect)
	o.Set("dialectStated", !p.Assumed)
	o.Set("roots", list(p.Roots, func(r Root) any {
		return value.Of("name", r.Name, "directory", r.Dir, "selected", r.Selected)
	}))
	o.Set("entries", list(p.Entries, entryJSON))
	o.Set("limits", list(p.Limits, func(l Limit) any {
		return value.Of("name", l.Name, "value", l.Value, "default", l.Default)
	}))
	return findingsJSON(o, p.Findings)
}

func (p *Profile) page() page {
	dialect := p.Dialect
	if p.Assumed {
		dialect += " (not stated; that of xmd run)"
	}
	pg := page{title: "Audit of a profile", facts: []fact{{"profile", []string{p.Title}}, {"dialect", []string{dialect}}}, findings: p.Findings}
	var roots []string
	for _, r := range p.Roots {
		text := r.Dir
		if r.Name != "" {
			text = r.Name + " = " + r.Dir
		}
		if r.Selected {
			text += " (selected)"
		}
		roots = append(roots, text)
	}
	pg.facts = append(pg.facts, fact{"roots", roots})
	pg.tables = []table{entryTable("What a fragment may name", p.Entries), limitTable(p.Limits)}
	return pg
}

// entryTable lays entries out.
func entryTable(caption string, all []Entry) table {
	t := table{caption: caption, headers: []string{"Class", "Name", "Form", "Identity", "Reaches"}}
	for _, e := range all {
		t.rows = append(t.rows, []cell{one(e.Class), one("<" + e.Name + ">"), one(e.Form), one(e.Identity), e.Ceiling.Lines()})
	}
	return t
}

func limitTable(all []Limit) table {
	t := table{caption: "Limits of one evaluation", headers: []string{"Limit", "Value", "Default"}}
	for _, l := range all {
		t.rows = append(t.rows, []cell{one(l.Name), one(l.String()), one(l.written(l.Default))})
	}
	return t
}
