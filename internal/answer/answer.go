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

// maxSteps bounds the work of one match: one for each way of filling a hole, and for
// each piece of text compared. Only names that repeat make many ways.
const maxSteps = 1_000_000

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
	switch {
	case t == nil:
		return true, nil
	case t.never || t.literals() > len(message):
		return false, nil
	case !t.repeats():
		return t.fits(message), nil
	}
	m := matching{parts: t.parts, message: message, bound: make(map[string]string), left: maxSteps}
	matches := m.from(0, 0)
	if m.left <= 0 && !matches {
		return false, fmt.Errorf("the template %q of an <Answer> repeats a name and has more than %d ways to fit the question; name its holes differently", t.source, maxSteps)
	}
	return matches, nil
}

// literals is the length of all literals together.
func (t *Template) literals() int {
	n := 0
	for _, p := range t.parts {
		n += len(p.literal)
	}
	return n
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

// fits matches where no name repeats: then a hole that takes the fewest characters
// leaves the most to those after it, so nothing is ever tried twice.
func (t *Template) fits(message string) bool {
	first, rest := text(t.parts)
	if !strings.HasPrefix(message, first) {
		return false
	}
	if len(rest) == 0 {
		return message == first
	}
	message = message[len(first):]
	for {
		after, next := text(rest[1:])
		if message == "" {
			return false // the hole takes at least one character
		}
		if len(next) == 0 {
			return strings.HasSuffix(message[1:], after)
		}
		_, behind, found := strings.Cut(message[1:], after)
		if !found {
			return false
		}
		message, rest = behind, next
	}
}

// text joins the literals that parts begin with; rest begins with a hole, or is empty.
func text(parts []part) (joined string, rest []part) {
	n := 0
	for n < len(parts) && parts[n].hole == "" {
		n++
	}
	if n == 1 {
		return parts[0].literal, parts[1:]
	}
	var b strings.Builder
	for _, p := range parts[:n] {
		b.WriteString(p.literal)
	}
	return b.String(), parts[n:]
}

// A matching is one search for texts that holes whose names repeat can take.
type matching struct {
	parts   []part
	message string
	bound   map[string]string
	left    int // steps
}

// from reports whether parts from i on fit the message from at on. Where no steps are
// left, nothing fits.
func (m *matching) from(i, at int) bool {
	if i == len(m.parts) {
		return at == len(m.message)
	}
	p := m.parts[i]
	known, isBound := p.literal, true
	if p.hole != "" {
		known, isBound = m.bound[p.hole]
	}
	if isBound {
		m.left -= 1 + len(known)/64
		return m.left > 0 && strings.HasPrefix(m.message[at:], known) && m.from(i+1, at+len(known))
	}
	for end := at + 1; end <= len(m.message) && m.left > 0; end++ {
		m.left--
		m.bound[p.hole] = m.message[at:end]
		if m.from(i+1, end) {
			return true
		}
	}
	delete(m.bound, p.hole)
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
