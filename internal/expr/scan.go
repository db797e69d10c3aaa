package expr

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The parser recurses and reads parenthesised arrow parameters twice, so its time
// and stack depend on how deep a source nests. The scanner below looks at the
// brackets first, in one pass, and refuses what the parser could not digest. It
// also answers the question the parser is not asked: whether the text stays inside
// the brackets it will be wrapped in.

// maxParameterArrows bounds arrow functions in the parameters of arrow functions;
// each level doubles the work of the parser.
const maxParameterArrows = 8

// A nest counts what may lie around one place without any bracket: the parser's
// time is quadratic in both.
type nest struct {
	arrows int // arrow functions
	colons int // labels and the middles of conditionals
}

// A frame is one open bracket.
type frame struct {
	open   byte // ( [ { ` or $ for the brace of a template
	head   bool // a parenthesis after if, while, for or with
	loop   bool // a parenthesis after for
	base   nest // around the bracket
	now    nest // around the present place
	nested int  // depth of arrows inside arrow parameters
}

type scanner struct {
	src    string
	pos    int
	frames []frame

	operand bool   // the previous token ends an operand, so that / divides
	brace   bool   // the previous token is }
	dot     bool   // the previous token is . or ?.
	newline bool   // a line ended since the previous token
	word    string // the previous token when it is a word
	closed  int    // nested of the parenthesis just closed, or -1
}

// scan checks the brackets, strings and comments of one source. With block set it
// is a function body, which a comment may end.
func scan(src string, block bool) *Error {
	if len(src) > MaxSource {
		return syntaxError("the source is longer than " + number(MaxSource) + " bytes; move data into props or files")
	}
	if strings.Count(src, "(")+strings.Count(src, "[")+strings.Count(src, "{") > MaxBrackets {
		return syntaxError("more than " + number(MaxBrackets) + " brackets; move data into props or files")
	}
	s := &scanner{src: src, frames: make([]frame, 1, 16), closed: -1}
	for s.pos < len(src) {
		if reason := s.token(block); reason != "" {
			return syntaxError(reason)
		}
	}
	if n := len(s.frames); n > 1 {
		return syntaxError("a " + quoted(s.frames[n-1].open) + " is never closed")
	}
	return nil
}

func (s *scanner) top() *frame { return &s.frames[len(s.frames)-1] }

// token reads one token, comment or run of white space.
func (s *scanner) token(block bool) string {
	c := s.src[s.pos]
	switch {
	case c == '\n' || c == '\r':
		s.newline = true
		s.pos++
	case c == ' ' || c == '\t' || c == '\v' || c == '\f':
		s.pos++
	case c == '/':
		return s.slash(block)
	case c == '"' || c == '\'':
		return s.text(c)
	case c == '`':
		s.pos++
		return s.template(true)
	case c == '(' || c == '[' || c == '{':
		return s.push(c)
	case c == ')' || c == ']' || c == '}':
		return s.pop(c)
	case c == '=' && strings.HasPrefix(s.src[s.pos:], "=>"):
		return s.arrow()
	case '0' <= c && c <= '9', c == '.' && s.pos+1 < len(s.src) && digit(s.src[s.pos+1]):
		s.number()
	case c < utf8.RuneSelf && !wordByte(c):
		return s.punctuation(c)
	default:
		s.wordOrSpace()
	}
	return ""
}

// settle records a token other than a word or a bracket.
func (s *scanner) settle(operand bool) {
	s.operand, s.brace, s.dot, s.newline, s.word, s.closed = operand, false, false, false, "", -1
}

func (s *scanner) slash(block bool) string {
	rest := s.src[s.pos:]
	switch {
	case strings.HasPrefix(rest, "//"):
		n := strings.IndexAny(rest, "\n\r\u2028\u2029")
		if n < 0 {
			if !block {
				return "a comment after // may not end an expression; write /* */"
			}
			n = len(rest)
		}
		s.pos += n
	case strings.HasPrefix(rest, "/*"):
		n := strings.Index(rest[2:], "*/")
		if n < 0 {
			return "a comment is never closed"
		}
		if strings.ContainsAny(rest[:n+2], "\n\r\u2028\u2029") {
			s.newline = true
		}
		s.pos += n + 4
	case s.brace:
		return "a / after } is ambiguous; put the operand or the pattern in parentheses"
	case s.operand:
		s.pos++
		s.settle(false)
	default:
		return s.pattern()
	}
	return ""
}

// pattern reads a regular expression literal.
func (s *scanner) pattern() string {
	class := false
	for i := s.pos + 1; i < len(s.src); i++ {
		switch c := s.src[i]; {
		case c == '\\':
			i++
		case c == '\n' || c == '\r':
			return "a regular expression is never closed"
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			for i++; i < len(s.src) && wordByte(s.src[i]); i++ {
			}
			s.pos = i
			s.settle(true)
			return ""
		}
	}
	return "a regular expression is never closed"
}

func (s *scanner) text(quote byte) string {
	for i := s.pos + 1; i < len(s.src); i++ {
		switch c := s.src[i]; {
		case c == '\\':
			if i++; i+1 < len(s.src) && s.src[i] == '\r' && s.src[i+1] == '\n' {
				i++
			}
		case c == '\n' || c == '\r':
			return "a string is never closed"
		case c == quote:
			s.pos = i + 1
			s.settle(true)
			return ""
		}
	}
	return "a string is never closed"
}

