package document

import (
	"fmt"
	"slices"
	"strings"
)

// A Target is one addressable heading. Path alone names it in a reference; two
// headings may share one.
type Target struct {
	Path        string // canonical: Build/Fast%20path
	Heading     string // its visible text
	Description string // the visible text of the paragraph below it, if that is plain

	entry int // in the outline
}

// Targets lists the addressable headings of the whole body in source order, at
// most MaxTargets of them (language 8).
func (d *Document) Targets() []Target {
	o := d.outline()
	return o.targets(nil)
}

// targets returns the targets whose labels match p; a nil p matches all.
func (o *outline) targets(p pattern) []Target {
	var found []Target
	var labels []string
	for i := range o.entries {
		e := &o.entries[i]
		if e.path == "" {
			continue
		}
		labels = labels[:0]
		for j := i; j != none && j != o.title; j = o.entries[j].parent {
			labels = append(labels, o.entries[j].label)
		}
		slices.Reverse(labels)
		if p == nil || p.matches(labels) {
			found = append(found, Target{Path: e.path, Heading: e.label, Description: e.paragraph, entry: i})
		}
	}
	return found
}

// Select returns the one target the selector matches (language 8.4). Errors are
// *Error with the code target-invalid, whose message lists the matched or
// available references. A document with more than MaxTargets addressable headings
// has none to select.
func (d *Document) Select(selector string) (Target, error) {
	o := d.outline()
	if o.overflow {
		return Target{}, &Error{Code: codeTarget, Message: fmt.Sprintf(
			"target %s: the document has more than %d headings to choose from; split it into several documents", quote(selector), MaxTargets)}
	}
	p, ok := parseSelector(selector)
	if !ok {
		return Target{}, d.selectError(selector, "is not a valid selector", "Available", o.targets(nil))
	}
	switch found := o.targets(p); len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Target{}, d.selectError(selector, "matches nothing", "Available", o.targets(nil))
	default:
		return Target{}, d.selectError(selector, "matches several headings", "Matched", found)
	}
}

// maxListed is how many references an error lists.
const maxListed = 100

func (d *Document) selectError(selector, what, title string, listed []Target) *Error {
	var b strings.Builder
	fmt.Fprintf(&b, "target %s %s", quote(selector), what)
	if len(listed) == 0 {
		b.WriteString("\nThe document has no targets.")
	} else {
		fmt.Fprintf(&b, "\n%s targets:", title)
	}
	file := strings.NewReplacer("%", "%25", "#", "%23").Replace(d.Name)
	for i, t := range listed {
		if i == maxListed {
			fmt.Fprintf(&b, "\n  and %d more", len(listed)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s#%s", file, t.Path)
	}
	return &Error{Code: codeTarget, Message: b.String()}
}

// quote quotes the start of a selector for a message.
func quote(selector string) string { return fmt.Sprintf("%.200q", selector) }

// Project returns the document reduced to one of its targets: same frontmatter
// and positions, the nodes of the retained ranges only (language 8.6). Each range
// is scanned on its own, so what closes in a part left out does not close here;
// tags nested deeper than MaxDepth are left as text. A target the document does
// not have leaves no nodes.
func (d *Document) Project(t Target) *Document {
	reduced := *d
	reduced.Nodes = nil
	places := tracker{name: d.Name, src: d.Source, line: 1, column: 1}
	o := d.outline()
	for _, r := range o.retained(t, span{d.BodyOffset, len(d.Source)}) {
		s := newScanner(d.Source, r.start, r.end)
		s.scan()
		b := builder{scanner: s, places: places, limit: true}
		nodes, _ := b.build()
		reduced.Nodes = append(reduced.Nodes, nodes...)
		places = b.places
	}
	return &reduced
}

// retained returns the ranges a projection keeps: what comes before the first
// heading, what stands directly below the title and the headings above the
// target, and the target with all that is below it.
func (o *outline) retained(t Target, body span) []span {
	at := t.entry
	if at >= len(o.entries) || o.entries[at].path != t.Path || t.Path == "" {
		at = slices.IndexFunc(o.entries, func(e entry) bool { return e.path != "" && e.path == t.Path })
	}
	if at < 0 {
		return nil
	}
	start := func(i int) int {
		if i < len(o.entries) {
			return o.entries[i].start
		}
		return body.end
	}
	end := at + 1
	for end < len(o.entries) && o.entries[end].depth > o.entries[at].depth {
		end++
	}
	ranges := []span{{start(at), start(end)}}
	for i := o.entries[at].parent; i != none; i = o.entries[i].parent {
		ranges = append(ranges, span{start(i), start(i + 1)})
	}
	ranges = append(ranges, span{body.start, start(0)})
	slices.Reverse(ranges)
	return ranges
}
