package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// A selection is what a name resolved to: a Markdown definition or a library
// component.
type selection struct {
	def    *definition
	native *entry
}

// A Candidate is the file a name selects, found by the search of language 5.3.
type Candidate struct {
	Path string // as searched: DIR/NAME.md
	Text []byte
}

// Sources is the part of a host the search needs.
type Sources interface {
	IsFile(path string) (bool, error)
	ReadSource(path string) ([]byte, error)
}

// find searches the include directories for a component's file; ok is false when
// no candidate exists. A candidate that cannot be used is an error and never
// falls through.
func find(s Sources, include []string, name string) (c Candidate, ok bool, err error) {
	rel := strings.ReplaceAll(name, ".", "/")
	for _, dir := range include {
		for _, file := range []string{rel + ".md", rel + ".ts", rel + "/index.md", rel + "/index.ts"} {
			p := path.Join(dir, file)
			is, err := s.IsFile(p)
			if err != nil {
				return c, false, fmt.Errorf("%s: %w", p, err)
			}
			if !is {
				continue
			}
			if strings.HasSuffix(p, ".ts") {
				return c, false, fmt.Errorf("%s is a TypeScript component, which this program cannot run; write %s instead", p, strings.TrimSuffix(p, ".ts")+".md")
			}
			text, err := s.ReadSource(p)
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed since it was found
			}
			if err != nil {
				return c, false, fmt.Errorf("%s: %w", p, err)
			}
			return Candidate{p, text}, true, nil
		}
	}
	return c, false, nil
}

// resolve finds what an element's name means and records the choice (language
// 5.2). A failure is one error naming the component.
func (r *run) resolve(ctx context.Context, sc *scope, el *document.Element) (selection, error) {
	d := journal.Description{
		Type: "import_component", Name: el.Name, Position: el.Pos,
		Guard: sc.guard("import_component", el.Name, nil),
	}
	if r.Retain {
		d.Expansion, d.Opens = sc.opened.String(), sc.id.String()
	}
	if name, isString, _ := static(el, "as"); isString {
		d.Binding = name
	}
	v, err := sc.strand.co.Perform(ctx, d, func(context.Context) (any, error) { return r.look(sc.surface, el.Name) })
	if err != nil {
		if fatal(ctx, err) {
			return selection{}, err
		}
		return selection{}, r.importError(el, err)
	}
	s, err := r.restore(sc.surface, el.Name, v)
	if err != nil {
		if journal.IsDurability(err) {
			return selection{}, err
		}
		return selection{}, r.importError(el, err)
	}
	return s, nil
}

func (r *run) importError(el *document.Element, err error) *Error {
	e := problem(el, "<%s> could not be imported: %v", el.Name, err)
	e.Code, e.Cause = "component-unresolved", err
	return e
}

// look makes the selection of a name, as its record keeps it.
func (r *run) look(in *surface, name string) (any, error) {
	var sources Sources
	if r.Host.Sources != nil {
		sources = r.Host.Sources
	}
	c, err := Choose(in.library, sources, in.include, name)
	switch {
	case err != nil:
		return nil, err
	case c.File != nil:
		return value.Of("kind", "repository", "path", c.File.Path, "content", string(c.File.Text)), nil
	}
	e := in.library.components[name]
	if e.Body != nil {
		return e.Body.selection(e.Origin), nil
	}
	return value.Of("kind", "registered", "origin", e.Origin, "reserved", e.protected), nil
}

// A Choice is what a component name means: a file, or a library component.
type Choice struct {
	File      *Candidate
	Native    *Component
	Contract  Contract // of Native
	Protected bool     // no file may take Native's name
}

