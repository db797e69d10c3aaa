package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/expr"
	"github.com/executable-markdown/xmd/internal/selector"
	"github.com/executable-markdown/xmd/internal/value"
)

// A body is what a component's text may project: the caller's content.
type body struct {
	caller *scope
	nodes  []document.Node
	slots  *slots // split on first use
}

// slots is caller content by destination (language 5.8.1).
type slots struct {
	content map[string][]document.Node
	invalid error // a slot name nobody can fill, raised at the first projection
	raised  bool
}

// forked is the body as a concurrent child projects it: the caller's bindings are
// a snapshot, on every level, and nothing is shared with a sibling.
func (b *body) forked() *body {
	if b == nil {
		return nil
	}
	caller := b.caller.with(func(c *scope) {
		c.env, c.body = c.env.snapshot(), c.body.forked()
	})
	return &body{caller: caller, nodes: b.nodes}
}

func (b *body) split() *slots {
	if b.slots != nil {
		return b.slots
	}
	b.slots = &slots{content: make(map[string][]document.Node)}
	for _, n := range b.nodes {
		name := ""
		if el, ok := n.(*document.Element); ok && el.Name != "Content" {
			if s, isString, written := static(el, "slot"); written && isString {
				name = s
				if !slotName(s) && b.slots.invalid == nil {
					b.slots.invalid = slotProblem(el, s)
				}
			}
		}
		b.slots.content[name] = append(b.slots.content[name], n)
	}
	return b.slots
}

func slotProblem(el *document.Element, slot string) *Error {
	e := problem(el, "slot=%q of <%s> is no slot name: it starts with a letter and goes on with letters, digits, _ and -", slot, el.Name)
	e.Code = "binding-invalid"
	return e
}

func slotName(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '_' && c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// content projects the caller's content (language 6.1).
func (r *run) content(ctx context.Context, sc *scope, el *document.Element, out *buffer) error {
	if sc.body == nil {
		return r.raise(sc, out, strayContent(el))
	}
	s := sc.body.split()
	if s.invalid != nil && !s.raised {
		s.raised = true
		return r.raise(sc, out, s.invalid)
	}
	slot, _, _ := static(el, "slot")
	inner := project(sc, sc.body.caller)
	inner.id = sc.id.child(plainFrame("proj"))
	return r.expand(ctx, inner, s.content[slot], out)
}

func strayContent(el *document.Element) *Error {
	e := at(el, "<Content> has no meaning here: it belongs in the body of a component, and its name is reserved")
	e.Code = "structural-usage-invalid"
	return e
}

// project is the scope of a caller's content at a callee's place: the text keeps
// its own meaning, everything else is the place's (language 5.9.1, row 2).
func project(place, caller *scope) *scope {
	return place.with(func(c *scope) {
		c.def, c.body, c.loop, c.ret, c.names = caller.def, caller.body, caller.loop, caller.ret, caller.names
		c.env = layered(place.env, caller.env)
		c.projected = true
		c.printing = place.printing || caller.printing
	})
}

// expandRegions renders a body that selects its output: Output regions go to out,
// everything else runs and is discarded (language 6.2).
func (r *run) expandRegions(ctx context.Context, sc *scope, out *buffer) error {
	hidden := sc.with(func(c *scope) { c.mode = modeThrow })
	for i, n := range sc.def.nodes {
		el, ok := n.(*document.Element)
		if !ok || el.Name != "Output" {
			if err := r.expand(ctx, hidden, sc.def.nodes[i:i+1], &buffer{}); err != nil {
				return err
			}
			continue
		}
		if len(el.Attrs) > 0 {
			e := problem(el, "<Output> takes no props, not %s", el.Attrs[0].Name)
			e.Code = "structural-usage-invalid"
			if err := r.raise(sc, out, e); err != nil {
				return err
			}
			continue
		}
		region := sc.with(func(c *scope) { c.mode, c.id = modeOutput, elementID(sc.id, el) })
		if err := r.expand(ctx, region, el.Children, out); err != nil {
			return err
		}
	}
	return nil
}

// settleReturn selects the value of the enclosing value body (language 6.3).
func (r *run) settleReturn(ctx context.Context, sc *scope, el *document.Element, out *buffer) error {
	if sc.ret == nil || sc.ret.strand != sc.strand {
		e := problem(el, "<Return> has no meaning here: it belongs in the body of a document that declares returns")
		e.Code = "return-usage-invalid"
		return r.raise(sc, out, e)
	}
	a, _ := attr(el, "value")
	err := sc.ret.settle(func() (*expr.Ref, error) {
		if v, ok := a.StaticValue(true); ok {
			return r.exprs.Ref(v), nil
		}
		return r.raw(ctx, sc, el, a)
	})
	if err == nil {
		return nil
	}
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	if e.Pos.IsZero() {
		e.Pos = el.Pos
	}
	return &failure{err: e, mode: modeThrow, ret: sc.ret}
}

// valueBody expands a body for its value. What it renders goes to rendered.
func (r *run) valueBody(ctx context.Context, sc *scope, rendered *buffer) (any, error) {
	slot := &returnSlot{def: sc.def, strand: sc.strand}
	inner := sc.with(func(c *scope) { c.mode, c.ret = modeThrow, slot })
	if err := r.expand(ctx, inner, sc.def.nodes, rendered); err != nil {
		return nil, err
	}
	if err := slot.missing(); err != nil {
		return nil, &failure{err: err, mode: modeThrow, ret: slot}
	}
	return slot.value, nil
}

// unwrapReturn makes an ordinary failure of a value body's own error.
func unwrapReturn(err error) error {
	if f, ok := err.(*failure); ok && f.ret != nil {
		return &failure{err: f.err, mode: modeThrow}
	}
	return err
}

// let binds a value or rendered text to a name (language 6.4).
func (r *run) let(ctx context.Context, sc *scope, el *document.Element, out *buffer) error {
	if err := only(el, "as", "value", "select"); err != nil {
		return r.raise(sc, out, err)
	}
	if wrong := letProblems(el); len(wrong) > 0 {
		return r.raise(sc, out, wrong[0])
	}
	name, _, _ := static(el, "as")
	if a, direct := attr(el, "value"); direct {
		ref, err := r.raw(ctx, sc, el, a)
		if err != nil {
			return r.raiseEval(sc, out, err)
		}
		sc.env.bind(name, ref)
		return nil
	}
	text := &buffer{}
	inner := sc.with(func(c *scope) { c.collect = true })
	if err := r.expand(ctx, inner, el.Children, text); err != nil {
		return err
	}
	if len(text.errs) > 0 {
		out.takeErrors(text)
		return nil
	}
	bound := trimEnd(text.String())
	if query, _, _ := static(el, "select"); query != "" {
		found, ok, err := selector.First(bound, query)
		if err != nil {
			return &failure{err: problem(el, "<Let> cannot use select=%q: %v", query, err), mode: modeThrow}
		}
		if ok {
			bound = found
		}
	}
	sc.env.bind(name, r.exprs.Ref(bound))
	return nil
}

// letProblems lists what is wrong with a Let's name and source (language 6.4).
func letProblems(el *document.Element) []*Error {
	wrong := namesOf(el, "as", true)
	_, direct := attr(el, "value")
	_, _, selects := static(el, "select")
	conflict := ""
	switch {
	case direct && len(el.Children) > 0:
		conflict = "value and content"
	case direct && selects:
		conflict = "value and select"
	case !direct && len(el.Children) == 0:
		conflict = "neither value nor content"
	default:
		return wrong
	}
	e := problem(el, "<Let> has %s: write <Let as=\"name\" value={…} /> or <Let as=\"name\">…</Let>, the latter with an optional select", conflict)
	e.Code = "structural-usage-invalid"
	return append(wrong, e)
}

// raiseEval raises an evaluation's error with its position; an error that is not
// the document's passes through.
func (r *run) raiseEval(sc *scope, out *buffer, err error) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	e.ShowPos = true
	return r.raise(sc, out, e)
}

