package document

import "strings"

// A heading is a heading that stands directly in a body, not in a quote, a list
// or anything else. Offsets count from the start of the text it was read from.
type heading struct {
	depth      int
	start, end int    // from its first # or letter to the end of its last line
	text       string // its inline source
	// The paragraph that is the first block after it; empty when another block is.
	paragraph    string
	paragraphEnd int
}

// A blockReader finds the headings of a text by the block rules of CommonMark:
// which lines belong to quotes, list items, code and HTML, and which paragraphs
// go on without their container's markers. It reads a line in time proportional
// to its length, whatever is open.
type blockReader struct {
	text     string
	headings []heading
	labels   map[string]bool // the link reference definitions, by normalised label

	containers []container
	quotes     []int // where the quotes are in containers

	leaf      leafKind
	leafStart int
	fence     byte
	fenceLen  int
	htmlEnd   string // what ends the HTML block; "" for a blank line
	lines     []span // of the open paragraph, indentation left out

	awaiting bool // the first block after the last heading is still to come

	// The line being read.
	pos, col  int // how far it is read, in bytes and columns
	next      int // the first character from pos on that is no space or tab
	nextCol   int
	lineEnd   int
	lineStart int
	noBreak   int // before it no thematic break starts
}

// A container is an open quote, or an open list item whose content starts width
// columns into it. empty holds while a list item has no content.
type container struct {
	quote bool
	width int
	empty bool
}

type leafKind uint8

const (
	noLeaf leafKind = iota
	paragraphLeaf
	fenceLeaf
	indentedLeaf
	htmlLeaf
)

// readBlocks returns the headings and the link reference labels of a text.
func readBlocks(text string) ([]heading, map[string]bool) {
	r := blockReader{text: text, labels: map[string]bool{}}
	for start := 0; start < len(text); {
		end := len(text)
		after := end
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
			after = end + 1
		}
		if end > start && text[end-1] == '\r' {
			end--
		}
		r.line(start, end)
		start = after
	}
	r.closeLeaf(len(text))
	return r.headings, r.labels
}

func (r *blockReader) line(start, end int) {
	r.lineStart, r.lineEnd, r.pos, r.col, r.noBreak = start, end, start, 0, start
	r.look()
	matched := r.matchContainers()
	all := matched == len(r.containers)
	if all && r.continueLeaf() {
		return
	}
	opened := false // a block was opened on this line, so nothing unmatched is open
	open := func() {
		if !opened {
			r.truncate(matched)
			r.closeLeaf(start)
			opened = true
		}
		if n := len(r.containers); n > 0 {
			r.containers[n-1].empty = false
		}
	}
	for r.next < end {
		indent := r.nextCol - r.col
		inParagraph := r.leaf == paragraphLeaf // and so nothing was opened yet
		if indent >= 4 {
			if inParagraph {
				break
			}
			open()
			r.startLeaf(indentedLeaf)
			return
		}
		rest := r.text[r.next:end]
		switch rest[0] {
		case '>':
			open()
			r.otherBlock()
			r.quotes = append(r.quotes, len(r.containers))
			r.containers = append(r.containers, container{quote: true})
			r.enterQuote()
			continue
		case '#':
			if depth, content, ok := atxHeading(rest); ok {
				open()
				r.heading(heading{depth: depth, start: r.next, end: end, text: content})
				return
			}
		case '`', '~':
			if n := runLength(rest, 0); n >= 3 && (rest[0] == '~' || strings.IndexByte(rest[n:], '`') < 0) {
				open()
				r.startLeaf(fenceLeaf)
				r.fence, r.fenceLen = rest[0], n
				return
			}
		case '<':
			if until, ok := htmlBlock(rest, inParagraph); ok {
				open()
				r.startLeaf(htmlLeaf)
				r.htmlEnd = until
				r.endHTML()
				return
			}
		case '=', '-':
			if inParagraph && all && r.setextHeading(rest) {
				return
			}
		}
		if r.thematicBreak() {
			open()
			r.otherBlock()
			return
		}
		if !r.listItem(rest, indent, inParagraph && all, open) {
			break
		}
	}
	blank := r.next >= end
	if !opened && !all && (blank || r.leaf != paragraphLeaf) {
		r.truncate(matched)
		r.closeLeaf(start)
	}
	if blank {
		return
	}
	if r.leaf != paragraphLeaf {
		open()
		r.startLeaf(paragraphLeaf)
		r.leafStart = r.next
	}
	r.lines = append(r.lines, span{r.next, end})
}

