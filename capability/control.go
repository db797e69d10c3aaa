package capability

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// decides reports whether a clean path belongs to what decides what fragments may
// do: the control files of fragments 10. No entry makes, changes or deletes one,
// whatever its paths say and whether or not it exists. Names are compared as a file
// system that ignores case and composition would compare them.
func (c Control) decides(clean string) bool {
	name := fold(clean)
	segments := split(name)
	if len(segments) == 0 {
		return false
	}
	if slices.ContainsFunc(segments, isStore) || strings.HasPrefix(segments[0], "XMD.") || strings.HasPrefix(segments[0], ".ENV") {
		return true
	}
	if isBelow(name, "COMPONENTS") {
		return true
	}
	for _, list := range [...][]string{c.Files, c.Dirs} {
		for _, stated := range list {
			if place := path.Clean(stated); place != "." && isBelow(name, fold(place)) {
				return true
			}
		}
	}
	return c.answers(name)
}

// isStore reports whether a folded segment names a store: what lies in it decides,
// wherever it lies.
func isStore(segment string) bool { return segment == ".GIT" || segment == ".XMD" }

// answers reports whether a folded path would answer a name of the catalog where the
// root itself is searched.
func (c Control) answers(name string) bool {
	stem, is := strings.CutSuffix(name, ".MD")
	if !is {
		stem, is = strings.CutSuffix(name, ".TS")
	}
	if !is {
		return false
	}
	stem = strings.TrimSuffix(stem, "/INDEX")
	return slices.ContainsFunc(c.Names, func(stated string) bool {
		return fold(strings.ReplaceAll(stated, ".", "/")) == stem
	})
}

// isBelow reports whether a folded path is a place or lies in it.
func isBelow(name, place string) bool {
	rest, is := strings.CutPrefix(name, place)
	return is && (rest == "" || rest[0] == '/')
}

// isSecret reports whether a clean path is one where secrets are kept by custom
// (D-38). Such a file is read and listed only where the host names it exactly.
func isSecret(clean string) bool {
	if isSecretPlace(clean) {
		return true
	}
	base := fold(path.Base(clean))
	switch base {
	case ".NETRC", ".NPMRC", ".PYPIRC":
		return true
	}
	return strings.HasSuffix(base, ".PEM") || strings.HasSuffix(base, ".KEY") || strings.HasPrefix(base, "ID_")
}

// isSecretPlace reports whether a clean path lies where everything is a secret, or
// is that place.
func isSecretPlace(clean string) bool {
	return slices.ContainsFunc(split(fold(clean)), func(segment string) bool {
		return segment == ".GIT" || segment == ".SSH" || strings.HasPrefix(segment, ".ENV")
	})
}

// fold maps texts to one that some file system takes for the same name: composed
// alike, and each character standing for all that differ from it in case only. The
// letters that fold into two are those whose two are ASCII.
func fold(text string) string {
	if isASCII(text) {
		return strings.ToUpper(text)
	}
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range norm.NFC.String(text) {
		if two := expansion(r); two != "" {
			b.WriteString(two)
			continue
		}
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		b.WriteRune(least)
	}
	return norm.NFC.String(b.String())
}

func expansion(r rune) string {
	switch r {
	case 'ß', 'ẞ':
		return "SS"
	case 'ﬀ':
		return "FF"
	case 'ﬁ':
		return "FI"
	case 'ﬂ':
		return "FL"
	case 'ﬃ':
		return "FFI"
	case 'ﬄ':
		return "FFL"
	case 'ﬅ', 'ﬆ':
		return "ST"
	}
	return ""
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
