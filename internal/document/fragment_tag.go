package document

import "strings"

// readTag reads an opening or self-closing tag at p. In a fragment it is an
// element or the end of admission (fragments 5).
func (r *fragmentReader) readTag(p int) (end int, problem *FragmentProblem) {
	nameEnd := elementName(r.src, p+1)
	if nameEnd < r.hi && plain(r.src[nameEnd]) && !endsName(r.src[nameEnd]) {
		return 0, refuse(BadComponent, p)
	}
	r.attrs, r.trail = r.attrs[:0], r.trail[:0]
	end, selfClosing, ok := r.attributes(p, nameEnd)
	if !ok {
		if at := r.strayInTag(nameEnd, min(end+1, r.hi)); at >= 0 {
			return 0, refuse(BadEncoding, at)
		}
		return 0, refuse(BadConstruct, p)
	}
	if at := r.strayInTag(nameEnd, end); at >= 0 {
		return 0, refuse(BadEncoding, at)
	}
	if r.elements++; r.elements > r.limits.Elements || len(r.open) >= min(r.limits.Depth, MaxDepth) {
		return 0, refuse(OverLimit, p)
	}
	if at := liveTag(r.src[nameEnd:end]); at >= 0 {
		return 0, refuse(BadConstruct, nameEnd+at)
	}
	if problem := r.passHidden(end); problem != nil {
		return 0, problem
	}
	r.others.passMarkup(r.src[p:end])

	t := token{kind: openTag, start: int32(p), end: int32(end), nameEnd: int32(nameEnd), to: int32(len(r.attrs))}
	if selfClosing {
		t.kind = emptyTag
	}
	e := r.element(&t)
	e.Pos.Generated = r.id
	for i := range e.Attrs {
		e.Attrs[i].Pos.Generated = r.id
	}
	r.flush(&t)
	if selfClosing {
		r.nodes = append(r.nodes, e)
	} else {
		r.open = append(r.open, openElement{e, len(r.nodes)})
	}
	return end, nil
}

// readClosing reads a closing tag at p. It closes the innermost element or ends
// admission.
func (r *fragmentReader) readClosing(p int) (end int, problem *FragmentProblem) {
	nameEnd := elementName(r.src, p+2)
	if nameEnd < r.hi && !plain(r.src[nameEnd]) {
		return 0, refuse(BadEncoding, nameEnd)
	}
	last := len(r.open) - 1
	if nameEnd == r.hi || r.src[nameEnd] != '>' || last < 0 || r.open[last].element.Name != r.src[p+2:nameEnd] {
		return 0, refuse(BadConstruct, p)
	}
	end = nameEnd + 1
	r.flush(&token{start: int32(p), end: int32(end)})
	r.close(end)
	return end, nil
}

// strayInTag returns the place of the first character that is not plain between
// from and to, the values of the attributes read left out; -1 without one.
func (r *fragmentReader) strayInTag(from, to int) int {
	gap := func(end int) int {
		for i := from; i < end; i++ {
			if !plain(r.src[i]) {
				return i
			}
		}
		return -1
	}
	for _, a := range r.attrs {
		if a.form == Bare {
			continue
		}
		if at := gap(int(a.text)); at >= 0 {
			return at
		}
		from = int(a.textEnd)
	}
	return gap(to)
}

// plain reports whether c may stand in a tag outside its quotes and braces. A CR
// belongs to a line end, or the text was refused before.
func plain(c byte) bool {
	return ' ' <= c && c <= '~' || c == '\t' || c == '\n' || c == '\r'
}

// endsName reports whether c is white space or belongs to the writing of a tag.
// Behind anything else a name runs on, for some other reader if not for this one.
func endsName(c byte) bool { return strings.IndexByte(" \t\r\n/>{}=\"'`<", c) >= 0 }
