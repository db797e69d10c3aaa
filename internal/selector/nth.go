package selector

import (
	"strconv"
	"strings"
)

// formula reads `odd`, `even`, `an+b` in any of its short forms, or a number, and
// returns a and b.
func (s *scanner) formula() (a, b int, err error) {
	s.space()
	start := s.at
	for s.at < len(s.query) && s.query[s.at] != ')' {
		s.at++
	}
	written := strings.ToLower(strings.TrimSpace(s.query[start:s.at]))
	switch written {
	case "odd":
		return 2, 1, nil
	case "even":
		return 2, 0, nil
	}
	ok := true
	if step, offset, found := strings.Cut(written, "n"); found {
		a, ok = coefficient(step)
		if ok {
			b, ok = addend(offset)
		}
	} else {
		b, ok = integer(written)
	}
	if !ok {
		s.at = start
		return 0, 0, s.fault("expected `odd`, `even`, a number or a formula such as `2n+1` but found %q", written)
	}
	return a, b, nil
}

// coefficient reads what stands before the n; a missing number is 1.
func coefficient(s string) (int, bool) {
	switch s {
	case "", "+":
		return 1, true
	case "-":
		return -1, true
	}
	return integer(s)
}

// addend reads what stands after the n: nothing, or a sign and a number.
func addend(s string) (int, bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, true
	}
	if s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	digits := strings.TrimSpace(s[1:])
	if digits == "" || digits[0] == '+' || digits[0] == '-' {
		return 0, false
	}
	return integer(s[:1] + digits)
}

// integer reads an integer that is small enough to count nodes with.
func integer(s string) (int, bool) {
	i, err := strconv.ParseInt(s, 10, 32)
	return int(i), err == nil
}
