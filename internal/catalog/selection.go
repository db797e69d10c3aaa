package catalog

import (
	"errors"
	"strings"

	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/value"
)

// The kinds of origin a name can have here.
const (
	structural = "structural" // the construct Name
	repository = "repository" // the file Name
	registered = "registered" // supplied by Name, and a file may override it
	protected  = "protected"  // supplied by Name, and nothing overrides it
)

// An Origin says where the meaning of a name comes from (components 25.1). The
// zero Origin is that of a name nothing answers to.
type Origin struct {
	Kind string
	Name string
}

// JSON is {kind, construct}, {kind, path}, {kind, origin, reserved} or
// {kind, origin}.
func (o Origin) JSON() *value.Object {
	switch o.Kind {
	case structural:
		return value.Of("kind", o.Kind, "construct", o.Name)
	case repository:
		return value.Of("kind", o.Kind, "path", o.Name)
	case registered:
		return value.Of("kind", o.Kind, "origin", o.Name, "reserved", false)
	}
	return value.Of("kind", o.Kind, "origin", o.Name)
}

// A selection is what a component name means: a native component, a Markdown
// file, or err.
type selection struct {
	origin   Origin
	native   *engine.Component
	contract engine.Contract // of a native component
	file     *engine.Candidate
	err      error
	opaque   bool // a file was selected whose contract cannot be read without running it
	failed   bool // the search itself failed, or the file could not be read
}

// A resolver decides what names mean and reads each file once.
type resolver struct {
	in     Inputs
	chosen map[string]*selection
	texts  map[string][]byte // by path
}

func newResolver(in Inputs) resolver {
	return resolver{in: in, chosen: make(map[string]*selection), texts: make(map[string][]byte)}
}

// choose decides what a component name means (language 5.2).
func (r *resolver) choose(name string) *selection {
	s := r.chosen[name]
	if s == nil {
		s = r.search(name)
		r.chosen[name] = s
	}
	return s
}

func (r *resolver) search(name string) *selection {
	search := &witness{resolver: r}
	var sources engine.Sources
	if r.in.Sources != nil {
		sources = search
	}
	choice, err := engine.Choose(r.in.Library, sources, r.in.Include, name)
	var unresolved *engine.UnresolvedError
	switch {
	case errors.As(err, &unresolved):
		return &selection{err: err}
	case err != nil:
		s := &selection{err: err, opaque: strings.HasSuffix(search.settled, ".ts")}
		s.failed = !s.opaque
		if search.settled != "" {
			s.origin = Origin{repository, search.settled}
		}
		return s
	case choice.File != nil:
		return &selection{origin: Origin{repository, choice.File.Path}, file: choice.File}
	}
	kind := registered
	if choice.Protected {
		kind = protected
	}
	return &selection{origin: Origin{kind, choice.Native.Origin}, native: choice.Native, contract: choice.Contract}
}

// A witness is the sources a search sees. It remembers the file the search
// settled on, also when the search then refuses it.
type witness struct {
	*resolver
	settled string
}

func (w *witness) IsFile(path string) (bool, error) {
	is, err := w.in.Sources.IsFile(path)
	if is {
		w.settled = path
	}
	return is, err
}

func (w *witness) ReadSource(path string) ([]byte, error) {
	if text, ok := w.texts[path]; ok {
		return text, nil
	}
	text, err := w.in.Sources.ReadSource(path)
	if err == nil {
		w.texts[path] = text
	}
	return text, err
}
