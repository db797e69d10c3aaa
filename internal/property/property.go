// Package property tells how a person gives a document its properties: which options
// and variables there are, and what a line of them comes to.
//
// What enters is the schema of a root document, and then the words and variables of
// one invocation, told apart by whoever reads command lines. What leaves is first a
// [Set], the options the document lets a command have, and then one object, in which
// every property stands as its highest source gave it. Defaults are not filled in and
// the object as a whole is not judged: both are done where a document runs.
//
// The invariant: the same schema gives the same options, and the same words the same
// object. Nothing of one document outlives it, and nothing is read but what is handed
// in: neither the process's arguments nor its environment is known here.
//
// The room refuses to know how a command line is scanned, who asked for help, and
// whether a wrong word ends a run or a planning. It says what is wrong in a sentence,
// as a [Fault].
package property

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/internal/schema"
)

// An Option is one declared property that has an option and a variable of its own
// (language 9.1).
type Option struct {
	schema.Property
	Option   string // --props-first-name
	Variable string // XMD_PROPS_FIRST_NAME
	Form     string // of its value, for help (language 9.7.2)
	List     bool   // every occurrence adds an element; else the last one counts
	owner    *schema.Schema
}

// Switch reports whether the option takes no word of its own: it stands alone for
// true, and a value is written behind = (language 9.1.3).
func (o *Option) Switch() bool { return o.IsBoolean() }

// A Set is every property a document declares. It is immutable and safe for
// concurrent use.
type Set struct {
	schema     *schema.Schema
	properties []schema.Property
	options    []*Option
	byName     map[string]*Option
	byOption   map[string]*Option
}

// A Collision is two declared properties that would share an option or a variable.
type Collision struct {
	Kind       string    // option or environment
	Name       string    // what is generated twice
	Properties [2]string // in the order they are declared
}

func (e *Collision) Error() string {
	what := e.Name
	if e.Kind == Environment {
		what = "the variable " + e.Name
	}
	return fmt.Sprintf("the properties %q and %q would both be %s; rename one of them", e.Properties[0], e.Properties[1], what)
}

// The kinds of a Collision.
const (
	Individual  = "option"
	Environment = "environment"
)

// Derive reads the options a root declares (language 9.1). The error is a *Collision.
func Derive(root *schema.Schema) (*Set, error) {
	s := &Set{
		schema: root, properties: root.Properties(),
		byName: make(map[string]*Option), byOption: make(map[string]*Option),
	}
	variables := make(map[string]*Option)
	for _, p := range s.properties {
		shape, form := p.Shape()
		if shape == schema.Structured || !spellable(p.Name) {
			continue // only JSON can give it
		}
		name := kebab(p.Name)
		o := &Option{
			Property: p, owner: root, Form: form, List: shape == schema.ScalarArray,
			Option:   "--props-" + name,
			Variable: "XMD_PROPS_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")),
		}
		if other := s.byOption[o.Option]; other != nil {
			return nil, &Collision{Individual, o.Option, [2]string{other.Name, o.Name}}
		}
		if other := variables[o.Variable]; other != nil {
			return nil, &Collision{Environment, o.Variable, [2]string{other.Name, o.Name}}
		}
		s.byName[o.Name], s.byOption[o.Option], variables[o.Variable] = o, o, o
		s.options = append(s.options, o)
	}
	return s, nil
}

// Len is how many properties are declared, with an option of their own or not.
func (s *Set) Len() int { return len(s.properties) }

// Options lists the options in the order their properties are declared.
func (s *Set) Options() []*Option { return s.options }

// Find is the option spelled that way, dashes included; nil: there is none.
func (s *Set) Find(option string) *Option { return s.byOption[option] }

// Unspoken lists the properties that only JSON can give.
func (s *Set) Unspoken() []string {
	var names []string
	for _, p := range s.properties {
		if s.byName[p.Name] == nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// Undeclared refuses an option that is not in the set, and says which are.
func (s *Set) Undeclared(option string) *Fault {
	var names []string
	for _, o := range s.options {
		names = append(names, o.Option)
	}
	for _, name := range s.Unspoken() {
		if !spellable(name) {
			name = strconv.Quote(name)
		}
		names = append(names, name+" (in --props JSON)")
	}
	hint := "it declares none"
	if len(names) > 0 {
		hint = "it declares " + strings.Join(names, ", ")
	}
	return &Fault{option + " is no property this document declares; " + hint}
}

// kebab makes an option's name of a property's (language 9.1.2).
func kebab(name string) string {
	var b strings.Builder
	var last rune
	for _, c := range name {
		if unicode.IsUpper(c) && (unicode.IsLower(last) || unicode.IsDigit(last)) {
			b.WriteByte('-')
		}
		if c == '_' || unicode.IsSpace(c) {
			if last != '-' {
				b.WriteByte('-')
			}
			last = '-'
			continue
		}
		b.WriteRune(unicode.ToLower(c))
		last = c
	}
	return b.String()
}

// spellable reports whether a person can see and write every character of a name: no
// option is made of what a terminal would obey or hide, nor of the sign that ends the
// name of an option.
func spellable(name string) bool { return strings.IndexFunc(name, unspeakable) < 0 }

func unspeakable(r rune) bool {
	switch r {
	case '=', utf8.RuneError, blankBraille:
		return true
	}
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// blankBraille is a symbol by its class and looks like a space.
const blankBraille = '\u2800'
