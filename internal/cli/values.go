package cli

import (
	"errors"
	"fmt"
	"strconv"

	"aiperf/internal/base/scalar"
	"aiperf/internal/config/flags"
)

func integer(to *int, low, high int) func(string) error {
	return func(v string) error { return scalar.SetInt(to, v, low, high) }
}

func number(to *float64, low, high float64) func(string) error {
	return func(v string) error { return scalar.SetFloat(to, v, low, high) }
}

// truth is what a switch does with its value.
func truth(do func(bool)) func(string) error {
	return func(v string) error {
		b, err := scalar.Bool(v)
		if err == nil {
			do(b)
		}
		return err
	}
}

// real reads a number between two limits.
func real(to *float64, lo, hi float64) func(string) error {
	return func(text string) error {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= lo && v <= hi) {
			return fmt.Errorf("must be a number from %g to %g", lo, hi)
		}
		*to = v
		return nil
	}
}

// nonEmpty keeps a value that has at least one character.
func nonEmpty(to *string) func(string) error {
	return func(v string) error {
		if v == "" {
			return errors.New("the value is empty")
		}
		*to = v
		return nil
	}
}

// off is a switch that turns another one off.
func off(name string, other *bool) flags.Flag {
	f := flags.Switch(name, "do not; the default", nil)
	f.On = func() { *other = false }
	return f
}
