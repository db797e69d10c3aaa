package termdown

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns s with every character that cannot be seen, or that changes how
// others are seen, replaced by an escape: controls, format characters such as
// bidirectional marks, line separators, fillers, variation selectors, unassigned
// code points, and bytes that are no UTF-8. Tabs and line feeds remain; layout
// deals with them. Emoji keep the joiners and the selectors they are made of.
func visible(s string) string {
	var b strings.Builder
	before := rune(0)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case shown(r) || partOfEmoji(before, r, s[i+size:]):
			b.WriteString(s[i : i+size])
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		before = r
		i += size
	}
	return b.String()
}

func shown(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= ' ' && r != 0x7F || r == '\t' || r == '\n'
	}
	return (unicode.IsGraphic(r) || unicode.Is(unicode.Co, r)) &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

const (
	zeroWidthJoiner = 0x200D
	textStyle       = 0xFE0E
	emojiStyle      = 0xFE0F
)

// partOfEmoji reports whether r, between before and after, is an invisible part of
// an emoji: a style after a visible character beyond ASCII or the base of a keycap,
// or a joiner of two symbols.
func partOfEmoji(before, r rune, after string) bool {
	switch r {
	case textStyle, emojiStyle:
		if before >= utf8.RuneSelf {
			return shown(before)
		}
		return before >= '0' && before <= '9' || before == '#' || before == '*'
	case zeroWidthJoiner:
		next, _ := utf8.DecodeRuneInString(after)
		return unicode.Is(unicode.So, next) && (unicode.In(before, unicode.So, unicode.Sk) || before == emojiStyle)
	}
	return false
}
