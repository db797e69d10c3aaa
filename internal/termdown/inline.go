package termdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/executable-markdown/xmd/internal/markdown"
)

// inline returns what stands in n.
func (r *renderer) inline(n ast.Node, s style) row {
	var content row
	r.spans(&content, n, s, "")
	return content
}

// spans adds what stands in parent, in the given style and link.
func (r *renderer) spans(to *row, parent ast.Node, s style, link string) {
	for c := parent.FirstChild(); c != nil; c = c.NextSibling() {
		switch n := c.(type) {
		case *ast.Text:
			to.add(oneLine(markdown.Unescape(n.Value(r.source))), s, link)
			if n.HardLineBreak() {
				to.add("\n", 0, "")
			} else if n.SoftLineBreak() {
				to.add(" ", s, link)
			}
		case *ast.CodeSpan:
			for t := n.FirstChild(); t != nil; t = t.NextSibling() {
				code := oneLine(string(t.(*ast.Text).Value(r.source)))
				if r.cell { // where a pipe is written behind a backslash even in code
					code = strings.ReplaceAll(code, `\|`, "|")
				}
				to.add(code, s|cyan, link)
			}
		case *ast.Emphasis:
			kind := italic
			if n.Level == 2 {
				kind = bold
			}
			r.spans(to, n, s|kind, link)
		case *extast.Strikethrough:
			r.spans(to, n, s|strike, link)
		case *extast.TaskCheckBox:
			box := "☐ "
			if n.IsChecked {
				box = "☑ "
			}
			to.add(box, s, link)
		case *ast.AutoLink:
			label := string(n.Label(r.source))
			to.add(label, s|underline, target(label))
		case *ast.Link:
			r.link(to, n, n.Destination, n.Title, s, link)
		case *ast.Image:
			r.link(to, n, n.Destination, n.Title, s, link)
		case *ast.RawHTML:
			to.html(oneLine(string(n.Segments.Value(r.source))))
		}
	}
}

// link adds the text of a link or the alternative text of an image, and the
// address unless it is that text.
func (r *renderer) link(to *row, n ast.Node, destination, titled []byte, s style, outer string) {
	address := oneLine(markdown.Unescape(destination))
	link := outer
	if link == "" {
		link = target(address)
	}
	start := len(*to)
	r.spans(to, n, s|underline, link)
	var text strings.Builder
	for _, c := range (*to)[start:] {
		text.WriteString(c.text)
	}
	detail := oneLine(title(titled))
	if shown := visible(address); shown != text.String() && shown != "mailto:"+text.String() {
		detail = address + detail
	}
	detail = strings.TrimSpace(detail)
	switch {
	case detail == "":
	case text.Len() == 0:
		to.add(detail, s|underline, link)
	default:
		to.add(" ("+detail+")", s|faint, link)
	}
}

// title returns the title of a link as it is shown behind the address.
func title(t []byte) string {
	if len(t) == 0 {
		return ""
	}
	return ` "` + markdown.Unescape(t) + `"`
}

// target returns the address a terminal may be told, or "" for one that is not
// plainly an address of the web.
func target(address string) string {
	scheme, _, _ := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto":
	default:
		return ""
	}
	for _, c := range []byte(address) {
		if c <= ' ' || c >= 0x7F {
			return ""
		}
	}
	return address
}

// html adds HTML as it is written: tags faint, comments faint, and the comment
// that is a printed error in red.
func (r *row) html(source string) {
	for source != "" {
		start := strings.Index(source, "<!--")
		if start < 0 {
			start = len(source)
		}
		r.add(source[:start], faint, "")
		source = source[start:]
		end := len(source)
		if i := strings.Index(source, "-->"); i >= 0 {
			end = i + len("-->")
		}
		s := faint
		if strings.HasPrefix(source, "<!-- ERROR:") {
			s = red
		}
		r.add(source[:end], s, "")
		source = source[end:]
	}
}

// oneLine replaces the line feeds and tabs of prose by spaces.
func oneLine(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\n", " "), "\t", " ")
}
