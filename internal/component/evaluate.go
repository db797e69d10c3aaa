package component

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

//go:embed docs/evaluate.md
var evaluateDoc string

// Evaluate runs text the document did not author, under the profile its host stated
// before any document was read (fragments 11). A nil profile is none: the element
// then refuses. The profile is revoked by whoever captured it, when the execution
// has ended.
//
// It keeps the order that makes the promise: the whole text is read and decided
// (F1), what it may do is written down as the imports of a module (F4), the decision
// is durable (F6), and only then does anything run.
func Evaluate(profile *capability.Captured) engine.Component {
	runtime := sync.OnceValues(func() (*sandbox.Runtime, error) { return sandbox.New(context.Background()) })
	return engine.Component{
		Name:   "Evaluate",
		Origin: origin,
		Props: `{
			"text": {"type":"string","description":"the program; self-closing form only"},
			"allow": {"type":"array","items":{"type":"string","enum":["read","write"]},"minItems":1,"uniqueItems":true,"default":["read"],"description":"the tables of the profile it may use"}
		}`,
		Forms:  engine.Both,
		Effect: "read",
		Doc: engine.Doc{
			Description: "Runs a program that somebody else wrote, under exactly the profile the host of this run stated. The whole program is judged before any of it runs.",
			As:          "{output, observations}: what the program rendered, and each value it read as {name, value}",
			Context:     "The content renders the program. A <Syntax /> in it shows what the program may be written in.",
			Long:        evaluateDoc,
		},
		Run: func(ctx context.Context, c *engine.Call) (any, error) {
			return evaluate(ctx, c, profile, runtime)
		},
	}
}

func evaluate(ctx context.Context, c *engine.Call, profile *capability.Captured, runtime func() (*sandbox.Runtime, error)) (any, error) {
	grant, err := granted(c, profile)
	if err != nil {
		return nil, err
	}
	text := c.Text("text")
	if c.Paired() {
		narrowed := vocabulary(grant)
		narrowed.Judge = func(source string) (class, message string) {
			if refusal := admission.Preflight(c.Expansion(), source, grant).Refusal; refusal != nil {
				return string(refusal.Class), refusal.Error()
			}
			return "", ""
		}
		if text, err = c.Content(ctx, engine.Narrowed(narrowed)); err != nil {
			return nil, err
		}
		if !grant.Live() {
			return nil, fmt.Errorf("<%s> cannot run what its content rendered: %w", c.Name(), capability.ErrRevoked)
		}
	}
	program, err := decide(ctx, c, text, grant)
	if err != nil {
		return nil, err
	}
	rt, err := runtime()
	if err != nil {
		return nil, &engine.Infrastructure{Err: err}
	}
	result, err := rt.Run(ctx, program.module, grant, newWork(c, program).hooks())
	if err != nil {
		return nil, evaluationError(ctx, c, program, err)
	}
	if !c.Captured() {
		return result.Output, nil
	}
	return resultJSON(result), nil
}

// granted checks everything that can be wrong before a name is claimed or the
// content is rendered.
func granted(c *engine.Call, profile *capability.Captured) (*capability.Grant, error) {
	if profile == nil {
		return nil, fmt.Errorf("<%s> has nothing to judge a program by, because this run was given no profile; state one with --profile, or leave --no-evaluate out", c.Name())
	}
	written, _ := c.Props().Get("allow")
	names, _ := written.([]any)
	classes := make([]capability.Class, len(names))
	for i, name := range names {
		s, _ := name.(string)
		classes[i] = capability.Class(s)
	}
	switch {
	case c.Paired() && c.Has("text"):
		return nil, fmt.Errorf("<%s> was given two programs: write it as text={…}, or as content, not both", c.Name())
	case !c.Paired() && !c.Props().Has("text"):
		return nil, fmt.Errorf("<%s> was given no program: write <%s text={program} />, or a pair whose content renders it", c.Name(), c.Name())
	}
	grant, err := profile.Select(classes...)
	switch {
	case err != nil:
		return nil, fmt.Errorf("<%s> cannot be given what allow asks for: %w", c.Name(), err)
	case !grant.Live():
		return nil, fmt.Errorf("<%s> cannot run a program: %w", c.Name(), capability.ErrRevoked)
	}
	return grant, nil
}

// A program is an admitted fragment, compiled.
type program struct {
	id       string // what positions inside it are named by
	decision *admission.Decision
	module   *wasm.Module
}

