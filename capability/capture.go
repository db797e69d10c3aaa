package capability

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/schema"
	"github.com/executable-markdown/xmd/internal/value"
)

// A ProfileError is a profile that cannot be captured. It is the host's own mistake
// and is reported as itself, never as a refusal of a fragment.
type ProfileError struct {
	Profile string // its name
	Entry   string // such as: read entry 2, <Fetch>; empty: the profile itself
	Reason  string // what is wrong and what to do
	Cause   error  // nil, or the error of a schema, a pattern or a request
}

func (e *ProfileError) Error() string {
	where := ""
	if e.Entry != "" {
		where = e.Entry + ": "
	}
	return fmt.Sprintf("the profile %q cannot be used: %s%s", e.Profile, where, e.Reason)
}

func (e *ProfileError) Unwrap() error { return e.Cause }

// A Captured profile is a value: nothing the host or anybody else changes later
// changes it, and Revoke ends it (F7). It is safe for concurrent use.
type Captured struct {
	live     atomic.Bool
	dialect  Dialect
	limits   Limits // defaults filled in
	roots    []Root
	selected string // the name of a root; empty: there is none
	control  Control
	pure     []*Granted
	read     []*Granted
	write    []*Granted
}

// Capture makes a value of a profile (fragments 2): it copies everything the host
// could change later, binds every operation once, compiles the schemas and the
// ceilings, and adds the pure table to a closed profile. The error is a
// *ProfileError, or that of ctx when it had ended; ctx is not kept, so the end of
// the profile is Revoke and nothing else.
func Capture(ctx context.Context, p Profile) (*Captured, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	k := &capturer{profile: p, captured: &Captured{}, spelled: map[spelling]string{}, pinned: map[Identity]string{}}
	if err := k.capture(); err != nil {
		return nil, err
	}
	k.captured.live.Store(true)
	return k.captured, nil
}

// Revoke ends the profile: from now on each of its operations refuses, also one
// that somebody kept. Operations under way are not interrupted; their contexts do
// that. It may be called more than once.
func (c *Captured) Revoke() { c.live.Store(false) }

// Live reports whether the profile has not been revoked.
func (c *Captured) Live() bool { return c.live.Load() }

// A capturer holds what is known while one profile is captured.
type capturer struct {
	profile  Profile
	captured *Captured
	spelled  map[spelling]string // to the entry that took it
	pinned   map[Identity]string
}

// A spelling is a name in one form: what a fragment writes.
type spelling struct {
	name string
	form Form
}

func (k *capturer) refuse(entry, reason string, cause error) *ProfileError {
	return &ProfileError{Profile: k.profile.Name, Entry: entry, Reason: reason, Cause: cause}
}

func (k *capturer) capture() error {
	c, p := k.captured, k.profile
	if err := k.frame(); err != nil {
		return k.refuse("", err.Error(), nil)
	}
	if c.dialect == Closed {
		for _, e := range pureEntries() {
			g, err := k.entry("pure table", e)
			if err != nil {
				return err
			}
			c.pure = append(c.pure, g)
		}
	}
	for _, table := range [...]struct {
		class   Class
		entries []Entry
		into    *[]*Granted
	}{{ReadClass, p.Read, &c.read}, {WriteClass, p.Write, &c.write}} {
		for i, e := range table.entries {
			place := fmt.Sprintf("%s entry %d, <%.40s>", table.class, i+1, e.Name)
			if err := stated(table.class, e); err != nil {
				return k.refuse(place, err.Error(), nil)
			}
			g, err := k.entry(place, e)
			if err != nil {
				return err
			}
			*table.into = append(*table.into, g)
		}
	}
	return nil
}

// frame captures all but the entries.
func (k *capturer) frame() error {
	c, p := k.captured, k.profile
	if len(p.Read)+len(p.Write) == 0 {
		return errors.New("it has no entry; state what a fragment may do under read or write")
	}
	switch p.Dialect {
	case Flat, Closed:
		c.dialect = p.Dialect
	case "":
		c.dialect = Flat
	default:
		return fmt.Errorf("%.40q is no dialect; state flat or closed", string(p.Dialect))
	}
	var err error
	if c.limits, err = p.Limits.complete(); err != nil {
		return err
	}
	if p.FetchTimeout < 0 {
		return fmt.Errorf("its limit of a request is %v; state a positive time, or 0 for none", p.FetchTimeout)
	}
	c.control = Control{
		Files: slices.Clone(p.Control.Files),
		Dirs:  slices.Clone(p.Control.Dirs),
		Names: slices.Clone(p.Control.Names),
	}
	c.roots, c.selected = slices.Clone(p.Roots), p.Selected
	return k.checkRoots()
}

