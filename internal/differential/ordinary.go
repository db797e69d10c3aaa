package differential

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/component"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/engine"
	"github.com/executable-markdown/xmd/internal/host"
	"github.com/executable-markdown/xmd/internal/journal"
	"github.com/executable-markdown/xmd/internal/value"
)

// preamble makes a value document of what follows, which runs in error mode throw as
// fragments do (fragments 4); its Return selects a value and ends nothing. What it
// renders is afterPreamble.
const (
	preamble      = "---\nreturns: {type: \"null\"}\n---\n<Return value={null} />\n"
	afterPreamble = "\n"
)

// workingDirectory is where the cursor of an ordinary document begins.
const workingDirectory = "/work"

// Members of the description of an effect, by which outcomes are told from a history.
const (
	memberEffect   = "differential.effect"
	memberObserved = "differential.observed"
)

// Ordinary runs a source as an ordinary document whose only components are the
// entries of the bench. An error is a run that could not be carried through.
func (b *Bench) Ordinary(ctx context.Context, d capability.Dialect, source string) (Outcome, error) {
	parsed, err := document.Parse("ordinary.md", []byte(preamble+source))
	if err != nil {
		return Outcome{}, err
	}
	root, err := engine.Load(parsed, nil)
	if err != nil {
		return Outcome{}, err
	}
	j, err := journal.Open(ctx, &bounded{Stream: journal.NewMemory()}, journal.Options{})
	if err != nil {
		return Outcome{}, err
	}
	body := ""
	result, err := engine.Run(ctx, root, engine.Options{
		Host:     host.Host{Dir: workingDirectory},
		Library:  b.libraries[d],
		Journal:  j,
		Elicitor: asked{},
		Body:     func(text string) error { body += text; return nil },
	})
	if err != nil {
		return Outcome{}, err
	}
	var o Outcome
	o.read(j.Events())
	var authored *engine.Error
	var panicked runtime.Error
	switch {
	case result.Err == nil:
		o.Output = strings.TrimPrefix(body, afterPreamble)
		return o, nil
	case errors.As(result.Err, &authored) && authored.Authored:
		o.Failure = Failed
	case errors.As(result.Err, &panicked):
		o.Failure = Panic
	default:
		o.Failure = Operation
	}
	o.Observations = nil
	return o, nil
}

// maxEvents is more than a fragment can leave within its steps.
const maxEvents = 100_000

var errEndless = errors.New("the document goes on and on")

// A bounded stream ends a document that goes on where its fragment did not.
type bounded struct {
	journal.Stream
	events int
}

func (b *bounded) Append(ctx context.Context, e journal.Event) error {
	if b.events++; b.events > maxEvents {
		return errEndless
	}
	return b.Stream.Append(ctx, e)
}

// asked is the provider as ordinary documents know it.
type asked struct{}

func (asked) Ask(ctx context.Context, q engine.Question) (any, error) {
	return provider(ctx, capability.Question{Message: q.Message, Schema: q.Schema})
}

// read takes effects and observations from a history.
func (o *Outcome) read(events []journal.Event) {
	o.Effects = map[string][]string{}
	for _, i := range inDocumentOrder(events) {
		e := events[i]
		effect, ours := effectOf(e)
		if !ours {
			continue
		}
		o.Effects[e.CoroutineID] = append(o.Effects[e.CoroutineID], effect)
		if name, observed := e.Description.String(memberObserved); observed && e.Result.Status == journal.StatusOk {
			o.Observations = append(o.Observations, observation(name, e.Result.Value))
		}
	}
}

// effectOf is what an event records: an operation, or what became of a loop.
func effectOf(e journal.Event) (effect string, ours bool) {
	if effect, ours = e.Description.String(memberEffect); ours {
		return effect, true
	}
	o, _ := e.Result.Value.(*value.Object)
	switch kind, _ := e.Description.String("type"); kind {
	case "loop_iteration":
		i, _ := o.Get("iteration")
		n, _ := i.(float64)
		return round(int(n)), true
	case "loop":
		rounds, _ := o.Get("iterations")
		n, _ := rounds.(float64)
		outcome, _ := o.String("outcome")
		return ended(int(n), outcome), true
	}
	return "", false
}

// inDocumentOrder puts the events of concurrent children, which stand in the order
// they happened, after one another. A parent waits for its children: what it did
// before them stands before everything of theirs, and what it does later after.
func inDocumentOrder(events []journal.Event) []int {
	type place struct {
		event int
		at    []int // alternately the parent's event before, and the child's number
	}
	places := make([]place, len(events))
	last := map[string]int{} // of a coroutine's own events so far
	for i, e := range events {
		var at []int
		id := ""
		for n, part := range strings.Split(e.CoroutineID, ".") {
			if n > 0 {
				child, _ := strconv.Atoi(part)
				at = append(at, last[id], child)
				id += "."
			}
			id += part
		}
		last[id] = i
		places[i] = place{i, append(at, i)}
	}
	slices.SortStableFunc(places, func(a, b place) int { return slices.Compare(a.at, b.at) })
	order := make([]int, len(places))
	for i, p := range places {
		order[i] = p.event
	}
	return order
}

