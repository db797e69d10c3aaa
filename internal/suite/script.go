package suite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/value"
	"github.com/executable-markdown/xmd/sandbox"
)

// A script is what operations return, by the key of their identity, in the order in
// which they are performed. The answers of questions stand under Elicit.ask.
type script map[string][]result

// A result is a value, or a failure with this message.
type result struct {
	value   any
	failure string
	fails   bool
}

// readScript reads {"File.read": ["text", {"error": "there is no such file"}]}. An
// object whose only member is error is a failure; one whose only member is value is
// what that holds, so that every value can be written.
func readScript(text string) (script, error) {
	v, err := value.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	o, ok := v.(*value.Object)
	if !ok {
		return nil, errors.New(`it must be a JSON object that names operations, such as {"File.read": ["text"]}`)
	}
	s := script{}
	for key, v := range o.All() {
		list, ok := v.([]any)
		if !ok {
			return nil, fmt.Errorf("%s must be a list, one item each time it is performed", key)
		}
		s[key] = nil
		for _, v := range list {
			s[key] = append(s[key], readResult(v))
		}
	}
	return s, nil
}

func readResult(v any) result {
	o, ok := v.(*value.Object)
	if !ok || o.Len() != 1 {
		return result{value: v}
	}
	if message, ok := o.String("error"); ok {
		return result{failure: message, fails: true}
	}
	if held, ok := o.Get("value"); ok {
		return result{value: held}
	}
	return result{value: v}
}

// A performance is one evaluation of a script: what was taken from it, and what the
// fragment did. Only one goroutine performs at a time.
type performance struct {
	script  script
	taken   map[string]int
	effects []string
	problem string // the script does not say what an operation returns
}

func (p *performance) hooks() sandbox.Hooks {
	return sandbox.Hooks{Effect: p.effect, Ask: p.ask, Fork: p.fork}
}

// effect answers one operation from the script; none is performed. A question goes
// through its own operation, which judges the answer, after the regions of the
// fragment had their turn. What changes something and is not in the script succeeds.
func (p *performance) effect(ctx context.Context, s sandbox.Site, e *capability.Granted, c capability.Call, do func(context.Context) (any, error)) (any, error) {
	if e.Moves() && !s.Entering { // the directory was made; what it renders is its content
		return c.Content, nil
	}
	p.effects = append(p.effects, e.Identity.String()+" "+asked(e, c))
	if e.Effect == capability.Asks {
		return do(ctx)
	}
	key := e.Identity.Key
	if _, stated := p.script[key]; !stated && e.Effect == capability.Write {
		return nil, nil
	}
	return p.next(key)
}

// asked is what an effect was asked for, as compact JSON: what a history records, and
// of what is written or asked the text itself.
func asked(e *capability.Granted, c capability.Call) string {
	var input *value.Object
	switch record := e.Record(c); {
	case e.Effect == capability.Asks:
		definition, _ := c.Props.Get("schema")
		input = value.Of("message", c.Content, "schema", definition)
	default:
		input, _ = value.Clone(record.Input).(*value.Object)
		if c.Form == capability.Paired && !e.Moves() {
			input.Set("content", c.Content)
		}
	}
	text, err := value.JSON(input)
	if err != nil {
		return err.Error() // not reached: it was judged as JSON
	}
	return text
}

func (p *performance) ask(_ context.Context, _ capability.Question) (any, error) {
	return p.next("Elicit.ask")
}

// next takes the next result of an operation.
func (p *performance) next(key string) (any, error) {
	n := p.taken[key]
	if n >= len(p.script[key]) {
		p.problem = fmt.Sprintf("results states %d for %s, and the fragment performs it once more", len(p.script[key]), key)
		return nil, errors.New(p.problem)
	}
	p.taken[key] = n + 1
	r := p.script[key][n]
	if r.fails {
		return nil, errors.New(r.failure)
	}
	return value.Clone(r.value), nil
}

// left says what of the script is not as the fragment used it.
func (p *performance) left(g *capability.Grant) []string {
	if p.problem != "" {
		return []string{p.problem}
	}
	known := map[string]bool{}
	for _, e := range g.Entries() {
		if e.Effect != capability.Pure {
			known[e.Identity.Key] = true
		}
	}
	var problems []string
	for _, key := range slices.Sorted(maps.Keys(p.script)) {
		switch n := len(p.script[key]); {
		case !known[key]:
			problems = append(problems, fmt.Sprintf("results names %s, which is no operation that is granted here; these are: %s",
				key, strings.Join(slices.Sorted(maps.Keys(known)), ", ")))
		case p.taken[key] < n:
			problems = append(problems, fmt.Sprintf("results states %d for %s, and the fragment performs it %d times", n, key, p.taken[key]))
		}
	}
	return problems
}

// fork lets each child begin when the one before it has ended, so that the script is
// taken in document order. After one has failed no other begins: the sandbox ends
// the contexts they wait under.
func (p *performance) fork(n int) []sandbox.Child {
	children := make([]sandbox.Child, n)
	before := make(chan struct{})
	close(before)
	for i := range children {
		turn, ended := before, make(chan struct{})
		children[i] = sandbox.Child{
			Hooks: p.hooks(),
			Restore: func(ctx context.Context) (sandbox.Result, bool, error) {
				select {
				case <-turn:
					return sandbox.Result{}, false, nil
				case <-ctx.Done():
					return sandbox.Result{}, false, context.Cause(ctx)
				}
			},
			End: func(_ context.Context, _ sandbox.Result, err error) error {
				if err == nil {
					close(ended)
				}
				return err
			},
		}
		before = ended
	}
	return children
}
