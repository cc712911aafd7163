// Package scalar reads numbers, times and booleans in the forms that people write them: 100_000, 100k,
// 1h30m, yes.
//
// The invariant: flags, environment variables and conditions are all read here, so that a form which one of them
// accepts is accepted by the others. The package must never know which option a text belongs to.
package scalar

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/pattern"
)

// ErrTooLarge says that a number is beyond what its type holds.
var ErrTooLarge = errors.New("is too large")

const (
	// digits are decimal digits; an underscore may stand between two of them.
	digits = `\d+(?:_\d+)*`
	real   = `(?:` + digits + `\.?(?:` + digits + `)?|\.` + digits + `)(?:[eE][+-]?` + digits + `)?`
)

// Pattern matches an unsigned number as [Number] reads it, without inf; it has no groups that capture.
const Pattern = real

var (
	number = pattern.New(`^[+-]?` + real + `$`)
	count  = pattern.New(`^([+-]?)(` + digits + `)$`)
	scaled = pattern.New(`^([+-]?(?:` + digits + `\.?(?:` + digits + `)?|\.` + digits + `))([kKMG])$`)
	part   = pattern.New(`^(` + real + `)\s*(ns|us|µs|μs|ms|s|m|h|d)`)
)

// Number reads a decimal number, with underscores between digits as Python takes them, or "inf".
func Number(text string) (float64, error) {
	text = strings.TrimSpace(text)
	switch strings.ToLower(strings.TrimLeft(text, "+")) {
	case "inf", "infinity":
		return math.Inf(1), nil
	}
	if !number.MatchString(text) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	v, err := strconv.ParseFloat(plain(text), 64)
	if err != nil {
		return 0, fmt.Errorf("%q %w", text, ErrTooLarge)
	}
	return v, nil
}

// Count reads a whole number, with underscores between digits. The endings k (or K), M and G multiply it by a
// thousand, a million and a thousand million; before them a fraction is allowed if the product is whole: 1.5k.
func Count(text string) (int64, error) {
	text = strings.TrimSpace(text)
	if count.MatchString(text) {
		v, err := strconv.ParseInt(plain(text), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%q %w", text, ErrTooLarge)
		}
		return v, nil
	}
	m := scaled.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%q is not a whole number", text)
	}
	return multiple(text, plain(m[1]), map[string]int{"k": 3, "K": 3, "M": 6, "G": 9}[m[2]])
}

// multiple moves the point of a decimal number to the right, which is exact.
func multiple(text, decimal string, places int) (int64, error) {
	whole, fraction, _ := strings.Cut(decimal, ".")
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > places {
		return 0, fmt.Errorf("%q is not a whole number", text)
	}
	v, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", places-len(fraction)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q %w", text, ErrTooLarge)
	}
	return v, nil
}

func plain(text string) string { return strings.ReplaceAll(text, "_", "") }

// units are how many nanoseconds a unit of time is.
var units = map[string]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "μs": time.Microsecond,
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

// In reads a time and returns it as a number of units: a bare number is one of them, otherwise each number has a
// unit of its own, as in 10s, 500ms or 1h30m. The units are ns, us, ms, s, m, h and d.
func In(unit time.Duration, text string) (float64, error) {
	text = strings.TrimSpace(text)
	if v, err := Number(text); err == nil || errors.Is(err, ErrTooLarge) {
		return v, err
	}
	rest, sign := text, 1.0
	if after, negative := strings.CutPrefix(rest, "-"); negative {
		rest, sign = after, -1
	}
	sum, last := 0.0, time.Duration(math.MaxInt64)
	for rest != "" || sum == 0 && last == math.MaxInt64 {
		m := part.FindStringSubmatch(rest)
		if m == nil || units[m[2]] >= last {
			return 0, fmt.Errorf("%q is not a time", text)
		}
		v, err := strconv.ParseFloat(plain(m[1]), 64)
		if err != nil {
			return 0, fmt.Errorf("%q %w", text, ErrTooLarge)
		}
		last = units[m[2]]
		// The quotient of two whole numbers of nanoseconds is rounded once.
		if unit >= last {
			sum += v / float64(unit/last)
		} else {
			sum += v * float64(last/unit)
		}
		rest = strings.TrimLeft(rest[len(m[0]):], " ")
	}
	return sign * sum, nil
}

// Share reads a part of a whole: 0.01, or 1% for the same.
func Share(text string) (float64, error) {
	if number, percent := strings.CutSuffix(strings.TrimSpace(text), "%"); percent {
		v, err := Number(number)
		return v / 100, err
	}
	return Number(text)
}

// Percent reads a number of percent, with or without the sign.
func Percent(text string) (float64, error) {
	return Number(strings.TrimSuffix(strings.TrimSpace(text), "%"))
}

// Bool reads a yes or a no: true, t, yes, y, on and 1, or false, f, no, n, off and 0, in any case.
func Bool(text string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "t", "yes", "y", "on", "1":
		return true, nil
	case "false", "f", "no", "n", "off", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false; use true/false, t/f, yes/no, y/n, on/off or 1/0", text)
}
