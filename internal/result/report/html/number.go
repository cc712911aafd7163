package html

import (
	"math"
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
)

// fixed writes a figure with two decimals and separators, one that these would cut down with three digits; "" for what
// is none.
func fixed(v float64) string {
	if !artifact.Finite(v) {
		return ""
	}
	if a := math.Abs(v); a > 0 && a < 0.1 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	whole, decimals, _ := strings.Cut(strconv.FormatFloat(v, 'f', 2, 64), ".")
	return artifact.GroupThousands(whole) + "." + decimals
}

// short writes a figure with some four digits that matter.
func short(v float64) string { return artifact.Short(v) }

// trimmed writes a figure with at most so many decimals.
func trimmed(v float64, decimals int) string { return artifact.Trimmed(v, decimals) }

func integer(n int64) string { return artifact.GroupThousands(strconv.FormatInt(n, 10)) }
