package component

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

// A work connects one running program with the execution around it: its effects
// become durable effects whose positions name the program, its questions go to
// whoever answers questions here.
type work struct {
	call   *engine.Call
	g      *engine.Generated
	places *places
	names  map[int]string          // of loops, by element
	loops  []*engine.GeneratedLoop // open, innermost last
}

// places knows the position of every element of a program.
type places struct {
	offsets   []int // ascending
	positions []document.Position
}

func (p *places) at(offset int) document.Position {
	i := sort.SearchInts(p.offsets, offset)
	if i == len(p.offsets) || p.offsets[i] != offset {
		return document.Position{}
	}
	return p.positions[i]
}

func (p *program) places() *places {
	offsets := make([]int, len(p.module.Elements))
	for i, e := range p.module.Elements {
		offsets[i] = e.Offset
	}
	return &places{offsets, document.Positions(p.id, p.decision.Source, offsets)}
}

// position is the position of one offset, for a message.
func (p *program) position(offset int) document.Position {
	return document.Positions(p.id, p.decision.Source, []int{offset})[0]
}

func newWork(c *engine.Call, p *program) *work {
	return &work{call: c, g: c.Generated(p.id), places: p.places(), names: loopNames(nil, p.decision.Program.Body)}
}

// loopNames finds the names of the loops in nodes, by element.
func loopNames(names map[int]string, nodes []wasm.Node) map[int]string {
	for _, n := range nodes {
		switch n := n.(type) {
		case *wasm.Loop:
			if n.Name != "" {
				if names == nil {
					names = make(map[int]string)
				}
				names[n.Element] = n.Name
			}
			names = loopNames(names, n.Body)
		case *wasm.Invoke:
			names = loopNames(names, n.Body)
		case *wasm.Let:
			names = loopNames(names, n.Body)
		case *wasm.If:
			names = loopNames(loopNames(names, n.Then), n.Else)
		case *wasm.Switch:
			for _, c := range n.Cases {
				names = loopNames(names, c.Body)
			}
			names = loopNames(names, n.Default)
		case *wasm.Each:
			names = loopNames(names, n.Body)
		case *wasm.Answers:
			for _, a := range n.Answers {
				names = loopNames(names, a.Children)
			}
			names = loopNames(names, n.Body)
		case *wasm.All:
			for _, child := range n.Spawns {
				names = loopNames(names, child.Body)
			}
		}
	}
	return names
}

func (w *work) hooks() sandbox.Hooks {
	return sandbox.Hooks{Effect: w.effect, Ask: w.ask, Replaying: w.g.Replaying, Fork: w.fork, Iteration: w.iteration, LoopEnd: w.loopEnd}
}

// effect performs one operation of the program as a durable effect. The record says
// under which identity it was done and what was asked, and the position names the
// program: that is how a reader later tells whose it was.
func (w *work) effect(ctx context.Context, s sandbox.Site, e *capability.Granted, c capability.Call, do func(context.Context) (any, error)) (any, error) {
	record := e.Record(c)
	pos := w.places.at(s.Offset)
	expansion := w.g.Expansion(way(s.Path))
	name := e.Identity.Key + ":" + expansion
	switch record.Type {
	case "fetch":
		name = "fetch:" + expansion
	case "elicit":
		name = "elicit:" + pos.String()
	}
	members := []journal.Member{
		{Name: memberCapability, Value: e.Identity.String()},
		{Name: "input", Value: record.Input},
	}
	for _, m := range record.Extra {
		members = append(members, journal.Member{Name: m.Name, Value: m.Value})
	}
	ctx, withdraw := context.WithCancelCause(ctx)
	defer withdraw(nil)
	return w.g.Effect(ctx, engine.Effect{
		Type: record.Type, Name: name, Members: members, Guard: guardOperation(e, members),
	}, pos, expansion, func(ctx context.Context) (any, error) {
		v, err := do(ctx)
		if err != nil && unsettled(err) {
			withdraw(err)
		}
		return v, err
	})
}

// memberCapability names the identity an effect of a program was performed under.
const memberCapability = "executablemd.capability"

// unsettled reports whether an operation settled nothing, so that another execution
// may try it again.
func unsettled(err error) bool {
	var w *withdrawn
	return errors.As(err, &w) || errors.Is(err, capability.ErrRevoked) || errors.Is(err, capability.ErrNobody) || errors.Is(err, context.Canceled)
}

// guardOperation refuses a recorded effect of another identity or with another
// input, and one whose value its entry does not return.
func guardOperation(e *capability.Granted, asked []journal.Member) func(journal.Event) error {
	return func(recorded journal.Event) error {
		for _, m := range asked {
			was, _ := recorded.Description.Get(m.Name)
			if !value.Equal(was, m.Value) {
				return fmt.Errorf("the recorded %s was asked for something else than the program asks for now", e.Identity.Key)
			}
		}
		if recorded.Result.Status != journal.StatusOk {
			return nil
		}
		v := recorded.Result.Value
		if !recorded.Result.HasValue {
			v = value.Undefined{}
		}
		if err := e.CheckResult(v); err != nil {
			return fmt.Errorf("the recorded result of %s is not one it returns", e.Identity.Key)
		}
		return nil
	}
}

