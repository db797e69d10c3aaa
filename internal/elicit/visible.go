package elicit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns text with every character that a terminal would obey or not
// show written as an escape: controls, bidirectional and other format characters,
// spaces that are not the ordinary one, line and paragraph separators, fillers and
// selectors without a shape, private and unassigned code points. An escape is
// \u202e, \U000e0041 beyond the basic plane, or \xff for a byte that is not UTF-8.
// Line feeds and tabs stay: the text keeps its lines. Visible text is returned as
// it is, so applying Visible again changes nothing.
func Visible(text string) string {
	hidden := strings.IndexFunc(text, isHidden)
	if hidden < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	b.WriteString(text[:hidden])
	for i := hidden; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if isHidden(r) {
			writeEscape(&b, r, text[i:i+size])
		} else {
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// writeEscape writes a character, which text is encoded as, in a way that can be
// seen.
func writeEscape(b *strings.Builder, r rune, text string) {
	switch {
	case r == utf8.RuneError && len(text) == 1:
		fmt.Fprintf(b, `\x%02x`, text[0])
	case r > 0xffff:
		fmt.Fprintf(b, `\U%08x`, r)
	default:
		fmt.Fprintf(b, `\u%04x`, r)
	}
}

// escapeAt returns the length of the escape that text begins with, 0 for none. A
// document may spell one itself; nobody can tell it from a written one, and it is
// as visible.
func escapeAt(text string) int {
	if len(text) < 4 || text[0] != '\\' {
		return 0
	}
	digits := escapeDigits(text[1])
	if digits == 0 || len(text) < 2+digits {
		return 0
	}
	for _, c := range []byte(text[2 : 2+digits]) {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return 0
		}
	}
	return 2 + digits
}

func escapeDigits(kind byte) int {
	switch kind {
	case 'x':
		return 2
	case 'u':
		return 4
	case 'U':
		return 8
	}
	return 0
}

// isHidden reports whether a character has no shape of its own. It is also true
// for U+FFFD, which stands for a byte that is not UTF-8; Visible tells the two
// apart.
func isHidden(r rune) bool {
	switch {
	case ' ' <= r && r < 0x7f || r == '\n' || r == '\t':
		return false
	case r == utf8.RuneError, r == blankBraille, !unicode.IsPrint(r):
		return true
	}
	return unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// blankBraille is a symbol by its class and looks like a space.
const blankBraille = '\u2800'
