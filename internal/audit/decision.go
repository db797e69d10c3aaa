package audit

import (
	"context"
	"errors"
	"strings"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/wasm"
)

// The words of a history that belong to generated text.
const (
	typeDecision   = "generated_xmd"
	decisionPrefix = "generated:"
	typeLoop       = "loop"
	typeIteration  = "loop_iteration"
	memberIdentity = "executablemd.capability"
	memberMessage  = "executablemd.elicitation-message"
	memberSchema   = "executablemd.elicitation-schema"
)

// An examiner goes through a history twice: first it makes every decision again,
// then it holds every effect against its decision. So an effect that stands before
// its decision is told from one that has none.
type examiner struct {
	ctx       context.Context
	journal   *Journal
	events    []journal.Event
	yardstick *capability.Grant // a grant to read records with

	byID   map[string][]int    // decisions by fragment
	made   []*remade           // by decision; nil: nothing of it is believed
	usages map[string]int      // index in journal.Identities
	grants map[string]*rebuilt // by the JSON of their policies
	work   int64               // of matching that may still be done
}

// A remade decision is an admission that was made again from its record.
type remade struct {
	grant    *capability.Grant
	foreign  map[string]bool
	requests map[string][]*value.Object // ceilings by identity, as recorded
	elements map[int]*element           // by offset; nil when the source could not be read again
	readers  map[string]*capability.Granted
}

// An element is what the source of an admission says about one element, and how
// often the history says it took effect.
type element struct {
	knowledge
	name     string
	identity string
	at       document.Position
	count    int
}

func (x *examiner) run() error {
	x.usages, x.grants = map[string]int{}, map[string]*rebuilt{}
	for i, e := range x.events {
		if e.Type != journal.TypeYield {
			continue
		}
		if kind, _ := e.Description.String("type"); kind == typeDecision {
			if err := x.decision(i, e); err != nil {
				return err
			}
		}
	}
	for _, several := range x.byID {
		if len(several) > 1 {
			for _, i := range several {
				x.made[i], x.journal.Decisions[i].Verdict = nil, Doubted
			}
		}
	}
	for i, e := range x.events {
		if e.Type != journal.TypeYield {
			continue
		}
		if err := x.ctx.Err(); err != nil {
			return context.Cause(x.ctx)
		}
		x.yield(i, e)
	}
	return nil
}

// place is the record of an event in the file: each is one line.
func (x *examiner) place(event int) Place {
	return Place{File: x.journal.File, Line: event + 1, Column: 1}
}

func (x *examiner) add(code string, event int, format string, args ...any) {
	x.journal.Findings = append(x.journal.Findings, finding(code, x.place(event), format, args...))
}

// decision makes one decision again.
func (x *examiner) decision(i int, e journal.Event) error {
	if x.ctx.Err() != nil {
		return context.Cause(x.ctx)
	}
	d := Decision{Line: i + 1, Coroutine: e.CoroutineID, Verdict: Doubted}
	d.At, _, _ = e.Position()
	name, _ := e.Description.String("name")
	id, named := strings.CutPrefix(name, decisionPrefix)
	d.ID = id
	var made *remade
	switch {
	case !named || id == "":
		x.add("decision-malformed", i, "the decision is named %q and not %sID, so no effect can belong to it", brief(name), decisionPrefix)
	case d.At.Generated != "":
		x.add("decision-malformed", i, "the decision says that it was made inside a fragment, and no fragment evaluates another")
	case e.Result.Status != journal.StatusOk:
		x.add("decision-malformed", i, "the decision came to %q and holds no record", e.Result.Status)
	default:
		made = x.remake(i, e, &d)
	}
	at := len(x.journal.Decisions)
	if first := x.byID[id]; named && len(first) > 0 {
		x.add("decision-repeated", i, "the fragment %s was decided about before, on line %d; neither decision is believed", brief(id), x.journal.Decisions[first[0]].Line)
	}
	if named {
		x.byID[id] = append(x.byID[id], at)
	}
	x.journal.Decisions = append(x.journal.Decisions, d)
	x.made = append(x.made, made)
	return nil
}

// remake reads a record and decides again. It returns nil for a refusal, and where
// the record cannot be believed.
func (x *examiner) remake(i int, e journal.Event, d *Decision) *remade {
	record, _ := e.Result.Value.(*value.Object)
	verdict, _ := record.String("decision")
	var refusal *admission.Refusal
	// Read under any grant: the order in which a continuation looks for faults says
	// whether the record is one at all before it compares what it was admitted under.
	_, err := admission.Continue(d.ID, e.Result.Value, nil, x.yardstick)
	switch {
	case errors.Is(err, admission.ErrUnreadable):
		x.add("decision-unreadable", i, "the record of the decision is not one this program writes, or not that of its own source")
		return nil
	case verdict == "refused" && errors.As(err, &refusal):
		d.Verdict, d.Class = Refused, string(refusal.Class)
		return nil
	}
	policy := x.describe(record, d)
	input, _ := e.Description.Get("input")
	if !value.Equal(input, policy) {
		x.add("policy-unlike", i, "the policy the decision was asked under is not the one its record states, so it is not known what was granted")
		return nil
	}
	again, err := x.rebuild(policy)
	if err != nil {
		x.add("policy-unusable", i, "the recorded policy is none this program can have stated: %v", err)
		return nil
	}
	return x.again(i, d, e.Result.Value, again)
}

