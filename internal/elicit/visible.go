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
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !isHidden(r):
			b.WriteString(text[i : i+size])
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
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
