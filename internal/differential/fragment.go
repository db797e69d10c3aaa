package differential

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/executable-markdown/xmd/admission"
	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/sandbox"
	"github.com/executable-markdown/xmd/wasm"
)

// rootID is the coroutine a source begins on.
const rootID = "root"

// A Fragment is a source that was read under a bench: a refusal, or a module.
type Fragment struct {
	Refused string
	Program *wasm.Program
	Module  *wasm.Module
	grant   *capability.Grant
}

// Read decides about a source and compiles it. An error is a program that cannot be
// compiled: a fault of the compiler.
func (b *Bench) Read(d capability.Dialect, source string) (*Fragment, error) {
	grant := b.grants[d]
	decision := admission.Preflight("differential", source, grant)
	if decision.Refusal != nil {
		return &Fragment{Refused: string(decision.Refusal.Class)}, nil
	}
	m, err := wasm.Compile(decision.Program)
	if err != nil {
		return nil, err
	}
	return &Fragment{Program: decision.Program, Module: m, grant: grant}, nil
}

// Sandbox evaluates a fragment in an engine. Every concurrent child runs to its end,
// whatever becomes of its siblings, so that the outcome does not depend on a schedule.
func (b *Bench) Sandbox(ctx context.Context, f *Fragment, e Evaluator) Outcome {
	if f.Refused != "" {
		return Outcome{Refused: f.Refused}
	}
	l := &log{bench: b, effects: map[string][]string{}, failures: map[string]bool{}}
	r, err := e.Run(ctx, f.Module, f.grant, l.hooks(rootID))
	o := Outcome{
		Failure: kindOf(err), Output: r.Output, Effects: l.effects, Failures: l.failures, Steps: r.Steps, Values: r.Values,
	}
	for _, seen := range r.Observations {
		o.Observations = append(o.Observations, observation(seen.Name, seen.Value))
	}
	for _, i := range f.Module.Imports {
		o.Imports = append(o.Imports, i.Module+"."+i.Field)
	}
	return o
}

// observation is how an observation is compared.
func observation(name string, v any) string {
	text, err := value.JSON(v)
	if err != nil {
		text = err.Error()
	}
	return fmt.Sprintf("%s %s", name, text)
}

// A log is what the operations of one evaluation were given.
type log struct {
	bench    *Bench
	mu       sync.Mutex
	effects  map[string][]string
	failures map[string]bool
}

// hooks are those of one coroutine.
func (l *log) hooks(id string) sandbox.Hooks {
	children := 0
	return sandbox.Hooks{
		Ask: provider,
		Effect: func(ctx context.Context, s sandbox.Site, e *capability.Granted, c capability.Call, do func(context.Context) (any, error)) (any, error) {
			l.did(id, l.bench.effect(e, c, s.Entering))
			return do(ctx)
		},
		Iteration: func(_ context.Context, _ sandbox.Site, i int) error {
			l.did(id, round(i))
			return nil
		},
		LoopEnd: func(_ context.Context, _ sandbox.Site, rounds int, broken bool, failure error) error {
			outcome := "exhausted"
			switch {
			case failure != nil:
				outcome = "error"
			case broken:
				outcome = "break"
			}
			l.did(id, ended(rounds, outcome))
			return nil
		},
		Fork: func(n int) []sandbox.Child {
			forked := make([]sandbox.Child, n)
			for i := range forked {
				forked[i] = sandbox.Child{Hooks: l.hooks(id + "." + strconv.Itoa(children)), Failed: true, End: l.end}
				children++
			}
			return forked
		},
	}
}

// round and ended are how the records of a loop are compared (fragments 8, task).
func round(i int) string { return fmt.Sprintf("loop round %d", i) }

func ended(rounds int, outcome string) string {
	return fmt.Sprintf("loop ended after %d: %s", rounds, outcome)
}

// did notes what a coroutine did.
func (l *log) did(id, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.effects[id] = append(l.effects[id], what)
}

// end keeps the kind of failure of a child.
func (l *log) end(_ context.Context, _ sandbox.Result, err error) error {
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.failures[kindOf(err)] = true
	}
	return err
}
