package document

import (
	"strings"

	"github.com/executable-markdown/xmd/internal/markdown"
)

// others is what another Markdown reader may make of the text so far, as far as
// it matters for what code may hide (fragments 5.1).
//
// This scanner knows no blocks. Its code spans run across paragraphs, its tags,
// comments and spans swallow lines on which another reader sees a fence begin, and
// HTML means nothing to it. Wherever that could happen, a later backtick or fence
// may open for the one what it closes for the other. others does not decide what
// the other reader does; it only remembers that the two may be out of step, until
// a place where they cannot be:
//
//   - code spans end with their paragraph at the latest, so a blank line, or a
//     fence, puts them in step again;
//   - a fence that is not indented ends every list item, quote and paragraph, so
//     it is in step unless a fence, or HTML, outside all of them is out of step.
type others struct {
	line   int  // where the first line that was not looked at begins
	spans  bool // code spans may be out of step, to the next blank line
	fences bool // fences may be out of step, for good
	html   bool // a block of HTML may be open, to the next blank line
}

// nextLine returns the next line that begins before to.
func (o *others) nextLine(src string, to int) (line string, at int, ok bool) {
	if at = o.line; at >= to {
		return "", 0, false
	}
	line, _, _ = strings.Cut(src[at:], "\n")
	o.line = at + len(line) + 1
	line = strings.TrimSuffix(line, "\r")
	if blankLine(line) {
		o.spans, o.html = false, false
	}
	return line, at, true
}

// passText looks at the lines that begin in text before to.
func (r *fragmentReader) passText(to int) *FragmentProblem {
	for {
		line, at, ok := r.others.nextLine(r.src, to)
		if !ok {
			return nil
		}
		if executableLine(line) {
			return refuse(BadBlock, at)
		}
		if text := strings.TrimLeft(line, " "); len(line)-len(text) < 4 && strings.HasPrefix(text, "<") {
			r.others.passHTMLLine(text[1:])
		}
	}
}

// passHidden looks at the lines that begin inside a tag, a comment or a code span
// that ends at to.
func (r *fragmentReader) passHidden(to int) *FragmentProblem {
	for {
		line, at, ok := r.others.nextLine(r.src, to)
		if !ok {
			return nil
		}
		if executableLine(line) {
			return refuse(BadConstruct, at)
		}
		if text := strings.TrimLeft(line, " \t"); opensFence(text) || strings.HasPrefix(text, "<") {
			r.others.fences = true
		}
	}
}

// passHTMLLine notes a line in text that begins with < and goes on with rest. A
// comment is over when this scanner says so; other HTML ends at a blank line or,
// where its own end mark is waited for, nobody knows where.
func (o *others) passHTMLLine(rest string) {
	switch {
	case strings.HasPrefix(rest, "!-->"), strings.HasPrefix(rest, "!--->"):
		o.fences = true // for some readers these comments are not over
	case strings.HasPrefix(rest, "!--"):
	case strings.HasPrefix(rest, "!"), strings.HasPrefix(rest, "?"):
		o.fences = true
	default:
		o.html = true
		for _, name := range rawTextElements {
			if len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) {
				o.fences = true
			}
		}
	}
}

// passAngle notes a < in text, followed by rest, that is no tag here and could be
// one, or an address, that holds a backtick there.
func (o *others) passAngle(rest string) {
	switch {
	case rest == "":
	case rest[0] == '!' || rest[0] == '?':
		o.spans = true
	case rest[0] == '/' || isAlpha(rest[0]):
		// Up to the next < at most, so no character is passed twice.
		switch i := strings.IndexAny(rest, "<>\"'`"); {
		case i < 0 || rest[i] == '<' || rest[i] == '>':
		case rest[i] != '`' || !strings.ContainsAny(rest[:i], " \t\n"):
			o.spans = true
		}
	}
}

// passMarkup notes a tag or a comment. It may end elsewhere for another reader, or
// be text for it; that touches code spans when it holds a backtick, another tag,
// or a backslash, which escapes a quote only here.
func (o *others) passMarkup(text string) {
	if strings.ContainsAny(text[1:], "`<\\") || text == "<!-->" || text == "<!--->" {
		o.spans = true
	}
}

// readSpan passes the code span from p to end that a run of n backticks at p, or a
// tail of it, opens.
func (r *fragmentReader) readSpan(p, n, end int) *FragmentProblem {
	if problem := r.passHidden(end); problem != nil {
		return problem
	}
	text := r.src[p:end]
	closing := len(text) - len(strings.TrimRight(text, "`"))
	// A span that every reader sees, unless it is out of step.
	certain := closing == n && strings.IndexByte(text, '\n') < 0 && (p == 0 || r.src[p-1] != '\\')
	if at := liveTag(text); at >= 0 && (!certain || r.others.spans) {
		return refuse(BadConstruct, p+at)
	}
	if !certain {
		r.others.spans = true
	}
	return nil
}

