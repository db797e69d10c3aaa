package document

import "strings"

// linkTarget reads (destination "title") at i.
func linkTarget(s string, i int) (end int, ok bool) {
	if i >= len(s) || s[i] != '(' {
		return 0, false
	}
	i = skipBlanks(s, i+1)
	if end, ok = linkDestination(s, i); !ok {
		return 0, false
	}
	i = skipBlanks(s, end)
	if i > end {
		if title, ok := linkTitle(s, i); ok {
			i = skipBlanks(s, title)
		}
	}
	return i + 1, i < len(s) && s[i] == ')'
}

// maxParens is how deep parentheses in a link destination may nest.
const maxParens = 32

// linkDestination reads a destination at i, which may be empty.
func linkDestination(s string, i int) (end int, ok bool) {
	if i < len(s) && s[i] == '<' {
		for i++; i < len(s) && s[i] != '\n' && s[i] != '<'; i++ {
			switch {
			case s[i] == '>':
				return i + 1, true
			case s[i] == '\\' && i+1 < len(s) && isPunctuation(s[i+1]):
				i++
			}
		}
		return 0, false
	}
	depth := 0
	for ; i < len(s) && s[i] > ' ' && s[i] != 0x7f; i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && isPunctuation(s[i+1]):
			i++
		case s[i] == '(':
			if depth++; depth > maxParens {
				return 0, false
			}
		case s[i] == ')':
			if depth == 0 {
				return i, true
			}
			depth--
		}
	}
	return i, depth == 0
}

// linkTitle reads a title in quotes or parentheses at i.
func linkTitle(s string, i int) (end int, ok bool) {
	if i >= len(s) {
		return 0, false
	}
	closing := s[i]
	switch closing {
	case '"', '\'':
	case '(':
		closing = ')'
	default:
		return 0, false
	}
	for i++; i < len(s); i++ {
		switch {
		case s[i] == closing:
			return i + 1, true
		case s[i] == '(' && closing == ')':
			return 0, false
		case s[i] == '\\' && i+1 < len(s) && isPunctuation(s[i+1]):
			i++
		}
	}
	return 0, false
}

// linkLabel returns the length of the [label] at the start of s, 2 for [] and 0
// for none.
func linkLabel(s string) int {
	if s == "" || s[0] != '[' {
		return 0
	}
	for i := 1; i < len(s) && i <= 1000; i++ {
		switch s[i] {
		case ']':
			return i + 1
		case '[':
			return 0
		case '\\':
			if i+1 < len(s) && isPunctuation(s[i+1]) {
				i++
			}
		}
	}
	return 0
}

// normalLabel is the form in which labels are compared.
func normalLabel(s string) string {
	return strings.ToLower(strings.ToUpper(strings.Join(strings.Fields(s), " ")))
}

// linkDefinition reads the definition [label]: destination "title" at the start
// of s. n is its length with its line end.
func linkDefinition(s string) (label string, n int, ok bool) {
	i := linkLabel(s)
	if i < 3 || i == len(s) || s[i] != ':' {
		return "", 0, false
	}
	label = normalLabel(s[1 : i-1])
	start := skipBlanks(s, i+1)
	i, ok = linkDestination(s, start)
	if !ok || i == start || label == "" {
		return "", 0, false
	}
	n, ok = lineEnd(s, i)
	if next := skipBlanks(s, i); next > i {
		if title, isTitle := linkTitle(s, next); isTitle {
			if end, ends := lineEnd(s, title); ends {
				return label, end, true
			}
		}
	}
	return label, n, ok
}

// lineEnd returns the place after the line end that follows i with nothing but
// blanks before it. The end of s ends a line too.
func lineEnd(s string, i int) (end int, ok bool) {
	i += len(s[i:]) - len(strings.TrimLeft(s[i:], " \t\r"))
	if i == len(s) {
		return i, true
	}
	return i + 1, s[i] == '\n'
}
