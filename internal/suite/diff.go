package suite

import "strings"

// Bounds of a comparison line by line.
const (
	maxDiffCells   = 1 << 20 // lines of one text times lines of the other
	maxDiffContext = 3       // lines shown around a change
)

// diff compares two texts line by line: lines only the first has after a -, lines
// only the second has after a +, and a few they share after a space.
func diff(from, to string) []string {
	a, b := lines(from), lines(to)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []string
	for _, line := range a[max(0, head-maxDiffContext):head] {
		out = append(out, " "+line)
	}
	out = append(out, changes(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, line := range a[len(a)-tail:][:min(tail, maxDiffContext)] {
		out = append(out, " "+line)
	}
	return out
}

// lines are the lines of a text without their ends.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// changes finds a longest common subsequence. Texts too long for that share nothing.
func changes(a, b []string) []string {
	var out []string
	i, j := 0, 0
	if len(a)*len(b) <= maxDiffCells {
		common := make([][]int, len(a)+1) // of what follows i and j
		for i := range common {
			common[i] = make([]int, len(b)+1)
		}
		for i := len(a) - 1; i >= 0; i-- {
			for j := len(b) - 1; j >= 0; j-- {
				if a[i] == b[j] {
					common[i][j] = common[i+1][j+1] + 1
				} else {
					common[i][j] = max(common[i+1][j], common[i][j+1])
				}
			}
		}
		for i < len(a) && j < len(b) {
			switch {
			case a[i] == b[j]:
				out = append(out, " "+a[i])
				i, j = i+1, j+1
			case common[i+1][j] >= common[i][j+1]:
				out = append(out, "-"+a[i])
				i++
			default:
				out = append(out, "+"+b[j])
				j++
			}
		}
	}
	for ; i < len(a); i++ {
		out = append(out, "-"+a[i])
	}
	for ; j < len(b); j++ {
		out = append(out, "+"+b[j])
	}
	return out
}
