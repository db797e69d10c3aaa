package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/internal/catalog"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/property"
	"github.com/executable-markdown/xmd/internal/value"
)

// Supplied is everything a person said about the properties of a document before there
// was one: a snapshot, the same for every draft and for the final gate (prompt 9.2).
type Supplied struct {
	Words     []Word            // individual options, in the order written
	Aggregate *string           // --props; nil: not given
	Env       map[string]string // the environment; only XMD_PROPS and XMD_PROPS_* are read
}

// An Assessor judges drafts without running them. One with property sources is made for
// one invocation, whose frozen signatures it holds, and judges one draft at a time. A
// structural one keeps nothing and may be used by several goroutines.
type Assessor struct {
	in       catalog.Inputs
	name     string    // source identity of a draft
	supplied *Supplied // nil: nobody was asked for properties
	frozen   signatures
}

// The source identities of a draft: of xmd prompt, and of <Plan>.
const (
	promptDraft = "<prompt>"
	planDraft   = "<plan>"
)

// NewAssessor judges drafts as the final run would take them: resolved by in, with the
// properties that s gives them.
func NewAssessor(in catalog.Inputs, s Supplied) *Assessor {
	s.Words, s.Env = slices.Clone(s.Words), maps.Clone(s.Env)
	return &Assessor{in: in, name: promptDraft, supplied: &s, frozen: make(signatures)}
}

// NewStructuralAssessor judges drafts nobody gives properties to: that a root requires
// some is then no fault, and neither is how an option would be called (prompt 18).
func NewStructuralAssessor(in catalog.Inputs) *Assessor {
	return &Assessor{in: in, name: planDraft}
}

// Assess judges a draft (prompt 8.2). What its author has to mend is in the assessment;
// the error is a *CallerError, which no draft can mend (prompt 8.4). A draft assessed
// valid can be loaded and run. Nothing of it is executed, and nothing is read but the
// components it names; time and memory grow with the draft and with those.
func (a *Assessor) Assess(source string) (Assessment, error) {
	text := []byte(source)
	root, fault := a.declared(source, text)
	if fault != nil {
		return Assessment{Diagnostics: fault}, nil
	}
	if a.supplied == nil {
		return a.judged(catalog.Source{Text: text}), nil
	}
	declared, err := property.Derive(root.Props())
	if err != nil {
		report := a.validate(catalog.Source{Text: text})
		return Assessment{Diagnostics: value.Of("validation", report.JSON(), "binding", unbindable(err))}, nil
	}
	// Before a word is consumed: what an earlier draft made of the words holds.
	if err := a.frozen.compare(declared, a.supplied.Words); err != nil {
		return Assessment{}, err
	}
	props, err := a.resolve(declared)
	if err != nil {
		return Assessment{}, err
	}
	a.frozen.freeze(declared, a.supplied.Words)
	return a.judged(catalog.Source{Text: text, Props: props, CheckProps: true}), nil
}

// declared loads the root as a run would, or says why its author has to mend it. A text
// without anything in it is a document to a run, and no answer to a request.
func (a *Assessor) declared(source string, text []byte) (*engine.Root, *value.Object) {
	if strings.TrimSpace(strings.TrimPrefix(source, "\ufeff")) == "" {
		return nil, unreadable("the document is empty; write the whole document")
	}
	if at := strings.IndexByte(source, 0); at >= 0 {
		return nil, unreadable(fmt.Sprintf("the source holds a NUL character at byte %d; write text without it", at))
	}
	parsed, err := document.Parse(a.name, text)
	if err == nil {
		var root *engine.Root
		if root, err = engine.Load(parsed, nil); err == nil {
			return root, nil
		}
	}
	return nil, unusable(a.validate(catalog.Source{Text: text}), err)
}

// unreadable are the diagnostics of a source that is no text of a document.
func unreadable(message string) *value.Object {
	report := catalog.Report{Diagnostics: []catalog.Diagnostic{{Code: "source-invalid", Message: message}}}
	return value.Of("validation", report.JSON())
}

// unusable are the diagnostics of a root that cannot be loaded. What cannot be loaded is
// never valid, whatever the validation makes of it.
func unusable(report catalog.Report, err error) *value.Object {
	diagnostics := value.Of("validation", report.JSON())
	if report.Valid() {
		diagnostics.Set("binding", unbindable(err))
	}
	return diagnostics
}

// unbindable says why no options can be derived from a root (prompt 8.3).
func unbindable(err error) *value.Object {
	var both *property.Collision
	if !errors.As(err, &both) {
		return value.Of("code", "root-props-unusable", "message", err.Error())
	}
	return value.Of("code", "generated-binding-collision", "kind", both.Kind, "name", both.Name,
		"properties", []any{both.Properties[0], both.Properties[1]}, "message", err.Error())
}

// resolve reads the sources for exactly these properties (prompt 8.2, steps 4 and 5).
func (a *Assessor) resolve(declared *property.Set) (*value.Object, error) {
	words, err := bind(declared, a.supplied.Words)
	if err != nil {
		return nil, err
	}
	from := property.Sources{Words: words, Aggregate: a.supplied.Aggregate, Env: a.supplied.Env}
	// No draft can make an object of what is none, even one that would not look at it.
	if err := from.Malformed(); err != nil {
		return nil, &CallerError{err.Error()}
	}
	props, err := declared.Collect(from)
	if err != nil {
		return nil, &CallerError{err.Error()}
	}
	return props, nil
}

// judged validates the whole document with the vocabulary of the final run, which is
// consulted and installed nowhere.
func (a *Assessor) judged(source catalog.Source) Assessment {
	report := a.validate(source)
	if !report.Valid() {
		return Assessment{Diagnostics: value.Of("validation", report.JSON())}
	}
	return Assessment{Props: source.Props}
}

func (a *Assessor) validate(source catalog.Source) catalog.Report {
	source.Name = a.name
	return catalog.Validate(a.in, source)
}
