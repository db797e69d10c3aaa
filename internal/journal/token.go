package journal

import "bytes"

// A shape is a token that is known by its prefix and a body of a certain
// alphabet and length. Checksums are not looked at: a token with a typing error
// still gives away most of a secret.
type shape struct {
	rule    string
	prefix  string
	body    func(byte) bool
	least   int                    // bytes of body
	bounded bool                   // a token byte before or a longer body is something else
	genuine func(body []byte) bool // tells a token from words; nil accepts
}

var shapes = [...]shape{
	{rule: "github-token", prefix: "ghp_", body: isAlnum, least: 36},
	{rule: "github-token", prefix: "gho_", body: isAlnum, least: 36},
	{rule: "github-token", prefix: "ghu_", body: isAlnum, least: 36},
	{rule: "github-token", prefix: "ghs_", body: isAlnum, least: 36},
	{rule: "github-token", prefix: "ghr_", body: isAlnum, least: 36},
	{rule: "github-token", prefix: "github_pat_", body: isWord, least: 40},
	{rule: "gitlab-token", prefix: "glpat-", body: isWord, least: 20},
	{rule: "stripe-key", prefix: "sk_live_", body: isAlnum, least: 16},
	{rule: "stripe-key", prefix: "rk_live_", body: isAlnum, least: 16},
	{rule: "stripe-key", prefix: "whsec_", body: isAlnum, least: 32},
	{rule: "aws-access-key", prefix: "AKIA", body: isUpperAlnum, least: 16, bounded: true},
	{rule: "aws-access-key", prefix: "ASIA", body: isUpperAlnum, least: 16, bounded: true},
	{rule: "google-api-key", prefix: "AIza", body: isWord, least: 35},
	{rule: "slack-token", prefix: "xapp-", body: isWord, least: 16, genuine: hasDigit},
	{rule: "slack-token", prefix: "xoxa-", body: isWord, least: 16, genuine: hasDigit},
	{rule: "slack-token", prefix: "xoxb-", body: isWord, least: 16, genuine: hasDigit},
	{rule: "slack-token", prefix: "xoxe-", body: isWord, least: 16, genuine: hasDigit},
	{rule: "slack-token", prefix: "xoxo-", body: isWord, least: 16, genuine: hasDigit},
	{rule: "slack-token", prefix: "xoxp-", body: isWord, least: 16, genuine: hasDigit},
	{rule: "slack-token", prefix: "xoxr-", body: isWord, least: 16, genuine: hasDigit},
	{rule: "slack-token", prefix: "xoxs-", body: isWord, least: 16, genuine: hasDigit},
}

// token asks the shapes that may start at i.
func (s *scanner) token(i int) {
	rest := s.text[i:]
	switch rest[0] {
	case '-':
		s.privateKey(i)
		return
	case 'e':
		s.jwt(i)
		return
	case 's':
		s.secretKey(i)
	}
	for n := range shapes {
		shape := &shapes[n]
		if !hasPrefix(rest, shape.prefix) {
			continue
		}
		body := rest[len(shape.prefix):]
		size := 0
		for size < len(body) && size <= shape.least && shape.body(body[size]) {
			size++
		}
		if size < shape.least || shape.bounded && (size > shape.least || !s.startsRun(i, isAlnum)) {
			continue
		}
		body = body[:shape.least]
		if invented(body) || shape.genuine != nil && !shape.genuine(body) {
			continue
		}
		s.found(shape.rule, i, i+len(shape.prefix)+shape.least)
		return
	}
}

// privateKey finds the first line of a PEM private key; the key itself follows.
func (s *scanner) privateKey(i int) {
	const begin = "-----BEGIN "
	if !hasPrefix(s.text[i:], begin) {
		return
	}
	label := s.text[i+len(begin):]
	label = label[:span(label[:min(len(label), 64)], isLabelByte)]
	for _, end := range [...]string{"PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"} {
		if at := bytes.Index(label, []byte(end)); at >= 0 {
			s.found("private-key", i, i+len(begin)+at+len(end))
		}
	}
}