// Choose decides what a component name means (language 5.2.1): a protected name,
// a file of the include directories, a default, in this order. sources may be nil.
// The error is *UnresolvedError when nothing answers to the name, and otherwise
// the file's own.
func Choose(lib *Library, sources Sources, include []string, name string) (Choice, error) {
	var choice Choice
	e := lib.components[name]
	if e != nil {
		choice = Choice{Native: &e.Component, Contract: e.contract(), Protected: e.protected}
	}
	switch {
	case choice.Protected:
		return choice, nil
	case ProtectedName(name): // reserved also where it is not implemented
		return Choice{}, fmt.Errorf("the name %s is protected, and this program has no implementation of it", name)
	}
	if sources != nil && document.DeclarableName(name) {
		c, ok, err := find(sources, include, name)
		if err != nil {
			return Choice{}, err
		}
		if ok {
			return Choice{File: &c}, nil
		}
	}
	if e == nil {
		known := append(append(lib.Names(), Constructs()...), files(sources, include)...)
		return Choice{}, &UnresolvedError{name, include, Nearest(name, known)}
	}
	return choice, nil
}

// files lists the components directly in the include directories, for a hint.
// Sources that cannot list directories have none.
func files(sources Sources, include []string) []string {
	lister, ok := sources.(interface {
		List(path string) ([]fs.DirEntry, error)
	})
	if !ok {
		return nil
	}
	var names []string
	for _, dir := range include {
		entries, err := lister.List(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if stem, isFile := strings.CutSuffix(e.Name(), ".md"); isFile && document.DeclarableName(stem) {
				names = append(names, stem)
			}
		}
	}
	return names
}

// An UnresolvedError is a name nothing answers to.
type UnresolvedError struct {
	Name    string
	Include []string // directories searched, in order
	Nearest string   // a known name that is close; empty: none is
}

func (e *UnresolvedError) Error() string {
	hint := ""
	if e.Nearest != "" {
		hint = fmt.Sprintf("; did you mean <%s>?", e.Nearest)
	}
	if !document.DeclarableName(e.Name) {
		return fmt.Sprintf("%s is no component name: it is words that start with a capital letter, joined by dots", e.Name)
	}
	return fmt.Sprintf("no component is named %s: no %s.md in %s, and the library has none%s",
		e.Name, strings.ReplaceAll(e.Name, ".", "/"), strings.Join(e.Include, ", "), hint)
}

// restore makes what a selection says usable. The record is judged like any
// outside data.
func (r *run) restore(in *surface, name string, v any) (selection, error) {
	o, _ := v.(*value.Object)
	kind, _ := o.String("kind")
	switch kind {
	case "registered":
		e := in.library.components[name]
		if origin, _ := o.String("origin"); e == nil || e.Origin != origin || e.Body != nil {
			return selection{}, fmt.Errorf("it was supplied by %q, which this program does not have", origin)
		}
		return selection{native: e}, nil
	case "declared":
		e := in.library.components[name]
		if e == nil || !e.Body.owns(o, e.Origin) {
			return selection{}, errors.New("it was shipped with another version of this program; continue with that one, or start the document anew")
		}
		return selection{native: e}, nil
	case "repository":
		if in.sealed || ProtectedName(name) {
			return selection{}, fmt.Errorf("no file may supply %s, and the history says that one did", name)
		}
		file, ok1 := o.String("path")
		text, ok2 := o.String("content")
		if ok1 && ok2 {
			def, err := r.defs.load(name, file, text)
			return selection{def: def}, err
		}
	}
	return selection{}, malformed("import_component", name, "its value is no component selection")
}

// load parses a component, or returns what the same text gave before.
func (d *definitions) load(name, file, text string) (*definition, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if def := d.byPath[file]; def != nil && def.name == name && def.text == text {
		return def, nil
	}
	doc, err := document.Parse(file, []byte(text))
	if err != nil {
		return nil, err
	}
	def, err := define(name, doc)
	if err != nil {
		return nil, err
	}
	def.text = text
	if d.byPath == nil {
		d.byPath = make(map[string]*definition)
	}
	d.byPath[file] = def
	return def, nil
}

// Nearest returns the known name closest to a misspelt one, when one is close.
func Nearest(name string, known []string) string {
	best, distance := "", 3
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(k), distance); d < distance {
			best, distance = k, d
		}
	}
	if distance*2 >= len(name) {
		return ""
	}
	return best
}

// editDistance counts the edits between two words: a character added, dropped or
// changed, or two neighbours exchanged. limit or more is reported as limit.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return min(row[len(b)], limit)
}
