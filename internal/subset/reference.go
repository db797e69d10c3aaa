package subset

import "strings"

// A Piece is a part of authored text: plain text with its escapes resolved, or a
// reference. Neighbouring plain text is one Piece, and none is empty.
type Piece struct {
	Text   string // plain text to emit, \{ already made {
	Source string // a reference as authored, with braces; empty: Text
	Name   string // the binding a reference begins with
	Offset int    // where the piece begins in the authored text, in bytes
}

// References splits authored text the way the ordinary reader does (language 3.2
// to 3.4, 3.9). At a brace: after a backslash it is plain, and so is the reading
// that follows it; {meta.…} and {props.…} reach to the next closing brace whatever
// stands between, and their Name is meta or props; identifiers joined by dots and
// nothing else are a reference to the binding the first one names; any other brace
// is plain. A Source that begins {meta. or {props. is always of the first kind,
// whatever is bound.
//
// Time and memory are linear in the text.
func References(text string) []Piece {
	var pieces []Piece
	var plain []byte
	from, at := 0, 0 // where plain began; how far text was read
	flush := func() {
		if len(plain) > 0 {
			pieces = append(pieces, Piece{Text: string(plain), Offset: from})
			plain = plain[:0]
		}
	}
	lastClose := strings.LastIndexByte(text, '}')
	for {
		n := strings.IndexByte(text[at:], '{')
		if n < 0 {
			break
		}
		open := at + n
		if n > 0 && text[open-1] == '\\' {
			plain = append(append(plain, text[at:open-1]...), '{')
			at = open + 1
			continue
		}
		plain = append(plain, text[at:open]...)
		name, size := "", 0
		if open < lastClose { // else nothing closes it, and nobody looks again
			name, size = reference(text[open:])
		}
		if size == 0 {
			plain = append(plain, '{')
			at = open + 1
			continue
		}
		flush()
		at = open + size
		from = at
		pieces = append(pieces, Piece{Source: text[open:at], Name: name, Offset: open})
	}
	plain = append(plain, text[at:]...)
	flush()
	return pieces
}

// reference reads the reference that the brace at the start of text begins; n is 0
// when it begins none.
func reference(text string) (name string, n int) {
	if strings.HasPrefix(text, "{meta.") {
		return "meta", strings.IndexByte(text, '}') + 1
	}
	if strings.HasPrefix(text, "{props.") {
		return "props", strings.IndexByte(text, '}') + 1
	}
	start := 1
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case isLetter(c):
		case i == start: // no name here, or one that begins with a digit
			return "", 0
		case isDigit(c):
		case c == '.' || c == '}':
			if name == "" {
				name = text[start:i]
			}
			if c == '}' {
				return name, i + 1
			}
			start = i + 1
		default:
			return "", 0
		}
	}
	return "", 0
}
