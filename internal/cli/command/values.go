package command

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"aiperf/internal/base/scalar"
	"aiperf/internal/config/flags"
)

// Integer reads a whole number between two limits.
func Integer(to *int, low, high int) func(string) error {
	return func(v string) error { return scalar.SetInt(to, v, low, high) }
}

// Number reads a number between two limits, with the endings that numbers of options may have.
func Number(to *float64, low, high float64) func(string) error {
	return func(v string) error { return scalar.SetFloat(to, v, low, high) }
}

// Truth is what a switch does with its value.
func Truth(do func(bool)) func(string) error {
	return func(v string) error {
		b, err := scalar.Bool(v)
		if err == nil {
			do(b)
		}
		return err
	}
}

// Real reads a number between two limits.
func Real(to *float64, lo, hi float64) func(string) error {
	return func(text string) error {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= lo && v <= hi) {
			return fmt.Errorf("must be a number from %g to %g", lo, hi)
		}
		*to = v
		return nil
	}
}

// Share keeps a part of a whole from 0 to 1, which may be written in percent.
func Share(to *float64) func(string) error {
	return func(text string) error {
		v, err := scalar.Share(text)
		if err != nil || !(v >= 0 && v <= 1) {
			return errors.New("must be a share from 0 to 1 such as 0.01, or the same in percent such as 1%")
		}
		*to = v
		return nil
	}
}

// Seconds keeps a time as a number of seconds from lo to hi; it may have units, as in 500ms or 2m.
func Seconds(to *float64, lo, hi float64) func(string) error {
	return func(text string) error {
		v, err := scalar.In(time.Second, text)
		if err != nil || !(v >= lo && v <= hi) {
			return fmt.Errorf("must be a number of seconds from %g to %g, or a time such as 500ms or 2m", lo, hi)
		}
		*to = v
		return nil
	}
}

// NonEmpty keeps a value that has at least one character.
func NonEmpty(to *string) func(string) error {
	return func(v string) error {
		if v == "" {
			return errors.New("the value is empty")
		}
		*to = v
		return nil
	}
}

// Off is a switch that turns another one off.
func Off(name string, other *bool) flags.Flag {
	f := flags.Switch(name, "do not; the default", nil)
	f.On = func() { *other = false }
	return f
}
