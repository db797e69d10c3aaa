package document

import (
	"strings"
)

// rawTextElements are the elements whose content HTML does not read as markup.
var rawTextElements = [...]string{"script", "pre", "style", "textarea"}

// blockElements are the other elements that start an HTML block by their name.
const blockElements = " address article aside base basefont blockquote body caption center col colgroup dd " +
	"details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head " +
	"header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search " +
	"section summary table tbody td tfoot th thead title tr track ul "

// htmlBlock reports whether a line starts an HTML block, and what ends it: "" is
// a blank line, "</" the closing tag of a raw text element.
func htmlBlock(s string, inParagraph bool) (until string, ok bool) {
	switch {
	case strings.HasPrefix(s, "<!--"):
		return "-->", true
	case strings.HasPrefix(s, "<?"):
		return "?>", true
	case strings.HasPrefix(s, "<![CDATA["):
		return "]]>", true
	case len(s) > 2 && s[1] == '!' && isAlpha(s[2]):
		return ">", true
	}
	closing := strings.HasPrefix(s, "</")
	start := 1
	if closing {
		start = 2
	}
	end := start
	for end < len(s) && isAlnum(s[end]) {
		end++
	}
	if end-start <= len("blockquote") {
		name := strings.ToLower(s[start:end])
		rest := s[end:]
		delimited := rest == "" || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '>'
		if !closing && delimited {
			for _, raw := range rawTextElements {
				if name == raw {
					return "</", true
				}
			}
		}
		if name != "" && (delimited || strings.HasPrefix(rest, "/>")) && strings.Contains(blockElements, " "+name+" ") {
			return "", true
		}
	}
	if inParagraph {
		return "", false
	}
	after, ok := new(tagReader).tag(s, 0)
	return "", ok && strings.Trim(s[after:], " \t") == ""
}

// onlyComments reports whether an HTML block holds nothing but comments.
func onlyComments(s string) bool {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		if !strings.HasPrefix(s, "<!--") {
			return false
		}
		_, rest, ok := strings.Cut(s[len("<!"):], "-->")
		if !ok {
			return true
		}
		s = rest
	}
	return true
}

// A tagReader reads raw HTML in inline text. It remembers what it did not find,
// so that many starts of one kind are not searched for again and again.
type tagReader struct {
	missing [4]bool      // ends that do not occur any more, see special
	dead    map[int]bool // attribute lists that were seen to fail
}

// raw reads the raw HTML at i: a tag, a comment, an instruction, a declaration or
// a CDATA section.
func (t *tagReader) raw(s string, i int) (end int, ok bool) {
	rest := s[i:]
	switch {
	case strings.HasPrefix(rest, "<!--"):
		return t.special(s, i+2, 0, "-->")
	case strings.HasPrefix(rest, "<?"):
		return t.special(s, i+2, 1, "?>")
	case strings.HasPrefix(rest, "<![CDATA["):
		return t.special(s, i+len("<![CDATA["), 2, "]]>")
	case len(rest) > 2 && rest[1] == '!' && isAlpha(rest[2]):
		return t.special(s, i+2, 3, ">")
	}
	return t.tag(s, i)
}

func (t *tagReader) special(s string, from, kind int, until string) (end int, ok bool) {
	if t.missing[kind] {
		return 0, false
	}
	n := strings.Index(s[from:], until)
	if n < 0 {
		t.missing[kind] = true
		return 0, false
	}
	return from + n + len(until), true
}

// tag reads an opening or closing tag of HTML at i.
func (t *tagReader) tag(s string, i int) (end int, ok bool) {
	i++
	closing := i < len(s) && s[i] == '/'
	if closing {
		i++
	}
	if i >= len(s) || !isAlpha(s[i]) {
		return 0, false
	}
	for i < len(s) && (isAlnum(s[i]) || s[i] == '-') {
		i++
	}
	if closing {
		i = skipBlanks(s, i)
		return i + 1, i < len(s) && s[i] == '>'
	}
	return t.attributes(s, i)
}

func (t *tagReader) attributes(s string, i int) (end int, ok bool) {
	var trail []int
	defer func() {
		if !ok && len(trail) > 0 {
			if t.dead == nil {
				t.dead = map[int]bool{}
			}
			for _, place := range trail {
				t.dead[place] = true
			}
		}
	}()
	for {
		next := skipBlanks(s, i)
		switch {
		case next == len(s):
			return 0, false
		case s[next] == '>':
			return next + 1, true
		case s[next] == '/':
			return next + 2, next+1 < len(s) && s[next+1] == '>'
		case next == i || !isHTMLName(s[next], true):
			return 0, false
		}
		i = next
		for i < len(s) && isHTMLName(s[i], false) {
			i++
		}
		equals := skipBlanks(s, i)
		if equals == len(s) || s[equals] != '=' {
			continue
		}
		i = skipBlanks(s, equals+1)
		if i == len(s) {
			return 0, false
		}
		if c := s[i]; c == '"' || c == '\'' {
			n := strings.IndexByte(s[i+1:], c)
			if n < 0 || t.dead[i+n+2] {
				return 0, false
			}
			i += n + 2
			trail = append(trail, i)
			continue
		}
		start := i
		for i < len(s) && s[i] > ' ' && strings.IndexByte("\"'=<>`", s[i]) < 0 {
			i++
		}
		if i == start {
			return 0, false
		}
	}
}

func isHTMLName(c byte, first bool) bool {
	return isAlpha(c) || c == '_' || c == ':' || !first && (isDigit(c) || c == '.' || c == '-')
}

// skipBlanks skips spaces, tabs and line ends.
func skipBlanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// autolink reads <scheme:address> or <user@host> at i and returns what is shown.
func autolink(s string, i int) (text string, end int, ok bool) {
	j := i + 1
	for j < len(s) && s[j] > ' ' && s[j] != '<' && s[j] != '>' {
		j++
	}
	if j >= len(s) || s[j] != '>' {
		return "", 0, false
	}
	text = s[i+1 : j]
	scheme, _, colon := strings.Cut(text, ":")
	if colon && len(scheme) >= 2 && len(scheme) <= 32 && isAlpha(scheme[0]) {
		valid := true
		for k := range len(scheme) {
			valid = valid && (isAlnum(scheme[k]) || strings.IndexByte("+.-", scheme[k]) >= 0)
		}
		if valid {
			return text, j + 1, true
		}
	}
	user, host, at := strings.Cut(text, "@")
	if !at || user == "" || !validHost(host) {
		return "", 0, false
	}
	for k := range len(user) {
		if !isAlnum(user[k]) && strings.IndexByte(".!#$%&'*+/=?^_`{|}~-", user[k]) < 0 {
			return "", 0, false
		}
	}
	return text, j + 1, true
}

func validHost(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for k := range len(label) {
			if !isAlnum(label[k]) && label[k] != '-' {
				return false
			}
		}
	}
	return true
}
