package differential

import "strings"

// shrink takes pieces off a source while it is still wrong: lines first, then runs of
// bytes of every length, as long as that helps.
func shrink(source string, wrong func(string) bool) string {
	for size := len(source) / 2; size > 0; {
		smaller := false
		for at := 0; at+size <= len(source); {
			shorter := source[:at] + source[at+size:]
			if wrong(shorter) {
				source, smaller = shorter, true
				continue
			}
			at += max(1, size/3)
		}
		if !smaller || size > len(source) {
			size = min(size*2/3, len(source)*2/3)
		}
	}
	return strings.ToValidUTF8(source, "")
}