// template reads the text of a template up to its end or its next ${.
func (s *scanner) template(opening bool) string {
	if opening {
		if reason := s.enter(frame{open: '`'}); reason != "" {
			return reason
		}
	}
	for ; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; {
		case c == '\\':
			s.pos++
		case c == '`':
			s.pos++
			s.leave()
			s.settle(true)
			return ""
		case c == '$' && s.pos+1 < len(s.src) && s.src[s.pos+1] == '{':
			s.pos += 2
			s.settle(false)
			return s.enter(frame{open: '$'})
		}
	}
	return "a template is never closed"
}

func (s *scanner) push(c byte) string {
	f := frame{open: c}
	if c == '(' && !s.dot {
		switch s.word {
		case "for":
			f.loop, f.head = true, true
		case "if", "while", "with":
			f.head = true
		}
	}
	s.pos++
	s.settle(false)
	return s.enter(f)
}

func (s *scanner) enter(f frame) string {
	if len(s.frames) > MaxOpen {
		return "more than " + number(MaxOpen) + " open brackets; bind the parts to names"
	}
	f.base = s.top().now
	f.now = f.base
	s.frames = append(s.frames, f)
	return ""
}

// leave closes the innermost bracket and returns it.
func (s *scanner) leave() frame {
	f := *s.top()
	s.frames = s.frames[:len(s.frames)-1]
	if up := s.top(); up.nested < f.nested {
		up.nested = f.nested
	}
	return f
}

func (s *scanner) pop(c byte) string {
	open := opening(c)
	if got := s.top().open; got != open && (c != '}' || got != '$') {
		return "unexpected " + quoted(c)
	}
	f := s.leave()
	s.pos++
	if f.open == '$' {
		return s.template(false)
	}
	s.settle(!f.head && c != '}')
	s.brace = c == '}'
	if c == ')' {
		s.closed = f.nested
	}
	return ""
}

func (s *scanner) arrow() string {
	f := s.top()
	if s.closed >= 0 {
		if f.nested = max(f.nested, s.closed+1); f.nested > maxParameterArrows {
			return "more than " + number(maxParameterArrows) + " arrow functions in the parameters of arrow functions"
		}
	}
	if f.now.arrows++; f.now.arrows > MaxArrows {
		return "more than " + number(MaxArrows) + " arrow functions inside one another"
	}
	s.pos += 2
	s.settle(false)
	return ""
}

func (s *scanner) number() {
	for s.pos < len(s.src) && (wordByte(s.src[s.pos]) || s.src[s.pos] == '.') {
		s.pos++
	}
	s.settle(true)
}

func (s *scanner) punctuation(c byte) string {
	rest := s.src[s.pos:]
	switch {
	case strings.HasPrefix(rest, "++") || strings.HasPrefix(rest, "--"):
		s.pos += 2
		s.settle(s.operand && !s.newline)
		return ""
	case strings.HasPrefix(rest, "..."):
		s.pos += 3
		s.settle(false)
		return ""
	case c == '.':
		s.pos++
		s.settle(false)
		s.dot = true
		return ""
	case c == ',' || c == ';':
		f := s.top()
		f.now = f.base
	case c == ':':
		f := s.top()
		if f.now.colons++; f.now.colons > MaxTree {
			return "nested deeper than " + number(MaxTree) + " levels; bind the parts to names"
		}
	}
	s.pos++
	s.settle(false)
	return ""
}

// wordOrSpace reads an identifier or keyword, or one white-space character beyond
// ASCII.
func (s *scanner) wordOrSpace() {
	start := s.pos
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		if c < utf8.RuneSelf {
			if !wordByte(c) {
				break
			}
			s.pos++
			continue
		}
		r, size := utf8.DecodeRuneInString(s.src[s.pos:])
		if space := unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' || r == '\ufeff'; space {
			if s.pos == start {
				s.pos += size
				s.newline = s.newline || r == '\u2028' || r == '\u2029'
				return
			}
			break
		}
		s.pos += size
	}
	word, member := s.src[start:s.pos], s.dot
	if f := s.top(); s.newline && (s.operand || s.brace) && f.open != '(' && f.open != '[' {
		f.now = f.base // a new statement
	}
	operand := member || !operatorWord(word) && !(word == "of" && s.top().loop)
	s.settle(operand)
	if !member {
		s.word = word
	}
}

// operatorWord reports whether a pattern, not a division, follows the keyword.
func operatorWord(w string) bool {
	switch w {
	case "return", "typeof", "case", "do", "else", "in", "instanceof", "new", "void",
		"delete", "throw", "await", "yield", "default", "extends":
		return true
	}
	return false
}

// wordByte reports whether c occurs in words: letters, digits, _ $ # and the
// backslash of an escaped letter.
func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || digit(c) ||
		c == '_' || c == '$' || c == '\\' || c == '#'
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func quoted(c byte) string {
	if c == '$' {
		return "${"
	}
	return string(rune(c))
}

func number(n int) string { return strconv.Itoa(n) }

// opening returns the bracket that c closes.
func opening(c byte) byte {
	switch c {
	case ')':
		return '('
	case ']':
		return '['
	}
	return '{'
}
