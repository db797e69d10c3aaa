package audit

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
)

// A Diff says what a second profile allows that a first one did not, and the other
// way round.
type Diff struct {
	Before, After string // their titles
	Changes       []Change
	Findings      []Finding
}

// A Change compares one thing that bounds a fragment.
type Change struct {
	Item          string // such as read <File>: paths
	Verdict       Direction
	Before, After []string
	Reason        string // why it is called widened, where the values do not say it
	where         Place
}

// A Direction says how authority changed.
type Direction string

const (
	Widened  Direction = "widened" // or it cannot be shown that it is not
	Narrowed Direction = "narrowed"
	Same     Direction = "same"
)

// Widened reports whether anything is.
func (d *Diff) Widened() bool {
	return slices.ContainsFunc(d.Changes, func(c Change) bool { return c.Verdict == Widened })
}

// Found implements Report.
func (d *Diff) Found() []Finding { return d.Findings }

// Compare compares two profiles. It errs to one side: a ceiling is called narrower
// only where every part of it is shown to lie inside the other.
func Compare(ctx context.Context, before, after *Stated) (*Diff, error) {
	c := &comparison{ctx: ctx, after: after, diff: &Diff{Before: before.title(), After: after.title()}}
	a, err := before.Profile()
	if err != nil {
		return nil, err
	}
	b, err := after.Profile()
	if err != nil {
		return nil, err
	}
	c.dialects(a, b)
	c.roots(a, b)
	if err := c.entries(a, b); err != nil {
		return nil, err
	}
	for i, l := range b.Limits {
		c.limit(a.Limits[i], l)
	}
	for _, change := range c.diff.Changes {
		if change.Verdict == Widened {
			c.diff.Findings = append(c.diff.Findings, finding("widened", change.where, "%s", change.sentence()))
		}
	}
	return c.diff, nil
}

// sentence says what widened.
func (c Change) sentence() string {
	text := c.Item + " widened"
	switch {
	case c.Reason != "":
		return text + ": " + c.Reason
	case len(c.Before) == 0:
		return text + ": it is new, and reaches " + brief(strings.Join(c.After, ", "))
	}
	return text + ": from " + brief(strings.Join(c.Before, ", ")) + " to " + brief(strings.Join(c.After, ", "))
}

type comparison struct {
	ctx   context.Context
	after *Stated
	diff  *Diff
}

func (c *comparison) add(change Change) { c.diff.Changes = append(c.diff.Changes, change) }

func (c *comparison) dialects(a, b *Profile) {
	change := Change{Item: "dialect", Verdict: Same, Before: []string{a.Dialect}, After: []string{b.Dialect}, where: c.after.place("dialect")}
	switch {
	case a.Dialect == b.Dialect:
	case b.Dialect == string(capability.Closed):
		change.Verdict = Widened
	default:
		change.Verdict = Narrowed
	}
	c.add(change)
}

// roots compares the directories that are selected, by their spelling. The others
// are reached by nothing.
func (c *comparison) roots(a, b *Profile) {
	then, now := selected(a.Roots), selected(b.Roots)
	change := Change{Item: "root", Verdict: Same, Before: []string{then.Dir}, After: []string{now.Dir}, where: now.Where}
	before, after := path.Clean(then.Dir), path.Clean(now.Dir)
	switch {
	case before == after:
	case isBelow(after, before):
		change.Verdict = Narrowed
	default:
		change.Verdict = Widened
		change.Reason = fmt.Sprintf("%s cannot be shown to lie inside %s", now.Dir, then.Dir)
	}
	c.add(change)
}

func selected(roots []Root) Root {
	return roots[max(slices.IndexFunc(roots, func(r Root) bool { return r.Selected }), 0)]
}

// isBelow reports whether a clean path lies inside another by their spelling alone.
func isBelow(inner, outer string) bool {
	switch {
	case strings.HasPrefix(inner, ".."):
		return false
	case outer == ".":
		return !path.IsAbs(inner)
	case outer == "/":
		return path.IsAbs(inner)
	}
	return strings.HasPrefix(inner, outer+"/")
}

func (c *comparison) entries(a, b *Profile) error {
	known := map[string]Entry{}
	for _, e := range a.Entries {
		known[e.key()] = e
	}
	for _, e := range b.Entries {
		old, had := known[e.key()]
		delete(known, e.key())
		switch {
		case e.Class == string(capability.Pure): // it goes with the dialect
		case !had:
			c.add(Change{Item: e.title(), Verdict: Widened, After: e.Ceiling.Lines(), where: e.Where})
		default:
			change, err := c.ceilings(old, e)
			if err != nil {
				return err
			}
			c.add(change)
		}
	}
	for _, e := range a.Entries {
		if _, gone := known[e.key()]; gone && e.Class != string(capability.Pure) {
			c.add(Change{Item: e.title(), Verdict: Narrowed, Before: e.Ceiling.Lines()})
		}
	}
	return nil
}