func (k *capturer) checkRoots() error {
	c := k.captured
	seen := make(map[string]bool, len(c.roots))
	for _, r := range c.roots {
		switch {
		case r.Name == "":
			return errors.New("a root has no name; name every root")
		case seen[r.Name]:
			return fmt.Errorf("it has two roots called %.40q; give each a name of its own", r.Name)
		case r.Retained != c.roots[0].Retained:
			return errors.New("some of its roots are retained and some are not; retain all of them or none")
		}
		seen[r.Name] = true
	}
	switch {
	case c.selected == "" && len(c.roots) > 0:
		c.selected = c.roots[0].Name
	case c.selected != "" && !seen[c.selected]:
		return fmt.Errorf("it selects %.40q, which is none of its roots; select one that it states", c.selected)
	}
	return nil
}

// stated judges what only a host's entries have to keep: the name and the effect.
func stated(class Class, e Entry) error {
	switch {
	case !document.DeclarableName(e.Name):
		return errors.New("its name is no component name; begin it, and each part after a dot, with an upper-case letter and go on with letters, digits and underscores")
	case isConstruct(e.Name):
		return errors.New("its name is a construct of the language; choose another")
	case isPure(e.Name):
		return errors.New("its name belongs to a pure component, which every closed profile has; remove the entry or choose another name")
	case e.Name == "Syntax" || e.Name == "Evaluate":
		return errors.New("its name is protected, so that no fragment reads the catalog or evaluates another; choose another")
	case class == ReadClass && e.Effect != Read:
		return fmt.Errorf("its effect is %.20q; the read table promises that nothing changes and nobody is asked: state write and ask under write", string(e.Effect))
	case class == WriteClass && e.Effect != Write && e.Effect != Asks:
		return fmt.Errorf("its effect is %.20q; under write state write or ask, and state what observes under read", string(e.Effect))
	case e.Op.Do == nil && e.Op.Enter == nil:
		return errors.New("it has no operation; give it Op.Do")
	case e.Op.Enter != nil && e.Forms != Paired:
		return errors.New("it has Op.Enter, which makes a place for content, and is not only paired; leave one of both out")
	}
	return nil
}

// entry captures one entry: a private copy with everything compiled.
func (k *capturer) entry(place string, e Entry) (*Granted, error) {
	if e.Forms == 0 || e.Forms&^(SelfClosing|Paired) != 0 {
		return nil, k.refuse(place, "it has no form; state SelfClosing or Paired", nil)
	}
	if err := e.Identity.validate(); err != nil {
		return nil, k.refuse(place, err.Error(), nil)
	}
	if taken := k.pinned[e.Identity]; taken != "" {
		return nil, k.refuse(place, fmt.Sprintf("its identity %s is that of %s; give each entry an identity of its own", e.Identity, taken), nil)
	}
	k.pinned[e.Identity] = place
	for _, form := range [...]Form{SelfClosing, Paired} {
		if e.Forms&form == 0 {
			continue
		}
		s := spelling{e.Name, form}
		if taken := k.spelled[s]; taken != "" {
			return nil, k.refuse(place, fmt.Sprintf("its %s form is that of %s; keep one", form, taken), nil)
		}
		k.spelled[s] = place
	}
	g := &Granted{Entry: e, control: k.captured.control, limits: k.captured.limits}
	if err := g.compileSchemas(); err != nil {
		return nil, k.refuse(place, err.Error(), err)
	}
	if err := g.compileCeiling(k.profile.FetchTimeout); err != nil {
		return nil, k.refuse(place, err.Error(), err)
	}
	g.bind(&k.captured.live)
	return g, nil
}

func (e *Granted) compileSchemas() error {
	var err error
	if e.props, err = compileProps(e.Entry.Props); err != nil {
		return err
	}
	e.declared = make(map[string]schema.Property)
	for _, p := range e.props.Properties() {
		e.declared[p.Name] = p
	}
	if _, ok := e.declared["path"]; !ok && e.Op.Enter != nil {
		return errors.New("it has Op.Enter and no prop path, which names the place its content works in; declare one")
	}
	if e.Entry.Returns == "" {
		return nil
	}
	definition, err := value.Parse([]byte(e.Entry.Returns))
	if err != nil {
		return fmt.Errorf("its Returns cannot be read: %w; write a JSON schema, or nothing when it binds no value", err)
	}
	if e.returns, err = schema.Compile(definition); err != nil {
		return fmt.Errorf("its Returns cannot be used: %w", err)
	}
	return nil
}

