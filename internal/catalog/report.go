package catalog

import (
	"cmp"
	"slices"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// ReportVersion is the version of a report's JSON form.
const ReportVersion = 1

// Codes lists the codes a diagnostic can have, in the order in which those of one
// place are reported (language 10.10). The list is closed; component-ambiguous is
// reserved.
func Codes() []string {
	return []string{
		"source-unreadable", "source-invalid", "target-invalid", "frontmatter-invalid",
		"props-declaration-invalid", "returns-declaration-invalid", "component-unresolved",
		"component-ambiguous", "invocation-form-invalid", "body-shape-invalid", "props-invalid",
		"binding-invalid", "capture-invalid", "return-usage-invalid", "structural-usage-invalid",
	}
}

// A Report is what Validate found. Two validations of the same input are deeply
// equal.
type Report struct {
	Diagnostics []Diagnostic // what is definitely wrong; empty: the document is valid
	Invocations []Invocation // every authored element of the sources that were walked
}

// A Diagnostic is one definite violation.
type Diagnostic struct {
	Code      string
	Message   string
	Position  document.Position // zero: it concerns a whole source
	Component string            // the element's name; empty: none is concerned
	Issues    []schema.Issue    // what a schema refused, when one did
}

// The outcomes of an invocation.
const (
	Valid        = "valid"
	Invalid      = "invalid"
	NotCheckable = "not-statically-checkable"

	dynamicProps = "dynamic-props" // the one reason NotCheckable has here
)

// An Invocation is one authored element and what is known about it.
type Invocation struct {
	Name        string
	Position    document.Position
	Outcome     string
	Origin      Origin   // zero when nothing answers to the name
	Diagnostics []int    // indexes into Report.Diagnostics, ascending
	Reasons     []string // why it cannot be checked
}

// Valid reports whether nothing is definitely wrong.
func (r Report) Valid() bool { return len(r.Diagnostics) == 0 }

// JSON is the report as data (components 26.2).
func (r Report) JSON() *value.Object {
	outcome := Valid
	if !r.Valid() {
		outcome = Invalid
	}
	diagnostics, invocations := []any{}, []any{}
	for _, d := range r.Diagnostics {
		diagnostics = append(diagnostics, d.json())
	}
	for _, i := range r.Invocations {
		invocations = append(invocations, i.json())
	}
	return value.Of("version", float64(ReportVersion), "outcome", outcome,
		"diagnostics", diagnostics, "invocations", invocations)
}

func (d Diagnostic) json() *value.Object {
	o := value.Of("code", d.Code, "message", d.Message)
	setPosition(o, d.Position)
	if d.Component != "" {
		o.Set("component", d.Component)
	}
	if len(d.Issues) > 0 {
		issues := make([]any, len(d.Issues))
		for i, issue := range d.Issues {
			issues[i] = issue.JSON()
		}
		o.Set("issues", issues)
	}
	return o
}

func (i Invocation) json() *value.Object {
	o := value.Of("name", i.Name)
	setPosition(o, i.Position)
	o.Set("outcome", i.Outcome)
	if i.Origin != (Origin{}) {
		o.Set("origin", i.Origin.JSON())
	}
	if len(i.Diagnostics) > 0 {
		indexes := make([]any, len(i.Diagnostics))
		for n, index := range i.Diagnostics {
			indexes[n] = float64(index)
		}
		o.Set("diagnosticIndexes", indexes)
	}
	if len(i.Reasons) > 0 {
		o.Set("reasons", texts(i.Reasons))
	}
	return o
}

func setPosition(o *value.Object, p document.Position) {
	if !p.IsZero() {
		o.Set("position", p.JSON())
	}
}

// A finding is a diagnostic that records refer to before it has an index.
type finding struct {
	Diagnostic
	index int
}

// A record is an invocation under examination.
type record struct {
	Invocation
	findings []*finding // made about this element or by it about another
}

// report puts the findings of every source in order and settles the records:
// sources in the order they were discovered, within one what concerns the whole
// source first, then by place, then by rank of the code.
func report(sources []*source) Report {
	var r Report
	rank := make(map[string]int)
	for i, code := range Codes() {
		rank[code] = i
	}
	for _, s := range sources {
		slices.SortStableFunc(s.findings, func(a, b *finding) int {
			if za, zb := a.Position.IsZero(), b.Position.IsZero(); za != zb {
				if za {
					return -1
				}
				return 1
			}
			return cmp.Or(cmp.Compare(a.Position.Offset, b.Position.Offset), cmp.Compare(rank[a.Code], rank[b.Code]))
		})
		for _, f := range s.findings {
			f.index = len(r.Diagnostics)
			r.Diagnostics = append(r.Diagnostics, f.Diagnostic)
		}
	}
	for _, s := range sources {
		s.link()
		for _, rec := range s.records {
			r.Invocations = append(r.Invocations, rec.settle())
		}
	}
	return r
}

// link refers each record to what was found at its place, whoever found it.
func (s *source) link() {
	at := make(map[int][]*finding)
	for _, f := range s.findings {
		if !f.Position.IsZero() {
			at[f.Position.Offset] = append(at[f.Position.Offset], f)
		}
	}
	for _, rec := range s.records {
		rec.findings = append(rec.findings, at[rec.Position.Offset]...)
	}
}

func (rec *record) settle() Invocation {
	for _, f := range rec.findings {
		rec.Diagnostics = append(rec.Diagnostics, f.index)
	}
	slices.Sort(rec.Diagnostics)
	rec.Diagnostics = slices.Compact(rec.Diagnostics)
	switch {
	case len(rec.Diagnostics) > 0:
		rec.Outcome, rec.Reasons = Invalid, nil
	case len(rec.Reasons) > 0:
		rec.Outcome = NotCheckable
	default:
		rec.Outcome = Valid
	}
	return rec.Invocation
}
