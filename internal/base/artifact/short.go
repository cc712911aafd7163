package artifact

import (
	"math"
	"strconv"
	"strings"
)

// Short writes a figure for people with some four digits that matter, "" for what is not finite.
func Short(v float64) string {
	a := math.Abs(v)
	switch {
	case !Finite(v):
		return ""
	case a >= 1000:
		return GroupThousands(strconv.FormatFloat(v, 'f', 0, 64))
	case a >= 100:
		return Trimmed(v, 1)
	case a >= 1 || a == 0:
		return Trimmed(v, 2)
	case a >= 0.001:
		return Trimmed(v, 4)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Trimmed writes a figure with at most so many decimals, without trailing zeros.
func Trimmed(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if decimals == 0 {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// Significant writes a figure with the three digits that matter, also where they are zeros, and as a whole number from
// 100 on: "5.77", "10.0", "1,686". It is "" for what is not finite.
func Significant(v float64) string {
	a, decimals := math.Abs(v), 0
	switch {
	case !Finite(v):
		return ""
	case a == 0:
		return "0"
	case a >= 99.95:
	case a >= 9.995:
		decimals = 1
	case a >= 0.9995:
		decimals = 2
	default:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	whole, rest, dotted := strings.Cut(strconv.FormatFloat(v, 'f', decimals, 64), ".")
	if whole = GroupThousands(whole); dotted {
		whole += "." + rest
	}
	return whole
}
