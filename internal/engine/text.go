package engine

import (
	"strings"

	"github.com/executable-markdown/xmd/internal/answer"
	"github.com/executable-markdown/xmd/internal/value"
)

// interpolate writes authored text with its references resolved (language 3): one
// scan over what the author wrote; what is inserted is never read again. formA
// adds the meta and props forms, which executable content does not have.
func (r *run) interpolate(sc *scope, text string, formA bool, out *strings.Builder) {
	noClose := false // no } follows any more, so form A cannot match
	for {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			out.WriteString(text)
			return
		}
		if i > 0 && text[i-1] == '\\' {
			out.WriteString(text[:i-1])
			out.WriteByte('{')
			text = text[i+1:]
			continue
		}
		out.WriteString(text[:i])
		text = text[i:]
		inserted, n := "", 0
		if formA && !noClose && (strings.HasPrefix(text, "{meta.") || strings.HasPrefix(text, "{props.")) {
			if end := strings.IndexByte(text, '}'); end < 0 {
				noClose = true
			} else {
				inserted, n = r.formA(sc, text[1:end]), end+1
			}
		}
		if n == 0 {
			inserted, n = r.formB(sc, text)
		}
		if n == 0 {
			inserted, n = "{", 1
		}
		out.WriteString(inserted)
		text = text[n:]
	}
}

// formA resolves meta.path and props.path; what is missing is empty.
func (r *run) formA(sc *scope, reference string) string {
	path := strings.Split(reference, ".")
	if path[0] == propsName {
		props, _ := sc.env.lookup(propsName)
		return props.Property(path[1:])
	}
	return r.exprs.Ref(sc.def.meta).Property(path[1:])
}

// formB resolves {name} and {name.path} at the start of text; n is 0 when the
// text stays as it is.
func (r *run) formB(sc *scope, text string) (inserted string, n int) {
	path, n := answer.Reference(text)
	if n == 0 {
		return "", 0
	}
	ref, ok := sc.env.lookup(path[0])
	if !ok {
		return "", 0
	}
	if len(path) == 1 {
		return ref.Text(), n
	}
	inserted, ok = ref.Member(path[1:])
	if !ok {
		return "", 0
	}
	return inserted, n
}

// blank reports whether s holds nothing but white space.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

// trimEnd removes trailing white space the way JavaScript's trimEnd does.
func trimEnd(s string) string { return strings.TrimRightFunc(s, isSpace) }

func trim(s string) string { return strings.TrimFunc(s, isSpace) }

func isSpace(c rune) bool {
	switch c {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
		return true
	}
	return 0x2000 <= c && c <= 0x200a
}

// quote shows a value in a message: JSON where there is one, its kind otherwise.
func quote(v any) string {
	if text, err := value.JSON(v); err == nil && len(text) <= 60 {
		return text
	}
	kind := value.Kind(v)
	if kind == "undefined" {
		return kind
	}
	return "a long " + kind
}
