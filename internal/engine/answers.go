package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
		a, err := r.answer(ctx, sc, m)
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

// An answer is one matcher: a nil template matches every question.
type answer struct {
	template *template
	value    any
}

// answer reads one matcher.
func (r *run) answer(ctx context.Context, sc *scope, el *document.Element) (answer, error) {
	if err := answerProblem(el); err != nil {
		return answer{}, err
	}
	var a answer
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
		if a.template, err = parseTemplate(text, sc.env.lookup); err != nil {
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
	answers  []answer
	delegate bool
	outer    Elicitor
}

// Ask answers with the first matcher whose template matches the whole question.
func (s *stated) Ask(ctx context.Context, q Question) (any, error) {
	for _, a := range s.answers {
		matches, err := a.template.match(q.Message)
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
		tried[i] = fmt.Sprintf("%q", a.template.source)
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

// A template is a question with holes.
type template struct {
	source string
	parts  []part
	never  bool // a plain hole names no string
}

type part struct {
	literal string
	hole    string // name of a {?hole}; empty for a literal
}

// parseTemplate reads literal text, {?name} holes and {binding} holes.
func parseTemplate(text string, names expr.Lookup) (*template, error) {
	t := &template{source: text}
	afterHole, afterOpen := false, false
	rest := text
	for rest != "" {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			i = len(rest)
		}
		if i > 0 {
			t.parts = append(t.parts, part{literal: rest[:i]})
			afterHole, afterOpen, rest = false, false, rest[i:]
			continue
		}
		if strings.HasPrefix(rest, "{?") {
			name, _, closed := strings.Cut(rest[2:], "}")
			if !closed || !document.IsBindingIdentifier(name) {
				return nil, errors.New("has a {? that no name and } follow; write {?name}")
			}
			if afterHole {
				return nil, errors.New("has two holes without text between them, so it is ambiguous")
			}
			t.parts = append(t.parts, part{hole: name})
			afterHole, afterOpen, rest = true, true, rest[len(name)+3:]
			continue
		}
		path, n := reference(rest)
		if n == 0 {
			t.parts = append(t.parts, part{literal: "{"})
			afterHole, afterOpen, rest = false, false, rest[1:]
			continue
		}
		if afterOpen {
			return nil, errors.New("has two holes without text between them, so it is ambiguous")
		}
		s, ok := boundText(path, names)
		t.never = t.never || !ok
		t.parts = append(t.parts, part{literal: s})
		afterHole, rest = true, rest[n:]
	}
	return t, nil
}

// boundText is the string a plain hole names.
func boundText(path []string, names expr.Lookup) (string, bool) {
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

// maxAttempts bounds how many ways of filling holes one template tries on one
// question. Only names that repeat make many ways.
const maxAttempts = 1_000_000

// match reports whether the whole message fits: a hole takes one or more
// characters, the fewest first, and the same text wherever its name repeats. No
// template matches everything.
func (t *template) match(message string) (bool, error) {
	if t == nil {
		return true, nil
	}
	if t.never {
		return false, nil
	}
	attempts := 0
	bound := make(map[string]string)
	failed := make(map[[2]int]bool) // part and offset that cannot match, while no name is bound twice
	repeats := t.repeats()
	var from func(i, at int) bool
	from = func(i, at int) bool {
		if i == len(t.parts) {
			return at == len(message)
		}
		p := t.parts[i]
		if p.hole == "" {
			return strings.HasPrefix(message[at:], p.literal) && from(i+1, at+len(p.literal))
		}
		if text, ok := bound[p.hole]; ok {
			return strings.HasPrefix(message[at:], text) && from(i+1, at+len(text))
		}
		if !repeats && failed[[2]int{i, at}] {
			return false
		}
		for end := at + 1; end <= len(message) && attempts < maxAttempts; end++ {
			attempts++
			bound[p.hole] = message[at:end]
			if from(i+1, end) {
				return true
			}
			if i+1 < len(t.parts) && !repeats && t.parts[i+1].hole == "" { // skip to where the literal can start
				next := strings.Index(message[end:], t.parts[i+1].literal)
				if next < 0 {
					break
				}
				end += max(next-1, 0)
			}
		}
		delete(bound, p.hole)
		failed[[2]int{i, at}] = true
		return false
	}
	matches := from(0, 0)
	if attempts >= maxAttempts && !matches {
		return false, fmt.Errorf("the template %q of an <Answer> repeats a name and has more than %d ways to fit the question; name its holes differently", t.source, maxAttempts)
	}
	return matches, nil
}

func (t *template) repeats() bool {
	seen := make(map[string]bool)
	for _, p := range t.parts {
		if p.hole != "" && seen[p.hole] {
			return true
		}
		seen[p.hole] = true
	}
	return false
}
