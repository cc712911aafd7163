package scalar

import (
	"fmt"
	"math"
	"time"
)

// SetInt sets a field to a whole number from low to high.
func SetInt(field *int, text string, low, high int) error {
	n, err := Count(text)
	if err != nil || n < int64(low) || n > int64(high) {
		return fmt.Errorf("%q is not a whole number %s", text, between(float64(low), float64(high)))
	}
	*field = int(n)
	return nil
}

// SetFloat sets a field to a number from low to high.
func SetFloat(field *float64, text string, low, high float64) error {
	x, err := Number(text)
	if err != nil || !(x >= low && x <= high) {
		return fmt.Errorf("%q is not a number %s", text, between(low, high))
	}
	*field = x
	return nil
}

// SetTime sets a field to a time of at most high; a bare number is so many units.
func SetTime(field *time.Duration, text string, unit, high time.Duration) error {
	n, err := In(unit, text)
	if most := float64(high / unit); err != nil || !(n >= 0 && n <= most) {
		return fmt.Errorf("%q is not a number %s", text, between(0, most))
	}
	*field = time.Duration(n * float64(unit))
	return nil
}

func between(low, high float64) string {
	if high >= math.MaxInt32 {
		return fmt.Sprintf("of at least %v", low)
	}
	return fmt.Sprintf("from %v to %v", low, high)
}
