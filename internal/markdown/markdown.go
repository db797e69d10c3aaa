// Package markdown says what a text of Markdown means where its structure no
// longer matters.
//
// The bytes of a text, an address, a title or an info string enter as they are
// written; what they say leaves. goldmark keeps such bytes as they stand in the
// source and leaves their meaning to whoever writes them out, so that every room
// that reads a goldmark tree needs this one rule. (language 6.4, 11.5)
//
// The room has one invariant: it reads every byte once, looking ahead no further
// than the longest character reference. It does not know blocks, inlines, or what
// the text is for, and must not be asked about code, HTML and autolinks, which mean
// what is written.
package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/util"
)

// longestReference is the length of the longest character reference that
// CommonMark knows.
const longestReference = len("&CounterClockwiseContourIntegral;")

// Unescape returns what s says: a backslash before ASCII punctuation is left out,
// and a character reference, named or numeric, becomes its characters. Anything
// else, a reference to no known character included, is itself. The result is valid
// UTF-8 where s is.
func Unescape(s []byte) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]):
			i++
		case s[i] == '&':
			end := bytes.IndexByte(s[i:min(i+longestReference, len(s))], ';')
			if end < 0 {
				break
			}
			reference := s[i : i+end+1]
			if resolved := resolve(reference); !bytes.Equal(resolved, reference) {
				b.Write(resolved)
				i += end
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// resolve returns the characters for one character reference.
func resolve(reference []byte) []byte {
	if bytes.HasPrefix(reference, []byte("&#")) {
		return util.ResolveNumericReferences(reference)
	}
	return util.ResolveEntityNames(reference)
}