// library is the components of an ordinary document that has the entries of a grant
// and no others. The pure ones are those every document has: they mean the same.
func (b *Bench) library(g *capability.Grant) *engine.Library {
	var components []engine.Component
	known := map[string]bool{}
	for _, e := range g.Entries() {
		if known[e.Name] {
			continue
		}
		known[e.Name] = true
		if e.Effect == capability.Pure {
			components = append(components, slices.DeleteFunc(component.Defaults(), func(c engine.Component) bool { return c.Name != e.Name })...)
			continue
		}
		closed, _ := g.Lookup(e.Name, capability.SelfClosing)
		paired, _ := g.Lookup(e.Name, capability.Paired)
		components = append(components, b.component(e, closed, paired))
	}
	return engine.NewLibrary(nil, components)
}

// component is one name in the forms it has. It declares no returns: as is never
// required in a fragment (fragments 4), and what it returns is judged all the same.
func (b *Bench) component(e, closed, paired *capability.Granted) engine.Component {
	c := engine.Component{Name: e.Name, Origin: e.Identity.Origin, Props: e.Entry.Props, Effect: string(e.Effect)}
	if closed != nil {
		c.Forms |= engine.SelfClosing
	}
	if paired != nil {
		c.Forms |= engine.Paired
	}
	c.Run = func(ctx context.Context, call *engine.Call) (any, error) {
		if call.Paired() {
			return b.pair(ctx, call, paired)
		}
		u := use(call, capability.SelfClosing)
		if v := closed.Check(judged(u)); v != nil {
			return nil, v
		}
		return b.do(ctx, call, closed, u)
	}
	return c
}

func use(call *engine.Call, form capability.Form) capability.Call {
	dir := strings.TrimPrefix(strings.TrimPrefix(call.Dir(), workingDirectory), "/")
	ask := func(ctx context.Context, q capability.Question) (any, error) {
		return call.Elicitor().Ask(ctx, engine.Question{Message: q.Message, Schema: q.Schema})
	}
	return capability.Call{Element: call.Name(), Form: form, Props: call.Props(), Dir: dir, Limit: limits().Value, Ask: ask}
}

func judged(c capability.Call) capability.Use {
	return capability.Use{Form: c.Form, Props: c.Props, Dir: c.Dir, DirKnown: true}
}

// pair is a paired element: judged and, where it makes a place, made before its
// content expands (fragments 8).
func (b *Bench) pair(ctx context.Context, call *engine.Call, e *capability.Granted) (any, error) {
	u := use(call, capability.Paired)
	if v := e.Check(judged(u)); v != nil {
		return nil, v
	}
	var settings []engine.Setting
	if e.Moves() {
		_, err := b.perform(ctx, call, e, u, true, func(ctx context.Context) (any, error) { return nil, e.Enter(ctx, u) })
		if err != nil {
			return nil, err
		}
		settings = append(settings, engine.InDir(strings.TrimSuffix(workingDirectory+"/"+e.Target(u.Dir, u.Props), "/")))
	}
	var err error
	if u.Content, err = call.Content(ctx, settings...); err != nil {
		return nil, err
	}
	if e.Op.Do == nil { // it renders its content
		return u.Content, nil
	}
	return b.do(ctx, call, e, u)
}

func (b *Bench) do(ctx context.Context, call *engine.Call, e *capability.Granted, u capability.Call) (any, error) {
	return b.perform(ctx, call, e, u, false, func(ctx context.Context) (any, error) {
		v, err := e.Do(ctx, u)
		if err == nil {
			err = e.CheckResult(v)
		}
		return v, err
	})
}

func (b *Bench) perform(ctx context.Context, call *engine.Call, e *capability.Granted, u capability.Call, entering bool, live func(context.Context) (any, error)) (any, error) {
	members := []journal.Member{{Name: memberEffect, Value: b.effect(e, u, entering)}}
	if e.Effect == capability.Read && e.Binds() && !entering {
		members = append(members, journal.Member{Name: memberObserved, Value: call.Name()})
	}
	v, err := call.Effect(ctx, engine.Effect{Type: "capability", Name: e.Identity.Key, Members: members}, live)
	if _, absent := v.(value.Undefined); absent {
		return nil, err
	}
	return v, err
}
