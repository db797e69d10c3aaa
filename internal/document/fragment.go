package document

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A FragmentProblem is the first reason why a generated text cannot be read as a
// fragment: where it is and of which kind. It holds nothing of the text.
type FragmentProblem struct {
	Kind   FragmentKind
	Offset int // in bytes
}

// A FragmentKind says what is wrong with a fragment. Its text is the name of the
// refusal class.
type FragmentKind string

const (
	BadEncoding  FragmentKind = "encoding"
	BadConstruct FragmentKind = "construct"
	BadComponent FragmentKind = "component" // a tag whose name runs on
	BadBlock     FragmentKind = "block"
	OverLimit    FragmentKind = "limit"
)

// FragmentLimits bound one fragment. They mean what they say: a zero admits
// nothing. MaxSource and MaxDepth hold whatever they say.
type FragmentLimits struct {
	Source   int // bytes
	Elements int
	Depth    int // of nested elements; one that stands in no other has depth 1
}

// ReadFragment reads a text that nobody with authority wrote (fragments 4, 5, 5.1).
// id becomes the Generated of every position; offsets count from the start of the
// text.
//
// The nodes are *Text and *Element only and are what Parse finds in the same
// bytes, except that spreads are kept as attributes. An attribute written twice
// stands there twice. Where Parse makes text of what is no markup, ReadFragment
// refuses: nothing is repaired, no executable fence is accepted, and an element
// name, a closing tag or an executable fence may be hidden only where every
// Markdown reader hides it. The problem is the first one in this order: bytes too
// many; bytes that readers disagree about; frontmatter; and then whatever comes
// first in the text.
//
// One pass, no recursion, time and memory in proportion to the text. It reads the
// whole text or refuses it: there is no partial result (F1).
func ReadFragment(id, source string, l FragmentLimits) ([]Node, *FragmentProblem) {
	if most := min(l.Source, MaxSource); len(source) > most {
		return nil, refuse(OverLimit, max(most, 0))
	}
	if at := disputedByte(source); at >= 0 {
		return nil, refuse(BadEncoding, at)
	}
	if strings.HasPrefix(source, "---") && !strings.HasPrefix(source, "----") {
		return nil, refuse(BadConstruct, 0)
	}
	s := newScanner(source, 0, len(source))
	s.strict = true
	r := fragmentReader{
		builder: builder{scanner: s, places: tracker{src: source, line: 1, column: 1}},
		id:      id,
		limits:  l,
	}
	if problem := r.read(); problem != nil {
		return nil, problem
	}
	return r.nodes, nil
}

// disputedByte returns the place of the first byte that ends a line, a word or the
// text for some readers and not for others, or is no part of a character; -1
// without one.
func disputedByte(source string) int {
	for i, c := range source {
		switch c {
		case 0, '\v', '\f':
			return i
		case '\r':
			if i+1 == len(source) || source[i+1] != '\n' {
				return i
			}
		case '\ufeff':
			if i == 0 {
				return i
			}
		case utf8.RuneError:
			if _, size := utf8.DecodeRuneInString(source[i:]); size == 1 {
				return i
			}
		}
	}
	return -1
}

// A fragmentReader reads one fragment from front to back. Unlike the ordinary
// reader it knows what is open, because a closing tag must close the innermost
// element. Everything else it reads with the ordinary reader's own means, so that
// the two cannot disagree about what a text says (F10).
type fragmentReader struct {
	builder
	others   others
	id       string
	limits   FragmentLimits
	elements int
	open     []openElement
}

// An openElement waits for its closing tag.
type openElement struct {
	element *Element
	base    int // where its children start in nodes
}

func (r *fragmentReader) read() *FragmentProblem {
	for p := 0; p < r.hi; {
		i := strings.IndexAny(r.src[p:], "<`~")
		if i < 0 {
			break
		}
		p += i
		problem := r.passText(p + 1)
		if problem == nil {
			switch r.src[p] {
			case '<':
				p, problem = r.readAngle(p)
			case '`':
				p, problem = r.readBackticks(p)
			default:
				p, problem = r.readTildes(p)
			}
		}
		if problem != nil {
			return problem
		}
	}
	if n := len(r.open); n > 0 {
		return refuse(BadConstruct, r.open[n-1].element.Pos.Offset)
	}
	r.text(r.hi)
	return nil
}

func refuse(kind FragmentKind, offset int) *FragmentProblem {
	return &FragmentProblem{kind, offset}
}

// readAngle reads what the < at p starts and returns where reading goes on.
func (r *fragmentReader) readAngle(p int) (end int, problem *FragmentProblem) {
	rest := r.src[p+1:]
	name, closing := strings.CutPrefix(rest, "/")
	first, _ := utf8.DecodeRuneInString(name)
	switch {
	case strings.HasPrefix(rest, "!--"):
		return r.readComment(p)
	case 'A' <= first && first <= 'Z' && closing:
		return r.readClosing(p)
	case 'A' <= first && first <= 'Z':
		return r.readTag(p)
	case first >= utf8.RuneSelf && unicode.IsLetter(first):
		return 0, refuse(BadEncoding, p)
	}
	r.others.passAngle(rest)
	return p + 1, nil
}

func (r *fragmentReader) readComment(p int) (end int, problem *FragmentProblem) {
	end, closed := r.comment(p)
	if !closed {
		return 0, refuse(BadConstruct, p)
	}
	text := r.src[p:end]
	at := liveTag(text)
	if at < 0 {
		at = liveReference(text)
	}
	if at >= 0 {
		return 0, refuse(BadConstruct, p+at)
	}
	if problem := r.passHidden(end); problem != nil {
		return 0, problem
	}
	r.others.passMarkup(text)
	r.flush(&token{start: int32(p), end: int32(end)})
	r.nodes = append(r.nodes, &Text{Value: text, Offset: p, Comment: true})
	return end, nil
}

// readBackticks reads a fence, a code span, or backticks that are neither.
func (r *fragmentReader) readBackticks(p int) (end int, problem *FragmentProblem) {
	n := runLength(r.src, p)
	if end, ok := r.fence(p, n); ok {
		return r.readFence(p, end)
	}
	if r.runs == nil {
		r.runs = newRunIndex(r.src, r.lo)
	}
	if end = r.runs.spanEnd(p, n); end > p+n {
		problem = r.readSpan(p, n, end)
	}
	return end, problem
}

func (r *fragmentReader) readTildes(p int) (end int, problem *FragmentProblem) {
	n := runLength(r.src, p)
	if end, ok := r.fence(p, n); ok {
		return r.readFence(p, end)
	}
	return p + n, nil
}

// close gives the innermost open element its content and its end.
func (r *fragmentReader) close(end int) {
	last := len(r.open) - 1
	top := r.open[last]
	r.open = r.open[:last]
	top.element.End = end
	if children := r.nodes[top.base:]; len(children) > 0 {
		top.element.Children = slices.Clone(children)
	}
	r.nodes = append(r.nodes[:top.base], top.element)
}
