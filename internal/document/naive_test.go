package document

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// show writes nodes in a compact form for comparison: text in «», elements as
// tags, blocks as ```.
func show(nodes []Node) string {
	var b strings.Builder
	for _, n := range nodes {
		switch n := n.(type) {
		case *Text:
			if n.Comment {
				fmt.Fprintf(&b, "‹%s›", n.Value)
			} else {
				fmt.Fprintf(&b, "«%s»", n.Value)
			}
		case *Block:
			fmt.Fprintf(&b, "```%s|%s```", n.Info, n.Content)
		case *Element:
			fmt.Fprintf(&b, "<%s", n.Name)
			for _, a := range n.Attrs {
				b.WriteString(" " + a.Name)
				switch a.Form {
				case Quoted:
					fmt.Fprintf(&b, "=%q", a.Text)
				case Braced:
					fmt.Fprintf(&b, "={%s}", a.Text)
				}
			}
			if n.SelfClosing {
				b.WriteString("/>")
			} else {
				fmt.Fprintf(&b, ">%s</%s>", show(n.Children), n.Name)
			}
		}
	}
	return b.String()
}

// A naive reader follows the language page word by word: it recurses, looks
// again, and takes exponential time on purpose. It is the measure for the real
// one.
type naive struct {
	src   string
	start int
}

// list reads segments until the closing tag of name, or the end of the source.
func (r naive) list(i int, name string) (out string, end int, closed bool) {
	var b strings.Builder
	text := ""
	flush := func() {
		if text != "" {
			b.WriteString("«" + text + "»")
		}
		text = ""
	}
	for i < len(r.src) {
		if name != "" && strings.HasPrefix(r.src[i:], "</"+name+">") {
			flush()
			return b.String(), i + len(name) + 3, true
		}
		if j, shown, ok := r.fence(i); ok {
			if shown == "" {
				text += r.src[i:j]
			} else {
				flush()
				b.WriteString(shown)
			}
			i = j
			continue
		}
		if j, ok := r.span(i); ok {
			text += r.src[i:j]
			i = j
			continue
		}
		if strings.HasPrefix(r.src[i:], "<!--") {
			j := len(r.src)
			for _, whole := range []string{"<!-->", "<!--->"} {
				if strings.HasPrefix(r.src[i:], whole) {
					j = i + len(whole)
				}
			}
			if j == len(r.src) {
				if k := strings.Index(r.src[i+4:], "-->"); k >= 0 {
					j = i + 4 + k + 3
				}
			}
			flush()
			b.WriteString("‹" + r.src[i:j] + "›")
			i = j
			continue
		}
		if j, tag, attrs, selfClosing, ok := r.tag(i); ok {
			if selfClosing {
				flush()
				b.WriteString("<" + tag + attrs + "/>")
				i = j
				continue
			}
			if children, end, closed := r.list(j, tag); closed {
				flush()
				b.WriteString("<" + tag + attrs + ">" + children + "</" + tag + ">")
				i = end
				continue
			}
			text += r.src[i:j]
			i = j
			continue
		}
		text += r.src[i : i+1]
		i++
	}
	flush()
	return b.String(), i, false
}

func (r naive) fence(i int) (end int, shown string, ok bool) {
	if i > r.start && r.src[i-1] != '\n' {
		return 0, "", false
	}
	open := func(line string) (c byte, n int, rest string) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		line = line[indent:]
		if indent > 3 || line == "" || line[0] != '`' && line[0] != '~' {
			return 0, 0, ""
		}
		rest = strings.TrimLeft(line, line[:1])
		return line[0], len(line) - len(rest), rest
	}
	lines := strings.SplitAfter(r.src[i:], "\n")
	c, n, rest := open(lines[0])
	info := strings.TrimSpace(rest)
	if n < 3 || c == '`' && strings.Contains(info, "`") {
		return 0, "", false
	}
	end = i + len(lines[0])
	content := ""
	for _, line := range lines[1:] {
		end += len(line)
		if d, m, rest := open(line); d == c && m >= n {
			if tail := strings.Trim(rest, " \t"); tail == "" || tail == "\n" || tail == "\r\n" {
				break
			}
		}
		content += line
	}
	words := strings.Fields(info)
	for _, w := range words[min(1, len(words)):] {
		name, _, _ := strings.Cut(w, "=")
		if bracket, _, ok := strings.Cut(w, "["); ok && strings.Contains(w, "]") {
			name = bracket
		}
		if name == "exec" || name == "eval" {
			return end, "```" + info + "|" + content + "```", true
		}
	}
	return end, "", true
}

