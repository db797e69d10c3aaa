package document

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A scanner lists the tags, comments and executable fences of one range of a
// source, in one pass and without knowing what is open: whether something is a
// tag, a fence or a code span depends on the place alone (language 1.2). Tags are
// paired afterwards.
type scanner struct {
	src    string
	lo, hi int
	tokens []token
	attrs  []rawAttr // of all tags; each token names its part
	inert  []span    // comments and fences
	names  map[string]int32
	values *valueIndex // built at the first attribute with a value
	runs   *runIndex   // built at the first run of backticks
	trail  []int32     // values passed by the attribute list being read
	strict bool        // keep spreads among the attributes
}

type tokenKind uint8

const (
	openTag tokenKind = iota
	closeTag
	emptyTag // self-closing
	comment
	fenceBlock // executable
)

// A token is a part of the range that is not plain text.
type token struct {
	kind       tokenKind
	start, end int32
	nameEnd    int32 // of a tag's name, which starts one or two bytes after start
	name       int32 // which name, for open and close tags
	mate       int32 // the tag it is paired with, or none
	from, to   int32 // the attributes of a tag, or the content of a fence
}

type rawAttr struct {
	name, nameEnd int32
	text, textEnd int32
	form          AttrForm
}

func newScanner(src string, lo, hi int) *scanner {
	return &scanner{src: src[:hi], lo: lo, hi: hi, names: map[string]int32{}}
}

// scan fills tokens. Between two tokens everything is text, so the scan jumps
// from one character that could start a token to the next.
func (s *scanner) scan() {
	tag, tick, tilde := -1, -1, -1
	for p := s.lo; p < s.hi; {
		if tag < p {
			tag = s.find("<", p)
		}
		if tick < p {
			tick = s.find("`", p)
		}
		if tilde < p {
			tilde = s.find("~~~", p)
		}
		next := min(tag, tick, tilde)
		if next == s.hi {
			return
		}
		switch s.src[next] {
		case '<':
			p = s.angle(next)
		case '`':
			p = s.backticks(next)
		default:
			p = s.tildes(next)
		}
	}
}

func (s *scanner) find(what string, from int) int {
	if i := strings.Index(s.src[from:], what); i >= 0 {
		return from + i
	}
	return s.hi
}

// angle reads what a < at p starts and returns where scanning goes on.
func (s *scanner) angle(p int) int {
	rest := s.src[p+1:]
	switch {
	case rest == "":
		return p + 1
	case rest[0] == '/':
		end := elementName(s.src, p+2)
		if end == p+2 || end == s.hi || s.src[end] != '>' {
			return p + 1
		}
		s.tokens = append(s.tokens, token{kind: closeTag, start: int32(p), end: int32(end + 1),
			nameEnd: int32(end), name: s.nameID(s.src[p+2 : end]), mate: none})
		return end + 1
	case strings.HasPrefix(rest, "!--"):
		end, _ := s.comment(p)
		s.tokens = append(s.tokens, token{kind: comment, start: int32(p), end: int32(end)})
		s.inert = append(s.inert, span{p, end})
		return end
	case isUpper(rest[0]):
		if end, ok := s.tag(p); ok {
			return end
		}
	}
	return p + 1
}

// comment returns the end of the comment at p. The end may share its hyphens with
// the start: <!--> and <!---> are whole. A comment that is not closed goes on to
// the end of the range.
func (s *scanner) comment(p int) (end int, closed bool) {
	if end = s.find("-->", p+2); end == s.hi {
		return end, false
	}
	return end + len("-->"), true
}

// tag reads an opening or self-closing tag at p (language 1.3 to 1.6.1). When it
// is malformed nothing is kept, and its < is text.
func (s *scanner) tag(p int) (end int, ok bool) {
	t := token{start: int32(p), nameEnd: int32(elementName(s.src, p+1)), mate: none}
	t.from = int32(len(s.attrs))
	s.trail = s.trail[:0]
	end, selfClosing, ok := s.attributes(p, int(t.nameEnd))
	if !ok {
		s.attrs = s.attrs[:t.from]
		for _, k := range s.trail {
			s.values.marks[k].dead = true
		}
		return 0, false
	}
	t.end, t.to = int32(end), int32(len(s.attrs))
	if t.kind = emptyTag; !selfClosing {
		t.kind = openTag
		t.name = s.nameID(s.src[p+1 : t.nameEnd])
	}
	s.tokens = append(s.tokens, t)
	return end, true
}

