package scenario

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxMatchSteps bounds the work of one match in which a capture occurs twice: those
// are the only ones that may have to go back.
const maxMatchSteps = 1 << 20

// maxPieces is how many literals and holes one template may have.
const maxPieces = 1000

// bindings are the captures of the stages so far, by the name of the stage and then
// their own.
type bindings map[string]map[string]string

// A piece of a template is literal text, a capture, or a reference to an earlier one.
type piece struct {
	literal string // when neither of the others is set
	capture string
	of, ref string
}

type template []piece

// parseTemplate reads holes: {?name} captures, {stage.name} refers. Every other brace
// is text.
func parseTemplate(text string) (template, error) {
	var t template
	literal := 0
	for i := 0; i < len(text); {
		p, size, err := hole(text[i:])
		if err != nil {
			return nil, err
		}
		if size == 0 {
			i++
			continue
		}
		if literal < i {
			t = append(t, piece{literal: text[literal:i]})
		}
		if len(t) > 0 && t[len(t)-1].capture != "" {
			return nil, fmt.Errorf("{?%s} is followed by another hole with no text between, so it cannot end; put text between them", t[len(t)-1].capture)
		}
		if len(t) > maxPieces {
			return nil, fmt.Errorf("it has more than %d pieces", maxPieces)
		}
		t = append(t, p)
		i += size
		literal = i
	}
	if literal < len(text) {
		t = append(t, piece{literal: text[literal:]})
	}
	return t, nil
}

// hole reads a hole at the beginning of text; its size is 0 when there is none.
func hole(text string) (p piece, size int, err error) {
	if text[0] != '{' {
		return piece{}, 0, nil
	}
	if rest, is := strings.CutPrefix(text, "{?"); is {
		name := rest[:identifier(rest)]
		if name == "" || !strings.HasPrefix(rest[len(name):], "}") {
			return piece{}, 0, errors.New("{? begins a capture and no name and } follow; write {?name}")
		}
		return piece{capture: name}, len(name) + 3, nil
	}
	of := text[1 : 1+identifier(text[1:])]
	rest, dotted := strings.CutPrefix(text[1+len(of):], ".")
	if of == "" || !dotted {
		return piece{}, 0, nil
	}
	ref := rest[:identifier(rest)]
	if ref == "" || !strings.HasPrefix(rest[len(ref):], "}") {
		return piece{}, 0, nil
	}
	return piece{of: of, ref: ref}, len(of) + len(ref) + 3, nil
}

// identifier is the length of the name text begins with.
func identifier(text string) int {
	for i := range len(text) {
		c := text[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}

// captures lists the names a template captures, each once.
func (t template) captures() []string {
	var names []string
	seen := map[string]bool{}
	for _, p := range t {
		if p.capture != "" && !seen[p.capture] {
			seen[p.capture] = true
			names = append(names, p.capture)
		}
	}
	return names
}

// resolve puts bound text in the place of references.
func (t template) resolve(b bindings) template {
	var r template
	for _, p := range t {
		if p.ref != "" {
			p = piece{literal: b[p.of][p.ref]}
		}
		if last := len(r) - 1; p.capture == "" && last >= 0 && r[last].capture == "" {
			r[last].literal += p.literal
			continue
		}
		r = append(r, p)
	}
	return r
}

// render is the text of a template without captures.
func (t template) render(b bindings) string {
	var out strings.Builder
	for _, p := range t {
		out.WriteString(p.literal)
		out.WriteString(b[p.of][p.ref])
	}
	return out.String()
}

// match fits the whole of text and returns what was captured.
func (t template) match(text string, b bindings) (map[string]string, bool) {
	m := &matching{template: t.resolve(b), bound: map[string]string{}}
	last := map[string]int{}
	for i, p := range m.template {
		if _, seen := last[p.capture]; seen && p.capture != "" {
			m.lastRepeat = i + 1
		}
		last[p.capture] = i
	}
	if !m.from(0, text) {
		return nil, false
	}
	return m.bound, true
}

type matching struct {
	template   template // literals and captures, never two of a kind in a row
	bound      map[string]string
	lastRepeat int // beyond this piece no capture occurs again
	steps      int
}

// from matches the pieces from i on against all of text.
func (m *matching) from(i int, text string) bool {
	if m.steps++; m.steps > maxMatchSteps {
		return false
	}
	if i == len(m.template) {
		return text == ""
	}
	p := m.template[i]
	if p.capture == "" {
		rest, fits := strings.CutPrefix(text, p.literal)
		return fits && m.from(i+1, rest)
	}
	if value, is := m.bound[p.capture]; is {
		m.steps += len(value) / 64
		rest, fits := strings.CutPrefix(text, value)
		return fits && m.from(i+1, rest)
	}
	return m.capture(i, text)
}

// capture tries every end of a capture, the nearest first.
func (m *matching) capture(i int, text string) bool {
	name := m.template[i].capture
	defer func() {
		if m.bound[name] == "" {
			delete(m.bound, name)
		}
	}()
	if text == "" {
		return false
	}
	_, first := utf8.DecodeRuneInString(text)
	if i+1 == len(m.template) {
		m.bound[name] = text
		return true
	}
	next := m.template[i+1].literal
	free := i >= m.lastRepeat
	if free && i+2 == len(m.template) { // the text must end with what is left
		if len(text) < first+len(next) || !strings.HasSuffix(text, next) {
			return false
		}
		m.bound[name] = text[:len(text)-len(next)]
		return true
	}
	for end := first; ; {
		at := strings.Index(text[end:], next)
		if at < 0 {
			m.bound[name] = ""
			return false
		}
		end += at
		m.bound[name] = text[:end]
		if m.from(i+2, text[end+len(next):]) {
			return true
		}
		// With nothing repeated, a later end leaves less for the rest and helps nobody.
		if free || m.steps > maxMatchSteps {
			m.bound[name] = ""
			return false
		}
		_, size := utf8.DecodeRuneInString(text[end:])
		if size == 0 {
			m.bound[name] = ""
			return false
		}
		end += size
	}
}
