package elicit

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain text", "Ship 1.4.2 now?", "Ship 1.4.2 now?"},
		{"letters of any script", "Żółw 龜 كلب 🐢 é", "Żółw 龜 كلب 🐢 é"},
		{"lines and tabs stay", "a\n\tb\n", "a\n\tb\n"},
		{"carriage return", "safe\rrm -rf", `safe\u000drm -rf`},
		{"escape sequence", "\x1b[2J", `\u001b[2J`},
		{"bell, backspace, nul, delete", "\a\b\x00\x7f", `\u0007\u0008\u0000\u007f`},
		{"c1 controls", "\u0080\u009b", `\u0080\u009b`},
		{"bidirectional overrides", "\u202aa\u202bb\u202cc\u202dd\u202e", `\u202aa\u202bb\u202cc\u202dd\u202e`},
		{"bidirectional isolates", "\u2066\u2067\u2068\u2069", `\u2066\u2067\u2068\u2069`},
		{"bidirectional marks", "\u200e\u200f\u061c", `\u200e\u200f\u061c`},
		{"zero width", "a\u200bb\u200cc\u200dd\u2060e\ufefff", `a\u200bb\u200cc\u200dd\u2060e\ufefff`},
		{"soft hyphen", "co\u00adop", `co\u00adop`},
		{"spaces that look ordinary", "\u00a0\u2009\u202f\u205f\u3000\u1680", `\u00a0\u2009\u202f\u205f\u3000\u1680`},
		{"line and paragraph separators", "\u2028\u2029\u0085", `\u2028\u2029\u0085`},
		{"fillers", "\u115f\u1160\u3164\uffa0\u034f\u2800", `\u115f\u1160\u3164\uffa0\u034f\u2800`},
		{"variation selectors", "❤\ufe0f\ufe00\U000e0100\u180b", `❤\ufe0f\ufe00\U000e0100\u180b`},
		{"tags", "\U000e0041\U000e007f", `\U000e0041\U000e007f`},
		{"annotations and invisible operators", "\ufff9\ufffb\u2061\u2064", `\ufff9\ufffb\u2061\u2064`},
		{"private use", "\ue000\U000f0000", `\ue000\U000f0000`},
		{"unassigned and noncharacters", "\u0378\ufdd0\uffff\U0010ffff", `\u0378\ufdd0\uffff\U0010ffff`},
		{"bytes that are not UTF-8", "a\xffb\xc3", `a\xffb\xc3`},
		{"a real replacement character", "\ufffd", `\ufffd`},
		{"hidden first and last", "\u202eabc\u200b", `\u202eabc\u200b`},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, Visible(c.text)) })
	}
}

// No code point of the classes that can hide anything comes through.
func TestVisibleCoversEveryClass(t *testing.T) {
	for name, class := range map[string]*unicode.RangeTable{
		"controls": unicode.Cc, "formats": unicode.Cf, "line separators": unicode.Zl, "paragraph separators": unicode.Zp,
		"bidirectional": unicode.Bidi_Control, "joiners": unicode.Join_Control, "selectors": unicode.Variation_Selector,
		"ignorable": unicode.Other_Default_Ignorable_Code_Point,
	} {
		for _, r := range codePoints(class) {
			if shown := Visible(string(r)); r != '\n' && r != '\t' && !strings.HasPrefix(shown, `\`) {
				t.Errorf("%s: %U is shown as %q", name, r, shown)
			}
		}
	}
}

func codePoints(class *unicode.RangeTable) (list []rune) {
	for _, r := range class.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			list = append(list, c)
		}
	}
	for _, r := range class.R32 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			list = append(list, c)
		}
	}
	return list
}

func FuzzVisible(f *testing.F) {
	for _, seed := range []string{"", "plain", "\x1b]0;t\a", "a\u202eb", "\xf0\x9f", "\U000e0041\n\t", `\u202e`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shown := Visible(text)
		require.True(t, utf8.ValidString(shown))
		require.Equal(t, -1, strings.IndexFunc(shown, isHidden), "%q", shown)
		require.Equal(t, shown, Visible(shown))
		require.LessOrEqual(t, len(shown), 6*len(text), "growth is bounded")
		require.Equal(t, strings.Count(text, "\n"), strings.Count(shown, "\n"))
	})
}
