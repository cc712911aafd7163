package console

import (
	"strconv"
	"strings"

	"aiperf/internal/base/artifact"
)

// notAvailable is printed for a statistic that does not exist.
const notAvailable = "N/A"

// fixed2 formats a value with two decimals and thousands separators. The exact binary value is
// rounded, ties to even: 0.125 is 0.12. What is not finite is not available.
func fixed2(v float64) string {
	if !artifact.Finite(v) {
		return notAvailable
	}
	text := strconv.FormatFloat(v, 'f', 2, 64)
	whole, decimals, _ := strings.Cut(text, ".")
	return artifact.GroupThousands(whole) + "." + decimals
}

func integer(v int64) string { return artifact.GroupThousands(strconv.FormatInt(v, 10)) }

// shortest formats a threshold without trailing zeros.
func shortest(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// oneDecimal formats a percentage.
func oneDecimal(v float64) string {
	if !artifact.Finite(v) {
		return notAvailable
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}
