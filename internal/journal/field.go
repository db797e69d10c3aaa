package journal

import (
	"bytes"
	"slices"
	"strings"
)

// Names of fields that hold secrets. A space stands for one of space, hyphen and
// underscore, or nothing.
var secretNames = [...]string{
	"api key", "access token", "auth token", "authorization",
	"client secret",
	"password", "passwd", "private key",
	"refresh token",
	"secret access key", "secret key", "session token",
}

// Bounds of how far a field rule looks ahead, in bytes. A longer value is judged
// by what was seen of it.
const (
	maxBlanks = 8
	maxSlash  = 8
	maxValue  = 512
)

// field finds a name that ends like a secret's (DB_PASSWORD, userApiKey), and
// judges the value it is given. How strictly depends on the form, which the
// record's escaping tells: a member of the record's own JSON is data, anything
// inside a string is text somebody wrote.
//
//	"password":"VALUE"      data: a value that is no stand-in
//	\"password\": \"VALUE\" quoted: without spaces, long or random
//	password=VALUE          assigned: long, and no expression of a program
//	password: VALUE         written: random, and all there is on the line
func (s *scanner) field(i int) {
	end := s.nameEnd(i)
	if end < 0 {
		return
	}
	name := s.text[i:end]
	nameSlashes, nameQuote := quoteAt(s.text[end:])
	if nameQuote != 0 {
		end += nameSlashes + 1
	}
	end += blanks(s.text[end:])
	assigned := false
	switch rest := s.text[end:]; {
	case hasPrefix(rest, ":="), hasPrefix(rest, "=>"):
		assigned, end = true, end+2
	case hasPrefix(rest, "=") && !hasPrefix(rest, "=="):
		assigned, end = true, end+1
	case hasPrefix(rest, ":"):
		end++
	default:
		return
	}
	end += blanks(s.text[end:])
	slashes, quote := quoteAt(s.text[end:])
	data := nameQuote == '"' && nameSlashes == 0
	if quote == 0 {
		if !data {
			s.unquoted(end, assigned)
		}
		return
	}
	if isData := quote == '"' && slashes == 0; isData != data {
		return // the end of the string around the name
	}
	start := end + slashes + 1
	v := quotedValue(s.text[start:], quote, slashes)
	if hasPrefixFold(name, "authorization") {
		scheme := authScheme(v)
		start, v = start+scheme, v[scheme:]
	}
	if placeholder(v) || bytes.IndexByte(v, ' ') >= 0 {
		return
	}
	if data && len(v) >= 6 || len(v) >= 12 || opaque(v, 8) {
		s.found("secret-field", start, start+len(v))
	}
}

func (s *scanner) unquoted(start int, assigned bool) {
	if !assigned {
		start += authScheme(s.text[start:min(len(s.text), start+16)])
	}
	v := s.text[start:min(len(s.text), start+maxValue)]
	v = v[:span(v, isBareByte)]
	after := s.text[start+len(v):]
	switch {
	case placeholder(v):
	case assigned && len(v) >= 12 && !reference(v) && !hasPrefix(after, "(") && !hasPrefix(after, "["),
		!assigned && opaque(v, 12) && endsLine(after):
		s.found("secret-field", start, start+len(v))
	}
}

// nameEnd returns where a secret's name that starts at i ends, or -1.
func (s *scanner) nameEnd(i int) int {
	if i > 0 && isLetter(s.text[i-1]) && !s.afterEscape(i) {
		if camel := isUpper(rune(s.text[i])) && isLower(rune(s.text[i-1])); !camel {
			return -1
		}
	}
	first := s.text[i] | 0x20
	for _, name := range secretNames {
		if name[0] != first {
			continue
		}
		end := i
		for part := range strings.SplitSeq(name, " ") {
			if end > i && end < len(s.text) && strings.IndexByte("-_ ", s.text[end]) >= 0 {
				end++
			}
			if !hasPrefixFold(s.text[end:], part) {
				end = -1
				break
			}
			end += len(part)
		}
		if end >= 0 && (end == len(s.text) || !isWord(s.text[end])) {
			return end
		}
	}
	return -1
}

// bearer finds a bearer credential, in a header or anywhere else.
func (s *scanner) bearer(i int) {
	if !hasPrefixFold(s.text[i:], "bearer") || !s.startsRun(i, isAlnum) {
		return
	}
	start := i + len("bearer")
	gap := blanks(s.text[start:])
	if gap == 0 {
		return
	}
	start += gap
	v := s.text[start:min(len(s.text), start+maxValue)]
	v = v[:span(v, isTokenByte)]
	if (opaque(v, 16) || len(v) >= 32) && !placeholder(v) {
		s.found("bearer", start, start+len(v))
	}
}

