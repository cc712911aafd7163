package artifact

import "strings"

// GroupThousands inserts a comma before every third digit from the right of a whole number, which may have a minus
// sign.
func GroupThousands(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}