func (r naive) span(i int) (end int, ok bool) {
	n := 0
	for i+n < len(r.src) && r.src[i+n] == '`' {
		n++
	}
	for j := i + n; n > 0 && j < len(r.src); {
		m := 0
		for j+m < len(r.src) && r.src[j+m] == '`' {
			m++
		}
		if m == n {
			return j + m, true
		}
		j += max(m, 1)
	}
	return 0, false
}

func (r naive) tag(i int) (end int, name, attrs string, selfClosing, ok bool) {
	s := r.src
	j := i + 1
	if s[i] != '<' || j >= len(s) || s[j] < 'A' || s[j] > 'Z' {
		return
	}
	is := func(j int, more string) bool {
		return j < len(s) && (s[j] >= 'a' && s[j] <= 'z' || s[j] >= 'A' && s[j] <= 'Z' || s[j] >= '0' && s[j] <= '9' || strings.IndexByte(more, s[j]) >= 0)
	}
	space := func() {
		for j < len(s) {
			c, size := utf8.DecodeRuneInString(s[j:])
			if !unicode.IsSpace(c) {
				return
			}
			j += size
		}
	}
	for is(j, "._") {
		j++
	}
	name = s[i+1 : j]
	for {
		space()
		switch {
		case j >= len(s):
			return 0, "", "", false, false
		case s[j] == '>':
			return j + 1, name, attrs, false, true
		case strings.HasPrefix(s[j:], "/>"):
			return j + 2, name, attrs, true, true
		case s[j] == '{':
			k, ok := r.brace(j)
			if !ok || !strings.HasPrefix(strings.TrimLeftFunc(s[j+1:k-1], unicode.IsSpace), "...") {
				return 0, "", "", false, false
			}
			j = k
		case is(j, "-_"):
			start := j
			for is(j, "-_") {
				j++
			}
			attrs += " " + s[start:j]
			space()
			if j < len(s) && s[j] == '=' {
				j++
				space()
				switch {
				case j < len(s) && (s[j] == '"' || s[j] == '\''):
					k, ok := r.str(j)
					if !ok {
						return 0, "", "", false, false
					}
					attrs += fmt.Sprintf("=%q", s[j+1:k-1])
					j = k
				case j < len(s) && s[j] == '{':
					k, ok := r.brace(j)
					if !ok {
						return 0, "", "", false, false
					}
					attrs += "={" + strings.TrimSpace(s[j+1:k-1]) + "}"
					j = k
				default:
					return 0, "", "", false, false
				}
			}
		default:
			return 0, "", "", false, false
		}
	}
}

func (r naive) str(i int) (end int, ok bool) {
	for j := i + 1; j < len(r.src); j++ {
		switch r.src[j] {
		case '\\':
			j++
		case r.src[i]:
			return j + 1, true
		}
	}
	return 0, false
}

func (r naive) brace(i int) (end int, ok bool) {
	for j := i + 1; j < len(r.src); {
		switch r.src[j] {
		case '}':
			return j + 1, true
		case '{':
			j, ok = r.brace(j)
		case '"', '\'':
			j, ok = r.str(j)
		case '`':
			j, ok = r.template(j)
		default:
			j, ok = j+1, true
		}
		if !ok {
			return 0, false
		}
	}
	return 0, false
}

func (r naive) template(i int) (end int, ok bool) {
	for j := i + 1; j < len(r.src); {
		switch {
		case r.src[j] == '\\':
			j += 2
		case r.src[j] == '`':
			return j + 1, true
		case strings.HasPrefix(r.src[j:], "${"):
			if j, ok = r.brace(j + 1); !ok {
				return 0, false
			}
		default:
			j++
		}
	}
	return 0, false
}