// decide makes the decision and records it before it returns, or takes up the one a
// history holds: then the text that was admitted is what runs, and only under the
// ceilings it was admitted with (F6).
func decide(ctx context.Context, c *engine.Call, text string, grant *capability.Grant) (*program, error) {
	p := &program{id: c.Expansion()}
	_, err := c.Effect(ctx, engine.Effect{
		Type:    "generated_xmd",
		Name:    "generated:" + p.id,
		Members: []journal.Member{{Name: "input", Value: grant.Policy()}},
		Guard: func(e journal.Event) error {
			if e.Result.Status != journal.StatusOk {
				return admission.ErrUnreadable
			}
			return p.resume(e.Result.Value, text, grant)
		},
	}, func(context.Context) (any, error) {
		p.decision = admission.Preflight(p.id, text, grant)
		if p.decision.Refusal != nil {
			return p.decision.Record(nil), nil
		}
		var err error
		if p.module, err = wasm.Compile(p.decision.Program); err != nil {
			return nil, &withdrawn{&engine.Infrastructure{Err: err}}
		}
		return p.decision.Record(p.module), nil
	})
	if err != nil {
		return nil, err
	}
	if p.decision.Refusal != nil {
		return nil, &engine.Error{Code: engine.CodeRefused, Cause: p.decision.Refusal, Message: fmt.Sprintf("<%s>: %v", c.Name(), p.decision.Refusal)}
	}
	return p, nil
}

// resume takes up a recorded decision. A recorded refusal stays one.
func (p *program) resume(record any, text string, grant *capability.Grant) error {
	held, err := admission.Continue(p.id, record, &text, grant)
	var refusal *admission.Refusal
	switch {
	case errors.As(err, &refusal):
		p.decision = &admission.Decision{Refusal: refusal}
		return nil
	case err != nil:
		return err
	}
	p.decision = held.Decision
	if p.module, err = wasm.Compile(p.decision.Program); err != nil {
		return err
	}
	return held.Check(p.module)
}

// evaluationError is the error of a program that was admitted and failed.
func evaluationError(ctx context.Context, c *engine.Call, p *program, err error) error {
	var (
		failed    *sandbox.FailError
		operation *sandbox.OperationError
		infra     *engine.Infrastructure
	)
	switch {
	case journal.IsDurability(err), ctx.Err() != nil:
		return err
	case errors.As(err, &infra):
		return infra
	case errors.As(err, &failed):
		return &engine.Error{Message: failed.Message, Authored: true, Component: "Fail", Cause: err}
	case errors.As(err, &operation) && operation.Element != "": // else nobody knows the place
		at := p.position(operation.Offset)
		return &engine.Error{Message: fmt.Sprintf("<%s>: line %d, column %d of the program: <%s>: %v", c.Name(), at.Line, at.Column, operation.Element, operation.Err), Cause: err}
	}
	return &engine.Error{Message: fmt.Sprintf("<%s>: %v", c.Name(), err), Cause: err}
}

// vocabulary is what a program may be written in, as a syntax listing shows it to
// whoever is to write one.
func vocabulary(g *capability.Grant) *engine.Vocabulary {
	v := &engine.Vocabulary{Constructs: []string{}}
	if g.Dialect() == capability.Closed {
		v.Constructs = []string{"All", "Answer", "Answers", "Break", "Case", "Each", "Else", "If", "Let", "Loop", "Spawn", "Switch"}
	}
	var order []string
	byName := make(map[string]*engine.Component)
	for _, e := range g.Entries() {
		known := byName[e.Name]
		if known == nil {
			known = &engine.Component{Name: e.Name, Origin: e.Identity.String(), Props: e.Props, Effect: string(e.Effect)}
			byName[e.Name] = known
			order = append(order, e.Name)
		} else {
			known.Doc.Description += " "
			known.Origin += ", " + e.Identity.String()
		}
		if e.Forms&capability.SelfClosing != 0 {
			known.Forms |= engine.SelfClosing
		}
		if e.Forms&capability.Paired != 0 {
			known.Forms |= engine.Paired
		}
		known.Doc.Description += e.Describe
		if e.Binds() {
			known.Doc.As = "the value it returns; as may be left out"
		}
	}
	components := make([]engine.Component, len(order))
	for i, name := range order {
		components[i] = *byName[name]
	}
	v.Library = engine.NewLibrary(nil, components)
	return v
}

// JSON of an evaluation, as as binds it.
func resultJSON(r sandbox.Result) *value.Object {
	seen := make([]any, len(r.Observations))
	for i, o := range r.Observations {
		seen[i] = value.Of("name", o.Name, "value", o.Value)
	}
	return value.Of("output", r.Output, "observations", seen)
}
