package wasm

import (
	"crypto/sha256"
	"strconv"
	"unicode/utf8"
)

// The tables that travel beside the code, in two custom sections. Numbers are
// unsigned LEB128, as short as they can be; a text is its length in bytes and its
// bytes; a list is its length and its items. Texts are UTF-8. Those of xmd.strings,
// which member names are among, may hold a lone surrogate as the three bytes its code
// point would have.
//
//	xmd.fragment = format (1) · source digest (32 bytes) · kinds · elements
//	kind         = name · identity (empty: structural)
//	element      = kind · flags · up · forward
//	xmd.strings  = list of texts
//
// Kinds are the distinct pairs of the elements, in order of first use. Flags are 1
// for paired and 2 for a written as. up is how many elements back the parent is,
// counting from a row before the first for an element at the top. forward is how many
// bytes after the element before it an element stands, the first one after 0.
const (
	fragmentName = "xmd.fragment"
	stringsName  = "xmd.strings"
	format       = 1
	digestSize   = sha256.Size

	flagPaired = 1
	flagAs     = 2
	flagsKnown = flagPaired | flagAs
)

// An elementKind is what an element was decided to be.
type elementKind struct{ name, identity string }

func appendFragment(dst, source []byte, elements []Element) []byte {
	dst = append(appendCount(dst, format), source...)

	place := map[elementKind]int{}
	var kinds []elementKind
	for _, el := range elements {
		k := elementKind{el.Name, el.Identity}
		if _, known := place[k]; !known {
			place[k] = len(kinds)
			kinds = append(kinds, k)
		}
	}
	dst = appendCount(dst, len(kinds))
	for _, k := range kinds {
		dst = appendName(appendName(dst, k.name), k.identity)
	}

	dst = appendCount(dst, len(elements))
	offset := 0
	for i, el := range elements {
		var flags byte
		if el.Form == Paired {
			flags |= flagPaired
		}
		if el.As {
			flags |= flagAs
		}
		dst = append(appendCount(dst, place[elementKind{el.Name, el.Identity}]), flags)
		dst = appendCount(appendCount(dst, i-el.Parent), el.Offset-offset)
		offset = el.Offset
	}
	return dst
}

func appendStrings(dst []byte, texts []string) []byte {
	dst = appendCount(dst, len(texts))
	for _, s := range texts {
		dst = appendName(dst, s)
	}
	return dst
}

// spawnName is the name a spawn is exported under.
func spawnName(k int) string { return spawnPrefix + strconv.Itoa(k) }

// isText reports whether s is UTF-8 but for lone surrogates. The two halves of a pair
// are never written apart: there is one spelling of every text.
func isText(s string) bool {
	high := false // the three bytes before are a high surrogate
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		surrogate := r == utf8.RuneError && size == 1
		if surrogate {
			if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2] < 0x80 || s[2] > 0xbf {
				return false
			}
			size = 3
		}
		if surrogate && high && s[1] >= 0xb0 {
			return false
		}
		high = surrogate && s[1] < 0xb0
		s = s[size:]
	}
	return true
}