// look finds the next character that is no space or tab.
func (r *blockReader) look() {
	r.next, r.nextCol = r.pos, r.col
	for r.next < r.lineEnd {
		switch r.text[r.next] {
		case ' ':
			r.nextCol++
		case '\t':
			r.nextCol += 4 - r.nextCol%4
		default:
			return
		}
		r.next++
	}
}

// advance moves n columns over spaces and tabs; a tab may be passed in part.
func (r *blockReader) advance(n int) {
	for ; n > 0 && r.pos < r.lineEnd; r.pos++ {
		width := 1
		if r.text[r.pos] == '\t' {
			width = 4 - r.col%4
		}
		if width > n {
			r.col += n
			return
		}
		r.col += width
		n -= width
	}
}

// jump moves n bytes past the next character that is no space or tab.
func (r *blockReader) jump(n int) {
	r.pos, r.col = r.next+n, r.nextCol+n
}

// matchContainers takes the markers and the indentation of the open containers
// off the line and returns how many it has. Indentation is measured once for all
// list items it serves, and a blank line asks only the quotes.
func (r *blockReader) matchContainers() int {
	k, quotes := 0, 0
	for k < len(r.containers) {
		c := &r.containers[k]
		if r.next == r.lineEnd {
			if quotes < len(r.quotes) {
				return r.quotes[quotes]
			}
			k = len(r.containers)
			if r.containers[k-1].empty {
				k--
			}
			return k
		}
		indent := r.nextCol - r.col
		switch {
		case c.quote:
			if indent > 3 || r.text[r.next] != '>' {
				return k
			}
			r.enterQuote()
			quotes++
		case indent < c.width:
			return k
		default:
			r.advance(c.width)
		}
		k++
	}
	return k
}

func (r *blockReader) enterQuote() {
	r.jump(1)
	if r.pos < r.lineEnd && (r.text[r.pos] == ' ' || r.text[r.pos] == '\t') {
		r.advance(1)
	}
	r.look()
}

func (r *blockReader) truncate(n int) {
	r.containers = r.containers[:n]
	for len(r.quotes) > 0 && r.quotes[len(r.quotes)-1] >= n {
		r.quotes = r.quotes[:len(r.quotes)-1]
	}
}

// continueLeaf gives the line to the open leaf block, if that takes any line, and
// reports whether it did. Paragraphs are not among them.
func (r *blockReader) continueLeaf() bool {
	blank := r.next == r.lineEnd
	indent := r.nextCol - r.col
	switch r.leaf {
	case fenceLeaf:
		if !blank && indent <= 3 && closesFence(r.text[r.next:r.lineEnd], r.fence, r.fenceLen) {
			r.closeLeaf(r.lineEnd)
		}
		return true
	case htmlLeaf:
		if blank && r.htmlEnd == "" {
			r.closeLeaf(r.lineStart)
		} else {
			r.endHTML()
		}
		return true
	case indentedLeaf:
		if blank || indent >= 4 {
			return true
		}
		r.closeLeaf(r.lineStart)
	case paragraphLeaf:
		if blank {
			r.closeLeaf(r.lineStart)
			return true
		}
	}
	return false
}

// endHTML closes the open HTML block when the line holds its end.
func (r *blockReader) endHTML() {
	rest := r.text[r.pos:r.lineEnd]
	switch r.htmlEnd {
	case "":
		return
	case "</":
		lower := strings.ToLower(rest)
		for _, name := range rawTextElements {
			if strings.Contains(lower, "</"+name+">") {
				r.closeLeaf(r.lineEnd)
				return
			}
		}
	default:
		if strings.Contains(rest, r.htmlEnd) {
			r.closeLeaf(r.lineEnd)
		}
	}
}

func (r *blockReader) startLeaf(kind leafKind) {
	r.leaf, r.leafStart, r.lines = kind, r.lineStart, r.lines[:0]
	if kind == fenceLeaf || kind == indentedLeaf {
		r.otherBlock()
	}
}

// otherBlock notes a block that is no paragraph and no HTML: a heading it follows
// directly has no description.
func (r *blockReader) otherBlock() {
	if len(r.containers) == 0 {
		r.awaiting = false
	}
}

