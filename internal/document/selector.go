package document

import (
	"strings"
	"unicode"
)

// A pattern is a selector, level by level (language 8.4).
type pattern []level

// A level matches one label: the chunks in order, anything between them, the
// first at its start and the last at its end. A level of no chunks is **, which
// matches any number of labels.
type level []string

// parseSelector reads a selector. ok is false when it is none.
func parseSelector(selector string) (p pattern, ok bool) {
	if strings.IndexByte(selector, '#') >= 0 {
		return nil, false
	}
	for text := range strings.SplitSeq(selector, "/") {
		if text == "" {
			return nil, false
		}
		if text == "**" {
			if len(p) == 0 || len(p[len(p)-1]) > 0 {
				p = append(p, level{})
			}
			continue
		}
		chunks := strings.Split(text, "*")
		for i, c := range chunks {
			decoded, ok := decodePercent(c)
			if !ok {
				return nil, false
			}
			chunks[i] = normalChunk(decoded, i == 0, i == len(chunks)-1)
		}
		p = append(p, chunks)
	}
	return p, true
}

// normalChunk is normalLevel, but white space next to a wildcard stays as one
// space.
func normalChunk(s string, first, last bool) string {
	text := normalLevel(s)
	before := !first && skipSpace(s, 0) > 0
	after := !last && strings.TrimRightFunc(s, unicode.IsSpace) != s
	switch {
	case text == "" && !(before && after):
		return ""
	case text == "":
		return " "
	}
	if before {
		text = " " + text
	}
	if after {
		text += " "
	}
	return text
}

// matches reports whether the pattern matches the labels from the outermost level
// to the heading. Labels are few, so the table of partial matches is small.
func (p pattern) matches(labels []string) bool {
	reached := make([]bool, len(labels)+1) // the first labels the levels so far match
	reached[0] = true
	for _, l := range p {
		if len(l) == 0 {
			for i := range labels {
				reached[i+1] = reached[i+1] || reached[i]
			}
			continue
		}
		any := false
		for i := len(labels) - 1; i >= 0; i-- {
			reached[i+1] = reached[i] && l.matches(labels[i])
			any = any || reached[i+1]
		}
		reached[0] = false
		if !any {
			return false
		}
	}
	return reached[len(labels)]
}

// matches takes the chunks at their first possible place, which leaves the most
// room for those that follow.
func (l level) matches(label string) bool {
	first, last := l[0], l[len(l)-1]
	if len(l) == 1 {
		return label == first
	}
	rest, ok := strings.CutPrefix(label, first)
	if !ok {
		return false
	}
	if rest, ok = strings.CutSuffix(rest, last); !ok {
		return false
	}
	for _, chunk := range l[1 : len(l)-1] {
		if _, rest, ok = strings.Cut(rest, chunk); !ok {
			return false
		}
	}
	return true
}

// SplitReference reads a command's document reference: PATH or PATH#SELECTOR,
// split at the first #, with PATH percent-decoded (language 8.1.1). targeted
// tells whether there was a #; the selector is returned as written. The error is
// *Error with the code target-invalid and one fixed text.
func SplitReference(ref string) (path, selector string, targeted bool, err error) {
	path, selector, targeted = strings.Cut(ref, "#")
	path, ok := decodePercent(path)
	if !ok || path == "" {
		return "", "", false, &Error{Code: codeTarget, Message: "invalid document reference"}
	}
	return path, selector, targeted, nil
}
