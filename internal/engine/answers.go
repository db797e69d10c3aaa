package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/executable-markdown/xmd/internal/answer"
	"github.com/executable-markdown/xmd/internal/document"
	"github.com/executable-markdown/xmd/internal/expr"
	"github.com/executable-markdown/xmd/internal/value"
)

// answers answers the questions asked in its body from what the document states
// (language 6.11).
func (r *run) answers(ctx context.Context, sc *scope, el *document.Element, out *buffer) error {
	refuse := func(err error) error {
		if e, ok := err.(*Error); ok {
			if e.Code == "" {
				e.Code = "structural-usage-invalid"
			}
			return r.raiseEval(sc, out, e)
		}
		return err
	}
	if err := only(el, "delegate"); err != nil {
		return refuse(err)
	}
	matchers, content := splitAnswers(el)
	if !content {
		return refuse(problem(el, "<Answers> needs a body beside its <Answer> elements"))
	}
	provider := &stated{outer: sc.elicitor}
	if a, ok := attr(el, "delegate"); ok {
		ref, err := r.raw(ctx, sc, el, a)
		if err != nil {
			return refuse(err)
		}
		if provider.delegate, ok = ref.Bool(); !ok {
			return refuse(problem(el, "delegate of <Answers> must be true or false"))
		}
	}
	for _, m := range matchers {
		a, err := r.matcher(ctx, sc, m)
		if err != nil {
			return refuse(err)
		}
		provider.answers = append(provider.answers, a)
	}
	inner := sc.with(func(c *scope) {
		c.elicitor = provider
		c.id = sc.id.child(plainFrame("answers-body"))
	})
	for i, n := range el.Children {
		if isAnswer(n) {
			continue
		}
		if err := r.expand(ctx, inner, el.Children[i:i+1], out); err != nil {
			return err
		}
	}
	return nil
}

func isAnswer(n document.Node) bool {
	el, ok := n.(*document.Element)
	return ok && el.Name == "Answer"
}

// splitAnswers returns the matchers and whether anything is left to be the body.
func splitAnswers(el *document.Element) (matchers []*document.Element, body bool) {
	for _, n := range el.Children {
		if isAnswer(n) {
			matchers = append(matchers, n.(*document.Element))
		} else if substantive(n) {
			body = true
		}
	}
	return matchers, body
}

// A matcher is one Answer: a nil template matches every question.
type matcher struct {
	template *answer.Template
	value    any
}

// matcher reads one Answer.
func (r *run) matcher(ctx context.Context, sc *scope, el *document.Element) (matcher, error) {
	if err := answerProblem(el); err != nil {
		return matcher{}, err
	}
	var a matcher
	text, _, written := static(el, "template")
	if len(el.Children) > 0 {
		rendered := &buffer{}
		inner := sc.with(func(c *scope) { c.id = elementID(sc.id, el) })
		if err := r.expand(ctx, inner, el.Children, rendered); err != nil {
			return a, err
		}
		if len(rendered.errs) > 0 {
			return a, problem(el, "the template of <Answer> could not be rendered: %v", rendered.contentError())
		}
		text, written = trim(rendered.String()), true
	}
	var err error
	if written {
		if a.template, err = answer.Parse(text, bound(sc.env.lookup)); err != nil {
			return a, problem(el, "template of <Answer> %v", err)
		}
	}
	a.value, err = r.answerValue(ctx, sc, el)
	return a, err
}

// answerProblem judges the form of a matcher.
func answerProblem(el *document.Element) *Error {
	if err := only(el, "template", "value"); err != nil {
		return err
	}
	_, isString, written := static(el, "template")
	switch {
	case written && !isString:
		return problem(el, "template of <Answer> must be quoted text, not an expression")
	case written && len(el.Children) > 0:
		return problem(el, "<Answer> has a template prop and content; write the template once")
	}
	if _, ok := attr(el, "value"); !ok {
		return problem(el, "<Answer> needs value={…}")
	}
	return nil
}

// answerValue reads the value: JSON text where it was written as a string, an
// expression's strict JSON otherwise.
func (r *run) answerValue(ctx context.Context, sc *scope, el *document.Element) (any, error) {
	a, _ := attr(el, "value")
	if v, ok := a.StaticValue(true); ok {
		v, err := answerText(el, v)
		if err != nil {
			return nil, err
		}
		return v, nil
	}
	ref, err := r.raw(ctx, sc, el, a)
	if err != nil {
		return nil, err
	}
	v, err := ref.Strict()
	if err != nil {
		return nil, problem(el, "value of <Answer> is not JSON: %v", err)
	}
	return v, nil
}

// answerText reads a static value: a string is JSON text.
func answerText(el *document.Element, v any) (any, *Error) {
	text, isString := v.(string)
	if !isString {
		return v, nil
	}
	v, err := value.Parse([]byte(text))
	if err != nil {
		return nil, problem(el, "value of <Answer> is a string, so it must be JSON text (a string answer is written value='\"yes\"'): %v", err)
	}
	return v, nil
}

// stated is the elicitor of an Answers region.
type stated struct {
	answers  []matcher
	delegate bool
	outer    Elicitor
}

// Ask answers with the first matcher whose template matches the whole question.
func (s *stated) Ask(ctx context.Context, q Question) (any, error) {
	for _, a := range s.answers {
		matches, err := a.template.Match(q.Message)
		if err != nil {
			return nil, err
		}
		if matches {
			return value.Clone(a.value), nil
		}
	}
	if s.delegate && s.outer != nil {
		return s.outer.Ask(ctx, q)
	}
	tried := make([]string, len(s.answers))
	for i, a := range s.answers {
		tried[i] = fmt.Sprintf("%q", a.template.String())
	}
	if len(tried) == 0 {
		tried = []string{"none"}
	}
	hint := "write delegate={true} on <Answers> to pass it on"
	if s.delegate {
		hint = "no provider is configured further out"
	}
	return nil, fmt.Errorf("no <Answer> matches the question %q; templates tried: %s; %s", q.Message, strings.Join(tried, ", "), hint)
}

// bound finds the string a plain hole names.
func bound(names expr.Lookup) func(path []string) (string, bool) {
	return func(path []string) (string, bool) {
		ref, ok := names(path[0])
		if !ok {
			return "", false
		}
		if len(path) == 1 {
			return ref.Str()
		}
		v, err := ref.JSON()
		if err != nil {
			return "", false
		}
		for _, name := range path[1:] {
			o, _ := v.(*value.Object)
			if v, ok = o.Get(name); !ok {
				return "", false
			}
		}
		s, ok := v.(string)
		return s, ok
	}
}