// closeLeaf ends the open leaf block, which ends at end.
func (r *blockReader) closeLeaf(end int) {
	kind := r.leaf
	r.leaf = noLeaf
	switch kind {
	case htmlLeaf:
		if !onlyComments(r.text[r.leafStart:end]) {
			r.otherBlock()
		}
	case paragraphLeaf:
		if r.takeDefinitions() {
			r.otherBlock()
		}
		if r.awaiting && len(r.containers) == 0 {
			h := &r.headings[len(r.headings)-1]
			h.paragraph = r.joined()
			h.paragraphEnd = r.lines[len(r.lines)-1].end
			r.awaiting = false
		}
	}
}

// takeDefinitions takes the link reference definitions off the start of the open
// paragraph and reports whether there were any.
func (r *blockReader) takeDefinitions() bool {
	if r.text[r.lines[0].start] != '[' {
		return false
	}
	text := r.joined()
	taken := 0
	for {
		label, n, ok := linkDefinition(text[taken:])
		if !ok {
			break
		}
		r.labels[label] = true
		taken += n
	}
	for length := 0; len(r.lines) > 0 && length < taken; {
		length += r.lines[0].end - r.lines[0].start + 1
		r.lines = r.lines[1:]
	}
	return taken > 0
}

// joined is the text of the open paragraph.
func (r *blockReader) joined() string {
	var b strings.Builder
	for i, l := range r.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(r.text[l.start:l.end])
	}
	return b.String()
}

func (r *blockReader) heading(h heading) {
	r.leaf = noLeaf
	if len(r.containers) == 0 {
		r.headings = append(r.headings, h)
		r.awaiting = true
	}
}

// setextHeading makes the open paragraph a heading when the line underlines it.
func (r *blockReader) setextHeading(rest string) bool {
	if strings.TrimRight(rest[runLength(rest, 0):], " \t") != "" {
		return false
	}
	if r.takeDefinitions() {
		r.otherBlock()
	}
	if len(r.lines) == 0 {
		r.lines = append(r.lines, span{r.next, r.next}) // the underline becomes text
		return false
	}
	depth := 1
	if rest[0] == '-' {
		depth = 2
	}
	r.heading(heading{depth: depth, start: r.lines[0].start, end: r.lineEnd, text: r.joined()})
	return true
}

// listItem opens a list item when the line starts one.
func (r *blockReader) listItem(rest string, indent int, interrupts bool, open func()) bool {
	n := listMarker(rest)
	if n == 0 || n < len(rest) && rest[n] != ' ' && rest[n] != '\t' {
		return false
	}
	blank := strings.TrimLeft(rest[n:], " \t") == ""
	if interrupts && (blank || n > 1 && (n > 2 || rest[0] != '1')) {
		return false
	}
	open()
	r.otherBlock()
	r.jump(n)
	r.look()
	padding := r.nextCol - r.col
	if padding >= 5 || padding < 1 || blank {
		padding = 1
	}
	r.advance(padding)
	r.containers = append(r.containers, container{width: indent + n + padding, empty: blank})
	return true
}

// listMarker returns the length of the list marker s starts with, or 0.
func listMarker(s string) int {
	if s[0] == '-' || s[0] == '+' || s[0] == '*' {
		return 1
	}
	n := 0
	for n < len(s) && n < 9 && isDigit(s[n]) {
		n++
	}
	if n > 0 && n < len(s) && (s[n] == '.' || s[n] == ')') {
		return n + 1
	}
	return 0
}

// atxHeading reads a heading of the form ## text ##.
func atxHeading(s string) (depth int, text string, ok bool) {
	depth = runLength(s, 0)
	if depth > 6 || depth < len(s) && s[depth] != ' ' && s[depth] != '\t' {
		return 0, "", false
	}
	text = strings.Trim(s[depth:], " \t")
	if bare := strings.TrimRight(text, "#"); bare == "" || strings.HasSuffix(bare, " ") || strings.HasSuffix(bare, "\t") {
		text = strings.TrimRight(bare, " \t")
	}
	return depth, text, true
}

// thematicBreak reports whether the rest of the line is three or more of one of
// the characters *, - and _. A break that fails at some place fails for every
// start before it.
func (r *blockReader) thematicBreak() bool {
	c := r.text[r.next]
	if c != '*' && c != '-' && c != '_' || r.next < r.noBreak {
		return false
	}
	n := 0
	for i := r.next; i < r.lineEnd; i++ {
		switch r.text[i] {
		case c:
			n++
		case ' ', '\t':
		default:
			r.noBreak = i
			return false
		}
	}
	r.noBreak = r.lineEnd
	return n >= 3
}