// attributes reads an attribute list from i to the end of its tag. When it is
// malformed, end is the place of the character at fault.
func (s *scanner) attributes(tag, i int) (end int, selfClosing, ok bool) {
	k := int32(none) // the next mark of the value index
	for {
		i = skipSpace(s.src, i)
		if i == s.hi {
			return i, false, false
		}
		switch c := s.src[i]; {
		case c == '>':
			return i + 1, false, true
		case c == '/':
			if i+1 < s.hi && s.src[i+1] == '>' {
				return i + 2, true, true
			}
			return i, false, false
		case c == '{': // {...expr} means nothing in an ordinary document
			var text span
			if text, k, ok = s.value(tag, k); !ok || !strings.HasPrefix(s.src[skipSpace(s.src, text.start):text.end], "...") {
				return i, false, false
			}
			s.trail = append(s.trail, k-1)
			if s.strict {
				s.attrs = append(s.attrs, rawAttr{name: int32(i), nameEnd: int32(i),
					text: int32(text.start), textEnd: int32(text.end), form: Spread})
			}
			i = text.end + 1
		case isAttrName(c):
			a := rawAttr{name: int32(i)}
			for i < s.hi && isAttrName(s.src[i]) {
				i++
			}
			a.nameEnd = int32(i)
			i = skipSpace(s.src, i)
			if i < s.hi && s.src[i] == '=' {
				i = skipSpace(s.src, i+1)
				if i == s.hi {
					return i, false, false
				}
				switch s.src[i] {
				case '"', '\'':
					a.form = Quoted
				case '{':
					a.form = Braced
				default:
					return i, false, false
				}
				var text span
				if text, k, ok = s.value(tag, k); !ok {
					return i, false, false
				}
				a.text, a.textEnd = int32(text.start), int32(text.end)
				s.trail = append(s.trail, k-1)
				i = text.end + 1
			}
			s.attrs = append(s.attrs, a)
		default:
			return i, false, false
		}
	}
}

// value returns the text inside the next value of the tag, which starts at mark
// k, and the mark after it. Outside its values an attribute list holds no mark,
// so counting marks keeps the place. A list known to fail from here on fails at
// once.
func (s *scanner) value(tag int, k int32) (text span, next int32, ok bool) {
	if s.values == nil {
		s.values = newValueIndex(s.src, s.lo, s.hi)
	}
	if k == none {
		k = s.values.seek(tag)
	}
	m := s.values.marks[k]
	if m.end == none || s.values.marks[m.end].dead {
		return span{}, none, false
	}
	return span{int(m.pos) + 1, int(s.values.marks[m.end].pos)}, m.end + 1, true
}

func (s *scanner) nameID(name string) int32 {
	id, ok := s.names[name]
	if !ok {
		id = int32(len(s.names))
		s.names[name] = id
	}
	return id
}

// backticks reads the run of backticks at p: a fence, or a code span, or text
// (language 1.8).
func (s *scanner) backticks(p int) int {
	n := runLength(s.src, p)
	if end, ok := s.fence(p, n); ok {
		return end
	}
	if s.runs == nil {
		s.runs = newRunIndex(s.src, s.lo)
	}
	return s.runs.spanEnd(p, n)
}

func (s *scanner) tildes(p int) int {
	n := runLength(s.src, p)
	if end, ok := s.fence(p, n); ok {
		return end
	}
	return p + n
}

// elementName returns the end of the element name at i, or i when there is none
// (language 1.3.1).
func elementName(src string, i int) int {
	if i >= len(src) || !isUpper(src[i]) {
		return i
	}
	for i < len(src) && (isAlnum(src[i]) || src[i] == '.' || src[i] == '_') {
		i++
	}
	return i
}

// DeclarableName reports whether a component may be declared under this name: one
// or more segments joined by dots, each an upper-case letter followed by letters,
// digits and underscores (language 1.3.2).
func DeclarableName(name string) bool {
	start := true
	for i := range len(name) {
		switch c := name[i]; {
		case start && !isUpper(c):
			return false
		case start:
			start = false
		case c == '.':
			start = true
		case !isAlnum(c) && c != '_':
			return false
		}
	}
	return !start
}

// IsBindingIdentifier reports whether s has the form of a binding name:
// [A-Za-z_$][A-Za-z0-9_$]*. Reserved words have it too.
func IsBindingIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && c != '$' && !isAlnum(c) || i == 0 && isDigit(c) {
			return false
		}
	}
	return s != ""
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlpha(c byte) bool { return isUpper(c) || 'a' <= c && c <= 'z' }
func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }

func isAttrName(c byte) bool { return isAlnum(c) || c == '_' || c == '-' }

// skipSpace returns the place of the first character at or after i that is not
// white space.
func skipSpace(s string, i int) int {
	for i < len(s) {
		c := s[i]
		switch {
		case c == ' ' || '\t' <= c && c <= '\r':
			i++
		case c < utf8.RuneSelf:
			return i
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if !unicode.IsSpace(r) {
				return i
			}
			i += size
		}
	}
	return i
}

// runLength counts how often the character at i is repeated.
func runLength(s string, i int) int {
	n := 1
	for i+n < len(s) && s[i+n] == s[i] {
		n++
	}
	return n
}
