package document

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visibleText returns what a reader of rendered Markdown sees of inline source:
// no markers, no addresses and no raw HTML, but the text of code spans and the
// alternative text of images (language 8.3.1). White space is left as it is.
// labels are the link reference labels there are. markup reports raw HTML.
func visibleText(src string, labels map[string]bool) (text string, markup bool) {
	if !strings.ContainsAny(src, "\\`*_[<&") {
		return src, false
	}
	r := inlineReader{src: src, labels: labels, last: none}
	r.read()
	r.emphasis(none)
	return strings.Join(r.pieces, ""), r.markup
}

// An inlineReader reads inline source by the rules of CommonMark, in time
// proportional to its length.
type inlineReader struct {
	src    string
	labels map[string]bool
	pieces []string // the text shown; markers vanish from it when they are used
	runs   *runIndex
	tags   tagReader
	markup bool

	delimiters []delimiter
	last       int32 // the last delimiter not used up
	brackets   []bracket
	spent      int // brackets below this one start no link any more
}

// A delimiter is a run of * or _.
type delimiter struct {
	piece               int32
	count, length       int32 // what is left of it, and what it had
	previous, following int32
	char                byte
	canOpen, canClose   bool
}

// A bracket is a [ or ![ that may start a link or an image.
type bracket struct {
	piece  int32
	after  int32 // offset just after it
	below  int32 // the last delimiter before it
	image  bool
	nested bool // another bracket follows it
}

