package markdown

import "strings"

// Fence puts text in a fence of backticks that is long enough that the text cannot
// close it. language may be empty. No line end follows the closing fence.
func Fence(text, language string) string {
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	return fence + language + "\n" + text + "\n" + fence
}

// longestRun returns how often c stands in a row in s, at most.
func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		run++
		if s[i] != c {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}
