package ecma

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// toNumber converts a primitive value to a number.
func toNumber(v Value) float64 {
	switch v := v.(type) {
	case Null:
		return 0
	case bool:
		if v {
			return 1
		}
		return 0
	case float64:
		return v
	case String:
		return parseNumber(string(v.Trim()))
	}
	return math.NaN()
}

// parseNumber reads a number as Number does, white space already trimmed: NaN when
// it is none.
func parseNumber(s string) float64 {
	if s == "" {
		return 0
	}
	if len(s) > 2 && s[0] == '0' {
		switch s[1] {
		case 'x', 'X':
			return parseWhole(s[2:], 16, 4)
		case 'o', 'O':
			return parseWhole(s[2:], 8, 3)
		case 'b', 'B':
			return parseWhole(s[2:], 2, 1)
		}
	}
	unsigned := s
	if s[0] == '+' || s[0] == '-' {
		unsigned = s[1:]
	}
	if unsigned == "Infinity" {
		if s[0] == '-' {
			return math.Inf(-1)
		}
		return math.Inf(1)
	}
	if !isDecimal(unsigned) {
		return math.NaN()
	}
	f, _ := strconv.ParseFloat(s, 64) // out of range is an infinity
	return f
}

// parseWhole reads digits of a base whose digits have so many bits each.
func parseWhole(digits string, base, bits int) float64 {
	for _, c := range []byte(digits) {
		if digit(c) >= base {
			return math.NaN()
		}
	}
	digits = strings.TrimLeft(digits, "0")
	if len(digits) > 1024/bits+1 { // beyond every number, whatever they are
		return math.Inf(1)
	}
	whole, ok := new(big.Int).SetString("0"+digits, base)
	if !ok {
		return math.NaN()
	}
	f, _ := new(big.Float).SetInt(whole).Float64()
	return f
}

// digit returns what c is worth as a digit; a large number when it is none.
func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return 99
}

// isDecimal reports whether s is a decimal number without a sign: 1, 1., .5, 1e-3.
func isDecimal(s string) bool {
	whole := countDigits(s)
	s = s[whole:]
	fraction := 0
	if s != "" && s[0] == '.' {
		fraction = countDigits(s[1:])
		s = s[1+fraction:]
	}
	return whole+fraction > 0 && (s == "" || isExponent(s))
}

func isExponent(s string) bool {
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && countDigits(s) == len(s)
}

// countDigits returns how many decimal digits s begins with.
func countDigits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}