func (r *inlineReader) read() {
	src := r.src
	for i := 0; i < len(src); {
		n := strings.IndexAny(src[i:], "\\`*_[]!<&")
		if n < 0 {
			r.show(src[i:])
			return
		}
		r.show(src[i : i+n])
		i += n
		switch c := src[i]; c {
		case '\\':
			i++
			switch {
			case i == len(src) || src[i] != '\n' && !isPunctuation(src[i]):
				r.show(`\`)
			case src[i] != '\n':
				r.show(src[i : i+1])
				i++
			}
		case '`':
			i = r.codeSpan(i)
		case '*', '_':
			i = r.delimiterRun(i)
		case '[':
			i = r.openBracket(i, i+1)
		case '!':
			if i+1 < len(src) && src[i+1] == '[' {
				i = r.openBracket(i, i+2)
			} else {
				r.show("!")
				i++
			}
		case ']':
			i = r.closeBracket(i)
		case '<':
			if text, end, ok := autolink(src, i); ok {
				r.show(text)
				i = end
			} else if end, ok := r.tags.raw(src, i); ok {
				r.markup = true
				i = end
			} else {
				r.show("<")
				i++
			}
		case '&':
			i = r.entity(i)
		}
	}
}

func (r *inlineReader) show(text string) { r.pieces = append(r.pieces, text) }

func (r *inlineReader) codeSpan(i int) int {
	if r.runs == nil {
		r.runs = newRunIndex(r.src, 0)
	}
	n := runLength(r.src, i)
	start, ok := r.runs.next(i+n, n)
	if !ok {
		r.show(r.src[i : i+n])
		return i + n
	}
	text := r.src[i+n : start]
	if len(text) > 2 && isBlank(text[0]) && isBlank(text[len(text)-1]) && strings.Trim(text, " \n") != "" {
		text = text[1 : len(text)-1]
	}
	r.show(text)
	return start + n
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' }

func (r *inlineReader) entity(i int) int {
	end := i + 1
	for end < len(r.src) && end < i+40 && (isAlnum(r.src[end]) || r.src[end] == '#') {
		end++
	}
	if end < len(r.src) && r.src[end] == ';' {
		// A reference stands for one or two characters; what is longer was not all of one.
		if text := html.UnescapeString(r.src[i : end+1]); utf8.RuneCountInString(text) <= 2 {
			r.show(text)
			return end + 1
		}
	}
	r.show("&")
	return i + 1
}

func (r *inlineReader) delimiterRun(i int) int {
	c, n := r.src[i], runLength(r.src, i)
	before, after := ' ', ' '
	if i > 0 {
		before, _ = utf8.DecodeLastRuneInString(r.src[:i])
	}
	if i+n < len(r.src) {
		after, _ = utf8.DecodeRuneInString(r.src[i+n:])
	}
	left := !unicode.IsSpace(after) && (!isPunct(after) || unicode.IsSpace(before) || isPunct(before))
	right := !unicode.IsSpace(before) && (!isPunct(before) || unicode.IsSpace(after) || isPunct(after))
	d := delimiter{piece: int32(len(r.pieces)), char: c, count: int32(n), length: int32(n), canOpen: left, canClose: right,
		previous: r.last, following: none}
	if c == '_' {
		d.canOpen = left && (!right || isPunct(before))
		d.canClose = right && (!left || isPunct(after))
	}
	r.show(r.src[i : i+n])
	if !d.canOpen && !d.canClose {
		return i + n
	}
	if r.last != none {
		r.delimiters[r.last].following = int32(len(r.delimiters))
	}
	r.last = int32(len(r.delimiters))
	r.delimiters = append(r.delimiters, d)
	return i + n
}

func isPunct(c rune) bool { return unicode.IsPunct(c) || unicode.IsSymbol(c) }

func isPunctuation(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

func (r *inlineReader) openBracket(i, after int) int {
	if n := len(r.brackets); n > 0 {
		r.brackets[n-1].nested = true
	}
	r.brackets = append(r.brackets, bracket{piece: int32(len(r.pieces)), after: int32(after), image: r.src[i] == '!', below: r.last})
	r.show(r.src[i:after])
	return after
}

// closeBracket reads the ] at i: the end of a link or an image, or text.
func (r *inlineReader) closeBracket(i int) int {
	n := len(r.brackets) - 1
	if n < 0 {
		r.show("]")
		return i + 1
	}
	b := r.brackets[n]
	r.brackets = r.brackets[:n]
	end, ok := 0, false
	if b.image || n >= r.spent {
		if end, ok = linkTarget(r.src, i+1); !ok {
			end, ok = r.reference(b, i)
		}
	}
	r.spent = min(r.spent, n)
	if !ok {
		r.show("]")
		return i + 1
	}
	r.pieces[b.piece] = ""
	r.emphasis(b.below)
	if !b.image {
		r.spent = n
	}
	return end
}

// reference reads what follows the ] at i as [label], [] or nothing, of which the
// label must be defined.
func (r *inlineReader) reference(b bracket, i int) (end int, ok bool) {
	if len(r.labels) == 0 {
		return 0, false
	}
	end = i + 1
	label := ""
	if n := linkLabel(r.src[end:]); n > 2 {
		label = r.src[end+1 : end+n-1]
		end += n
	} else {
		if b.nested {
			return 0, false
		}
		label = r.src[b.after:i]
		if strings.HasPrefix(r.src[end:], "[]") {
			end += 2
		}
	}
	return end, len(label) < 1000 && r.labels[normalLabel(label)]
}

// emphasis uses up the delimiters after the one called bottom in pairs, and
// forgets the rest of them.
func (r *inlineReader) emphasis(bottom int32) {
	ds := r.delimiters
	closer := r.last
	for closer != bottom && ds[closer].previous != bottom {
		closer = ds[closer].previous
	}
	if closer == bottom {
		return
	}
	floor := map[[3]int32]int32{} // below it no opener was found for this kind of closer
	for closer != none {
		c := &ds[closer]
		if !c.canClose {
			closer = c.following
			continue
		}
		kind := [3]int32{int32(c.char), 0, c.length % 3}
		if c.canOpen {
			kind[1] = 1
		}
		lowest, known := floor[kind]
		if !known {
			lowest = bottom
		}
		opener := c.previous
		for opener > lowest && opener > bottom {
			o := ds[opener]
			odd := (c.canOpen || o.canClose) && c.length%3 != 0 && (o.length+c.length)%3 == 0
			if o.char == c.char && o.canOpen && !odd {
				break
			}
			opener = o.previous
		}
		if opener <= lowest || opener <= bottom {
			floor[kind] = c.previous
			following := c.following
			if !c.canOpen {
				r.unlink(closer)
			}
			closer = following
			continue
		}
		o := &ds[opener]
		used := int32(1)
		if o.count >= 2 && c.count >= 2 {
			used = 2
		}
		for d := c.previous; d != opener; d = ds[d].previous {
			r.unlink(d)
		}
		for _, d := range []*delimiter{o, c} {
			d.count -= used
			r.pieces[d.piece] = r.pieces[d.piece][used:]
		}
		if o.count == 0 {
			r.unlink(opener)
		}
		if c.count == 0 {
			following := c.following
			r.unlink(closer)
			closer = following
		}
	}
	r.last = bottom
	if bottom != none {
		ds[bottom].following = none
	}
}

func (r *inlineReader) unlink(i int32) {
	d := r.delimiters[i]
	if d.previous != none {
		r.delimiters[d.previous].following = d.following
	}
	if d.following != none {
		r.delimiters[d.following].previous = d.previous
	}
	if r.last == i {
		r.last = d.previous
	}
}
