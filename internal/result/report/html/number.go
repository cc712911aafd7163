package html

import (
	"math"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
)

// fixed writes a figure with two decimals and separators; "" for what is none.
func fixed(v float64) string {
	if !artifact.Finite(v) {
		return ""
	}
	whole, decimals, _ := strings.Cut(strconv.FormatFloat(v, 'f', 2, 64), ".")
	return artifact.GroupThousands(whole) + "." + decimals
}

// short writes a figure with some four digits that matter.
func short(v float64) string {
	a := math.Abs(v)
	switch {
	case !artifact.Finite(v):
		return ""
	case a >= 1000:
		return artifact.GroupThousands(strconv.FormatFloat(v, 'f', 0, 64))
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

func integer(n int64) string { return artifact.GroupThousands(strconv.FormatInt(n, 10)) }