// userinfo finds a password, or a token in the place of a user, in a URL whose
// scheme ends at i.
func (s *scanner) userinfo(i int) {
	if !hasPrefix(s.text[i:], "://") || i == 0 || !isAlnum(s.text[i-1]) {
		return
	}
	start := i + len("://")
	info := s.text[start:min(len(s.text), start+maxValue)]
	end := bytes.IndexFunc(info, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("@/?#\"'\\<>{}`", r)
	})
	if end < 0 || info[end] != '@' {
		return
	}
	info = info[:end]
	_, password, ok := bytes.Cut(info, []byte{':'})
	if ok && len(password) >= 4 && !placeholder(password) {
		s.found("url-userinfo", start+len(info)-len(password), start+len(info))
	}
	if !ok && opaque(info, 20) {
		s.found("url-userinfo", start, start+len(info))
	}
}

// quoteAt returns the quote v starts with, and how many backslashes stand before
// it; 0 when it starts with none.
func quoteAt(v []byte) (slashes int, quote byte) {
	for slashes < len(v) && slashes < maxSlash && v[slashes] == '\\' {
		slashes++
	}
	switch {
	case slashes == len(v):
	case v[slashes] == '"', v[slashes] == '\'' && slashes == 0:
		return slashes, v[slashes]
	}
	return 0, 0
}

// quotedValue returns what stands before the closing quote. A quote of a deeper
// level has more backslashes before it; a single quote also ends with the line
// or the string around it.
func quotedValue(v []byte, quote byte, slashes int) []byte {
	v = v[:min(len(v), maxValue)]
	before := 0
	for i, c := range v {
		switch {
		case c == quote && quote == '\'', quote == '\'' && (c == '\\' || c == '"'):
			return v[:i]
		case c == '"' && (before <= slashes || slashes == 0 && before%2 == 0):
			return v[:i-min(before, slashes)]
		case c == '\\':
			before++
		default:
			before = 0
		}
	}
	return v
}

// authScheme returns the length of an authorization scheme and the space after
// it.
func authScheme(v []byte) int {
	for _, scheme := range [...]string{"bearer", "basic", "token"} {
		if hasPrefixFold(v, scheme) && len(v) > len(scheme) && v[len(scheme)] == ' ' {
			return len(scheme) + 1
		}
	}
	return 0
}

func blanks(v []byte) int {
	return span(v[:min(len(v), maxBlanks)], func(c byte) bool { return c == ' ' || c == '\t' })
}

// isBareByte accepts what an unquoted value is written with.
func isBareByte(c byte) bool {
	return isTokenByte(c) || strings.IndexByte("!@#$%^*?:{}<>", c) >= 0
}

// endsLine reports whether the line, in the sense of the text that a JSON string
// holds, ends here.
func endsLine(v []byte) bool {
	return len(v) == 0 || v[0] == '"' || v[0] == '\n' || hasPrefix(v, `\n`) || hasPrefix(v, `\r`)
}

// placeholders are values that stand for a secret, as manuals write them.
var placeholders = [...]string{
	"change-me", "changeme", "demo", "dummy", "empty", "example", "fake", "false",
	"hidden", "masked", "n/a", "nil", "none", "not-set", "null", "omitted",
	"optional", "pass", "passwd", "password", "placeholder", "private", "redacted",
	"removed", "replace-me", "replaceme", "required", "sample", "secret", "string",
	"tbd", "test", "todo", "token", "true", "undefined", "unknown", "unset", "user",
}

// placeholder reports whether v stands for a secret instead of being one: empty,
// a template ({props.password}, ${TOKEN}, <token>, %s), stars and other
// repetitions, the name of a variable, or a word manuals use.
func placeholder(v []byte) bool {
	if len(v) == 0 || strings.IndexByte("$%<[({*", v[0]) >= 0 || distinct(v) <= 2 {
		return true
	}
	if bytes.IndexByte(v, '{') >= 0 && bytes.IndexByte(v, '}') >= 0 || bytes.Contains(v, []byte("${")) {
		return true
	}
	if bytes.IndexByte(v, '_') >= 0 && span(v, func(c byte) bool { return c == '_' || isUpper(rune(c)) }) == len(v) {
		return true
	}
	if len(v) > 64 {
		return false
	}
	word := strings.ReplaceAll(strings.ToLower(string(v)), "_", "-")
	for _, prefix := range [...]string{"your-", "my-", "example-", "xxx", "process.env", "os.environ", "env.", "vault:"} {
		if strings.HasPrefix(word, prefix) {
			return true
		}
	}
	_, found := slices.BinarySearch(placeholders[:], word)
	return found
}

// reference reports whether an unquoted value reads as an expression of a
// program (user_password, config.apiKey) and not as a literal.
func reference(v []byte) bool {
	joined := false
	for i, c := range v {
		switch {
		case c == '_' || c == '.':
			joined = true
		case !isLetter(c):
			return false
		case i > 0 && isUpper(rune(c)) && isLower(rune(v[i-1])):
			joined = true
		}
	}
	return joined
}