func way(path []sandbox.Step) []engine.Frame {
	frames := make([]engine.Frame, len(path))
	for i, s := range path {
		frames[i] = engine.Frame{Kind: kinds[s.Kind], Name: s.Name, Offset: s.Offset, Index: s.Index}
	}
	return frames
}

var kinds = [...]engine.FrameKind{
	sandbox.Element:     engine.ElementFrame,
	sandbox.Content:     engine.ContentFrame,
	sandbox.Item:        engine.ItemFrame,
	sandbox.Iteration:   engine.IterationFrame,
	sandbox.AnswersBody: engine.AnswersFrame,
	sandbox.Spawned:     engine.SpawnFrame,
}

// ask asks the provider of the place where the program runs (fragments 10).
func (w *work) ask(ctx context.Context, q capability.Question) (any, error) {
	provider := w.call.Elicitor()
	if provider == nil {
		return nil, capability.ErrNobody
	}
	v, err := provider.Ask(ctx, engine.Question{Message: q.Message, Schema: q.Schema})
	if err != nil && ctx.Err() == nil && errors.Is(err, context.Canceled) {
		return nil, &withdrawn{&engine.Infrastructure{Err: fmt.Errorf("<Elicit> got no answer: %w", err)}}
	}
	return v, err
}

func (w *work) iteration(ctx context.Context, s sandbox.Site, i int) error {
	if i == 0 {
		w.loops = append(w.loops, w.g.Loop(w.names[s.Element], w.places.at(s.Offset)))
	}
	return w.loops[len(w.loops)-1].Enter(ctx, i)
}

func (w *work) loopEnd(ctx context.Context, _ sandbox.Site, iterations int, broken bool, failure error) error {
	outcome := "exhausted"
	switch {
	case failure != nil:
		outcome = "error"
	case broken:
		outcome = "break"
	}
	last := len(w.loops) - 1
	l := w.loops[last]
	w.loops = w.loops[:last]
	return l.Leave(ctx, iterations, outcome)
}

// fork gives concurrent children coroutines of their own. What a child came to is
// in its close, and a history that holds it is believed; a child that failed fails
// again from its effects, as elsewhere in a document.
func (w *work) fork(n int) []sandbox.Child {
	children := make([]sandbox.Child, n)
	for i, g := range w.g.Fork(n) {
		inner := &work{call: w.call, g: g.Generated, places: w.places, names: w.names}
		children[i] = sandbox.Child{
			Hooks:  inner.hooks(),
			Failed: g.Recorded() == journal.StatusErr,
			Restore: func(ctx context.Context) (sandbox.Result, bool, error) {
				v, ok, err := g.Restore(ctx)
				if err != nil || !ok {
					return sandbox.Result{}, false, err
				}
				r, ok := readResult(v)
				if !ok {
					return r, false, g.Malformed()
				}
				return r, true, nil
			},
			End: func(ctx context.Context, r sandbox.Result, err error) error {
				stopped := err != nil && context.Cause(ctx) == sandbox.ErrSiblingFailed
				return g.Close(ctx, closeValue(r), err, stopped)
			},
		}
	}
	return children
}

// closeValue is the result of a concurrent child in its close: what it rendered and
// saw, and what it used of the bounds it shares with its siblings.
func closeValue(r sandbox.Result) *value.Object {
	o := resultJSON(r)
	o.Set("steps", float64(r.Steps))
	o.Set("values", float64(r.Values))
	return o
}

// readResult reads what closeValue wrote, and nothing else.
func readResult(v any) (r sandbox.Result, ok bool) {
	o, _ := v.(*value.Object)
	if o == nil || !slices.Equal(o.Keys(), []string{"output", "observations", "steps", "values"}) {
		return r, false
	}
	r.Output, ok = o.String("output")
	listed, _ := o.Get("observations")
	seen, isList := listed.([]any)
	if !ok || !isList {
		return r, false
	}
	for _, item := range seen {
		e, _ := item.(*value.Object)
		name, named := e.String("name")
		v, has := e.Get("value")
		if e.Len() != 2 || !named || !has {
			return r, false
		}
		r.Observations = append(r.Observations, sandbox.Observation{Name: name, Value: v})
	}
	var steps, values bool
	r.Steps, steps = countOf(o, "steps")
	r.Values, values = countOf(o, "values")
	return r, steps && values
}

func countOf(o *value.Object, member string) (int, bool) {
	v, _ := o.Get(member)
	f, ok := v.(float64)
	return int(f), ok && value.IsInteger(f) && f >= 0 && f <= math.MaxInt32
}