// each expands its body once an item (language 6.5).
func (r *run) each(ctx context.Context, sc *scope, el *document.Element, out *buffer) error {
	if err := only(el, "in", "let", "as"); err != nil {
		return r.raise(sc, out, err)
	}
	a, ok := attr(el, "in")
	if !ok {
		return r.raise(sc, out, problem(el, "<Each> needs in={array} and let=\"item\""))
	}
	if wrong := append(namesOf(el, "let", true), namesOf(el, "as", false)...); len(wrong) > 0 {
		return r.raise(sc, out, wrong[0])
	}
	item, _, _ := static(el, "let")
	as, _, _ := static(el, "as")
	in, err := r.projected(ctx, sc, el, a)
	if err != nil {
		if e, ok := err.(*Error); ok {
			return r.raise(sc, out, e)
		}
		return err
	}
	items, ok := in.([]any)
	if !ok {
		return r.raise(sc, out, problem(el, "in of <Each> must be an array, not %s", quote(in)))
	}
	text := out
	if as != "" {
		text = &buffer{}
	}
	for i, v := range items {
		if sc.loop.broken() {
			break
		}
		if err := sc.stopped(ctx); err != nil {
			return err
		}
		inner := sc.with(func(c *scope) {
			c.env = sc.env.copied()
			c.id = sc.id.child(numberFrame("item", i))
		})
		inner.env.bind(item, r.exprs.Ref(v))
		if err := r.expand(ctx, inner, el.Children, text); err != nil {
			return err
		}
	}
	if as != "" {
		r.capture(sc, as, text, out)
	}
	return nil
}

// capture binds text that was rendered aside. It never swallows an error: text
// with printed errors binds nothing, and they stand where it would have
// (language 5.7.4).
func (r *run) capture(sc *scope, as string, text, out *buffer) {
	if len(text.errs) > 0 {
		out.takeErrors(text)
		return
	}
	sc.env.bind(as, r.exprs.Ref(text.String()))
}

