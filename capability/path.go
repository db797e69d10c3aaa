package capability

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxPath is the length in bytes of the longest path or pattern a fragment may
// write, and of the longest path it comes to below the root (F8).
const MaxPath = 4096

// A fault is what is wrong with a path. The list is closed: a message about a path
// is made of what the fragment wrote and of one of these, and of nothing that was
// resolved.
type fault string

const (
	sound        fault = ""
	faultEmpty   fault = "is empty; give one relative to the root"
	faultLong    fault = "is longer than 4096 bytes"
	faultText    fault = "is not UTF-8"
	faultHidden  fault = "holds a control, bidirectional or invisible character"
	faultStart   fault = "is absolute; give one relative to the root"
	faultSign    fault = `holds a character that names something else on another system: \ : * ? " < > or |`
	faultEnding  fault = "has a segment that ends in a dot or a space"
	faultShort   fault = "has a segment with a short name (a tilde and a digit)"
	faultDevice  fault = "has a segment that is a device name on some system"
	faultOutside fault = "leads out of the root"
	faultRoot    fault = "is the root itself and not a file"
	faultPattern fault = "is not a pattern: a bracket or brace is empty or not closed, or holds a slash"
	faultWide    fault = "has too many alternatives"
	faultCeiling fault = "is outside the paths this host stated"
	faultControl fault = "belongs to what decides what a fragment may do, which no fragment changes"
	faultSecret  fault = "is where secrets are kept; only a host that states it without a wildcard admits it"
)

// class is the class a fragment is refused with (fragments 5).
func (f fault) class() string {
	if f == faultHidden {
		return "encoding"
	}
	return "path"
}

// violation reports a fault of a path or of a pattern, which is the noun. Preflight
// keeps the class of it and drops the rest (F5).
func violation(noun, written string, f fault) *Violation {
	if f == faultStart || f == faultEmpty {
		// An absolute path says where things are on somebody's machine.
		return &Violation{Class: f.class(), Reason: "the " + noun + " " + string(f)}
	}
	return &Violation{Class: f.class(), Reason: "the " + noun + " " + quote(written) + " " + string(f)}
}

// cleanPath judges a path a fragment wrote in the directory dir, which is itself
// clean, and returns it cleaned and relative to the root; "" is the root itself
// (fragments 10). What it returns is what is matched, opened and recorded, so that
// no two readers of a path can differ about it. Percent signs mean themselves.
func cleanPath(dir, written string) (string, *Violation) {
	if f := pathFault(written); f != sound {
		return "", violation("path", written, f)
	}
	clean := path.Join(dir, written)
	switch {
	case clean == ".":
		return "", nil
	case clean == ".." || strings.HasPrefix(clean, "../"):
		return "", violation("path", written, faultOutside)
	case len(clean) > MaxPath:
		return "", violation("path", written, faultLong)
	}
	return clean, nil
}

// pathFault judges a path by its spelling alone.
func pathFault(written string) fault {
	if f := charactersFault(written, notInPaths); f != sound {
		return f
	}
	for segment := range strings.SplitSeq(written, "/") {
		if f := segmentFault(segment); f != sound {
			return f
		}
	}
	return sound
}

// notInPaths separates segments, drives, streams or patterns on some system.
const notInPaths = `\:*?"<>|`

// charactersFault judges the characters of a path or pattern, of which those in signs are
// refused.
func charactersFault(written, signs string) fault {
	switch {
	case written == "":
		return faultEmpty
	case len(written) > MaxPath:
		return faultLong
	case !utf8.ValidString(written):
		return faultText
	case strings.ContainsFunc(written, hidden):
		return faultHidden
	case written[0] == '/':
		return faultStart
	case strings.ContainsAny(written, signs):
		return faultSign
	}
	return sound
}

// segmentFault judges one segment by what it would be on any system. Empty ones and
// those of one or two dots are left to the cleaning.
func segmentFault(segment string) fault {
	switch {
	case segment == "", segment == ".", segment == "..":
		return sound
	case strings.HasSuffix(segment, "."), strings.HasSuffix(segment, " "):
		return faultEnding
	case isDevice(segment):
		return faultDevice
	}
	for i := 1; i < len(segment); i++ {
		if segment[i-1] == '~' && '0' <= segment[i] && segment[i] <= '9' {
			return faultShort
		}
	}
	return sound
}

// isDevice reports whether Windows would take a segment for a device: case, what
// follows the first dot, and blanks before it do not matter to it.
func isDevice(segment string) bool {
	base, _, _ := strings.Cut(segment, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, isPort := strings.CutPrefix(base, "COM")
	if !isPort {
		port, isPort = strings.CutPrefix(base, "LPT")
	}
	if !isPort {
		return false
	}
	switch port {
	case "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
		return true
	}
	return false
}

// hidden reports whether a character has no shape of its own, looks like a space
// that it is not, or changes how its neighbours are shown.
func hidden(r rune) bool {
	switch {
	case ' ' <= r && r < 0x7f:
		return false
	case r == blankBraille, !unicode.IsPrint(r):
		return true
	}
	return unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// blankBraille is a symbol by its class and looks like a space.
const blankBraille = '\u2800'

// quote writes what a fragment wrote into a message, on one line, cut where it is
// long, with every character that cannot be seen as an escape.
func quote(written string) string {
	const most = 200
	cut := ""
	if len(written) > most {
		written, cut = written[:most], "…"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(written, "\uFFFD") {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteString(cut)
	b.WriteByte('"')
	return b.String()
}