// readFence passes the fence whose run of backticks or tildes is at p and whose
// last line end is before end. It is not executable: its opening line was seen by
// passText.
func (r *fragmentReader) readFence(p, end int) (int, *FragmentProblem) {
	r.inert = r.inert[:0]
	last := strings.LastIndexByte(strings.TrimSuffix(r.src[:end], "\n"), '\n') + 1
	if last <= p || !closesFence(r.src[last:end], r.src[p], runLength(r.src, p)) {
		return 0, refuse(BadConstruct, p)
	}
	indent := p - (strings.LastIndexByte(r.src[:p], '\n') + 1)
	html := r.others.html
	live := -1
	if at := liveTag(r.src[p:end]); at >= 0 {
		live = p + at
	}
	broken := false // another reader may see it end before its closing line
	for {
		line, at, ok := r.others.nextLine(r.src, end)
		if !ok {
			break
		}
		if live < 0 && executableLine(line) {
			live = at
		}
		if blankLine(line) {
			broken = broken || html
		} else {
			// A list item that the fence stands in is over here.
			broken = broken || len(line)-len(strings.TrimLeft(line, " \t")) < indent
		}
	}
	if live >= 0 && (indent > 0 || broken || r.others.fences) {
		return 0, refuse(BadConstruct, live)
	}
	r.others.fences = r.others.fences || broken
	r.others.spans = false
	return end, nil
}

// liveTag returns the place of the first < in text that would have to be an
// element or a closing tag if nothing hid it; -1 without one.
func liveTag(text string) int {
	for i := 0; ; i++ {
		next := strings.IndexByte(text[i:], '<')
		if next < 0 {
			return -1
		}
		i += next
		if name := strings.TrimPrefix(text[i+1:], "/"); name != "" && isUpper(name[0]) {
			return i
		}
	}
}

// liveReference returns the place of the first brace in text that would begin a
// reference if nothing hid it (language 3.3, 3.4); -1 without one.
func liveReference(text string) int {
	last := strings.LastIndexByte(text, '}')
	for i := 0; ; i++ {
		next := strings.IndexByte(text[i:], '{')
		if next < 0 || i+next > last {
			return -1
		}
		i += next
		if i > 0 && text[i-1] == '\\' {
			continue
		}
		inside := text[i+1:]
		if strings.HasPrefix(inside, "meta.") || strings.HasPrefix(inside, "props.") || namesValue(inside) {
			return i
		}
	}
}

// namesValue reports whether text begins with binding names joined by dots and a
// closing brace.
func namesValue(text string) bool {
	start := true
	for i := range len(text) {
		switch c := text[i]; {
		case c == '.' || c == '}':
			if start || c == '}' {
				return !start
			}
			start = true
		case c == '_' || c == '$' || isAlpha(c) || isDigit(c) && !start:
			start = false
		default:
			return false
		}
	}
	return false
}

// executableLine reports whether line is the opening line of an executable fence
// for any reader: behind any spaces, tabs, quote and list markers, and with an
// info string that is executable as written or when its character references and
// backslashes are read (language 1.10.2).
func executableLine(line string) bool {
	text := line[margin(line):]
	if !opensFence(text) {
		return false
	}
	info := text[runLength(text, 0):]
	if _, modifiers := splitInfo(info); executable(modifiers) {
		return true
	}
	_, modifiers := splitInfo(markdown.Unescape([]byte(info)))
	return executable(modifiers)
}

// opensFence reports whether text begins with the run of an opening fence.
func opensFence(text string) bool {
	return strings.HasPrefix(text, "~~~") ||
		strings.HasPrefix(text, "```") && strings.IndexByte(text[runLength(text, 0):], '`') < 0
}

// margin returns the length of the white space, quote markers and list markers a
// line begins with.
func margin(line string) int {
	i := 0
	for i < len(line) {
		if c := line[i]; c == ' ' || c == '\t' || c == '>' {
			i++
			continue
		}
		n := listMarker(line[i:])
		if n == 0 || i+n < len(line) && line[i+n] != ' ' && line[i+n] != '\t' {
			break
		}
		i += n
	}
	return i
}

func blankLine(line string) bool { return strings.TrimLeft(line, " \t") == "" }
