package selector

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A scanner reads a query from left to right.
type scanner struct {
	query   string
	at      int
	nesting int
}

// parse reads a whole query.
func parse(query string) (list, error) {
	if len(query) > MaxQuery {
		return nil, &SyntaxError{MaxQuery, fmt.Sprintf("the selector has %d bytes; at most %d are read", len(query), MaxQuery)}
	}
	s := &scanner{query: query}
	l, err := s.list(false)
	if err != nil {
		return nil, err
	}
	if s.at < len(query) {
		return nil, s.fault("unexpected %s", s.here())
	}
	return l, nil
}

func (s *scanner) fault(format string, args ...any) error {
	return &SyntaxError{s.at, fmt.Sprintf(format, args...)}
}

// here names what stands at the scanner, for messages.
func (s *scanner) here() string {
	if s.at == len(s.query) {
		return "end"
	}
	_, size := utf8.DecodeRuneInString(s.query[s.at:])
	return strconv.Quote(s.query[s.at : s.at+size])
}

// peek returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.at == len(s.query) {
		return 0
	}
	return s.query[s.at]
}

func (s *scanner) accept(c byte) bool {
	if s.at < len(s.query) && s.query[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scanner) space() bool {
	start := s.at
	for s.at < len(s.query) && strings.IndexByte(" \t\r\n\f", s.query[s.at]) >= 0 {
		s.at++
	}
	return s.at > start
}

// list reads alternatives; relative ones may begin with a combinator.
func (s *scanner) list(relative bool) (list, error) {
	var l list
	for {
		c, err := s.chain(relative)
		if err != nil {
			return nil, err
		}
		l = append(l, c)
		if !s.accept(',') {
			return l, nil
		}
	}
}

func (s *scanner) chain(relative bool) (chain, error) {
	var c chain
	s.space()
	combinator := byte(0)
	if relative {
		combinator = s.combinator(' ')
	}
	for {
		tests, err := s.compound()
		if err != nil {
			return nil, err
		}
		c = append(c, step{combinator, tests})
		if s.space() {
			combinator = s.combinator(' ')
		} else {
			combinator = s.combinator(0)
		}
		if next := s.peek(); combinator == 0 || combinator == ' ' && (next == 0 || next == ',' || next == ')') {
			return c, nil
		}
	}
}

// combinator reads a combinator and the space after it; otherwise says what it
// means that none is written.
func (s *scanner) combinator(otherwise byte) byte {
	c := s.peek()
	if c == 0 || strings.IndexByte(">+~", c) < 0 {
		return otherwise
	}
	s.at++
	s.space()
	return c
}

// compound reads a type or `*` and the conditions that follow it without space.
func (s *scanner) compound() ([]test, error) {
	var tests []test
	start := s.at
	if !s.accept('*') {
		if name := s.identifier(); name != "" {
			tests = append(tests, each(func(n *node) bool { return n.kind == name }))
		}
	}
	for {
		var t test
		var err error
		switch s.peek() {
		case '[':
			t, err = s.attribute()
		case ':':
			t, err = s.pseudo()
		case '#', '.':
			err = s.fault("a Markdown node has no id and no class; select by type or by [attribute]")
		default:
			if s.at == start {
				err = s.fault("expected a node type, `*`, `[` or `:` but found %s", s.here())
			}
			return tests, err
		}
		if err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
}

// each is a test that looks at one node alone.
func each(holds func(*node) bool) test {
	return func(t *tree) func(int) bool {
		return func(n int) bool { return holds(&t.nodes[n]) }
	}
}

// identifier reads a name, which may have escapes; "" when there is none.
func (s *scanner) identifier() string {
	if c := s.peek(); c >= '0' && c <= '9' {
		return ""
	}
	return s.word("-_")
}

// word reads letters, digits, characters beyond ASCII, escapes and the bytes in
// also.
func (s *scanner) word(also string) string {
	var b strings.Builder
	for s.at < len(s.query) {
		c := s.query[s.at]
		switch {
		case c == '\\' && s.at+1 < len(s.query):
			b.WriteString(s.escape())
			continue
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c >= utf8.RuneSelf,
			strings.IndexByte(also, c) >= 0:
			b.WriteByte(c)
		default:
			return b.String()
		}
		s.at++
	}
	return b.String()
}

// escape reads a backslash and what it escapes: up to six hexadecimal digits and
// one space after them are a code point, anything else is itself.
func (s *scanner) escape() string {
	s.at++
	digits := s.at
	for s.at < min(digits+6, len(s.query)) && strings.IndexByte("0123456789abcdefABCDEF", s.query[s.at]) >= 0 {
		s.at++
	}
	if s.at == digits {
		_, size := utf8.DecodeRuneInString(s.query[s.at:])
		s.at += size
		return s.query[digits:s.at]
	}
	code, _ := strconv.ParseUint(s.query[digits:s.at], 16, 32)
	s.accept(' ')
	return string(rune(code))
}

// attribute reads `[name]` or `[name operator value]`.
func (s *scanner) attribute() (test, error) {
	s.at++
	s.space()
	name := s.identifier()
	if name == "" {
		return nil, s.fault("expected the name of an attribute but found %s", s.here())
	}
	s.space()
	if s.accept(']') {
		return each(func(n *node) bool { _, ok := n.field(name); return ok }), nil
	}
	compare, err := s.operator()
	if err != nil {
		return nil, err
	}
	s.space()
	want, err := s.value()
	if err != nil {
		return nil, err
	}
	s.space()
	if !s.accept(']') {
		return nil, s.fault("expected `]` but found %s; quote a value that is not a plain word", s.here())
	}
	return each(func(n *node) bool {
		got, ok := n.field(name)
		return ok && compare(got, want)
	}), nil
}

// operator reads the comparison of an attribute. An empty value is part of
// nothing and one of no words, as in CSS.
func (s *scanner) operator() (func(got, want string) bool, error) {
	kind := s.peek()
	if kind != '=' {
		if kind == 0 || strings.IndexByte("^$*~|", kind) < 0 || !strings.HasPrefix(s.query[s.at+1:], "=") {
			return nil, s.fault("expected `]` or one of `=`, `^=`, `$=`, `*=`, `~=`, `|=` but found %s", s.here())
		}
		s.at++
	}
	s.at++
	switch kind {
	case '^':
		return func(got, want string) bool { return want != "" && strings.HasPrefix(got, want) }, nil
	case '$':
		return func(got, want string) bool { return want != "" && strings.HasSuffix(got, want) }, nil
	case '*':
		return func(got, want string) bool { return want != "" && strings.Contains(got, want) }, nil
	case '~':
		return func(got, want string) bool { return slices.Contains(strings.Fields(got), want) }, nil
	case '|':
		return func(got, want string) bool { return got == want || strings.HasPrefix(got, want+"-") }, nil
	default:
		return func(got, want string) bool { return got == want }, nil
	}
}

// value reads a quoted string, or a word or number without quotes.
func (s *scanner) value() (string, error) {
	quote := s.peek()
	if quote != '"' && quote != '\'' {
		word := s.word("-_.")
		if word == "" {
			return "", s.fault("expected a value but found %s", s.here())
		}
		return word, nil
	}
	open := s.at
	s.at++
	var b strings.Builder
	for s.at < len(s.query) {
		switch c := s.query[s.at]; {
		case c == quote:
			s.at++
			return b.String(), nil
		case c == '\\' && s.at+1 < len(s.query):
			b.WriteString(s.escape())
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	s.at = open
	return "", s.fault("the string has no closing %c", quote)
}

// pseudo reads `:name` or `:name(argument)`.
func (s *scanner) pseudo() (test, error) {
	start := s.at
	s.at++
	name := strings.ToLower(s.identifier())
	if t := plainPseudo(name); t != nil {
		return t, nil
	}
	var argument func() (test, error)
	switch name {
	case "not", "is", "matches", "has":
		argument = func() (test, error) { return s.selectors(name) }
	case "nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type":
		argument = func() (test, error) { return s.position(name) }
	default:
		s.at = start
		return nil, s.fault("there is no pseudo-class %q", ":"+name)
	}
	if !s.accept('(') {
		return nil, s.fault("expected `(` after %q but found %s", ":"+name, s.here())
	}
	t, err := argument()
	if err != nil {
		return nil, err
	}
	s.space()
	if !s.accept(')') {
		return nil, s.fault("expected `)` to close %q but found %s", ":"+name, s.here())
	}
	return t, nil
}

// plainPseudo returns the test of a pseudo-class that has no argument; nil when
// name is none.
func plainPseudo(name string) test {
	switch name {
	case "root", "scope":
		return each(func(n *node) bool { return n.parent < 0 })
	case "empty":
		return func(t *tree) func(int) bool {
			return func(n int) bool { return t.nodes[n].end == n+1 && !t.nodes[n].literal }
		}
	case "first-child":
		return each(func(n *node) bool { return n.child.index == 1 })
	case "last-child":
		return each(func(n *node) bool { return n.child.last() == 1 })
	case "only-child":
		return each(func(n *node) bool { return n.child.count == 1 })
	case "first-of-type":
		return each(func(n *node) bool { return n.typed.index == 1 })
	case "last-of-type":
		return each(func(n *node) bool { return n.typed.last() == 1 })
	case "only-of-type":
		return each(func(n *node) bool { return n.typed.count == 1 })
	}
	return nil
}

// selectors reads the argument of a pseudo-class that takes selectors.
func (s *scanner) selectors(name string) (test, error) {
	if s.nesting == MaxNesting {
		return nil, s.fault("more than %d pseudo-classes stand in each other", MaxNesting)
	}
	s.nesting++
	defer func() { s.nesting-- }()
	l, err := s.list(name == "has")
	if err != nil {
		return nil, err
	}
	return func(t *tree) func(int) bool {
		switch name {
		case "has":
			found := l.anchors(t)
			return func(n int) bool { return found[n] }
		case "not":
			found := l.match(t)
			return func(n int) bool { return !found[n] }
		default:
			found := l.match(t)
			return func(n int) bool { return found[n] }
		}
	}, nil
}

// position reads the argument of a pseudo-class that counts siblings.
func (s *scanner) position(name string) (test, error) {
	a, b, err := s.formula()
	if err != nil {
		return nil, err
	}
	last, typed := strings.Contains(name, "-last-"), strings.HasSuffix(name, "-of-type")
	return each(func(n *node) bool {
		o := n.child
		if typed {
			o = n.typed
		}
		i := o.index
		if last {
			i = o.last()
		}
		if i == 0 {
			return false
		}
		if a == 0 {
			return i == b
		}
		return (i-b)%a == 0 && (i-b)/a >= 0
	}), nil
}