// jwt finds three base64url parts, of which the first two are JSON objects.
func (s *scanner) jwt(i int) {
	const object = "eyJ" // {"
	if !hasPrefix(s.text[i:], object) || !s.startsRun(i, isWord) {
		return
	}
	end := i
	for part := range 3 {
		size := span(s.text[end:], isWord)
		if size < 10 || part < 2 && !hasPrefix(s.text[end:], object) {
			return
		}
		end += size
		if part == 2 {
			break
		}
		if end == len(s.text) || s.text[end] != '.' {
			return
		}
		end++
	}
	s.found("jwt", i, end)
}

// secretKey finds the sk- keys of model providers. Unlike slugs they hold a long
// unbroken run with digits, or mix everything.
func (s *scanner) secretKey(i int) {
	if !hasPrefix(s.text[i:], "sk-") || !s.startsRun(i, isWord) {
		return
	}
	body := s.text[i+3:]
	body = body[:span(body, isWord)]
	if len(body) < 20 || distinct(body) < 8 {
		return
	}
	mixed := len(body) >= 40 && hasDigit(body) && bytes.ContainsFunc(body, isUpper) && bytes.ContainsFunc(body, isLower)
	for rest := body; !mixed && len(rest) > 0; {
		run := span(rest, isAlnum)
		mixed = run >= 16 && hasDigit(rest[:run])
		rest = rest[min(run+1, len(rest)):]
	}
	if mixed {
		s.found("sk-key", i, i+3+len(body))
	}
}

// startsRun reports whether the byte before i is not of the class, or is the
// letter of a JSON escape.
func (s *scanner) startsRun(i int, class func(byte) bool) bool {
	return i == 0 || !class(s.text[i-1]) || s.afterEscape(i)
}

// afterEscape reports whether \n, \t or their like stands before i.
func (s *scanner) afterEscape(i int) bool {
	return i >= 2 && s.text[i-2] == '\\' && bytes.IndexByte([]byte("nrtbf"), s.text[i-1]) >= 0
}

// invented reports whether a body is a stand-in of a manual: very few different
// characters, or the word EXAMPLE at its end.
func invented(body []byte) bool {
	return distinct(body) <= 4 || bytes.HasSuffix(body, []byte("EXAMPLE"))
}

// opaque reports whether v is at least least bytes long and looks drawn at
// random: letters and digits, and no few of them.
func opaque(v []byte, least int) bool {
	return len(v) >= least && hasDigit(v) && distinct(v) >= 6 &&
		bytes.ContainsFunc(v, func(r rune) bool { return isUpper(r) || isLower(r) })
}

// distinct counts the different bytes of v.
func distinct(v []byte) int {
	var seen [256]bool
	n := 0
	for _, c := range v {
		if !seen[c] {
			seen[c] = true
			n++
		}
	}
	return n
}

// span returns the length of the run of class bytes that v starts with.
func span(v []byte, class func(byte) bool) int {
	n := 0
	for n < len(v) && class(v[n]) {
		n++
	}
	return n
}

func hasPrefix(v []byte, prefix string) bool {
	return len(v) >= len(prefix) && string(v[:len(prefix)]) == prefix
}

// hasPrefixFold is hasPrefix for a prefix of lower-case letters, whatever the
// case in v.
func hasPrefixFold(v []byte, prefix string) bool {
	if len(v) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if v[i]|0x20 != prefix[i] {
			return false
		}
	}
	return true
}

func hasDigit(v []byte) bool {
	for _, c := range v {
		if isDigit(c) {
			return true
		}
	}
	return false
}

func isUpper(r rune) bool { return 'A' <= r && r <= 'Z' }
func isLower(r rune) bool { return 'a' <= r && r <= 'z' }

func isDigit(c byte) bool      { return '0' <= c && c <= '9' }
func isLetter(c byte) bool     { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isAlnum(c byte) bool      { return isLetter(c) || isDigit(c) }
func isUpperAlnum(c byte) bool { return 'A' <= c && c <= 'Z' || isDigit(c) }
func isLabelByte(c byte) bool  { return isUpperAlnum(c) || c == ' ' || c == '-' }
func isWord(c byte) bool       { return isAlnum(c) || c == '_' || c == '-' }

// isTokenByte accepts what tokens of any kind are written with.
func isTokenByte(c byte) bool {
	return isWord(c) || c == '.' || c == '+' || c == '/' || c == '=' || c == '~'
}
