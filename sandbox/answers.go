package sandbox

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/executable-markdown/xmd/capability"
	"github.com/executable-markdown/xmd/internal/answer"
	"github.com/executable-markdown/xmd/internal/ecma"
	"github.com/executable-markdown/xmd/internal/value"
)

// A region is an <Answers>: while its body runs it answers the questions asked
// there (language 6.11). It does not change once it is in force.
type region struct {
	outer    *region
	delegate bool
	matchers []matcher
}

type matcher struct {
	template *answer.Template // nil: every question
	value    any              // JSON
}

// answerFields are the fields of xmd:answer. A region answers from begin on, so that
// what its own matchers ask goes to the regions around it.
func answerFields() []field {
	return []field{
		{"open", 2, 0, (*task).openRegion},
		{"add", 3, 0, (*task).addAnswer},
		{"begin", 0, 0, (*task).beginRegion},
		{"close", 0, 0, (*task).closeRegion},
	}
}

func (t *task) openRegion(a []uint64) error {
	e, err := t.element(a[0])
	if err != nil {
		return err
	}
	v, err := t.value(a[1])
	if err != nil {
		return err
	}
	t.open(opened{kind: openAnswers, element: e})
	r := &region{outer: t.reading}
	switch v := v.(type) {
	case bool:
		r.delegate = v
	case ecma.Undefined: // not written
	default:
		return fmt.Errorf("delegate of <Answers> must be true or false, not %s", ecma.Kind(v))
	}
	t.reading = r
	return nil
}

func (t *task) addAnswer(a []uint64) error {
	e, err := t.element(a[0])
	if err != nil {
		return err
	}
	template, v, err := t.two(a[1], a[2])
	if err != nil {
		return err
	}
	if t.reading == nil {
		return broken("an answer without a region")
	}
	var m matcher
	switch text := template.(type) {
	case ecma.String:
		if uint32(a[1]) == t.popped { // the content of the <Answer>
			text = text.Trim()
		}
		if err := t.work(len(text)); err != nil {
			return err
		}
		if m.template, err = answer.Parse(text.Text(), t.boundText); err != nil {
			return t.at(e, fmt.Errorf("template of <Answer> %w", err))
		}
	case ecma.Undefined:
	default:
		return broken("a template is %s", ecma.Kind(template))
	}
	if err := t.work(ecma.Size(v)); err != nil {
		return err
	}
	if wrong := notJSON(v); wrong != "" {
		return t.at(e, fmt.Errorf("value of <Answer> is not JSON: %s", wrong))
	}
	m.value, _ = ecma.ToJSON(v)
	t.reading.matchers = append(t.reading.matchers, m)
	return nil
}

func (t *task) beginRegion([]uint64) error {
	r := t.reading
	if r == nil {
		return broken("no region is open")
	}
	t.reading, r.outer = r.outer, t.answers
	t.answers = r
	return nil
}

func (t *task) closeRegion([]uint64) error {
	if _, err := t.innermost(openAnswers); err != nil {
		return err
	}
	if t.answers == nil {
		return broken("no region is in force")
	}
	t.close()
	t.answers = t.answers.outer
	return nil
}

// boundText is the string a hole of a template names.
func (t *task) boundText(path []string) (string, bool) {
	v, bound := t.names.lookup(path[0])
	for _, name := range path[1:] {
		o, ok := v.(*ecma.Object)
		if !ok {
			return "", false
		}
		v, bound = o.Get(name)
	}
	s, ok := v.(ecma.String)
	return s.Text(), bound && ok
}

// notJSON says what of v is not JSON as it is (language 4.4.3); empty: nothing.
func notJSON(v ecma.Value) string {
	path, wrong := notJSONAt(v)
	if wrong == "" {
		return ""
	}
	slices.Reverse(path)
	return "$" + strings.Join(path, "") + wrong
}

// notJSONAt finds it, and the steps that lead there, the last one first. Steps are
// written only once there is something to tell, so that names cost nothing.
func notJSONAt(v ecma.Value) (path []string, wrong string) {
	switch v := v.(type) {
	case ecma.Undefined:
		return nil, " is undefined"
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, " is no finite number"
		}
	case *ecma.Array:
		for i := range v.Len() {
			if path, wrong := notJSONAt(v.At(i)); wrong != "" {
				return append(path, fmt.Sprintf("[%d]", i)), wrong
			}
		}
	case *ecma.Object:
		for name, member := range v.All() {
			if path, wrong := notJSONAt(member); wrong != "" {
				return append(path, "."+name), wrong
			}
		}
	}
	return nil, ""
}

// asker is who answers a question asked now: the regions in force, then whoever the
// execution has; nil when that is nobody. What the regions do is the module's own
// work, so time runs while they match (F8).
func (t *task) asker() func(context.Context, capability.Question) (any, error) {
	if t.answers == nil {
		return t.hooks.Ask
	}
	regions, ask := t.answers, t.hooks.Ask
	return func(ctx context.Context, q capability.Question) (any, error) {
		t.clock.resume()
		v, answered, err := regions.answer(q, t.halted)
		t.clock.stop()
		switch {
		case err != nil || answered:
			return v, err
		case ask != nil:
			return ask(ctx, q)
		}
		return nil, regions.outermost().unanswered(q, "no provider is configured further out")
	}
}

// answer answers with the first matcher whose template matches the whole question. It
// is not answered when every region passes it on. halted is asked before each matcher
// whether there is time for it.
func (r *region) answer(q capability.Question, halted func() error) (v any, answered bool, err error) {
	for ; r != nil; r = r.outer {
		for _, m := range r.matchers {
			if err := halted(); err != nil {
				return nil, false, err
			}
			matches, err := m.template.Match(q.Message)
			if err != nil {
				return nil, false, err
			}
			if matches {
				return value.Clone(m.value), true, nil
			}
		}
		if !r.delegate {
			return nil, false, r.unanswered(q, "write delegate={true} on <Answers> to pass it on")
		}
	}
	return nil, false, nil
}

func (r *region) outermost() *region {
	for r.outer != nil {
		r = r.outer
	}
	return r
}

func (r *region) unanswered(q capability.Question, hint string) error {
	tried := "none"
	if len(r.matchers) > 0 {
		quoted := make([]string, len(r.matchers))
		for i, m := range r.matchers {
			quoted[i] = fmt.Sprintf("%q", m.template)
		}
		tried = strings.Join(quoted, ", ")
	}
	return fmt.Errorf("no <Answer> matches the question %q; templates tried: %s; %s", q.Message, tried, hint)
}
