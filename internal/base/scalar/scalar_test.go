package scalar_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"aiperf/internal/base/scalar"
)

func TestNumbersTakeUnderscoresBetweenDigitsOnly(t *testing.T) {
	for text, want := range map[string]float64{
		"100_000": 100000, "1_0.5": 10.5, "1.2_5": 1.25, "1e1_0": 1e10, "+5": 5, "-1_000": -1000, ".5": 0.5, "5.": 5,
		" 7 ": 7,
		"inf": math.Inf(1), "+Infinity": math.Inf(1),
	} {
		if got, err := scalar.Number(text); err != nil || got != want {
			t.Errorf("Number(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "_1", "1_", "1__0", "1_.5", "1._5", "1e_5", "0x10", "1k", "-inf", "nan", "1 0",
		"e5"} {
		if got, err := scalar.Number(text); err == nil {
			t.Errorf("Number(%q) = %v, want an error", text, got)
		}
	}
}

func TestCountsTakeDecimalMultipliers(t *testing.T) {
	for text, want := range map[string]int64{
		"100_000": 100000, "100k": 100000, "2K": 2000, "1.5k": 1500, "3M": 3e6, "1.25G": 125e7, "-5": -5, "+5": 5,
		".5k":                 500,
		"9223372036854775807": math.MaxInt64, "1_0k": 10000, "007": 7, "1.50000k": 1500,
	} {
		if got, err := scalar.Count(text); err != nil || got != want {
			t.Errorf("Count(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "k", "1m", "1g", "1kk", "1.0005k", "1.5", "1e3", "_1", "1_", "1__0", "1_k", "1 k",
		"0x10"} {
		if got, err := scalar.Count(text); err == nil {
			t.Errorf("Count(%q) = %v, want an error", text, got)
		}
	}
	for _, text := range []string{"9223372036854775808", "9300000000G"} {
		if _, err := scalar.Count(text); !errors.Is(err, scalar.ErrTooLarge) {
			t.Errorf("Count(%q): %v, want ErrTooLarge", text, err)
		}
	}
}

func TestTimesTakeUnitsAndBareNumbers(t *testing.T) {
	for _, c := range []struct {
		unit time.Duration
		text string
		want float64
	}{
		{time.Second, "10", 10}, {time.Second, "10s", 10}, {time.Second, "5m", 300}, {time.Second, "1h30m", 5400},
		{time.Second, "500ms", 0.5}, {time.Second, "333ms", 0.333}, {time.Second, "1_000ms", 1},
		{time.Second, "0.5h", 1800},
		{time.Second, "1d", 86400}, {time.Second, "1m 30s", 90}, {time.Second, "2 s", 2}, {time.Second, "0s", 0},
		{time.Second, "-5s", -5}, {time.Second, "inf", math.Inf(1)}, {time.Second, "1e3ms", 1},
		{time.Millisecond, "250", 250}, {time.Millisecond, "1.5s", 1500}, {time.Millisecond, "100us", 0.1},
		{time.Nanosecond, "666ms", 666000000},
	} {
		if got, err := scalar.In(c.unit, c.text); err != nil || got != c.want {
			t.Errorf("In(%v, %q) = %v, %v; want %v", c.unit, c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", "s", "10x", "10sec", "10s5", "30m1h", "1h1h", "1_s", "_1s", "--5s", "10S",
		"1h-5m"} {
		if got, err := scalar.In(time.Second, text); err == nil {
			t.Errorf("In(%q) = %v, want an error", text, got)
		}
	}
}

func TestBooleansInAnyCase(t *testing.T) {
	for _, text := range []string{"true", "T", "Yes", "y", "ON", "1", " true "} {
		if got, err := scalar.Bool(text); err != nil || !got {
			t.Errorf("Bool(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"false", "F", "no", "N", "Off", "0"} {
		if got, err := scalar.Bool(text); err != nil || got {
			t.Errorf("Bool(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "2", "maybe", "truee"} {
		if _, err := scalar.Bool(text); err == nil {
			t.Errorf("Bool(%q) is accepted", text)
		}
	}
}

func FuzzScalar(f *testing.F) {
	for _, text := range []string{"100_000", "1.5k", "1h30m", "yes", "inf", "1__0", "-5s", "1e999", "9300000000G"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := scalar.Number(text)
		if math.IsNaN(v) {
			t.Fatalf("Number(%q) is not a number", text)
		}
		if n, countErr := scalar.Count(text); countErr == nil && err == nil && float64(n) != v {
			t.Fatalf("%q is %d as a count and %v as a number", text, n, v)
		}
		if s, timeErr := scalar.In(time.Second, text); err == nil && (timeErr != nil || s != v) {
			t.Fatalf("%q is %v as a number and %v, %v as a time", text, v, s, timeErr)
		}
		_, _ = scalar.Bool(text)
	})
}

func TestSharesAndPercentTakeTheSign(t *testing.T) {
	for text, want := range map[string][2]float64{
		"0.01": {0.01, 0.01}, "1%": {0.01, 1}, " 12.5 % ": {0.125, 12.5}, "1": {1, 1}, "0": {0, 0},
	} {
		share, err := scalar.Share(text)
		if err != nil || share != want[0] {
			t.Errorf("%q is the share %g, %v, want %g", text, share, err, want[0])
		}
		percent, err := scalar.Percent(text)
		if err != nil || percent != want[1] {
			t.Errorf("%q is %g percent, %v, want %g", text, percent, err, want[1])
		}
	}
	for _, text := range []string{"", "%", "1%%", "one"} {
		if v, err := scalar.Share(text); err == nil {
			t.Errorf("%q is the share %g", text, v)
		}
	}
}
