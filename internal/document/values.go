package document

import "strings"

// A valueIndex knows where every quoted string, template and brace group of a
// range ends (language 1.4.3, 1.5.1). Where one ends depends on where it starts
// and on nothing else, and only on places after it, so the index is filled once
// from the end of the range backwards. Reading an attribute is then a look-up:
// text full of half-written tags costs no more than any other.
type valueIndex struct {
	marks  []mark
	cursor int // the first mark not before the tag being read
}

// A mark is one of the five characters that open or close a value. Its indexes
// point at other marks; none means there is no such place.
type mark struct {
	pos  int32
	end  int32 // where the value that starts here ends
	code int32 // where code read from here on ends: the next } of its own level
	tmpl int32 // where a template read from here on ends: the next free backtick
	dead bool  // an attribute list was seen to fail after the value ending here
}

const none = -1

func newValueIndex(src string, lo, hi int) *valueIndex {
	count := 0
	for _, c := range [...]string{`"`, "'", "`", "{", "}"} {
		count += strings.Count(src[lo:hi], c)
	}
	marks := make([]mark, 0, count)
	for i := lo; i < hi; i++ {
		switch src[i] {
		case '"', '\'', '`', '{', '}':
			marks = append(marks, mark{pos: int32(i)})
		}
	}
	escaped := func(i int) bool {
		n := 0
		for i > lo && src[i-1] == '\\' {
			i--
			n++
		}
		return n%2 == 1
	}
	codeFrom := func(k int32) int32 {
		if k == none || int(k)+1 >= len(marks) {
			return none
		}
		return marks[k+1].code
	}
	tmplFrom := func(k int32) int32 {
		if k == none || int(k)+1 >= len(marks) {
			return none
		}
		return marks[k+1].tmpl
	}
	double, single := int32(none), int32(none) // the nearest closing quotes after k
	for k := int32(len(marks)) - 1; k >= 0; k-- {
		m := &marks[k]
		pos := int(m.pos)
		m.tmpl = tmplFrom(k)
		switch src[pos] {
		case '"':
			m.end = double
			if !escaped(pos) {
				double = k
			}
		case '\'':
			m.end = single
			if !escaped(pos) {
				single = k
			}
		case '`':
			m.end = tmplFrom(k)
			if !escaped(pos) {
				m.tmpl = k
			}
		case '{':
			m.end = codeFrom(k)
			if pos > lo && src[pos-1] == '$' && !escaped(pos-1) {
				m.tmpl = tmplFrom(m.end)
			}
		case '}':
			m.end, m.code = none, k
			continue
		}
		m.code = codeFrom(m.end)
	}
	return &valueIndex{marks: marks}
}

// seek returns the index of the first mark at or after pos. Calls come with
// ascending pos.
func (v *valueIndex) seek(pos int) int32 {
	for v.cursor < len(v.marks) && int(v.marks[v.cursor].pos) < pos {
		v.cursor++
	}
	return int32(v.cursor)
}
