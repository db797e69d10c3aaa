// Package answer matches questions with the answers a document states.
//
// The template of an <Answer> enters as text; what leaves is whether a question is
// the one it was written for. A {?hole} takes any text, a {binding} exactly the
// string it names. (language 6.11)
//
// The room has one invariant: a match takes bounded time, whatever the template and
// the question are. It does not know who asks and what the answer is.
package answer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/executable-markdown/xmd/internal/document"
)

// A Template is a question with holes. A nil Template matches every question.
type Template struct {
	source string
	parts  []part
	never  bool // a plain hole names no string
}

type part struct {
	literal string
	hole    string // name of a {?hole}; empty for a literal
}

// Parse reads literal text, {?name} holes and {binding} holes. bound returns the
// string a binding's path names; a template with a path that names none matches
// nothing. The error says what is wrong with the holes, as the end of a sentence
// about the template.
func Parse(text string, bound func(path []string) (string, bool)) (*Template, error) {
	t := &Template{source: text}
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
		path, n := Reference(rest)
		if n == 0 {
			t.parts = append(t.parts, part{literal: "{"})
			afterHole, afterOpen, rest = false, false, rest[1:]
			continue
		}
		if afterOpen {
			return nil, errors.New("has two holes without text between them, so it is ambiguous")
		}
		s, ok := bound(path)
		t.never = t.never || !ok
		t.parts = append(t.parts, part{literal: s})
		afterHole, rest = true, rest[n:]
	}
	return t, nil
}

// maxAttempts bounds how many ways of filling holes one template tries on one
// question. Only names that repeat make many ways.
const maxAttempts = 1_000_000

// String is the template as it was written.
func (t *Template) String() string {
	if t == nil {
		return ""
	}
	return t.source
}

// Match reports whether the whole message fits: a hole takes one or more
// characters, the fewest first, and the same text wherever its name repeats. No
// template matches everything.
func (t *Template) Match(message string) (bool, error) {
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

func (t *Template) repeats() bool {
	seen := make(map[string]bool)
	for _, p := range t.parts {
		if p.hole != "" && seen[p.hole] {
			return true
		}
		seen[p.hole] = true
	}
	return false
}

// Reference reads "{a.b.c}" at the start of text: identifiers joined by dots and
// nothing else (language 3.4.1). n is the length of the form, 0 when there is none.
func Reference(text string) (path []string, n int) {
	start := 1
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '_' || c == '$' || 'a' <= c|0x20 && c|0x20 <= 'z':
		case '0' <= c && c <= '9':
			if i == start {
				return nil, 0
			}
		case c == '.' || c == '}':
			if i == start {
				return nil, 0
			}
			path = append(path, text[start:i])
			if c == '}' {
				return path, i + 1
			}
			start = i + 1
		default:
			return nil, 0
		}
	}
	return nil, 0
}
