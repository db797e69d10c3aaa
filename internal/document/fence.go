package document

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// fence reads the run of n backticks or tildes at p as an opening fence with all
// that belongs to it, its last line end included (language 1.9). An executable
// one becomes a token.
func (s *scanner) fence(p, n int) (end int, ok bool) {
	start := p
	for start > s.lo && p-start < 3 && s.src[start-1] == ' ' {
		start--
	}
	if n < 3 || start > s.lo && s.src[start-1] != '\n' {
		return 0, false
	}
	opening := s.find("\n", p)
	info := s.src[p+n : opening]
	if s.src[p] == '`' && strings.IndexByte(info, '`') >= 0 {
		return 0, false
	}
	from := min(opening+1, s.hi)
	to := from
	for end = from; end < s.hi; to = end {
		to = end
		if end = s.find("\n", to); end < s.hi {
			end++
		}
		if closesFence(s.src[to:end], s.src[p], n) {
			break
		}
	}
	s.inert = append(s.inert, span{start, end})
	if _, modifiers := splitInfo(info); executable(modifiers) {
		s.tokens = append(s.tokens, token{kind: fenceBlock, start: int32(start), end: int32(end),
			from: int32(from), to: int32(to)})
	}
	return end, true
}

// closesFence reports whether line, its line end included, closes a fence of n
// characters c.
func closesFence(line string, c byte, n int) bool {
	i := 0
	for i < len(line) && i < 3 && line[i] == ' ' {
		i++
	}
	if i == len(line) || line[i] != c || runLength(line, i) < n {
		return false
	}
	rest := strings.TrimLeft(line[i+runLength(line, i):], " \t")
	return rest == "" || rest == "\n" || rest == "\r\n"
}

// parseInfo reads the info string of an executable fence (language 1.10).
func parseInfo(info string) *Block {
	b := &Block{Info: strings.TrimSpace(info)}
	var words []Modifier
	b.Language, words = splitInfo(info)
	last := len(words) - 1
	annotations := 0
	for i, w := range words {
		if w.Name != "as" {
			b.Modifiers = append(b.Modifiers, w)
			continue
		}
		annotations++
		switch name, quoted := bindingName(w); {
		case annotations > 1:
			b.Malformed = "a block has at most one binding annotation"
		case !w.HasParams:
			b.Malformed = "the binding annotation as has no name"
		case !quoted:
			b.Malformed = fmt.Sprintf("the binding annotation %s needs double quotes around its name, without a space", w.Word)
		case name == "":
			b.Malformed = "the name in the binding annotation is empty"
		case !IsBindingIdentifier(name):
			b.Malformed = fmt.Sprintf("the binding annotation %s holds no name: a name is letters, digits, _ and $ and starts with no digit", w.Word)
		case i != last:
			b.Malformed = fmt.Sprintf("the binding annotation %s is not the last word", w.Word)
		default:
			b.Binding = name
		}
	}
	if b.Malformed != "" {
		b.Binding = ""
		b.Malformed += `; write as="name" once, as the last word of the opening line`
	}
	return b
}

// bindingName returns what as="…" holds.
func bindingName(w Modifier) (name string, quoted bool) {
	p := w.Params
	if len(p) < 2 || p[0] != '"' || p[len(p)-1] != '"' || w.Word[len("as")] != '=' {
		return "", false
	}
	return p[1 : len(p)-1], true
}

// splitInfo splits an info string at ASCII white space into its language and its
// other words.
func splitInfo(info string) (language string, words []Modifier) {
	fields := strings.FieldsFunc(info, func(r rune) bool { return r == ' ' || '\t' <= r && r <= '\r' })
	if len(fields) == 0 {
		return "", nil
	}
	for _, w := range fields[1:] {
		words = append(words, parseModifier(w))
	}
	return fields[0], words
}

// parseModifier reads name[params], which ends at the first ], else name=params,
// else a bare name (language 1.10.1).
func parseModifier(word string) Modifier {
	m := Modifier{Name: word, Word: word}
	i := strings.IndexAny(word, "[=")
	if i < 0 {
		return m
	}
	if word[i] == '[' {
		if params, _, closed := strings.Cut(word[i+1:], "]"); closed {
			m.Name, m.Params, m.HasParams = word[:i], params, true
			return m
		}
		if i = strings.IndexByte(word, '='); i < 0 {
			return m
		}
	}
	m.Name, m.Params, m.HasParams = word[:i], word[i+1:], true
	return m
}

func executable(modifiers []Modifier) bool {
	for _, m := range modifiers {
		if m.Name == "exec" || m.Name == "eval" {
			return true
		}
	}
	return false
}

// ParseDuration reads a duration as documents and options write it: digits and
// one of the units ms, s, m and min; without a unit, milliseconds (language
// 1.10.5). Zero, a sign, a fraction, white space, and more than about 292 years
// are refused. The error says which text was wrong and how to write one.
func ParseDuration(text string) (time.Duration, error) {
	i := 0
	var n int64
	for i < len(text) && isDigit(text[i]) && n <= math.MaxInt64/100 {
		n = n*10 + int64(text[i]-'0')
		i++
	}
	unit, known := map[string]time.Duration{
		"": time.Millisecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "min": time.Minute,
	}[text[i:]]
	if !known || n == 0 || n > math.MaxInt64/int64(unit) {
		return 0, fmt.Errorf("%.40q is not a duration: write digits and a unit, such as 500ms, 30s or 5m", text)
	}
	return time.Duration(n) * unit, nil
}
