// Package capability says what a fragment nobody with authority wrote may do.
//
// A host states a [Profile] before any fragment exists: which operations a fragment
// may name, in which form, under which ceiling, within which limits. [Capture] makes
// a value of it, and [Captured.Select] takes the tables one evaluation allows:
//
//	captured, err := capability.Capture(ctx, capability.Profile{
//		Name: "observer",
//		Read: []capability.Entry{
//			capability.FileRead(root),
//			capability.Fetch(client, capability.Request{URL: "https://example.com/releases.json"}),
//		},
//	})
//	defer captured.Revoke()
//	grant, err := captured.Select(capability.ReadClass)
//
// What enters: entries, each an operation with the name a fragment writes, a pinned
// [Identity], the schemas of its props and of its value, and what bounds it; or a
// profile file ([ReadProfile]), which holds names and bounds and is bound to a
// [Machine]. What leaves: a [Grant], which judges a use before it happens
// ([Granted.Check]), performs it ([Granted.Do]), and writes down everything a
// decision rests on ([Grant.Policy]).
//
// The one invariant: a captured profile is a value. Everything a host could change
// later is copied, everything a fragment could be judged by is compiled, and every
// operation is bound, once, before a fragment is looked at; after [Captured.Revoke]
// each of them refuses, also one that somebody kept. What a name means is therefore
// decided by nothing that a document, a component, a repository or a fragment does.
//
// Who keeps what: this package keeps the meaning of names and forms, the schemas,
// the ceilings of paths and requests, and the files that decide what fragments may
// do. Its file operations work inside a directory their caller opened, its requests
// through a client their caller made, its questions through a person their caller
// found. Who may state an entry is the host's question, what a source says is
// admission's, and how much an evaluation may compute is the sandbox's.
//
// The package refuses to know what a fragment looks like. It parses no source,
// opens no file by an absolute name, makes no connection, and looks no component up.
package capability

import (
	"time"

	"github.com/executable-markdown/xmd/internal/value"
)

// Values that cross between a fragment and an operation are JSON: nil, bool,
// float64, string, []any and *Object; Undefined where there is none.
type (
	// Object is a JSON object that keeps the order of its members.
	Object = value.Object
	// Undefined is the absence of a value.
	Undefined = value.Undefined
)

// An Effect says what an operation does to the world.
type Effect string

const (
	Read  Effect = "read"  // observes
	Write Effect = "write" // changes something
	Asks  Effect = "ask"   // interrupts a person
	Pure  Effect = "pure"  // computes
)

// A Form is a set of spellings of an element.
type Form uint8

const (
	SelfClosing Form = 1 << iota // <X />
	Paired                       // <X>…</X>
)

// String is how records and listings write a form: self-closing or paired.
func (f Form) String() string {
	switch f {
	case SelfClosing:
		return "self-closing"
	case Paired:
		return "paired"
	case SelfClosing | Paired:
		return "self-closing or paired"
	}
	return "no form"
}

// A Dialect is how much of the language a fragment may use.
type Dialect string

const (
	Flat   Dialect = "flat"   // elements with literal props
	Closed Dialect = "closed" // computation over the fragment's own bindings
)

// A Class is one table of a profile, as allow selects it.
type Class string

const (
	ReadClass  Class = "read"
	WriteClass Class = "write"
)

// A Profile is what a host states before any fragment exists.
type Profile struct {
	Name     string
	Read     []Entry
	Write    []Entry
	Roots    []Root
	Selected string // the name of a root; empty: the first, or none
	Dialect  Dialect
	Limits   Limits
	Control  Control
	// FetchTimeout is the run's default limit of a request; 0 means none.
	FetchTimeout time.Duration
}

// A Control says which files decide what fragments may do, beyond those that always
// do (fragments 10). No entry writes or deletes them. Paths are relative to the
// selected root.
type Control struct {
	Files []string // the profile, the configuration, the journal and the store in use
	Dirs  []string // directories searched for components, such as components
	// Names are the components the run's catalog has, when the root itself is
	// searched for components; empty otherwise.
	Names []string
}

// A Root names a place whose files entries reach. Retained roots belong to a run
// that keeps them, and a retained decision names them.
type Root struct {
	Name     string
	Retained bool
}

// An Entry is one operation a fragment may name.
type Entry struct {
	Name     string // what the fragment writes
	Identity Identity
	Forms    Form
	Props    string // JSON text of a draft-07 schema of an object, additionalProperties false
	Returns  string // JSON text of the schema of the value it binds; empty: none
	Effect   Effect
	Describe string    // one sentence for whoever is told that it may write the name
	Paths    []string  // path ceiling; nil: the whole selected root
	Requests []Request // request ceiling; Fetch only
	Op       Op

	rule rule // how its props are judged; set by the constructors of this package
}
