package ecma

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/stretchr/testify/require"
)

// fromUnits builds a string unit by unit.
func fromUnits(list []uint16) String {
	var dst []byte
	for _, u := range list {
		dst = appendUnit(dst, rune(u))
	}
	return String(dst)
}

// alphabet holds the units where orders and encodings change.
var alphabet = []uint16{0, ' ', 'a', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xd83d, 0xdbff, 0xdc00, 0xde00, 0xdfff, 0xe000, 0xfeff, 0xffff}

func randomUnits(r *rand.Rand) []uint16 {
	list := make([]uint16, r.IntN(7))
	for i := range list {
		list[i] = alphabet[r.IntN(len(alphabet))]
	}
	return list
}

// TestStringsAreUnits compares every operation on strings with the same operation
// on their units.
func TestStringsAreUnits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 30000 {
		a, b := randomUnits(r), randomUnits(r)
		s, u := fromUnits(a), fromUnits(b)
		require.Equal(t, append([]uint16{}, a...), unitsOf(s))
		require.Equal(t, len(a), s.Length())
		require.Equal(t, string(utf16.Decode(a)), s.Text(), "%x", a)
		require.Equal(t, fromUnits(append(append([]uint16{}, a...), b...)), concat(s, u), "%x %x", a, b)
		require.Equal(t, compareUnits(a, b), compare(s, u), "%x %x", a, b)
		require.Equal(t, compareUnits(a, b) == 0, s == u, "%x %x", a, b)
		for i := range len(a) + 2 {
			unit, ok := s.at(i)
			require.Equal(t, i < len(a), ok)
			if ok {
				require.Equal(t, a[i:i+1], unitsOf(unit))
			}
		}
	}
}

func compareUnits(a, b []uint16) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			if a[i] < b[i] {
				return -1
			}
			return 1
		}
	}
	return min(max(len(a)-len(b), -1), 1)
}

func TestTrim(t *testing.T) {
	o := newOracle(t)
	trimmed := NewArray()
	for c := range rune(0x10000) {
		s := String(appendUnit(nil, c)) + "a"
		if s.Trim() == "a" {
			must(trimmed.Append(float64(c), wide))
		}
		require.Equal(t, s, s.TrimEnd())
	}
	require.Equal(t, o.call(`() => Array.from({length: 0x10000}, (_, i) => i).filter(i => (String.fromCharCode(i) + "a").trim() === "a")`), describe(trimmed))
	spaces := String("\t\n\v\f\r \u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff")
	for _, s := range []String{"", " ", "a", spaces + "a b" + spaces, spaces, "\u0085a\u0085", "\u200ba\u200b", "\u180e", " \x00 "} {
		js := goja.StringFromUTF16(unitsOf(s))
		require.Equal(t, o.call("s => s.trim()", js), describe(s.Trim()), "%q", s)
		require.Equal(t, o.call("s => s.trimEnd()", js), describe(s.TrimEnd()), "%q", s)
	}
	// The interpreter loses a half where it trims; ECMAScript does not.
	require.Equal(t, high, (" " + high + " ").Trim())
	require.Equal(t, " "+low, (" " + low + " ").TrimEnd())
}

func TestFromText(t *testing.T) {
	for in, want := range map[string]String{
		"":                 "",
		"aé😀":              "aé😀",
		"\xff\xfe":         "\ufffd\ufffd",
		"\xed\xa0\xbd":     "\ufffd\ufffd\ufffd", // what is a half in a String is no text
		"a\xe2\x82":        "a\ufffd\ufffd",
		"\xf0\x9f\x98\x80": "😀",
	} {
		got := FromText(in)
		require.Equal(t, want, got, "%q", in)
		require.True(t, utf8.ValidString(string(got)))
	}
}

// TestBrokenBytes gives bytes no String has to every reader: they end all the same.
func TestBrokenBytes(t *testing.T) {
	for _, s := range []String{"\xed", "\xed\xa0", "\xed\xa0\x00", "\xf0\x9f", "\x80\x80\x80", "a\xff", "\xed\xa0\xbd\x80", "\xc0\xaf"} {
		for _, u := range []String{"", "a", s, high, low, "\xed\xb8"} {
			_ = compare(s, u) + compare(u, s)
			require.Equal(t, 0, compare(s, s))
			require.True(t, utf8.ValidString(concat(s, u).Text()))
			for i := range 6 {
				_, _ = s.at(i)
			}
			_, err := JSONText(concat(u, s), wide)
			require.NoError(t, err)
		}
		_ = s.Length()
	}
}

func TestJoiningHalves(t *testing.T) {
	v, err := Binary(Add, high, low, wide)
	require.NoError(t, err)
	require.Equal(t, String("😀"), v)
	for i, want := range []String{high, low} {
		unit, err := Index(v, float64(i))
		require.NoError(t, err)
		require.Equal(t, want, unit)
	}
	require.Equal(t, "[d83d de00]", fmt.Sprintf("%x", unitsOf(v.(String))))
	v, err = ParseJSON(`"\uD83D\ude00\ud83d"`, wide)
	require.NoError(t, err)
	require.Equal(t, "😀"+high, v)
	require.Equal(t, strings.Repeat("\ufffd", 2), (low + high).Text())
}
