package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf16"
)

// A matcher is a compiled pattern. It runs in time linear in the text.
type matcher struct {
	re    *regexp.Regexp
	size  int // about the number of instructions
	fault *fault
}

// compilePattern reads an ECMA pattern and compiles it for RE2, which has no
// lookaround and no backreferences. room is how many instructions may be used.
func compilePattern(source string, room int) (*matcher, error) {
	if len(source) > MaxPattern {
		return nil, fmt.Errorf("is longer than %d bytes", MaxPattern)
	}
	text := translate(source)
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("is a pattern this engine (RE2: no lookaround, no backreferences) cannot run: %s", patternFault(err))
	}
	size := programSize(tree)
	if size > room {
		return nil, fmt.Errorf("makes the patterns of this schema larger than %d instructions", MaxPrograms)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("is a pattern this engine cannot run: %s", patternFault(err))
	}
	return &matcher{re: re, size: size}, nil
}

func patternFault(err error) string {
	return strings.TrimPrefix(err.Error(), "error parsing regexp: ")
}

// programSize estimates the instructions a pattern compiles to.
func programSize(re *syntax.Regexp) int {
	inner := 0
	for _, sub := range re.Sub {
		inner += programSize(sub)
	}
	switch re.Op {
	case syntax.OpRepeat:
		return 1 + inner*max(re.Max, re.Min+1)
	case syntax.OpLiteral:
		return len(re.Rune)
	}
	return 1 + len(re.Rune)/2 + inner
}

// White space and line ends as ECMA counts them, as the inside of a class.
const (
	ecmaSpace    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	ecmaNonSpace = `\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}` +
		`\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	ecmaLineEnds = `\n\r\x{2028}\x{2029}`
)

// translate spells an ECMA pattern the way RE2 reads it. What has no other
// spelling is passed on, for the compiler to accept or refuse.
func translate(p string) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(p); {
		switch c := p[i]; {
		case c == '\\' && i+1 < len(p):
			text, size := translateEscape(p[i:], class)
			b.WriteString(text)
			i += size
			continue
		case class && c == '[':
			b.WriteString(`\[`)
		case class && c == ']':
			class = false
			b.WriteByte(c)
		case class:
			b.WriteByte(c)
		case strings.HasPrefix(p[i:], "[^]"):
			b.WriteString(`(?s:.)`)
			i += len("[^]")
			continue
		case strings.HasPrefix(p[i:], "[]"):
			b.WriteString(`[^\x{0}-\x{10ffff}]`)
			i += len("[]")
			continue
		case c == '[':
			class = true
			b.WriteByte(c)
		case c == '.':
			b.WriteString(`[^` + ecmaLineEnds + `]`)
		default:
			b.WriteByte(c)
		}
		i++
	}
	return b.String()
}

// translateEscape spells the escape p starts with and returns how long it is in p.
func translateEscape(p string, class bool) (text string, size int) {
	switch p[1] {
	case 's':
		return inClass(ecmaSpace, class), 2
	case 'S':
		return inClass(ecmaNonSpace, class), 2
	case 'b':
		if class {
			return `\x08`, 2
		}
	case 'c':
		if len(p) > 2 && ('a' <= p[2]|0x20 && p[2]|0x20 <= 'z') {
			return fmt.Sprintf(`\x{%x}`, p[2]&31), 3
		}
	case 'u':
		if strings.HasPrefix(p, `\u{`) {
			return `\x`, 2
		}
		if r, ok := unicodeEscape(p); ok {
			if low, ok := unicodeEscape(p[6:]); ok && utf16.IsSurrogate(r) {
				if pair := utf16.DecodeRune(r, low); pair != '\ufffd' {
					return fmt.Sprintf(`\x{%x}`, pair), 12
				}
			}
			return fmt.Sprintf(`\x{%x}`, r), 6
		}
	}
	return p[:2], 2
}

func inClass(members string, class bool) string {
	if class {
		return members
	}
	return "[" + members + "]"
}

// unicodeEscape reads a \uXXXX at the start of p.
func unicodeEscape(p string) (rune, bool) {
	if len(p) < 6 || p[0] != '\\' || p[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(p[2:6], 16, 32)
	return rune(n), err == nil
}
