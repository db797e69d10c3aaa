package suite

import (
	"context"
	"errors"
	"math"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/sandbox"
)

// A limit is one bound of a profile that is a number.
type limit struct {
	name  string
	field func(*capability.Limits) *int
	read  bool // preflight keeps it
}

func limits() []limit {
	return []limit{
		{"source", func(l *capability.Limits) *int { return &l.Source }, true},
		{"elements", func(l *capability.Limits) *int { return &l.Elements }, true},
		{"depth", func(l *capability.Limits) *int { return &l.Depth }, true},
		{"steps", func(l *capability.Limits) *int { return &l.Steps }, false},
		{"values", func(l *capability.Limits) *int { return &l.Values }, false},
		{"value", func(l *capability.Limits) *int { return &l.Value }, false},
		{"output", func(l *capability.Limits) *int { return &l.Output }, false},
	}
}

// The ceilings that are no limit of a profile.
const (
	byPaths    = "paths"
	byControl  = "control files"
	bySecret   = "secret files"
	byRequests = "requests"
	byParts    = "expression exceeded"
)

func exceeded(name string) string { return name + " exceeded" }
func met(name string) string      { return name + " met" }

func ceilings() []string {
	all := []string{byPaths, byControl, bySecret, byRequests, byParts}
	for _, l := range limits() {
		all = append(all, exceeded(l.name), met(l.name))
	}
	return append(all, exceeded("time"), met("time"))
}

// cover notes which rules a case shows.
func (j *judge) cover(ctx context.Context, o *Outcome, c *Case, f fact) error {
	if f.decision.Refusal != nil {
		return j.coverRefusal(o, c, f.decision.Refusal.Class)
	}
	g, err := j.grant(c)
	if err != nil {
		return err
	}
	l := g.Limits()
	nodes, _ := document.ReadFragment(fragmentID, c.fragment, document.FragmentLimits{Source: l.Source, Elements: l.Elements, Depth: l.Depth})
	marker(o.shows).nodes(nodes)
	for _, n := range f.decision.Named {
		if id, err := capability.ParseIdentity(n.Identity); err == nil {
			o.shows[id.Key] = true
		}
	}
	return j.coverLimits(ctx, o, c, f)
}

// coverRefusal notes the class of a refusal and the ceiling behind it: the one
// without which the same fragment would not be refused so.
func (j *judge) coverRefusal(o *Outcome, c *Case, class admission.Class) error {
	g, err := j.grant(c)
	if err != nil {
		return err
	}
	o.shows[refusedIn(class, g.Dialect())] = true
	still := func(change func(*capability.Profile)) bool {
		changed, err := c.grant(change)
		if err != nil {
			return true
		}
		d := admission.Preflight(fragmentID, c.fragment, changed)
		return d.Refusal != nil && d.Refusal.Class == class
	}
	switch class {
	case admission.RequestClass:
		o.shows[byRequests] = true
	case admission.PathClass:
		o.shows[byPaths] = !still(withoutPaths)
		o.shows[byControl] = !still(writingLikeReading)
		o.shows[bySecret] = !still(readingLikeWriting)
	case admission.Limit:
		for _, l := range limits() {
			if l.read && !still(func(p *capability.Profile) { *l.field(&p.Limits) = math.MaxInt32 }) {
				o.shows[exceeded(l.name)] = true
			}
		}
		o.shows[byParts] = still(func(p *capability.Profile) {
			p.Limits.Source, p.Limits.Elements, p.Limits.Depth = math.MaxInt32, math.MaxInt32, math.MaxInt32
		})
	}
	return nil
}

// withoutPaths takes the path ceilings away.
func withoutPaths(p *capability.Profile) {
	for _, table := range [...][]capability.Entry{p.Read, p.Write} {
		for i := range table {
			table[i].Paths = nil
		}
	}
}

// writingLikeReading judges what changes files as if it read them: then no file
// decides what fragments may do.
func writingLikeReading(p *capability.Profile) {
	for i := range p.Write {
		if p.Write[i].Effect == capability.Write {
			p.Write[i] = judgedAs(capability.FileRead(nil), p.Write[i])
		}
	}
}

// readingLikeWriting judges what reads files as if it wrote them: then no file is a
// secret.
func readingLikeWriting(p *capability.Profile) {
	for i := range p.Read {
		if p.Read[i].Name == "File" {
			p.Read[i] = judgedAs(capability.FileWrite(nil), p.Read[i])
		}
	}
}

// judgedAs is an entry whose paths are judged by the rule of another.
func judgedAs(rule, e capability.Entry) capability.Entry {
	rule.Name, rule.Identity, rule.Forms, rule.Returns = e.Name, e.Identity, e.Forms, e.Returns
	rule.Effect, rule.Describe, rule.Paths, rule.Op = e.Effect, e.Describe, e.Paths, e.Op
	return rule
}

// coverLimits notes the limits an admitted fragment came to: the one that ended its
// evaluation, and those its profile states that would have refused or ended it had
// they been one lower.
func (j *judge) coverLimits(ctx context.Context, o *Outcome, c *Case, f fact) error {
	var over *sandbox.LimitError
	if f.run != nil && errors.As(f.run.failure, &over) {
		o.shows[exceeded(over.Bound)] = true
	}
	if c.profile == nil {
		return nil
	}
	stated := c.profile.Limits
	finished := f.run != nil && f.run.failure == nil
	if stated.Time > 0 && finished {
		o.shows[met("time")] = true
	}
	for _, l := range limits() {
		n := *l.field(&stated)
		if n < 2 || !l.read && !finished {
			continue
		}
		lower, err := c.grant(func(p *capability.Profile) { *l.field(&p.Limits) = n - 1 })
		if err != nil {
			continue
		}
		d := admission.Preflight(fragmentID, c.fragment, lower)
		if d.Refusal != nil {
			o.shows[met(l.name)] = l.read && d.Refusal.Class == admission.Limit
			continue
		}
		if !finished {
			continue
		}
		again, err := j.evaluate(ctx, d, lower, &performance{script: c.script, taken: map[string]int{}})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil && errors.As(again.failure, &over) && over.Bound == l.name {
			o.shows[met(l.name)] = true
		}
	}
	return nil
}