// rebuild makes the grant of a policy once. Most decisions of a history have the same.
func (x *examiner) rebuild(policy *value.Object) (*rebuilt, error) {
	key, err := value.JSON(policy)
	if err != nil {
		return nil, err
	}
	if known := x.grants[key]; known != nil {
		return known, nil
	}
	made, err := rebuild(x.ctx, policy)
	if err == nil {
		x.grants[key] = made
	}
	return made, err
}

// describe takes over what a readable record says.
func (x *examiner) describe(record *value.Object, d *Decision) *value.Object {
	p, _ := record.Get("policy")
	policy, _ := p.(*value.Object)
	d.Source, _ = record.String("digest")
	d.Module, _ = record.String("module")
	d.Allow = texts(policy, "allow")
	d.Dialect, _ = policy.String("dialect")
	d.Entries = entries(policy)
	n, _ := record.Get("named")
	named, _ := n.([]any)
	d.Elements = len(named)
	for _, item := range named {
		o, _ := item.(*value.Object)
		identity, _ := o.String("identity")
		x.usage(identity).Named++
	}
	return policy
}

// again decides about the recorded source under the rebuilt grant, and compiles it.
func (x *examiner) again(i int, d *Decision, record any, r *rebuilt) *remade {
	made := &remade{grant: r.grant, foreign: r.foreign, requests: map[string][]*value.Object{}, readers: map[string]*capability.Granted{}}
	for _, e := range d.Entries {
		for _, request := range e.Ceiling.Requests {
			made.requests[e.Identity] = append(made.requests[e.Identity], recordedRequest(request))
		}
		if r.foreign[e.Identity] {
			x.add("foreign-entry", i, "the policy has the entry %s, which this program does not know: what its elements were given is not judged", e.Identity)
		}
	}
	if !x.affords(d, record) {
		x.add("unverified", i, "so many paths are held against so many patterns that this decision was not made again")
		return nil
	}
	held, err := admission.Continue(d.ID, record, nil, r.grant)
	var refusal *admission.Refusal
	switch {
	case errors.As(err, &refusal) && namesForeign(record, r):
		d.Verdict = Admitted
		return made
	case errors.As(err, &refusal):
		x.add("source-refused", i, "the recorded source is not admitted under the recorded policy: %s", refusal.Class)
		return nil
	case err != nil:
		x.add("source-unlike", i, "the elements the decision records are not those of its source")
		return nil
	}
	module, err := wasm.Compile(held.Decision.Program)
	if err == nil {
		err = held.Check(module)
	}
	if err != nil {
		x.add("module-unlike", i, "the module the decision records is not what its source compiles to")
		return nil
	}
	d.Verdict = Admitted
	made.learn(held.Decision, r.grant)
	return made
}

// affords takes the work of deciding again from what is left: each element may write
// a path as long as the source allows.
func (x *examiner) affords(d *Decision, record any) bool {
	o, _ := record.(*value.Object)
	source, _ := o.String("source")
	size := d.Elements * min(len(source), capability.MaxPath)
	for _, e := range d.Entries {
		if !x.spend(size, e.Ceiling.Paths) {
			return false
		}
	}
	return true
}

// namesForeign reports whether a source has elements whose props only another binary
// can judge.
func namesForeign(record any, r *rebuilt) bool {
	o, _ := record.(*value.Object)
	n, _ := o.Get("named")
	named, _ := n.([]any)
	for _, item := range named {
		e, _ := item.(*value.Object)
		if identity, _ := e.String("identity"); r.foreign[identity] {
			return true
		}
	}
	return false
}

// learn surveys the source.
func (m *remade) learn(d *admission.Decision, grant *capability.Grant) {
	at := positions(d)
	m.elements = make(map[int]*element, len(at))
	for n, k := range survey(d.Program, grant) {
		row := d.Program.Elements[n]
		m.elements[row.Offset] = &element{knowledge: k, name: row.Name, identity: row.Identity, at: at[n]}
	}
}

// usage is the count of an identity.
func (x *examiner) usage(identity string) *Usage {
	i, known := x.usages[identity]
	if !known {
		i = len(x.journal.Identities)
		x.usages[identity] = i
		x.journal.Identities = append(x.journal.Identities, Usage{Identity: identity})
	}
	return &x.journal.Identities[i]
}
