package termdown

import "strings"

// budget is the work that a layout may take, in steps of about a nanosecond.
const budget = 1 << 30

// costly reports whether laying out s could take more than the budget. It counts
// what makes goldmark's work, or ours, grow with the square of the length, each
// weighted with what it was measured to cost: nesting, brackets, emphasis and
// table cells. It does not tell code from prose, and errs to the cautious side.
func costly(s string) bool {
	work := 0
	brackets, delimiters, pipes, lines := 0, 0, 0, 0 // of the lines since a blank one
	endBlock := func() {
		work += 10*brackets*brackets + 2*delimiters*delimiters + 4000*pipes*lines
		brackets, delimiters, pipes, lines = 0, 0, 0, 0
	}
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) == "" {
			endBlock()
		}
		nesting := len(line) - len(strings.TrimLeft(line, " \t>-+*0123456789.)"))
		work += 3 * nesting * nesting
		brackets += strings.Count(line, "[")
		delimiters += strings.Count(line, "*") + strings.Count(line, "_") + strings.Count(line, "~")
		pipes = max(pipes, strings.Count(line, "|"))
		lines++
		if work > budget {
			return true
		}
	}
	endBlock()
	return work > budget
}