// compileProps compiles the schema of props. It must be closed: what it does not
// list, a fragment cannot give.
func compileProps(text string) (*schema.Schema, error) {
	definition, err := value.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf(`its Props cannot be read: %w; write a JSON schema, {"type":"object","additionalProperties":false} for no props`, err)
	}
	o, _ := definition.(*Object)
	kind, _ := o.Get("type")
	more, _ := o.Get("additionalProperties")
	if kind != "object" || more != false || o.Has("patternProperties") {
		return nil, errors.New(`its Props are not closed; write a schema with "type": "object" and "additionalProperties": false that lists every prop under "properties"`)
	}
	compiled, err := schema.Props(o, nil, false)
	if err != nil {
		return nil, fmt.Errorf("its Props cannot be used: %w", err)
	}
	return compiled, nil
}

// compileCeiling copies and normalises what bounds the entry. A ceiling nobody
// would keep is refused: the entries of this package keep their own, and those of a
// host have none but their schemas.
func (e *Granted) compileCeiling(fetchTimeout time.Duration) error {
	paths, requests := e.ceilings()
	switch {
	case e.Paths != nil && !paths:
		return errors.New("it states Paths, which only the file entries of this package keep; remove them and bound the props with their schema")
	case e.Paths != nil && len(e.Paths) == 0:
		return errors.New("its Paths are an empty list, which covers nothing; name patterns, or leave Paths nil for the whole root")
	case len(e.Requests) > 0 && !requests:
		return errors.New("it states Requests, which only Fetch keeps; remove them")
	case len(e.Requests) == 0 && requests:
		return errors.New("it states no request, and Fetch performs only stated ones; state each exactly")
	}
	var err error
	if e.Paths != nil {
		e.Paths = slices.Clone(e.Paths)
		if e.patterns, err = compilePatterns(e.Paths); err != nil {
			return fmt.Errorf("its Paths cannot be used: %w", err)
		}
	}
	e.Requests = slices.Clone(e.Requests)
	for i := range e.Requests {
		r := &e.Requests[i]
		r.Headers = maps.Clone(r.Headers)
		normal, err := NormalizeRequest(*r, fetchTimeout)
		if err != nil {
			return fmt.Errorf("its request %d cannot be used: %w", i+1, err)
		}
		e.requests = append(e.requests, normal)
	}
	e.ceiling = ceilingOf(e.Paths, e.requests)
	return nil
}

// ceilings reports which ceilings the rule of an entry keeps.
func (e *Granted) ceilings() (paths, requests bool) {
	if e.rule == nil || e.Identity.Origin != core {
		return false, false
	}
	switch e.Identity.Key {
	case "File.read", "File.write", "File.delete", "Dir.ensure", "Glob":
		return true, false
	case "Fetch":
		return false, true
	}
	return false, false
}

// bind ties the operation to the life of the captured profile and to the ceiling it
// works under. Op itself refuses after the end, so keeping it keeps nothing (F7).
func (e *Granted) bind(live *atomic.Bool) {
	op := e.Op
	ready := func(c Call) (Call, error) {
		if !live.Load() {
			return c, ErrRevoked
		}
		c.Props, c.granted = e.complete(c.Props), e
		return c, nil
	}
	if op.Enter != nil {
		e.Op.Enter = func(ctx context.Context, c Call) error {
			c, err := ready(c)
			if err != nil {
				return err
			}
			return op.Enter(ctx, c)
		}
	}
	if op.Do != nil {
		e.Op.Do = func(ctx context.Context, c Call) (any, error) {
			c, err := ready(c)
			if err != nil {
				return nil, err
			}
			return op.Do(ctx, c)
		}
	}
	e.live = live
}

// isConstruct reports whether a name belongs to the language.
func isConstruct(name string) bool {
	switch name {
	case "All", "Answer", "Answers", "Break", "Case", "Content", "Each", "Else", "If",
		"Let", "Loop", "Output", "PrintErrors", "Return", "Spawn", "Switch":
		return true
	}
	return false
}
