package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

// fragmentID names the fragment of a case in positions.
const fragmentID = "case"

// A judge is what the cases of a run share.
type judge struct {
	runtime func() (*sandbox.Runtime, error) // made when a case needs it
	made    *sandbox.Runtime                 // nil: none did
	mu      sync.Mutex
	grants  map[string]*granted // by profile and selection, as written
}

// close releases the runtime when nothing runs in it any more.
func (j *judge) close(ctx context.Context) {
	if j.made != nil {
		_ = j.made.Close(ctx) // it holds memory and nothing else
	}
}

// A granted is what a profile and a selection come to.
type granted struct {
	grant *capability.Grant
	err   error
}

// A fact is what came of a fragment.
type fact struct {
	decision *admission.Decision
	run      *run // nil: not evaluated
}

// A run is what came of an evaluation.
type run struct {
	result  sandbox.Result
	effects []string
	failure error // nil, *sandbox.LimitError, *sandbox.OperationError or *sandbox.FailError
}

// judge judges one case. The error is that of the context, or of a runtime that
// cannot be made.
func (j *judge) judge(ctx context.Context, c *Case) (Outcome, error) {
	o := Outcome{Name: c.name, Problems: append([]string(nil), c.problems...), shows: map[string]bool{}}
	if len(o.Problems) > 0 {
		return o, nil
	}
	g, err := j.grant(c)
	if err != nil {
		o.Problems = []string{err.Error()}
		return o, nil
	}
	f := fact{decision: admission.Preflight(fragmentID, c.fragment, g)}
	o.Decision = decided(f.decision)
	if c.script != nil && f.decision.Refusal == nil {
		played := &performance{script: c.script, taken: map[string]int{}}
		if f.run, err = j.evaluate(ctx, f.decision, g, played); err != nil {
			if ctx.Err() != nil {
				return o, context.Cause(ctx)
			}
			o.Problems = append(o.Problems, err.Error())
		}
		o.Evaluated = f.run != nil
		o.Problems = append(o.Problems, played.left(g)...)
		if f.run == nil || played.problem != "" {
			return o, nil
		}
	}
	sound := o.Passed()
	c.compare(&o, expectations(c, f))
	if !sound {
		o.Archive, o.Changes = nil, nil
	}
	if o.Passed() && c.script != nil && f.run == nil {
		o.Problems = append(o.Problems, "it has results, and what it wants is a refusal, so nothing is evaluated; remove results")
	}
	return o, j.cover(ctx, &o, c, f)
}

// grant captures the profile of a case. Equal profiles are captured once.
func (j *judge) grant(c *Case) (*capability.Grant, error) {
	text, _ := c.member(memberProfile)
	key := fmt.Sprintf("%t%q%q", c.profile == nil, c.allow, text)
	j.mu.Lock()
	defer j.mu.Unlock()
	known := j.grants[key]
	if known == nil {
		known = &granted{}
		known.grant, known.err = c.grant(nil)
		j.grants[key] = known
	}
	return known.grant, known.err
}

// grant captures the profile of a case after change, which may be nil, has changed
// it. Nothing is opened: a root that is nil has no files, and no operation that would
// need one is called.
func (c *Case) grant(change func(*capability.Profile)) (*capability.Grant, error) {
	m := capability.Machine{
		Root:    func(string, string) (*os.Root, error) { return nil, nil },
		Client:  noClient{},
		Dialect: capability.Closed,
	}
	bind := capability.Standard
	if c.profile != nil {
		bind = c.profile.Profile
	}
	p, err := bind(m)
	if err != nil {
		return nil, fmt.Errorf("profile.yaml: %w", err)
	}
	if change != nil {
		change(&p)
	}
	captured, err := capability.Capture(context.Background(), p)
	if err != nil {
		return nil, fmt.Errorf("profile.yaml: %w", err)
	}
	g, err := captured.Select(c.allow...)
	if err != nil {
		return nil, fmt.Errorf("allow: %w", err)
	}
	return g, nil
}

// noClient performs no request.
type noClient struct{}

func (noClient) Do(context.Context, capability.Normal, int) (capability.Response, error) {
	return capability.Response{}, errors.New("a suite performs no request")
}

// evaluate runs an admitted fragment. The error is what no expectation can say: the
// end of the context, or a fault of the product.
func (j *judge) evaluate(ctx context.Context, d *admission.Decision, g *capability.Grant, p *performance) (*run, error) {
	rt, err := j.runtime()
	if err != nil {
		return nil, err
	}
	m, err := wasm.Compile(d.Program)
	if err != nil {
		return nil, fmt.Errorf("the admitted fragment cannot be compiled: %w", err)
	}
	result, err := rt.Run(ctx, m, g, p.hooks())
	r := &run{result: result, effects: p.effects, failure: err}
	if err != nil && failure(err) == "" {
		return nil, fmt.Errorf("the admitted fragment cannot be evaluated: %w", err)
	}
	return r, nil
}

// decided is a decision as a case states it, without the identities.
func decided(d *admission.Decision) string {
	if d.Refusal != nil {
		return "refused: " + string(d.Refusal.Class)
	}
	return "admitted"
}

// failure is how an evaluation failed, as a case states it; empty for what no case
// states.
func failure(err error) string {
	var limit *sandbox.LimitError
	var authored *sandbox.FailError
	var operation *sandbox.OperationError
	switch {
	case errors.As(err, &limit):
		return "limit: " + limit.Bound
	case errors.As(err, &authored):
		return "fail: " + string(value.AppendString(nil, authored.Message))
	case errors.As(err, &operation):
		return "operation"
	}
	return ""
}

// wanted is the text of want for a decision.
func wanted(d *admission.Decision) string {
	lines := []string{decided(d)}
	for _, n := range d.Named {
		lines = append(lines, n.Identity)
	}
	return strings.Join(lines, "\n") + "\n"
}