// printErrors prints what fails inside, where it fails (language 6.10).
func (r *run) printErrors(ctx context.Context, sc *scope, el *document.Element, out *buffer) error {
	if err := only(el); err != nil {
		err.ShowPos = true
		return r.raise(sc, out, err)
	}
	inner := sc.with(func(c *scope) {
		c.printing = true
		if c.mode != modeThrow {
			c.mode = modePrint
		}
	})
	return r.expand(ctx, inner, el.Children, out)
}

// A loop is one running Loop; a Break sets it.
type loop struct {
	strand *strand
	broke  bool
}

func (l *loop) broken() bool { return l != nil && l.broke }

// repeat expands its body up to max times (language 6.8).
func (r *run) repeat(ctx context.Context, sc *scope, el *document.Element, out *buffer) error {
	tag := loopTag(el)
	if err := loopProblem(el, tag); err != nil {
		return r.raise(sc, out, err)
	}
	a, _ := attr(el, "max")
	v, err := r.projected(ctx, sc, el, a)
	if err != nil {
		return r.raiseEval(sc, out, err)
	}
	if err := boundProblem(el, tag, v); err != nil {
		return r.raise(sc, out, err)
	}
	limit := v.(float64)
	name, _, _ := static(el, "name")
	return r.iterate(ctx, sc, el, out, limit, name)
}

// loopTag names a loop in a message.
func loopTag(el *document.Element) string {
	if name, _, _ := static(el, "name"); name != "" {
		return fmt.Sprintf("<Loop name=%q>", name)
	}
	return "<Loop>"
}

// boundProblem judges the bound of a loop.
func boundProblem(el *document.Element, tag string, v any) *Error {
	if limit, ok := v.(float64); ok && limit >= 1 && value.IsInteger(limit) {
		return nil
	}
	e := at(el, "max of %s must be a positive whole number, not %s", tag, quote(v))
	e.Code = "structural-usage-invalid"
	return e
}

func loopProblem(el *document.Element, tag string) *Error {
	wrong := only(el, "max", "name")
	name, isString, written := static(el, "name")
	_, bounded := attr(el, "max")
	switch {
	case wrong != nil:
		wrong.ShowPos = true
	case written && (!isString || name == ""):
		wrong = at(el, "name of <Loop> must be quoted text that is not empty")
	case !bounded:
		wrong = at(el, "%s needs max={n}, a positive whole number: there is no unbounded loop", tag)
	default:
		return nil
	}
	wrong.Code = "structural-usage-invalid"
	return wrong
}

func (r *run) iterate(ctx context.Context, sc *scope, el *document.Element, out *buffer, limit float64, name string) error {
	records := loopRecords{r: r, sc: sc, el: el, block: sc.strand.next(), name: name}
	state := &loop{strand: sc.strand}
	done := 0
	for float64(done) < limit && !state.broke {
		if err := sc.stopped(ctx); err != nil {
			return err
		}
		if err := records.enter(ctx, done); err != nil {
			return err
		}
		life := newLifetime(ctx)
		inner := sc.with(func(c *scope) {
			c.loop, c.life = state, life
			c.id = sc.id.child(numberFrame("iter", done))
		})
		done++
		err := life.end(r.expand(life.ctx, inner, el.Children, out))
		if err != nil {
			if fatal(ctx, err) {
				return err
			}
			if e := records.leave(ctx, done, "error"); e != nil {
				return e
			}
			return err
		}
	}
	outcome := "exhausted"
	if state.broke {
		outcome = "break"
	}
	return records.leave(ctx, done, outcome)
}

// stop ends the loop it is written in (language 6.9).
func (r *run) stop(_ context.Context, sc *scope, el *document.Element, out *buffer) error {
	wrong := breakProblems(el, sc.loop != nil)
	if sc.loop != nil && sc.loop.strand != sc.strand {
		wrong = append(wrong, at(el, "<Break /> cannot leave a <Spawn>"))
	}
	if len(wrong) == 0 {
		sc.loop.broke = true
	}
	return r.raiseAll(sc, out, wrong)
}

func breakProblems(el *document.Element, inLoop bool) []*Error {
	var wrong []*Error
	if err := only(el); err != nil {
		err.ShowPos = true
		wrong = append(wrong, err)
	}
	if !el.SelfClosing {
		wrong = append(wrong, at(el, "<Break /> is written self-closing, without content"))
	}
	if !inLoop {
		wrong = append(wrong, at(el, "<Break /> has no <Loop> around it in the text where it is written"))
	}
	return wrong
}

// substantive reports whether a child of a construct counts as content: white
// space and comments do not.
func substantive(n document.Node) bool {
	t, ok := n.(*document.Text)
	return !ok || !t.Comment && !blank(t.Value)
}

// shown is the beginning of a child, for a message.
func shown(n document.Node) string {
	text := ""
	switch n := n.(type) {
	case *document.Text:
		text = strings.TrimSpace(n.Value)
	case *document.Element:
		return "<" + n.Name + ">"
	case *document.Block:
		return "a code block"
	}
	if runes := []rune(text); len(runes) > 30 {
		text = string(runes[:30]) + "…"
	}
	return fmt.Sprintf("the text %q", text)
}
