package html

import (
	"math"
	"strconv"
	"strings"

	"aiperf/internal/artifact"
)

// fixed writes a figure with two decimals and separators; "" for what is none.
func fixed(v float64) string {
	if !artifact.Finite(v) {
		return ""
	}
	whole, decimals, _ := strings.Cut(strconv.FormatFloat(v, 'f', 2, 64), ".")
	return group(whole) + "." + decimals
}

// short writes a figure with some four digits that matter.
func short(v float64) string {
	a := math.Abs(v)
	switch {
	case !artifact.Finite(v):
		return ""
	case a >= 1000:
		return group(strconv.FormatFloat(v, 'f', 0, 64))
	case a >= 100:
		return trimmed(v, 1)
	case a >= 1 || a == 0:
		return trimmed(v, 2)
	case a >= 0.001:
		return trimmed(v, 4)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func trimmed(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func integer(n int64) string { return group(strconv.FormatInt(n, 10)) }

// group puts a comma before every third digit from the right.
func group(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}
