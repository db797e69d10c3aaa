package engine

import (
	"context"
	"slices"
	"sync"

	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// A Form is a spelling of an element.
type Form uint8

const (
	SelfClosing Form = 1 << iota // <X />
	Paired                       // <X>…</X>
	Both        = SelfClosing | Paired
)

// A Component is a native implementation of an element. Its text members are
// static; the schemas in them are compiled when the component is first used.
type Component struct {
	Name     string
	Origin   string   // who supplies it: xmd.core
	Props    string   // JSON text of a props declaration, map or full form; empty: no props
	Required []string // with the map form
	Captures []string // props the component evaluates itself
	Needs    []string // captures it refuses to go without, for validation
	Returns  string   // JSON text of a returns declaration; empty: text component
	Forms    Form
	FormHelp string    // what to write instead of a refused form
	Soft     bool      // its own failures are printed where it stands
	NoAs     string    // why as is refused; empty: it is accepted
	Effect   string    // none, read, write, ask, agent, process
	Body     *Packaged // the Markdown it is shipped with, which Run expands; nil: none
	Doc      Doc
	Run      func(ctx context.Context, c *Call) (any, error)
}

// Doc is what a syntax listing says about a component.
type Doc struct {
	Description string
	As          string // what as="name" binds
	Context     string // what applies while the content expands
	Long        string // Markdown; empty: none
}

// A Contract is a component's compiled declarations.
type Contract struct {
	Props   *schema.Schema
	Returns *schema.Schema // nil: text
}

// A Library is the components a run offers beneath the repository's files:
// protected names nobody overrides, and defaults a file may. It is immutable once
// built and safe for concurrent use.
type Library struct {
	components map[string]*entry
}

type entry struct {
	Component
	protected bool
	contract  func() Contract
}

// ProtectedName reports whether no file and no default may supply a name
// (language 5.2.1).
func ProtectedName(name string) bool {
	return name == "Syntax" || name == "Evaluate" || name == "Plan"
}

// NewLibrary builds a library. Two components of one name, a name that is a
// construct's, or a default with a protected name is a mistake in the program and
// panics.
func NewLibrary(protected, defaults []Component) *Library {
	l := &Library{components: make(map[string]*entry, len(protected)+len(defaults))}
	add := func(c Component, isProtected bool) {
		if l.components[c.Name] != nil || IsConstruct(c.Name) || ProtectedName(c.Name) != isProtected {
			panic("engine: two claims on the name " + c.Name)
		}
		e := &entry{Component: c, protected: isProtected}
		e.contract = sync.OnceValue(func() Contract { return c.compile() })
		l.components[c.Name] = e
	}
	for _, c := range protected {
		add(c, true)
	}
	for _, c := range defaults {
		add(c, false)
	}
	return l
}

// Names lists the components in order.
func (l *Library) Names() []string {
	names := make([]string, 0, len(l.components))
	for name := range l.components {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Lookup returns a component, its contract and whether its name is protected.
func (l *Library) Lookup(name string) (c Component, contract Contract, protected, ok bool) {
	e, ok := l.components[name]
	if !ok {
		return Component{}, Contract{}, false, false
	}
	return e.Component, e.contract(), e.protected, true
}

// compile panics on a declaration that does not compile: it is part of the
// program.
func (c Component) compile() Contract {
	var declared any
	if c.Props != "" {
		declared = mustParse(c.Props)
	}
	var required any
	if len(c.Required) > 0 {
		names := make([]any, len(c.Required))
		for i, n := range c.Required {
			names[i] = n
		}
		required = names
	}
	props, err := schema.Props(declared, required, required != nil)
	if err != nil {
		panic("engine: props of " + c.Name + ": " + err.Error())
	}
	contract := Contract{Props: props}
	if c.Returns != "" {
		if contract.Returns, err = schema.Returns(mustParse(c.Returns)); err != nil {
			panic("engine: returns of " + c.Name + ": " + err.Error())
		}
	}
	return contract
}

func mustParse(text string) any {
	v, err := value.Parse([]byte(text))
	if err != nil {
		panic("engine: " + err.Error() + " in " + text)
	}
	return v
}
