package capability

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// Select chooses tables, in any order, and returns what a fragment is granted: the
// selected tables, and the pure one of a closed profile. An error is the host's or
// the author's and comes before any fragment is looked at: a selection that is
// empty, unknown, repeated or of a table without entries. It is ErrRevoked once the
// profile has ended.
func (c *Captured) Select(allow ...Class) (*Grant, error) {
	if !c.Live() {
		return nil, ErrRevoked
	}
	if len(allow) == 0 {
		return nil, errors.New("no class is allowed; allow read, write or both")
	}
	chosen := make(map[Class]bool, len(allow))
	for _, class := range allow {
		switch {
		case class != ReadClass && class != WriteClass:
			return nil, fmt.Errorf("%.40q is no class; allow read, write or both", string(class))
		case chosen[class]:
			return nil, fmt.Errorf("the class %s is allowed twice; name it once", class)
		case len(c.table(class)) == 0:
			return nil, fmt.Errorf("the class %s is allowed, and the profile of this run has no %s entry; state one, or do not allow the class", class, class)
		}
		chosen[class] = true
	}
	g := &Grant{captured: c, entries: slices.Clone(c.pure), spelled: map[spelling]*Granted{}, pinned: map[string]*Granted{}}
	for _, class := range [...]Class{ReadClass, WriteClass} {
		if chosen[class] {
			g.allow = append(g.allow, class)
			g.entries = append(g.entries, c.table(class)...)
		}
	}
	for _, e := range g.entries {
		g.pinned[e.Identity.String()] = e
		for _, form := range [...]Form{SelfClosing, Paired} {
			if e.Forms&form != 0 {
				g.spelled[spelling{e.Name, form}] = e
			}
		}
	}
	return g, nil
}

func (c *Captured) table(class Class) []*Granted {
	if class == ReadClass {
		return c.read
	}
	return c.write
}

// A Grant is the selected tables of a captured profile: all a fragment may do. It
// is immutable and safe for concurrent use.
type Grant struct {
	captured *Captured
	allow    []Class
	entries  []*Granted
	spelled  map[spelling]*Granted
	pinned   map[string]*Granted
}

// Live reports whether the profile has not been revoked.
func (g *Grant) Live() bool { return g.captured.Live() }

// Dialect is how much of the language a fragment may use.
func (g *Grant) Dialect() Dialect { return g.captured.dialect }

// Limits are the bounds of one evaluation, defaults filled in.
func (g *Grant) Limits() Limits { return g.captured.limits }

// Allow is the selection in its canonical order: read, write.
func (g *Grant) Allow() []Class { return slices.Clone(g.allow) }

// Lookup returns the entry that a name in a form means, nil when there is none, and
// the entry that the name means in the other form. Both nil: the name is not
// granted. No other place is asked what a name means (F2), and a name is not a form
// (F3): the two may be different entries.
func (g *Grant) Lookup(name string, f Form) (e, other *Granted) {
	return g.spelled[spelling{name, f}], g.spelled[spelling{name, f ^ (SelfClosing | Paired)}]
}

// ByIdentity returns the granted entry with an identity in its text form, nil when
// there is none.
func (g *Grant) ByIdentity(id string) *Granted { return g.pinned[id] }

// Entries are the granted entries in the order pure, read, write, each table as the
// host stated it. The slice belongs to the caller.
func (g *Grant) Entries() []*Granted { return slices.Clone(g.entries) }

// A Granted is one entry of a captured profile. Its operation and decisions are
// bound; the exported fields are for reading.
type Granted struct {
	Entry    // a private copy
	props    *schema.Schema
	declared map[string]schema.Property // of props
	returns  *schema.Schema             // nil: none
	patterns *patterns                  // Paths, compiled; nil: the whole root
	requests []Normal                   // Requests, in normal form
	ceiling  *Object                    // the normal form of both
	control  Control                    // of the profile
	limits   Limits                     // of the profile, defaults filled in
	live     *atomic.Bool               // of the profile
}

// maxIssues bounds how many issues one violation tells.
const maxIssues = 5

