package admission

import (
	"strings"
	"unicode/utf8"

	"github.com/executable-markdown/xmd/capability"
)

// maxExcerpt bounds how much of a candidate a Place repeats, in bytes.
const maxExcerpt = 80

// A Place is where a refused fragment was refused, for the person who asks about a
// file of their own. It is never part of a refusal.
type Place struct {
	Class   Class
	Offset  int    // in bytes, from 0
	Line    int    // from 1
	Column  int    // in UTF-16 code units, from 1
	Excerpt string // of the candidate, unescaped: one line, at most 80 bytes
}

// Explain repeats a refusal and says where (fragments 12); nil for an admitted
// fragment. What it returns quotes the candidate, so whoever shows it escapes it,
// and nobody records it.
func Explain(source string, g *capability.Grant) *Place {
	_, f := read("", source, g)
	if f == nil {
		return nil
	}
	before := source[:f.offset]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	column := 1
	for _, r := range line {
		column++
		if r > 0xffff {
			column++
		}
	}
	return &Place{
		Class: f.class, Offset: f.offset, Line: 1 + strings.Count(before, "\n"), Column: column,
		Excerpt: excerpt(source[f.offset:]),
	}
}

// excerpt is the beginning of the first line of a text.
func excerpt(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if len(text) <= maxExcerpt {
		return text
	}
	end := maxExcerpt
	for end > maxExcerpt-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