func (e Entry) key() string   { return e.Name + " " + e.Form + " " + e.Identity }
func (e Entry) title() string { return e.Class + " <" + e.Name + "> " + e.Form }

func (c *comparison) ceilings(a, b Entry) (Change, error) {
	change := Change{Item: b.title(), Verdict: Same, Before: a.Ceiling.Lines(), After: b.Ceiling.Lines(), where: b.Where}
	switch b.Ceiling.Reach {
	case ReachRequests:
		change.Verdict, change.Reason = requestsChange(a.Ceiling.Requests, b.Ceiling.Requests)
	case ReachPaths, ReachRoot:
		then, err := newExtent(c.ctx, a)
		if err != nil {
			return change, err
		}
		now, err := newExtent(c.ctx, b)
		if err != nil {
			return change, err
		}
		if pattern, inside := then.holds(now); !inside {
			if now.whole {
				pattern = change.After[0]
			}
			change.Verdict = Widened
			change.Reason = fmt.Sprintf("%s cannot be shown to lie inside %s", pattern, brief(strings.Join(change.Before, ", ")))
		} else if _, inside := now.holds(then); !inside {
			change.Verdict = Narrowed
		}
	}
	return change, nil
}

// requestsChange compares stated requests. The same request with more time is wider.
func requestsChange(a, b []Request) (Direction, string) {
	times := map[string]Request{}
	for _, r := range a {
		times[r.target()] = longer(times[r.target()], r)
	}
	direction := Same
	seen := map[string]bool{}
	for _, r := range b {
		seen[r.target()] = true
		old, had := times[r.target()]
		switch {
		case !had:
			return Widened, r.String() + " is new"
		case old.Timeout != r.Timeout && longer(old, r).Timeout == r.Timeout:
			return Widened, r.String() + " may take longer"
		case old.Timeout != r.Timeout:
			direction = Narrowed
		}
	}
	if len(seen) < len(times) {
		direction = Narrowed
	}
	return direction, ""
}

// longer is the request that may take longer; no time limit is the longest.
func longer(a, b Request) Request {
	if a.URL == "" || a.Timeout != 0 && (b.Timeout == 0 || b.Timeout > a.Timeout) {
		return b
	}
	return a
}

// target is all of a request but its time.
func (r Request) target() string {
	text, err := value.JSON(recordedRequest(Request{Method: r.Method, URL: r.URL, Headers: r.Headers}))
	if err != nil {
		return r.URL // not reached: it is JSON
	}
	return text
}

func (c *comparison) limit(a, b Limit) {
	change := Change{Item: "limit " + b.Name, Verdict: Same, Before: []string{a.String()}, After: []string{b.String()}, where: b.Where}
	switch {
	case b.Value > a.Value:
		change.Verdict = Widened
	case b.Value < a.Value:
		change.Verdict = Narrowed
	}
	c.add(change)
}

func (d *Diff) json() *value.Object {
	o := begin("diff")
	o.Set("before", d.Before)
	o.Set("after", d.After)
	o.Set("widened", d.Widened())
	o.Set("changes", list(d.Changes, func(c Change) any {
		item := value.Of("item", c.Item, "change", string(c.Verdict), "before", strs(c.Before), "after", strs(c.After))
		if c.Reason != "" {
			item.Set("reason", c.Reason)
		}
		return item
	}))
	return findingsJSON(o, d.Findings)
}

func (d *Diff) page() page {
	p := page{title: "What a profile allows now that it did not", findings: d.Findings}
	counts := map[Direction]int{}
	t := table{caption: "Changes", headers: []string{"Change", "What", "Before", "After"}}
	for _, c := range d.Changes {
		counts[c.Verdict]++
		t.rows = append(t.rows, []cell{one(string(c.Verdict)), one(c.Item), orNone(c.Before), orNone(c.After)})
	}
	p.facts = []fact{
		{"before", []string{d.Before}},
		{"after", []string{d.After}},
		{"changes", []string{fmt.Sprintf("%d widened, %d narrowed, %d the same", counts[Widened], counts[Narrowed], counts[Same])}},
	}
	p.tables = []table{t}
	return p
}

func orNone(lines []string) cell {
	if len(lines) == 0 {
		return one("not allowed")
	}
	return lines
}