// Check judges what is known of a use: its props by their schema, then paths,
// requests and questions by the entry's own rule. It performs nothing. While a prop
// is computed, only what no value of it could change is judged.
func (e *Granted) Check(u Use) *Violation {
	u.Props = e.complete(u.Props)
	for _, name := range u.Computed {
		if e.declared[name].HasDefault {
			u.Props.Delete(name) // no default stands for what is yet to come
		}
	}
	if len(u.Computed) > 0 {
		if !e.conceivable(u) {
			return &Violation{Class: "props", Reason: "its props do not match what it takes"}
		}
	} else if issues := e.props.Validate(u.Props); len(issues) > 0 {
		issues = issues[:min(len(issues), maxIssues)]
		return &Violation{Class: "props", Reason: "its props do not match what it takes:\n" + schema.Lines(issues)}
	}
	if e.rule == nil {
		return nil
	}
	return e.rule.check(e, u)
}

// conceivable reports whether values of the computed props could make the schema
// accept the use: no name is unknown, none that is required is missing, and each
// known value is one its own schema accepts.
func (e *Granted) conceivable(u Use) bool {
	for _, name := range u.Computed {
		if _, ok := e.declared[name]; !ok {
			return false
		}
	}
	for name, v := range u.Props.All() {
		if _, ok := e.declared[name]; !ok || len(e.props.ValidateProperty(name, v)) > 0 {
			return false
		}
	}
	for name, p := range e.declared {
		if p.Required && !u.Props.Has(name) && !slices.Contains(u.Computed, name) {
			return false
		}
	}
	return true
}

// complete returns a copy of props with the defaults their schema declares.
func (e *Granted) complete(props *Object) *Object {
	if props == nil {
		props = value.NewObject(0)
	}
	filled, _ := e.props.Fill(props).(*Object)
	return filled
}

// Binds reports whether the entry returns a value.
func (e *Granted) Binds() bool { return e.returns != nil }

// CheckResult judges what the operation returned: JSON that Returns accepts. An
// entry without Returns may return nothing, or the text it renders.
func (e *Granted) CheckResult(v any) error {
	if e.returns == nil {
		switch v.(type) {
		case nil, Undefined, string:
			return nil
		}
		return fmt.Errorf("the operation %s returned a value and declares none", e.Identity)
	}
	if _, err := value.Append(nil, v); err != nil {
		return fmt.Errorf("the operation %s returned what is not JSON: %w", e.Identity, err)
	}
	if issues := e.returns.Validate(v); len(issues) > 0 {
		return fmt.Errorf("the operation %s returned what its own schema refuses:\n%s", e.Identity, schema.Lines(issues[:min(len(issues), maxIssues)]))
	}
	return nil
}

// Moves reports whether content of the entry works in a directory of its own.
func (e *Granted) Moves() bool { return e.Op.Enter != nil }

// Target is the directory that content of an entry that moves works in: its prop
// path, cleaned, below the cursor dir. It is dir itself where the path is not known
// or not one that Check would admit.
func (e *Granted) Target(dir string, props *Object) string {
	path, ok := props.String("path")
	if !ok {
		return dir
	}
	target, v := cleanPath(dir, path)
	if v != nil {
		return dir
	}
	return target
}

// Enter makes the place that content of the entry works in; for an entry that makes
// none it does nothing. It refuses with ErrRevoked once the profile has ended. The
// props of c have passed Check.
func (e *Granted) Enter(ctx context.Context, c Call) error {
	if e.Op.Enter == nil {
		return e.revoked()
	}
	return e.Op.Enter(ctx, c)
}

// Do performs the operation, or refuses with ErrRevoked once the profile has ended.
// The props of c have passed Check; the value has yet to pass CheckResult. An entry
// that only makes a place returns the content. A pure entry has no operation, and Do
// of it is an error.
func (e *Granted) Do(ctx context.Context, c Call) (any, error) {
	switch {
	case e.Op.Do == nil && e.Moves():
		return c.Content, e.revoked()
	case e.Op.Do == nil:
		return nil, errors.Join(e.revoked(), fmt.Errorf("%s is computed by the evaluator and performs nothing", e.Identity))
	}
	return e.Op.Do(ctx, c)
}

func (e *Granted) revoked() error {
	if e.live.Load() {
		return nil
	}
	return ErrRevoked
}

// Record describes the effect for a history: what was asked, never content.
func (e *Granted) Record(c Call) Record {
	c.Props = e.complete(c.Props)
	if e.rule == nil {
		return Record{Type: "capability", Input: c.Props}
	}
	return e.rule.record(e, c)
}
